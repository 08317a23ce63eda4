"""Word2vec: vectors of words that tell their neighbours apart from other words."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import Normal


class SkipGram(nn.Cell):
    """A vector of each word, and one of each word as a neighbour.

    Args:
        words: how many words there are.
        width: of the vectors.
    """

    def __init__(self, words: int, width: int = 100) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words, width, embedding_table=Normal(0.1))
        self.neighbours = nn.Embedding(words, width, embedding_table=Normal(0.1))

    def construct(self, words: Any, others: Any) -> Any:
        """Logits [N, k] that each of others [N, k] is a neighbour of words [N]."""
        there = self.neighbours(others)
        return ops.matmul(there, self.vectors(words).expand_dims(-1)).squeeze(-1)


__all__ = ["SkipGram"]
