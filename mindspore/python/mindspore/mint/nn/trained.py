"""Layers with parameters, under the names and in the order of arguments of `mint`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.mint.nn import functional
from mindspore.nn._uneven import NormalizedTogether
from mindspore.nn.cell import Cell

_PADDINGS = ("zeros", "reflect", "replicate", "circular")


def _dtype(given: Any) -> Any:
    return mstype.float32 if given is None else given


def _parameter(how: Any, shape: Sequence[int], name: str, dtype: Any) -> Parameter:
    return Parameter(initializer(how, tuple(shape), _dtype(dtype)), name=name)


def _sizes(owner: str, name: str, value: Any, count: int, least: int) -> tuple[int, ...]:
    sizes = (value,) * count if isinstance(value, int) else tuple(value)
    if len(sizes) != count or any(not isinstance(s, int) or s < least for s in sizes):
        raise ValueError(
            f"For '{owner}', '{name}' must be an int or {count} ints of at least {least}, but got {value}."
        )
    return sizes


def _positive(owner: str, **values: int) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(
                f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}."
            )
        if value < 1:
            raise ValueError(f"For '{owner}', '{name}' must be greater than 0, but got {value}.")


# ---- convolutions ---------------------------------------------------------------------------------
class _Conv(Cell):
    _spatial = 2
    _function: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        name, count = self.cls_name, self._spatial
        _positive(name, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"For '{name}', the channels must be multiples of 'groups' {groups}, but got "
                f"{in_channels} and {out_channels}."
            )
        if padding_mode not in _PADDINGS:
            raise ValueError(
                f"For '{name}', 'padding_mode' must be one of {_PADDINGS}, but got {padding_mode!r}."
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = _sizes(name, "kernel_size", kernel_size, count, 1)
        self.stride = _sizes(name, "stride", stride, count, 1)
        self.dilation = _sizes(name, "dilation", dilation, count, 1)
        self.padding_mode = padding_mode
        self.padding: Any = (
            padding if isinstance(padding, str) else _sizes(name, "padding", padding, count, 0)
        )
        self._make_parameters(bias, dtype)

    def _make_parameters(self, bias: bool, dtype: Any) -> None:
        shape = (self.out_channels, self.in_channels // self.groups, *self.kernel_size)
        self.weight = _parameter(HeUniform(math.sqrt(5)), shape, "weight", dtype)
        bound = 1 / math.sqrt(int(np.prod(shape[1:])))
        self.bias = (
            _parameter(Uniform(bound), (self.out_channels,), "bias", dtype) if bias else None
        )

    def _around(self) -> list[int]:
        """Pairs of counts from the last dimension on."""
        if not isinstance(self.padding, str):
            return [p for size in self.padding[::-1] for p in (size, size)]
        if self.padding == "valid":
            return [0] * (2 * self._spatial)
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return [p for total in totals[::-1] for p in (total // 2, total - total // 2)]

    def construct(self, input: Tensor) -> Tensor:
        """The convolution."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._around(), self.padding_mode)
            padding = 0
        how = (self.stride, padding, self.dilation, self.groups)
        return type(self)._function(input, self.weight, self.bias, *how)

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"groups={self.groups}, bias={self.bias is not None}"
        )


class Conv1d(_Conv):
    """Convolution of sequences [N, C, L]."""

    _spatial = 1
    _function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Convolution of images [N, C, H, W]."""

    _function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Convolution of volumes [N, C, D, H, W]."""

    _spatial = 3
    _function = staticmethod(functional.conv3d)


class ConvTranspose2d(_Conv):
    """The transpose of a convolution of images."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: Literal["zeros"] = "zeros",
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f"For 'ConvTranspose2d', 'padding_mode' must be 'zeros', but got {padding_mode!r}."
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            dtype=dtype,
        )
        self.output_padding = _sizes(self.cls_name, "output_padding", output_padding, 2, 0)

    def _make_parameters(self, bias: bool, dtype: Any) -> None:
        shape = (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        self.weight = _parameter(HeUniform(math.sqrt(5)), shape, "weight", dtype)
        bound = 1 / math.sqrt(int(np.prod(shape[1:])))
        self.bias = (
            _parameter(Uniform(bound), (self.out_channels,), "bias", dtype) if bias else None
        )

    def construct(self, input: Tensor) -> Tensor:
        """The larger images."""
        how = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return functional.conv_transpose2d(input, self.weight, self.bias, *how)


# ---- norms ----------------------------------------------------------------------------------------
class _BatchNorm(Cell):
    _ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _positive(self.cls_name, num_features=num_features)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        shape = (num_features,)
        self.weight = _parameter("ones", shape, "weight", dtype) if affine else None
        self.bias = _parameter("zeros", shape, "bias", dtype) if affine else None
        self.running_mean = self.running_var = None
        if track_running_stats:
            self.running_mean = self._kept("zeros", "running_mean", dtype)
            self.running_var = self._kept("ones", "running_var", dtype)

    def _kept(self, how: str, name: str, dtype: Any) -> Parameter:
        start = initializer(how, (self.num_features,), _dtype(dtype))
        return Parameter(start, name=name, requires_grad=False)

    def construct(self, input: Tensor) -> Tensor:
        """The normalised channels."""
        self._check_rank(input)
        training = self.training or self.running_mean is None
        how = (self.running_mean, self.running_var, self.weight, self.bias, training)
        return functional.batch_norm(input, *how, self.momentum, self.eps)

    def _check_rank(self, input: Tensor) -> None:
        if input.ndim not in self._ranks:
            ranks = " or ".join(map(str, self._ranks))
            raise ValueError(
                f"For '{self.cls_name}', the input must have {ranks} dimensions, but got {input.ndim}."
            )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [N, C] or [N, C, L]."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [N, C, H, W]."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of [N, C, D, H, W]."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm, NormalizedTogether):
    """Batch normalisation over all processes of a group; of one process, its own batch."""

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group
        self.at = _groups.member(process_group, self.cls_name)
        self._begin_even(self.at.group)

    def construct(self, input: Tensor) -> Tensor:
        """The normalised channels."""
        own = not self.training and self.running_mean is not None
        if own or self.at.size == 1:
            return super().construct(input)
        self._check_rank(input)
        y, mean, variance = self._whitened(input, self.weight, self.bias, self.eps)
        if self.running_mean is not None:
            self._follow(self.running_mean, mean, 1 - self.momentum)
            self._follow(self.running_var, variance, 1 - self.momentum)
        return y


class GroupNorm(Cell):
    """Groups of channels less their mean and by their deviation."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _positive(self.cls_name, num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(
                f"For '{self.cls_name}', 'num_channels' must be a multiple of 'num_groups' "
                f"{num_groups}, but got {num_channels}."
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = _parameter("ones", (num_channels,), "weight", dtype) if affine else None
        self.bias = _parameter("zeros", (num_channels,), "bias", dtype) if affine else None

    def construct(self, input: Tensor) -> Tensor:
        """The normalised groups."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


__all__ = [
    name
    for name, value in list(globals().items())
    if isinstance(value, type)
    and issubclass(value, Cell)
    and not name.startswith("_")
    and value is not Cell
]
