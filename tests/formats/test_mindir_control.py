"""Branches and loops in MINDIR files: those of MindSpore 2.10 run here in both modes, and what cannot be run is refused."""

from __future__ import annotations

import numpy as np
import pytest
from filelib import mutants, overwrite
from mindirlib import floats, same

import mindspore as ms
from mindspore import Tensor, _core, nn


@pytest.fixture(params=["compiled", "eager"])
def mode(request):
    before = ms.get_context("mode"), ms.get_context("jit_syntax_level")
    compiled = request.param == "compiled"
    # STRICT: an error where conditions would be looked at eagerly.
    ms.set_context(mode=ms.GRAPH_MODE if compiled else ms.PYNATIVE_MODE, jit_syntax_level=ms.STRICT)
    yield request.param
    ms.set_context(mode=before[0], jit_syntax_level=before[1])


@pytest.fixture
def cell_of(golden):
    return lambda name: nn.GraphCell(ms.load(str(golden / f"mindspore_2_10_{name}.mindir")))


@pytest.mark.parametrize("name", ["branch", "loop", "nested"])
def test_files_of_mindspore_run(golden, cell_of, name, mode):
    kept = np.load(golden / f"mindspore_2_10_{name}.npz")
    wanted = tuple(Tensor(kept[f"y{i}"]) for i in range(len(kept.files) - 1))
    found = cell_of(name)(Tensor(kept["x"]))
    same(found, wanted if len(wanted) > 1 else wanted[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["ways", "joins"])
def test_ways_through_a_loop(golden, cell_of, name, mode):
    """`break`, `continue`, `return` out of two loops; branches in a row, after which a turn goes on."""
    kept, cell = np.load(golden / f"mindspore_2_10_{name}.npz"), cell_of(name)
    for at, x in enumerate(kept["x"]):
        wanted = tuple(Tensor(kept[f"y{i}"][at]) for i in range(len(kept.files) - 1))
        same(cell(Tensor(x)), wanted, rtol=1e-5, atol=1e-6)


def test_gradients_of_a_loop_with_ways_out(golden, cell_of, mode):
    cell = cell_of("ways")
    at = np.load(golden / "mindspore_2_10_ways.npz")["x"][5]
    found = ms.grad(lambda x: cell(x)[0].sum())(Tensor(at)).asnumpy()
    for i in range(3):
        step = np.zeros_like(at)
        step[0, i] = 1e-3
        up, down = (float(cell(Tensor(at + s))[0].asnumpy().sum()) for s in (step, -step))
        np.testing.assert_allclose(found[0, i], (up - down) / 2e-3, rtol=5e-2, atol=5e-2)


def test_both_branches(golden, cell_of, mode):
    """The network: LeNet's head, then twice the result where its sum is positive, else its tanh less one."""
    cell, seen = cell_of("branch"), set()
    for seed in range(8):
        y, most = cell(floats(1, 1, 8, 8, seed=seed))
        below = bool((y.asnumpy() <= 0).all() and (y.asnumpy() >= -2).all())
        seen.add(below)
        assert most.asnumpy() == y.asnumpy().max()
    assert seen == {True, False}


def test_loops_of_any_length(cell_of, mode):
    cell = cell_of("loop")
    for first in (200.0, 99.0, 1.0, 1e-20):
        x, count = np.float32([[first, 0, 0]]), 0
        while x.sum() < 100:
            x, count = x * 2, count + 1
        same(cell(Tensor(np.float32([[first, 0, 0]]))), (Tensor(x), Tensor(count, ms.int32)))


def test_gradients_go_through(cell_of, mode):
    cell = cell_of("nested")
    at = np.float32([[0.5, 1.0, 2.5]])
    found = ms.grad(lambda x: cell(x).sum())(Tensor(at)).asnumpy()
    for i in range(3):
        step = np.zeros_like(at)
        step[0, i] = 1e-2
        up, down = (float(cell(Tensor(at + s)).asnumpy().sum()) for s in (step, -step))
        np.testing.assert_allclose(found[0, i], (up - down) / 2e-2, rtol=5e-2, atol=5e-2)
    weights = list(cell.trainable_params())
    assert [p.name for p in weights] == ["fc.weight", "fc.bias"]
    _, gradients = ms.value_and_grad(lambda x: cell(x).sum(), None, weights)(Tensor(at))
    assert all(gradient.asnumpy().any() for gradient in gradients)


def changed(golden, tmp_path, name, change):
    """A file of MindSpore with something else in it."""
    model, _ = _core.mindir.read(str(golden / f"mindspore_2_10_{name}.mindir"))
    change(model)
    path = tmp_path / "net.mindir"
    _core.mindir.write(str(path), model)
    return str(path)


def _nodes(model, kind):
    graphs = [model["graph"], *model["functions"]]
    return [n for g in graphs for n in g.get("node", []) if n["op_type"].startswith(f"REF::{kind}")]


def _one_argument_less(model):
    _nodes(model, "Partial")[0]["input"].pop()


def _no_such_graph(model):
    model["functions"].pop()


def _twice(model):
    model["functions"].append(model["functions"][0])


def _no_graph_called(model):
    _nodes(model, "Partial")[0]["input"][0] = model["graph"]["input"][0]["name"]


def _calls_itself(model):
    """The graph of a branch begins with a call of itself."""
    graph = model["functions"][0]
    inputs = [i["name"] for i in graph["input"]]
    call = {
        "input": inputs,
        "output": ["again"],
        "name": "again",
        "op_type": f"REF::{graph['name']}",
    }
    graph["node"].insert(0, call)


def _calls_double(model):
    """Graphs that call the next one twice: 2 to the power of 40 nodes."""
    graph = model["functions"][0]
    names = [f"f{i}" for i in range(40)]
    for at, name in enumerate(names):
        target = names[at + 1] if at < 39 else graph["name"]
        inputs = [{**i, "name": f"{name}:{i['name']}"} for i in graph["input"]]
        calls = [
            {"input": [i["name"] for i in inputs], "output": [f"{name}:{n}"], "name": f"{name}:{n}", "op_type": f"REF::{target}"}
            for n in range(2)
        ]  # fmt: skip
        output = [{**graph["output"][0], "name": f"{name}:1"}]
        model["functions"].append({"name": name, "input": inputs, "node": calls, "output": output})
    for node in _nodes(model, "Partial"):
        if node["input"][0] == graph["name"]:
            node["input"][0] = "f0"


WRONG = {
    "one argument less": (_one_argument_less, "takes . arguments, but is given ."),
    "no such graph": (_no_such_graph, "is read before there is such a value"),
    "twice": (_twice, "two graphs of the name"),
    "no graph": (_no_graph_called, "there is no op like the primitive 'Partial'"),
    "itself": (_calls_itself, "calls itself otherwise than a loop does"),
    "double": (_calls_double, "call each other too often"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_branch(golden, tmp_path, name):
    change, words = WRONG[name]
    with pytest.raises(ValueError, match=f"(?s)For 'load', the MINDIR file .*{words}"):
        ms.load(changed(golden, tmp_path, "branch", change))


@pytest.mark.parametrize("name", ["branch", "loop", "nested", "ways", "joins"])
def test_mutants_load_or_are_refused(tmp_path, golden, name):
    whole, path = (golden / f"mindspore_2_10_{name}.mindir").read_bytes(), tmp_path / "net.mindir"
    for damaged in mutants(whole, 300, 7):
        overwrite(path, damaged)
        try:
            ms.load(str(path))
        except ValueError as error:
            assert "MINDIR file" in str(error)
