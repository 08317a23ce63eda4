"""A Transformer from sequences to sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import Parameter, Tensor, nn
from mindspore.common.initializer import Normal, initializer


def causal_mask(length: int) -> Tensor:
    """[length, length]: True where a place would look at a later one."""
    return Tensor(np.triu(np.ones((length, length), np.bool_), 1))


class Seq2Seq(nn.Cell):
    """Encoder and decoder over one vocabulary.

    Args:
        words: how many words there are.
        length: the most words of a sequence.
        width: of the vectors of words.
        heads: of attention.
        layers: of the encoder, and of the decoder.
        dropout: the part that is left out in training.
    """

    def __init__(
        self,
        words: int,
        length: int,
        width: int = 512,
        heads: int = 8,
        layers: int = 6,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.places = Parameter(initializer(Normal(0.02), (length, width)), name="places")
        self.transformer = nn.Transformer(
            width, heads, layers, layers, 4 * width, dropout, batch_first=True, norm_first=True
        )
        self.head = nn.Dense(width, words)

    def construct(self, source: Any, target: Any) -> Any:
        """Logits of the word after each word of the target."""
        before = self.embedding(source) + self.places[: source.shape[1]]
        after = self.embedding(target) + self.places[: target.shape[1]]
        mask = causal_mask(target.shape[1])
        return self.head(self.transformer(before, after, tgt_mask=mask))


__all__ = ["Seq2Seq", "causal_mask"]
