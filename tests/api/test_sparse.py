"""Sparse tensors against whole ones, in both modes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mindspore as ms
from mindspore import COOTensor, CSRTensor, RowTensor, Tensor, nn, ops

WHOLE = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, -4]], np.float32)
OTHER = np.random.default_rng(0).uniform(-1, 1, (4, 5)).astype(np.float32)


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def coo() -> COOTensor:
    return Tensor(WHOLE).to_coo()


def csr() -> CSRTensor:
    return Tensor(WHOLE).to_csr()


class Applied(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def same(got, expected):
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("error")  # also where a graph is left
def test_products_and_sums(mode):
    same(Applied(lambda x, y: x.mm(y))(csr(), Tensor(OTHER)), WHOLE @ OTHER)
    same(
        Applied(lambda x, y: ops.csr_mm(x, y, True))(csr(), Tensor(OTHER[:3])), WHOLE.T @ OTHER[:3]
    )
    same(Applied(lambda x, y: x.mv(y))(csr(), Tensor(OTHER[:, :1])), WHOLE @ OTHER[:, :1])
    same(Applied(lambda x: x.sum(1))(csr()), WHOLE.sum(1, keepdims=True))
    same(Applied(lambda x: x.to_csr().to_coo().to_dense())(coo()), WHOLE)
    same(Applied(lambda x: x.abs().to_dense())(coo()), np.abs(WHOLE))


@pytest.mark.filterwarnings("error")
def test_they_are_made_and_returned_in_graphs(mode):
    def double(x):
        return COOTensor(x.indices, x.values * 2, x.shape), ops.csr_sin(x.to_csr())

    first, second = Applied(double)(coo())
    assert type(first) is COOTensor
    assert type(second) is CSRTensor
    same(first.to_dense(), WHOLE * 2)
    same(second.to_dense(), np.sin(WHOLE))


def test_gradients_flow_through_values(mode):
    x = csr()

    def function(values, y):
        return CSRTensor(x.indptr, x.indices, values, x.shape).mm(y).sum()

    by_values, by_other = ms.grad(function, (0, 1))(x.values, Tensor(OTHER))
    same(by_values, (OTHER.sum(1))[x.indices.asnumpy()])
    same(by_other, np.repeat(WHOLE.sum(0)[:, None], 5, 1))


def test_what_akg_computes_elsewhere():
    x = csr()
    rows = x.rows.asnumpy()
    scores = np.exp(x.values.asnumpy())
    expected = scores / np.bincount(rows, scores, 3)[rows]
    same(ops.csr_softmax(x, ms.float32).values, expected)
    same(ops.csr_reduce_sum(x, 1), WHOLE.sum(1, keepdims=True))
    dense = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
    same(ops.csr_gather(x.indptr, x.indices, Tensor(dense), (3, 4)), dense[WHOLE != 0])
    same(ops.csr_mul(x, Tensor(dense)).to_dense(), WHOLE * dense)
    same(ops.csr_div(x, Tensor(dense)).to_dense(), WHOLE / dense)
    assert ops.csr2coo(x.indptr, 4).asnumpy().tolist() == rows.tolist()
    assert ops.coo2csr(x.rows, 3).asnumpy().tolist() == x.indptr.asnumpy().tolist()
    same(x.mm(Tensor(OTHER).to_csr()).to_dense(), WHOLE @ OTHER)


def test_one_value_for_each_place():
    x = COOTensor(Tensor([[0, 1], [0, 0], [0, 1]]), Tensor([1.0, 2.0, 3.0]), (2, 2))
    assert x.coalesce().indices.asnumpy().tolist() == [[0, 0], [0, 1]]
    assert x.coalesce().values.asnumpy().tolist() == [2, 4]
    same(x.to_dense(), [[2, 4], [0, 0]])
    same((x + x).to_dense(), [[4, 8], [0, 0]])
    assert x.add(x, 5.0).values.asnumpy().tolist() == [8]


def test_rows():
    x = RowTensor(Tensor([2, 0]), Tensor(np.ones((2, 3), np.float32)), (4, 3))
    same(x.to_dense(), [[1] * 3, [0] * 3, [1] * 3, [0] * 3])
    same(ops.row_tensor_add(x, ops.ones((4, 3))), [[2] * 3, [1] * 3, [2] * 3, [1] * 3])
    assert ops.row_tensor_get_dense_shape(x) == (4, 3)


def test_they_are_no_tuples_to_functions_of_many_types():
    chosen = ops.MultitypeFuncGraph("chosen")
    chosen.register("Tuple")(lambda x: "tuple")
    chosen.register("COOTensor")(lambda x: "coo")
    chosen.register("CSRTensor")(lambda x: "csr")
    assert (chosen(coo()), chosen(csr()), chosen((1,))) == ("coo", "csr", "tuple")


def test_they_are_objects():
    x = coo()
    assert x == x and x != coo()
    assert len({x, coo()}) == 2
    for other in (
        copy.copy(x),
        copy.deepcopy(x),
        pickle.loads(pickle.dumps(x)),
        COOTensor(coo_tensor=x),
    ):
        assert type(other) is COOTensor
        same(other.to_dense(), WHOLE)
    assert repr(x).startswith("COOTensor(shape=[3, 4], dtype=Float32, indices=Tensor")


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: COOTensor(1, 2, (2, 2)), TypeError, "'indices' must be a Tensor, but got int"),
        (lambda: COOTensor(*coo()[:2], (0, 4)), ValueError, "must hold positive ints"),
        (lambda: COOTensor(*coo()[:2], (3, 4, 5)), ValueError, "'shape' must have 2 sizes"),
        (lambda: CSRTensor(*csr()[:3], (2, 4)), ValueError, "'indptr' must have 3 elements"),
        (lambda: csr().mm(Tensor(OTHER[:3])), ValueError, r"must be \[4, n\], but got shape"),
        (lambda: csr().mv(Tensor(OTHER[:, 0])), ValueError, r"must be \[4, 1\]"),
        (lambda: csr().sum(0), ValueError, "'axis' must be 1 or -1, but got 0"),
        (lambda: coo() + COOTensor(*coo()[:2], (4, 4)), ValueError, "shapes must be equal"),
        (lambda: ops.coo_sin(csr()), TypeError, "For 'coo_sin', 'x' must be a COOTensor"),
        (lambda: Tensor([1.0]).to_coo(), ValueError, "must have 2 dimensions, but got 1"),
        (lambda: RowTensor(Tensor([0]), Tensor([[1.0]]), (2, 2)), ValueError, "rows of 'shape'"),
    ],
)
def test_refusals(make, error, says):
    with pytest.raises(error, match=says):
        make()
