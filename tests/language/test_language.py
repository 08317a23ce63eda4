"""Each construct of docs/language.md gives one result in both modes, with its gradient, compiled whole or not as the page says."""

import importlib
import inspect
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, nn
from mindspore.common._tree import flatten

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
CASES = importlib.import_module("caselib").CASES
for file in sorted(HERE.glob("cases_*.py")):
    importlib.import_module(file.stem)


@pytest.fixture(autouse=True)
def pynative():
    yield
    context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)


def run(case, mode, gradient=False):
    """The results of a fresh program, called twice, and its Parameters."""
    context.set_context(mode=mode)
    program = case.program() if inspect.isclass(case.program) else case.program
    if gradient:
        total = ms.grad(lambda *args: sum(t.sum() for t in flatten(program(*args))))
        call = ms.jit(total) if mode == context.GRAPH_MODE else total
    elif isinstance(program, nn.Cell) or mode == context.PYNATIVE_MODE:
        call = program
    else:
        call = ms.jit(program)
    values = [call(*case.inputs()) for _ in range(2)]
    state = [p.asnumpy() for p in program.get_parameters()] if isinstance(program, nn.Cell) else []
    return values, state


def same(a, b):
    assert type(a) is type(b) or isinstance(a, Tensor), (a, b)
    if isinstance(a, Tensor):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        same(list(a.values()), list(b.values()))
    else:
        assert a == b or a is b


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_both_modes_agree(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eager, state = run(case, context.PYNATIVE_MODE)
        graph, graph_state = run(case, context.GRAPH_MODE)
    same(graph, eager)
    for a, b in zip(graph_state, state):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_what_compiles_whole(case):
    context.set_context(jit_syntax_level=context.STRICT)
    if case.lines is None:
        run(case, context.GRAPH_MODE)
        return
    with pytest.raises((TypeError, IndexError)):
        run(case, context.GRAPH_MODE)


@pytest.mark.parametrize("case", [c for c in CASES if c.gradient], ids=lambda c: c.name)
def test_gradients_agree(case):
    eager, _ = run(case, context.PYNATIVE_MODE, gradient=True)
    context.set_context(jit_syntax_level=context.STRICT)
    graph, _ = run(case, context.GRAPH_MODE, gradient=True)
    same(graph, eager)


def test_the_page_is_fresh():
    root = HERE.parents[1]
    script = root / "scripts" / "make_language_docs.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_are_unique():
    names = [c.name for c in CASES]
    assert len(names) == len(set(names))
