"""Tensors of all sizes and several types, which are summed in one go at the end of a compiled step: the bits are those of sums in rank order."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
# Some end within a round of the transport.
SIZES = (1, 70_001, 3, 131_072, 300_007, 129, 2, 0, 40_000)
DTYPES = (np.float32, np.float16, np.float64, np.int8)


class All(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sum = ops.AllReduce()

    def construct(self, *parts):
        return tuple([self.sum(part * 1) for part in parts])


def of_rank(rank: int) -> list[np.ndarray]:
    draw = np.random.RandomState(rank)
    return [(draw.randn(size) * 9).astype(dtype) for size in SIZES for dtype in DTYPES]


ms.set_context(mode=ms.GRAPH_MODE)
net, parts = All(), [of_rank(rank) for rank in range(get_group_size())]
for _ in range(3):
    sums = net(*map(Tensor, parts[get_rank()]))
    for one, mine in zip(sums, zip(*parts)):
        wide = np.float32 if mine[0].dtype == np.float16 else mine[0].dtype
        want = mine[0].astype(wide)
        for other in mine[1:]:
            want = want + other.astype(wide)
        assert one.asnumpy().tobytes() == want.astype(mine[0].dtype).tobytes(), mine[0].shape
print("all is well")
