"""Primitives that stand behind functions and methods, under the names by which scripts call them directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, Real, Sizes
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.creation_func import logspace
from mindspore.ops.function.index_func import nonzero
from mindspore.ops.function.linalg_func import matmul
from mindspore.ops.function.sparse_func import coalesce

_INTEGERS = (_core.int16, _core.int32, _core.int64)
_cast, _concat, _reshape = raw("Cast"), raw("Concat"), raw("Reshape")


def _log_space(
    start: Real | Tensor,
    end: Real | Tensor,
    steps: int = 10,
    base: int = 10,
    dtype: DType = _core.float32,
) -> Tensor:
    """Powers of a base whose exponents have equal distances."""
    if steps == 0:
        return raw("Zeros")(shape=(0,), dtype=dtype)
    return logspace(start, end, steps, base, dtype=dtype)


def _log_softmax_ext(input: Tensor, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """The logarithm of the softmax along a dimension; by default the first of 0, 1 or 3, and else the second."""
    axis = (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim
    x = input if dtype is None else _cast(input, dtype=dtype)
    return bound.log_softmax(x, axis)


def _select_view(input: Tensor, index: int, dim: int) -> Tensor:
    """What stands at one place of a dimension."""
    if not -input.ndim <= dim < input.ndim:
        raise ValueError(
            f"For 'SelectView', 'dim' must be in [{-input.ndim}, {input.ndim}), but got {dim}."
        )
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


def _transpose_view(input: Tensor, input_perm: Ints) -> Tensor:
    """The dimensions in another order."""
    return bound.transpose(input, input_perm)


def _transpose_ext_view(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    return input.swapaxes(dim0, dim1)


def _coalesce(
    x_indices: Tensor, x_values: Tensor, x_shape: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The places and values of a sparse tensor in order, the values of one place added."""
    for name, x in (("x_indices", x_indices), ("x_shape", x_shape)):
        if x.dtype is not _core.int64:
            raise TypeError(f"For 'Coalesce', '{name}' must be of Int64, but got {x.dtype}.")
    if x_values.dtype not in (_core.float16, _core.float32, _core.float64):
        raise TypeError(f"For 'Coalesce', 'x_values' must be of floats, but got {x_values.dtype}.")
    if tuple(x_indices.shape) != (*x_shape.shape, *x_values.shape):
        raise ValueError(
            f"For 'Coalesce', 'x_indices' must have a row for each size and a column for each value, "
            f"{(*x_shape.shape, *x_values.shape)}, but got shape {tuple(x_indices.shape)}."
        )
    return coalesce(x_indices, x_values, x_shape)


def _map_uniform(input: Tensor, per_group_size: int, group_num: int) -> Tensor:
    """Where numbers that are dealt out to groups in turn come to stand when the groups follow each other."""
    if input.dtype not in _INTEGERS:
        raise TypeError(f"For 'MapUniform', 'input' must be of integers, but got {input.dtype}.")
    return input % group_num * per_group_size + input // group_num


def _sub_and_filter(
    input_x: Tensor, max_num: int | Tensor, offset: int | Tensor
) -> tuple[Tensor, Tensor]:
    """The elements less an offset that are in [0, max_num), and where they stand."""
    moved = input_x - offset
    inside = bound.logical_and(moved >= 0, moved < max_num)
    places = _cast(_reshape(nonzero(inside), shape=(-1,)), dtype=_core.int32)
    return moved[places], places


def _parallel_concat(values: Sequence[Tensor]) -> Tensor:
    """Tensors of one row each, one below the other."""
    for x in values:
        if x.ndim < 1 or x.shape[0] != 1:
            raise ValueError(
                f"For 'ParallelConcat', each tensor must have one row, but got shape {tuple(x.shape)}."
            )
        if x.dtype is not values[0].dtype:
            raise TypeError(
                f"For 'ParallelConcat', all tensors must be of one dtype, but got {values[0].dtype} and {x.dtype}."
            )
    return _concat(list(values), axis=0)


def _tensor_to_tuple(x: Tensor) -> tuple:
    """The elements of a vector as a tuple of Python's numbers."""
    if x.ndim != 1:
        raise ValueError(f"For 'TensorToTuple', 'x' must have one dimension, but got {x.ndim}.")
    return tuple(x.asnumpy().tolist())


def _first(value: Any, expr: Any = None) -> Any:
    """The first argument: effects happen in program order anyway."""
    del expr
    return value


def _same(input_x: Tensor) -> Tensor:
    """The input itself."""
    return input_x


def move_to(input: Tensor | Sizes, to: str = "CPU", blocking: bool = True) -> Tensor:
    """A copy on a device, of a tensor or of the numbers of a sequence."""
    del blocking
    return (input if isinstance(input, Tensor) else Tensor(input)).move_to(to)  # type: ignore[attr-defined]


def stop_gradient_(input: Tensor) -> None:
    """From here on no gradient flows through what made the tensor."""
    input._write(raw("StopGradient")(input))


def _basic_lstm_cell(
    x: Tensor,
    h: Tensor,
    c: Tensor,
    w: Tensor,
    b: Tensor,
    keep_prob: Real = 1.0,
    forget_bias: Real = 1.0,
) -> tuple[Tensor, ...]:
    """One step of an LSTM whose weight holds the columns of the gates i, j, f and o in turn: the cell, the state, the gates after
    their activations, and the tanh of the cell."""
    if keep_prob != 1.0:
        raise ValueError(f"For 'BasicLSTMCell', 'keep_prob' must be 1.0, but got {keep_prob}.")
    if x.ndim != 2 or h.ndim != 2:
        raise ValueError(
            f"For 'BasicLSTMCell', 'x' and 'h' must be matrices, but got shapes {tuple(x.shape)} and {tuple(h.shape)}."
        )
    size = h.shape[-1]
    if w.ndim != 2 or tuple(w.shape) != (x.shape[-1] + size, 4 * size):
        raise ValueError(
            f"For 'BasicLSTMCell', 'w' must have shape {(x.shape[-1] + size, 4 * size)}, but got {tuple(w.shape)}."
        )
    gates = matmul(_concat([x, h], axis=1), w) + _reshape(b, shape=(-1,))
    i, j, f, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
    i, j, f, o = bound.sigmoid(i), bound.tanh(j), bound.sigmoid(f + forget_bias), bound.sigmoid(o)
    cell = c * f + i * j
    out = bound.tanh(cell)
    return cell, out * o, i, j, f, o, out


FACES = {
    "LogSpace(steps=10, base=10, dtype=float32)(start, end)": _log_space,
    "LogSoftmaxExt()(input, dim=None, dtype=None)": _log_softmax_ext,
    "SelectView()(input, index, dim)": _select_view,
    "TransposeView()(input, input_perm)": _transpose_view,
    "TransposeExtView()(input, dim0, dim1)": _transpose_ext_view,
    "Coalesce()(x_indices, x_values, x_shape)": _coalesce,
    "MapUniform()(input, per_group_size, group_num)": _map_uniform,
    "SubAndFilter()(input_x, max_num, offset)": _sub_and_filter,
    "ParallelConcat()(values)": _parallel_concat,
    "TensorToTuple()(x)": _tensor_to_tuple,
    "UpdateState()(value, expr=None)": _first,
    "Reusing()(input_x)": _same,
    "MoveTo()(input, to='CPU', blocking=True)": move_to,
    "BasicLSTMCell(keep_prob=1.0, forget_bias=1.0, state_is_tuple@_=True, activation@_='tanh')(x, h, c, w, b)": _basic_lstm_cell,
}
__all__ = ["move_to", "stop_gradient_"]
