"""Functions and primitives of sparse tensors. What acts on the values alone is a table of names; `coo_sin` is `sin` of the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Count, Real, Sizes
from mindspore.ops import _sparse
from mindspore.ops._bind import raw
from mindspore.ops._sparse import COOTensor, CSRTensor, RowTensor
from mindspore.ops.primitive import PythonPrimitive

_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp"),
    *("expm1", "floor", "inv", "isfinite", "isinf", "isnan", "log", "log1p", "neg", "relu"),
    *("relu6", "round", "sigmoid", "sin", "sinh", "softsign", "sqrt", "square", "tan", "tanh"),
)
_KINDS = {"coo": COOTensor, "csr": CSRTensor}


def _unary(prefix: str, name: str) -> Callable:
    def function(x: Any) -> Any:
        from mindspore import ops

        return x._with(getattr(ops, name)(x.values))

    function.__doc__ = f"`{name}` of the values of a {_KINDS[prefix].__name__}."
    return _of(_KINDS[prefix], function, f"{prefix}_{name}")


def _part(kind: type, part: str, name: str) -> Callable:
    def function(x: Any) -> Any:
        return getattr(x, part)

    function.__doc__ = f"The {part} of a {kind.__name__}."
    return _of(kind, function, name)


def _of(kind: type, function: Callable, name: str) -> Callable:
    """The function of an `x` of that kind, by its name."""
    function.__annotations__["x"] = kind
    return _named(function, name)


def _named(function: Callable, name: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    return function


_MADE = {f"{p}_{n}": _unary(p, n) for p in _KINDS for n in _UNARY}
for _prefix, _kind in (
    ("coo_tensor", COOTensor),
    ("csr_tensor", CSRTensor),
    ("row_tensor", RowTensor),
):
    for _field in _kind._fields:
        _name = f"{_prefix}_get_{'dense_shape' if _field == 'shape' else _field}"
        _MADE[_name] = _part(_kind, _field, _name)
globals().update(_MADE)


def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The elements of a matrix that are not 0, by coordinates."""
    return _sparse.coo_of(tensor)


def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The elements of a matrix that are not 0, by rows."""
    return _sparse.csr_of(tensor)


def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """The same by coordinates."""
    return tensor.to_coo()


def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """The whole tensor."""
    return csr_tensor.to_dense()


def csr2coo(indptr: Tensor, nnz: Count) -> Tensor:
    """The row of each of `nnz` values, of where the rows begin."""
    return _sparse.row_numbers(indptr, nnz)


def coo2csr(row_indices: Tensor, height: Count) -> Tensor:
    """Where each row begins, of the rows of the values in order."""
    return _sparse.row_pointers(row_indices, height)


def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """The product with a vector, [columns, 1]."""
    return csr_tensor.mv(dense)


def csr_mm(
    a: CSRTensor,
    b: CSRTensor | Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """The product with a matrix; with a sparse one, a sparse one. Either may be transposed."""
    left = _transposed(a) if trans_a or adjoint_a else a
    if isinstance(b, CSRTensor):
        return left.mm(_transposed(b) if trans_b or adjoint_b else b)
    return left.mm(raw("Transpose")(b, perm=(1, 0)) if trans_b or adjoint_b else b)


def _transposed(x: CSRTensor) -> CSRTensor:
    places = raw("Stack")(x.indices.astype(x.indptr.dtype), x.rows, axis=1)
    return COOTensor._make((places, x.values, x.shape[::-1])).to_csr()


def csr_add(a: CSRTensor, b: CSRTensor, alpha: Tensor | Real, beta: Tensor | Real) -> CSRTensor:
    """alpha times one and beta times another."""
    return a.add(b, alpha, beta)


def csr_mul(x: CSRTensor, y: Tensor) -> CSRTensor:
    """The values times what a tensor has at their places."""
    return x * y


def csr_div(x: CSRTensor, y: Tensor) -> CSRTensor:
    """The values divided by what a tensor has at their places."""
    return x / y


def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """The sums of the rows, [rows, 1]."""
    return csr_tensor.sum(axis)


def csr_gather(
    indptr: Tensor, indices: Tensor, dense: Tensor, output_shape: Sequence[int]
) -> Tensor:
    """What a tensor has at the places of a CSRTensor."""
    for name, given in (("indptr", indptr), ("indices", indices)):
        if given.ndim != 1:
            raise ValueError(
                f"For 'csr_gather', '{name}' must have 1 dimension, but got {given.ndim}."
            )
    rows = _sparse.row_numbers(indptr, indices.shape[0])
    places = raw("Stack")(rows, indices.astype(indptr.dtype), axis=1)
    return _sparse.at(dense, places, tuple(output_shape))


def csr_softmax(logits: CSRTensor, dtype: DType) -> CSRTensor:
    """The softmax of the values of each row."""
    rows, count = logits.rows, logits.shape[0]
    values = logits.values.astype(dtype)
    column = raw("Reshape")(rows, shape=(-1, 1))
    least = raw("Zeros")(shape=(count,), dtype=values.dtype) - np.inf
    most = raw("TensorScatterMax")(least, column, values)
    shifted = raw("Exp")(values - raw("Gather")(most, rows, axis=0))
    sums = raw("UnsortedSegmentSum")(shifted, rows, num_segments=count)
    return logits._with(shifted / raw("Gather")(sums, rows, axis=0))


def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor | Real) -> COOTensor:
    """The sum, without values whose magnitude is below a threshold."""
    return x1.add(x2, thresh)


def coo_concat(sp_input: Sequence[COOTensor], concat_dim: int = 0) -> COOTensor:
    """COOTensors joined along a dimension."""
    if not sp_input:
        raise ValueError("For 'coo_concat', there must be at least one COOTensor, but got none.")
    first = sp_input[0]
    if not -first.ndim <= concat_dim < first.ndim:
        raise ValueError(
            f"For 'coo_concat', 'concat_dim' must be in [{-first.ndim}, {first.ndim}), but got {concat_dim}."
        )
    axis = concat_dim % first.ndim
    moved, start = [], 0
    for x in sp_input:
        if x.ndim != first.ndim or any(
            a != b for i, (a, b) in enumerate(zip(x.shape, first.shape)) if i != axis
        ):
            raise ValueError(
                f"For 'coo_concat', the shapes must agree but for dimension {axis}, but got {[x.shape for x in sp_input]}."
            )
        offset = [start if i == axis else 0 for i in range(x.ndim)]
        moved.append(x.indices + Tensor(offset, x.indices.dtype))
        start += x.shape[axis]
    shape = tuple(start if i == axis else n for i, n in enumerate(first.shape))
    joined = (raw("Concat")(*moved, axis=0), raw("Concat")(*(x.values for x in sp_input), axis=0))
    return COOTensor._make((*_sparse.coalesced(*joined, shape), shape))


def coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One value for each place, in order; indices are [d, n] here."""
    shape = _sizes(x_shape)
    places = raw("Transpose")(x_indices, perm=(1, 0))
    _sparse.check_coordinates("coalesce", places, x_values, shape)
    indices, values = _sparse.coalesced(places, x_values, shape)
    return raw("Transpose")(indices, perm=(1, 0)), values, x_shape


def make_coo_tensor(indices: Tensor, values: Tensor, dense_shape: Sequence[int]) -> COOTensor:
    """A COOTensor of its parts."""
    return COOTensor(indices, values, tuple(dense_shape))


def make_sparse_tensor(indices: Tensor, values: Tensor, dense_shape: Sequence[int]) -> COOTensor:
    """A COOTensor of its parts."""
    return COOTensor(indices, values, tuple(dense_shape))


def make_csr_tensor(
    indptr: Tensor, indices: Tensor, values: Tensor, dense_shape: Sequence[int]
) -> CSRTensor:
    """A CSRTensor of its parts."""
    return CSRTensor(indptr, indices, values, tuple(dense_shape))


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: Sequence[int]) -> RowTensor:
    """A RowTensor of its parts."""
    return RowTensor(indices, values, tuple(dense_shape))


def row_tensor_add(row_tensor: RowTensor, x: Tensor) -> Tensor:
    """The sum with a whole tensor."""
    return row_tensor.to_dense() + x


# ---- methods of dense tensors
def _method_to_coo(self: Tensor) -> COOTensor:
    """The elements that are not 0, by coordinates."""
    return _sparse.coo_of(self, "Tensor.to_coo")


def _method_to_csr(self: Tensor) -> CSRTensor:
    """The elements that are not 0, by rows."""
    return _sparse.csr_of(self)


METHODS = [_named(f, f.__name__.removeprefix("_method_")) for f in (_method_to_coo, _method_to_csr)]


# ---- primitives
def _sizes(shape: Sizes) -> tuple[int, ...]:
    if isinstance(shape, int):
        return (shape,)
    if isinstance(shape, Tensor):
        if shape.ndim != 1:
            raise ValueError(
                f"For 'COOTensor', a tensor of sizes must have 1 dimension, but got shape {tuple(shape.shape)}."
            )
        return tuple(shape.asnumpy().tolist())
    return tuple(shape)


class SparseTensorDenseMatmul(PythonPrimitive):
    """The product of a matrix of given coordinates with a matrix; either may be transposed."""

    _constructor = [("adjoint_st", False, True), ("adjoint_dt", False, True)]

    def __call__(
        self, indices: Tensor, values: Tensor, sparse_shape: Sizes, dense: Tensor
    ) -> Tensor:
        shape = _sizes(sparse_shape)
        _sparse.check_coordinates(self.name, indices, values, shape)
        if self.adjoint_st:
            indices, shape = raw("ReverseV2")(indices, axis=(1,)), shape[::-1]
        if self.adjoint_dt:
            dense = raw("Transpose")(dense, perm=(1, 0))
        return _sparse.product(indices, values, shape, dense)


class SparseToDense(PythonPrimitive):
    """The whole tensor of given coordinates."""

    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Sizes) -> Tensor:
        shape = _sizes(sparse_shape)
        _sparse.check_coordinates(self.name, indices, values, shape)
        return _sparse.dense_of(indices, values, shape)


class SparseTensorDenseAdd(PythonPrimitive):
    """The sum of a tensor of given coordinates and a whole one."""

    def __call__(
        self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Sizes, x2: Tensor
    ) -> Tensor:
        shape = _sizes(x1_shape)
        _sparse.check_coordinates(self.name, x1_indices, x1_values, shape)
        if tuple(x2.shape) != shape:
            raise ValueError(
                f"For '{self.name}', 'x2' must have shape {shape}, but got {tuple(x2.shape)}."
            )
        return _sparse.dense_of(x1_indices, x1_values, shape) + x2


class SparseSlice(PythonPrimitive):
    """The values in a box, with their coordinates in it and its shape."""

    def __call__(
        self, indices: Tensor, values: Tensor, shape: Sizes, start: Sizes, size: Sizes
    ) -> tuple[Tensor, Tensor, Tensor]:
        whole, first, count = (_sizes(x) for x in (shape, start, size))
        _sparse.check_coordinates(self.name, indices, values, whole)
        if not len(whole) == len(first) == len(count):
            raise ValueError(
                f"For '{self.name}', 'shape', 'start' and 'size' must have as many items, but got {whole}, {first} and {count}."
            )
        begin = np.array(first)
        end = np.minimum(begin + np.array(count), np.array(whole))
        places = indices.asnumpy()
        kept = np.flatnonzero(((places >= begin) & (places < end)).all(1))
        chosen = raw("Gather")(values, Tensor(kept, _core.int64), axis=0)
        return (
            Tensor(places[kept] - begin, indices.dtype),
            chosen,
            Tensor(np.maximum(end - begin, 0), indices.dtype),
        )


CLASSES = {
    c.__name__: c
    for c in (SparseSlice, SparseTensorDenseAdd, SparseTensorDenseMatmul, SparseToDense)
}
__all__ = [
    *_MADE,
    "coalesce",
    "coo2csr",
    "coo_add",
    "coo_concat",
    "csr2coo",
    "csr_add",
    "csr_div",
    "csr_gather",
    "csr_mm",
    "csr_mul",
    "csr_mv",
    "csr_reduce_sum",
    "csr_softmax",
    "csr_to_coo",
    "csr_to_dense",
    "dense_to_sparse_coo",
    "dense_to_sparse_csr",
    "make_coo_tensor",
    "make_csr_tensor",
    "make_row_tensor",
    "make_sparse_tensor",
    "row_tensor_add",
]
