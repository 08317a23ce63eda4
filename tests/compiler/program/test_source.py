"""Whose text a function is: lambdas that share a line, programs given to `python -c`, files that were edited, cells of notebooks
that ran again, and functions without text, which run eagerly, since nobody knows what they read."""

import importlib
import itertools
import linecache
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn
from mindspore.compile.program.errors import RunsEagerly

X = Tensor(np.array([1.0, -2.0], np.float32))
ALIKE = [lambda x: sum([v * 2 for v in [x]]), lambda x: sum([v * 3 for v in [x]])]
NESTED = lambda k: lambda x: (lambda v: v * k)(x) + sum([k for _ in range(2)])


def test_lambdas_that_share_a_line():
    assert [jit(f, fullgraph=True)(X).asnumpy().tolist() for f in ALIKE] == [[2, -4], [3, -6]]
    f, g = (
        (lambda x: max([x, x * 2], key=lambda v: v.sum())),
        (lambda x: sum([w - 1 for w in (x,)])),
    )
    assert jit(f, fullgraph=True)(X).asnumpy().tolist() == [1, -2]
    assert jit(g, fullgraph=True)(X).asnumpy().tolist() == [0, -3]


def test_a_lambda_inside_of_another():
    assert jit(NESTED(3), fullgraph=True)(X).asnumpy().tolist() == [9, 0]


def test_a_function_without_text_runs_eagerly():
    space = {"scale": 2.0, "seen": []}
    exec("def f(x):\n    seen.append(x)\n    return x * scale\n", space)
    f = jit(space["f"])
    with pytest.warns(RunsEagerly, match="'f' could not be parsed"):
        assert f(X).asnumpy().tolist() == [2, -4]
    space["scale"] = 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunsEagerly)
        assert f(X).asnumpy().tolist() == [3, -6]
    assert all(x is X for x in space["seen"]) and len(space["seen"]) == 2
    with pytest.raises(TypeError, match="'f' could not be parsed"):
        jit(space["f"], fullgraph=True)(X)


PROGRAM = """
import mindspore as ms
from mindspore import Tensor, nn, ops

class Net(nn.Cell):
    def construct(self, x):
        while x.sum() < 100:
            x = x * k
        return [v + 1 for v in [x]][0]

k, f = 2, ms.jit(lambda x: x + k if x.sum() > 0 else x - k, fullgraph=True)
ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)
x = ops.ones((2,), ms.float32)
print(Net()(x).asnumpy().tolist(), f(x).asnumpy().tolist())
k = 3
print(Net()(x).asnumpy().tolist(), f(x).asnumpy().tolist())
"""


def test_a_program_on_the_command_line():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert run.stdout.split("\n")[:2] == ["[65.0, 65.0] [3.0, 3.0]", "[82.0, 82.0] [4.0, 4.0]"], (
        run.stderr
    )


def test_what_python_writes_for_data_classes():
    @dataclass(order=True)
    class Pair:
        a: int
        b: int = 2

    @jit(fullgraph=True)
    def function(x):
        return x * 2 if Pair(1) < Pair(2) and Pair(1) == Pair(1, 2) else x

    assert function(X).asnumpy().tolist() == [2, -4]


# ---- what is compiled is what runs --------------------------------------------------------------------------------------
def values(function, *args, **options):
    """What a function gives when it is compiled, and how often it was said to run eagerly."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = function if isinstance(function, nn.Cell) else jit(function, **options)
        result = compiled(X, *args).asnumpy().tolist()
        assert compiled(X, *args).asnumpy().tolist() == result
    return result, sum(issubclass(w.category, RunsEagerly) for w in caught)


def compiled(function):
    return values(function, fullgraph=True)[0]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes and imports a module, or imports it again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = (f"edited_{tmp_path.name}_{i}" for i in itertools.count())
    made = []

    class Module:
        def __init__(self, text):
            self.path = tmp_path / f"{next(names)}.py"
            self.write(text)
            self.now = importlib.import_module(self.path.stem)
            made.append(self.path.stem)

        def write(self, text):
            self.path.write_text(text)
            importlib.invalidate_caches()

        def reload(self, text):
            self.write(text)
            importlib.reload(self.now)

    yield Module
    for name in made:
        sys.modules.pop(name)


def test_a_file_that_was_edited_after_its_import(module):
    m = module("def f(x):\n    return x * 2\n")
    m.write("def f(x):\n    return x * 3\n")
    with pytest.warns(RunsEagerly, match="was changed after 'f' was made from it"):
        assert jit(m.now.f)(X).asnumpy().tolist() == [2, -4]
    with pytest.raises(TypeError, match="was changed after 'f' was made from it"):
        jit(m.now.f, fullgraph=True)(X)
    m.write("def f(x):\n    return x * 2\n")
    assert compiled(m.now.f) == [2, -4]


def test_lines_that_moved_are_found(module):
    text = "def f(x):\n    return x * 2\n\nclass A:\n    g = lambda self, x: x - 1\n"
    m = module(text)
    m.write("# one\n# two\ndef g(x):\n    return x\n\n\n" + text)
    assert compiled(m.now.f) == [2, -4]
    assert compiled(m.now.A().g) == [0, -3]


def test_a_file_that_cannot_be_read_any_more(module):
    m = module("def f(x):\n    return x * 2\n")
    m.write("def f(x:\n")
    assert values(m.now.f) == ([2, -4], 1)
    linecache.checkcache(str(m.path))
    m.path.unlink()
    assert values(m.now.f) == ([2, -4], 1)


def test_a_module_that_was_imported_again(module):
    m = module("def f(x):\n    return x * 2\n")
    unused = m.now.f
    m.reload("def f(x):\n    return x * 3\n")
    assert compiled(m.now.f) == [3, -6]
    assert values(unused) == ([2, -4], 1)  # its text is gone
    known = m.now.f
    m.reload("# a line\ndef f(x):\n    return x * 4\n")
    assert compiled(m.now.f) == [4, -8]
    assert compiled(known) == [3, -6]  # its text has been read


def test_code_that_is_put_into_an_old_function(module):
    """As tools do that reload modules on their own."""
    m = module("def f(x):\n    return x * 2\n")
    function = m.now.f
    step = jit(lambda x: function(x) + 1, fullgraph=True)
    assert step(X).asnumpy().tolist() == [3, -3]
    m.reload("def f(x):\n    return x * 3\n")
    function.__code__ = m.now.f.__code__
    assert step(X).asnumpy().tolist() == [4, -5]


def run_cell(text, name, space):
    """As notebooks run a cell."""
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)


def test_a_cell_of_a_notebook_that_runs_again():
    for name in ("<ipython-input-7-0123456789ab>", "cell"):
        space = {"nn": nn}
        text = "class Net(nn.Cell):\n    def construct(self, x):\n        return x * 2\n\nf = lambda x: x + 1\n"
        run_cell(text, name, space)
        ms.set_context(mode=ms.GRAPH_MODE)
        net, f = space["Net"](), space["f"]
        assert values(net) == ([2, -4], 0)
        run_cell(text.replace("* 2", "* 3").replace("+ 1", "+ 5"), name, space)
        assert values(space["Net"]()) == ([3, -6], 0)
        assert values(net) == ([2, -4], 0)
        assert compiled(space["f"]) == [6, 3]
        assert compiled(f) == [2, -1]  # the cell has been read before


def test_statements_that_are_compiled_one_by_one():
    """As notebooks do: the compiler does not see what is imported."""
    name, space = "<cell of one by one>", {}
    text = "import math\n\ndef f(x):\n    return x * math.sqrt(4)\n"
    lines = text.splitlines(keepends=True)
    linecache.cache[name] = len(text), None, lines, name
    for part in ("".join(lines[:1]), "\n\n" + "".join(lines[2:])):
        exec(compile(part, name, "exec"), space)
    assert compiled(space["f"]) == [2, -4]


def test_classes_of_one_name(module):
    m = module(
        "from mindspore import nn\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x * 2\n\n"
        "first = Net()\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x * 3\n"
    )
    ms.set_context(mode=ms.GRAPH_MODE)
    assert values(m.now.Net()) == ([3, -6], 0)
    assert values(m.now.first) == ([2, -4], 0)


PROGRAM_OF_ALL = """
from __future__ import annotations
import math
K = 3
def f(x, n: int = 2):
    "A docstring."
    def inner(v, k=2, *, m=1.0):
        return v * k + m
    text = "a"
    for i in range(3):
        x = inner(x, k=n) if i in (0, 1) else x - math.pi * K
    return [v for v in (x, text)][0], (lambda a, b: a)(x, 1)
"""
EDITS = [
    *[
        ("k=2", "k=3"),
        ("m=1.0", "m=1"),
        ("v * k", "v + k"),
        ('"a"', '"b"'),
        ("range(3)", "range(4)"),
    ],
    *[
        ("k=n", "m=n"),
        ("i in (0", "i not in (0"),
        ("math.pi", "math.e"),
        ("* K", "* n"),
        ("[0],", "[-1],"),
    ],
    *[("(lambda a, b: a)", "(lambda a, b: b)"), ("A docstring.", "Another."), ("*, m", "m")],
    ("def f(x, n", "def f(n, x"),
]


def test_a_text_with_any_change_is_not_taken():
    """Constants, names, operators, nested functions; the text of a nested one makes its code, too."""
    name = "<a text with changes>"
    for old, new in EDITS:
        assert PROGRAM_OF_ALL.count(old) == 1
        space: dict = {}
        exec(compile(PROGRAM_OF_ALL, name, "exec"), space)
        edited = PROGRAM_OF_ALL.replace(old, new)
        linecache.cache[name] = len(edited), None, edited.splitlines(keepends=True), name
        with pytest.raises(TypeError, match="was changed after 'f' was made"):
            jit(space["f"], fullgraph=True)(X)
    run_cell(PROGRAM_OF_ALL.replace("math.pi", " math . pi  # a comment"), name, space)
    run_cell(PROGRAM_OF_ALL, name, space)
    jit(space["f"], fullgraph=True)(X)


def _named(**named):
    return named


class __Private(nn.Cell):
    def __init__(self):
        super().__init__()
        self.__k = 3

    def construct(self, x):
        def __times(v, __m=self.__k, *, __n=1):
            nonlocal __seen
            __seen = v
            return v * __m * __n

        __seen = None
        match [x]:
            case [__first]:
                __pi = __times(__first) * _named(__n=1)["__n"]
        from math import pi as __other

        return super().construct(x) if self.training else (__pi, __seen, self.__one(__other))

    def __one(self, __value):
        return __value**0


_Private = globals()["__Private"]


def test_what_decides_beside_the_text():
    """Names of a class, variables around, `super()`, and assertions, which pytest has rewritten here."""
    k = 2

    def with_assertion(x):
        assert k == 2, "a message"
        assert x.shape == (2,)
        return x * k

    assert compiled(with_assertion) == [2, -4]


def test_private_names_of_a_class():
    net = _Private()
    ms.set_context(mode=ms.GRAPH_MODE)
    net.set_jit_config(ms.JitConfig(jit_syntax_level="STRICT"))
    results = net(X)
    assert [r.asnumpy().tolist() for r in results[:2]] == [[3, -6], [1, -2]] and results[2] == 1


def test_a_text_that_warns(tmp_path):
    """Also where warnings are errors by now."""
    space: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_cell("def f(x):\n    return x * 2 if 1 is 1 else x\n", "<text that warns>", space)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit(space["f"], fullgraph=True)(X).asnumpy().tolist() == [2, -4]


def test_a_module_that_its_loader_rewrote(module):
    class Loader(importlib.machinery.SourceFileLoader):
        def source_to_code(self, data, path, *, _optimization=-1):
            text = importlib.util.decode_source(data).replace("* 2", "* 3")
            return compile(text, path, "exec", dont_inherit=True)

    path = module("def f(x):\n    return x * 2\n").path
    spec = importlib.util.spec_from_file_location(
        "rewritten", path, loader=Loader("rewritten", str(path))
    )
    rewritten = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rewritten)
    assert values(rewritten.f) == ([3, -6], 1)


def test_long_files(module):
    """Only the function is parsed, where that is certain."""
    filler = "".join(f"a{i} = {i}\n" for i in range(21_000))
    inside = (
        "class A:\n    k = 3\n    def __g(self, x):\n        return x * self.__k\n    __k = 4\n"
    )
    m = module(f"import math\n{filler}def f(x):\n    return x * math.sqrt(4)\n{inside}")
    assert compiled(m.now.f) == [2, -4]
    assert compiled(m.now.A()._A__g) == [4, -8]
    m.write(Path(m.path).read_text().replace("sqrt(4)", "sqrt(9)"))
    m.reload(Path(m.path).read_text())
    assert compiled(m.now.f) == [3, -6]
