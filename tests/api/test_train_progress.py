"""The progress line, and trainings that are interrupted."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import time

import mindspore as ms
from mindspore.train import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(monkeypatch, stream, quiet=False, rich=False):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    monkeypatch.setattr(_progress, "_PERIOD", 0.0)
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    progress = _progress.Progress("training", 4, quiet)
    for epoch in (1, 1, 2, 2):
        progress.step(lambda: f"epoch {epoch}")  # noqa: B023
    progress.close()
    return stream.getvalue()


def test_a_plain_line_on_a_terminal(monkeypatch):
    text = run(monkeypatch, Terminal())
    assert "\rtraining 1/4 (25 %), " in text and "epoch 2" in text
    assert text.endswith("\r") and "\n" not in text


def test_a_few_lines_elsewhere(monkeypatch):
    assert run(monkeypatch, io.StringIO()) == ""
    monkeypatch.setattr(_progress, "_FIRST_LINE", 1.0)
    monkeypatch.setattr(_progress, "_LONGEST_PAUSE", 50.0)
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    progress = _progress.Progress("training", 1000, False)
    for _ in range(1000):
        now[0] += 0.5
        progress.step(lambda: "loss 2")
    progress.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "training 2/1000 (0 %), 2.0/s, 499 s left loss 2"
    assert len(lines) == 14  # after 1, 3, 7, 15, 31, 63, 113, ... seconds


def test_quiet_on_demand(monkeypatch):
    assert run(monkeypatch, Terminal(), quiet=True) == ""
    monkeypatch.setattr(_progress, "_FIRST_LINE", 0.0)
    assert run(monkeypatch, io.StringIO(), quiet=True) == ""
    monkeypatch.setenv("MS_PROGRESS", "0")
    assert run(monkeypatch, Terminal()) == ""
    assert run(monkeypatch, io.StringIO()) == ""


PROGRAM = """
    import signal
    # A shell that runs the tests in the background has them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np
    import mindspore as ms
    from mindspore import dataset as ds, nn
    from mindspore.train import CheckpointConfig, LossMonitor, Model, ModelCheckpoint
    x = np.random.rand(64, 8).astype(np.float32)
    y = np.zeros(64, np.int32)
    net = nn.Dense(8, 3)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Adam(net.trainable_params()))
    config = CheckpointConfig(save_checkpoint_steps=1, keep_checkpoint_max=3)
    data = ds.NumpySlicesDataset((x, y)).batch(8)
    model.train(10**6, data, callbacks=[LossMonitor(), ModelCheckpoint("net", {folder!r}, config)])
"""


def interrupted(folder, number) -> tuple[int, str]:
    """Exit status and error text of a training that gets a signal after its first steps."""
    program = textwrap.dedent(PROGRAM.format(folder=str(folder)))
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(5):
        child.stdout.readline()
    sent = time.monotonic()
    child.send_signal(number)
    _, error = child.communicate(timeout=60)
    assert time.monotonic() - sent < 20
    return child.returncode, error


def test_control_c_ends_a_training(tmp_path):
    status, error = interrupted(tmp_path, signal.SIGINT)
    assert status != 0 and error.splitlines()[-1] == "KeyboardInterrupt"
    check(tmp_path)


def test_a_kill_leaves_whole_checkpoints(tmp_path):
    status, _ = interrupted(tmp_path, signal.SIGKILL)
    assert status == -signal.SIGKILL
    check(tmp_path)
    ms.save_checkpoint({"x": ms.Tensor([1.0])}, str(tmp_path / "later.ckpt"))
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def check(folder):
    """Every checkpoint in the folder is whole."""
    names = [name for name in os.listdir(folder) if name.endswith(".ckpt")]
    assert names
    for name in names:
        assert "moment1.weight" in ms.load_checkpoint(str(folder / name))
