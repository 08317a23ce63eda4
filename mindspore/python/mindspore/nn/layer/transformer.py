"""The layers of the Transformer: encoder and decoder, one layer of either, and both together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Layers, PositiveInt
from mindspore.common.initializer import XavierUniform, initializer
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.attention import MultiheadAttention
from mindspore.nn.layer.basic import Dense, Dropout
from mindspore.nn.layer.container import CellList
from mindspore.nn.layer.normalization import LayerNorm


def _activation(given: str | Callable, owner: str) -> Callable:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise ValueError(
            f"For '{owner}', 'activation' must be 'relu', 'gelu' or callable, but got '{given}'."
        )
    return cast(Callable, getattr(ops, given))  # the exact one, unlike the layer of that name


class _Layer(Cell):
    """What layers of encoder and decoder share: self-attention, two dense layers, norms around each part."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: PositiveInt,
        dropout: float,
        activation: str | Callable,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        dtype: Any,
        cross: bool,
    ) -> None:
        super().__init__()

        def attention() -> MultiheadAttention:
            return MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)

        self.self_attn = attention()
        if cross:
            self.multihead_attn = attention()
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.activation = _activation(activation, self.cls_name)
        parts = range(1, 4 if cross else 3)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(p=dropout))

    def _around(self, part: Callable, x: Tensor, norm: Cell) -> Tensor:
        """x and the part of it, normalised before or after."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _own(self, x: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask)[0])

    def _feed(self, x: Tensor, dropout: Cell) -> Tensor:
        return dropout(self.dense2(self.dropout(self.activation(self.dense1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two dense layers, each with a residual connection and a layer norm.

    Args:
        d_model: The width of inputs and outputs.
        nhead: How many heads of attention there are.
        dim_feedforward: The width between the dense layers.
        dropout: The share that is dropped after each part, of attention weights and between the dense layers.
        activation: 'relu', 'gelu', ..., a Cell or a function.
        layer_norm_eps: The epsilon of the layer norms.
        batch_first: Inputs are [batch, length, width] instead of [length, batch, width].
        norm_first: Normalise before each part instead of after.
        dtype: The dtype of the parameters.

    Inputs:
        src: The sequence; src_mask and src_key_padding_mask as in MultiheadAttention.

    Outputs:
        Shaped as src.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, dtype, cross=False,
        )  # fmt: skip

    def construct(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """The layer's output."""
        x = self._around(lambda y: self._own(y, src_mask, src_key_padding_mask), src, self.norm1)
        return self._around(lambda y: self._feed(y, self.dropout2), x, self.norm2)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output and two dense layers, each with a residual connection.

    Args: As TransformerEncoderLayer.

    Inputs:
        tgt: The sequence; memory: what the encoder gave; masks of both as in MultiheadAttention.

    Outputs:
        Shaped as tgt.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, dtype, cross=True,
        )  # fmt: skip

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """The layer's output."""

        def look(y: Tensor) -> Tensor:
            seen = self.multihead_attn(
                y, memory, memory, memory_key_padding_mask, False, memory_mask
            )
            return self.dropout2(seen[0])

        x = self._around(lambda y: self._own(y, tgt_mask, tgt_key_padding_mask), tgt, self.norm1)
        x = self._around(look, x, self.norm2)
        return self._around(lambda y: self._feed(y, self.dropout3), x, self.norm3)


def _copies(layer: Cell, count: int) -> CellList:
    """Layers like the given one, each with parameters of its own."""
    return CellList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Cell):
    """Encoder layers one after the other.

    Args:
        encoder_layer: What is copied.
        num_layers: How often.
        norm: Applied at the end, where it is given.
    """

    def __init__(self, encoder_layer: Cell, num_layers: Layers, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """The last layer's output."""
        for layer in self.layers:
            src = layer(src, src_mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """Decoder layers one after the other.

    Args:
        decoder_layer: What is copied.
        num_layers: How often.
        norm: Applied at the end, where it is given.
    """

    def __init__(self, decoder_layer: Cell, num_layers: Layers, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """The last layer's output."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """Encoder and decoder, with a norm at the end of each.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype: As
            TransformerEncoderLayer.
        num_encoder_layers: How many layers the encoder has.
        num_decoder_layers: How many layers the decoder has.
        custom_encoder: Used instead of the encoder.
        custom_decoder: Used instead of the decoder.

    Inputs:
        src, tgt: What is encoded and what is decoded; masks as in the layers.

    Outputs:
        Shaped as tgt.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: Layers = 6,
        num_decoder_layers: Layers = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.d_model, self.nhead = d_model, nhead
        self.batch_first = batch_first
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        for parameter in self.get_parameters():
            if parameter.ndim > 1:
                parameter.set_data(initializer(XavierUniform(), parameter.shape, parameter.dtype))

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """The decoder's output."""
        self._check_inputs(src, tgt)
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )

    def _check_inputs(self, src: Tensor, tgt: Tensor) -> None:
        if (
            not src.ndim == tgt.ndim > 0
            or src.shape[-1] != self.d_model
            or tgt.shape[-1] != self.d_model
        ):
            raise ValueError(
                f"For '{self.cls_name}', 'src' and 'tgt' must have as many dimensions and the "
                f"width {self.d_model}, but got {src.shape} and {tgt.shape}."
            )
        axis = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[axis] != tgt.shape[axis]:
            raise ValueError(
                f"For '{self.cls_name}', 'src' and 'tgt' must have the same batch size, "
                f"but got {src.shape} and {tgt.shape}."
            )


__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
