"""What is planned of the stages of a pipeline: where they begin, what each holds, and what a device's memory is held against."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import explain

X = Tensor(shape=(1024, 256), dtype=ms.float32)


class Block(nn.Cell):
    """One of several cells, which keeps much more than it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Dense(256, 1024), nn.Dense(1024, 256)

    def construct(self, x: Tensor) -> Tensor:
        """The block."""
        return x + self.down(ops.gelu(self.up(x)))


def step_of(count: int, parts: int = 4, again: bool = False) -> nn.Cell:
    """A training step of so many equal blocks."""
    with no_init_parameters():
        net = nn.SequentialCell([Block() for _ in range(count)])
    for block in net if again else ():
        block.recompute()
    loss = nn.PipelineCell(nn.WithLossCell(net, nn.MSELoss()), parts)
    return nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()


def planned(step: nn.Cell, stages: int, devices: int = 4, **more: Any) -> dict:
    return explain(step, X, X, devices=devices, stages=stages, **more).data


def weights(stage: dict) -> list[str]:
    """The Parameters of a stage, without the states of the optimizer."""
    named = (n for n in stage["parameters"] if n.endswith(("weight", "bias")))
    return [n for n in named if "moments" not in n]


@pytest.mark.parametrize("stages", [2, 4])
def test_blocks_that_are_computed_again_are_cut_evenly(stages):
    plain = planned(step_of(4), stages)["pipeline"]["stages"]
    again = planned(step_of(4, again=True), stages)["pipeline"]["stages"]
    assert [weights(s) for s in again] == [weights(s) for s in plain]
    assert [len(weights(s)) for s in again] == [16 // stages] * stages
    for one, other in zip(plain, again):
        assert one["forward_seconds"] == pytest.approx(plain[0]["forward_seconds"], rel=0.05)
        assert other["forward_seconds"] == pytest.approx(one["forward_seconds"], rel=0.01)
        assert other["backward_seconds"] == pytest.approx(1.5 * one["backward_seconds"], rel=0.05)


# ---- memory -------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Sets how many bytes a device may hold; a multiple of 1024."""
    yield lambda size: ms.set_context(max_device_memory=f"{size // 1024}KB")
    ms.set_context(max_device_memory="1024GB")


def held(plan: dict) -> int:
    return plan["memory"]["parameters"] + plan["memory"]["activations"]


def test_each_stage_holds_its_own():
    """With equal blocks, each of four stages has a quarter of the Parameters, and the first as many parts as there are stages."""
    one, four = planned(step_of(4, 8), 1, 1), planned(step_of(4, 8), 4)
    stages = four["pipeline"]["stages"]
    for number, stage in enumerate(stages):
        assert stage["parameter_bytes"] == pytest.approx(one["memory"]["parameters"] / 4, rel=0.01)
        assert stage["most_kept_bytes"] == pytest.approx((4 - number) * stage["kept_bytes"])
    assert held(four) == max(s["parameter_bytes"] + s["most_kept_bytes"] for s in stages)
    assert held(four) < held(one) / 2


@pytest.mark.parametrize("mode", ["auto", "sharding_propagation"])
def test_a_limit_is_that_of_a_stage(limit, mode):
    """What a plan without a limit holds is a limit that this plan keeps."""
    free = planned(step_of(4), 2, mode=mode)
    limit(-(-held(free) // 1024) * 1024)
    assert planned(step_of(4), 2, mode=mode)["computed_again"] == [0, 0]
    limit(held(free) - 2048)
    assert held(planned(step_of(4), 2, mode=mode)) <= held(free) - 2048


def test_the_least_that_will_do_will_do(limit):
    limit(1 << 20)
    with pytest.raises(ValueError, match="For 'max_device_memory', the memory limit") as refused:
        planned(step_of(4), 2)
    least = int(re.search(r"at least (\d+) bytes", str(refused.value))[1])
    limit(least + 2048)
    plan = planned(step_of(4), 2)
    assert plan["computed_again"] == [4, 4]
    assert held(plan) <= least + 2048


def test_a_schedule_that_keeps_every_part_needs_more(limit):
    free = planned(step_of(4, 8), 2)
    assert free["pipeline"]["schedule"] == "1f1b"
    ms.set_auto_parallel_context(pipeline_config={"pipeline_scheduler": "gpipe"})
    try:
        every = held(planned(step_of(4, 8), 2))
        assert every > 1.5 * held(free)
        limit(int(0.8 * every))
        assert planned(step_of(4, 8), 2)["computed_again"][0] > 0
    finally:
        ms.reset_auto_parallel_context()


class Squared(nn.Cell):
    """The square of a loss, of which the gradient is made of the loss itself."""

    def __init__(self, loss: nn.Cell) -> None:
        super().__init__()
        self.loss = loss

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """The square."""
        return self.loss(x, y) ** 2


class Scaled(nn.Cell):
    """Gradients of a loss from a seed that is made of the loss itself, or of constants."""

    def __init__(self, loss: nn.Cell, seed: Callable[[Tensor], Tensor]) -> None:
        super().__init__(auto_prefix=False)
        self.loss, self.seed = loss, seed
        self.optimizer = nn.Momentum(loss.trainable_params(), 0.1, 0.9)
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """The step."""
        seed = self.seed(self.loss(x, y))
        return self.optimizer(self.grad(self.loss, self.optimizer.parameters)(x, y, seed))


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (Squared, ["gpipe"]),
        (lambda loss: Scaled(loss, lambda value: value * 0.5), ["gpipe"]),
        (lambda loss: Scaled(loss, ops.ones_like), ["1f1b", "gpipe"]),
    ],
)
def test_where_a_seed_is_made_of_the_output_all_parts_go_forward_first(made, names):
    step = made(step_of(4, 8).network)
    if isinstance(step, Squared):
        step = nn.TrainOneStepCell(step, nn.Momentum(step.trainable_params(), 0.1, 0.9))
    plan = planned(step.set_train(), 2)
    assert [s["name"] for s in plan["pipeline"]["schedules"]] == names


def test_where_a_seed_is_made_of_the_output_every_part_counts(limit):
    """What the search takes for a plan that fits does fit with all parts in memory."""
    made = [Scaled(step_of(4, 8).network, lambda value: value * 0.5).set_train() for _ in range(2)]
    free = planned(made[0], 2)
    stages = free["pipeline"]["stages"]
    for stage in stages:
        assert stage["most_kept_bytes"] == pytest.approx(8 * stage["kept_bytes"])
    limit(int(0.97 * held(free)))
    fits = planned(made[1], 2)
    assert fits["computed_again"] == [0, 0]
    assert held(fits) <= 0.97 * held(free)


def test_of_schedules_that_take_about_as_long_the_one_that_keeps_less():
    link = {"axes": [["stage", 4, 2e-5, 1e-11]]}
    chosen, other = planned(step_of(3, 8), 2, topology=link)["pipeline"]["schedules"]
    assert [chosen["name"], other["name"]] == ["1f1b", "gpipe"]
    assert other["seconds"] < chosen["seconds"] < 1.01 * other["seconds"]
    assert max(chosen["most_kept_bytes"]) < max(other["most_kept_bytes"])
