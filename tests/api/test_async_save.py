"""Saves in the background: whose values they have, their order, where their errors show, and the end of the process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Model, Parameter, Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import (
    CheckpointConfig,
    ModelCheckpoint,
    async_ckpt_thread_status,
    serialization,
)


def parameters(value: float) -> dict[str, Parameter]:
    return {"x": Parameter(Tensor(np.full(4, value, np.float32)), name="x")}


def loaded(path) -> float:
    return float(ms.load_checkpoint(str(path))["x"].asnumpy()[0])


class Gate:
    """Holds writes back until it is opened, and notes the paths in their order."""

    def __init__(self, write):
        self.write, self.opened, self.paths = write, threading.Event(), []

    def __call__(self, path, *rest):
        self.opened.wait(60)
        self.paths.append(os.path.basename(path))
        self.write(path, *rest)

    def finish(self):
        self.opened.set()
        thread = serialization.writer._thread
        if thread is not None:
            thread.join()


@pytest.fixture
def gate(monkeypatch):
    gate = Gate(serialization._write)
    monkeypatch.setattr(serialization, "_write", gate)
    yield gate
    gate.finish()
    with contextlib.suppress(OSError):
        serialization.writer.run("", lambda: None)  # takes the error that is left, if any


@pytest.fixture
def failed(tmp_path, monkeypatch, gate):
    """The path of a save in the background that has failed."""
    path = tmp_path / "failed.ckpt"
    monkeypatch.setenv("MS_IO_FAULT", "1:enospc")
    ms.save_checkpoint(parameters(1), str(path), async_save=True)
    gate.finish()
    monkeypatch.delenv("MS_IO_FAULT")
    return path


# Whose values


def test_the_values_are_those_of_the_call(tmp_path, gate, mode):
    """Training steps afterwards do not enter, in place as they are otherwise."""
    net = nn.Dense(3, 2)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    )
    x, y = Tensor(np.ones((4, 3), np.float32)), Tensor(np.ones((4, 2), np.float32))
    for _ in range(3):
        step(x, y)
    before = {p.name: p.asnumpy().copy() for p in step.get_parameters()}
    ms.save_checkpoint(step, str(tmp_path / "a.ckpt"), async_save=True)
    for _ in range(3):
        step(x, y)
    assert (net.weight.asnumpy() != before["weight"]).any()
    gate.finish()
    after = ms.load_checkpoint(str(tmp_path / "a.ckpt"))
    for name, value in before.items():
        np.testing.assert_array_equal(after[name].asnumpy(), value)


@pytest.mark.parametrize("when", ["before", "between", "alias"])
def test_writes_through_numpy_do_not_enter(tmp_path, gate, when):
    path = tmp_path / "a.ckpt"
    given = parameters(1)
    alias = ops.identity(given["x"]) if when == "alias" else given["x"]
    array = alias.asnumpy() if when == "before" else None
    ms.save_checkpoint(given, str(path), async_save=True)
    array = alias.asnumpy() if array is None else array
    array[:] = 2
    assert alias.asnumpy()[0] == 2  # the array and its tensor share their memory as ever
    gate.finish()
    assert loaded(path) == 1


def test_memory_of_another_is_copied(tmp_path, gate):
    array = np.ones(4, np.float32)
    ms.save_checkpoint({"x": Tensor.from_numpy(array)}, str(tmp_path / "a.ckpt"), async_save=True)
    array[:] = 2
    gate.finish()
    assert loaded(tmp_path / "a.ckpt") == 1


def test_arrays_share_memory_again_after_the_save(tmp_path, gate):
    given = parameters(1)
    ms.save_checkpoint(given, str(tmp_path / "a.ckpt"), async_save=True)
    gate.finish()
    first = given["x"].asnumpy()
    assert first.ctypes.data == given["x"].asnumpy().ctypes.data
    del first
    address = given["x"].asnumpy().ctypes.data
    ms.save_checkpoint(given, str(tmp_path / "a.ckpt"), async_save=True)
    gate.finish()
    assert given["x"].asnumpy().ctypes.data == address


def test_the_path_is_that_of_the_call(tmp_path, gate, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ms.save_checkpoint(parameters(1), "a.ckpt", async_save=True)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    gate.finish()
    assert loaded(tmp_path / "a.ckpt") == 1


# Order


def test_saves_are_done_in_order(tmp_path, gate):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(parameters(0), path, async_save=True)
    assert async_ckpt_thread_status()
    threading.Timer(0.2, gate.opened.set).start()
    for value in (1, 2, 3):
        ms.save_checkpoint(parameters(value), path, async_save="process")
    ms.save_checkpoint(parameters(4), str(tmp_path / "b.ckpt"))
    assert not async_ckpt_thread_status()
    assert gate.paths == ["a.ckpt"] * 4 + ["b.ckpt"]
    assert loaded(path) == 3


def test_a_load_sees_what_is_being_saved(tmp_path, gate):
    path = tmp_path / "a.ckpt"
    link = tmp_path / "link.ckpt"
    link.symlink_to(path)
    ms.save_checkpoint(parameters(1), str(path), async_save=True)
    threading.Timer(0.2, gate.opened.set).start()
    assert loaded(link) == 1


def test_a_load_of_another_file_does_not_wait(tmp_path, gate):
    gate.write(str(tmp_path / "old.ckpt"), [("x", parameters(7)["x"])], "ckpt", False)
    ms.save_checkpoint(parameters(1), str(tmp_path / "a.ckpt"), async_save=True)
    assert loaded(tmp_path / "old.ckpt") == 7
    assert async_ckpt_thread_status()


def test_saves_of_several_threads(tmp_path):
    def save(value):
        for index in range(5):
            path = str(tmp_path / f"{value}.ckpt")
            ms.save_checkpoint(parameters(value + index), path, async_save=index % 2 == 0)

    threads = [threading.Thread(target=save, args=(10 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [loaded(tmp_path / f"{10 * i}.ckpt") for i in range(4)] == [4, 14, 24, 34]


# Errors


@pytest.mark.parametrize("background", [False, True])
def test_an_error_comes_at_the_next_save(tmp_path, failed, gate, background):
    path = tmp_path / "b.ckpt"
    says = r"an earlier save in the background failed: .*failed\.ckpt': No space .*\(errno 28\)"
    with pytest.raises(OSError, match=says) as caught:
        ms.save_checkpoint(parameters(2), str(path), async_save=background)
    assert caught.value.errno == 28
    this_one = "is being written" if background else "is written"
    assert str(caught.value).endswith(f" '{path}' {this_one}.")
    assert loaded(path) == 2  # which is done all the same
    ms.save_checkpoint(parameters(3), str(path), async_save=background)
    assert loaded(path) == 3


def test_two_errors_are_chained(tmp_path, failed, monkeypatch):
    monkeypatch.setenv("MS_IO_FAULT", "1:eio")
    with pytest.raises(OSError, match=r"b\.ckpt.*\(errno 5\)") as caught:
        ms.save_checkpoint(parameters(2), str(tmp_path / "b.ckpt"))
    assert "failed.ckpt" in str(caught.value.__cause__)


def test_an_error_comes_nowhere_else(tmp_path, failed, gate, monkeypatch):
    gate.write(str(tmp_path / "old.ckpt"), [("x", parameters(7)["x"])], "ckpt", False)
    warnings = []
    monkeypatch.setattr(ms.log, "warning", warnings.append)
    assert loaded(tmp_path / "old.ckpt") == 7
    assert ms.load_checkpoint_async(str(tmp_path / "old.ckpt")).result()["x"].size == 4
    assert not async_ckpt_thread_status()
    ModelCheckpoint("p", str(tmp_path))
    assert warnings == []
    # A load of the very file gets what there is, and a word about it.
    gate.write(str(failed), [("x", parameters(7)["x"])], "ckpt", False)
    assert loaded(failed) == 7
    assert "has its old content" in warnings[0] and "errno 28" in warnings[0]
    with pytest.raises(OSError, match="errno 28"):
        ms.save_checkpoint(parameters(2), str(tmp_path / "b.ckpt"))


def test_a_child_process_has_no_part_in_it(tmp_path, failed):
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            ms.save_checkpoint(parameters(2), str(tmp_path / "b.ckpt"), async_save=True)
            status = 0 if loaded(tmp_path / "b.ckpt") == 2 else 2
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


# The files of a training


def test_an_old_checkpoint_stays_until_the_new_one_is_there(tmp_path, gate):
    net = nn.Dense(3, 2)
    data = NumpySlicesDataset((np.ones((8, 3), np.float32), np.ones((8, 2), np.float32))).batch(4)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    seen = []
    write = gate.write

    def look(path, *rest):
        seen.append(sorted(name for name in os.listdir(tmp_path) if name.endswith(".ckpt")))
        write(path, *rest)

    gate.write = look
    gate.opened.set()
    config = CheckpointConfig(save_checkpoint_steps=1, keep_checkpoint_max=1, async_save=True)
    callback = ModelCheckpoint("p", str(tmp_path), config)
    model.train(2, data, callbacks=callback, dataset_sink_mode=False)
    gate.finish()
    assert seen == [[], ["p-1_1.ckpt"], ["p-1_2.ckpt"], ["p-2_1.ckpt"]]
    assert os.listdir(tmp_path) == ["p-2_2.ckpt"]
    assert callback._manager.ckpoint_filelist == [str(tmp_path / "p-2_2.ckpt")]


def test_an_old_checkpoint_stays_where_the_new_one_fails(tmp_path, monkeypatch):
    net = nn.Dense(3, 2)
    data = NumpySlicesDataset((np.ones((8, 3), np.float32), np.ones((8, 2), np.float32))).batch(4)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    config = CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=1, async_save=True)
    callback = ModelCheckpoint("p", str(tmp_path), config)
    model.train(1, data, callbacks=callback, dataset_sink_mode=False)
    thread = serialization.writer._thread
    if thread is not None:
        thread.join()
    monkeypatch.setenv("MS_IO_FAULT", "1:enospc")
    model.train(1, data, callbacks=callback, dataset_sink_mode=False)
    with pytest.raises(OSError, match="errno 28"):
        ms.save_checkpoint(net, str(tmp_path / "end.ckpt"))
    assert sorted(os.listdir(tmp_path)) == ["end.ckpt", "p-1_2.ckpt"]


# The end of the process


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    prelude = """
        import atexit, os, sys, time
        import numpy as np
        import mindspore as ms
        from mindspore.train import serialization
        data = {"x": ms.Tensor(np.ones(1000, np.float32))}
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(prelude) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("end", ["", "sys.exit()", "raise SystemExit(0)"])
def test_a_save_under_way_is_finished(tmp_path, end):
    path = tmp_path / "a.ckpt"
    result = run(f"""
        write = serialization._write
        serialization._write = lambda *arguments: (time.sleep(0.5), write(*arguments))
        ms.save_checkpoint(data, {str(path)!r}, async_save=True)
        assert not os.path.exists({str(path)!r})
        {end}
    """)
    assert (result.returncode, result.stderr) == (0, "")
    assert ms.load_checkpoint(str(path))["x"].size == 1000


@pytest.mark.parametrize(("end", "status"), [("", 1), ("sys.exit(0)", 1), ("sys.exit(3)", 3)])
def test_an_error_shows_at_the_end(tmp_path, end, status):
    result = run(
        f"""
        ms.save_checkpoint(data, {str(tmp_path / "a.ckpt")!r}, async_save=True)
        {end}
        """,
        MS_IO_FAULT="1:enospc",
        GLOG_v="4",  # no setting of the log hides it
    )
    assert result.returncode == status
    (line,) = result.stderr.splitlines()
    assert str(tmp_path / "a.ckpt") in line and "No space left on device (errno 28)" in line


def test_what_ends_after_the_error_still_runs(tmp_path):
    """Handlers that were there before, and what is in the buffers."""
    result = run(
        f"""
        ms.save_checkpoint(data, {str(tmp_path / "a.ckpt")!r}, async_save=True)
        child = os.fork()
        if child == 0:
            sys.exit()
        atexit.register(print, "handler")
        print("child", os.waitpid(child, 0)[1], end=" ")
        """,
        MS_IO_FAULT="1:enospc",
    )
    assert result.returncode == 1
    assert result.stdout == "child 0 handler\n"


def test_an_error_that_was_shown_is_not_shown_again(tmp_path):
    result = run(
        f"""
        ms.save_checkpoint(data, {str(tmp_path / "a.ckpt")!r}, async_save=True)
        try:
            ms.save_checkpoint(data, {str(tmp_path / "b.ckpt")!r})
        except OSError as error:
            print(error.errno)
        """,
        MS_IO_FAULT="1:enospc",
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "28\n", "")


def test_a_save_of_the_last_moment(tmp_path):
    path = tmp_path / "a.ckpt"
    result = run(f"atexit.register(ms.save_checkpoint, data, {str(path)!r}, async_save=True)")
    assert (result.returncode, result.stderr) == (0, "")
    assert ms.load_checkpoint(str(path))["x"].size == 1000
