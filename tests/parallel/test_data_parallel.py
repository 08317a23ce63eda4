"""Training by several processes, each on its part of a batch, is training by one on the whole."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [2, 4])
def test_the_losses_of_one_process(count):
    ranks.passes("data_parallel.py", count)


@pytest.mark.parametrize("data", ["divided", "whole"])
def test_model(data, tmp_path):
    done = ranks.run("model.py", 2, str(tmp_path), data)
    assert done.stdout.count("all is well") == 2, done.stdout + done.stderr
    word = "all 2 processes train on the same samples"
    assert (done.stdout + done.stderr).count(word) == (data == "whole")
