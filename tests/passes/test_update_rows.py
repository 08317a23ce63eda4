"""Updates of the rows that a Gather has read: the same bits as updates of whole tables, and only their cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Table(nn.Cell):
    """Some rows of a table, as a loss."""

    def __init__(self, shape: tuple[int, ...], dtype: type = np.float32) -> None:
        super().__init__()
        values = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
        self.table = Parameter(Tensor(values), name="table")

    def construct(self, at: Tensor) -> Tensor:
        rows = ops.gather(self.table, at, 0)
        return (rows * rows * 0.3 + rows).astype(ms.float32).sum()


def train(
    fast: bool, shape: tuple[int, ...], batches: list[Any], dtype: type = np.float32, **options: Any
) -> list[np.ndarray]:
    """The table and the optimizer's states after a step for each batch."""
    net = Table(shape, dtype)
    optimizer = nn.SGD(net.trainable_params(), 0.1, **options)
    step = nn.TrainOneStepCell(net, optimizer)
    step.set_jit_config(ms.JitConfig(jit_level="O1" if fast else "O0"))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for batch in batches:
            step(Tensor(np.array(batch, np.int32)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    states = [net.table, *optimizer.accum, *optimizer.stat]
    return [s.asnumpy().astype(np.float64) for s in states]


BATCHES: list[Any] = [
    [3, 3, 3, -1, 0, 7],
    [199, -200, 50, 3, 50, 1],
    [3, 0, 0, 0, 9, 8],
    [1, 2, 3, 4, 5, 6],
]


@pytest.mark.parametrize("shape", [(200,), (200, 1), (200, 17), (200, 3, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True},
        {"weight_decay": 0.1},
        {"dampening": 0.2},
    ],
)
def test_same_bits(shape: tuple[int, ...], dtype: type, options: dict[str, Any]) -> None:
    plain = train(False, shape, BATCHES, dtype, **options)
    for a, b in zip(train(True, shape, BATCHES, dtype, **options), plain, strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_rows_and_shapes_of_positions() -> None:
    for batch in (np.zeros((0,)), np.zeros((2, 0)), [[1, 2], [2, 1]], 5):
        for a, b in zip(train(True, (90, 4), [batch]), train(False, (90, 4), [batch]), strict=True):
            np.testing.assert_array_equal(a, b)


def test_positions_out_of_range() -> None:
    with pytest.raises(IndexError, match="50"):
        train(True, (40, 4), [[1, 50]])


def test_momentum_may_change_later() -> None:
    net = Table((100, 8))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    other = Table((100, 8))
    plain = nn.SGD(other.trainable_params(), 0.1)
    step = nn.TrainOneStepCell(net, optimizer)
    reference = nn.TrainOneStepCell(other, plain)
    reference.set_jit_config(ms.JitConfig(jit_level="O0"))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for i in range(6):
            for o in (optimizer, plain):
                o.momentum.set_data(Tensor(0.9 if i % 3 == 1 else 0.0, ms.float32))
            at = Tensor(np.arange(i, i + 9, dtype=np.int32))
            step(at)
            reference(at)
            np.testing.assert_array_equal(net.table.asnumpy(), other.table.asnumpy())
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
