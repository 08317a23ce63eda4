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


class Slot:
    """Where compiled code keeps the last value of a name: the value, and when it was recorded, as a number of `clock`."""

    def __init__(self, kind: str, name: str, dtype: DType, shape: tuple[int, ...]) -> None:
        self.kind, self.name = kind, name
        zeros = Tensor(np.zeros(shape, np.int8)).astype(dtype)
        self.value = Parameter(zeros, f"summary.{kind}.{name}", requires_grad=False)
        self.when = Parameter(_NEVER, f"summary.{kind}.{name}.when", requires_grad=False)
        self.value.__dict__["_slot"] = self  # lives as long as code that writes to it


_NEVER = Tensor(np.int64(0))
clock = Parameter(_NEVER, "summary.clock", requires_grad=False)  # counts what compiled code records
_slots: weakref.WeakValueDictionary[tuple, Slot] = weakref.WeakValueDictionary()


def slot_of(kind: str, name: str, dtype: DType, shape: tuple[int, ...]) -> Slot:
    """The slot of these values, which the code that writes to it keeps alive."""
    key = (kind, name, dtype, shape)
    slot = _slots.get(key)
    if slot is None:
        slot = _slots[key] = Slot(*key)
    return slot


def now() -> int:
    """The time of what compiled code recorded last."""
    return int(clock.asnumpy())


def since(start: int) -> list[tuple[str, str, Tensor]]:
    """Kind, name and value of what compiled code recorded last under each name after `start`, in that order."""
    found: dict[tuple[str, str], tuple[int, Tensor]] = {}
    for slot in list(_slots.values()):
        when = int(slot.when.asnumpy())
        if when > max(start, found.get((slot.kind, slot.name), (0,))[0]):
            found[slot.kind, slot.name] = when, slot.value
    ordered = sorted(found.items(), key=lambda item: item[1][0])
    return [(kind, name, _core.io.snapshot(value)) for (kind, name), (_, value) in ordered]
