"""GPT: a decoder that tells the next word."""

from __future__ import annotations

from typing import Any

from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.model_zoo.transformer import causal_mask


class GPT(nn.Cell):
    """Layers of attention to what came before; the matrix of the logits is that of the words' vectors.

    Args:
        words: how many words there are.
        length: the most words of a row.
        width: of the vectors of words.
        heads: of attention.
        layers: how many.
        dropout: the part that is left out in training.
    """

    def __init__(
        self,
        words: int = 50257,
        length: int = 1024,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        near = Normal(0.02)
        self.embedding = nn.Embedding(words, width, embedding_table=near)
        self.places = Parameter(initializer(near, (length, width)), name="places")
        self.dropout = nn.Dropout(p=dropout)
        layer = nn.TransformerEncoderLayer(
            width,
            heads,
            4 * width,
            dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm((width,)))

    def construct(self, words: Any) -> Any:
        """Logits of the word after each word."""
        x = self.dropout(self.embedding(words) + self.places[: words.shape[1]])
        x = self.layers(x, causal_mask(words.shape[1]))
        return ops.matmul(x, self.embedding.embedding_table.T)


__all__ = ["GPT"]
