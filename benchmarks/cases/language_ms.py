"""Networks that read text: a small Transformer and BERT-base, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cases.steps_ms import integers, timed, train_step
from mindspore import Parameter, Tensor, nn, ops


class Attention(nn.Cell):
    """Self-attention of several heads."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key = nn.Dense(width, width), nn.Dense(width, width)
        self.value, self.out = nn.Dense(width, width), nn.Dense(width, width)

    def split(self, x):
        """[batch, heads, steps, size]."""
        b, n, _ = x.shape
        return x.reshape(b, n, self.heads, self.size).transpose(0, 2, 1, 3)

    def construct(self, x, mask):
        """Mixed values; the mask is added to the scores."""
        b, n, width = x.shape
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) / self.size**0.5 + mask
        mixed = ops.matmul(ops.softmax(scores, -1), v)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(b, n, width))


class Layer(nn.Cell):
    """Attention and two dense layers, both residual; normalised first or last."""

    def __init__(
        self, width: int, heads: int, norm_first: bool, attention: type[nn.Cell] = Attention
    ):
        super().__init__()
        self.norm_first = norm_first
        self.attention = attention(width, heads)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.gelu = nn.GELU(approximate=False)

    def construct(self, x, mask):
        """One layer."""
        if self.norm_first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.down(self.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class Transformer(nn.Cell):
    """A causal language model; gives its loss on the next tokens."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        heads: int,
        layers: int,
        steps: int,
        attention: type[nn.Cell] = Attention,
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = Parameter(np.zeros((steps, width), np.float32), name="places")
        self.layers = nn.CellList([Layer(width, heads, True, attention) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, vocabulary)
        self.mask = Tensor(np.triu(np.full((steps, steps), -1e9, np.float32), 1))
        self.loss = nn.CrossEntropyLoss()

    def construct(self, ids, targets):
        """The loss."""
        x = self.tokens(ids) + self.places
        for layer in self.layers:
            x = layer(x, self.mask)
        scores = self.head(self.norm(x))
        return self.loss(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))


class Bert(nn.Cell):
    """BERT with the head that finds masked tokens; gives its loss."""

    def __init__(
        self, vocabulary: int = 30522, width: int = 768, heads: int = 12, layers: int = 12
    ):
        super().__init__()
        self.tokens, self.segments = nn.Embedding(vocabulary, width), nn.Embedding(2, width)
        self.places = nn.Embedding(512, width)
        self.norm = nn.LayerNorm((width,))
        self.layers = nn.CellList([Layer(width, heads, False) for _ in range(layers)])
        self.transform, self.gelu = nn.Dense(width, width), nn.GELU(approximate=False)
        self.head_norm, self.decoder = nn.LayerNorm((width,)), nn.Dense(width, vocabulary)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, ids, segments, mask, targets):
        """The loss."""
        places = self.places(ops.arange(ids.shape[1]))
        x = self.norm(self.tokens(ids) + self.segments(segments) + places)
        mask = (1.0 - mask)[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        scores = self.decoder(self.head_norm(self.gelu(self.transform(x))))
        return self.loss(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))


def transformer() -> Callable[[], float]:
    """A training step with Adam."""
    net = Transformer(8192, 256, 8, 4, 128)
    optimizer = nn.Adam(net.trainable_params(), 1e-4)
    ids = integers(8192, 8, 128)
    return timed(train_step(net, optimizer, ids, ids), 3)


def bert_base() -> Callable[[], float]:
    """A training step with Adam."""
    net = Bert()
    optimizer = nn.Adam(net.trainable_params(), 1e-5)
    ids, mask = integers(30522, 4, 128), Tensor(np.ones((4, 128), np.float32))
    return timed(train_step(net, optimizer, ids, integers(2, 4, 128), mask, ids), 2)
