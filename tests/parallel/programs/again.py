"""Trains blocks alone, then divided where a device has too little memory for any plan that keeps all: some blocks are computed again, and
losses and Parameters are the same."""

from __future__ import annotations

from typing import Any

import auto
import numpy as np

import mindspore as ms
from mindspore.common._planning import Planning
from mindspore.communication import init

LIMIT = "0.006GB"


def main() -> None:
    """The comparison."""
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    losses, values = auto.train("blocks", False, False)
    counts: list[tuple[int, int]] = []
    written = Planning.written

    def noted(self: Planning, graph: Any) -> None:
        counts.append(self.again)
        written(self, graph)

    Planning.written = noted
    ms.set_context(max_device_memory=LIMIT)
    for mode in "dynamic", "semi":
        ms.set_auto_parallel_context(full_batch=True, **auto.MODES[mode])
        divided, parallel = auto.train("blocks", False, False)
        again, blocks = counts.pop()
        assert 0 < again < blocks == 4, (mode, again, blocks)
        assert not counts  # compiled once
        np.testing.assert_allclose(divided, losses, 2e-4, 2e-5, err_msg=mode)
        for one, other in zip(parallel, values, strict=True):
            np.testing.assert_allclose(one, other, 2e-3, 2e-4, err_msg=mode)
        ms.reset_auto_parallel_context()
    print("all is well")


if __name__ == "__main__":
    main()
