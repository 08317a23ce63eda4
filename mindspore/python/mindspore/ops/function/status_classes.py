"""Primitives that look at values: whether a float is finite, whether a condition holds; and functions of the host among ops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._dtypes import FLOATS
from mindspore.ops._bind import bound, raw
from mindspore.ops._custom import custom_call
from mindspore.ops._effects import _do
from mindspore.ops._user_primitive import _no_gradient
from mindspore.ops.primitive import PythonPrimitive

_cast, _reshape = raw("Cast"), raw("Reshape")
_STATUS = (8,)


class FloatStatus(PythonPrimitive):
    """1 where a tensor has an infinity or a nan, 0 where it has none, in a vector of one element."""

    def __call__(self, x: Tensor) -> Tensor:
        if x.dtype not in FLOATS:
            raise TypeError(
                f"For 'FloatStatus', the dtype of 'x' must be a float, but got {x.dtype}."
            )
        finite = raw("ReduceAll")(bound.isfinite(_reshape(x, shape=(-1,))), axis=0, keep_dims=True)
        return _cast(bound.logical_not(finite), dtype=_core.float32)


class NPUAllocFloatStatus(PythonPrimitive):
    """Zeros: the place where other devices note an overflow. This one does not; FloatStatus looks for it in values."""

    def __call__(self) -> Tensor:
        return raw("Zeros")(shape=_STATUS, dtype=_core.float32)


def _status(name: str, input_x: Tensor) -> Tensor:
    if tuple(input_x.shape) != _STATUS:
        raise ValueError(
            f"For '{name}', 'input_x' must have shape {_STATUS}, but got {tuple(input_x.shape)}."
        )
    return raw("ZerosLike")(input_x)


class NPUGetFloatStatus(PythonPrimitive):
    """What was noted since the last NPUClearFloatStatus, which on this device is nothing: zeros."""

    def __call__(self, input_x: Tensor) -> Tensor:
        return _status("NPUGetFloatStatus", input_x)


class NPUClearFloatStatus(PythonPrimitive):
    """Forgets what was noted; zeros."""

    def __call__(self, input_x: Tensor) -> Tensor:
        return _status("NPUClearFloatStatus", input_x)


def _refuse_not_finite(x: Tensor) -> None:
    array = x.asnumpy()
    for kind, found in (("nan", np.isnan(array)), ("inf", np.isinf(array))):
        if found.any():
            raise RuntimeError(f"For 'CheckNumerics', all elements must be finite, but got {kind}.")


class CheckNumerics(PythonPrimitive):
    """A tensor as it is; RuntimeError where it has an infinity or a nan."""

    def __call__(self, x: Tensor) -> Tensor:
        _do(_refuse_not_finite, x)
        return x


def _refuse(condition: Any, shown: Sequence[Any], most: int) -> None:
    truth = condition.asnumpy() if isinstance(condition, Tensor) else condition
    if bool(truth):
        return
    texts = [
        str(v.asnumpy().ravel()[: most if most >= 0 else None]) if isinstance(v, Tensor) else str(v)
        for v in shown
    ]
    raise RuntimeError(
        f"For 'Assert', the condition must hold, but it does not: {', '.join(texts)}"
    )


class Assert(PythonPrimitive):
    """RuntimeError, with the first elements of some tensors, where a condition does not hold."""

    _constructor: list[tuple[str, Any, bool]] = [("summarize", 3, True)]

    def __call__(self, condition: Tensor | bool, input_data: Sequence[Any]) -> Tensor:
        shown = list(input_data)

        def look(condition: Any, *shown: Any) -> None:
            _refuse(condition, shown, self.summarize)

        _do(look, condition, *shown)
        return raw("Zeros")(shape=(1,), dtype=_core.int32)


class PyFunc(PythonPrimitive):
    """A function of NumPy arrays among ops; it has no gradient.

    Args:
        fn: The function.
        in_types: The dtypes of its arguments.
        in_shapes: Their shapes.
        out_types: The dtypes of what it returns.
        out_shapes: Their shapes.
        stateful: Accepted; it is called every time.
    """

    _constructor: list[tuple[str, Any, bool]] = [
        ("fn", None, False),
        ("in_types", None, False),
        ("in_shapes", None, False),
        ("out_types", None, False),
        ("out_shapes", None, False),
        ("stateful", True, True),
    ]

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        types = [(d, list(s)) for d, s in zip(self.out_types, self.out_shapes)]
        function: Callable = self.fn

        def compute(*given: Tensor) -> list[Tensor]:
            made = function(*(t.asnumpy() for t in given))
            items = list(made) if isinstance(made, (tuple, list)) else [made]
            return [
                Tensor(np.asarray(item).reshape(shape), dtype)
                for item, (dtype, shape) in zip(items, types, strict=True)
            ]

        def forward(*given: Any) -> tuple:
            if not _core.is_tracing():
                return tuple(compute(*given))
            return tuple(_late.compiler.host_call_in_trace("PyFunc", compute, given, types))

        return custom_call("PyFunc.bprop", forward, _no_gradient("PyFunc"), inputs)


_dumps = itertools.count()


def _save(file_name: str, tensor: Tensor) -> None:
    dtype = str(tensor.dtype).lower()
    array = tensor.astype(_core.float32) if tensor.dtype is _core.bfloat16 else tensor
    np.save(f"{file_name}_{dtype}_{next(_dumps)}.npy", array.asnumpy())


def tensordump(file_name: str, tensor: Tensor, mode: Literal["in", "out", "all"] = "out") -> None:
    """Writes a tensor as `NAME_DTYPE_NUMBER.npy`, whenever the program comes here; the number counts all that are written."""
    del mode  # says on which side of a collective
    _do(_save, file_name.removesuffix(".npy"), tensor)


class TensorDump(PythonPrimitive):
    """Writes a tensor as a file of NumPy's; see `tensordump`."""

    _constructor: list[tuple[str, Any, bool]] = [("input_output", "out", True)]

    def __call__(self, file: str, input_x: Tensor) -> None:
        tensordump(file, input_x, self.input_output)


CLASSES = {
    c.__name__: c
    for c in (
        Assert,
        CheckNumerics,
        FloatStatus,
        NPUAllocFloatStatus,
        NPUClearFloatStatus,
        NPUGetFloatStatus,
        PyFunc,
        TensorDump,
    )
}
__all__ = ["tensordump"]
