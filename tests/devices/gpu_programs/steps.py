"""Collectives by NCCL, in the order of the stream: between recordings, in groups of some ranks, of one alone; and a training step
over all ranks, which is the host's."""

from __future__ import annotations

import os

import cuda_device
import numpy as np

import mindspore as ms
from mindspore import Tensor, _devices, nn, ops
from mindspore.communication import create_group, destroy_group, get_group_size, get_rank, init

init("nccl")
RANK, SIZE = get_rank(), get_group_size()


def mine(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(100 * seed + RANK).randn(*shape).astype(np.float32)


def of_all(*shape: int, seed: int = 0) -> list[np.ndarray]:
    return [
        np.random.RandomState(100 * seed + rank).randn(*shape).astype(np.float32)
        for rank in range(SIZE)
    ]


def each_has_its_own() -> None:
    """Who chooses no number has that of its place on the machine."""
    number = int(_devices.facts("GPU")["number"])
    assert ms.get_context("device_id") == number
    place = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", RANK))
    assert number == (place % 2 if cuda_device.is_stub() else place)  # the stub has two


def between_recordings() -> None:
    """Of a compiled step with sums in the middle; ranks that record none of it fit to those that do."""
    ms.set_context(mode=ms.GRAPH_MODE)
    total = ops.AllReduce()

    @ms.jit
    def step(x):
        return total(total(x * 2) + 1) * 3

    for seed in range(6):
        if RANK == 0 and seed == 4:
            _devices.tell("records", False)
        got = step(Tensor(mine(5, 3, seed=seed))).asnumpy()
        wanted = 3 * SIZE * (sum(2 * x for x in of_all(5, 3, seed=seed)) + 1)
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    _devices.tell("records", True)


def groups() -> None:
    """Of some ranks, and in another order under the same name; of one alone."""
    ms.set_context(mode=ms.GRAPH_MODE)
    for ranks in ([SIZE - 1, 0], [0, SIZE - 1]):
        if RANK not in ranks:
            continue
        create_group("some", ranks)
        total, gather = ops.AllReduce(group="some"), ops.AllGather(group="some")

        @ms.jit
        def step(x, total=total, gather=gather):
            return total(total(x * 2) + 1) * 3, gather(x)

        for seed in range(4):
            parts = of_all(2, 2, seed=seed)
            sums, rows = step(Tensor(parts[RANK]))
            wanted = 6 * (2 * (parts[0] + parts[SIZE - 1]) + 1)
            np.testing.assert_allclose(sums.asnumpy(), wanted, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(rows.asnumpy(), np.concatenate([parts[r] for r in ranks]))
        destroy_group("some")
    if RANK == 0:
        create_group("one", [0])
        np.testing.assert_array_equal(
            ops.AllReduce(group="one")(Tensor(mine(3))).asnumpy(), mine(3)
        )


def trained(parallel: bool) -> list[np.ndarray]:
    ms.reset_auto_parallel_context()
    if parallel:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.05, 0.9)
    )
    for seed in range(5):
        x, y = (np.concatenate(of_all(4, n, seed=seed)) for n in (6, 3))
        part = slice(4 * RANK, 4 * RANK + 4) if parallel else slice(None)
        step(Tensor(x[part]), Tensor(y[part]))
    return [p.asnumpy() for p in net.trainable_params()]


def steps() -> None:
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for a, b in zip(trained(True), trained(False)):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


each_has_its_own()
between_recordings()
groups()
steps()
print("all is well")
