"""The front end of GRAPH_MODE: from the source of a function and the types of its arguments to a compiled graph. What stands here is
what the layers below ask of it (common/_late.py), and those above."""

from __future__ import annotations

import sys
from typing import Any

from mindspore.common import _late
from mindspore.compile.program.borders import serves
from mindspore.compile.program.errors import Unsupported, explain
from mindspore.compile.program.tracebacks import hide
from mindspore.compile.values import summaries
from mindspore.compile.values.effects import Text, emit
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.numbers import NumberInput
from mindspore.compile.values.stand_ins import sample_of
from mindspore.compile.values.values import Choice, require_plain
from mindspore.compile.versions.jit import (
    JitFunction,
    clear_cache,
    compile_cell,
    graph_of,
    jit,
    ms_function,
    run_cell,
    run_eager_cell,
    run_grad,
)
from mindspore.compile.versions.memory import memory_report, memory_table
from mindspore.compile.versions.transforms import run_transform, run_vjp
from mindspore.compile.walk.custom import (
    custom_in_trace,
    hook_in_trace,
    hooked_in_trace,
    host_call_in_trace,
    recompute_in_trace,
)
from mindspore.compile.walk.gradients import grad_in_trace
from mindspore.compile.walk.tracer import at_work
from mindspore.compile.walk.transforms import jvp_in_trace, vjp_in_trace, vmap_in_trace


@serves
def call_in_trace(function: Any, args: Any, kwargs: dict) -> Any:
    """Library code that holds a user's function while tracing calls it through here."""
    return at_work().call(function, list(args), kwargs)


@serves
def effect_in_trace(function: Any, args: Any) -> None:
    """Library code that does something beside computing, while tracing: it is done when the graph runs."""
    emit(at_work(), function, args, {})


@serves
def record_in_trace(kind: str, name: str, value: Any) -> None:
    """A summary op, while tracing."""
    summaries.record(at_work(), kind, name, value)


_late.compiler = sys.modules[__name__]
_late.undecided = (Choice, HostValue, NumberInput, Text)
