"""Masks, embeddings, attention and the feed-forward layer of transformers that are cut among processes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell, Dropout
from mindspore.parallel.nn.layers import _Linear, activation_of
from mindspore.parallel.nn.op_parallel_config import (
    EmbeddingOpParallelConfig,
    OpParallelConfig,
    check_count,
    default_dpmp_config,
    default_embedding_parallel_config,
    placed,
)

_HIDDEN = -10000.0  # what is added to the scores of positions that are not to be seen


def check_rate(owner: str, name: str, value: Any) -> float:
    """A share that is dropped."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"For '{owner}', '{name}' must be a number, but got {type(value).__name__}."
        )
    if not 0 <= value < 1:
        raise ValueError(f"For '{owner}', '{name}' must be in [0, 1), but got {value}.")
    return float(value)


def check_parts(owner: str, name: str, value: int, parts: int) -> None:
    """A size that is cut into so many parts."""
    if value % parts:
        raise ValueError(
            f"For '{owner}', '{name}' must be a multiple of {parts}, into which the configuration cuts it, but got {value}."
        )


class AttentionMask(Cell):
    """Which position may look at which: at itself and those before, of those that a mask counts.

    Args:
        seq_length: The number of positions.
        parallel_config: How the batch is cut.

    Inputs:
        input_mask: [batch, positions]: 1 for what counts, 0 for what does not.

    Outputs:
        [batch, positions, positions]: 1 or 0.
    """

    def __init__(
        self, seq_length: int, parallel_config: OpParallelConfig = default_dpmp_config
    ) -> None:
        super().__init__()
        check_count(self.cls_name, "seq_length", seq_length)
        self.seq_length = seq_length
        self.parallel_config = parallel_config
        self.lower = Tensor(np.tril(np.ones((1, seq_length, seq_length), np.float32)))

    def construct(self, input_mask: Tensor) -> Tensor:
        """The mask."""
        counts = input_mask.astype(mstype.float32)
        return counts.expand_dims(1) * counts.expand_dims(2) * self.lower


class VocabEmbedding(Cell):
    """Rows of a table.

    Args:
        vocab_size: The number of rows.
        embedding_size: The width.
        parallel_config: Whether the table is whole in each process, or cut by rows.
        param_init: What the table begins with.

    Inputs:
        input_ids: Numbers of rows.

    Outputs:
        The rows, and the table.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        parallel_config: EmbeddingOpParallelConfig = default_embedding_parallel_config,
        param_init: Any = "normal",
    ) -> None:
        super().__init__()
        for name, size in (("vocab_size", vocab_size), ("embedding_size", embedding_size)):
            check_count(self.cls_name, name, size)
        self.parallel_config = parallel_config
        if not parallel_config.vocab_emb_dp:
            check_parts(self.cls_name, "vocab_size", vocab_size, parallel_config.model_parallel)
        table = initializer(param_init, (vocab_size, embedding_size), mstype.float32)
        self.embedding_table = Parameter(table, name="embedding_table", parallel_optimizer=False)

    def construct(self, input_ids: Tensor) -> tuple[Any, Any]:
        """The rows, and the table."""
        table: Any = self.embedding_table
        if not self.parallel_config.vocab_emb_dp:
            table = placed(self.cls_name, table, self.parallel_config, "mp", "None")
        return ops.gather(table, input_ids, 0), self.embedding_table


class MultiHeadAttention(Cell):
    """Attention of several heads, which processes share out.

    Args:
        batch_size: The batch; None: any.
        src_seq_length: The number of positions that look.
        tgt_seq_length: The number of positions that are looked at.
        hidden_size: The width of inputs and outputs.
        num_heads: How many heads there are.
        hidden_dropout_rate: The share of the output that is dropped.
        attention_dropout_rate: The share of the weights that is dropped.
        compute_dtype: The dtype of products.
        softmax_compute_type: The dtype of the weights' normalisation.
        param_init_type: The dtype of the Parameters.
        use_past: Whether keys and values of positions before are given.
        parallel_config: How batch and heads are cut.

    Inputs:
        query_tensor, key_tensor, value_tensor: [batch, positions, width], or [batch * positions, width].
        attention_mask: [batch, positions that look, positions that are looked at]: 1 or 0; or None.
        key_past, value_past: [batch, heads, positions, width of a head], with `use_past`.
        batch_valid_length: How many positions of each are there already, with `use_past`.

    Outputs:
        The output, shaped as the query, and keys and values, which a later call may take.
    """

    def __init__(
        self,
        batch_size: int | None,
        src_seq_length: int,
        tgt_seq_length: int,
        hidden_size: int,
        num_heads: int,
        hidden_dropout_rate: float = 0.1,
        attention_dropout_rate: float = 0.1,
        compute_dtype: Any = mstype.float16,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        use_past: bool = False,
        parallel_config: OpParallelConfig = default_dpmp_config,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        check_count(owner, "num_heads", num_heads)
        check_parts(owner, "num_heads", num_heads, parallel_config.model_parallel)
        if hidden_size % num_heads:
            raise ValueError(
                f"For '{owner}', 'hidden_size' must be a multiple of 'num_heads' {num_heads}, but got {hidden_size}."
            )
        if batch_size is not None:
            check_parts(owner, "batch_size", batch_size, parallel_config.data_parallel)
        self.src_seq_length, self.tgt_seq_length = src_seq_length, tgt_seq_length
        self.hidden_size, self.n_head = hidden_size, num_heads
        self.size_per_head = hidden_size // num_heads
        self.use_past, self.parallel_config = use_past, parallel_config
        self.dtype, self.softmax_dtype = compute_dtype, softmax_compute_type

        def dense() -> _Linear:
            return _Linear(
                hidden_size,
                hidden_size,
                param_init_type=param_init_type,
                compute_dtype=compute_dtype,
            )

        self.dense1, self.dense2, self.dense3, self.projection = (dense() for _ in range(4))
        self.dropout = Dropout(p=check_rate(owner, "hidden_dropout_rate", hidden_dropout_rate))
        rate = check_rate(owner, "attention_dropout_rate", attention_dropout_rate)
        self.prob_dropout = Dropout(p=rate)

    def construct(
        self,
        query_tensor: Tensor,
        key_tensor: Tensor,
        value_tensor: Tensor,
        attention_mask: Tensor | None,
        key_past: Tensor | None = None,
        value_past: Tensor | None = None,
        batch_valid_length: Tensor | None = None,
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """The output, and keys and values."""
        length = 1 if self.use_past and key_past is not None else self.src_seq_length
        if query_tensor.ndim == 3:
            length = query_tensor.shape[1]
        seen = key_tensor.shape[1] if key_tensor.ndim == 3 else min(length, self.tgt_seq_length)
        if key_tensor.ndim != 3 and key_tensor is not query_tensor:
            seen = self.tgt_seq_length
        q = self._heads(self.dense1(query_tensor), length)
        k = self._heads(self.dense2(key_tensor), seen)
        v = self._heads(self.dense3(value_tensor), seen)
        if self.use_past and key_past is not None:
            k = _written(key_past, k, batch_valid_length)
            v = _written(value_past, v, batch_valid_length)
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) / math.sqrt(self.size_per_head)
        wide = scores.astype(self.softmax_dtype)
        if attention_mask is not None:
            mask = attention_mask.astype(self.softmax_dtype)
            mask = mask if mask.ndim == 4 else mask.expand_dims(1)
            wide = wide + (1.0 - mask) * _HIDDEN
        weights = self.prob_dropout(ops.softmax(wide, -1).astype(self.dtype))
        mixed = ops.matmul(weights, v).transpose(0, 2, 1, 3)
        rows = mixed.reshape((-1, self.hidden_size)).astype(query_tensor.dtype)
        output = self.dropout(self.projection(rows))
        return output.reshape(query_tensor.shape), (k, v)

    def _heads(self, x: Tensor, length: int) -> Any:
        """[batch, heads, positions, width of a head]"""
        x = x.astype(self.dtype).reshape((-1, length, self.n_head, self.size_per_head))
        return placed(
            self.cls_name, x.transpose(0, 2, 1, 3), self.parallel_config, "dp", "mp", "None", "None"
        )


def _written(past: Any, new: Tensor, lengths: Any) -> Tensor:
    """What was there, with one position more behind that many of each."""
    at = ops.arange(past.shape[2]).reshape((1, 1, -1, 1)) == lengths.reshape((-1, 1, 1, 1))
    return ops.where(at, new, past.astype(new.dtype))


class FeedForward(Cell):
    """Two dense layers, of which processes share out the inner width.

    Args:
        hidden_size: The width of inputs and outputs.
        ffn_hidden_size: The width between the layers.
        dropout_rate: The share of the output that is dropped.
        hidden_act: The activation: a name or a Cell class.
        expert_num, expert_group_size: Accepted: layers of experts are made by MoEConfig.
        param_init_type: The dtype of the Parameters.
        parallel_config: How batch and inner width are cut.
        compute_dtype: The dtype of products.
    """

    def __init__(
        self,
        hidden_size: int,
        ffn_hidden_size: int,
        dropout_rate: float,
        hidden_act: Any = "gelu",
        expert_num: int = 1,
        expert_group_size: int | None = None,
        param_init_type: Any = mstype.float32,
        parallel_config: OpParallelConfig = default_dpmp_config,
        compute_dtype: Any = mstype.float16,
    ) -> None:
        super().__init__()
        del expert_num, expert_group_size
        owner = self.cls_name
        check_parts(owner, "ffn_hidden_size", ffn_hidden_size, parallel_config.model_parallel)
        activation_of(hidden_act)
        settings = {"param_init_type": param_init_type, "compute_dtype": compute_dtype}
        self.mapping = _Linear(hidden_size, ffn_hidden_size, activation=hidden_act, **settings)
        self.projection = _Linear(ffn_hidden_size, hidden_size, **settings)
        self.dropout = Dropout(p=check_rate(owner, "dropout_rate", dropout_rate))
        self.parallel_config, self.hidden_size = parallel_config, hidden_size

    def construct(self, x: Tensor) -> Any:
        """The output, shaped as the input."""
        rows = x.reshape((-1, self.hidden_size))
        hidden = placed(self.cls_name, self.mapping(rows), self.parallel_config, "dp", "mp")
        return self.dropout(self.projection(hidden)).reshape(x.shape)


__all__ = ["AttentionMask", "FeedForward", "MultiHeadAttention", "VocabEmbedding"]
