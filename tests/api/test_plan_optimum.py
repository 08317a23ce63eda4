"""The search finds what an integer program finds: HiGHS is the referee, on the training step of a block of a GPT."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, nn, ops
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import explain

NEVER = 1e17  # seconds from which on a choice is forbidden
WIDTH, HEADS, VOCABULARY = 256, 4, 4096


class Block(nn.Cell):
    """Attention and a feed-forward network, with what goes around them."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Dense(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))

    def heads(self, x: Tensor) -> Tensor:
        """[batch, heads, positions, width of a head]."""
        return x.reshape(x.shape[0], x.shape[1], HEADS, -1).transpose(0, 2, 1, 3)

    def construct(self, x: Tensor) -> Tensor:
        """The block."""
        h = self.norm1(x)
        scores = ops.matmul(self.heads(self.q(h)), self.heads(self.k(h)).swapaxes(2, 3))
        mixed = ops.matmul(ops.softmax(scores, -1), self.heads(self.v(h)))
        x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Gpt(nn.Cell):
    """An embedding, a block, and logits."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.block = nn.Embedding(VOCABULARY, WIDTH), Block()
        self.head = nn.Dense(WIDTH, VOCABULARY, has_bias=False)

    def construct(self, ids: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        logits = self.head(self.block(self.table(ids)))
        return ops.cross_entropy(logits.reshape(-1, VOCABULARY), labels.reshape(-1))


def least(model: tuple) -> float:
    """The optimum of vectors and tables as an integer program."""
    optimize = pytest.importorskip("scipy.optimize")
    sparse = pytest.importorskip("scipy.sparse")
    own, pairs, tables = model
    first = np.cumsum([0, *map(len, own)])
    costs = [np.concatenate([np.array(vector, np.float64) for vector in own])]
    rows, columns, values, right = [], [], [], []

    def equation(terms: list[tuple[int, float]], result: float) -> None:
        for column, value in terms:
            rows.append(len(right))
            columns.append(column)
            values.append(value)
        right.append(result)

    for v, vector in enumerate(own):
        equation([(first[v] + s, 1.0) for s in range(len(vector))], 1.0)
    count = first[-1]
    for source, to, number in pairs:
        height, width, entries = tables[number]
        costs.append(np.array(entries, np.float64))
        for i in range(height):
            cells = [(count + i * width + j, 1.0) for j in range(width)]
            equation([*cells, (first[source] + i, -1.0)], 0.0)
        for j in range(width):
            cells = [(count + i * width + j, 1.0) for i in range(height)]
            equation([*cells, (first[to] + j, -1.0)], 0.0)
        count += height * width
    cost = np.concatenate(costs)
    forbidden = cost >= NEVER
    matrix = sparse.csr_matrix((values, (rows, columns)), shape=(len(right), count))
    whole = np.zeros(count)
    whole[: first[-1]] = 1  # those of pairs follow
    scale = 1e6  # seconds are small for its tolerances
    found = optimize.milp(
        np.where(forbidden, 0, cost) * scale,
        integrality=whole,
        bounds=optimize.Bounds(0, np.where(forbidden, 0, 1)),
        constraints=optimize.LinearConstraint(matrix, right, right),
        options={"mip_rel_gap": 1e-7},
    )
    assert found.status == 0, found.message
    return float(found.fun) / scale


@pytest.mark.parametrize(
    ("devices", "batch"), [(2, 8), (4, 2), pytest.param(4, 64, marks=pytest.mark.slow)]
)
def test_the_plan_of_a_gpt_is_the_optimum(devices, batch, monkeypatch):
    with no_init_parameters():
        net = Gpt()
        step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 1e-4)).set_train()
    plan, shown = _core.plan, {}
    monkeypatch.setattr(_core, "plan", lambda trace: shown.update(plan(trace, True)) or shown)
    ids = Tensor(shape=(batch, 64), dtype=ms.int32)
    made = explain(step, ids, ids, devices=devices, topology="pcie4")
    assert made.data["exact"]
    assert shown["cost"] == pytest.approx(least(shown["model"]), rel=1e-5)
