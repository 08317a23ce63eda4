"""Blocks that the planner has computed again in the backward pass, where a device has no room for what they keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compile.versions.blocks import blocks_of
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
    yield lambda size: ms.set_context(max_device_memory=f"{size / 2**30:.10f}GB")
    ms.set_context(max_device_memory="1024GB")


class Listed(nn.Cell):
    """Blocks in a list, which is not called itself, between others."""

    def __init__(self, count: int = 4) -> None:
        super().__init__()
        self.into, self.blocks = nn.Dense(256, 256), nn.CellList([Block() for _ in range(count)])
        self.head = nn.SequentialCell(nn.LayerNorm((256,)), nn.Dense(256, 256))

    def construct(self, x: Tensor) -> Tensor:
        """The network."""
        x = self.into(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def network(count: int = 4) -> nn.SequentialCell:
    with no_init_parameters():
        return nn.SequentialCell([Block() for _ in range(count)])


def planned(net: nn.Cell, devices: int = 4, mode: str = "auto") -> dict:
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    )
    return explain(step.set_train(), X, X, devices=devices, mode=mode).data


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


@pytest.mark.parametrize(
    ("mode", "text"), [("auto", "the lightest plan"), ("sharding_propagation", "in this mode")]
)
def test_nothing_fits_is_still_an_error(limit, mode, text):
    limit(1 << 20)
    with pytest.raises(ValueError, match="the memory limit must be at least") as refused:
        planned(network(), mode=mode)
    assert text in str(refused.value)
    # What is asked for is what will do, with blocks that are computed again.
    least = int(re.search(r"at least (\d+) bytes", str(refused.value))[1])
    limit(least + 2048)
    plan = planned(network(), mode=mode)
    assert plan["computed_again"] == [4, 4]
    assert held(plan) <= least + 2048


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


@pytest.mark.parametrize("functional", [False, True])
def test_blocks_in_a_list_and_not_the_whole(limit, functional):
    with no_init_parameters():
        net = Listed()
    loss = nn.WithLossCell(net, nn.MSELoss())
    rate = nn.ExponentialDecayLR(0.1, 0.9, 4)  # a cell in the optimizer
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    gradient = ms.value_and_grad(loss, None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    train = step if functional else nn.TrainOneStepCell(loss, optimizer).set_train()
    free = explain(train, X, X, devices=4).data
    limit(int(held(free) * 0.85))
    plan = explain(train, X, X, devices=4).data
    again, count = plan["computed_again"]
    assert 0 < again <= 2 and count == 4
    assert plan["compute_seconds"] < 1.2 * free["compute_seconds"]
    assert held(plan) <= held(free) * 0.85
    assert all(cell._recompute is None for _, cell in loss.cells_and_names())


def called_by(cell: nn.Cell) -> list[nn.Cell]:
    """Cells as they are called, of a cell that calls all of them in order, itself no list."""
    return [c for _, c in cell.cells_and_names() if not isinstance(c, nn.CellList)]


def test_no_block_has_others_inside():
    net = Listed(3)
    loss = nn.WithLossCell(net, nn.MSELoss())
    optimizer = nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 4))
    step = nn.TrainOneStepCell(loss, optimizer)
    assert blocks_of(called_by(step)) == list(net.blocks)
    assert blocks_of([*called_by(loss), *called_by(optimizer)]) == list(net.blocks)
    # Beside other cells of cells, in lists that are called, and themselves with lists inside.
    body = nn.SequentialCell([nn.SequentialCell([Block(), Block()]), Block()])
    whole = nn.SequentialCell(body, nn.SequentialCell(nn.Dense(256, 256), nn.ReLU()))
    assert blocks_of(called_by(whole)) == [body[0][0], body[0][1], body[1]]
    assert blocks_of(called_by(nn.SequentialCell(nn.SequentialCell(nn.Dense(2, 2))))) == []
    one = Listed(1)
    assert blocks_of(called_by(one)) == [one.blocks[0], one.head]
