"""What summary ops record: where it is kept until somebody who listens takes it. Eager code tells each value at once. Compiled code
has a Parameter for each name, kind and type, and gives it the last value of a run, as it does with any other Parameter: nothing
leaves the device before it is asked for. While nobody listens, compiled code records nothing."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common.parameter import Parameter

# Called with (kind, name, value) for what eager code records, kind being "scalar", "tensor", "histogram" or "image".
Listener = Callable[[str, str, Tensor], None]
_listeners: list[Listener] = []
state = {"open": False}  # a fact of compiled code: whether anybody listens


def listen(listener: Listener) -> None:
    """Let this function be told what is recorded."""
    _listeners.append(listener)
    state["open"] = True


def leave(listener: Listener) -> None:
    """Tell this function no more."""
    _listeners.remove(listener)
    state["open"] = bool(_listeners)


def tell(kind: str, name: str, value: Tensor) -> None:
    """Record a value now."""
    for listener in list(_listeners):
        listener(kind, name, value)


_NEVER = Tensor(np.int64(0))
clock = Parameter(_NEVER, "summary.clock", requires_grad=False)  # counts what compiled code records
# By kind, name, dtype and shape: where compiled code keeps the last value, and in the `_when` of that the time of the clock when it was
# recorded. The code that writes to one keeps it alive.
_kept: weakref.WeakValueDictionary[tuple, Parameter] = weakref.WeakValueDictionary()


def kept(kind: str, name: str, dtype: DType, shape: tuple[int, ...]) -> tuple[Parameter, Parameter]:
    """Where compiled code keeps these values, and when it recorded the last one."""
    key = (kind, name, dtype, shape)
    value = _kept.get(key)
    if value is None:
        zeros = Tensor(np.zeros(shape, np.int8)).astype(dtype)
        value = Parameter(zeros, f"summary.{kind}.{name}", requires_grad=False)
        when = Parameter(_NEVER, f"{value.name}.when", requires_grad=False)
        value.__dict__["_when"] = when
        _kept[key] = value
    return value, value.__dict__["_when"]


def now() -> int:
    """The time of what compiled code recorded last."""
    return int(clock.asnumpy())


def since(start: int) -> list[tuple[str, str, int, Tensor]]:
    """Kind, name, time and value of what compiled code recorded last under each name after `start`, in that order."""
    found: dict[tuple[str, str], tuple[int, Parameter]] = {}
    for (kind, name, _, _), value in list(_kept.items()):
        when = int(value.__dict__["_when"].asnumpy())
        if when > max(start, found.get((kind, name), (0,))[0]):
            found[kind, name] = when, value
    ordered = sorted(found.items(), key=lambda item: item[1][0])
    return [(kind, name, when, _core.io.snapshot(v)) for (kind, name), (when, v) in ordered]
