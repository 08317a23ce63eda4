"""Layers that train for quantised inference: they round values as small integers would, and pass gradients on as if they did not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._dtypes import rounded
from mindspore.common._kinds import Count, Finite, Ints, NotNegative, PositiveInt, within
from mindspore.common.dtype import QuantDtype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._folded_norm import FoldedNorm
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d, PadMode

Decay = Annotated[float, within(0, 1, "both")]


def _bits(dtype: QuantDtype) -> int:
    """How many bits a number has."""
    return int("".join(c for c in dtype.name if c.isdigit()))


def fake_quantized(
    x: Tensor, low: Tensor, high: Tensor, bits: int, symmetric: bool, narrow: bool
) -> Tensor:
    """The nearest values that integers between two bounds can stand for; the gradient is that of a clip.

    Args:
        x: The values.
        low: The lower bound, not above 0.
        high: The upper bound, not below 0.
        bits: The size of the integers.
        symmetric: Whether both bounds are equally far from 0.
        narrow: Whether the least integer is left out.
    """
    least = (1 if narrow else 0) - (2 ** (bits - 1) if symmetric else 0)
    most = 2 ** (bits - 1) - 1 if symmetric else 2**bits - 1
    if symmetric:
        high = ops.maximum(ops.abs(low), ops.abs(high))
        low = -high
    scale = ops.maximum((high - low) / (most - least), 1e-30)
    zero = ops.minimum(ops.maximum(ops.round(least - low / scale), float(least)), float(most))
    inside = ops.minimum(ops.maximum(x, (least - zero) * scale), (most - zero) * scale)
    rounded = ops.round(inside / scale) * scale
    return inside + ops.stop_gradient(rounded - inside)


class FakeQuantWithMinMaxObserver(Cell):
    """Rounds as integers between the least and the largest value that it has seen would.

    Args:
        min_init: The lower bound at the start, or one for each channel.
        max_init: The upper bound at the start, or one for each channel.
        ema: Whether bounds follow by a moving average.
        ema_decay: The factor of that.
        per_channel: Whether each channel has bounds of its own.
        channel_axis: The axis of channels.
        num_channels: How many there are.
        quant_dtype: The size of the integers.
        symmetric: Whether both bounds are equally far from 0.
        narrow_range: Whether the least integer is left out.
        quant_delay: Steps in training before anything is rounded.
        neg_trunc: Whether the lower bound is 0.
        mode: 'DEFAULT' takes the bounds of the batch; 'LEARNED_SCALE' trains the bounds.
    """

    def __init__(
        self,
        min_init: Finite | Sequence[Finite] = -6,
        max_init: Finite | Sequence[Finite] = 6,
        ema: bool = False,
        ema_decay: Decay = 0.999,
        per_channel: bool = False,
        channel_axis: Count = 1,
        num_channels: PositiveInt = 1,
        quant_dtype: QuantDtype = QuantDtype.INT8,
        symmetric: bool = False,
        narrow_range: bool = False,
        quant_delay: Count = 0,
        neg_trunc: bool = False,
        mode: Literal["DEFAULT", "LEARNED_SCALE"] = "DEFAULT",
    ) -> None:
        super().__init__()
        self.ema = ema
        self.ema_decay = ema_decay
        self.per_channel = per_channel
        self.channel_axis = channel_axis
        self.num_channels = num_channels
        self.quant_dtype = quant_dtype
        self.num_bits = _bits(quant_dtype)
        self.symmetric = symmetric
        self.narrow_range = narrow_range
        self.quant_delay = quant_delay
        self.neg_trunc = neg_trunc
        self.mode = mode
        learned = mode == "LEARNED_SCALE"
        self.minq = Parameter(self._bound(min_init, "min_init"), name="minq", requires_grad=learned)
        self.maxq = Parameter(self._bound(max_init, "max_init"), name="maxq", requires_grad=learned)
        self.seen = Parameter(Tensor(0, mstype.int32), name="seen", requires_grad=False)

    def _bound(self, value: Any, name: str) -> Tensor:
        count = self.num_channels if self.per_channel else 1
        if isinstance(value, (tuple, list)) and len(value) != count:
            raise ValueError(
                f"For '{self.cls_name}', '{name}' must be a number or {count} of them, but got {value}."
            )
        if isinstance(value, (tuple, list)):
            return Tensor(value, mstype.float32)
        return initializer(float(value), (count,), mstype.float32)

    def construct(self, x: Tensor) -> Tensor:
        """The rounded values."""
        if self.training and self.mode == "DEFAULT":
            self._observe(x)
        shape = [1] * x.ndim
        if self.per_channel:
            shape[self.channel_axis] = self.num_channels
        low, high = self.minq.reshape(shape), self.maxq.reshape(shape)
        given = x.astype(mstype.float32)
        made = fake_quantized(
            given, low, high, self.num_bits, self.symmetric, self.narrow_range
        ).astype(x.dtype)
        if not self.training or not self.quant_delay:
            return made
        return ops.select(self.seen > self.quant_delay, made, x)

    def _observe(self, x: Tensor) -> None:
        """Let the bounds follow a batch."""
        axes: Any = tuple(
            i for i in range(x.ndim) if not (self.per_channel and i == self.channel_axis)
        )
        known = ops.stop_gradient(x).astype(mstype.float32)
        low = ops.minimum(known.min(axis=axes), 0.0).reshape(self.minq.shape)
        high = ops.maximum(known.max(axis=axes), 0.0).reshape(self.maxq.shape)
        if self.neg_trunc:
            low = low * 0
        if self.ema:
            keeps = ops.select(self.seen > 0, Tensor(self.ema_decay), Tensor(0.0))
            low = self.minq * keeps + low * (1.0 - keeps)
            high = self.maxq * keeps + high * (1.0 - keeps)
        ops.assign(self.minq, low)
        ops.assign(self.maxq, high)
        ops.assign_add(self.seen, Tensor(1, mstype.int32))

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"quant_dtype={self.quant_dtype}, symmetric={self.symmetric}, narrow_range={self.narrow_range}, ema={self.ema}, "
            f"per_channel={self.per_channel}, quant_delay={self.quant_delay}"
        )


class QuantConfig(NamedTuple):
    """How weights and activations are rounded: two functions that make observers."""

    weight: Callable[..., Cell]
    activation: Callable[..., Cell]


quant_config_default = QuantConfig(FakeQuantWithMinMaxObserver, FakeQuantWithMinMaxObserver)


def _of_weight(config: QuantConfig, dtype: QuantDtype, channels: int) -> Cell:
    """The observer of a weight whose first axis is that of channels."""
    return config.weight(ema=False, channel_axis=0, num_channels=channels, quant_dtype=dtype)


class Conv2dQuant(Conv2d):
    """A convolution whose weight is rounded.

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
        quant_config: How the weight is rounded.
        quant_dtype: The size of the integers.
    """

    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: PositiveInt = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
    ) -> None:
        super().__init__(
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
        self.fake_quant_weight = _of_weight(quant_config, quant_dtype, out_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The convolution."""
        output = self.conv2d(x, self.fake_quant_weight(self.weight))
        return self.bias_add(output, self.bias) if self.has_bias else output


class Conv2dBnFoldQuantOneConv(FoldedNorm):
    """A convolution and its batch normalisation as one convolution with a rounded weight, by the moving moments.

    Args:
        in_channels: As for Conv2d.
        out_channels: As for Conv2d.
        kernel_size: As for Conv2d.
        stride: As for Conv2d.
        pad_mode: As for Conv2d.
        padding: As for Conv2d.
        dilation: As for Conv2d.
        group: As for Conv2d.
        eps: Added to the variance.
        momentum: What stays of the moving moments.
        has_bias: As for Conv2d.
        weight_init: As for Conv2d.
        bias_init: As for Conv2d.
        beta_init: How the shift starts.
        gamma_init: How the scale starts.
        mean_init: How the moving mean starts.
        var_init: How the moving variance starts.
        fake: Whether the weight is rounded.
        quant_config: How the weight is rounded.
        quant_dtype: The size of the integers.
    """

    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: PositiveInt = 1,
        eps: NotNegative = 1e-5,
        momentum: Decay = 0.997,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        beta_init: Any = "zeros",
        gamma_init: Any = "ones",
        mean_init: Any = "zeros",
        var_init: Any = "ones",
        fake: bool = True,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
    ) -> None:
        shape = (in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group)
        inits = (weight_init, bias_init, beta_init, gamma_init, mean_init, var_init)
        observer = _of_weight(quant_config, quant_dtype, out_channels)
        super().__init__(shape, eps, momentum, has_bias, inits, fake, observer)

    def construct(self, x: Tensor) -> Tensor:
        """The normalised convolution."""
        if not self.training:
            return self._still(x)
        factor = self.gamma / ops.sqrt(self.moving_variance + self.eps)
        plain = self._folded(x, factor) / factor.reshape((1, -1, 1, 1))
        if self.has_bias:
            plain = self.bias_add(plain, self.bias)
        mean, variance = self._moments(plain)
        own = self.gamma / ops.sqrt(variance + self.eps)
        shift = self.beta - mean * own
        normed = plain * own.reshape((1, -1, 1, 1)) + shift.reshape((1, -1, 1, 1))
        return rounded(normed, plain)


class Conv2dBnFoldQuant(FoldedNorm):
    """A convolution and its batch normalisation as one convolution with a rounded weight, by the moments of the batch.

    Args:
        in_channels: As for Conv2d.
        out_channels: As for Conv2d.
        kernel_size: As for Conv2d.
        stride: As for Conv2d.
        pad_mode: As for Conv2d.
        padding: As for Conv2d.
        dilation: As for Conv2d.
        group: As for Conv2d.
        eps: Added to the variance.
        momentum: What stays of the moving moments.
        has_bias: As for Conv2d.
        weight_init: As for Conv2d.
        bias_init: As for Conv2d.
        beta_init: How the shift starts.
        gamma_init: How the scale starts.
        mean_init: How the moving mean starts.
        var_init: How the moving variance starts.
        fake: Whether the weight is rounded.
        quant_config: How the weight is rounded.
        quant_dtype: The size of the integers.
        freeze_bn: The step from which on the moving moments are taken, and stay.
    """

    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: PositiveInt = 1,
        eps: NotNegative = 1e-5,
        momentum: Decay = 0.997,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        beta_init: Any = "zeros",
        gamma_init: Any = "ones",
        mean_init: Any = "zeros",
        var_init: Any = "ones",
        fake: bool = True,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
        freeze_bn: Count = 100000,
    ) -> None:
        shape = (in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group)
        inits = (weight_init, bias_init, beta_init, gamma_init, mean_init, var_init)
        observer = _of_weight(quant_config, quant_dtype, out_channels)
        super().__init__(shape, eps, momentum, has_bias, inits, fake, observer)
        self.freeze_bn = freeze_bn
        self.step = Parameter(Tensor(0, mstype.int32), name="step", requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        """The normalised convolution."""
        if not self.training:
            return self._still(x)
        ops.assign_add(self.step, Tensor(1, mstype.int32))
        if self.step > self.freeze_bn:
            return self._still(x)
        plain = self.conv2d(x, self.weight)
        if self.has_bias:
            plain = self.bias_add(plain, self.bias)
        mean, variance = self._moments(plain)
        factor = self.gamma / ops.sqrt(variance + self.eps)
        return self._shifted(self._folded(x, factor), mean, factor)


class DenseQuant(Dense):
    """A fully connected layer whose weight is rounded.

    Args:
        in_channels: As for Dense.
        out_channels: As for Dense.
        weight_init: As for Dense.
        bias_init: As for Dense.
        has_bias: As for Dense.
        activation: As for Dense.
        quant_config: How the weight is rounded.
        quant_dtype: The size of the integers.
    """

    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        activation: Any = None,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
    ) -> None:
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self.fake_quant_weight = _of_weight(quant_config, quant_dtype, out_channels)

    def _project(self, x: Tensor) -> Tensor:
        x = self.matmul(x, self.fake_quant_weight(self.weight))
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        return self.activation(x) if self.activation_flag else x


class ActQuant(Cell):
    """An activation whose output is rounded.

    Args:
        activation: A Cell, or its name.
        ema: Whether bounds follow by a moving average.
        ema_decay: The factor of that.
        fake_before: Whether the input is rounded, too.
        quant_config: How it is rounded.
        quant_dtype: The size of the integers.
    """

    def __init__(
        self,
        activation: Any,
        ema: bool = False,
        ema_decay: Decay = 0.999,
        fake_before: bool = False,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
    ) -> None:
        super().__init__()
        settings = {"ema": ema, "ema_decay": ema_decay, "quant_dtype": quant_dtype}
        self.fake_before = fake_before
        if fake_before:
            self.fake_quant_act_before = quant_config.activation(**settings)
        self.fake_quant_act = quant_config.activation(**settings)
        self.act: Any = activation
        if isinstance(activation, str):
            self.act = get_activation(activation, self.cls_name)

    def construct(self, x: Tensor) -> Tensor:
        """The rounded activation."""
        if self.fake_before:
            x = self.fake_quant_act_before(x)
        return self.fake_quant_act(self.act(x))


class TensorAddQuant(Cell):
    """A sum that is rounded.

    Args:
        ema_decay: The factor by which bounds follow.
        quant_config: How it is rounded.
        quant_dtype: The size of the integers.
    """

    def __init__(
        self,
        ema_decay: Decay = 0.999,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: QuantDtype = QuantDtype.INT8,
    ) -> None:
        super().__init__()
        self.fake_quant_act = quant_config.activation(
            ema=True, ema_decay=ema_decay, quant_dtype=quant_dtype
        )

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The rounded sum."""
        return self.fake_quant_act(x1 + x2)


class MulQuant(TensorAddQuant):
    """A product that is rounded.

    Args:
        ema_decay: The factor by which bounds follow.
        quant_config: How it is rounded.
        quant_dtype: The size of the integers.
    """

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The rounded product."""
        return self.fake_quant_act(x1 * x2)


__all__ = [
    "ActQuant",
    "Conv2dBnFoldQuant",
    "Conv2dBnFoldQuantOneConv",
    "Conv2dQuant",
    "DenseQuant",
    "FakeQuantWithMinMaxObserver",
    "MulQuant",
    "TensorAddQuant",
]
