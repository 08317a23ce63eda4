"""How Python itself is run, and watched, does not change what a program gives: -O and -OO, files in archives and without text, names
of files that the locale cannot decode, debuggers, tracers and profilers."""

from __future__ import annotations

import bdb
import cProfile
import importlib
import io
import os
import pdb
import py_compile
import subprocess
import sys
import threading
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly

X = Tensor(np.array([1.0, -2.0], np.float32))

# ---- -O, -OO, and where the program lies --------------------------------------------------------------------------------
PROGRAM = '''
import functools
import sys
import warnings

import numpy as np

import mindspore as ms
from mindspore import Tensor, jit, nn, ops

x = Tensor(np.array([1.0, -2.0], np.float32))


def documented(x):
    """What it does."""
    return x


def asserts(x):
    assert x.sum() > 0, "positive"
    return x * 2


def asserts_what_is_known(x):
    assert x.shape[0] == 3
    return x * 2


def asserts_with_effects(x):
    items = [1]
    assert items.pop() == 1
    return x * len(items)


def asserts_in_a_loop(x):
    for i in range(3):
        assert i < 2
        x = x + i
    return x


def debug(x):
    if __debug__:
        return x + 1
    return x * 2 if x.sum() < 0 and not __debug__ else (lambda v: v + __debug__)(x)


def assigns_in_an_assertion(x):
    assert (y := x.sum()) < 100
    return y


def docstrings(x):
    def inner(v):
        """What it does
        inside."""
        return v

    @functools.wraps(documented)
    def wrapper(v):
        return v

    other = wrapper.__doc__
    wrapper.__doc__ = "changed"
    texts = documented.__doc__, inner.__doc__, other, wrapper.__doc__, (lambda: 1).__doc__
    return x * sum(len(text or "") for text in texts)


def fails(x):
    return ops.matmul(x, x[:1])


def fails_when_it_runs(x):
    if x.sum() < 0:
        raise ValueError(f"the sum is {x.sum()}")
    return x


def breaks(x):
    return x * float(np.sum(x.asnumpy()))


class Net(nn.Cell):
    def construct(self, x):
        assert self.training
        return x * 2


def shown(function, compiled):
    try:
        result = str(function(x))
    except Exception as error:
        print(error)
        print(repr(error))
        return type(error).__name__, str(error).partition("\\n")[0]
    return result


functions = [asserts, asserts_what_is_known, asserts_with_effects, asserts_in_a_loop, debug]
functions += [assigns_in_an_assertion, docstrings, fails, fails_when_it_runs]
for function in functions:
    one, two = shown(function, False), shown(jit(function, fullgraph=True), True)
    if one != two:
        sys.exit(f"{function.__name__}: {one} but {two}")
ms.set_context(mode=ms.GRAPH_MODE)
results = shown(Net(), True), shown(jit(breaks), True)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    shown(jit(breaks), True)
    shown(jit(breaks, fullgraph=True), True)
print(*results)
'''


@pytest.mark.parametrize("option, locale", [("-O", "C"), ("-OO", "")])
def test_a_program_without_assertions(tmp_path, option, locale):
    """In a folder of which the locale can decode nothing; messages that show its name can be printed."""
    folder = os.path.join(os.fsencode(tmp_path), b"\xff\xc3\xa9")
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("the file system takes only names in UTF-8")
    Path(os.fsdecode(folder), "main.py").write_text(PROGRAM)
    settings = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} if locale else {}
    run = subprocess.run(
        [sys.executable, option, os.path.join(folder, b"main.py")],
        capture_output=True,
        env={**os.environ, **settings},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode().splitlines()[-1] == "[ 2. -4.] [-1.  2.]"
    assert rb"\udcff" in run.stdout and b"Error" not in run.stderr


# ---- files without text -------------------------------------------------------------------------------------------------
MODULE = """
from mindspore import nn

def helper(x):
    return x + 1

class Net(nn.Cell):
    def construct(self, x):
        return helper(x) * 3
"""


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def load(name):
        made.append(name)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield load
    for name in made:
        sys.modules.pop(name)


def test_a_module_without_its_text(tmp_path, imported):
    """There is only what Python compiled."""
    path = tmp_path / "has_no_text.py"
    path.write_text(MODULE)
    py_compile.compile(str(path), cfile=str(path.with_suffix(".pyc")))
    path.unlink()
    ms.set_context(mode=ms.GRAPH_MODE)
    net = imported(path.stem).Net()
    with pytest.warns(RunsEagerly, match="'construct' could not be parsed") as caught:
        for _ in range(3):
            assert net(X).asnumpy().tolist() == [6, -3]
    assert len(caught) == 1


def test_a_module_in_an_archive(tmp_path, imported, monkeypatch):
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lies_in_an_archive.py", MODULE)
    monkeypatch.syspath_prepend(path)
    module = imported("lies_in_an_archive")
    ms.set_context(mode=ms.GRAPH_MODE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module.Net()(X).asnumpy().tolist() == [6, -3]
    with pytest.raises(TypeError, match="return x"):
        module.Net()("text")


# ---- who watches --------------------------------------------------------------------------------------------------------
class Watched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)), name="w")

    def construct(self, x):
        y = ops.matmul(self.w, x)
        if y.sum() > 0:
            y = y * 2
        rows = [v + i for i, v in enumerate(y)]
        return ops.stack(rows) * float(np.max(y.asnumpy()))


def results():
    """What the modes give, and whether they agree."""
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        net = Watched()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunsEagerly)
            found.append(net(X).asnumpy().tolist())
            found.append(ms.grad(net)(X).asnumpy().tolist())
            assert net(X).asnumpy().tolist() == found[-2]
    assert found[:2] == found[2:]
    return found


def _looks(frame, event, argument):
    """A debugger's trace function: reading variables makes another dict of them."""
    frame.f_trace_opcodes = True
    len(dict(frame.f_locals))
    return _looks


class Debugger(bdb.Bdb):
    stops = 0

    def user_line(self, frame):
        self.stops += self.break_here(frame)
        self.set_continue()


def _with_debugger():
    debugger = Debugger()
    line = Watched.construct.__code__.co_firstlineno + 2
    debugger.set_break(__file__, line)
    found = debugger.runcall(results)
    assert debugger.stops >= 3  # in PYNATIVE_MODE, at least
    return found


def _with_pdb():
    commands = f"b {Watched.construct.__code__.co_firstlineno + 1}\n" + "c\np 1 + 1\n" * 9
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=io.StringIO(), readrc=False)
    debugger.prompt = ""
    return debugger.runcall(results)


def _with_profiler():
    profiler = cProfile.Profile()
    return profiler.runcall(results)


def _with_coverage():
    coverage = pytest.importorskip("coverage").Coverage(data_file=None, branch=True)
    coverage.start()
    try:
        return results()
    finally:
        coverage.stop()


@pytest.mark.parametrize("watch", ["trace", "profile", "bdb", "pdb", "cProfile", "coverage"])
def test_who_watches_changes_nothing(watch):
    plain, before = results(), (sys.gettrace(), sys.getprofile())
    ways = {"bdb": _with_debugger, "pdb": _with_pdb, "cProfile": _with_profiler}
    try:
        if watch == "trace":
            threading.settrace(_looks)
            sys.settrace(_looks)
        elif watch == "profile":
            sys.setprofile(lambda *_: None)
        watched = {**ways, "coverage": _with_coverage}.get(watch, results)()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        threading.settrace(None)
    assert watched == plain


def stops(x):
    y = x * 2
    breakpoint()
    return y


def stops_in_pdb(x):
    y = x * 2
    pdb.set_trace()
    return y


def prints_where_it_is(x):
    stack = traceback.extract_stack()
    return x * (2 if stack[-1].name == "prints_where_it_is" else 3)


def looks_at_its_frame(x):
    return x * (2 if "x" in sys._getframe().f_locals else 3)


@pytest.mark.parametrize("function", [stops, stops_in_pdb, prints_where_it_is, looks_at_its_frame])
def test_what_looks_at_the_frame_that_calls_it(function, monkeypatch):
    """It is the user's: the call runs eagerly."""
    seen = []
    look = lambda *_, **__: seen.append(sys._getframe(1).f_code.co_name)
    monkeypatch.setattr(sys, "breakpointhook", look)
    look.__module__ = "pdb"
    monkeypatch.setattr(pdb, "set_trace", look)
    compiled = jit(function)
    with pytest.warns(RunsEagerly, match="looks at the frame that calls it") as caught:
        for _ in range(2):
            assert compiled(X).asnumpy().tolist() == [2, -4]
    assert len(caught) == 1
    assert seen == ([function.__name__] * 2 if "stops" in function.__name__ else [])
    with pytest.raises(TypeError, match="looks at the frame that calls it"):
        jit(function, fullgraph=True)(X)
