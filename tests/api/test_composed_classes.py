"""Classes of ops that are composed of others, against NumPy, and the places and labels that they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
INTS = np.arange(6, dtype=np.int32).reshape(2, 3)
B = X > 0


def flat(value):
    """Outputs as a list of arrays."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    return [v.asnumpy() if isinstance(v, Tensor) else v for v in values]


CLASS_CASES = {
    "Meshgrid": (
        lambda _: ops.Meshgrid("ij")((Tensor([1, 2]), Tensor([3, 4]))),
        lambda: np.meshgrid([1, 2], [3, 4], indexing="ij"),
    ),
    "NonZero": (lambda _: ops.NonZero()(Tensor(INTS)), lambda: np.argwhere(INTS)),
    "MaskedSelect": (lambda _: ops.MaskedSelect()(Tensor(X), Tensor(B)), lambda: X[B]),
    "MaskedFill": (lambda x: ops.MaskedFill()(x, x > 0, 1.0), lambda: np.where(B, 1, X)),
    "LpNorm": (
        lambda x: ops.LpNorm((1, 2), 2, True)(x),
        lambda: np.linalg.norm(X.reshape(2, -1), axis=1).reshape(2, 1, 1),
    ),
    "ReduceStd": (lambda x: ops.ReduceStd((1,))(x), lambda: (X.std(1, ddof=1), X.mean(1))),
    "Roll": (lambda x: ops.Roll(1, 0)(x), lambda: np.roll(X, 1, 0)),
    "DepthToSpace": (
        lambda x: ops.DepthToSpace(2)(x.reshape(1, 8, 3, 1)),
        lambda: depth_to_space(X.reshape(1, 8, 3, 1)),
    ),
    "SpaceToDepth": (
        lambda x: ops.SpaceToDepth(2)(ops.DepthToSpace(2)(x.reshape(1, 8, 3, 1))),
        lambda: X.reshape(1, 8, 3, 1),
    ),
    "ReverseSequence": (
        lambda x: ops.ReverseSequence(1)(x, Tensor([2, 3])),
        lambda: np.stack([X[0][[1, 0, 2]], X[1][[2, 1, 0]]]),
    ),
    "T": (lambda x: x.T, lambda: X.T),
}


def depth_to_space(x):
    n, c, h, w = x.shape
    split = x.reshape(n, 2, 2, c // 4, h, w)
    return split.transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, h * 2, w * 2)


@pytest.mark.parametrize("name", CLASS_CASES)
def test_composed_classes(name):
    function, reference = CLASS_CASES[name]
    wanted = flat(reference())
    compiled = ms.jit(function)
    for actual in (flat(function(Tensor(X))), flat(compiled(Tensor(X)))):
        for a, w in zip(actual, wanted, strict=True):
            np.testing.assert_allclose(a, w, rtol=2e-5, atol=2e-6)


def test_random_classes():
    mask = np.arange(24).reshape(2, 3, 4) % 5 == 0
    index, chosen = ops.RandomChoiceWithMask(4)(Tensor(mask))
    assert index.shape == (4, 3)
    assert chosen.asnumpy().all()
    assert all(mask[tuple(i)] for i in index.asnumpy())
    assert len({tuple(i) for i in index.asnumpy()}) == 4
    index, chosen = ops.RandomChoiceWithMask(30)(Tensor(mask))
    assert index.shape == (30, 3)
    assert chosen.asnumpy().sum() == mask.sum()
    y, kept = ops.Dropout2D(0.5)(Tensor(np.ones((4, 8, 3, 3), np.float32)))
    np.testing.assert_array_equal(y.asnumpy() > 0, kept.asnumpy())
    numbers = ops.Randperm(6)(Tensor([4])).asnumpy()
    assert sorted(numbers[:4]) == [0, 1, 2, 3]
    assert list(numbers[4:]) == [-1, -1]


def test_index_add_updates_its_parameter():
    w = Parameter(Tensor(np.zeros((3, 2), np.float32)), name="w")
    ops.IndexAdd(0)(w, Tensor([2, 2]), Tensor(np.ones((2, 2), np.float32)))
    np.testing.assert_array_equal(w.asnumpy(), [[0, 0], [0, 0], [2, 2]])


COUNTED = {
    "a prediction": (ops.ConfusionMatrix(3), [0, 1], [3, 5]),
    "a label below": (ops.ConfusionMatrix(3), [-1, 2], [0, 1]),
    "a label above": (ops.ConfusionMatrix(3), [0, 3], [0, 1]),
    "a place": (ops.UnravelIndex(), [99], [2, 3]),
    "a place below": (ops.UnravelIndex(), [-1], [2, 3]),
}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("which", COUNTED)
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_numbers_that_nothing_is_counted_by_are_refused(which: str, mode: int) -> None:
    op, left, right = COUNTED[which]
    ms.set_context(mode=mode)

    class Net(ms.nn.Cell):
        def construct(self, x, y):
            return op(x, y)

    with pytest.raises(IndexError, match=r"must be in \[0, \d\), but got "):
        Net()(Tensor(left, ms.int32), Tensor(right, ms.int32))


def test_confusion_counts_each_pair_in_its_row() -> None:
    labels, predictions = Tensor([0, 1, 1, 2], ms.int32), Tensor([2, 1, 1, 0], ms.int32)
    counts = ops.ConfusionMatrix(3)(labels, predictions)
    assert counts.asnumpy().tolist() == [[0, 0, 1], [0, 2, 0], [1, 0, 0]]
    weighed = ops.ConfusionMatrix(3, "float32")(labels, predictions, Tensor([0.5, 1.0, 2.0, 3.0]))
    assert weighed.asnumpy().tolist() == [[0, 0, 0.5], [0, 3, 0], [3, 0, 0]]
