"""One layer of an encoder or decoder that is cut among processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell
from mindspore.parallel.nn.attention import FeedForward, MultiHeadAttention
from mindspore.parallel.nn.layers import _LayerNorm
from mindspore.parallel.nn.moe import MoE, MoEConfig, default_moe_config
from mindspore.parallel.nn.op_parallel_config import check_count, default_dpmp_config


class _Layer(Cell):
    """What layers of encoder and decoder share: the feed-forward part, norms, and keys and values of positions before."""

    def __init__(self, kept: dict[str, Any], norms: int) -> None:
        super().__init__()
        self.kept = kept  # the arguments by name
        hidden = kept["hidden_size"]

        def norm() -> _LayerNorm:
            return _LayerNorm((hidden,), param_init_type=kept["param_init_type"])

        for number in range(1, norms + 1):
            setattr(self, f"layernorm{number}", norm())
        config = kept["parallel_config"]
        experts: MoEConfig = kept["moe_config"]
        self.use_moe = experts.expert_num > 1
        if self.use_moe:
            self.output: Cell = MoE(
                hidden,
                kept["ffn_hidden_size"],
                kept["hidden_dropout_rate"],
                kept["hidden_act"],
                kept["param_init_type"],
                experts,
                config,
            )
        else:
            self.output = FeedForward(
                hidden,
                kept["ffn_hidden_size"],
                kept["hidden_dropout_rate"],
                kept["hidden_act"],
                param_init_type=kept["param_init_type"],
                parallel_config=config,
            )
        self.post_layernorm_residual = kept["post_layernorm_residual"]
        self.use_past = kept["use_past"]
        self.is_first_iteration = True

    def _attention(self, source: int, target: int) -> MultiHeadAttention:
        kept = self.kept
        return MultiHeadAttention(
            kept["batch_size"],
            source,
            target,
            kept["hidden_size"],
            kept["num_heads"],
            kept["hidden_dropout_rate"],
            kept["attention_dropout_rate"],
            softmax_compute_type=kept["softmax_compute_type"],
            param_init_type=kept["param_init_type"],
            use_past=self.use_past,
            parallel_config=kept["parallel_config"],
        )

    def _make_past(self, length: int) -> None:
        """Room for keys and values of positions before."""
        if not self.use_past:
            return
        kept = self.kept
        if kept["batch_size"] is None:
            raise ValueError(
                f"For '{self.cls_name}', 'batch_size' must be given with 'use_past', but got None."
            )
        width = kept["hidden_size"] // kept["num_heads"]
        shape = (kept["batch_size"], kept["num_heads"], length, width)
        for name in ("key_past", "value_past"):
            zeros = Tensor(np.zeros(shape, np.float16))
            setattr(self, name, Parameter(zeros, name=name, requires_grad=False))

    def _own_attention(
        self, attention: MultiHeadAttention, x: Tensor, mask: Tensor, lengths: Any
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Attention to itself; with `use_past` to positions of calls before, too."""
        if not self.use_past:
            return attention(x, x, x, mask)  # type: ignore[no-any-return]
        if self.is_first_iteration:
            output, (k, v) = attention(x, x, x, mask)
            there = ops.arange(k.shape[2]).reshape((1, 1, -1, 1)) < lengths.reshape((-1, 1, 1, 1))
            new = [ops.where(there, item, ops.zeros_like(item)) for item in (k, v)]
        else:
            past = self.key_past, self.value_past
            output, kept = attention(x, x, x, mask, *past, lengths)
            new = list(kept)
        ops.assign(self.key_past, new[0].astype(self.key_past.dtype))
        ops.assign(self.value_past, new[1].astype(self.value_past.dtype))
        return output, (new[0], new[1])

    def _fed(self, x: Tensor, norm: Cell) -> tuple[Tensor, Any]:
        """x and the feed-forward part of it, and the loss of the router."""
        normed = norm(x)
        made = self.output(normed)
        output, loss = made if self.use_moe else (made, None)
        base = normed if self.post_layernorm_residual else x
        return base + output, loss

    def _around(self, x: Tensor, normed: Tensor, part: Tensor) -> Tensor:
        return (normed if self.post_layernorm_residual else x) + part


def _check_sizes(owner: str, **sizes: Any) -> None:
    for name, size in sizes.items():
        check_count(owner, name, size)


class TransformerEncoderLayer(_Layer):
    """Attention to itself and a feed-forward part, each behind a norm and with a residual connection.

    Args:
        batch_size: The batch; None: any.
        hidden_size: The width of inputs and outputs.
        ffn_hidden_size: The width inside of the feed-forward part.
        num_heads: How many heads there are.
        seq_length: The number of positions.
        attention_dropout_rate, hidden_dropout_rate: Shares that are dropped, of weights and of outputs.
        post_layernorm_residual: The residual connection begins behind the norm.
        layernorm_compute_type: Accepted: norms are computed in Float32.
        softmax_compute_type: The dtype of the attention's normalisation.
        param_init_type: The dtype of the Parameters.
        hidden_act: The activation.
        use_past: Keys and values of positions before are kept: the attribute `is_first_iteration` says which call begins.
        moe_config: Experts in place of the feed-forward part.
        parallel_config: How batch, heads and hidden units are cut.

    Inputs:
        x: [batch, positions, width].
        input_mask: [batch, positions, positions]: 1 where one may look at another.
        init_reset: Accepted.
        batch_valid_length: How many positions of each are there already, with `use_past`.

    Outputs:
        The output, keys and values, and with experts the loss that keeps them busy alike.
    """

    def __init__(
        self,
        batch_size: int | None,
        hidden_size: int,
        ffn_hidden_size: int,
        num_heads: int,
        seq_length: int,
        attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1,
        post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        hidden_act: Any = "gelu",
        use_past: bool = False,
        moe_config: MoEConfig = default_moe_config,
        parallel_config: Any = default_dpmp_config,
    ) -> None:
        kept = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        _check_sizes(
            type(self).__name__,
            hidden_size=hidden_size,
            ffn_hidden_size=ffn_hidden_size,
            num_heads=num_heads,
            seq_length=seq_length,
        )
        super().__init__(kept, 2)
        self.attention = self._attention(seq_length, seq_length)
        self._make_past(seq_length)

    def construct(
        self,
        x: Tensor,
        input_mask: Tensor,
        init_reset: Any = True,
        batch_valid_length: Tensor | None = None,
    ) -> tuple:
        """The layer's output."""
        del init_reset
        normed = self.layernorm1(x)
        part, present = self._own_attention(self.attention, normed, input_mask, batch_valid_length)
        output, loss = self._fed(self._around(x, normed, part), self.layernorm2)
        return (output, present, loss) if self.use_moe else (output, present)


class TransformerDecoderLayer(_Layer):
    """Attention to itself, to an encoder's output, and a feed-forward part.

    Args: As TransformerEncoderLayer; src_seq_length is the number of positions of the encoder, tgt_seq_length that of its own.

    Inputs:
        hidden_stats: [batch, positions, width].
        decoder_mask: [batch, positions, positions].
        encoder_output: [batch, positions of the encoder, width]; None: there is no encoder.
        memory_mask: [batch, positions, positions of the encoder].
        init_reset: Accepted.
        batch_valid_length: As TransformerEncoderLayer.

    Outputs:
        The output, keys and values of both attentions, and with experts their loss.
    """

    def __init__(
        self,
        hidden_size: int,
        ffn_hidden_size: int,
        num_heads: int,
        batch_size: int | None,
        src_seq_length: int,
        tgt_seq_length: int,
        attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1,
        post_layernorm_residual: bool = False,
        use_past: bool = False,
        layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        hidden_act: Any = "gelu",
        moe_config: MoEConfig = default_moe_config,
        parallel_config: Any = default_dpmp_config,
    ) -> None:
        kept = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        _check_sizes(
            type(self).__name__,
            hidden_size=hidden_size,
            ffn_hidden_size=ffn_hidden_size,
            num_heads=num_heads,
            src_seq_length=src_seq_length,
            tgt_seq_length=tgt_seq_length,
        )
        super().__init__(kept, 3)
        self.attention = self._attention(tgt_seq_length, tgt_seq_length)
        self.cross_attention = self._attention(tgt_seq_length, src_seq_length)
        self._make_past(tgt_seq_length)

    def construct(
        self,
        hidden_stats: Tensor,
        decoder_mask: Tensor,
        encoder_output: Tensor | None = None,
        memory_mask: Tensor | None = None,
        init_reset: Any = True,
        batch_valid_length: Tensor | None = None,
    ) -> tuple:
        """The layer's output."""
        del init_reset
        normed = self.layernorm1(hidden_stats)
        part, present = self._own_attention(
            self.attention, normed, decoder_mask, batch_valid_length
        )
        x = self._around(hidden_stats, normed, part)
        if encoder_output is not None:
            normed = self.layernorm3(x)
            part, more = self.cross_attention(normed, encoder_output, encoder_output, memory_mask)
            x = self._around(x, normed, part)
            present = (*present, *more)
        output, loss = self._fed(x, self.layernorm2)
        return (output, present, loss) if self.use_moe else (output, present)


__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]
