"""Normalisation of each sample by itself: over groups of channels, over each channel, over
neighbouring channels."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Count, Finite, Float, PositiveInt, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


def _normalize_rows(rows: Tensor, eps: float) -> Tensor:
    """[N, G, M] with mean 0 and variance 1 along the last dimension."""
    exact = wide(rows)
    centred = exact - exact.mean(axis=2, keep_dims=True)
    variance = (centred * centred).mean(axis=2, keep_dims=True)
    return rounded(centred / (variance + eps).sqrt(), rows)


class GroupNorm(Cell):
    """Normalises each sample over groups of its channels (Wu and He, 2018).

    Args:
        num_groups: The groups.
        num_channels: The channels C of the input [N, C, ...].
        eps: Added to the variance.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        dtype: The dtype of the parameters.
    """

    _converts_parameters = False

    def __init__(
        self,
        num_groups: PositiveInt,
        num_channels: PositiveInt,
        eps: Finite = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.num_groups = num_groups
        self.num_channels = num_channels
        if num_channels % num_groups:
            raise ValueError(
                f"For '{self.cls_name}', 'num_channels' must be divisible by 'num_groups', "
                f"but got {num_channels} and {num_groups}."
            )
        self.eps = eps
        self.affine = affine
        shape = (num_channels,)
        self.gamma = Parameter(
            initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine
        )
        self.beta = Parameter(
            initializer(beta_init, shape, dtype), name="beta", requires_grad=affine
        )

    def construct(self, x: Tensor) -> Tensor:
        """The normalised input."""
        shape = x.shape
        if len(shape) < 2 or shape[1] != self.num_channels:
            raise ValueError(
                f"For '{self.cls_name}', the input must have 'num_channels' {self.num_channels} "
                f"in dimension 1, but got the shape {shape}."
            )
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        """The settings."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """What InstanceNorm in every rank shares.

    Samples are normalised by themselves in training and evaluation. The moving statistics are part
    of the public state of the layer, for checkpoints; nothing reads them.
    """

    _converts_parameters = False
    _rank = 0

    def __init__(
        self,
        num_features: PositiveInt,
        eps: Float = 1e-5,
        momentum: Annotated[float, within(0, 1, "both")] = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        shape = (num_features,)
        self.moving_mean = Parameter(
            initializer("zeros", shape, dtype), name="mean", requires_grad=False
        )
        self.moving_variance = Parameter(
            initializer("ones", shape, dtype), name="variance", requires_grad=False
        )
        self.gamma = Parameter(
            initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine
        )
        self.beta = Parameter(
            initializer(beta_init, shape, dtype), name="beta", requires_grad=affine
        )

    def construct(self, x: Tensor) -> Tensor:
        """The normalised input."""
        shape = x.shape
        if len(shape) != self._rank or shape[1] != self.num_features:
            raise ValueError(
                f"For '{self.cls_name}', the input must have {self._rank} dimensions and "
                f"'num_features' {self.num_features} channels, but got the shape {shape}."
            )
        rows = _normalize_rows(x.reshape((shape[0], shape[1], -1)), self.eps)
        rank_up = (1, self.num_features) + (1,) * (self._rank - 2)
        return rows.reshape(shape) * self.gamma.reshape(rank_up) + self.beta.reshape(rank_up)

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of [N, C, L] (Ulyanov et al., 2016).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of new statistics.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        dtype: The dtype of the parameters.
    """

    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of [N, C, H, W] (Ulyanov et al., 2016).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of new statistics.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        dtype: The dtype of the parameters.
    """

    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of [N, C, D, H, W] (Ulyanov et al., 2016).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of new statistics.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        dtype: The dtype of the parameters.
    """

    _rank = 5


class LRN(Cell):
    """x / (bias + alpha * sum of squares over neighbouring channels) ** beta.

    Args:
        depth_radius: How many channels on each side count.
        bias: As in the formula.
        alpha: As in the formula.
        beta: As in the formula.
        norm_region: 'ACROSS_CHANNELS'.
    """

    def __init__(
        self,
        depth_radius: Count = 5,
        bias: Finite = 1.0,
        alpha: Finite = 1.0,
        beta: Finite = 0.5,
        norm_region: Literal["ACROSS_CHANNELS"] = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        self.depth_radius = depth_radius
        self.bias = bias
        self.alpha = alpha
        self.beta = beta
        self.norm_region = norm_region

    def construct(self, input_x: Tensor) -> Tensor:
        """The normalised input."""
        return ops.lrn(
            input_x, self.depth_radius, self.bias, self.alpha, self.beta, self.norm_region
        )


__all__ = ["LRN", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]
