"""Layers that join a convolution or a dense layer with normalisation and activation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common._kinds import Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import LeakyReLU, get_activation
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d, PadMode
from mindspore.nn.layer.normalization import BatchNorm1d, BatchNorm2d


def _activation(activation: Any, alpha: float, owner: str) -> Any:
    """The activation from its name, a Cell or a Primitive; None where there is none."""
    if activation is None:
        return None
    if activation == "leakyrelu":
        return LeakyReLU(alpha)
    return get_activation(activation, owner) if isinstance(activation, str) else activation


class Conv2dBnAct(Cell):
    """Conv2d, then BatchNorm2d if asked for, then an activation if there is one.

    Args:
        in_channels: As for Conv2d.
        out_channels: As for Conv2d.
        kernel_size: As for Conv2d.
        stride: As for Conv2d.
        pad_mode: As for Conv2d.
        padding: As for Conv2d.
        dilation: As for Conv2d.
        group: As for Conv2d.
        has_bias: As for Conv2d.
        weight_init: As for Conv2d.
        bias_init: As for Conv2d.
        has_bn: Whether a BatchNorm2d follows.
        momentum: The momentum of the BatchNorm2d.
        eps: The eps of the BatchNorm2d.
        activation: A name, a Cell or a Primitive.
        alpha: The slope of 'leakyrelu'.
        after_fake: Accepted for quantisation.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: str | Callable | None = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
        )
        self.has_bn = has_bn
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.after_fake = after_fake
        self.activation = _activation(activation, alpha, self.cls_name)
        self.has_act = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        """The output of the last part."""
        x = self.conv(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x


class DenseBnAct(Cell):
    """Dense, then BatchNorm1d if asked for, then an activation if there is one.

    Args:
        in_channels: As for Dense.
        out_channels: As for Dense.
        weight_init: As for Dense.
        bias_init: As for Dense.
        has_bias: As for Dense.
        has_bn: Whether a BatchNorm1d follows.
        momentum: The momentum of the BatchNorm1d.
        eps: The eps of the BatchNorm1d.
        activation: A name, a Cell or a Primitive.
        alpha: The slope of 'leakyrelu'.
        after_fake: Accepted for quantisation.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: str | Callable | None = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn = has_bn
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.after_fake = after_fake
        self.activation = _activation(activation, alpha, self.cls_name)
        self.has_act = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        """The output of the last part."""
        x = self.dense(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x


__all__ = ["Conv2dBnAct", "DenseBnAct"]
