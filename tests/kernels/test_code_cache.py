"""Where machine code comes from: the disk cache and its corners, several processes, forks, and machines without llvmlite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bodies
import pytest

from mindspore._kernel_cache import KernelCache

pytestmark = pytest.mark.skipif(not bodies.available(), reason="needs llvmlite")

PROGRAM = """
import sys, numpy as np
sys.path.insert(0, {here!r})
{before}
import bodies
from mindspore import Tensor
x = Tensor(np.arange(100, dtype=np.float32))
(y,) = bodies.run("  %1 = Exp(a0)\\n  %2 = Sub(%1, a0)\\n  %3 = Neg(%2)", [x], {{"%3": "Float32[100]"}})
{after}
print("sum", y.asnumpy()[:20].sum())
"""


def command(before: str = "", after: str = "") -> list[str]:
    return [
        sys.executable,
        "-c",
        PROGRAM.format(here=str(Path(__file__).parent), before=before, after=after),
    ]


def environment(folder: Path | str) -> dict[str, str]:
    return {**os.environ, "MS_KERNEL_CACHE": str(folder)}


def run(folder: Path | str, before: str = "", after: str = "") -> str:
    done = subprocess.run(
        command(before, after), env=environment(folder), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_code_is_kept_and_read(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    first = run(folder)
    (file,) = folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    written = file.stat().st_mtime_ns
    assert run(folder) == first
    assert [f.stat().st_mtime_ns for f in folder.iterdir()] == [written]


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    folder = tmp_path / "kernels"
    first = run(folder)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-100] if damage is None else damage)
    assert run(folder) == first
    assert file.read_bytes() == whole


def test_a_folder_of_others_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o777)
    open_to_all.chmod(0o777)
    link = tmp_path / "link"
    (tmp_path / "private").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "private")
    for folder in (open_to_all, link, "", "/proc/no/such"):
        assert "sum" in run(folder)
    assert not list(open_to_all.iterdir()) and not list((tmp_path / "private").iterdir())


def test_many_processes_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    running = [
        subprocess.Popen(command(), env=environment(folder), stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = {process.communicate(timeout=120)[0] for process in running}
    assert len(outputs) == 1 and "sum" in outputs.pop()
    assert len(list(folder.iterdir())) == 1


def test_files_that_are_no_contents_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MS_KERNEL_CACHE", str(tmp_path / "kernels"))
    cache = KernelCache()
    assert cache.folder is not None and cache.read("a") is None
    cache.write("a", b"contents")
    assert cache.read("a") == b"contents"
    (cache.folder / "b.o").symlink_to(cache.folder / "a.o")
    (cache.folder / "c.o").mkdir()
    assert cache.read("b") is None and cache.read("c") is None
    cache.write("c", b"more")  # cannot be written, and that is no error
    assert [f.name for f in cache.folder.iterdir() if f.name.startswith(".new")] == []


def test_a_forked_child_makes_its_own_code(tmp_path: Path) -> None:
    after = """
import os
child = os.fork()
if child == 0:
    (z,) = bodies.run("  %1 = Sin(a0)\\n  %2 = Add(%1, a0)", [x], {"%2": "Float32[100]"})
    os._exit(0 if np.allclose(z.asnumpy(), np.sin(x.asnumpy()) + x.asnumpy(), 1e-5) else 1)
_, status = os.waitpid(child, 0)
print("child", status)
"""
    assert "child 0" in run(tmp_path / "kernels", after=after)


def test_without_llvmlite_kernels_are_interpreted() -> None:
    """Elementwise results are the same bits then."""
    program = """
import importlib.util, sys
import numpy as np
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "llvmlite" else find(name, *rest)
import mindspore as ms
from mindspore import Tensor, ops
x = Tensor(np.random.default_rng(0).standard_normal((50, 700)).astype(np.float32))
def body(x):
    z = ops.tanh(x * 1.5 + x)
    return ops.sigmoid(z) * x + ops.exp(-(z * z)) * x
got, expected = ms.jit(body)(x).asnumpy(), body(x).asnumpy()
assert np.array_equal(got, expected) and "llvmlite" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MS_FUSION": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_an_llvmlite_that_cannot_be_imported_is_tried_once(tmp_path: Path) -> None:
    (tmp_path / "llvmlite.py").write_text("print('tried')\nraise OSError('no libLLVM.so')\n")
    program = """
import numpy as np
import mindspore as ms
from mindspore import Tensor, ops
x = Tensor(np.random.default_rng(0).standard_normal((64, 700)).astype(np.float32))
for body in (lambda x: ops.tanh(x).sum(1), lambda x: ops.exp(-x * x).sum(0), lambda x: ops.softmax(ops.sin(x), -1)):
    np.testing.assert_allclose(ms.jit(body)(x).asnumpy(), body(x).asnumpy(), 1e-5, 1e-5)
"""
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths, "MS_KERNEL_CACHE": "", "MS_FUSION": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["tried"]


def test_an_llvm_that_is_too_old_is_not_used(tmp_path: Path) -> None:
    """Its version is asked for, for it would print warnings or end the process; kernels are interpreted."""
    before = "from llvmlite import binding\nbinding.llvm_version_info = (15, 0, 7)"
    assert run(tmp_path / "old", before) == run(tmp_path / "new")
    assert not list(tmp_path.glob("old/*")) and list(tmp_path.glob("new/*"))


def test_masked_access_is_written_for_the_oldest_llvm(tmp_path: Path) -> None:
    """With the alignment as a number, which newer ones read, too: LLVM 20 does not survive their own form."""
    done = subprocess.run(
        command(),
        env={**environment(tmp_path), "MS_DUMP": "kernels"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    declared = [line for line in done.stderr.splitlines() if line.startswith("declare")]
    masked = [line for line in declared if "llvm.masked" in line]
    assert masked and all("ptr, i32, <" in line for line in masked), declared
