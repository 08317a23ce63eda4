"""Tensors of which only some elements are kept. They are tuples of their parts, named tuples in effect, so that compiled functions take,
make and return them, and gradients flow through their values, by what holds for every structure."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, ClassVar

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._bind import raw

_INDEX_TYPES = (_core.int16, _core.int32, _core.int64)


class Sparse(tuple):
    """What the kinds of sparse tensors share."""

    _fields: ClassVar[tuple[str, ...]] = ()
    __eq__, __ne__, __hash__ = object.__eq__, object.__ne__, object.__hash__

    @classmethod
    def _make(cls, items: Any) -> Any:
        """One of these parts, which fit."""
        return tuple.__new__(cls, items)

    def _with(self, values: Tensor) -> Any:
        """The same places with other values."""
        return self._make([values if f == "values" else getattr(self, f) for f in self._fields])

    indices: Tensor = property(lambda self: self[-3])  # type: ignore[assignment]
    values: Tensor = property(lambda self: self[-2])  # type: ignore[assignment]
    shape: tuple[int, ...] = property(lambda self: self[-1])  # type: ignore[assignment]

    def __getnewargs__(self) -> tuple:
        return tuple(self)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values that are kept."""
        return int(self.values.size)

    @property
    def itemsize(self) -> int:
        """The bytes of a value."""
        return self.values.itemsize

    def to_tuple(self) -> tuple:
        """The parts."""
        return tuple(self)

    def astype(self, dtype: Any) -> Any:
        """The same with values of another dtype."""
        return self._with(self.values.astype(dtype))

    def abs(self) -> Any:
        """The same with the absolute values."""
        return self._with(raw("Abs")(self.values))

    def __neg__(self) -> Any:
        return self._with(-self.values)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        parts = ", ".join(f"{f}={getattr(self, f)!r}" for f in self._fields if f != "shape")
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"


def _check_parts(name: str, shape: Any, **tensors: Any) -> None:
    for part, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"For '{name}', '{part}' must be a Tensor, but got {type(tensor).__name__}."
            )
        if part != "values" and tensor.dtype not in _INDEX_TYPES:
            raise TypeError(f"For '{name}', '{part}' must hold integers, but got {tensor.dtype}.")
    if not isinstance(shape, tuple):
        raise TypeError(f"For '{name}', 'shape' must be a tuple, but got {type(shape).__name__}.")
    if not all(isinstance(s, int) and not isinstance(s, bool) and s > 0 for s in shape):
        raise ValueError(f"For '{name}', 'shape' must hold positive ints, but got {shape}.")


def check_coordinates(name: str, indices: Any, values: Any, shape: Any) -> None:
    """Refuse what are no coordinates of as many values in a shape."""
    _check_parts(name, shape, indices=indices, values=values)
    if indices.ndim != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0]:
        raise ValueError(
            f"For '{name}', 'indices' must be [n, d] and 'values' [n], but got shapes "
            f"{tuple(indices.shape)} and {tuple(values.shape)}."
        )
    if indices.shape[1] != len(shape):
        raise ValueError(
            f"For '{name}', 'shape' must have {indices.shape[1]} sizes, one for each coordinate, but got {shape}."
        )


def _same_shape(name: str, a: Any, b: Any) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(
            f"For '{name}', the shapes must be equal, but got {tuple(a.shape)} and {tuple(b.shape)}."
        )


class COOTensor(Sparse):
    """A matrix by the coordinates of its elements. Those of one place are summed.

    Args:
        indices: a row of coordinates for each value, [n, 2].
        values: the values, [n].
        shape: the shape of the whole.
        coo_tensor: one to take the parts of, instead.

    Examples:
        >>> COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (3, 4)).to_dense()
    """

    _fields: ClassVar[tuple[str, ...]] = ("indices", "values", "shape")

    def __new__(
        cls, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None
    ) -> COOTensor:
        if coo_tensor is not None:
            _check_kind("COOTensor", COOTensor, coo_tensor)
            return cls._make(coo_tensor)
        check_coordinates("COOTensor", indices, values, shape)
        if len(shape) != 2:
            raise ValueError(f"For 'COOTensor', 'shape' must have 2 sizes, but got {shape}.")
        return cls._make((indices, values, shape))

    def to_dense(self) -> Tensor:
        """The whole tensor."""
        return dense_of(self.indices, self.values, self.shape)

    def to_csr(self) -> CSRTensor:
        """The same by rows."""
        order = raw("Sort")(_flat(self.indices, self.shape))[1]
        indices = raw("Gather")(self.indices, order, axis=0)
        values = raw("Gather")(self.values, order, axis=0)
        pointers = row_pointers(indices[:, 0], self.shape[0])
        return CSRTensor._make((pointers, indices[:, 1], values, self.shape))

    def coalesce(self) -> COOTensor:
        """The same with one value for each place, in the order of the places."""
        indices, values = coalesced(self.indices, self.values, self.shape)
        return self._make((indices, values, self.shape))

    def add(self, other: COOTensor, thresh: Any) -> COOTensor:
        """The sum, without values whose magnitude is below a threshold."""
        _check_kind("COOTensor.add", COOTensor, other)
        _same_shape("COOTensor.add", self, other)
        indices = raw("Concat")(self.indices, other.indices, axis=0)
        values = raw("Concat")(self.values, other.values, axis=0)
        indices, values = coalesced(indices, values, self.shape)
        kept = Tensor(np.flatnonzero(np.abs(values.asnumpy()) >= _number(thresh)), _core.int64)
        indices, values = (raw("Gather")(x, kept, axis=0) for x in (indices, values))
        return self._make((indices, values, self.shape))

    def __add__(self, other: Any) -> Any:  # type: ignore[override]
        if isinstance(other, Tensor):
            _same_shape("COOTensor + Tensor", self, other)
            return self.to_dense() + other
        return self.add(other, 0.0)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __mul__(self, other: Any) -> COOTensor:  # type: ignore[override]
        return self._with(self.values * self._of(other))

    def __truediv__(self, other: Any) -> COOTensor:
        return self._with(self.values / self._of(other))

    def _of(self, other: Any) -> Any:
        """What another tensor has at these places; a number as it is."""
        if isinstance(other, Sparse):
            raise TypeError(
                f"For 'COOTensor', the other operand must be a Tensor or a number, but got {type(other).__name__}."
            )
        return at(other, self.indices, self.shape) if isinstance(other, Tensor) else other


class CSRTensor(Sparse):
    """A matrix by rows: the values of row i are those from indptr[i] to indptr[i + 1], in the columns that indices gives.

    Args:
        indptr: where each row begins, and the end, [rows + 1].
        indices: the columns, [n].
        values: the values, [n], or [n, ...] of more dimensions.
        shape: the shape of the whole.
        csr_tensor: one to take the parts of, instead.
    """

    _fields: ClassVar[tuple[str, ...]] = ("indptr", "indices", "values", "shape")
    indptr: Tensor = property(lambda self: self[0])  # type: ignore[assignment]

    def __new__(
        cls,
        indptr: Any = None,
        indices: Any = None,
        values: Any = None,
        shape: Any = None,
        csr_tensor: Any = None,
    ) -> CSRTensor:
        if csr_tensor is not None:
            _check_kind("CSRTensor", CSRTensor, csr_tensor)
            return cls._make(csr_tensor)
        _check_parts("CSRTensor", shape, indptr=indptr, indices=indices, values=values)
        if len(shape) < 2:
            raise ValueError(
                f"For 'CSRTensor', 'shape' must have at least 2 sizes, but got {shape}."
            )
        if tuple(indptr.shape) != (shape[0] + 1,):
            raise ValueError(
                f"For 'CSRTensor', 'indptr' must have {shape[0] + 1} elements, one more than rows, but got shape "
                f"{tuple(indptr.shape)}."
            )
        whole = (values.shape[0], *values.shape[1:]) if values.ndim else ()
        if indices.ndim != 1 or not whole or indices.shape[0] != whole[0]:
            raise ValueError(
                f"For 'CSRTensor', 'indices' must be [n] and 'values' [n, ...], but got shapes {tuple(indices.shape)} "
                f"and {tuple(values.shape)}."
            )
        if tuple(shape[2:]) != tuple(whole[1:]):
            raise ValueError(
                f"For 'CSRTensor', 'shape' must be (rows, columns) and what a value has, {tuple(whole[1:])}, but got {shape}."
            )
        return cls._make((indptr, indices, values, shape))

    @property
    def rows(self) -> Tensor:
        """The row of each value."""
        return row_numbers(self.indptr, self.values.shape[0])

    @property
    def places(self) -> Tensor:
        """The coordinates of each value, [n, 2]."""
        return raw("Stack")(self.rows, self.indices.astype(self.indptr.dtype), axis=1)

    def to_coo(self) -> COOTensor:
        """The same by coordinates."""
        if self.values.ndim != 1:
            raise ValueError(
                f"For 'CSRTensor.to_coo', the tensor must have 2 dimensions, but got {len(self.shape)}."
            )
        return COOTensor._make((self.places, self.values, self.shape))

    def to_dense(self) -> Tensor:
        """The whole tensor."""
        return dense_of(self.places, self.values, self.shape)

    def mv(self, dense_vector: Tensor) -> Tensor:
        """The product with a vector, [columns, 1]."""
        if dense_vector.ndim != 2 or dense_vector.shape[1] != 1:
            raise ValueError(
                f"For 'CSRTensor.mv', 'dense_vector' must be [{self.shape[1]}, 1], but got shape {tuple(dense_vector.shape)}."
            )
        return product(self.places, self.values, self.shape, dense_vector)

    def mm(self, matrix: Any) -> Any:
        """The product with a matrix; with a sparse one, a sparse one."""
        if isinstance(matrix, CSRTensor):
            return csr_of(product(self.places, self.values, self.shape, matrix.to_dense()))
        return product(self.places, self.values, self.shape, matrix)

    def sum(self, axis: int) -> Tensor:
        """The sums of the rows, [rows, 1]."""
        if axis not in (1, -1):
            raise ValueError(f"For 'CSRTensor.sum', 'axis' must be 1 or -1, but got {axis}.")
        sums = raw("UnsortedSegmentSum")(self.values, self.rows, num_segments=self.shape[0])
        return raw("Reshape")(sums, shape=(self.shape[0], 1, *self.shape[2:]))

    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """alpha times this one and beta times another."""
        _check_kind("CSRTensor.add", CSRTensor, b)
        _same_shape("CSRTensor.add", self, b)
        indices = raw("Concat")(self.places, b.places, axis=0)
        values = raw("Concat")(self.values * alpha, b.values * beta, axis=0)
        indices, values = coalesced(indices, values, self.shape)
        pointers = row_pointers(indices[:, 0], self.shape[0])
        return self._make((pointers, indices[:, 1], values, self.shape))

    def __add__(self, other: Any) -> CSRTensor:  # type: ignore[override]
        return self.add(other, 1, 1)

    def __sub__(self, other: Any) -> CSRTensor:
        return self.add(other, 1, -1)

    def __mul__(self, other: Any) -> CSRTensor:  # type: ignore[override]
        return self._with(self.values * self._of(other))

    def __truediv__(self, other: Any) -> CSRTensor:
        return self._with(self.values / self._of(other))

    def _of(self, other: Any) -> Any:
        return at(other, self.places, self.shape) if isinstance(other, Tensor) else other


class RowTensor(Sparse):
    """Some rows of a tensor.

    Args:
        indices: the numbers of the rows, [n].
        values: the rows, [n, ...].
        shape: the shape of the whole.
        row_tensor: one to take the parts of, instead.
    """

    _fields: ClassVar[tuple[str, ...]] = ("indices", "values", "shape")

    def __new__(
        cls, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None
    ) -> RowTensor:
        if row_tensor is not None:
            _check_kind("RowTensor", RowTensor, row_tensor)
            return cls._make(row_tensor)
        _check_parts(cls.__name__, shape, indices=indices, values=values)
        if indices.ndim != 1 or values.shape[:1] != indices.shape or values.shape[1:] != shape[1:]:
            raise ValueError(
                f"For 'RowTensor', 'indices' must be [n] and 'values' [n, ...], rows of 'shape', but got shapes "
                f"{tuple(indices.shape)}, {tuple(values.shape)} and {shape}."
            )
        return cls._make((indices, values, shape))

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The shape of the whole."""
        return self.shape

    def to_dense(self) -> Tensor:
        """The whole tensor."""
        return raw("UnsortedSegmentSum")(self.values, self.indices, num_segments=self.shape[0])


RowTensorInner = RowTensor


class SparseTensor(COOTensor):
    """The name of COOTensor in the first releases."""


def _check_kind(name: str, kind: type, value: Any) -> None:
    if not isinstance(value, kind):
        raise TypeError(
            f"For '{name}', the argument must be a {kind.__name__}, but got {type(value).__name__}."
        )


def _number(value: Any) -> float:
    return value.item() if isinstance(value, Tensor) else float(value)


# ---- what they are computed with: [n, d] coordinates and [n, ...] values
def _flat(indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The places as numbers, in the order of rows. Coordinates are looked up, so that those outside are refused."""
    parts = []
    for axis in range(indices.shape[1]):
        stride = math.prod(shape[axis + 1 : indices.shape[1]])
        starts = Tensor(np.arange(shape[axis]) * stride, indices.dtype)
        parts.append(raw("Gather")(starts, indices[:, axis], axis=0))
    return functools.reduce(operator.add, parts)


def dense_of(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The whole tensor."""
    count = math.prod(shape[: indices.shape[1]])
    whole = raw("UnsortedSegmentSum")(values, _flat(indices, shape), num_segments=count)
    return raw("Reshape")(whole, shape=tuple(shape))


def at(dense: Tensor, indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """What a tensor, spread to a shape, has at places."""
    dense = raw("BroadcastTo")(dense, shape=tuple(shape))
    axes = indices.shape[1]
    lines = raw("Reshape")(dense, shape=(math.prod(shape[:axes]), *shape[axes:]))
    return raw("Gather")(lines, _flat(indices, shape), axis=0)


def product(indices: Tensor, values: Tensor, shape: tuple[int, ...], dense: Tensor) -> Tensor:
    """The product of a sparse matrix with a matrix."""
    if dense.ndim != 2 or dense.shape[0] != shape[1]:
        raise ValueError(
            f"For 'mm', what a sparse tensor of shape {shape} is multiplied by must be [{shape[1]}, n], but got shape "
            f"{tuple(dense.shape)}."
        )
    lines = raw("Gather")(dense, indices[:, 1], axis=0)
    scaled = raw("Reshape")(values, shape=(-1, 1)) * lines
    return raw("UnsortedSegmentSum")(scaled, indices[:, 0], num_segments=shape[0])


def row_pointers(rows: Tensor, height: int) -> Tensor:
    """Where each row begins, of the numbers of rows in order."""
    ones = raw("OnesLike")(rows)
    counts = raw("UnsortedSegmentSum")(ones, rows, num_segments=height)
    ends = raw("CumSum")(counts, axis=0).astype(rows.dtype)
    return raw("Concat")(Tensor([0], rows.dtype), ends, axis=0)


def row_numbers(indptr: Tensor, count: int) -> Tensor:
    """The row of each of `count` values."""
    inner = indptr[1:-1]
    if not inner.shape[0] or not count:
        return raw("Zeros")(shape=(count,), dtype=indptr.dtype)
    ones = raw("OnesLike")(inner)
    begun = raw("UnsortedSegmentSum")(ones, inner, num_segments=count + 1)
    return raw("CumSum")(begun, axis=0).astype(indptr.dtype)[:count]


def coalesced(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """One value for each place, in order; how many there are depends on the coordinates."""
    flat = _flat(indices, shape)
    kept, group = np.unique(flat.asnumpy(), return_inverse=True)
    groups = Tensor(group.reshape(-1), _core.int64)
    axes = shape[: indices.shape[1]]
    places = np.stack(np.unravel_index(kept.astype(np.int64), axes), 1)
    sums = raw("UnsortedSegmentSum")(values, groups, num_segments=len(kept))
    return Tensor(places, indices.dtype), sums


def coo_of(tensor: Tensor, name: str = "dense_to_sparse_coo") -> COOTensor:
    """The elements of a matrix that are not 0."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"For '{name}', 'tensor' must be a Tensor, but got {type(tensor).__name__}."
        )
    if tensor.ndim != 2:
        raise ValueError(f"For '{name}', 'tensor' must have 2 dimensions, but got {tensor.ndim}.")
    places = np.argwhere(tensor.asnumpy() != 0)
    if not len(places):
        raise ValueError(f"For '{name}', 'tensor' must have elements that are not 0, but got none.")
    indices = Tensor(places, _core.int32)
    return COOTensor._make((indices, at(tensor, indices, tuple(tensor.shape)), tuple(tensor.shape)))


def csr_of(tensor: Tensor) -> CSRTensor:
    """The elements of a matrix that are not 0, by rows."""
    coo = coo_of(tensor, "dense_to_sparse_csr")
    pointers = row_pointers(coo.indices[:, 0], coo.shape[0])
    return CSRTensor._make((pointers, coo.indices[:, 1], coo.values, coo.shape))
