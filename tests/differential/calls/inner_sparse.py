"""Calls of sparse tensors."""

import numpy as np
from differential.calllib import call, case, f32, made, of

UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp"),
    *("expm1", "floor", "inv", "isfinite", "isinf", "isnan", "log", "log1p", "neg", "relu"),
    *("relu6", "round", "sigmoid", "sin", "sinh", "softsign", "sqrt", "square", "tan", "tanh"),
)


def _coo(ms, values=(0.5, -0.25, 0.75), kind="int64"):
    indices = ms.Tensor(np.array([[0, 1], [1, 2], [2, 0]]), getattr(ms, kind))
    return ms.COOTensor(indices, ms.Tensor(np.array(values, np.float32)), (3, 4))


def _csr(ms, values=(0.5, -0.25, 0.75)):
    pointers, columns = (ms.Tensor(np.array(x), ms.int32) for x in ([0, 2, 3, 3], [0, 2, 1]))
    return ms.CSRTensor(pointers, columns, ms.Tensor(np.array(values, np.float32)), (3, 4))


def _unary(name):
    @case(f"ops.coo_{name}")
    def _(ms):
        """A function of the values by coordinates."""
        return getattr(ms.ops, f"coo_{name}")(_coo(ms)).to_tuple()

    @case(f"ops.csr_{name}")
    def _(ms):
        """A function of the values by rows."""
        return getattr(ms.ops, f"csr_{name}")(_csr(ms)).to_tuple()


for _name in UNARY:
    _unary(_name)


@case("COOTensor")
def _(ms):
    """Its parts and properties."""
    x = _coo(ms)
    facts = (x.size, x.ndim, x.itemsize, x.shape, str(x.dtype))
    return x.indices, x.values, facts, x.abs().values, (-x).values, x.astype(ms.float16).values


@case("COOTensor")
def _(ms):
    """As a whole tensor."""
    return _coo(ms).to_dense(), _coo(ms, kind="int32").to_dense()


@case("COOTensor")
def _(ms):
    """With a whole tensor."""
    whole = ms.Tensor(np.arange(1, 13, dtype=np.float32).reshape(3, 4))
    x = _coo(ms)
    return (x * whole).to_tuple(), (x / whole).to_tuple(), x + whole, x - whole


@case("COOTensor")
def _(ms):
    """A sum."""
    x, y = _coo(ms), _coo(ms, (1.0, 0.25, 2.0))
    return (x + y).to_dense(), (x - y).to_dense(), x.add(y, ms.Tensor(0.1)).to_tuple()


@case("COOTensor")
def _(ms):
    """A shape that is no tuple."""
    return ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([1.0]), [2, 2])


@case("COOTensor")
def _(ms):
    """Other counts of places and values."""
    return ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([1.0, 2.0]), (2, 2))


@case("COOTensor")
def _(ms):
    """No parts."""
    return ms.COOTensor()


@case("COOTensor")
def _(ms):
    """A product of two."""
    return _coo(ms) * _coo(ms)


@case("CSRTensor")
def _(ms):
    """Its parts and properties."""
    x = _csr(ms)
    facts = (x.size, x.ndim, x.itemsize, x.shape, str(x.dtype))
    return x.indptr, x.indices, x.values, facts, x.abs().values, x.astype(ms.float16).values


@case("CSRTensor")
def _(ms):
    """As a whole tensor."""
    return _csr(ms).to_dense()


@case("CSRTensor")
def _(ms):
    """A sum."""
    x = _csr(ms)
    return (x + x).to_tuple(), x.add(x, ms.Tensor(2.0), ms.Tensor(-1.0)).to_tuple()


@case("CSRTensor")
def _(ms):
    """Rows that do not fit."""
    return ms.CSRTensor(
        ms.Tensor([0, 2], ms.int32), ms.Tensor([0], ms.int32), ms.Tensor([1.0]), (2, 2)
    )


@case("CSRTensor")
def _(ms):
    """Places that are no integers."""
    return ms.CSRTensor(ms.Tensor([0.0, 1.0]), ms.Tensor([0], ms.int32), ms.Tensor([1.0]), (1, 2))


@case("ops.dense_to_sparse_coo")
def _(ms):
    """The elements that are not 0."""
    whole = ms.Tensor(np.array([[0, 1.5, 0], [2, 0, -3]], np.float32))
    return ms.ops.dense_to_sparse_coo(whole).to_tuple(), whole.to_coo().to_tuple()


@case("ops.dense_to_sparse_csr")
def _(ms):
    """The elements that are not 0."""
    whole = ms.Tensor(np.array([[0, 1.5, 0], [2, 0, -3]], np.float32))
    return ms.ops.dense_to_sparse_csr(whole).to_tuple(), whole.to_csr().to_tuple()


@case("ops.csr_to_coo")
def _(ms):
    """By coordinates."""
    return ms.ops.csr_to_coo(_csr(ms)).to_tuple()


@case("ops.csr_to_dense")
def _(ms):
    """The whole."""
    return ms.ops.csr_to_dense(_csr(ms))


@case("ops.coo_add")
def _(ms):
    """A sum without small values."""
    return ms.ops.coo_add(_coo(ms), _coo(ms), ms.Tensor(0.6, ms.float32)).to_tuple()


@case("ops.coo_concat")
def _(ms):
    """Joined along rows."""
    return ms.ops.coo_concat((_coo(ms), _coo(ms)), 0).to_tuple()


@case("ops.coo_concat")
def _(ms):
    """Joined along columns."""
    return ms.ops.coo_concat((_coo(ms), _coo(ms)), 1).to_tuple()


call(
    "ops.coalesce",
    of([[0, 0, 1], [1, 1, 2]], "int64"),
    of([1.0, 2.0, 3.0]),
    of([3, 4], "int64"),
)
made("ops.SparseTensorDenseMatmul")(
    of([[0, 1], [1, 2]], "int64"), of([1.0, 2.0]), (3, 4), f32(4, 2)
)
made("ops.SparseTensorDenseMatmul", adjoint_st=True)(
    of([[0, 1], [1, 2]], "int64"), of([1.0, 2.0]), (3, 4), f32(3, 2)
)
made("ops.SparseTensorDenseMatmul", adjoint_dt=True)(
    of([[0, 1], [1, 2]], "int32"), of([1.0, 2.0]), (3, 4), f32(2, 4)
)
made("ops.SparseTensorDenseMatmul")(
    of([[0, 1], [1, 2]], "int64"), of([1.0, 2.0]), (3, 4), f32(3, 2)
)
made("ops.SparseToDense")(of([[0, 1], [1, 2]], "int64"), of([1.0, 2.0]), (3, 4))
made("ops.SparseToDense")(of([[0, 1], [1, 2]], "int32"), of([1, 2], "int32"), (2, 3))
made("ops.SparseTensorDenseAdd")(
    of([[0, 1], [1, 2]], "int64"), of([1.0, 2.0]), of([3, 4], "int64"), f32(3, 4)
)
made("ops.SparseSlice")(
    of([[0, 1], [1, 2], [2, 3]], "int64"),
    of([1.0, 2.0, 3.0]),
    of([3, 4], "int64"),
    of([0, 1], "int64"),
    of([2, 2], "int64"),
)


@case("RowTensor")
def _(ms):
    """Its parts."""
    x = ms.RowTensor(ms.Tensor([0, 2], ms.int32), ms.Tensor(np.ones((2, 3), np.float32)), (4, 3))
    return x.indices, x.values, x.dense_shape


@case("SparseTensor")
def _(ms):
    """Its parts."""
    x = ms.SparseTensor(ms.Tensor([[0, 1], [1, 2]]), ms.Tensor([1.0, 2.0]), (3, 4))
    return x.indices, x.values, x.shape
