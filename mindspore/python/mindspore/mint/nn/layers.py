"""Layers without parameters: each keeps the arguments of a function and applies it. A line of the table is one of them."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.mint.nn import functional
from mindspore.nn.cell import Cell

# Layer(arguments of its making) = function(arguments behind its inputs). A loss has two inputs, an unpooling three.
_LAYERS = """
    AdaptiveAvgPool1d(output_size) = adaptive_avg_pool1d(output_size)
    AdaptiveAvgPool2d(output_size) = adaptive_avg_pool2d(output_size)
    AdaptiveAvgPool3d(output_size) = adaptive_avg_pool3d(output_size)
    AdaptiveMaxPool1d(output_size, return_indices=False) = adaptive_max_pool1d(output_size, return_indices)
    AdaptiveMaxPool2d(output_size, return_indices=False) = adaptive_max_pool2d(output_size, return_indices)
    AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) = avg_pool1d(kernel_size, stride, padding, ceil_mode, count_include_pad)
    AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) = avg_pool2d(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) = avg_pool3d(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    BCELoss(weight=None, reduction='mean') = binary_cross_entropy(weight, reduction)
    BCEWithLogitsLoss(weight=None, reduction='mean', pos_weight=None) = binary_cross_entropy_with_logits(weight, reduction, pos_weight)
    CrossEntropyLoss(weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0) = cross_entropy(weight, ignore_index, reduction, label_smoothing)
    ELU(alpha=1.0, inplace=False) = elu(alpha, inplace)
    Flatten(start_dim=1, end_dim=-1) = flatten(start_dim, end_dim)
    Fold(output_size, kernel_size, dilation=1, padding=0, stride=1) = fold(output_size, kernel_size, dilation, padding, stride)
    GELU(approximate='none') = gelu(approximate)
    GLU(dim=-1) = glu(dim)
    Hardshrink(lambd=0.5) = hardshrink(lambd)
    Hardsigmoid() = hardsigmoid()
    Hardswish() = hardswish()
    Hardtanh(min_val=-1.0, max_val=1.0, inplace=False) = hardtanh(min_val, max_val, inplace)
    KLDivLoss(reduction='mean', log_target=False) = kl_div(reduction, log_target)
    L1Loss(reduction='mean') = l1_loss(reduction)
    LeakyReLU(negative_slope=0.01) = leaky_relu(negative_slope)
    MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) = max_pool2d(kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    MaxUnpool2d(kernel_size, stride=None, padding=0) = max_unpool2d(kernel_size, stride, padding)
    MSELoss(reduction='mean') = mse_loss(reduction)
    NLLLoss(weight=None, ignore_index=-100, reduction='mean') = nll_loss(weight, ignore_index, reduction)
    PixelShuffle(upscale_factor) = pixel_shuffle(upscale_factor)
    ReLU() = relu()
    ReLU6(inplace=False) = relu6(inplace)
    SELU() = selu()
    Sigmoid() = sigmoid()
    SiLU(inplace=False) = silu(inplace)
    SmoothL1Loss(reduction='mean', beta=1.0) = smooth_l1_loss(reduction, beta)
    Softmax(dim=None) = softmax(dim)
    Threshold(threshold, value, inplace=False) = threshold(threshold, value, inplace)
    Unfold(kernel_size, dilation=1, padding=0, stride=1) = unfold(kernel_size, dilation, padding, stride)
    Upsample(size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None) = interpolate(size, scale_factor, mode, align_corners, recompute_scale_factor)
"""


class _Applies(Cell):
    """Applies a function with the arguments that were given when it was made."""

    _function: Any
    _signature: inspect.Signature
    _arguments_of_call: tuple[str, ...]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{type(self).__name__}', {error}.") from None
        bound.apply_defaults()
        self._given = dict(bound.arguments)
        self._behind = tuple(self._given[name] for name in self._arguments_of_call)

    def construct(self, *inputs: Tensor) -> Any:
        """The result of the function."""
        return type(self)._function(*inputs, *self._behind)

    def extend_repr(self) -> str:
        """The arguments of its making."""
        return ", ".join(f"{name}={value}" for name, value in self._given.items())


def _parameters(text: str) -> inspect.Signature:
    arguments = ast.parse(f"lambda {text}: 0", mode="eval").body.args  # type: ignore[attr-defined]
    missing = [inspect.Parameter.empty] * (len(arguments.args) - len(arguments.defaults))
    defaults = missing + [ast.literal_eval(d) for d in arguments.defaults]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(a.arg, kind, default=d) for a, d in zip(arguments.args, defaults)]
    )


def _made(line: str) -> type:
    layer, _, call = line.rpartition(" = ")
    name, _, own = layer.strip().rstrip(")").partition("(")
    function, _, behind = call.strip().rstrip(")").partition("(")
    applied = getattr(functional, function)
    members = {
        "__doc__": applied.__doc__,
        "__module__": __name__,
        "_function": staticmethod(applied),
        "_signature": _parameters(own),
        "_arguments_of_call": tuple(n.strip() for n in behind.split(",") if n.strip()),
    }
    return type(name, (_Applies,), members)


_lines = {line.split("(")[0].strip(): line for line in _LAYERS.strip().splitlines()}
__all__ = sorted(
    [
        *_lines,
        "UpsamplingBilinear2d",
        "UpsamplingNearest2d",
        "ZeroPad1d",
        "ZeroPad2d",
        "ZeroPad3d",
    ]
)


def __getattr__(name: str) -> Any:
    if name not in _lines:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = _made(_lines[name])
    return value


class _UpsamplesImages(Cell):
    _how: tuple = ()

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: Tensor) -> Tensor:
        """The larger images."""
        return functional.interpolate(input, self.size, self.scale_factor, *self._how)


class UpsamplingNearest2d(_UpsamplesImages):
    """Images of another size, each pixel that of the nearest one."""

    _how = ("nearest", None)


class UpsamplingBilinear2d(_UpsamplesImages):
    """Images of another size by lines between pixels, corners on corners."""

    _how = ("bilinear", True)


class _ZeroPad(Cell):
    _spatial = 1

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self._spatial) if isinstance(padding, int) else padding
        if len(self.padding) != 2 * self._spatial:
            raise ValueError(
                f"For '{type(self).__name__}', 'padding' must have {2 * self._spatial} numbers, "
                f"but got {padding}."
            )

    def construct(self, input: Tensor) -> Tensor:
        """The input among zeros."""
        return functional.pad(input, self.padding)


class ZeroPad1d(_ZeroPad):
    """Zeros at both ends of sequences."""


class ZeroPad2d(_ZeroPad):
    """Zeros around images."""

    _spatial = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around volumes."""

    _spatial = 3
