"""Saves that fail at any point: the old file or the new one is there, whole, and nothing else."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import as_values

from mindspore import Tensor, _core

io = _core.io
OLD = [("w", Tensor(np.zeros(3, np.float32)))]
# Larger than the writer's buffer, so that there are several writes.
NEW = [
    ("w", Tensor(np.ones(200_000, np.float32))),
    ("b", Tensor(np.arange(100_000, dtype=np.int32))),
    ("c", Tensor(np.array([5]))),
]
MAX_CALLS = 40


def state(path) -> str:
    """ "old" or "new": which content the file has; anything else fails."""
    values = as_values(io.load_checkpoint(str(path))[0])
    for name, content in (("old", OLD), ("new", NEW)):
        if values == as_values(content):
            return name
    raise AssertionError("the file is neither the old nor the new one")


def leftovers(folder) -> list[str]:
    return [name for name in os.listdir(folder) if name != "a.ckpt"]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.ckpt"
    io.save_checkpoint(str(path), OLD)
    return path


@pytest.mark.parametrize("kind", ["eio", "enospc"])
def test_an_error_in_any_call(path, monkeypatch, kind):
    outcomes = []
    for call in range(1, MAX_CALLS):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:{kind}")
        io_error = None
        try:
            io.save_checkpoint(str(path), NEW)
        except OSError as error:
            io_error = error
        monkeypatch.delenv("MS_IO_FAULT")
        outcomes.append(state(path))
        assert leftovers(path.parent) == []
        if io_error is None:
            break
        assert "a.ckpt" in str(io_error) and "errno" in str(io_error)
        io.save_checkpoint(str(path), OLD)
    assert io_error is None, "no save got through: raise MAX_CALLS"
    assert outcomes[0] == "old" and outcomes[-1] == "new"
    assert len(outcomes) > 6


def test_short_writes_are_continued(path, monkeypatch):
    for call in range(1, 12):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:short")
        io.save_checkpoint(str(path), NEW)
        assert state(path) == "new"


def test_a_kill_in_any_call(path):
    outcomes = []
    for call in range(1, MAX_CALLS):
        child = os.fork()
        if child == 0:
            os.environ["MS_IO_FAULT"] = f"{call}:kill"
            io.save_checkpoint(str(path), NEW)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        outcomes.append(state(path))
        if not os.WIFSIGNALED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        # What the dead writer left is gone after the next save.
        io.save_checkpoint(str(path), OLD)
        assert leftovers(path.parent) == []
    assert not os.WIFSIGNALED(status), "no save got through: raise MAX_CALLS"
    assert outcomes[0] == "old" and outcomes[-1] == "new"


def test_a_file_size_limit(path):
    """A real full disk, as far as one can be had without privileges."""
    program = textwrap.dedent(f"""
        import resource, signal, sys
        import numpy as np
        from mindspore import Tensor, _core
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        big = Tensor(np.ones(200_000, np.float32))
        try:
            _core.io.save_checkpoint({str(path)!r}, [("w", big)])
        except OSError as error:
            print(error)
    """)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "a.ckpt" in result.stdout and "errno 27" in result.stdout, result.stderr
    assert state(path) == "old"
    assert leftovers(path.parent) == []


def test_concurrent_writers_leave_one_whole_file(path):
    children = []
    for content in (OLD, NEW) * 4:
        child = os.fork()
        if child == 0:
            for _ in range(10):
                io.save_checkpoint(str(path), content)
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert state(path) in ("old", "new")
    io.save_checkpoint(str(path), OLD)
    assert leftovers(path.parent) == []


def test_targets_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="errno 21"):
        io.save_checkpoint(str(tmp_path), OLD)
    with pytest.raises(OSError, match="errno 2"):
        io.save_checkpoint(str(tmp_path / "none" / "a.ckpt"), OLD)
    with pytest.raises(OSError, match="errno 36"):
        io.save_checkpoint(str(tmp_path / ("a" * 300)), OLD)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        io.save_checkpoint(str(tmp_path / "pipe"), OLD)
    with pytest.raises(OSError, match="not a regular file"):
        io.save_checkpoint("/dev/null", OLD)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="errno 13"):
        io.save_checkpoint(str(tmp_path / "a.ckpt"), OLD)
    tmp_path.chmod(0o700)


def test_links_and_modes_are_kept(tmp_path, path):
    path.chmod(0o640)
    link = tmp_path / "link.ckpt"
    link.symlink_to(path)
    io.save_checkpoint(str(link), NEW)
    assert link.is_symlink()
    assert state(path) == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    # Files of MindSpore are read-only for their owner; they can be replaced all the same.
    path.chmod(0o400)
    io.save_checkpoint(str(path), OLD)
    assert state(path) == "old"


def test_names_as_long_as_they_can_be(tmp_path):
    path = tmp_path / ("n" * 250 + ".ckpt")
    io.save_checkpoint(str(path), OLD)
    assert as_values(io.load_checkpoint(str(path))[0]) == as_values(OLD)


def test_memory_of_a_load_is_the_file(tmp_path):
    path = tmp_path / "a.ckpt"
    io.save_checkpoint(str(path), [("w", Tensor(np.ones(16 << 20, np.float32)))])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loaded = io.load_checkpoint(str(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < (64 + 64) * 1024
    assert loaded[0][0][1].shape == (16 << 20,)
