"""Trains networks alone, then in the stages of a pipeline: losses and Parameters must be the same, and each process must have those of
its stage alone.

stages.py NET,... STAGES [parts]

`parts`: the processes of a stage are given their rows of the batch alone."""

from __future__ import annotations

import sys

import auto
import nets
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.common import _planning
from mindspore.communication import get_group_size, get_rank, init

STEPS, PARTS = 4, 2


def train(name: str, rows: slice | None) -> tuple[list[float], list[np.ndarray], nn.Cell]:
    """The losses of some steps, the Parameters behind them, and the step."""
    case = nets.built(name, pins=False)
    optimizer = nn.Adam(case.net.trainable_params(), 0.01)
    step = nn.TrainOneStepCell(nn.PipelineCell(case.net, PARTS), optimizer).set_train()
    data = [Tensor(x if rows is None else x[rows]) for x in case.data]
    losses = [float(step(*data).asnumpy()) for _ in range(STEPS)]
    whole = [_planning.whole_value(p).asnumpy() for p in step.get_parameters()]
    return losses, whole, step


def own_rows(count: int) -> slice:
    """The rows of this process among those of its stage."""
    rank, size = _planning.data_place()
    return slice(rank * count // size, (rank + 1) * count // size)


def check_places(step: nn.Cell, stages: int) -> None:
    """Every weight is held by one stage, each stage has some, and states lie with their weights."""
    held = {p.name: _planning.slice_of(p) for p in step.get_parameters() if p.size > 4}
    assert all(h is not None and h["stage"] >= 0 for h in held.values()), held
    assert {h["stage"] for h in held.values()} == set(range(stages)), held
    mine = get_rank() // (get_group_size() // stages)
    for name, h in held.items():
        assert h["held"] == (h["stage"] == mine), (name, h)
        assert h["held"] or h["local_shape"] == (0,), (name, h)
        for state in ("moment1.", "moment2."):
            if name.startswith(state):
                assert held[name.removeprefix(state)]["stage"] == h["stage"], name


def main() -> None:
    """Runs what the command line names."""
    names, stages = sys.argv[1].split(","), int(sys.argv[2])
    parts = "parts" in sys.argv[3:]
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    for name in names:
        ms.reset_auto_parallel_context()
        losses, values, _ = train(name, None)
        assert losses[-1] < losses[0], (name, losses)
        for schedule in ("1f1b", "gpipe"):
            ms.set_auto_parallel_context(
                full_batch=not parts,
                pipeline_stages=stages,
                pipeline_config={"pipeline_scheduler": schedule},
                **auto.MODES["dynamic"],
            )
            rows = own_rows(len(nets.built(name, pins=False).data[0])) if parts else None
            staged, parallel, step = train(name, rows)
            np.testing.assert_allclose(staged, losses, 2e-4, 2e-5, err_msg=f"{name} {schedule}")
            for one, other in zip(parallel, values, strict=True):
                np.testing.assert_allclose(one, other, 2e-3, 2e-4, err_msg=f"{name} {schedule}")
            check_places(step, stages)
            ms.reset_auto_parallel_context()
    print("all is well")


if __name__ == "__main__":
    main()
