"""Saves that fail at any point, in each format: the old file or the new one is there, whole, and nothing else; and
what of the old file the new one keeps."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import struct
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from filelib import as_values

from mindspore import Tensor, _core
from mindspore.train import _safetensors

io = _core.io
FORMATS = {
    "a.ckpt": (io.save_checkpoint, io.load_checkpoint),
    "a.safetensors": (_safetensors.write, lambda path: _safetensors.read(path, None)),
}
OLD = [("w", Tensor(np.zeros(3, np.float32)))]
# Larger than the writer's buffer, so that there are several writes.
NEW = [
    ("w", Tensor(np.ones(200_000, np.float32))),
    ("b", Tensor(np.arange(100_000, dtype=np.int32))),
    ("c", Tensor(np.array([5]))),
]
MAX_CALLS = 40


def save(path, items) -> None:
    FORMATS[path.name][0](str(path), items)


def state(path) -> str:
    """ "old" or "new": which content the file has; anything else fails."""
    values = as_values(FORMATS[path.name][1](str(path))[0])
    for name, content in (("old", OLD), ("new", NEW)):
        if values == as_values(content):
            return name
    raise AssertionError("the file is neither the old nor the new one")


def leftovers(path) -> list[str]:
    return [name for name in os.listdir(path.parent) if name != path.name]


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    path = tmp_path / request.param
    save(path, OLD)
    return path


@pytest.mark.parametrize("kind", ["eio", "enospc"])
def test_an_error_in_any_call(path, monkeypatch, kind):
    outcomes = []
    for call in range(1, MAX_CALLS):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:{kind}")
        io_error = None
        try:
            save(path, NEW)
        except OSError as error:
            io_error = error
        monkeypatch.delenv("MS_IO_FAULT")
        outcomes.append(state(path))
        assert leftovers(path) == []
        if io_error is None:
            break
        code = errno.EIO if kind == "eio" else errno.ENOSPC
        assert path.name in str(io_error) and f"(errno {code})" in str(io_error)
        assert io_error.errno == code
        save(path, OLD)
    assert io_error is None, "no save got through: raise MAX_CALLS"
    assert outcomes[0] == "old" and outcomes[-1] == "new"
    assert len(outcomes) > 6


def test_short_writes_are_continued(path, monkeypatch):
    for call in range(1, 12):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:short")
        save(path, NEW)
        assert state(path) == "new"


def killed_save(path, call):
    """A child saves, and is killed in its `call`-th call of the system, if there are so many; its status."""
    child = os.fork()
    if child == 0:
        os.environ["MS_IO_FAULT"] = f"{call}:kill"
        save(path, NEW)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def test_a_kill_in_any_call(path):
    outcomes = []
    for call in range(1, MAX_CALLS):
        status = killed_save(path, call)
        outcomes.append(state(path))
        if not os.WIFSIGNALED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        # What the dead writer left is gone after the next save.
        save(path, OLD)
        assert leftovers(path) == []
    assert not os.WIFSIGNALED(status), "no save got through: raise MAX_CALLS"
    assert outcomes[0] == "old" and outcomes[-1] == "new"


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_at_any_time(path, count):
    rng = random.Random(count)
    begun = time.monotonic()
    assert killed_save(path, 10_000) == 0
    whole = time.monotonic() - begun  # seconds of a save
    outcomes = []
    # Few kills may all meet one of the two files: as many more as it takes to meet the other.
    while len(outcomes) < count or (len(set(outcomes)) == 1 and len(outcomes) < 40 * count):
        child = os.fork()
        if child == 0:
            while True:
                save(path, NEW)
                save(path, OLD)
        time.sleep(rng.random() * 4 * whole)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        outcomes.append(state(path))
    assert set(outcomes) == {"old", "new"}
    save(path, OLD)
    assert leftovers(path) == []


def test_a_file_size_limit(path):
    """A real full disk, as far as one can be had without privileges."""
    program = textwrap.dedent(f"""
        import resource, signal, sys
        import numpy as np
        import mindspore as ms
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        big = ms.Tensor(np.ones(200_000, np.float32))
        try:
            ms.save_checkpoint({{"w": big}}, {str(path)!r}, format={path.suffix[1:]!r})
        except OSError as error:
            print(error, error.errno)
    """)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert path.name in result.stdout and "(errno 27). 27" in result.stdout, result.stderr
    assert state(path) == "old"
    assert leftovers(path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk(tmp_path):
    mounted = tmp_path / "disk"
    mounted.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mounted)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        for name in FORMATS:
            path = mounted / name
            save(path, OLD)
            with pytest.raises(OSError, match=r"No space left on device \(errno 28\)"):
                save(path, NEW)
            assert state(path) == "old"
            assert leftovers(path) == []
            path.unlink()
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


def test_concurrent_writers_leave_one_whole_file(path):
    children = []
    for content in (OLD, NEW) * 4:
        child = os.fork()
        if child == 0:
            for _ in range(10):
                save(path, content)
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert state(path) in ("old", "new")
    save(path, OLD)
    assert leftovers(path) == []


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


def test_the_mode_of_a_replaced_file_is_kept(path):
    for mode in (0o640, 0o600, 0o664, 0o444, 0o200, 0o777):
        path.chmod(mode)
        save(path, NEW)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    # Files of MindSpore are read-only for their owner; they can be replaced all the same.
    path.chmod(0o400)
    save(path, OLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(path, umask, mode):
    path.unlink()
    before = os.umask(umask)
    try:
        save(path, NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_and_group_are_kept(path):
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    save(path, NEW)
    now = path.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 2345, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody")
@pytest.mark.parametrize(
    ("groups", "gid", "mode"), [([2345], 2345, 0o664), ([], 3456, 0o644)], ids=["member", "alien"]
)
def test_a_group_that_cannot_be_kept_gets_no_more_than_all(tmp_path, groups, gid, mode):
    """Who is in the group keeps it; otherwise the file is no more open to another group than to everybody."""
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "a.ckpt"
    save(path, OLD)
    os.chown(folder, 1234, 3456)
    os.chown(path, 5678, 2345)
    path.chmod(0o664)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.setgroups(groups)
        os.setgid(3456)
        os.setuid(1234)
        io.save_checkpoint("a.ckpt", NEW)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    now = path.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, gid, mode)
    assert state(path) == "new"


def access_list(*people: tuple[int, int, int]) -> bytes:
    """A POSIX access list: (tag, permissions, id)."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in people)


def test_the_access_list_is_kept(path):
    nobody = 0xFFFFFFFF
    # Owner rw, user 1234 r, group none, mask r, others none: the mode alone would let the group read.
    wanted = access_list(
        (1, 6, nobody), (2, 4, 1234), (4, 0, nobody), (16, 4, nobody), (32, 0, nobody)
    )
    try:
        os.setxattr(path, "system.posix_acl_access", wanted)
    except OSError:
        pytest.skip("this file system has no access lists")
    save(path, NEW)
    assert os.getxattr(path, "system.posix_acl_access") == wanted
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_private_is_so_from_the_start(path):
    """A kill in any call leaves no temporary file that others may read."""
    path.chmod(0o600)
    for call in range(1, MAX_CALLS):
        died = os.WIFSIGNALED(killed_save(path, call))
        for name in os.listdir(path.parent):
            assert stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600
        if not died:
            break
    assert not died


def test_links_are_kept(tmp_path, path):
    link = tmp_path / "links" / path.name
    link.parent.mkdir()
    link.symlink_to(path)
    save(link, NEW)
    assert link.is_symlink() and state(path) == "new"
    link.unlink()
    link.symlink_to(f"../{path.name}")
    path.unlink()
    save(link, OLD)  # what it names is not there yet
    assert link.is_symlink() and not path.is_symlink() and state(path) == "old"
    assert leftovers(link) == []
    path.unlink()
    path.symlink_to(link)
    with pytest.raises(OSError, match="errno 40"):  # round and round
        save(link, OLD)


def test_names_as_long_as_they_can_be(tmp_path):
    path = tmp_path / ("n" * 250 + ".ckpt")
    io.save_checkpoint(str(path), OLD)
    assert as_values(io.load_checkpoint(str(path))[0]) == as_values(OLD)
