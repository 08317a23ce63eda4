"""Whose text a function is: lambdas that share a line, programs given to `python -c`, and functions without text, which run
eagerly, since nobody knows what they read."""

import subprocess
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from mindspore import Tensor, jit
from mindspore.compile.errors import RunsEagerly

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
