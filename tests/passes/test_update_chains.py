"""Updates written with ops: one kernel for each Parameter and its states, in place, bit for bit as eager ops."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops

# Below, at and above the blocks of the code and the chunks that threads take; of one element.
SHAPES = [(3,), (1,), (), (64, 64), (8193,), (130, 70), (2, 3, 5)]
Update = Callable[["Own", int, Tensor], None]


@pytest.fixture(params=["interpreted", "generated"], autouse=True)
def _code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Small kernels are interpreted, unless code is asked for."""
    _core.assembler.generate_always(request.param == "generated")
    yield
    _core.assembler.generate_always(False)


def draw(seed: int, dtype: type = np.float32) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in SHAPES]


class Own(nn.Cell):
    """Weights with two states each, and a rate; `update` is what a user writes for one of them."""

    def __init__(self, update: Update, dtype: type, states: type):
        super().__init__()
        named = lambda name, values: ms.ParameterTuple(
            [Parameter(Tensor(v), name=f"{name}{i}") for i, v in enumerate(values)]
        )
        self.p = named("p", draw(1, dtype))
        self.m = named("m", draw(2, states))
        self.v = named("v", [np.abs(x) for x in draw(3, states)])
        self.rate = Parameter(Tensor(np.float32(0.125)), name="rate")
        self.rates = Parameter(Tensor(np.array([0.25], np.float32)), name="rates")
        self.update = update

    def construct(self, gradients: tuple) -> Tensor:
        ops.assign(self.rate, self.rate * 0.75)
        for i in range(len(self.p)):
            self.update(self, i, gradients[i])
        return self.rate + 0


def amsgrad(s: Own, i: int, g: Tensor) -> None:
    m = s.m[i] * 0.9 + g * 0.1
    v = ops.maximum(s.v[i], s.v[i] * 0.99 + ops.square(g) * 0.01)
    ops.assign(s.m[i], m)
    ops.assign(s.v[i], v)
    ops.assign_sub(s.p[i], s.rate * m / (ops.sqrt(v) + 1e-8))


def lion(s: Own, i: int, g: Tensor) -> None:
    u = ops.sign(s.m[i] * 0.9 + g * 0.1)
    ops.assign(s.p[i], s.p[i] * (1 - s.rate * 0.01) - s.rate * u)
    ops.assign(s.m[i], s.m[i] * 0.99 + g * 0.01)


def twice(s: Own, i: int, g: Tensor) -> None:
    ops.assign(s.p[i], s.p[i] + g)
    ops.assign(s.m[i], s.p[i] * 2.0)
    ops.assign(s.p[i], s.p[i] * s.m[i])
    ops.assign_add(s.p[i], s.p[i])


def swapped(s: Own, i: int, g: Tensor) -> None:
    p, m = s.p[i] + 0.0, s.m[i] + 0.0
    ops.assign(s.p[i], m)
    ops.assign(s.m[i], p * g)


def exchanged(s: Own, i: int, g: Tensor) -> None:
    """Values change places as they are."""
    p, m = ops.depend(s.p[i], g), ops.depend(s.m[i], g)
    ops.assign(s.v[i], g)
    ops.assign(s.p[i], m * 1.0)
    ops.assign(s.m[i], p * 1.0)


def same_value(s: Own, i: int, g: Tensor) -> None:
    new = s.p[i] - g * s.rate
    ops.assign(s.p[i], new)
    ops.assign(s.m[i], new)
    ops.assign_sub(s.v[i], new)


def filled(s: Own, i: int, g: Tensor) -> None:
    ops.assign(s.p[i], s.p[i] - s.m[i] * g)
    ops.assign(s.m[i], ops.zeros_like(s.m[i]))


def other_rate(s: Own, i: int, g: Tensor) -> None:
    if g.ndim:
        ops.assign(s.p[i], s.p[i] - s.rates * g)
        ops.assign(s.m[i], s.rates * s.m[i] + s.rate)


def reshaped(s: Own, i: int, g: Tensor) -> None:
    flat = g.reshape((-1,)) * 0.5
    m = s.m[i].reshape((-1,)) + flat
    ops.assign(s.m[i], m.reshape(g.shape))
    ops.assign_sub(s.p[i], (m * s.rate).reshape(g.shape))


def transposed(s: Own, i: int, g: Tensor) -> None:
    if g.ndim == 2 and g.shape[0] == g.shape[1]:
        ops.assign(s.m[i], s.m[i] * 0.5 + g.T)
        ops.assign_sub(s.p[i], s.m[i] * s.rate + g.T)


def by_columns(s: Own, i: int, g: Tensor) -> None:
    """Reads a row that is repeated, and a row of the weights that others write."""
    if g.ndim == 2:
        ops.assign(s.p[i], s.p[i] * 0.5 - g[0] * s.rate)
        ops.assign(s.m[i], s.m[i] + s.p[i][1])


def skipped(s: Own, i: int, g: Tensor) -> None:
    if s.rate > 0.05:
        amsgrad(s, i, g)


def shared(s: Own, i: int, g: Tensor) -> None:
    """States of one shape that all Parameters change."""
    if i in (3, 4):
        j = 7 - i
        ops.assign(s.p[i], s.p[i] - s.rate * g)
        ops.assign(s.m[j], s.m[j] + gradient_sum(g))


def gradient_sum(g: Tensor) -> Tensor:
    return g.sum() * 0.5


UPDATES = [amsgrad, lion, twice, swapped, exchanged, same_value, filled, other_rate, reshaped]
UPDATES += [transposed, by_columns, skipped, shared]


def train(update: Update, mode: int, dtype: type, states: type) -> list[np.ndarray]:
    ms.set_context(mode=mode)
    own = Own(update, dtype, states)
    results = []
    for step in range(4):
        results.append(own(tuple(Tensor(g) for g in draw(10 + step, dtype))).asnumpy())
        results += [p.asnumpy().copy() for p in own.get_parameters()]
    return results


def assert_same_bits(first: list, second: list) -> None:
    for a, b in zip(first, second, strict=True):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("update", UPDATES)
def test_same_bits_as_op_by_op(update):
    compiled = train(update, ms.GRAPH_MODE, np.float32, np.float32)
    assert_same_bits(compiled, train(update, ms.PYNATIVE_MODE, np.float32, np.float32))


def wide(s: Own, i: int, g: Tensor) -> None:
    """Half weights, states in Float32 or Float64; one state takes halves as they come."""
    g = g.astype(s.m[i].dtype)
    m = s.m[i] * 0.9 + g
    ops.assign(s.m[i], m)
    ops.assign_sub(s.p[i], (m * 0.01).astype(s.p[i].dtype))
    ops.assign(s.v[i], s.p[i])
    ops.assign_add(s.m[i], s.p[i])


@pytest.mark.parametrize(
    "dtype, states",
    [(np.float16, np.float32), (np.float32, np.float64), (np.float16, np.float16)],
)
def test_states_of_another_dtype(dtype, states):
    compiled = train(wide, ms.GRAPH_MODE, dtype, states)
    assert_same_bits(compiled, train(wide, ms.PYNATIVE_MODE, dtype, states))


def counted(s: Own, i: int, g: Tensor) -> None:
    """Integers, which as values of a real Parameter pass through Float64."""
    signs = ops.sign(g)
    ops.assign(s.m[i], s.m[i] + signs * 3)
    ops.assign_add(s.v[i], s.m[i] * 16777217)
    ops.assign_sub(s.p[i], s.v[i])


def test_integers():
    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        own = Own(counted, np.float32, np.int32)
        for step in range(3):
            own(tuple(Tensor((g * 2).astype(np.int32)) for g in draw(step)))
        results.append([p.asnumpy() for p in own.get_parameters()])
    assert_same_bits(*results)


def test_old_values_that_someone_holds_stay():
    ms.set_context(mode=ms.GRAPH_MODE)
    own = Own(amsgrad, np.float32, np.float32)
    held, before = own.p[3].copy(), own.p[3].asnumpy().copy()
    kept = own.m[3].copy()
    state = kept.asnumpy().copy()
    own(tuple(Tensor(g) for g in draw(10)))
    assert (
        held.asnumpy().tobytes() == before.tobytes() and kept.asnumpy().tobytes() == state.tobytes()
    )
    assert not np.array_equal(own.p[3].asnumpy(), before)


def test_a_new_value_that_is_returned_is_not_written_by_the_next_step():
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor(np.ones((64, 64), np.float32)), name="p")
            self.m = Parameter(Tensor(np.ones((64, 64), np.float32)), name="m")

        def construct(self, g):
            new = self.m * 0.5 + g
            ops.assign(self.m, new)
            ops.assign(self.p, new)
            return new

    ms.set_context(mode=ms.GRAPH_MODE)
    step = Step()
    first = step(ops.ones((64, 64)))
    step(ops.ones((64, 64)))
    assert np.all(first.asnumpy() == 1.5)
    assert np.all(step.p.asnumpy() == 1.75) and np.all(step.m.asnumpy() == 1.75)


def plan_of(construct: str) -> str:
    code = f"""
import numpy as np, mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
ms.set_context(mode=ms.GRAPH_MODE)
array = lambda: Tensor(np.ones((400, 400), np.float32))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = ms.ParameterTuple([Parameter(array(), name=f"p{{i}}") for i in range(2)])
        self.m = self.p.clone("m")
    def construct(self, x, y):
{construct}
Net()(array(), array())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MS_DUMP": "plan", "MS_FUSION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def test_one_kernel_for_each_parameter_in_place():
    plan = plan_of("""
        for p, m, g in zip(self.p, self.m, (x, y)):
            new = m * 0.9 + g
            ops.assign(m, new)
            ops.assign(p, p - new * 0.1)
""")
    assert "group of 2 launches in 2 chains: Fused, Fused" in plan
    assert "c2 c3 c4 c5 <- UpdateGroup(c2 c0 c3 c4 c1 c5)" in plan


def test_an_update_waits_until_all_values_that_it_writes_over_are_read():
    """Here the gradient is there before the weights are read for the last time."""
    plan = plan_of("""
        new = self.m[0] * 0.9 + ops.matmul(x, x)
        ops.assign(self.m[0], new)
        seen = ops.matmul(self.p[0], y)
        ops.assign(self.p[0], self.p[0] - new)
        return seen
""")
    assert 0 < plan.index("MatMul(c3 c1)") < plan.index("c2 c3 <- Fused(c2 a0 c3)")
