"""BERT with the heads that it is trained with before it has a task: masked words, and whether a sentence follows another."""

from __future__ import annotations

from typing import Any

from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer


class Bert(nn.Cell):
    """An encoder that looks at both sides.

    Args:
        words: how many words there are.
        length: the most words of a row.
        width: of the vectors of words.
        heads: of attention.
        layers: of the encoder.
        dropout: the part that is left out in training.
    """

    def __init__(
        self,
        words: int = 30522,
        length: int = 512,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        near = Normal(0.02)
        self.word_embedding = nn.Embedding(words, width, embedding_table=near)
        self.segment_embedding = nn.Embedding(2, width, embedding_table=near)
        self.places = Parameter(initializer(near, (length, width)), name="places")
        self.norm, self.dropout = nn.LayerNorm((width,)), nn.Dropout(p=dropout)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.pooler = nn.Dense(width, width)

    def construct(self, words: Any, segments: Any) -> Any:
        """The state of each word, and one of the whole row."""
        x = self.word_embedding(words) + self.segment_embedding(segments)
        x = self.dropout(self.norm(x + self.places[: words.shape[1]]))
        states = self.encoder(x)
        return states, ops.tanh(self.pooler(states[:, 0]))


class BertPreTraining(nn.Cell):
    """BERT with both heads; the one for words shares its matrix with their vectors.

    Args:
        bert: the encoder.
    """

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        self.bert = bert
        words, width = bert.word_embedding.embedding_table.shape
        self.transform, self.norm = nn.Dense(width, width), nn.LayerNorm((width,))
        self.bias = Parameter(initializer("zeros", (words,)), name="bias")
        self.follows = nn.Dense(width, 2)

    def construct(self, words: Any, segments: Any) -> Any:
        """Logits of the word at each place, and of whether the second sentence follows the first."""
        states, whole = self.bert(words, segments)
        states = self.norm(ops.gelu(self.transform(states)))
        table = self.bert.word_embedding.embedding_table
        return ops.matmul(states, table.T) + self.bias, self.follows(whole)


__all__ = ["Bert", "BertPreTraining"]
