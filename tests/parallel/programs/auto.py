"""Trains networks alone, then divided among the processes in the modes that are named: losses and Parameters must be the same.

    auto.py NET,... MODE,... [parts] [hidden]

MODE is semi (with pins), dynamic, recursive or propagation. `parts`: each process is given its rows of the batch alone. `hidden`: gradients
must be summed while the backward pass runs."""

from __future__ import annotations

import sys

import nets
import numpy as np

import mindspore as ms
from mindspore import Tensor, _core, nn
from mindspore.common import _planning
from mindspore.communication import get_group_size, get_rank, init

STEPS = 4
MODES = {
    "semi": {"parallel_mode": "semi_auto_parallel"},
    "dynamic": {"parallel_mode": "auto_parallel", "search_mode": "dynamic_programming"},
    "recursive": {"parallel_mode": "auto_parallel", "search_mode": "recursive_programming"},
    "propagation": {"parallel_mode": "auto_parallel", "search_mode": "sharding_propagation"},
}


def train(name: str, pins: bool, parts: bool) -> tuple[list[float], list[np.ndarray]]:
    """The losses of some steps, and the Parameters behind them."""
    case = nets.built(name, pins=pins)
    optimizer = nn.Momentum(case.net.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(case.net, optimizer).set_train()
    data = [Tensor(own(x) if parts else x) for x in case.data]
    losses = [float(step(*data).asnumpy()) for _ in range(STEPS)]
    whole = [_planning.whole_value(p).asnumpy() for p in case.net.get_parameters()]
    return losses, whole


def own(x: np.ndarray) -> np.ndarray:
    """The rows of this process."""
    rows = len(x) // get_group_size()
    return x[get_rank() * rows : (get_rank() + 1) * rows]


def main() -> None:
    """Runs what the command line names."""
    names, modes = sys.argv[1].split(","), sys.argv[2].split(",")
    parts = "parts" in sys.argv[3:]
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    for name in names:
        ms.reset_auto_parallel_context()
        losses, values = train(name, False, False)
        assert losses[-1] < losses[0], (name, losses)
        for mode in modes:
            ms.set_auto_parallel_context(full_batch=not parts, **MODES[mode])
            divided, parallel = train(name, mode == "semi", parts)
            np.testing.assert_allclose(divided, losses, 2e-4, 2e-5, err_msg=f"{name} {mode}")
            for one, other in zip(parallel, values, strict=True):
                np.testing.assert_allclose(one, other, 2e-3, 2e-4, err_msg=f"{name} {mode}")
            ms.reset_auto_parallel_context()
    assert "hidden" not in sys.argv[3:] or _core.sum_times()["runs"] > 0
    print("all is well")


if __name__ == "__main__":
    main()
