"""Layers under the names and arguments of `mindspore.mint.nn`, where these differ from the older ones."""

from __future__ import annotations

from typing import Annotated, Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Ints, NotNegative, PositiveInt, Real, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dense, Dropout, Dropout2d

Share = Annotated[float, within(0, 1, "both")]


class Linear(Dense):
    """A fully connected layer: x @ weight.T + bias.

    Args:
        in_features: The size of the last dimension of the input.
        out_features: The size of the last dimension of the output.
        bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(in_features).
        dtype: The dtype of the parameters; None is float32.
    """

    def __init__(
        self,
        in_features: PositiveInt,
        out_features: PositiveInt,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: mstype.Type | None = None,
    ) -> None:
        dtype = mstype.float32 if dtype is None else dtype
        super().__init__(in_features, out_features, weight_init, bias_init, bias, None, dtype)
        self.in_features = in_features
        self.out_features = out_features

    def extend_repr(self) -> str:
        """The settings."""
        return f"input_features={self.in_features}, output_features={self.out_features}, has_bias={self.has_bias}"


class DropoutExt(Dropout):
    """In training, sets elements to zero at random and scales the others up.

    Args:
        p: The share that is dropped.
        inplace: Whether the input is changed, too.
    """

    def __init__(self, p: Share = 0.5, inplace: bool = False) -> None:
        super().__init__(p=min(p, 0.5))
        self.p = p
        self.keep_prob = 1.0 - p
        self.inplace = inplace
        self.dropout: Any = ops.operations.Dropout(self.keep_prob) if p < 1 else None

    def construct(self, x: Tensor) -> Tensor:
        """The input with some elements dropped, or the input itself outside training."""
        if not self.training or self.p == 0:
            return x
        dropped = x * 0 if self.dropout is None else self.dropout(x)[0]
        return x.copy_(dropped) if self.inplace else dropped


class Dropout2dExt(Dropout2d):
    """Drops channels of [N, C, H, W].

    Args:
        p: The share that is dropped.
        inplace: Whether the input is changed, too.
    """

    def __init__(self, p: Share = 0.5, inplace: bool = False) -> None:
        super().__init__(p)
        self.inplace = inplace

    def construct(self, x: Tensor) -> Tensor:
        """The input with some channels dropped, or the input itself outside training."""
        dropped = super().construct(x)
        return x.copy_(dropped) if self.inplace and self.training else dropped


class LayerNormExt(Cell):
    """Normalises each sample over its last dimensions (Ba et al., 2016).

    Args:
        normalized_shape: The sizes of these dimensions.
        eps: Added to the variance.
        elementwise_affine: Whether there are a scale and a shift.
        bias: Whether there is a shift.
        dtype: The dtype of the parameters; None is float32.
    """

    _converts_parameters = False

    def __init__(
        self,
        normalized_shape: Ints,
        eps: NotNegative = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: mstype.Type | None = None,
    ) -> None:
        super().__init__()
        shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        if not shape:
            raise ValueError(f"For '{self.cls_name}', 'normalized_shape' must not be empty.")
        dtype = mstype.float32 if dtype is None else dtype
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = None
        self.bias = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", shape, dtype), name="weight")
            if bias:
                self.bias = Parameter(initializer("zeros", shape, dtype), name="bias")

    def construct(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """The settings."""
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LogSoftmaxExt(Cell):
    """The logarithm of softmax.

    Args:
        dim: The axis; None is the first of tensors of 0, 1 or 3 dimensions, and the second of others.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        dim = self.dim
        if dim is None:
            dim = 0 if x.ndim in (0, 1, 3) else 1
        return ops.log_softmax(x, dim)

    def extend_repr(self) -> str:
        """The settings."""
        return f"dim={self.dim}"


class PReLUExt(Cell):
    """x above zero, weight * x below, with a trained weight.

    Args:
        num_parameters: 1, or the number of channels, each with a slope of its own.
        init: The slope at the start.
        dtype: The dtype of the weight; None is float32.
    """

    def __init__(
        self, num_parameters: PositiveInt = 1, init: Real = 0.25, dtype: mstype.Type | None = None
    ) -> None:
        super().__init__()
        dtype = mstype.float32 if dtype is None else dtype
        self.num_parameters = num_parameters
        self.weight = Parameter(initializer(float(init), (num_parameters,), dtype), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.prelu(x, self.weight.astype(x.dtype))


class EmbeddingExt(Cell):
    """A table of vectors that are looked up by index.

    Args:
        num_embeddings: The rows.
        embedding_dim: The length of a row.
        padding_idx: A row that starts as zeros and has no gradient; negative counts from the end.
        max_norm: The bound on the norm of rows: longer ones are made shorter in the table.
        norm_type: The order of that norm.
        scale_grad_by_freq: Whether gradients of rows are divided by how often they are looked up.
        sparse: Accepted; gradients are dense.
        dtype: The dtype of the table; None is float32.
    """

    def __init__(
        self,
        num_embeddings: PositiveInt,
        embedding_dim: PositiveInt,
        padding_idx: int | None = None,
        max_norm: Real | None = None,
        norm_type: Real = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        dtype: mstype.Type | None = None,
    ) -> None:
        super().__init__()
        del sparse
        shape = (num_embeddings, embedding_dim)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"For '{self.cls_name}', 'padding_idx' must be in [{-num_embeddings}, {num_embeddings}), but got {padding_idx}."
            )
        if _weight is not None and tuple(_weight.shape) != shape:
            raise ValueError(
                f"For '{self.cls_name}', the shape of '_weight' must be {shape}, but got {tuple(_weight.shape)}."
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.dtype = mstype.float32 if dtype is None else dtype
        table: Any = _weight
        if table is None:
            table = initializer("normal", shape, self.dtype)
            if self.padding_idx is not None:
                rows = table.asnumpy().copy()
                rows[self.padding_idx] = 0
                table = Tensor(rows, self.dtype)
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Tensor:
        """The rows."""
        return ops.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
        )

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, padding_idx={self.padding_idx}, "
            f"max_norm={self.max_norm}, norm_type={self.norm_type}, scale_grad_by_freq={self.scale_grad_by_freq}, "
            f"dtype={self.dtype}"
        )


__all__ = [
    "Dropout2dExt",
    "DropoutExt",
    "EmbeddingExt",
    "LayerNormExt",
    "Linear",
    "LogSoftmaxExt",
    "PReLUExt",
]
