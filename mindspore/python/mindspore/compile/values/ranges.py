"""`range` whose bounds are tensors."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.values.structure import Structure, bounds_of, register

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

from mindspore.compile.program.borders import program_error, program_operation

INTEGERS = frozenset(
    {_core.int8, _core.int16, _core.int32, _core.int64, _core.uint8, _core.uint16, _core.uint32}
    | {_core.uint64, _core.bool}
)


class TracedRange:
    """`range` with a bound that is a tensor."""

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start, self.stop, self.step = (_bound(v) for v in (start, stop, step))

    def first(self, tracer: Tracer) -> Tensor:
        """The first value, as the counter of a loop."""
        if isinstance(self.step, Tensor):
            tracer.require(
                ops.not_equal(self.step, 0), ValueError("range() arg 3 must not be zero")
            )
        elif self.step == 0:
            raise program_error(ValueError, "range() arg 3 must not be zero")
        return self.start if isinstance(self.start, Tensor) else tracer.trace.constant(self.start)

    def goes_on(self, value: Tensor) -> Tensor:
        """Whether a value of the counter is in the range."""
        if not isinstance(self.step, Tensor):
            return value < self.stop if self.step > 0 else value > self.stop
        up = ops.logical_and(ops.greater(self.step, 0), ops.less(value, self.stop))
        down = ops.logical_and(ops.less(self.step, 0), ops.greater(value, self.stop))
        return ops.logical_or(up, down)


register(
    TracedRange,
    Structure(bounds_of, lambda _, items: TracedRange(*items), sample=lambda _: range(0)),
)


def _bound(value: Any) -> Any:
    if not isinstance(value, Tensor):
        with program_operation:
            return operator.index(value)
    if value.size != 1 or value.dtype not in INTEGERS:
        kind = TypeError if value.dtype not in INTEGERS else ValueError
        text = f"the bounds of a range must be integers or tensors of one integer, but got {value.dtype}{list(value.shape)}"
        raise program_error(kind, text)
    return _core.op("Number")(ops.cast(value, _core.int64))
