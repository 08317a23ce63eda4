"""What stages of a pipeline cannot be is refused, in all processes."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.communication import init

X = Tensor(np.ones((8, 6), np.float32))


def train(marks=(), parts=2, **more):
    """One step of three layers in stages."""
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", full_batch=True, **{"pipeline_stages": 2, **more}
    )
    net = nn.SequentialCell(nn.Dense(6, 6), nn.Dense(6, 6), nn.Dense(6, 6))
    for layer, stage in zip(net, marks):
        layer.pipeline_stage = stage
    whole = nn.PipelineCell(nn.WithLossCell(net, nn.MSELoss()), parts)
    nn.TrainOneStepCell(whole, nn.SGD(net.trainable_params(), 0.1)).set_train()(X, X)


CASES = [
    (
        {"pipeline_stages": 3},
        ValueError,
        "'pipeline_stages' must divide the number of processes, 2",
    ),
    ({"marks": (0, 1, 0)}, ValueError, "the cell '2' (Parameter '2.weight') is marked with 0"),
    ({"marks": (0, 0, 0)}, ValueError, "none is marked with 1"),
    ({"marks": (0, 1, 2)}, ValueError, "a stage must be in [0, 2)"),
    ({"parts": 3}, ValueError, "a multiple of 3"),
    (
        {"pipeline_config": {"pipeline_interleave": True}},
        NotImplementedError,
        "'pipeline_interleave' must be False",
    ),
    (
        {"pipeline_config": {"pipeline_interleave": True, "pipeline_scheduler": "zero_bubble_v"}},
        NotImplementedError,
        "'pipeline_scheduler' must be '1f1b' or 'gpipe'",
    ),
]


def main():
    """Each must raise its error, and the processes must go on together."""
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    for arguments, kind, text in CASES:
        ms.reset_auto_parallel_context()
        try:
            train(**arguments)
        except kind as error:
            assert text in str(error), (arguments, str(error))
        else:
            raise AssertionError(f"{arguments} was not refused")
    ms.reset_auto_parallel_context()
    train()
    print("all is well", flush=True)


main()
