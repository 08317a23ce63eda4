"""The front end of GRAPH_MODE: from the source of a function and the types of its arguments to a compiled graph."""

from __future__ import annotations

import sys
from typing import Any

from mindspore.common import _late
from mindspore.compile.program.borders import serves
from mindspore.compile.program.errors import Unsupported, explain
from mindspore.compile.versions.jit import (
    JitFunction,
    clear_cache,
    compile_cell,
    jit,
    ms_function,
    run_cell,
    run_eager_cell,
    run_grad,
)
from mindspore.compile.walk.tracer import at_work
from mindspore.compile.versions.memory import memory_report, memory_table
from mindspore.compile.program.tracebacks import hide


@serves
def call_in_trace(function: Any, args: Any, kwargs: dict) -> Any:
    """Library code that holds a user's function while tracing calls it through here."""
    return at_work().call(function, list(args), kwargs, None)


@serves
def grad_in_trace(function: Any, args: tuple, kwargs: dict) -> Any:
    """A gradient asked for while tracing."""
    from mindspore.compile.walk import gradients

    return gradients.grad_in_trace(at_work(), function, args, kwargs)


@serves
def custom_in_trace(name: str, forward: Any, backward: Any, args: tuple, parameters: list) -> Any:
    """A call with a gradient of its own, while tracing."""
    from mindspore.compile.walk import custom

    return custom.custom_call(at_work(), name, forward, backward, args, parameters)


@serves
def hooked_in_trace(name: str, cell: Any, run: Any, args: tuple, before: list, after: list) -> Any:
    """A call with hooks on its gradients, while tracing."""
    from mindspore.compile.walk import custom

    return custom.hooked_call(at_work(), name, cell, run, args, before, after)


@serves
def recompute_in_trace(name: str, run: Any, args: tuple) -> Any:
    """A call that its gradient runs again, while tracing."""
    from mindspore.compile.walk import custom

    return custom.recompute(at_work(), name, run, args)


@serves
def host_call_in_trace(name: str, function: Any, args: tuple, types: Any) -> Any:
    """A call of plain Python that happens when the graph runs."""
    from mindspore.compile.walk import custom

    return custom.host_call(at_work(), name, function, args, types)


@serves
def hook_in_trace(x: Any, hook: Any) -> Any:
    """A hook on a traced tensor."""
    from mindspore.compile.walk import custom

    return custom.register_hook(at_work(), x, hook)


@serves
def effect_in_trace(function: Any, args: Any) -> None:
    """Library code that does something beside computing, while tracing: it is done when the graph runs."""
    from mindspore.compile.values import effects

    effects.emit(at_work(), function, args, {})


@serves
def record_in_trace(kind: str, name: str, value: Any) -> None:
    """A summary op, while tracing."""
    from mindspore.compile.values import summaries

    summaries.record(at_work(), kind, name, value)


from mindspore.compile.versions.transforms import (  # noqa: E402
    jvp_in_trace,
    run_transform,
    run_vjp,
    vjp_in_trace,
    vmap_in_trace,
)
from mindspore.compile.values.effects import Text  # noqa: E402
from mindspore.compile.values.host_values import HostValue  # noqa: E402
from mindspore.compile.values.numbers import NumberInput  # noqa: E402
from mindspore.compile.values.stand_ins import sample_of  # noqa: E402
from mindspore.compile.values.values import Choice, require_plain  # noqa: E402

_late.compiler = sys.modules[__name__]
_late.undecided = (Choice, HostValue, NumberInput, Text)

__all__ = [
    "JitFunction",
    "Unsupported",
    "call_in_trace",
    "clear_cache",
    "compile_cell",
    "effect_in_trace",
    "explain",
    "grad_in_trace",
    "hide",
    "jit",
    "jvp_in_trace",
    "memory_report",
    "memory_table",
    "ms_function",
    "record_in_trace",
    "require_plain",
    "run_cell",
    "run_eager_cell",
    "run_grad",
    "run_transform",
    "run_vjp",
    "sample_of",
    "vjp_in_trace",
    "vmap_in_trace",
]
