"""Blocks that the planner has computed again in the backward pass, where a device has no room for what they keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compile.versions.again import blocks_of
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import explain

X = Tensor(shape=(4096, 256), dtype=ms.float32)


class Block(nn.Cell):
    """One that keeps much more than it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Dense(256, 1024), nn.Dense(1024, 256)

    def construct(self, x: Tensor) -> Tensor:
        """The block."""
        return x + self.down(ops.gelu(self.up(x)))


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Sets how many bytes a device may hold."""
    yield lambda size: ms.set_context(max_device_memory=f"{size / 2**30:.6f}GB")
    ms.set_context(max_device_memory="1024GB")


def network(count: int = 4) -> nn.SequentialCell:
    with no_init_parameters():
        return nn.SequentialCell([Block() for _ in range(count)])


def planned(net: nn.Cell, devices: int = 4) -> dict:
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    )
    return explain(step.set_train(), X, X, devices=devices).data


def held(plan: dict) -> int:
    return plan["memory"]["parameters"] + plan["memory"]["activations"]


def test_as_few_as_fit_are_computed_again(limit):
    free = planned(network())
    assert free["computed_again"] == [0, 0]
    before, seconds = 0, free["seconds"]
    for share in 0.85, 0.65, 0.42:
        limit(int(held(free) * share))
        net = network()
        plan = planned(net)
        again, blocks = plan["computed_again"]
        assert before < again <= blocks == 4
        assert held(plan) <= held(free) * share
        assert plan["seconds"] > seconds  # it has its price
        assert all(cell._recompute is None for cell in net)  # explaining changes nothing
        before, seconds = again, plan["seconds"]
    compute = planned(network())["compute_seconds"]
    assert compute == pytest.approx(free["compute_seconds"] * 4 / 3, rel=0.05)


def test_the_text_says_so(limit):
    limit(held(planned(network())) // 2)
    net = network()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    )
    text = explain(step.set_train(), X, X, devices=4).text
    assert "of 4 blocks of the network are computed again" in text.splitlines()[0]


def test_what_the_user_asked_for_is_planned_with_its_price():
    plain, asked = network(), network()
    for cell in asked:
        cell.recompute()
    one, other = planned(plain), planned(asked)
    assert other["memory"]["activations"] < 0.5 * one["memory"]["activations"]
    assert 1.2 < other["seconds"] / one["seconds"] < 1.5
    assert other["computed_again"] == [0, 0]  # not by the planner


def test_nothing_fits_is_still_an_error(limit):
    limit(1 << 20)
    with pytest.raises(ValueError, match="the memory limit must be at least"):
        planned(network())


def test_blocks_are_the_outermost_cells_of_cells():
    net = network(3)
    loss = nn.WithLossCell(net, nn.MSELoss())
    called = [loss, net, *net, *(layer for cell in net for layer in cell.cells())]
    assert blocks_of(called) == list(net)
    net[0].recompute()
    assert blocks_of(called) == list(net)[1:]
    layers = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU(), nn.Dense(2, 2))
    assert blocks_of([layers, *layers]) == [layers[0], layers[2]]
    assert blocks_of([]) == []
