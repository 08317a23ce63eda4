"""A recurrent network that tells the sentiment of a text."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops


class SentimentNet(nn.Cell):
    """Words as vectors, an LSTM in both directions, and a class from the mean of its states.

    Args:
        words: how many words there are; word 0 fills texts up.
        width: of the vectors of words.
        hidden: of the states in each direction.
        layers: of the LSTM.
        num_classes: how many classes.
    """

    def __init__(
        self, words: int, width: int = 100, hidden: int = 100, layers: int = 1, num_classes: int = 2
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.encoder = nn.LSTM(width, hidden, layers, batch_first=True, bidirectional=True)
        self.decoder = nn.Dense(2 * hidden, num_classes)

    def construct(self, texts: Any) -> Any:
        """The logits of texts [N, length] of words."""
        there = ops.cast(texts != 0, self.decoder.weight.dtype).expand_dims(-1)
        states, _ = self.encoder(self.embedding(texts))
        mean = (states * there).sum(1) / ops.maximum(there.sum(1), 1.0)
        return self.decoder(mean)


__all__ = ["SentimentNet"]
