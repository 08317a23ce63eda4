"""Libraries with a device: opened once, refused with the reason where they are none for this process."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import fenced_device
import pytest

import mindspore as ms
from mindspore import _core

PACKAGE = Path(_core.__file__).parent


@pytest.fixture
def make(tmp_path):
    """A library of a line of C."""

    def build(text: str) -> Path:
        if not shutil.which("cc"):
            pytest.skip("needs a C compiler")
        (tmp_path / "a.c").write_text(text)
        path = tmp_path / "a.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, tmp_path / "a.c"], check=True)
        return path

    return build


def refused(path, says):
    with pytest.raises(
        ValueError,
        match=rf"(?s)For 'register_backend', '.*' must be a library with a device, but .*{says}",
    ):
        ms.register_backend(path)


def test_no_library(tmp_path):
    refused(tmp_path / "none.so", "No such file")
    (tmp_path / "text.so").write_text("no library")
    refused(tmp_path / "text.so", "")
    with pytest.raises(TypeError, match="'path'"):
        ms.register_backend(3)
    with pytest.raises(ValueError, match="'path'"):
        ms.register_backend("")


def test_a_library_without_a_device(make):
    refused(make("int nothing;"), "no symbol 'ms_backend'")


def test_another_version(make):
    path = make(
        'const struct { const char* stamp; void* make; } ms_backend = {"mindspore 1.0, headers 0", 0};'
    )
    refused(
        path, r"built for 'mindspore 1\.0, headers 0', and this is 'mindspore 2.*build it again"
    )


def test_built_again_at_the_same_path(make):
    for version in ("1.0", "1.1"):
        path = make(
            f'const struct {{ const char* stamp; void* make; }} ms_backend = {{"{version}", 0}};'
        )
        refused(path, f"built for '{version}'")
        path.unlink()


def test_what_the_library_lacks(make):
    refused(make("extern int absent; int* where = &absent;"), "absent")


def test_another_layout(make):
    """As a macro such as _GLIBCXX_DEBUG makes it."""
    stamp = ctypes.c_char_p.in_dll(ctypes.CDLL(str(PACKAGE / "libms_cpu.so")), "ms_backend").value
    assert stamp
    path = make(
        "const struct { const char* stamp; void* make; unsigned long layout; } ms_backend = "
        f'{{"{stamp.decode()}", 0, 1}};'
    )
    refused(path, "laid out otherwise.*_GLIBCXX_DEBUG")


class Entry(ctypes.Structure):
    """What a library says of itself (kernel/plugin.h)."""

    _fields_ = (("stamp", ctypes.c_char_p), ("make", ctypes.c_void_p), ("layout", ctypes.c_size_t))


def failing(path: Path, version: int, before: str = "") -> Path:
    """A library as this package makes them, whose device cannot be made. `before` is C++ that runs first; it may call Ask."""
    if not shutil.which("g++"):
        pytest.skip("needs a C++ compiler")
    entry = Entry.in_dll(ctypes.CDLL(str(PACKAGE / "libms_cpu.so")), "ms_backend")
    path.with_suffix(".cc").write_text(f"""
        #include <stdexcept>
        #include <string>
        #include <unistd.h>
        namespace ms {{ std::string LoadBackend(const std::string& path); }}
        [[maybe_unused]] static std::string Ask(const char* path) {{
          try {{
            return ms::LoadBackend(path);
          }} catch (const std::exception& error) {{
            return error.what();
          }}
        }}
        static void* make(void*) {{ {before}; throw std::runtime_error("version {version} has no licence"); }}
        struct Entry {{ const char* stamp; void* (*make)(void*); unsigned long layout; }};
        extern "C" {{ extern const Entry ms_backend; }}
        const Entry ms_backend = {{"{entry.stamp.decode()}", make, {entry.layout}}};
    """)
    core = [f"-L{PACKAGE}", "-l:libms_core.so", f"-Wl,-rpath,{PACKAGE}"]
    command = ["g++", "-std=c++17", "-shared", "-fPIC", "-o", path, path.with_suffix(".cc"), *core]
    subprocess.run(command, check=True)
    return path


def test_a_device_that_cannot_be_made_is_not_kept(tmp_path):
    for version in (1, 2):
        path = failing(tmp_path / "a.so", version)
        refused(path, f"version {version} has no licence")
        path.unlink()


def test_while_a_device_is_made_others_go_on(tmp_path):
    path = failing(tmp_path / "a.so", 1, "sleep(2)")
    thread = threading.Thread(target=refused, args=(path, "no licence"))
    thread.start()
    time.sleep(0.1)
    assert thread.is_alive()
    thread.join()


def in_time(work) -> None:
    """Where a lock is held too long nothing comes back."""
    errors: list = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "a device that is being made waits for itself"
    if errors:
        raise errors[0]


def test_a_device_may_load_others_while_it_is_made(tmp_path):
    inner = failing(tmp_path / "inner.so", 2)
    path = failing(tmp_path / "outer.so", 1, f'throw std::runtime_error(Ask("{inner}"))')
    in_time(lambda: refused(path, "version 2 has no licence"))


def test_a_device_must_not_ask_for_itself_while_it_is_made(tmp_path):
    path = tmp_path / "a.so"
    failing(path, 1, f'throw std::runtime_error(Ask("{path}"))')
    in_time(lambda: refused(path, "must not be asked for while it is made"))


def test_two_devices_that_ask_for_each_other(tmp_path):
    first, second = tmp_path / "a.so", tmp_path / "b.so"
    ask = 'usleep(300000); throw std::runtime_error(Ask("{}"))'
    failing(first, 1, ask.format(second))
    failing(second, 2, ask.format(first))

    def both() -> None:
        other = threading.Thread(target=refused, args=(second, "while it is made"), daemon=True)
        other.start()
        refused(first, "while it is made")
        other.join(30)
        assert not other.is_alive()

    in_time(both)


def test_opened_once(fenced, tmp_path):
    link = tmp_path / "other.so"
    link.symlink_to(fenced_device.library())
    for path in (fenced_device.library(), link):
        assert ms.register_backend(path) == fenced
    assert _core.backends().count(fenced) == 1


def test_a_copy_of_what_is_open(fenced, tmp_path):
    refused(shutil.copy(fenced_device.library(), tmp_path), f"a device '{fenced}' is there already")


def test_an_instruction_set_that_there_is_not():
    done = subprocess.run(
        [sys.executable, "-c", "import mindspore"],
        env={**os.environ, "MS_MAX_ISA": "foo"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: For 'MS_MAX_ISA', the variable of the environment must be base, avx2 or avx512, but got 'foo'."
    )
