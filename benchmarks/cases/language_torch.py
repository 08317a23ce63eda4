"""Networks that read text: a small Transformer and BERT-base, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from cases.steps_torch import timed, train_step


class Attention(nn.Module):
    """Self-attention of several heads."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, x):
        """[batch, heads, steps, size]."""
        return x.unflatten(-1, (self.heads, self.size)).transpose(1, 2)

    def forward(self, x, mask):
        """Mixed values; without a mask, causal."""
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=mask is None
        )
        return self.out(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention and two dense layers, both residual; normalised first or last."""

    def __init__(self, width: int, heads: int, norm_first: bool):
        super().__init__()
        self.norm_first = norm_first
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, mask):
        """One layer."""
        if self.norm_first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.down(functional.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


class Transformer(nn.Module):
    """A causal language model; gives its loss on the next tokens."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, steps: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(steps, width))
        self.layers = nn.ModuleList(Layer(width, heads, True) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, ids, targets):
        """The loss."""
        x = self.tokens(ids) + self.places
        for layer in self.layers:
            x = layer(x, None)
        return functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


class Bert(nn.Module):
    """BERT with the head that finds masked tokens; gives its loss."""

    def __init__(
        self, vocabulary: int = 30522, width: int = 768, heads: int = 12, layers: int = 12
    ):
        super().__init__()
        self.tokens, self.segments = nn.Embedding(vocabulary, width), nn.Embedding(2, width)
        self.places, self.norm = nn.Embedding(512, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, False) for _ in range(layers))
        self.transform, self.head_norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, ids, segments, mask, targets):
        """The loss."""
        places = self.places(torch.arange(ids.shape[1]))
        x = self.norm(self.tokens(ids) + self.segments(segments) + places)
        mask = (1.0 - mask)[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        scores = self.decoder(self.head_norm(functional.gelu(self.transform(x))))
        return functional.cross_entropy(scores.flatten(0, 1), targets.flatten())


def transformer() -> Callable[[], float]:
    """A training step with Adam."""
    net = Transformer(8192, 256, 8, 4, 128)
    optimizer = torch.optim.Adam(net.parameters(), 1e-4, fused=True)
    ids = torch.randint(8192, (8, 128))
    return timed(train_step(net, optimizer, ids, ids), 3)


def bert_base() -> Callable[[], float]:
    """A training step with Adam."""
    net = Bert()
    optimizer = torch.optim.Adam(net.parameters(), 1e-5, fused=True)
    ids, segments = torch.randint(30522, (4, 128)), torch.randint(2, (4, 128))
    return timed(train_step(net, optimizer, ids, segments, torch.ones(4, 128), ids), 2)
