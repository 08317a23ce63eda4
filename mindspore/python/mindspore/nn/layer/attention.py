"""Multi-head attention: projections of queries, keys and values, and attention of each head."""

from __future__ import annotations

import math
from typing import Annotated, Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt, within
from mindspore.common.initializer import XavierNormal, XavierUniform, Zero, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dense
from mindspore.ops.function.attention_func import attend


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x weight^T + bias over the last dimension."""
    y = ops.matmul(x.reshape(-1, x.shape[-1]), weight.T)
    if bias is not None:
        y = y + bias
    return y.reshape(*x.shape[:-1], weight.shape[0])


class MultiheadAttention(Cell):
    """Attention of several heads, each on its share of the projected inputs.

    Args:
        embed_dim: The width of queries and outputs; a multiple of num_heads.
        num_heads: How many heads there are.
        dropout: The share of attention weights that is dropped in training.
        has_bias: Whether the projections have biases.
        add_bias_kv: Append a learnt key and value to the others.
        add_zero_attn: Append a key and a value of zeros.
        kdim: The width of keys; None is embed_dim.
        vdim: The width of values; None is embed_dim.
        batch_first: Inputs are [batch, length, width] instead of [length, batch, width].
        dtype: The dtype of the parameters.

    Inputs:
        query, key, value: With a batch as above, or [length, width].
        key_padding_mask: [batch, keys] or [keys]: true, or a number that is added, where a key is hidden.
        need_weights: Return the attention weights too.
        attn_mask: [queries, keys] or [batch * num_heads, queries, keys], likewise.
        average_attn_weights: Return the mean of the heads' weights instead of all.

    Outputs:
        The output shaped as query, and the weights where they are needed.
    """

    def __init__(
        self,
        embed_dim: PositiveInt,
        num_heads: PositiveInt,
        dropout: Annotated[float, within(0, 1, "left")] = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: PositiveInt | None = None,
        vdim: PositiveInt | None = None,
        batch_first: bool = False,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        name = self.cls_name
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        if embed_dim % num_heads != 0:
            raise ValueError(
                f"For '{name}', 'embed_dim' must be divisible by 'num_heads', "
                f"but got {embed_dim} and {num_heads}."
            )
        self.dropout = dropout
        self.head_dim = embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        self._make_projections(has_bias, dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            shape = (1, 1, embed_dim)
            self.bias_k = Parameter(initializer(XavierNormal(), shape, dtype), name="bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), shape, dtype), name="bias_v")

    def _make_projections(self, has_bias: bool, dtype: Any) -> None:
        """One weight for all three where their widths are equal."""
        width = self.embed_dim
        self.joined = self.kdim == width and self.vdim == width

        def weight(shape: tuple[int, int], name: str) -> Parameter:
            return Parameter(initializer(XavierUniform(), shape, dtype), name=name)

        if self.joined:
            self.in_proj_weight = weight((3 * width, width), "in_proj_weight")
        else:
            self.q_proj_weight = weight((width, width), "q_proj_weight")
            self.k_proj_weight = weight((width, self.kdim), "k_proj_weight")
            self.v_proj_weight = weight((width, self.vdim), "v_proj_weight")
        self.in_proj_bias = None
        if has_bias:
            zeros = initializer(Zero(), (3 * width,), dtype)
            self.in_proj_bias = Parameter(zeros, name="in_proj_bias")
        self.out_proj = Dense(width, width, has_bias=has_bias, dtype=dtype)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> tuple:
        """The output, and the attention weights where they are needed."""
        self._check_inputs(query, key, value)
        batched = query.ndim == 3
        if not batched:
            query, key, value = (x.expand_dims(0) for x in (query, key, value))
        elif not self.batch_first:
            if query is key and key is value:  # one product serves all three
                query = key = value = query.swapaxes(0, 1)
            else:
                query, key, value = (x.swapaxes(0, 1) for x in (query, key, value))
        q, k, v = self._project(query, key, value)
        k, v = self._extend(k, v)
        mask = self._mask(q, k, key_padding_mask, attn_mask, key.shape[1])
        keep = 1.0 - self.dropout if self.training else 1.0
        scale = 1 / math.sqrt(self.head_dim)
        weights = None
        if need_weights:
            out, weights = self._weighted(q, k, v, mask, scale, keep)
        else:
            out = attend(q, k, v, mask, scale, keep)
        b, _, n, _ = out.shape
        out = self.out_proj(out.transpose(0, 2, 1, 3).reshape(b, n, self.embed_dim))
        if not batched:
            out = out.squeeze(0)
        elif not self.batch_first:
            out = out.swapaxes(0, 1)
        if weights is None:
            return (out,)
        if average_attn_weights:
            weights = weights.mean(1)
        return out, weights if batched else weights.squeeze(0)

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        name = self.cls_name
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError(
                f"For '{name}', 'query', 'key' and 'value' must all have 2 or all have 3 "
                f"dimensions, but got {query.ndim}, {key.ndim} and {value.ndim}."
            )
        widths = (query.shape[-1], key.shape[-1], value.shape[-1])
        if widths != (self.embed_dim, self.kdim, self.vdim):
            raise ValueError(
                f"For '{name}', the widths of 'query', 'key' and 'value' must be "
                f"{(self.embed_dim, self.kdim, self.vdim)}, but got {widths}."
            )
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"For '{name}', 'key' and 'value' must have the same length and batch, "
                f"but got {key.shape} and {value.shape}."
            )

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple:
        """[batch, heads, length, depth] of all three."""
        width, bias = self.embed_dim, self.in_proj_bias
        if self.joined and query is key and key is value:
            three = _linear(query, self.in_proj_weight, bias)
            parts = tuple(three[..., i * width : (i + 1) * width] for i in range(3))
        else:
            weights = self._weights()
            biases = tuple(
                None if bias is None else bias[i * width : (i + 1) * width] for i in range(3)
            )
            given = zip((query, key, value), weights, biases)
            parts = tuple(_linear(x, w, b) for x, w, b in given)
        return tuple(self._split(x) for x in parts)

    def _weights(self) -> tuple:
        if not self.joined:
            return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        width = self.embed_dim
        return tuple(self.in_proj_weight[i * width : (i + 1) * width] for i in range(3))

    def _split(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        return x.reshape(b, n, self.num_heads, self.head_dim).transpose(0, 2, 1, 3)

    def _extend(self, k: Tensor, v: Tensor) -> tuple:
        """Keys and values with those that are appended."""
        shape = (k.shape[0], self.num_heads, 1, self.head_dim)
        if self.bias_k is not None and self.bias_v is not None:
            k = ops.cat((k, self._split(self.bias_k).broadcast_to(shape)), 2)
            v = ops.cat((v, self._split(self.bias_v).broadcast_to(shape)), 2)
        if self.add_zero_attn:
            k, v = (ops.cat((x, ops.zeros(shape, x.dtype)), 2) for x in (k, v))
        return k, v

    def _mask(
        self, q: Tensor, k: Tensor, padding: Tensor | None, mask: Tensor | None, given: int
    ) -> Tensor | None:
        """What is hidden, or added, that broadcasts to [batch, heads, queries, keys]."""
        batch, heads, length = q.shape[:3]
        if mask is not None:
            wanted = ((length, given), (batch * heads, length, given))
            if mask.shape not in wanted:
                raise ValueError(
                    f"For '{self.cls_name}', 'attn_mask' must have shape {wanted[0]} or "
                    f"{wanted[1]}, but got {mask.shape}."
                )
            if mask.ndim == 3:
                mask = mask.reshape(batch, heads, length, given)
        if padding is not None:
            if padding.shape not in ((batch, given), (given,)):
                raise ValueError(
                    f"For '{self.cls_name}', 'key_padding_mask' must have shape {(batch, given)}, "
                    f"but got {padding.shape}."
                )
            padding = padding.reshape(-1, 1, 1, given)
        both = [_typed(x, q.dtype) for x in (mask, padding) if x is not None]
        if not both:
            return None
        total = both[0] if len(both) == 1 else _combined(both[0], both[1], q.dtype)
        more = k.shape[2] - given
        if more:
            seen = ops.zeros((*total.shape[:-1], more), total.dtype)
            total = ops.cat((total, seen), -1)
        return total

    def _weighted(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float, keep: float
    ) -> tuple:
        """The output, and the weights it was made with."""
        scores = ops.matmul(q * scale, k.swapaxes(-1, -2))
        if mask is not None:
            scores = (
                ops.masked_fill(scores, mask, float("-inf"))
                if mask.dtype == mstype.bool_
                else scores + mask
            )
        weights = ops.softmax(scores, -1)
        if keep < 1:
            weights = ops.dropout(weights, p=1 - keep, training=True)
        return ops.matmul(weights, v), weights


def _typed(mask: Tensor, dtype: Any) -> Tensor:
    """Booleans as they are, bytes as booleans, numbers in the dtype of the scores."""
    if mask.dtype in (mstype.bool_, mstype.uint8):
        return mask.astype(mstype.bool_)
    return mask.astype(dtype)


def _combined(a: Tensor, b: Tensor, dtype: Any) -> Tensor:
    if a.dtype == mstype.bool_ and b.dtype == mstype.bool_:
        return ops.logical_or(a, b)
    zeros = ops.zeros((), dtype)
    a, b = (
        ops.masked_fill(zeros.broadcast_to(x.shape), x, float("-inf"))
        if x.dtype == mstype.bool_
        else x
        for x in (a, b)
    )
    return a + b


__all__ = ["MultiheadAttention"]
