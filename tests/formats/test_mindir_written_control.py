"""Branches and loops in MINDIR files that are written here: the numbers of the network, in both modes; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from filelib import mutants, overwrite
from mindirlib import Function, floats, same, through

import mindspore as ms
from mindspore import Tensor, _core, nn, ops
from mindspore.model_zoo import lstm, transformer


@pytest.fixture(params=["compiled", "eager"])
def mode(request):
    before = ms.get_context("mode"), ms.get_context("jit_syntax_level")
    compiled = request.param == "compiled"
    ms.set_context(mode=ms.GRAPH_MODE if compiled else ms.PYNATIVE_MODE, jit_syntax_level=ms.STRICT)
    yield request.param
    ms.set_context(mode=before[0], jit_syntax_level=before[1])


def count(x):
    """A number that only a run knows."""
    return ops.abs(x).sum().astype(ms.int32)


def _if(x):
    if x.sum() > 0:
        y = x * 2
    elif x.min() < -2:
        return x - 5, x.sum()
    else:
        y = ops.tanh(x)
    return y + 1, x.max()


def _one_side(x):
    y = x
    if x.sum() > 0:
        y = ops.zeros((1, 3), ms.float32)
    return y


def _while(x):
    i = Tensor(0, ms.int32)
    while x.sum() < 100 and i < 9:
        x = x * 2 + 1
        i = i + 1
    return x, i


def _swap(x):
    a, b, n = x, x * 2, count(x)
    while n > 0:
        a, b = b, a + b
        n = n - 1
    return a, b


def _ways(x):
    """Left by break, by return and by its condition."""
    i = count(x) * 0
    while i < 6:
        i = i + 1
        if x.min() > 4:
            continue
        j = i * 0
        while j < i:
            x = x + ops.abs(x) + 0.5
            if x.sum() > 40:
                return x, i, j
            j = j + 1
        if x.max() < 3:
            break
    return x - 1, i, i * 2


def _for(x):
    total = x[0] * 0
    for row in x:
        if row.sum() > 0:
            total = total + row
    return total


def _known_rounds(x):
    i = Tensor(0, ms.int32)
    while i < 200:
        x = x * 1.01
        if x.sum() > 20:
            break
        i = i + 1
    return x, i


def _rows(x):
    i, out = Tensor(0, ms.int32), ops.zeros((4, 3), ms.float32)
    while i < 4:
        out[i] = x[0] * i
        i += 1
    return out


@ms.jit
def _larger(x, y):
    if x.sum() > y.sum():
        return x - y
    return y - x


def _calls(x):
    return _larger(x, x * 2) + _larger(x * 3, x)


def _tail(x):
    def product(x, n):
        if n <= 1:
            return x
        return product(x * n, n - 1)

    return product(x, count(x))


def _nested(x):
    def both(x):
        if x.sum() > 0:
            return x, x * 2, x + 3
        return -x, x, x * 5

    a, b, c = both(x)
    return a, (b, c)


def _half(x):
    x = x.astype(ms.float16)
    while ops.abs(x).sum() < 100:
        x = x * 2 + 0.5
    return x


PROGRAMS = {f.__name__[1:]: f for f in (_if, _one_side, _while, _swap, _ways, _for, _known_rounds, _rows, _calls, _tail, _nested, _half)}  # fmt: skip
STARTS = [np.float32([[1, 2, 3]]) * by for by in (1, -1, 1 / 3, 4)] + [np.float32([[-1, 0.5, 5]])]


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(tmp_path, name, mode):
    net, first = Function(PROGRAMS[name]), Tensor(STARTS[0])
    again = through(net, first, path=tmp_path / "net.mindir")
    for start in STARTS:
        same(again(Tensor(start)), net(Tensor(start)))
    # Once more, from what was read.
    third = through(again, first, path=tmp_path / "again.mindir")
    for start in STARTS:
        same(third(Tensor(start)), net(Tensor(start)))


class Weighted(nn.Cell):
    """Weights in a loop, and in one side of a branch."""

    def __init__(self):
        super().__init__()
        self.turn, self.side = nn.Dense(3, 3), nn.Dense(3, 3)

    def construct(self, x):
        n = count(x)
        while n > 0:
            x = ops.tanh(self.turn(x))
            n = n - 1
        if x.sum() > 0:
            x = self.side(x)
        return x


def test_weights_and_gradients(tmp_path, mode):
    net = Weighted()
    again = through(net, Tensor(STARTS[0]), path=tmp_path / "net.mindir")
    assert [p.name for p in again.trainable_params()] == [p.name for p in net.trainable_params()]
    for start in STARTS:
        x = Tensor(start)
        same(again(x), net(x))
        found, wanted = (
            ms.value_and_grad(lambda x, cell=cell: cell(x).sum(), None, list(cell.trainable_params()))(x)[1]
            for cell in (again, net)
        )  # fmt: skip
        same(found, wanted, rtol=1e-5, atol=1e-6)


class Greedy(nn.Cell):
    """Word after word, until all sentences have ended or the longest is reached."""

    def __init__(self, net, longest, end):
        super().__init__()
        self.net, self.longest, self.end = net, longest, end

    def construct(self, source, words):
        at = words.sum() * 0
        places = ops.arange(self.longest)
        while at < self.longest - 1:
            best = self.net(source, words).argmax(-1).astype(ms.int32)
            new = ops.logical_and(places == at + 1, words == 0)
            words = ops.select(new, ops.concat((words[:, :1], best[:, :-1]), 1), words)
            if (words == self.end).any(1).all():
                break
            at = at + 1
        return words, at


def test_a_sequence_is_decoded_word_by_word(tmp_path, mode):
    rng = np.random.default_rng(0)
    net = Greedy(transformer.Seq2Seq(8, 5, 8, 2, 1), 5, 3)
    first = np.zeros((2, 5), np.int32)
    first[:, 0] = 1
    sources = [Tensor(rng.integers(2, 8, (2, 5)).astype(np.int32)) for _ in range(3)]
    again = through(net, sources[0], Tensor(first), path=tmp_path / "net.mindir")
    for source in sources:
        same(again(source, Tensor(first)), net(source, Tensor(first)))


def test_a_text_is_read_until_it_is_clear(tmp_path, mode):
    net = lstm.SentimentNet(10, 4, 4).set_train(False)

    def read(texts):
        at, scores = texts.sum() * 0, net(texts)
        while at < 3 and ops.abs(scores).max() < 5:
            scores = scores + net(ops.clamp(texts + at, 0, 9))
            at = at + 1
        return scores, at

    texts = Tensor(np.arange(12, dtype=np.int32).reshape(2, 6) % 10)
    again = through(Function(read), texts, path=tmp_path / "net.mindir")
    same(again(texts), read(texts), rtol=1e-5, atol=1e-6)


def test_the_layout(tmp_path):
    """As MindSpore has it: a loop is a graph at whose end a choice of two is called, one of which calls it again."""
    through(Function(_while), Tensor(STARTS[0]), path=tmp_path / "net.mindir")
    model, checked = _core.mindir.read(str(tmp_path / "net.mindir"))
    assert checked
    graphs = {graph["name"]: graph for graph in model["functions"]}
    loop = next(name for name in graphs if name.endswith("_loop"))
    assert any(node["op_type"] == f"REF::{loop}" for node in model["graph"]["node"])
    end = graphs[loop]["node"][-1]
    assert end["output"][0] == graphs[loop]["output"][0]["name"]
    switch = next(n for n in graphs[loop]["node"] if f"REF::{n['output'][0]}" == end["op_type"])
    assert switch["op_type"].startswith("REF::Switch")
    body = next(graph for name, graph in graphs.items() if name.endswith("_body"))
    assert body["node"][-1]["op_type"] == f"REF::{loop}"


def _sum(x):
    def total(x, n):
        if n <= 0:
            return x
        return x * n + total(x + 1, n - 1)

    return total(x, count(x))


def _unknown(x):
    while x.sum() < 10:
        x = ops.cholesky(x) + 1
    return x


REFUSED = {
    "recursion": (_sum, "the op 'Call' is a function that calls itself otherwise than at its end"),
    "an op in a loop": (_unknown, "the op 'Cholesky' has no counterpart in MINDIR files"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_line(tmp_path, name):
    function, says = REFUSED[name]
    path = tmp_path / "net.mindir"
    with pytest.raises(ValueError, match=f"(?s)For 'export', {says}.*test_mindir_written_control"):
        ms.export(Function(function), floats(3, 3), file_name=str(path), file_format="MINDIR")
    assert not path.exists()


@pytest.mark.parametrize("name", ["if", "ways"])
def test_damage_is_found(tmp_path, name):
    path = tmp_path / "net.mindir"
    through(Function(PROGRAMS[name]), Tensor(STARTS[0]), path=path)
    for damaged in mutants(path.read_bytes(), 500, 11):
        overwrite(path, damaged)
        with pytest.raises(ValueError, match="MINDIR file"):
            ms.load(str(path))
