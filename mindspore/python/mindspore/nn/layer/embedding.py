"""Embedding tables: rows of a trained matrix, looked up by index."""

from __future__ import annotations

from typing import Any, Literal

from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveFloat, PositiveInt
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P


class Embedding(Cell):
    """A table of vectors.

    Args:
        vocab_size: The rows.
        embedding_size: The length of a row.
        use_one_hot: Whether rows are found by a product with one-hot vectors.
        embedding_table: How the table starts.
        dtype: The dtype of the table.
        padding_idx: A row that starts as zeros.

    Inputs:
        ids: Integers of any shape, in [0, vocab_size).

    Outputs:
        The shape of `ids` with embedding_size behind it.
    """

    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: mstype.Type = mstype.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.use_one_hot = use_one_hot
        self.dtype = dtype
        self.padding_idx = padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(
                    f"For '{owner}', 'padding_idx' must be in [0, {vocab_size}), "
                    f"but got {padding_idx}."
                )
            rows = table.asnumpy().copy()
            rows[padding_idx] = 0
            table = Tensor(rows, dtype)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.gather = P.Gather()
        self.one_hot = P.OneHot()
        self.matmul = P.MatMul()
        self.on_value = Tensor(1.0, dtype)
        self.off_value = Tensor(0.0, dtype)

    def construct(self, ids: Tensor) -> Tensor:
        """The rows."""
        if not self.use_one_hot:
            return self.gather(self.embedding_table, ids, 0)
        vectors = self.one_hot(ids.reshape((-1,)), self.vocab_size, self.on_value, self.off_value)
        rows = self.matmul(vectors, self.embedding_table)
        return rows.reshape(ids.shape + (self.embedding_size,))

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, embedding_table={self.embedding_table}, "
            f"dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


class EmbeddingLookup(Cell):
    """A table of vectors whose rows may be limited in length.

    Args:
        vocab_size: The rows.
        embedding_size: The length of a row.
        param_init: How the table starts.
        target: Where the table is kept, 'CPU' or 'DEVICE'.
        slice_mode: How the table is split in parallel training.
        manual_shapes: The parts with slice_mode 'field_slice'.
        max_norm: The bound on the Euclidean norm of a result, or None.
        sparse: Whether the gradient may be sparse.
        dtype: The dtype of the table.
    """

    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        param_init: Any = "normal",
        target: Literal["CPU", "DEVICE"] = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: PositiveFloat | None = None,
        sparse: bool = True,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.target = target
        self.slice_mode = slice_mode
        self.manual_shapes = manual_shapes
        self.sparse = sparse
        self.max_norm = max_norm
        table = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.gather = P.Gather()
        self.reduce_sum = P.ReduceSum(keep_dims=True)
        self.maximum = P.Maximum()
        self.sqrt = P.Sqrt()

    def construct(self, indices: Tensor) -> Tensor:
        """The rows."""
        rows = self.gather(self.embedding_table, indices, 0)
        if self.max_norm is None:
            return rows
        norm = self.sqrt(self.reduce_sum(rows * rows, -1))
        return rows * self.max_norm / self.maximum(norm, self.max_norm)


__all__ = ["Embedding", "EmbeddingLookup"]
