"""What convolutions and transposed ones share: settings, their checks, weight and bias."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

from mindspore.common._kinds import Ints, PositiveInt
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P

PadMode: TypeAlias = Literal["same", "valid", "pad"]


def _int_tuple(value: Ints, size: int, name: str, owner: str, minimum: int = 1) -> tuple[int, ...]:
    """A tuple of `size` ints from one, or from so many, each at least `minimum`."""
    items = (value,) * size if isinstance(value, int) else tuple(value)
    if len(items) != size:
        raise ValueError(
            f"For '{owner}', '{name}' must be an int or a tuple of {size} ints, but got {value}."
        )
    if min(items) < minimum:
        raise ValueError(
            f"For '{owner}', every size in '{name}' must be at least {minimum}, but got {value}."
        )
    return items


class _Conv(Cell):
    """What all convolutions share: settings, their checks, weight and bias.

    `rank` is the number of spatial dimensions. In one dimension all sizes get a 1 in front, as the
    ops work on images.
    """

    def __init__(
        self,
        rank: int,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Ints,
        stride: Ints,
        pad_mode: PadMode,
        padding: Ints,
        dilation: Ints,
        group: PositiveInt,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        data_format: Literal["NCHW", "NHWC", "NCDHW"],
        dtype: Any,
        transposed: bool = False,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.group = group
        lead = (1,) * (2 - rank)
        self.kernel_size = lead + _int_tuple(kernel_size, rank, "kernel_size", owner)
        self.stride = lead + _int_tuple(stride, rank, "stride", owner)
        self.dilation = lead + _int_tuple(dilation, rank, "dilation", owner)
        self.pad_mode = pad_mode
        self.pads = self._check_padding(rank, padding)
        self.padding = padding if rank == 2 else self.pads
        self.has_bias = has_bias
        self.data_format = data_format
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"For '{owner}', 'in_channels' and 'out_channels' must be divisible by 'group', "
                f"but got {in_channels}, {out_channels} and {group}."
            )
        shape = self._weight_shape(transposed)
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias_init = bias_init
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                fan_in = math.prod(shape) // shape[0]
                self.bias_init = Uniform(1 / math.sqrt(fan_in))
            self.bias = Parameter(initializer(self.bias_init, (out_channels,), dtype), name="bias")
            self.bias_add = P.BiasAdd(data_format=self.data_format)

    def _weight_shape(self, transposed: bool) -> tuple[int, ...]:
        first, second = self.out_channels, self.in_channels // self.group
        if transposed:
            first, second = self.in_channels, self.out_channels // self.group
        if self.data_format == "NHWC":
            return (first, *self.kernel_size, second)
        return (first, second, *self.kernel_size)

    def _check_padding(self, rank: int, padding: Any) -> tuple[int, ...]:
        """(before, after) of each dimension from what the user gave."""
        pads = _int_tuple(padding, 2 * rank, "padding", self.cls_name, minimum=0)
        if self.pad_mode != "pad" and any(pads):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must be 0 unless 'pad_mode' is 'pad', "
                f"but got padding {padding} and pad_mode '{self.pad_mode}'."
            )
        return (0,) * (4 - 2 * rank) + pads

    def _op(self, make: Any, out_channels: int, **settings: Any) -> Any:
        """The op with these settings."""
        return make(
            out_channel=out_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.pads,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
            data_format=self.data_format,
            **settings,
        )

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
        )
