"""Layers of matrices: a bilinear one, determinants, inverses and diagonals."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt
from mindspore.common.initializer import Uniform
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import dense_parameter


class BiDense(Cell):
    """A layer of two inputs: for each output channel `input1 @ weight[channel] @ input2`, and a bias.

    Args:
        in1_channels: The size of the last dimension of the first input.
        in2_channels: The size of the last dimension of the second input.
        out_channels: The size of the last dimension of the output.
        weight_init: How the weight starts; None is uniform within 1 / sqrt(in1_channels).
        bias_init: How the bias starts; None is the same.
        has_bias: Whether a bias is added.
        dtype: The dtype of the parameters.

    Inputs:
        input1: [..., in1_channels].
        input2: [..., in2_channels].

    Outputs:
        [..., out_channels].
    """

    def __init__(
        self,
        in1_channels: PositiveInt,
        in2_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.in1_channels = in1_channels
        self.in2_channels = in2_channels
        self.out_channels = out_channels
        self.has_bias = has_bias
        bound = 1 / math.sqrt(in1_channels)
        shape = (out_channels, in1_channels, in2_channels)
        start = Uniform(bound) if weight_init is None else weight_init
        self.weight = dense_parameter(start, shape, "weight", self.cls_name, dtype)
        self.bias = None
        if has_bias:
            start = Uniform(bound) if bias_init is None else bias_init
            self.bias = dense_parameter(start, shape[:1], "bias", self.cls_name, dtype)

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The layer's output."""
        return ops.bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self) -> str:
        """What a printed cell shows."""
        shown = (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, "
            f"output_channels={self.out_channels}"
        )
        return f"{shown}, has_bias=True" if self.has_bias else shown


class MatDet(Cell):
    """The determinants of symmetric positive definite matrices."""

    def construct(self, a: Tensor) -> Tensor:
        """The determinants, by the Cholesky factors."""
        roots = ops.diagonal(ops.cholesky(a), 0, -2, -1)
        return ops.square(roots.prod(-1))


class MatInverse(Cell):
    """The inverses of symmetric positive definite matrices."""

    def construct(self, a: Tensor) -> Tensor:
        """The inverses, by the Cholesky factors."""
        return ops.cholesky_inverse(ops.cholesky(a))


class MatrixDiag(Cell):
    """Matrices with given main diagonals."""

    def construct(self, input_x: Tensor) -> Tensor:
        """The matrices; they have one more dimension."""
        return ops.matrix_diag(input_x)


class MatrixDiagPart(Cell):
    """The main diagonals of matrices."""

    def construct(self, input_x: Tensor) -> Tensor:
        """The diagonals; they have one dimension less."""
        return ops.matrix_diag_part(input_x, 0, 0)


class MatrixSetDiag(Cell):
    """Matrices with their main diagonals replaced."""

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        """The matrices."""
        return ops.matrix_set_diag(input_x, diagonal)


__all__ = ["BiDense", "MatDet", "MatInverse", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"]
