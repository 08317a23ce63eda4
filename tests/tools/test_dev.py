"""The verbs of scripts/dev do what CONTRIBUTING.md says: what they run, what they refuse, what they show."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def dev(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/dev as a module that runs nothing: `dev.ran` holds what it would have run, `dev.failing` what fails."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    loader = importlib.machinery.SourceFileLoader("dev", str(ROOT / "scripts" / "dev"))
    spec = importlib.util.spec_from_loader("dev", loader)
    assert spec is not None
    module: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    module.ran = []

    def run(command: list[Any], folder: Path = ROOT, **options: Any) -> int:
        words = " ".join(Path(part).name if isinstance(part, Path) else part for part in command)
        environment = options.get("env") or {}
        module.ran.append((words, environment))
        return 0

    def make(folder: Path, targets: list[str], *settings: str) -> int:
        return run(["make", folder.name, *targets, *settings])

    nothing = lambda: None
    module.really_take_the_module = module.take_the_module
    stubs = {"run": run, "make": make, "ensure_venv": nothing, "take_the_module": nothing}
    for name, value in stubs.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "undefined_symbols", lambda: False)
    monkeypatch.setattr(module, "gtest_present", lambda: True)
    return module


def commands(dev: Any) -> list[str]:
    """What would have been run."""
    return [words for words, _ in dev.ran]


def call(dev: Any, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """`scripts/dev WORDS`."""
    monkeypatch.setattr(sys, "argv", ["dev", *words])
    status: int = dev.main()
    return status


def test_every_verb_is_documented(dev: Any) -> None:
    """The table of CONTRIBUTING.md, the help and the code name the same verbs."""
    source = (ROOT / "scripts" / "dev").read_text().partition("    actions = {")[2]
    known = set(re.findall(r'^        "(\w+)": ', source, re.MULTILINE))
    table = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `scripts/dev (.*?) \|", table, re.MULTILINE)
    stated = {word for row in rows for word in re.findall(r"(?:^|/ `)(\w+)", row)}
    assert known == stated
    assert known == set(re.findall(r"^(\w+)(?: |$)", dev.__doc__.split("\n\n")[1], re.MULTILINE))


def test_files_are_tested_at_once(dev: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With arguments neither the C++ tests nor anything else runs; without, all does."""
    assert call(dev, monkeypatch, "test", "tests/api/test_cell.py", "-k", "name") == 0
    build, pytest_run = commands(dev)
    assert build.startswith("make dev _core -D")
    assert pytest_run == "python -m pytest tests/api/test_cell.py -k name"
    dev.ran.clear()
    assert call(dev, monkeypatch, "test") == 0
    build, cpp, pytest_run = commands(dev)
    assert "ms_tests" in build and cpp.startswith("ms_tests") and pytest_run == "python -m pytest"


def test_peers_alone_are_heavy(dev: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What builds, lints and tests needs no other framework; one verb installs them."""
    light = " ".join(dev.packages("build", "run", "test", "dev"))
    assert not re.search("torch|scikit-learn", light)
    call(dev, monkeypatch, "peers")
    assert re.search("install .*torch==", commands(dev)[0])


def test_without_peers_all_other_tests_are_there(tmp_path: Path) -> None:
    """Files that compare with PyTorch are skipped, and say so; those beside them are not."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ModuleNotFoundError('no torch')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-rs", "-p", "no:cacheprovider"]
        + ["tests/kernels", "tests/networks", "tests/api/test_optim.py", "tests/api/test_cell.py"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    found = set(re.findall(r"^tests/(\S+?\.py)", done.stdout, re.MULTILINE))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {
        "kernels/test_elementwise.py",
        "api/test_cell.py",
        "networks/test_fusion_networks.py",
    } <= found
    assert not {"kernels/test_sweep_rows.py", "api/test_optim.py"} & found
    assert "needs PyTorch: scripts/dev peers" in done.stdout


@pytest.mark.parametrize(
    ("words", "kinds", "filtered"),
    [
        ((), ["address", "thread"], ""),
        (("thread",), ["thread"], ""),
        (("address", "Conv*"), ["address"], "Conv*"),
        (("Conv*",), ["address", "thread"], "Conv*"),
    ],
)
def test_sanitizers(
    dev: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kinds: list[str], filtered: str
) -> None:  # fmt: skip
    """One kind or both, all tests or some; threads with one OpenMP thread."""
    assert call(dev, monkeypatch, "sanitize", *words) == 0
    builds, runs = dev.ran[::2], dev.ran[1::2]
    assert [re.search(r"sanitize-(\w+)", words)[1] for words, _ in builds] == kinds
    for kind, (line, environment) in zip(kinds, runs):
        assert line.endswith(f"--gtest_filter={filtered}" if filtered else "--gtest_brief=1")
        assert kind != "thread" or environment["OMP_NUM_THREADS"] == "1"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("fuzz",), "python tests/fuzz"),
        (("fuzz", "17"), "python tests/fuzz 17"),
        (("fuzz", "17", "5"), "python tests/fuzz --seed 17 --count 5"),
        (("wild", "ops.chunk"), "python -m wild ops.chunk"),
    ],
)
def test_random_programs(
    dev: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], line: str
) -> None:
    """A seed is replayed; a count goes on from it."""
    assert call(dev, monkeypatch, *words) == 0
    assert commands(dev) == [line]


@pytest.mark.parametrize(
    "words",
    [("fuzz", "x"), ("fuzz", "1", "2", "3"), ("sanitize", "a", "b"), ("dump",), ("dump", "no.py"), ("nothing",)],
)  # fmt: skip
def test_refusals(dev: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """What makes no sense runs nothing."""
    assert call(dev, monkeypatch, *words) == 2
    assert commands(dev) == []


@pytest.mark.parametrize("verb", ["build", "sanitize", "peers", "lint", "stubs"])
def test_help_runs_nothing(
    dev: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any, verb: str
) -> None:
    """Who asks a verb for its help gets the list of all, and nothing is built or installed."""
    assert call(dev, monkeypatch, verb, "--help") == 0
    assert "sanitize [address|thread] [FILTER]" in capsys.readouterr().out
    assert not dev.ran


def test_a_seed_is_replayed() -> None:
    """The command that the verb runs."""
    done = subprocess.run(
        [sys.executable, "tests/fuzz", "3"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and done.stdout.startswith("1 programs"), done.stdout + done.stderr


@pytest.mark.fast_stage
def test_dumps(dev: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """Graphs, plans, kernels and memory of a script are kept; a script that fails shows why."""
    script = tmp_path / "twice.py"
    script.write_text(
        textwrap.dedent("""
            import sys, mindspore as ms
            run = ms.jit(lambda x: ms.ops.softmax(ms.ops.tanh(x + 1)))
            for _ in range(3):
                run(ms.ops.ones((256, 512)))
            raise SystemExit("no more" if sys.argv[1:] else 0)
        """)
    )
    here: dict[str, Any] = {"cwd": tmp_path, "check": False}
    monkeypatch.setattr(dev, "DUMPS", tmp_path / "dump")
    monkeypatch.setattr(
        dev,
        "run",
        lambda command, folder, **options: (
            subprocess.run([sys.executable, *command[1:]], **here, **options).returncode
        ),
    )
    assert call(dev, monkeypatch, "dump", str(script)) == 0
    printed = (tmp_path / "dump" / "twice" / "printed.txt").read_text()
    assert list((tmp_path / "dump" / "twice").glob("*.ir"))
    assert "---- kernel" in printed and "memory of" in printed
    assert "printed.txt" in capsys.readouterr().out
    assert call(dev, monkeypatch, "dump", str(script), "fail") == 1
    assert "no more" in capsys.readouterr().err


NINJA = """
print("[1/3] Building CXX object a.cc.o")
print("a.cc:3: error: no")
print("ccache /usr/bin/c++ -c a.cc")
print("[3/3] Linking")
raise SystemExit({status})
"""


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("logged", [False, True])
def test_progress(tmp_path: Path, status: int, logged: bool) -> None:
    """Messages are shown, or kept and shown if the build fails; never the commands."""
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "progress.py", *(["--log", log] if logged else []),
         sys.executable, "-c", NINJA.format(status=status)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == status
    assert ("error: no" in done.stdout) == (not logged or status != 0)
    assert "c++ -c" not in done.stdout
    assert not logged or "c++ -c" in log.read_text()


def test_a_module_of_another_compiler_goes(dev, monkeypatch, tmp_path):
    package = tmp_path / "mindspore" / "python" / "mindspore"
    package.mkdir(parents=True)
    module = package / "_core.cpython-311-x86_64-linux-gnu.so"
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    for folder, stays in (("dev", True), ("dev", True), ("dev-clang++", False), ("dev", False)):
        module.touch()
        monkeypatch.setattr(dev, "BUILD", tmp_path / "build" / folder)
        dev.really_take_the_module()
        assert module.exists() == stays
