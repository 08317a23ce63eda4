"""Programs that are cut at random and run by threads that stand for processes: they give what one process gives, whatever is cut and
however unevenly; values, gradients and what is written to Parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops

# Its processes are threads, which on a device would share one stream, and wait for each other in it.
pytestmark = pytest.mark.host_device

MESHES = ((2,), (3,), (2, 2), (8,), (2, 2, 2))


@contextmanager
def rehearsal(mesh: tuple[int, ...], seed: int) -> Iterator[None]:
    _core.set_rehearsal(mesh, seed)
    try:
        yield
    finally:
        _core.set_rehearsal(())


@pytest.fixture(autouse=True)
def _graph_mode() -> Iterator[None]:
    mode = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=mode)


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).normal(size=shape).astype(np.float32)


def flat(x: Any) -> list[np.ndarray]:
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in flat(part)]
    return [x.asnumpy()]


def check(make: Callable[[], Callable], *given: np.ndarray, seeds: int = 5) -> None:
    """`make` gives a new function of the same program each time."""
    inputs = [Tensor(x) for x in given]
    ms.set_seed(3)
    wanted = flat(make()(*inputs))
    for seed in range(seeds):
        mesh = MESHES[seed % len(MESHES)]
        ms.set_seed(3)
        with rehearsal(mesh, seed):
            found = flat(make()(*inputs))
        for f, w in zip(found, wanted):
            assert f.dtype == w.dtype and f.shape == w.shape
            what = f"over {mesh}, seed {seed}"
            if f.dtype.kind in "biu":
                np.testing.assert_array_equal(f, w, what)
            else:
                np.testing.assert_allclose(f, w, rtol=2e-4, atol=2e-5, err_msg=what)


def trained(net: Callable[[], nn.Cell], loss: nn.Cell, optimizer: Callable) -> Callable:
    """A function of data and labels: three losses, and the Parameters after them."""

    def make() -> Callable:
        ms.set_seed(1)
        made = net()
        step = nn.TrainOneStepCell(
            nn.WithLossCell(made, loss), optimizer(made.trainable_params())
        ).set_train()

        def run(x: Tensor, y: Tensor) -> list:
            losses = [step(x, y) for _ in range(3)]
            return [*losses, *[p.value() for p in made.get_parameters()]]

        return run

    return lambda: make()


LABELS = np.array([0, 2, 1, 1, 0], np.int32)
ENTROPY = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def test_a_perceptron_learns() -> None:
    def net() -> nn.Cell:
        return nn.SequentialCell(nn.Dense(4, 6), nn.ReLU(), nn.Dense(6, 3))

    for optimizer in (
        lambda p: nn.Momentum(p, 0.1, 0.9),
        lambda p: nn.Adam(p, 0.01),
        lambda p: nn.SGD(p, 0.1, weight_decay=0.01),
    ):
        check(trained(net, ENTROPY, optimizer), random(5, 4), LABELS)


def test_images() -> None:
    def net() -> nn.Cell:
        return nn.SequentialCell(
            nn.Conv2d(2, 4, 3, pad_mode="same"),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(4 * 3 * 3, 3),
        )

    check(trained(net, ENTROPY, lambda p: nn.Momentum(p, 0.1, 0.9)), random(5, 2, 6, 6), LABELS)


class Words(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 6)
        self.norm = nn.LayerNorm((6,))
        self.first, self.second = nn.Dense(6, 6), nn.Dense(6, 3)
        self.drop = nn.Dropout(p=0.3)

    def construct(self, words: Tensor) -> Tensor:
        x = self.norm(self.table(words))
        scores = ops.softmax(ops.matmul(self.first(x), x.swapaxes(-1, -2)) / 2.5, -1)
        return self.second(self.drop(ops.matmul(scores, x)).mean(1))


def test_words_attend() -> None:
    words = np.random.default_rng(0).integers(0, 7, (5, 4)).astype(np.int32)
    check(trained(Words, ENTROPY, lambda p: nn.Adam(p, 0.01)), words, LABELS)


class Sequence(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(3, 4, batch_first=True), nn.Dense(4, 3)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][:, -1])


def test_sequences() -> None:
    check(trained(Sequence, ENTROPY, lambda p: nn.Adam(p, 0.01)), random(5, 4, 3), LABELS)


def test_a_loop_that_a_tensor_ends() -> None:
    w = Tensor(random(4, 4) / 4)

    def make() -> Callable:
        def settle(x: Tensor) -> Tensor:
            rounds = 0
            while ops.abs(x).sum() > 0.5:
                x = ops.tanh(ops.matmul(x, w)) * 0.9
                rounds += 1
            return x * rounds

        def total(x: Tensor) -> Tensor:
            return (settle(x) ** 2).sum()

        return ms.jit(lambda x: (settle(x), ms.grad(total)(x)))

    check(make, random(5, 4))


def test_a_branch_that_a_tensor_takes() -> None:
    def make() -> Callable:
        def choose(x: Tensor, y: Tensor) -> Tensor:
            if x.sum() * y.sum() > 0:
                z = ops.matmul(x, y.T)
            else:
                z = ops.matmul(x + 1, y.T).sin()
            if z.max() > 100:
                z = z / 2
            return (z * z).mean()

        return ms.jit(lambda x, y: ms.value_and_grad(choose, (0, 1))(x, y))

    check(make, random(5, 4), random(5, 4, seed=1))
    check(make, random(5, 4), -random(5, 4))


def test_gradients_of_gradients() -> None:
    def make() -> Callable:
        def f(x: Tensor, w: Tensor) -> Tensor:
            return (ops.tanh(ops.matmul(x, w)) ** 2).mean()

        def slope(x: Tensor, w: Tensor) -> Tensor:
            return (ms.grad(f)(x, w) ** 2).sum()

        return ms.jit(lambda x, w: ms.grad(slope, (0, 1))(x, w))

    check(make, random(5, 4), random(4, 3))


def test_functions_of_items_and_tangents() -> None:
    def make() -> Callable:
        def f(x: Tensor) -> Tensor:
            return (x.sin() * x).sum()

        def both(x: Tensor) -> tuple:
            return ms.ops.vmap(ms.grad(f))(x), ms.jvp(lambda a: (a * a).mean(), (x,), (x,))

        return ms.jit(both)

    check(make, random(5, 4))


class Cubed(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * x * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple:
        return (dout * (x * 2 + ops.reduce_sum(x) + out),)


def test_a_rule_of_ones_own() -> None:
    def make() -> Callable:
        cubed = Cubed()
        return ms.jit(lambda x: ms.grad(lambda a: (cubed(a) ** 2).mean())(x))

    check(make, random(5, 4))


def test_numbers_of_one_process() -> None:
    def make() -> Callable:
        return ms.jit(lambda x: ops.dropout(x, p=0.4) + ops.standard_normal((5, 4)))

    check(make, random(5, 4))


def test_whole_numbers_to_the_bit() -> None:
    def make() -> Callable:
        def f(x: Tensor, at: Tensor) -> tuple:
            rows = ops.gather(x, at, 0)
            return rows, ops.one_hot(at, 7), x.sum(), x.max(0), (x @ x.T) % 5, x.argmax(1)

        return ms.jit(f)

    r = np.random.default_rng(0)
    check(make, r.integers(-9, 9, (7, 3)).astype(np.int32), r.integers(-7, 7, 5).astype(np.int32))


def test_a_position_outside_is_refused() -> None:
    for seed in range(4):
        with rehearsal((3,), seed):
            f = ms.jit(lambda x, at: ops.gather(x, at, 0).sum())
            with pytest.raises(IndexError):
                f(Tensor(random(7, 3)), Tensor(np.array([1, 7], np.int32)))


def test_a_program_that_runs_again() -> None:
    w = Parameter(Tensor(random(4, 3)), name="w")

    def step(x: Tensor) -> Tensor:
        w.set_data(w + ops.matmul(x.T, ops.matmul(x, w)) * 0.01)
        return w.sum()

    with rehearsal((2, 2), 5):
        compiled = ms.jit(step)
        found = [float(compiled(Tensor(random(5, 4)))) for _ in range(3)]
    x, wanted = random(5, 4), random(4, 3)
    for value in found:
        wanted = wanted + x.T @ (x @ wanted) * np.float32(0.01)
        np.testing.assert_allclose(value, wanted.sum(), rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_one_hot_of_all_values_of_a_narrow_type(dtype: type) -> None:
    """A piece takes its offset from positions: in their own type, 0 would become 255."""
    classes = np.arange(256).astype(dtype).reshape(16, 16)
    check(
        lambda: ms.jit(lambda x: ops.one_hot(x, 256, Tensor(1.0), Tensor(0.0))), classes, seeds=10
    )


def test_cells_that_are_computed_again():
    def make() -> Callable:
        ms.set_seed(1)
        net = nn.SequentialCell(
            *[nn.SequentialCell(nn.Dense(6, 10), nn.Tanh(), nn.Dense(10, 6)) for _ in range(2)]
        )
        for cell in net:
            cell.recompute()

        @ms.jit
        def step(x: Tensor) -> Any:
            return ms.value_and_grad(lambda x: (net(x) ** 2).sum(), 0, net.trainable_params())(x)

        return step

    check(make, random(7, 6))
