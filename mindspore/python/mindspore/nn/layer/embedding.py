"""Embedding tables: rows of a trained matrix, looked up by index."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Count, PositiveFloat, PositiveInt
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P

SliceMode: TypeAlias = Literal[
    "batch_slice", "field_slice", "table_row_slice", "table_column_slice"
]


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


class _SparseGather(Cell):
    """Rows of a table. The gradient of rows that are not looked up is -0, of all others +0 or anything else: so LazyAdam, FTRL and
    ProximalAdagrad tell which they are to leave alone, whatever gradients are scaled, clipped or added to on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.gather = P.Gather()

    def construct(self, table: Tensor, places: Tensor) -> Tensor:
        """The rows."""
        return self.gather(table, places, 0)

    def bprop(self, table: Tensor, places: Tensor, out: Tensor, dout: Tensor) -> Any:
        """Sums of what came for each row."""
        flat, rows = places.reshape((-1,)), table.shape[0]
        sums = ops.unsorted_segment_sum(dout.reshape((-1, table.shape[1])), flat, rows)
        counts = ops.unsorted_segment_sum(ops.ones_like(flat), flat, rows).expand_dims(-1)
        return ops.select(counts > 0, sums, -ops.zeros_like(sums)), ops.zeros_like(places)


_sparse_gather = _SparseGather()  # of all tables, which do not show it as a part of theirs


class _Table(Cell):
    """A table whose rows are looked up; indices outside of it give zeros."""

    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        param_init: Any = "normal",
        target: Literal["CPU", "DEVICE"] = "CPU",
        slice_mode: SliceMode = "batch_slice",
        parts: Any = None,
        max_norm: PositiveFloat | None = None,
        sparse: bool = True,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        if target == "CPU" and not sparse:
            raise ValueError(
                f"For '{owner}', 'sparse' must be True where 'target' is 'CPU', but got False."
            )
        if slice_mode == "field_slice" and parts is None:
            raise ValueError(
                f"For '{owner}', the parts of the table must be given where 'slice_mode' is 'field_slice', but got None."
            )
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.target = target
        self.slice_mode = slice_mode
        self.sparse = sparse
        self.max_norm = max_norm
        table = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.embedding_table.sparse_grad = sparse
        self.gather = P.Gather()
        self.reduce_sum = P.ReduceSum(keep_dims=True)
        self.maximum = P.Maximum()
        self.sqrt = P.Sqrt()

    def _rows(self, indices: Tensor) -> Tensor:
        """Rows, no longer than the bound."""
        inside = ops.logical_and(indices >= 0, indices < self.vocab_size)
        places = ops.select(inside, indices, ops.zeros_like(indices))
        if self.sparse:
            rows = _sparse_gather(self.embedding_table, places)
        else:
            rows = self.gather(self.embedding_table, places, 0)
        rows = ops.select(inside.expand_dims(-1), rows, ops.zeros_like(rows))
        if self.max_norm is None:
            return rows
        exact = wide(rows)
        norm = self.sqrt(self.reduce_sum(exact * exact, -1))
        return rounded(exact * self.max_norm / self.maximum(norm, self.max_norm), rows)


class EmbeddingLookup(_Table):
    """A table of vectors whose rows may be limited in length. Indices outside of the table give zeros.

    Args:
        vocab_size: The rows.
        embedding_size: The length of a row.
        param_init: How the table starts.
        target: Where the table is kept, 'CPU' or 'DEVICE'.
        slice_mode: How the table is split in parallel training.
        manual_shapes: The parts with slice_mode 'field_slice'.
        max_norm: The bound on the Euclidean norm of a result, or None.
        sparse: Whether LazyAdam, FTRL and ProximalAdagrad leave rows alone that a step did not look up.
        dtype: The dtype of the table.
        vocab_cache_size: Accepted; the whole table is in memory.
    """

    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        param_init: Any = "normal",
        target: Literal["CPU", "DEVICE"] = "CPU",
        slice_mode: SliceMode = "batch_slice",
        manual_shapes: tuple | None = None,
        max_norm: PositiveFloat | None = None,
        sparse: bool = True,
        dtype: mstype.Type = mstype.float32,
        vocab_cache_size: Count = 0,
    ) -> None:
        super().__init__(
            vocab_size,
            embedding_size,
            param_init,
            target,
            slice_mode,
            manual_shapes,
            max_norm,
            sparse,
            dtype,
        )
        self.manual_shapes = manual_shapes
        self.vocab_cache_size = vocab_cache_size

    def construct(self, indices: Tensor) -> Tensor:
        """The rows."""
        return self._rows(indices)


class MultiFieldEmbeddingLookup(_Table):
    """Rows of a table, joined by the field that each belongs to.

    Args:
        vocab_size: The rows.
        embedding_size: The length of a row.
        field_size: The fields of the output.
        param_init: How the table starts.
        target: Where the table is kept, 'CPU' or 'DEVICE'.
        slice_mode: How the table is split in parallel training.
        feature_num_list: The parts with slice_mode 'field_slice'.
        max_norm: The bound on the Euclidean norm of a row, or None.
        sparse: As for EmbeddingLookup.
        operator: How rows of a field are joined: 'SUM', 'MEAN' or 'MAX'.
        dtype: The dtype of the table.

    Inputs:
        input_indices: [batch, length].
        input_values: What each row is multiplied by.
        field_ids: The field of each row.

    Outputs:
        [batch, field_size, embedding_size], zeros for fields whose rows are all multiplied by zero.
    """

    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        field_size: PositiveInt,
        param_init: Any = "normal",
        target: Literal["CPU", "DEVICE"] = "CPU",
        slice_mode: SliceMode = "batch_slice",
        feature_num_list: tuple | None = None,
        max_norm: PositiveFloat | None = None,
        sparse: bool = True,
        operator: Literal["SUM", "MEAN", "MAX"] = "SUM",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            vocab_size,
            embedding_size,
            param_init,
            target,
            slice_mode,
            feature_num_list,
            max_norm,
            sparse,
            dtype,
        )
        self.field_size = field_size
        self.operator = operator

    def construct(self, input_indices: Tensor, input_values: Tensor, field_ids: Tensor) -> Tensor:
        """The joined rows."""
        if (
            not (input_indices.shape == input_values.shape == field_ids.shape)
            or input_indices.ndim != 2
        ):
            raise ValueError(
                f"For '{self.cls_name}', indices, values and fields must have one shape, [batch, length], but got "
                f"{input_indices.shape}, {input_values.shape} and {field_ids.shape}."
            )
        if field_ids.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(
                f"For '{self.cls_name}', 'field_ids' must be int32 or int64, but got {field_ids.dtype}."
            )
        rows = self._rows(input_indices) * input_values.expand_dims(-1)
        fields = ops.arange(self.field_size).reshape((1, -1, 1)).astype(field_ids.dtype)
        counts = (input_values != 0).expand_dims(1)
        of_field = ops.logical_and(field_ids.expand_dims(1) == fields, counts)
        member = of_field.astype(rows.dtype)
        weights = ops.matmul(member, ops.abs(input_values).expand_dims(-1))
        if self.operator == "MAX":
            least = ops.full_like(rows, -3.0e38).expand_dims(1)
            joined = ops.select(of_field.expand_dims(-1), rows.expand_dims(1), least).max(axis=2)
        else:
            joined = ops.matmul(member, rows)
        if self.operator == "MEAN":
            joined = joined / ops.select(weights > 0, weights, ops.ones_like(weights))
        return ops.select(weights > 0, joined, ops.zeros_like(joined))


__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]
