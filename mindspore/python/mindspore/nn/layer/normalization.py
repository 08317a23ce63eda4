"""Normalisation layers: over the batch and over features; those over single samples by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Count, NotNegative, PositiveInt, Where, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn._uneven import NormalizedTogether
from mindspore.nn.cell import Cell
from mindspore.nn.layer.sample_norm import (
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from mindspore.ops import operations as P


class _BatchNorm(Cell):
    """What BatchNorm in every rank shares.

    Under mixed precision the parameters stay in float32: half precision loses their updates.
    """

    _converts_parameters = False
    _ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: PositiveInt,
        eps: NotNegative = 1e-5,
        momentum: Annotated[float, within(0, 1, "both")] = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.format = data_format
        self.use_batch_statistics = use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(
            initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False
        )
        self.moving_variance = Parameter(
            initializer(moving_var_init, shape, dtype), name="variance", requires_grad=False
        )
        self.gamma = Parameter(
            initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine
        )
        self.beta = Parameter(
            initializer(beta_init, shape, dtype), name="beta", requires_grad=affine
        )
        # The op's momentum weighs the new statistics, the layer's the old ones.
        self.bn_train = P.BatchNorm(
            is_training=True,
            epsilon=self.eps,
            momentum=1.0 - self.momentum,
            data_format=self.format,
        )
        self.bn_infer = P.BatchNorm(is_training=False, epsilon=self.eps, data_format=self.format)

    def _check_rank(self, shape: tuple[int, ...]) -> None:
        if len(shape) not in self._ranks:
            expected = " or ".join(str(rank) for rank in self._ranks)
            raise ValueError(
                f"For '{self.cls_name}', the input must have {expected} dimensions, "
                f"but got the shape {shape}."
            )

    def _normalize(self, x: Tensor) -> Tensor:
        """Normalise an input that the op takes as it is."""
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        op = self.bn_train if batch else self.bn_infer
        return op(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]

    def construct(self, x: Tensor) -> Tensor:
        """The normalised input."""
        self._check_rank(x.shape)
        return self._normalize(x)

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [N, C] or [N, C, L] (Ioffe and Szegedy, 2015).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of the old moving statistics when new ones come in.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        moving_mean_init: How the moving mean starts.
        moving_var_init: How the moving variance starts.
        use_batch_statistics: True normalises with the batch, False with the moving statistics,
            None with the batch in training only.
        data_format: 'NCHW', or 'NHWC' with the channels last.
        dtype: The dtype of the parameters.
    """

    _ranks = (2, 3)

    def construct(self, x: Tensor) -> Tensor:
        """The normalised input."""
        shape = x.shape
        self._check_rank(shape)
        if len(shape) == 2:
            return self._normalize(x)
        return self._normalize(x.expand_dims(2)).squeeze(2)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [N, C, H, W] (Ioffe and Szegedy, 2015).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of the old moving statistics when new ones come in.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        moving_mean_init: How the moving mean starts.
        moving_var_init: How the moving variance starts.
        use_batch_statistics: True normalises with the batch, False with the moving statistics,
            None with the batch in training only.
        data_format: 'NCHW' or 'NHWC'.
        dtype: The dtype of the parameters.
    """

    _ranks = (4,)


class BatchNorm3d(Cell):
    """Batch normalisation of [N, C, D, H, W] (Ioffe and Szegedy, 2015).

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of the old moving statistics when new ones come in.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        moving_mean_init: How the moving mean starts.
        moving_var_init: How the moving variance starts.
        use_batch_statistics: True normalises with the batch, False with the moving statistics,
            None with the batch in training only.
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            "NCHW",
            dtype,
        )

    def construct(self, x: Tensor) -> Tensor:
        """The normalised input."""
        shape = x.shape
        if len(shape) != 5:
            raise ValueError(
                f"For '{self.cls_name}', the input must have 5 dimensions, "
                f"but got the shape {shape}."
            )
        return self.bn2d(x.reshape(shape[:2] + (shape[2] * shape[3], shape[4]))).reshape(shape)


class SyncBatchNorm(_BatchNorm, NormalizedTogether):
    """Batch normalisation of [N, C] or [N, C, H, W] with statistics over the samples of a group of processes. Their batches are of one
    size, but where Model trains, which says how many samples each has.

    Of one process it is BatchNorm.

    Args:
        num_features: The channels C.
        eps: Added to the variance.
        momentum: The weight of the old moving statistics when new ones come in.
        affine: Whether scale and shift are trained.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        moving_mean_init: How the moving mean starts.
        moving_var_init: How the moving variance starts.
        use_batch_statistics: True normalises with the batch, False with the moving statistics,
            None with the batch in training only.
        process_groups: Lists of ranks that share statistics; None is all.
        dtype: The dtype of the parameters.
    """

    _ranks = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            "NCHW",
            dtype,
        )
        self.process_groups = process_groups
        self.at = _shared_by(process_groups)
        self._begin_even(self.at.group)

    def _normalize(self, x: Tensor) -> Tensor:
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if not batch or self.at.size == 1:
            return super()._normalize(x)
        y, mean, variance = self._whitened(x, self.gamma, self.beta, self.eps)
        self._follow(self.moving_mean, mean, self.momentum)
        self._follow(self.moving_variance, variance, self.momentum)
        return y


def _is_group(ranks: object) -> bool:
    return isinstance(ranks, (list, tuple)) and all(type(rank) is int for rank in ranks)


def _shared_by(process_groups: Any) -> _groups.Member:
    """The processes that share statistics with this one; groups that are lists of ranks are made."""
    if process_groups is None:
        return _groups.member(None, "SyncBatchNorm")
    if not isinstance(process_groups, (list, tuple)) or not all(map(_is_group, process_groups)):
        raise TypeError(
            f"For 'SyncBatchNorm', 'process_groups' must be a list of lists of ranks, but got {process_groups!r}."
        )
    for ranks in process_groups:
        if _groups.world_rank() in ranks:
            name = "sync_batch_norm_" + "_".join(map(str, ranks))
            if not _groups.known(name):
                _groups.make(name, list(ranks))
            return _groups.member(name, "SyncBatchNorm")
    raise ValueError(
        f"For 'SyncBatchNorm', 'process_groups' must have this process, {_groups.world_rank()}, in one of its lists, but got "
        f"{process_groups}."
    )


class LayerNorm(Cell):
    """Normalises each sample over its last dimensions (Ba et al., 2016).

    Args:
        normalized_shape: The sizes of the dimensions from `begin_norm_axis` on.
        begin_norm_axis: The first dimension that is normalised.
        begin_params_axis: The first dimension of scale and shift.
        gamma_init: How the scale starts.
        beta_init: How the shift starts.
        epsilon: Added to the variance.
        dtype: The dtype of the parameters.
    """

    _converts_parameters = False

    def __init__(
        self,
        normalized_shape: Annotated[Sequence[Count], Where(len, "not be empty")],
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: NotNegative = 1e-7,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.normalized_shape = normalized_shape
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis
        self.epsilon = epsilon
        shape = tuple(normalized_shape)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta")
        self.layer_norm = P.LayerNorm(
            begin_norm_axis=begin_norm_axis,
            begin_params_axis=begin_params_axis,
            epsilon=self.epsilon,
        )

    def construct(self, input_x: Tensor) -> Tensor:
        """The normalised input."""
        return self.layer_norm(input_x, self.gamma, self.beta)[0]

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )


__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "SyncBatchNorm",
]
