"""Programs in the manner of 2021 give the numbers that they give with MindSpore 2.10, in both modes; one that is killed goes on where it was."""

from __future__ import annotations

import re
import signal

import numpy as np
import pytest
from test_public_scripts import run

import mindspore as ms

GRAPH, PYNATIVE = str(ms.GRAPH_MODE), str(ms.PYNATIVE_MODE)
# Of 2.10.
DETECTOR = [12.68769, 0.45705, 0.01897, 0.00344, 0.00129, 0.00073]
BERT = [
    3.9626,
    4.189,
    4.1036,
    3.8107,
    3.8127,
    3.6332,
    3.7711,
    3.6274,
    3.6781,
    3.4934,
    3.5101,
    3.3626,
]


def losses(text):
    return [float(loss) for loss in re.findall(r"^epoch \d+ loss (\S+)", text, re.MULTILINE)]


@pytest.mark.parametrize(
    "mode", [GRAPH, pytest.param(PYNATIVE, marks=pytest.mark.slow)], ids=["graph", "pynative"]
)
def test_a_detector_is_killed_and_goes_on(tmp_path, mode):
    whole = run(tmp_path, "detect_2021.py", "--mode", mode, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    np.testing.assert_allclose(losses(whole.stdout), DETECTOR, rtol=1e-3, atol=2e-5)
    killed = run(tmp_path, "detect_2021.py", "--mode", mode, "--out", "half", "--die", "17")
    assert killed.returncode == -signal.SIGKILL
    again = run(tmp_path, "detect_2021.py", "--mode", mode, "--out", "half", "--resume", "1")
    assert again.stdout.startswith("resumed at 3 []"), again.stderr
    assert again.stdout.splitlines()[1:] == whole.stdout.splitlines()[3:]
    assert sorted(f.name for f in (tmp_path / "whole").iterdir()) == [f"det-{n}_5.ckpt" for n in (4, 5, 6)]  # fmt: skip


@pytest.mark.parametrize("mode, sink", [(GRAPH, 0), (PYNATIVE, 1)], ids=["graph", "pynative, sink"])
def test_bert_with_a_loss_scale(tmp_path, mode, sink):
    done = run(tmp_path, "bert_2021.py", "--mode", mode, "--sink", str(sink))
    assert done.returncode == 0, done.stderr
    seen = slice(1, None, 2) if sink else slice(None)  # of two steps of a sink, the last
    rows = re.findall(r"outputs are \[(.*), (.*), (.*)\]", done.stdout)[: len(BERT[seen])]
    np.testing.assert_allclose([float(loss) for loss, _, _ in rows], BERT[seen], atol=2e-4)
    scales = [65536.0] * 4 + [131072.0] * 5 + [262144.0] * 3
    assert [float(scale) for _, _, scale in rows] == scales[seen]
    # As 2.10, by the steps that the run has in an epoch, whatever the monitor was given.
    took, each = re.search(r"epoch time: (\S+) ms, per step time: (\S+) ms", done.stdout).groups()
    assert sink or round(float(took) / float(each)) == 6
