"""Primitives that are called for what they do: printing, which compiled code keeps in program order, and handing values to whoever
records a training run (`common/_recorded.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late, _recorded
from mindspore.ops.primitive import PythonPrimitive


def _do(function: Callable, *args: Any) -> None:
    if _core.is_tracing():
        _late.compiler.effect_in_trace(function, args)
    else:
        function(*args)


def print_(*values: Any) -> None:
    """Prints its arguments."""
    _do(print, *values)


class Print(PythonPrimitive):
    """Prints its arguments."""

    def __call__(self, *values: Any) -> None:
        print_(*values)


class _Summary(PythonPrimitive):
    """Hands a value to the recorders of the run."""

    kind = ""
    needs = ""

    def __call__(self, name: str, value: Tensor) -> None:
        if not isinstance(name, str) or not name:
            raise _error(
                self,
                ValueError if name == "" else TypeError,
                "'name' must be a non-empty str",
                repr(name),
            )
        if not isinstance(value, Tensor):
            raise _error(self, TypeError, "'value' must be a Tensor", type(value).__name__)
        if not self.fits(tuple(value.shape)):
            raise _error(
                self, ValueError, f"'value' must {self.needs}", f"shape {tuple(value.shape)}"
            )
        if _core.is_tracing():
            _late.compiler.record_in_trace(self.kind, name, value)
        else:
            _recorded.tell(self.kind, name, value)

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether values of this shape can be recorded."""
        raise NotImplementedError


def _error(primitive: PythonPrimitive, kind: type, must: str, got: str) -> Exception:
    return kind(f"For '{primitive.name}', {must}, but got {got}.")


class ScalarSummary(_Summary):
    """Records a number under a name."""

    kind, needs = "scalar", "have shape () or (1,)"

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape in ((), (1,))


class TensorSummary(_Summary):
    """Records a tensor under a name."""

    kind, needs = "tensor", "have at least one dimension"

    def fits(self, shape: tuple[int, ...]) -> bool:
        return len(shape) > 0


class HistogramSummary(TensorSummary):
    """Records the distribution of a tensor's elements under a name."""

    kind = "histogram"


class ImageSummary(_Summary):
    """Records a batch of images, [N, C, H, W], under a name."""

    kind, needs = "image", "have 4 dimensions, [N, C, H, W]"

    def fits(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == 4


CLASSES: dict[str, type] = {
    c.__name__: c for c in (Print, ScalarSummary, TensorSummary, HistogramSummary, ImageSummary)
}
