"""The networks that divided.py has two processes train: each with its data, and with the Parameters that are laid in all ways."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


class Case(NamedTuple):
    """A network that returns its loss."""

    net: nn.Cell
    data: tuple[np.ndarray, ...]
    laid: tuple[str, ...]  # names that Parameters end with


class Error(nn.Cell):
    """The mean square of what a network is off."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__()
        self.net = net

    def construct(self, *data: Any) -> Tensor:
        return ((self.net(*data[:-1]) - data[-1]) ** 2).mean()


def _floats(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    draw = np.random.RandomState(0)
    return tuple(draw.randn(*shape).astype(np.float32) for shape in shapes)


def mlp() -> Case:
    net = nn.SequentialCell(nn.Dense(512, 2048), nn.ReLU(), nn.Dense(2048, 512))
    return Case(Error(net), _floats((256, 512), (256, 512)), ("0.weight", "2.weight"))


def deep() -> Case:
    net = nn.SequentialCell([nn.SequentialCell(nn.Dense(768, 768), nn.Tanh()) for _ in range(4)])
    return Case(Error(net), _floats((128, 768), (128, 768)), ("0.0.weight", "1.0.weight"))


def convolutions() -> Case:
    net = nn.SequentialCell(
        nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(),
        nn.Dense(32 * 256, 128),
    )  # fmt: skip
    return Case(Error(net), _floats((16, 16, 16, 16), (16, 128)), ("2.weight", "5.weight"))


def attention() -> Case:
    ms.set_seed(0)
    net = Layer(256, norms=False)
    return Case(Error(net), _floats((8, 64, 256), (8, 64, 256)), ("up.weight", "down.weight"))


class Table(nn.Cell):
    """Rows of a table, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.head = nn.Embedding(20000, 128), nn.Dense(128 * 8, 256)

    def construct(self, ids: Tensor) -> Tensor:
        return self.head(self.rows(ids).reshape(ids.shape[0], -1))


def table() -> Case:
    ids = np.random.RandomState(0).randint(0, 20000, (512, 8)).astype(np.int32)
    data = (ids, *_floats((512, 256)))
    return Case(Error(Table()), data, ("rows.embedding_table", "head.weight"))


class Layer(nn.Cell):
    """That of a Transformer, with eight heads."""

    def __init__(self, width: int, norms: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Dense(width, width) for _ in range(4))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.norm1, self.norm2 = (
            nn.LayerNorm((width,)) if norms else nn.Identity() for _ in range(2)
        )
        self.act = nn.GELU() if norms else nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        h = self.norm1(x)
        q, k, v = self.heads(self.q(h)), self.heads(self.k(h)), self.heads(self.v(h))
        scores = ops.matmul(q, k.swapaxes(2, 3)) / q.shape[-1] ** 0.5
        mixed = ops.matmul(ops.softmax(scores, -1), v)
        x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
        return x + self.down(self.act(self.up(self.norm2(x))))

    def heads(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[0], y.shape[1], 8, -1).transpose(0, 2, 1, 3)


def transformer() -> Case:
    """Three layers of a width at which products take most of the time; laid as it is cut best."""
    net = nn.SequentialCell([Layer(512, norms=True) for _ in range(3)])
    laid = ("q.weight", "k.weight", "v.weight", "o.weight", "up.weight", "down.weight")
    return Case(Error(net), _floats((8, 128, 512), (8, 128, 512)), laid)
