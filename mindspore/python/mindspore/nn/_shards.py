"""`Cell.shard` and `mindspore.parallel.shard`: pins of what goes into a cell or function and comes out of it, and of Parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindspore.common import _planning
from mindspore.ops import _custom, _pinned


def shard_cell(cell: Any, in_strategy: Any, out_strategy: Any, parameter_plan: Any) -> None:
    """Pins of a cell, in place of those that it had."""
    owner = f"{type(cell).__name__}.shard"
    _check(owner, in_strategy, out_strategy)
    _pin_parameters(owner, cell, parameter_plan)
    for handle in cell.__dict__.pop("_shard_handles", ()):
        handle.remove()
    handles = []
    if in_strategy is not None:
        before = _Inputs(owner, in_strategy)
        handles.append(cell.register_forward_pre_hook(before))
    if out_strategy is not None:
        handles.append(cell.register_forward_hook(_Output(owner, out_strategy)))
    cell.__dict__["_shard_handles"] = tuple(handles)


def shard_function(
    function: Callable, in_strategy: Any, out_strategy: Any, parameter_plan: Any
) -> Callable:
    """A function with pins."""
    owner = "shard"
    _check(owner, in_strategy, out_strategy)
    _pin_parameters(owner, getattr(function, "__self__", None), parameter_plan)

    @functools.wraps(function)
    def sharded(*args: Any, **kwargs: Any) -> Any:
        given = _pinned.pinned_all(owner, args, in_strategy)
        return _pinned.pinned_all(owner, _custom.invoke(function, *given, **kwargs), out_strategy)

    return sharded


class _Inputs:
    """A hook that pins what goes in."""

    def __init__(self, owner: str, pins: tuple) -> None:
        self.owner, self.pins = owner, pins

    def __call__(self, cell: Any, inputs: tuple) -> tuple:
        return tuple(_pinned.pinned_all(self.owner, inputs, self.pins))


class _Output:
    """A hook that pins what comes out."""

    def __init__(self, owner: str, pins: tuple) -> None:
        self.owner, self.pins = owner, pins

    def __call__(self, cell: Any, inputs: tuple, output: Any) -> Any:
        return _pinned.pinned_all(self.owner, output, self.pins)


def _check(owner: str, in_strategy: Any, out_strategy: Any) -> None:
    for what, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if strategy is None:
            continue
        if not isinstance(strategy, tuple):
            raise TypeError(
                f"For '{owner}', '{what}' must be a tuple, but got {type(strategy).__name__}."
            )
        for pin in strategy:
            if pin is not None:
                _pinned.check_pin(owner, what, pin)


def _pin_parameters(owner: str, cell: Any, plan: Any) -> None:
    if plan is None:
        return
    if not isinstance(plan, dict):
        raise TypeError(
            f"For '{owner}', 'parameter_plan' must be a dict, but got {type(plan).__name__}."
        )
    for pin in plan.values():
        _pinned.check_pin(owner, "parameter_plan", pin)
    named = {} if cell is None else dict(cell.parameters_and_names())
    for name, pin in plan.items():
        name = name.removeprefix("self.")
        found = named.get(name, next((p for p in named.values() if p.name == name), None))
        if found is None:
            raise ValueError(
                f"For '{owner}', 'parameter_plan' must name Parameters of the cell, {list(named)}, but got '{name}'."
            )
        _planning.pin_parameter(owner, found, pin)
