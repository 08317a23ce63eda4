"""Random programs of elementwise ops, casts, broadcasts, rearrangements and reductions: compiled with the fast stage, without
it, and run op by op. Elementwise results are equal bit for bit; sums may differ by their order."""

from __future__ import annotations

import random
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import mindspore
from mindspore import JitConfig, Tensor, jit, ops

FLOATS = (mindspore.float32, mindspore.float16, mindspore.bfloat16, mindspore.float64)
INTS = (mindspore.int32, mindspore.int8, mindspore.int64, mindspore.uint8)
INTS += (mindspore.int16, mindspore.uint16, mindspore.uint32, mindspore.uint64)
DIMS = (1, 2, 3, 5, 7, 16, 33)
EMPTY = (0, 1, 3)
LARGE = (64, 129, 200)  # so that code is generated
UNARY = {
    "neg": lambda x: -x,
    "abs": ops.abs,
    "tanh": ops.tanh,
    "exp": lambda x: ops.exp(-ops.abs(x)),
    "sigmoid": ops.sigmoid,
    "relu": ops.relu,
    "erf": ops.erf,
    "square": ops.square,
    "sqrt": lambda x: ops.sqrt(ops.abs(x)),
    "scale": lambda x: x * 0.5 + 1,
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: ops.tanh(x) * y,
    "div": lambda x, y: x / (ops.abs(y) + 1),
    "max": ops.maximum,
    "min": ops.minimum,
    "where": lambda x, y: ops.where(x > y, x * 0.5, y),
}
SUMS = {"sum": lambda x, a, k: x.sum(a, keepdims=k), "mean": lambda x, a, k: x.mean(a, k)}
EXTREMES = {
    "max": lambda x, a, k: ops.amax(x, a, k),
    "min": lambda x, a, k: ops.amin(x, a, k),
}


class Program:
    """A random program: steps that each take earlier values, and inputs."""

    def __init__(self, seed: int, reductions: bool, dtypes: tuple, dims: tuple[int, ...]):
        self.rng = random.Random(seed)
        self.reductions, self.dtypes = reductions, dtypes
        rank = 2 if dims == LARGE else self.rng.randint(1, 4)
        self.shape = tuple(self.rng.choice(dims) for _ in range(rank))
        self.inputs = [self.array(self.shape), self.array(self.shape)]
        self.inputs += [self.array(self.part()) for _ in range(2)]
        self.steps: list[tuple[Callable, tuple[int, ...]]] = []
        self.values = [Tensor(x) for x in self.inputs]  # of a trial run, for their shapes
        for _ in range(self.rng.randint(3, 14)):
            self.add()
        count = len(self.values)
        self.outputs = sorted(
            {count - 1, *(self.rng.randrange(len(self.inputs), count) for _ in range(2))}
        )

    def part(self) -> tuple[int, ...]:
        """A shape that broadcasts to that of the program."""
        sizes = [s if self.rng.random() < 0.5 else 1 for s in self.shape]
        return tuple(sizes[self.rng.randrange(len(sizes)) :])

    def array(self, shape: tuple[int, ...]) -> np.ndarray:
        dtype = self.rng.choice(self.dtypes)
        values = np.random.default_rng(self.rng.randrange(1 << 30)).normal(0, 2, shape)
        if dtype == mindspore.bfloat16:
            return values.astype(ml_dtypes.bfloat16)
        return values.astype(mindspore.dtype_to_nptype(dtype))

    def pick(self) -> int:
        return self.rng.randrange(len(self.values))

    def add(self) -> None:
        for _ in range(20):
            step = self.step()
            if step is None:
                continue
            f, args = step
            try:
                value = f(*(self.values[a] for a in args))
            except (TypeError, ValueError):
                continue  # an op that has no such dtype, or shapes that do not go together
            self.steps.append((f, args))
            self.values.append(value)
            return

    def step(self) -> tuple[Callable, tuple[int, ...]] | None:
        kind = self.rng.random()
        a, b = self.pick(), self.pick()
        x = self.values[a]
        if kind < 0.3:
            return UNARY[self.rng.choice(sorted(UNARY))], (a,)
        if kind < 0.7:
            return BINARY[self.rng.choice(sorted(BINARY))], (a, b)
        if kind < 0.78:
            dtype = self.rng.choice(self.dtypes)
            return lambda v: v.astype(dtype), (a,)
        if kind < 0.88:
            return self.rearranged(x), (a,)
        if not self.reductions or x.ndim == 0 or x.dtype == mindspore.bool_:
            return None
        return self.reduced(x), (a,)

    def rearranged(self, x: Tensor) -> Callable:
        shape, how = tuple(x.shape), self.rng.randrange(4)
        if how == 0:
            perm = tuple(self.rng.sample(range(len(shape)), len(shape)))
            return lambda v: ops.transpose(v, perm)
        if how == 1:
            flat = (int(np.prod(shape)),)
            return lambda v: ops.reshape(v, flat)
        if how == 2 and shape and shape[0] > 1:
            return lambda v: v[1:]
        target = self.shape
        return lambda v: ops.broadcast_to(v, target)

    def reduced(self, x: Tensor) -> Callable:
        axes = tuple(sorted(self.rng.sample(range(x.ndim), self.rng.randint(1, x.ndim))))
        keep = self.rng.random() < 0.6
        floating = x.dtype in FLOATS
        table = EXTREMES if not floating or self.rng.random() < 0.3 else SUMS
        f = table[self.rng.choice(sorted(table))]
        return lambda v: f(v, axes, keep)

    def run(self, *inputs: Tensor) -> tuple:
        values = list(inputs)
        for f, args in self.steps:
            values.append(f(*(values[a] for a in args)))
        return tuple(values[i] for i in self.outputs)


def as_float(x: Tensor) -> np.ndarray:
    return x.asnumpy().astype(np.float64)


def check(seed: int, reductions: bool, dtypes: tuple, dims: tuple[int, ...] = DIMS) -> None:
    program = Program(seed, reductions, dtypes, dims)
    inputs = [Tensor(x) for x in program.inputs]
    want = program.run(*inputs)
    plain = jit(program.run, jit_config=JitConfig(jit_level="O0"), fullgraph=True)(*inputs)
    fast = jit(program.run, fullgraph=True)(*inputs)
    again = jit(program.run, fullgraph=True)(*inputs)
    for w, p, f, g in zip(want, plain, fast, again):
        said = f"seed {seed}, {w.dtype} {tuple(w.shape)}"
        assert (f.dtype, tuple(f.shape)) == (w.dtype, tuple(w.shape)), said
        assert f.asnumpy().tobytes() == g.asnumpy().tobytes(), said
        if not reductions:
            np.testing.assert_array_equal(f.asnumpy(), w.asnumpy(), err_msg=said)
            np.testing.assert_array_equal(p.asnumpy(), w.asnumpy(), err_msg=said)
            continue
        wide = {mindspore.float16: 2e-2, mindspore.bfloat16: 1e-1}
        tolerance = max([wide.get(v.dtype, 1e-4) for v in program.values])
        np.testing.assert_allclose(
            as_float(f), as_float(w), rtol=tolerance, atol=tolerance * 10, err_msg=said
        )


@pytest.mark.parametrize("seed", range(40))
def test_elementwise(seed: int) -> None:
    check(seed, False, FLOATS[:1] if seed % 2 else FLOATS + INTS)


@pytest.mark.parametrize("seed", range(100, 140))
def test_with_reductions(seed: int) -> None:
    check(seed, True, FLOATS[:1] if seed % 2 else FLOATS)


@pytest.mark.parametrize("seed", range(200, 210))
def test_integers(seed: int) -> None:
    check(seed, True, INTS)


@pytest.mark.parametrize("seed", range(300, 324))
def test_generated(seed: int) -> None:
    check(seed, seed % 2 > 0, FLOATS[:1] if seed % 3 else FLOATS + INTS, LARGE)


@pytest.mark.parametrize("seed", range(400, 424))
def test_empty(seed: int) -> None:
    check(seed, seed % 2 > 0, FLOATS[:1] if seed % 3 else FLOATS + INTS, EMPTY)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many(block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        check(seed, seed % 3 > 0, FLOATS[:1] if seed % 2 else FLOATS + INTS)
