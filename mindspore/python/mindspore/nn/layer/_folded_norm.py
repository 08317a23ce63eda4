"""Batch normalisation in the weight of the convolution before it, as both are computed in inference."""

from __future__ import annotations

from typing import Annotated, Any

from mindspore import ops
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import NotNegative, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.layer.conv import Conv2d


class FoldedNorm(Conv2d):
    """A convolution with a batch normalisation in its weight, and the parameters of both.

    Args:
        shape: What Conv2d takes up to its groups.
        eps: Added to the variance.
        momentum: What stays of the moving moments.
        has_bias: As for Conv2d.
        inits: How weight, bias, shift, scale, moving mean and moving variance start.
        fake: Whether the weight is rounded.
        observer: What rounds it.
    """

    def __init__(
        self,
        shape: Any,
        eps: NotNegative,
        momentum: Annotated[float, within(0, 1, "both")],
        has_bias: bool,
        inits: tuple,
        fake: bool,
        observer: Any,
    ) -> None:
        weight_init, bias_init, beta_init, gamma_init, mean_init, var_init = inits
        settings: Any = (*shape, has_bias, weight_init, bias_init)
        super().__init__(*settings)
        self.eps = eps
        self.momentum = momentum
        self.fake = fake
        channels = (self.out_channels,)
        self.gamma = Parameter(initializer(gamma_init, channels), name="gamma")
        self.beta = Parameter(initializer(beta_init, channels), name="beta")
        self.moving_mean = Parameter(
            initializer(mean_init, channels), name="moving_mean", requires_grad=False
        )
        self.moving_variance = Parameter(
            initializer(var_init, channels), name="moving_variance", requires_grad=False
        )
        self.fake_quant_weight = observer

    def _folded(self, x: Tensor, factor: Tensor) -> Tensor:
        """The convolution whose weight is multiplied by a factor for each channel, and rounded."""
        weight = rounded(self.weight * factor.reshape((-1, 1, 1, 1)), self.weight)
        return self.conv2d(x, self.fake_quant_weight(weight) if self.fake else weight)

    def _moments(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of channels, which the moving ones follow; of half precision in float32."""
        y = wide(y)
        mean = y.mean(axis=(0, 2, 3))
        variance = ops.square(y - mean.reshape((1, -1, 1, 1))).mean(axis=(0, 2, 3))
        count = y.size // self.out_channels
        unbiased = variance * (count / max(count - 1, 1))
        for moving, now in ((self.moving_mean, mean), (self.moving_variance, unbiased)):
            kept = wide(moving) * self.momentum
            ops.assign(
                moving, (kept + ops.stop_gradient(now) * (1.0 - self.momentum)).astype(moving.dtype)
            )
        return mean, variance

    def _shifted(self, y: Tensor, mean: Tensor, factor: Tensor) -> Tensor:
        """What is left of the normalisation after the folded convolution."""
        if self.has_bias:
            mean = mean - self.bias
        return rounded(y + (self.beta - mean * factor).reshape((1, -1, 1, 1)), y)

    def _still(self, x: Tensor) -> Tensor:
        """The output by the moving moments."""
        factor = self.gamma / ops.sqrt(self.moving_variance + self.eps)
        return self._shifted(self._folded(x, factor), self.moving_mean + 0.0, factor)
