"""The same wild arguments inside of a compiled function: what is refused there must be what eager code refuses, by the same type of
exception in the same function's name. The words may be others: of two mistakes each mode sees its own first."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import mindspore as ms
from mindspore import Tensor, _core
from wild.cases import Case, cases


def _outcome(call: Any, inputs: list) -> str:
    """The type and the first line of an exception; empty for a result."""
    try:
        call(*inputs)
        _core.synchronize()  # what a device finds wrong later is this call's
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return ""


def _refusal(outcome: str) -> str:
    """The type, and the function's name. A compiled program asks for all of its memory at once, in its own name."""
    if outcome.startswith("MemoryError"):
        return "MemoryError"
    return outcome.partition(",")[0] if ": For '" in outcome else outcome


def _graph_cases(step: int) -> Iterator[Case]:
    """Every `step`-th quick case of functions and methods that compiled code may call."""
    for number, case in enumerate(cases("quick")):
        name = case.target.name
        if (
            number % step == 0
            and name.startswith(("ops.", "Tensor."))
            and name not in _NOT_IN_GRAPHS
        ):
            yield case


# Transforms and decorators of functions, and what reads a value or makes a tensor of an array.
_NOT_IN_GRAPHS = (
    *(
        f"ops.{name}"
        for name in "grad value_and_grad get_grad jacfwd jacrev jet jvp vjp vmap".split()
    ),
    *("ops.derivative", "ops.recompute", "ops.prim_attr_register", "ops.constexpr", "ops.print_"),
    *("Tensor.register_hook", "Tensor.asnumpy", "Tensor.numpy", "Tensor.item", "Tensor.tolist"),
    *("Tensor.from_numpy", "Tensor.from_dlpack"),
)


def _of_tensors(case: Case) -> tuple[Any, list[Tensor]]:
    """A case as a function of the tensors among its arguments, and those."""
    args, kwargs = case.arguments()
    function = case.target.make()
    places = [i for i, a in enumerate(args) if type(a) is Tensor]

    def call(*tensors: Any) -> Any:
        given = iter(tensors)
        return function(*(next(given) if i in places else a for i, a in enumerate(args)), **kwargs)

    return call, [args[i] for i in places]


def differences(step: int) -> list[tuple[str, str]]:
    """The cases in which the modes refuse differently, and how."""
    found = []
    for case in _graph_cases(step):
        call, inputs = _of_tensors(case)
        eager = _outcome(call, inputs)
        if not eager:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = _outcome(ms.jit(call), inputs)
        if _refusal(compiled) != _refusal(eager):
            found.append((str(case), f"{eager} | in a graph: {compiled}"))
    return found
