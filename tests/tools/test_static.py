"""The static checks hold on this tree, and do find what they are for."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", ["check_layers.py", "check_house.py"])
def test_tree_is_clean(script: str) -> None:
    """The script finds nothing."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold() -> None:
    """Neither the package nor the declarations of its core have fallen behind."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", "/dev/null"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_layers_are_transitive() -> None:
    """A unit may use all below it, not its neighbours in the braces."""
    layers = load("check_layers").read_layers(
        "c++", "c++: a < b < {c, d} < e\nc++: b < f < e\nx: q"
    )
    assert layers["c"] == {"a", "b", "c"}
    assert layers["f"] == {"a", "b", "f"}
    assert layers["e"] == {"a", "b", "c", "d", "e", "f"}
    assert "q" not in layers


def test_upward_include_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An include that goes up, one that leads nowhere, and Python.h in the core."""
    script = load("check_layers")
    (tmp_path / "base").mkdir()
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "graph.h").write_text("#pragma once\n")
    (tmp_path / "base" / "x.h").write_text(
        '#include "ir/graph.h"\n#include "base/none.h"\n#include <Python.h>\n'
    )
    monkeypatch.setattr(script, "CPP", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    found = list(script.check_cpp(script.read_layers("c++", "c++: base < ir")))
    assert [line.split(":")[1] for line in found] == ["1", "2", "3"]


def test_the_inside_of_a_backend_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others include one header of a backend; it includes all of its own."""
    script = load("check_layers")
    (tmp_path / "backends" / "gpu").mkdir(parents=True)
    (tmp_path / "python").mkdir()
    for name in ("gpu.h", "fast.h"):
        (tmp_path / "backends" / "gpu" / name).write_text('#include "backends/gpu/fast.h"\n')
    (tmp_path / "python" / "x.cc").write_text(
        '#include "backends/gpu/gpu.h"\n#include "backends/gpu/fast.h"\n'
    )
    monkeypatch.setattr(script, "CPP", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    found = list(script.check_cpp(script.read_layers("c++", "c++: backends < python")))
    assert [line.split(":")[:2] for line in found] == [["python/x.cc", "2"]]


def test_a_device_is_named_by_its_backend_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words for devices and their libraries, in code and comments; the host's name stands in one line."""
    script = load("check_layers")
    text = (
        'constexpr std::string_view kHostDevice = "CPU";\n'
        "// quicker on the CPU\nint cpus;\ndnnl::memory m;\nstruct LlvmText;\n// with AVX512\n"
    )
    for folder in ("backends", "kernel"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.h").write_text(text)
    monkeypatch.setattr(script, "CPP", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    found = list(script.check_devices())
    assert [line.split(":")[:2] for line in found] == [["kernel/x.h", n] for n in "2456"]


def test_upward_import_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute, relative and late imports that go up; TYPE_CHECKING is free."""
    script = load("check_layers")
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "a.py").write_text(
        "from typing import TYPE_CHECKING\nfrom mindspore import _core\nfrom . import b\n"
        "from ..nn import Cell\n"
        "def f():\n    import mindspore.train\n"
        "if TYPE_CHECKING:\n    from mindspore.nn import Cell\n"
    )
    monkeypatch.setattr(script, "PYTHON", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    order = "python: _core < common < nn < train"
    found = list(script.check_python(script.read_layers("python", order)))
    assert sorted(line.split(":")[1] for line in found) == ["4", "6"]


def test_folders_of_tests_meet() -> None:
    """Any folders of tests can be collected in one run: pytest puts each on the path, so that a module's name belongs
    to one folder, and `conftest`, which many have, is nobody's to import."""
    tests = ROOT / "tests"
    folders = [path for path in tests.iterdir() if not (path / "__init__.py").exists()]
    modules = [path for folder in folders for path in folder.glob("*.py")]
    names = [path.stem for path in modules if path.stem != "conftest"]
    names += [path.name for path in tests.iterdir() if (path / "__init__.py").exists()]
    assert sorted(names) == sorted(set(names))
    imports = re.compile(r"^\s*(from|import) conftest\b", re.MULTILINE)
    assert not [path.name for path in modules if imports.search(path.read_text())]


def test_folders_of_tests_are_described() -> None:
    """tests/README.md says what runs in each folder."""
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")} | {"cpp"}
    text = (ROOT / "tests" / "README.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|.*\|.*\|$", text, re.MULTILINE)) >= folders
