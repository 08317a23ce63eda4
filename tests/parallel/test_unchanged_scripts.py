"""A script of one process, started several times with one line more: losses, metrics, stops and files are as of one."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [2, 3])
def test_losses_metrics_and_stops(count, tmp_path):
    printed = ranks.passes("unchanged.py", count, str(tmp_path))
    assert printed.count("epoch: 2 step: 1, loss is") == 1
    assert printed.count("Eval result: epoch 3") == 1
