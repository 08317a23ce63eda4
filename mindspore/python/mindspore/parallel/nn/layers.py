"""Small layers of transformers, and attention to some blocks alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell, Dropout, get_activation
from mindspore.parallel.nn.op_parallel_config import OpParallelConfig, default_dpmp_config, placed


class _LayerNorm(Cell):
    """Layer norm over the last dimension, in Float32.

    Args:
        normalized_shape: The shape that is normalised.
        eps: What is added to the variance.
        param_init_type: The dtype of the Parameters.
    """

    def __init__(
        self,
        normalized_shape: tuple[int, ...],
        eps: float = 1e-5,
        param_init_type: Any = mstype.float32,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        del kwargs  # of other devices
        self.gamma = Parameter(initializer("ones", normalized_shape, param_init_type), name="gamma")
        self.beta = Parameter(initializer("zeros", normalized_shape, param_init_type), name="beta")
        self.axes = tuple(range(-len(normalized_shape), 0))
        self.eps = eps

    def construct(self, x: Tensor) -> Tensor:
        """The normalised tensor."""
        wide = x.astype(mstype.float32)
        wide = wide - wide.mean(axis=self.axes, keep_dims=True)
        variance = (wide * wide).mean(axis=self.axes, keep_dims=True)
        y = wide / ops.sqrt(variance + self.eps) * self.gamma + self.beta
        return y.astype(x.dtype)

    def shard(self, strategy: Any, *rest: Any) -> Any:
        """How the input is cut."""
        return super().shard(strategy, *rest)


class _Linear(Cell):
    """A dense layer, computed in a type of its own.

    Args:
        in_channels: The width that goes in.
        out_channels: The width that comes out.
        weight_init, bias_init: What the Parameters begin with.
        has_bias: Whether something is added.
        activation: The name of a function of the result, or a Cell class.
        transpose_b: The weight is [out, in].
        param_init_type: The dtype of the Parameters.
        compute_dtype: The dtype of the product.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        activation: str | type[Cell] | Cell | None = None,
        transpose_b: bool = True,
        param_init_type: Any = mstype.float32,
        compute_dtype: Any = mstype.float16,
    ) -> None:
        super().__init__()
        shape = (out_channels, in_channels) if transpose_b else (in_channels, out_channels)
        self.weight = Parameter(initializer(weight_init, shape, param_init_type), name="weight")
        self.bias = None
        if has_bias:
            bias = initializer(bias_init, (out_channels,), param_init_type)
            self.bias = Parameter(bias, name="bias")
        self.activation = activation_of(activation)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.transpose_b, self.dtype = transpose_b, compute_dtype

    def construct(self, x: Tensor) -> Tensor:
        """The layer's output, in the type of the input."""
        rows = x.reshape((-1, self.in_channels)).astype(self.dtype)
        y = ops.MatMul(transpose_b=self.transpose_b)(rows, self.weight.astype(self.dtype))
        if self.bias is not None:
            y = y + self.bias.astype(self.dtype)
        if self.activation is not None:
            y = self.activation(y)
        return y.reshape((*x.shape[:-1], self.out_channels)).astype(x.dtype)


def activation_of(activation: Any) -> Callable[..., Any] | None:
    """What a name, a Cell class or a Cell stands for."""
    if activation is None:
        return None
    if isinstance(activation, str):
        return get_activation(activation)  # type: ignore[no-any-return]
    made = activation() if isinstance(activation, type) else activation
    if not callable(made):
        raise TypeError(
            f"For 'hidden_act', the activation must be a name or a Cell, but got {type(activation).__name__}."
        )
    return made  # type: ignore[no-any-return]


class _Dropout(Dropout):
    """Dropout by the share that is kept.

    Args:
        keep_prob: The share.
    """

    def __init__(self, keep_prob: float = 0.5, dtype: Any = mstype.float32, **kwargs: Any) -> None:
        del kwargs  # of other devices
        super().__init__(p=1.0 - keep_prob, dtype=dtype)


class FixedSparseAttention(Cell):
    """Attention within blocks, and to the last positions of the blocks before.

    Args:
        batch_size: The batch.
        num_heads: How many heads there are.
        size_per_head: The width of each.
        block_size: Positions in a block.
        seq_length: Positions in all.
        num_different_global_patterns: Into how many the last positions of a block are divided among heads.
        parallel_config: How batch and heads are cut.

    Inputs:
        q, k, v: [batch, positions, heads * width].
        attention_mask: [batch, positions, positions]: 1 where one may look at another.

    Outputs:
        [batch, positions, heads * width].
    """

    def __init__(
        self,
        batch_size: int,
        num_heads: int,
        size_per_head: int,
        block_size: int,
        seq_length: int = 1024,
        num_different_global_patterns: int = 4,
        parallel_config: OpParallelConfig = default_dpmp_config,
    ) -> None:
        super().__init__()
        if seq_length % block_size or block_size % num_different_global_patterns:
            raise ValueError(
                f"For '{self.cls_name}', 'block_size' must divide 'seq_length' {seq_length}, and 'num_different_global_patterns' "
                f"{num_different_global_patterns} must divide it, but got {block_size}."
            )
        self.shape = (batch_size, seq_length, num_heads, size_per_head)
        self.parallel_config = parallel_config
        seen = _pattern(num_heads, seq_length, block_size, num_different_global_patterns)
        self.seen = Tensor(seen, mstype.float32)

    def construct(self, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Tensor:
        """What the attention gives."""

        def heads(x: Tensor) -> Any:
            x = x.reshape(self.shape).transpose(0, 2, 1, 3)
            return placed(self.cls_name, x, self.parallel_config, "dp", "mp", "None", "None")

        batch, length, number, width = self.shape
        scores = ops.matmul(heads(q), heads(k).transpose(0, 1, 3, 2)) / math.sqrt(width)
        allowed = attention_mask.reshape((batch, 1, length, length)).astype(mstype.float32)
        scores = scores.astype(mstype.float32) + (1.0 - allowed * self.seen) * -10000.0
        weights = ops.softmax(scores, -1).astype(v.dtype)
        mixed = ops.matmul(weights, heads(v)).transpose(0, 2, 1, 3)
        return mixed.reshape((batch, length, number * width))


def _pattern(heads: int, length: int, block: int, patterns: int) -> np.ndarray:
    """For each head which position looks at which: 1 or 0."""
    row, column = np.arange(length)[:, None], np.arange(length)[None]
    local = row // block == column // block
    step = block // patterns
    seen = []
    for head in range(heads):
        last = block - step * (1 + head % patterns)  # where the summary of a block begins
        inside = column % block
        summary = (inside >= last) & (inside < last + step) & (column // block < row // block)
        seen.append(local | summary)
    return np.stack(seen)[None].astype(np.float32)


__all__ = ["FixedSparseAttention", "_Dropout", "_LayerNorm", "_Linear"]
