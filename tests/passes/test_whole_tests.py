"""Tests of whole tensors (`all`, `any`) run in one kernel with what they test, and never store it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, amp, jit, nn, ops

# Of one element; below and above what runs as one block; cut between threads.
SHAPES = [(1,), (3,), (2, 5), (130, 70), (8193,), (600, 700)]


@pytest.fixture(params=["interpreted", "generated"], autouse=True)
def _code(request: pytest.FixtureRequest) -> Iterator[None]:
    _core.assembler.generate_always(request.param == "generated")
    yield
    _core.assembler.generate_always(False)


TESTS: list[Callable[[Tensor], Tensor]] = [
    lambda x: ops.isfinite(x).all(),
    lambda x: ops.logical_not(ops.isfinite(x)).any(),
    lambda x: (ops.abs(x) < 9).all(),
    lambda x: ops.isnan(x * 2).any(keep_dims=True),
    lambda x: ops.isfinite(x).all(axis=tuple(range(x.ndim)), keep_dims=True),
    lambda x: ops.isfinite(x).reshape((-1,)).all(axis=0),
    lambda x: ops.isfinite(x).all(axis=-1),
    lambda x: ops.logical_and(ops.isfinite(x).all(), (x > -9).all()),
]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_element_decides(test, shape):
    compiled = jit(test, fullgraph=True)
    size = int(np.prod(shape))
    values = np.random.default_rng(1).uniform(-5, 5, shape).astype(np.float32)
    for bad in (None, np.inf, -np.inf, np.nan, 9.5):
        for place in {0, size // 2, size - 1}:
            x = values.copy()
            if bad is not None:
                x.reshape(-1)[place] = bad
            given = Tensor(x)
            found, expected = compiled(given), test(given)
            assert found.dtype == expected.dtype == ms.bool_ and found.shape == expected.shape
            np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy())


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int64, np.bool_])
def test_other_dtypes(dtype):
    for values in (np.zeros(300), np.ones(300), np.arange(300) % 2):
        x = Tensor(values.astype(dtype))
        for test in (lambda x: ops.equal(x, 1).all(), lambda x: ops.equal(x, 1).any()):
            assert bool(jit(test, fullgraph=True)(x)) == bool(test(x))


def test_no_elements():
    x = Tensor(np.zeros((0, 3), np.float32))
    assert bool(jit(lambda x: ops.isfinite(x).all(), fullgraph=True)(x)) is True
    assert bool(jit(lambda x: ops.isfinite(x).any(), fullgraph=True)(x)) is False


def test_elements_that_are_returned_as_well():
    def both(x: Tensor) -> tuple:
        finite = ops.isfinite(x)
        return finite, finite.all()

    x = np.ones((40, 50), np.float32)
    x[7, 8] = np.inf
    finite, every = jit(both, fullgraph=True)(Tensor(x))
    np.testing.assert_array_equal(finite.asnumpy(), np.isfinite(x))
    assert not bool(every)


class Scaled(nn.Cell):
    """A step of halved gradients that is left out where one of them is not finite."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(5)
        values = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]
        self.p = ms.ParameterTuple(
            [ms.Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(values)]
        )
        self.optimizer = nn.Adam(self.p, 0.1)

    def construct(self, gradients: tuple, scale: Tensor) -> Tensor:
        halved = tuple([g / scale for g in gradients])
        finite = amp.all_finite(halved)
        if finite:
            self.optimizer(halved)
        return finite


def steps(mode: int, bad: float) -> list[np.ndarray]:
    ms.set_context(mode=mode)
    cell, rng, results = Scaled(), np.random.default_rng(6), []
    for k in range(4):
        gradients = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]
        if k % 2:
            gradients[k].reshape(-1)[-1] = bad
        results.append(cell(tuple(Tensor(g) for g in gradients), Tensor(2.0)).asnumpy())
        results += [p.asnumpy().copy() for p in cell.get_parameters()]
    return results


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_steps_that_overflow_change_nothing(bad):
    compiled, eager = steps(ms.GRAPH_MODE, bad), steps(ms.PYNATIVE_MODE, bad)
    for a, b in zip(compiled, eager, strict=True):
        assert a.tobytes() == b.tobytes()
    assert not any(np.isnan(a).any() for a in compiled)


def test_what_is_tested_is_not_stored():
    code = """
import numpy as np, mindspore as ms
from mindspore import Tensor, ops
ms.jit(lambda x: ops.isfinite(x).all())(Tensor(np.ones((400, 400), np.float32)))
"""
    env = {**os.environ, "MS_DUMP": "plan", "MS_FUSION": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    plan = done.stdout + done.stderr
    assert "<- Fused(c0)" in plan and "1 launches" in plan
