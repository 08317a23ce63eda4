"""Transformers that are cut among processes: stacks of layers of encoder and decoder, and both together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell, CellList
from mindspore.parallel.nn.attention import (
    AttentionMask,
    FeedForward,
    MultiHeadAttention,
    VocabEmbedding,
)
from mindspore.parallel.nn.moe import MoEConfig, default_moe_config
from mindspore.parallel.nn.op_parallel_config import EmbeddingOpParallelConfig, check_count
from mindspore.parallel.nn.transformer_config import (
    TransformerOpParallelConfig,
    TransformerRecomputeConfig,
    default_transformer_config,
)
from mindspore.parallel.nn.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)


def _place(layer: Cell, layer_id: int, offset: int, parallel_config: Any, layers: int) -> None:
    """Puts a layer into its stage, and has it computed again where the configuration says so."""
    stages = parallel_config.pipeline_stage
    each = max(-(-(layers + offset) // stages), 1)
    layer.pipeline_stage = min((layer_id + offset) // each, stages - 1)
    groups = max((layers + offset) // parallel_config.gradient_aggregation_group, 1)
    layer.set_comm_fusion((layer_id + offset) // groups + 1)
    if parallel_config.recompute.recompute:
        layer.recompute()


class _Stack(Cell):
    """Layers one after the other."""

    def __init__(
        self,
        make: Callable[[], Cell],
        num_layers: int,
        lambda_func: Callable[..., None] | None,
        offset: int,
        parallel_config: Any,
    ) -> None:
        super().__init__()
        check_count(self.cls_name, "num_layers", num_layers)
        self.num_layers = num_layers
        self.blocks = CellList()
        for number in range(num_layers):
            layer = make()
            (lambda_func or _place)(
                layer,
                layer_id=number,
                layers=num_layers,
                offset=offset,
                parallel_config=parallel_config,
            )
            self.blocks.append(layer)

    def _through(self, x: Tensor, *given: Any) -> tuple:
        """The output of all layers, what each has kept, and the sum of the experts' losses."""
        present: tuple = ()
        loss: Any = None
        for layer in self.blocks:
            x, kept, *more = layer(x, *given)
            present = (*present, kept)
            loss = more[0] if loss is None and more else loss + more[0] if more else loss
        return (x, present) if loss is None else (x, present, loss)


class TransformerEncoder(_Stack):
    """Layers of an encoder, one after the other.

    Args: As TransformerEncoderLayer.
        num_layers: How many there are.
        lambda_func: Called with each layer and layer_id, layers, offset and parallel_config, in place of what puts layers into stages.
        offset: The number of the first layer.
    """

    def __init__(
        self,
        batch_size: int | None,
        num_layers: int,
        hidden_size: int,
        ffn_hidden_size: int,
        seq_length: int,
        num_heads: int,
        attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1,
        hidden_act: Any = "gelu",
        post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        lambda_func: Callable[..., None] | None = None,
        offset: int = 0,
        use_past: bool = False,
        moe_config: MoEConfig = default_moe_config,
        parallel_config: TransformerOpParallelConfig = default_transformer_config,
    ) -> None:
        def layer() -> Cell:
            return TransformerEncoderLayer(
                batch_size,
                hidden_size,
                ffn_hidden_size,
                num_heads,
                seq_length,
                attention_dropout_rate,
                hidden_dropout_rate,
                post_layernorm_residual,
                layernorm_compute_type,
                softmax_compute_type,
                param_init_type,
                hidden_act,
                use_past,
                moe_config,
                parallel_config.dp_mp_config,
            )

        super().__init__(layer, num_layers, lambda_func, offset, parallel_config)

    def construct(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor,
        init_reset: Any = True,
        batch_valid_length: Tensor | None = None,
    ) -> tuple:
        """The output, what each layer has kept, and with experts their loss."""
        return self._through(hidden_states, attention_mask, init_reset, batch_valid_length)


class TransformerDecoder(_Stack):
    """Layers of a decoder, one after the other.

    Args: As TransformerDecoderLayer and TransformerEncoder.
    """

    def __init__(
        self,
        num_layers: int,
        batch_size: int | None,
        hidden_size: int,
        ffn_hidden_size: int,
        src_seq_length: int,
        tgt_seq_length: int,
        num_heads: int,
        attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1,
        post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        hidden_act: Any = "gelu",
        lambda_func: Callable[..., None] | None = None,
        use_past: bool = False,
        offset: int = 0,
        moe_config: MoEConfig = default_moe_config,
        parallel_config: TransformerOpParallelConfig = default_transformer_config,
    ) -> None:
        def layer() -> Cell:
            return TransformerDecoderLayer(
                hidden_size,
                ffn_hidden_size,
                num_heads,
                batch_size,
                src_seq_length,
                tgt_seq_length,
                attention_dropout_rate,
                hidden_dropout_rate,
                post_layernorm_residual,
                use_past,
                layernorm_compute_type,
                softmax_compute_type,
                param_init_type,
                hidden_act,
                moe_config,
                parallel_config.dp_mp_config,
            )

        super().__init__(layer, num_layers, lambda_func, offset, parallel_config)

    def construct(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor,
        encoder_output: Tensor | None = None,
        memory_mask: Tensor | None = None,
        init_reset: Any = True,
        batch_valid_length: Tensor | None = None,
    ) -> tuple:
        """The output, what each layer has kept, and with experts their loss."""
        return self._through(
            hidden_states,
            attention_mask,
            encoder_output,
            memory_mask,
            init_reset,
            batch_valid_length,
        )


class Transformer(Cell):
    """An encoder and a decoder that looks at its output; either may be missing.

    Args: As TransformerEncoder and TransformerDecoder.
        encoder_layers: How many layers the encoder has; 0: there is none.
        decoder_layers: How many the decoder has; 0: there is none.
    """

    def __init__(
        self,
        hidden_size: int,
        batch_size: int | None,
        ffn_hidden_size: int,
        src_seq_length: int,
        tgt_seq_length: int,
        encoder_layers: int = 3,
        decoder_layers: int = 3,
        num_heads: int = 2,
        attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1,
        hidden_act: Any = "gelu",
        post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32,
        lambda_func: Callable[..., None] | None = None,
        use_past: bool = False,
        moe_config: MoEConfig = default_moe_config,
        parallel_config: TransformerOpParallelConfig = default_transformer_config,
    ) -> None:
        super().__init__()
        if encoder_layers <= 0 < decoder_layers:
            raise ValueError(
                f"For '{self.cls_name}', 'encoder_layers' must be at least 1 with a decoder, but got {encoder_layers}."
            )
        settings: dict[str, Any] = {
            "attention_dropout_rate": attention_dropout_rate,
            "hidden_dropout_rate": hidden_dropout_rate,
            "hidden_act": hidden_act,
            "post_layernorm_residual": post_layernorm_residual,
            "layernorm_compute_type": layernorm_compute_type,
            "softmax_compute_type": softmax_compute_type,
            "param_init_type": param_init_type,
            "lambda_func": lambda_func,
            "use_past": use_past,
            "moe_config": moe_config,
            "parallel_config": parallel_config,
        }
        self.encoder: Cell | None = None
        self.decoder: Cell | None = None
        if encoder_layers > 0:
            self.encoder = TransformerEncoder(
                batch_size,
                encoder_layers,
                hidden_size,
                ffn_hidden_size,
                src_seq_length,
                num_heads,
                **settings,
            )
        if decoder_layers > 0:
            self.decoder = TransformerDecoder(
                decoder_layers,
                batch_size,
                hidden_size,
                ffn_hidden_size,
                src_seq_length,
                tgt_seq_length,
                num_heads,
                offset=encoder_layers,
                **settings,
            )

    def construct(
        self,
        encoder_inputs: Tensor | None = None,
        encoder_masks: Tensor | None = None,
        decoder_inputs: Tensor | None = None,
        decoder_masks: Tensor | None = None,
        memory_mask: Tensor | None = None,
        init_reset: Any = True,
        batch_valid_length: Tensor | None = None,
    ) -> tuple:
        """The output, what the layers of encoder and decoder have kept, and with experts their loss."""
        output: Any = None
        kept: list[Any] = [None, None]
        losses: list[Any] = []
        if self.encoder is not None:
            output, kept[0], *loss = self.encoder(
                encoder_inputs, encoder_masks, init_reset, batch_valid_length
            )
            losses += loss
        if self.decoder is not None:
            output, kept[1], *loss = self.decoder(
                decoder_inputs, decoder_masks, output, memory_mask, init_reset, batch_valid_length
            )
            losses += loss
        result = (output, *kept)
        return (*result, sum(losses[1:], losses[0])) if losses else result


__all__ = [
    "AttentionMask",
    "EmbeddingOpParallelConfig",
    "FeedForward",
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransformerOpParallelConfig",
    "TransformerRecomputeConfig",
    "VocabEmbedding",
]
