"""The package as a user gets it: its C++ tests, its self-check, its size, the quick start."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindspore

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(mindspore.__file__).parent


def test_cpp_suite() -> None:
    """The C++ tests pass; scripts/test and scripts/dev build them and say where they are."""
    binary = Path(os.environ.get("MS_CPP_TESTS", ROOT / "build" / "dev" / "ms_tests"))
    if not binary.exists():
        pytest.skip("the C++ tests are not built")
    # The threads of regions are ours unless this is set, as it is for the tests in Python.
    env = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [binary, "--gtest_brief=1"], capture_output=True, text=True, timeout=900, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_run_check_is_a_function_though_its_module_bears_the_name() -> None:
    importlib.import_module("mindspore.run_check")
    assert callable(mindspore.run_check)


@pytest.mark.host_device
def test_run_check_passes(capfd: pytest.CaptureFixture[str]) -> None:
    """run_check() succeeds, names version and device, and leaves the mode as it was."""
    mode = mindspore.get_context("mode")
    assert mindspore.run_check()
    out = capfd.readouterr().out
    assert mindspore.__version__ in out and "CPU" in out
    assert mindspore.get_context("mode") == mode


def test_version_is_that_of_the_metadata() -> None:
    """version.py is the one place that states the version."""
    if "site-packages" not in str(PACKAGE):
        pytest.skip("not an installed wheel")
    assert importlib.metadata.version("mindspore") == mindspore.__version__


def test_package_is_small() -> None:
    """At most 60 MB beside oneDNN and the pip dependencies."""
    ours = (
        file
        for file in PACKAGE.rglob("*")
        if file.is_file() and PACKAGE / "lib" not in file.parents
    )
    size = sum(file.stat().st_size for file in ours)
    assert size <= 60e6


def test_needs_no_system_library() -> None:
    """The module and its libraries load nothing but each other, oneDNN and the compiler's run time."""
    modules = sorted(PACKAGE.glob("*.so"))
    allowed = ("libdnnl", "libgomp", "libstdc++", "libgcc_s", "libc.", "libm.", "ld-linux")
    assert [m.name.split(".")[0] for m in modules] == [
        *("_core", "libms_core", "libms_cpu", "libms_cuda")
    ]
    for module in modules:
        listing = subprocess.run(["readelf", "-d", module], capture_output=True, text=True).stdout
        needed = [s.split("[")[1].rstrip("]") for s in listing.splitlines() if "NEEDED" in s]
        assert needed
        others = [name for name in needed if not (PACKAGE / name).exists()]
        assert [name for name in others if not name.startswith(allowed)] == []


def test_quick_start(tmp_path: Path) -> None:
    """The tour of scripts/quickstart.py holds: accuracy, equal curves, checkpoint, fine-tuning."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: scripts/dev peers")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "quickstart.py", "--output", tmp_path],
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "lenet.ckpt").exists()
