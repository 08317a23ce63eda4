"""Optimizer updates that the reference package has on other devices alone, against their formulas in NumPy."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

P = ops.operations


def values(*shape, seed=0, low=0.1):
    return np.random.default_rng(seed).uniform(low, 1.0, shape).astype(np.float32)


VAR, STATE, MORE, GRAD = (values(3, 2, seed=i) for i in range(4))
ROWS = values(3, 2, seed=5, low=-1.0)
PLACES = np.array([2, 0, 2], np.int32)  # one of them twice


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], autouse=True)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


def run(op, states, *rest):
    """What the Parameters become."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.states = ms.ParameterTuple(
                [Parameter(Tensor(s), name=f"s{i}") for i, s in enumerate(states)]
            )
            self.op = op

        def construct(self, *rest):
            return self.op(*self.states, *rest)

    net = Net()
    net(*(Tensor(r) if isinstance(r, np.ndarray) else r for r in rest))
    return [s.asnumpy() for s in net.states]


def check(found, *wanted):
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f, w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("nesterov", [False, True])
def test_keras_momentum(nesterov):
    moved = STATE * 0.9 - 0.1 * GRAD
    step = moved * 0.9 - 0.1 * GRAD if nesterov else moved
    op = P.ApplyKerasMomentum(use_nesterov=nesterov)
    check(run(op, [VAR, STATE], 0.1, GRAD, 0.9), VAR + step, moved)


def test_momentum_of_a_scaled_gradient():
    op = P.FusedWeightScaleApplyMomentum()

    def update(var, accumulation, gradient):
        return op(0.01, 2.0, var, accumulation, 0.1, gradient, 0.9)

    moved = STATE * 0.9 + GRAD * 2 + VAR * 0.01
    check(run(update, [VAR, STATE], GRAD), VAR - 0.1 * moved, moved)


def test_adam_of_a_half_gradient():
    g = GRAD.astype(np.float16).astype(np.float32) / 2
    m, v = STATE * 0.9 + g * 0.1, MORE * 0.99 + g * g * 0.01
    var = VAR - 0.1 * (m / (np.sqrt(v) + 1e-8) + 0.01 * VAR)
    op = P.FusedCastAdamWeightDecay()
    half = GRAD.astype(np.float16)
    check(run(op, [VAR, STATE, MORE], 0.1, 0.9, 0.99, 1e-8, 0.01, half, 2.0), var, m, v)


def test_adam_step_that_is_not_taken():
    op = P.AdamNoUpdateParam()
    m, v = Tensor(STATE), Tensor(MORE)
    step = op(m, v, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-8, Tensor(GRAD)).asnumpy()
    first, second = STATE * 0.9 + GRAD * 0.1, MORE * 0.99 + GRAD * GRAD * 0.01
    wanted = -0.1 * np.sqrt(1 - 0.99) / (1 - 0.9) * first / (np.sqrt(second) + 1e-8)
    check([step, m.asnumpy(), v.asnumpy()], wanted, first, second)


def summed():
    full = np.zeros_like(VAR)
    np.add.at(full, PLACES, ROWS)
    return full


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_sparse_adam(lazy, nesterov):
    g = summed()
    m, v = STATE * 0.9 + g * 0.1, MORE * 0.99 + g * g * 0.01
    ahead = m * 0.9 + g * 0.1 if nesterov else m
    var = VAR - 0.1 * np.sqrt(1 - 0.98) / (1 - 0.81) * ahead / (np.sqrt(v) + 1e-8)
    if lazy:
        for new, old in ((var, VAR), (m, STATE), (v, MORE)):
            new[1] = old[1]
    op = (P.FusedSparseLazyAdam if lazy else P.FusedSparseAdam)(use_nesterov=nesterov)
    found = run(op, [VAR, STATE, MORE], 0.81, 0.98, 0.1, 0.9, 0.99, 1e-8, ROWS, PLACES)
    check(found, var, m, v)


@pytest.mark.parametrize("shrinkage", [0.0, 0.1])
def test_sparse_ftrl(shrinkage):
    g = summed()
    shrunk = g + 2 * shrinkage * VAR
    squares = STATE + g * g
    linear = MORE + shrunk - (np.sqrt(squares) - np.sqrt(STATE)) / 0.1 * VAR
    var = np.where(
        np.abs(linear) > 0.01,
        (np.sign(linear) * 0.01 - linear) / (np.sqrt(squares) / 0.1 + 2 * 0.02),
        0,
    )
    for new, old in ((var, VAR), (squares, STATE), (linear, MORE)):
        new[1] = old[1]
    if shrinkage:
        op = P.SparseApplyFtrlV2(0.1, 0.01, 0.02, shrinkage, -0.5)
    else:
        op = P.FusedSparseFtrl(0.1, 0.01, 0.02, -0.5)
    check(run(op, [VAR, STATE, MORE], ROWS, PLACES), var, squares, linear)


def test_sparse_proximal_adagrad():
    g = summed()
    squares = STATE + g * g
    rate = 0.1 / np.sqrt(squares)
    moved = VAR - g * rate
    var = np.sign(moved) * np.maximum(np.abs(moved) - rate * 0.05, 0) / (1 + rate * 0.1)
    var[1], squares[1] = VAR[1], STATE[1]
    op = P.FusedSparseProximalAdagrad()
    check(run(op, [VAR, STATE], 0.1, 0.05, 0.1, ROWS, PLACES), var, squares)


def test_refusals():
    with pytest.raises(ValueError, match="'grad' a row for each of them"):
        run(P.SparseApplyAdagrad(0.1), [VAR, STATE], ROWS[:2], PLACES)
    with pytest.raises(TypeError, match="must be a Parameter"):
        P.ApplyAddSign()(Tensor(VAR), Tensor(STATE), 0.1, 1.0, 0.9, 0.8, Tensor(GRAD))
