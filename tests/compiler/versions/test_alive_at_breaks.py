"""What lives on after a line that runs eagerly: values that nobody can reach are not computed and carried for the collector's sake."""

from __future__ import annotations

import gc

import pytest

from mindspore import Tensor, jit
from mindspore.compile.versions import breaks


@pytest.mark.filterwarnings("ignore")
def test_what_waits_for_the_collector_is_not_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    carried = []
    begin = breaks.Session._begin_graph

    def noted(self, tensors):
        carried.append(len(tensors))
        begin(self, tensors)

    monkeypatch.setattr(breaks.Session, "_begin_graph", noted)

    def call(x):
        for i in range(1200):
            ring = [x * i]
            ring.append(ring)
        y = float(x.asnumpy().sum())
        return x * y

    gc.disable()
    try:
        assert jit(call)(Tensor([1.0, 2.0])).asnumpy().tolist() == [3.0, 6.0]
    finally:
        gc.enable()
    assert carried and max(carried) < 100
