"""What makes a wheel for strangers: which Pythons are refused, what is linked against, what lies inside."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mindspore

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(mindspore.__file__).parent
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.fixture
def stubs() -> ModuleType:
    """cmake/portable/make_glibc_stubs.py as a module."""
    path = ROOT / "cmake" / "portable" / "make_glibc_stubs.py"
    spec = importlib.util.spec_from_file_location("make_glibc_stubs", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_free_threaded_python_is_refused() -> None:
    """One sentence, before anything else is loaded."""
    code = "import sys; sys.abiflags = 't'; import mindspore"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: mindspore needs a Python with its global interpreter lock")
    assert "numpy" not in done.stderr


LISTING = """
   204: 0000000000109530    76 FUNC    GLOBAL DEFAULT   16 old@@GLIBC_2.2.5
   553: 000000000008e120    21 FUNC    GLOBAL DEFAULT   16 moved@GLIBC_2.2.5
   557: 000000000008e120    21 FUNC    GLOBAL DEFAULT   16 moved@@GLIBC_2.34
   558: 000000000008e120    21 IFUNC   GLOBAL DEFAULT   16 twice@GLIBC_2.3
   559: 000000000008e120    21 IFUNC   GLOBAL DEFAULT   16 twice@@GLIBC_2.17
   290: 00000000001db320     8 OBJECT  WEAK   DEFAULT   34 data@@GLIBC_2.2.5
   669: 00000000000f77e0    18 FUNC    WEAK   DEFAULT   16 new@@GLIBC_2.33
   670: 00000000000f77e0    18 FUNC    WEAK   DEFAULT   16 inner@@GLIBC_PRIVATE
   671: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND other@GLIBC_2.2.5 (2)
"""


def test_newest_symbols_that_are_old_enough(stubs: ModuleType) -> None:
    """The newest version of each name up to the limit; nothing private, nothing undefined."""
    found = {s.name: (s.version, s.is_function) for s in stubs.symbols_up_to("2.28", LISTING)}
    assert found == {
        "old": ((2, 2, 5), True),
        "moved": ((2, 2, 5), True),
        "twice": ((2, 17), True),
        "data": ((2, 2, 5), False),
    }


@needs_compiler
def test_what_links_against_stubs_needs_an_old_glibc(tmp_path: Path) -> None:
    """Newer symbols that have an elder are taken from it; those that have none do not link."""
    make = ROOT / "cmake" / "portable" / "make_glibc_stubs.py"
    subprocess.run([sys.executable, make, tmp_path / "glibc"], check=True)
    elder, newer = tmp_path / "elder.c", tmp_path / "newer.c"
    elder.write_text(
        "#include <math.h>\n#include <pthread.h>\nvoid none(void) {}\n"
        "double f(double x) { pthread_once_t o = PTHREAD_ONCE_INIT; pthread_once(&o, none); return pow(x, x); }\n"
    )
    newer.write_text(
        "int _dl_find_object(void*, void*);\nint f(void) { return _dl_find_object(0, 0); }\n"
    )
    link = [
        "gcc",
        "-shared",
        "-fPIC",
        "-Wl,-z,defs",
        f"-L{tmp_path / 'glibc'}",
        "-o",
        tmp_path / "out.so",
    ]
    subprocess.run([*link, elder, "-lm"], check=True)
    listed = subprocess.run(["objdump", "-T", tmp_path / "out.so"], capture_output=True, text=True)
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", listed.stdout)]
    assert versions and max(versions) <= (2, 28)
    refused = subprocess.run([*link, newer], capture_output=True, text=True)
    assert refused.returncode != 0 and "_dl_find_object" in refused.stderr


def test_an_installed_package_brings_its_libraries() -> None:
    """oneDNN and its notices lie in the package, and are what is loaded."""
    if "site-packages" not in str(PACKAGE):
        pytest.skip("not an installed wheel")
    assert {"libdnnl.so.3", "oneDNN-LICENSE"} <= {path.name for path in (PACKAGE / "lib").iterdir()}
    code = "import mindspore; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    loaded = {line.split()[-1] for line in maps.splitlines() if "libdnnl" in line}
    assert loaded == {str(PACKAGE / "lib" / "libdnnl.so.3")}


def test_smoke() -> None:
    """What scripts/release --check runs on a bare machine holds here."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "smoke.py"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_release_says_what_it_can_do() -> None:
    """An argument that it does not know builds nothing."""
    done = subprocess.run(
        ["bash", ROOT / "scripts" / "release", "--chekc"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "--check" in done.stderr
