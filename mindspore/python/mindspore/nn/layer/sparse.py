"""Layers over sparse tensors, which are given by the places and values of their elements."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P


class SparseToDense(Cell):
    """A sparse tensor with all its zeros."""

    def construct(self, coo_tensor: Any) -> Tensor:
        """The dense tensor."""
        for name in ("indices", "values", "shape"):
            if not hasattr(coo_tensor, name):
                raise TypeError(
                    f"For '{self.cls_name}', the input must be a COOTensor, but got {type(coo_tensor).__name__}."
                )
        return P.ScatterNd()(coo_tensor.indices, coo_tensor.values, tuple(coo_tensor.shape))


class SparseTensorDenseMatmul(Cell):
    """A sparse matrix times a dense one.

    Args:
        adjoint_st: Whether the sparse matrix is transposed.
        adjoint_dt: Whether the dense matrix is transposed.
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adj_st = adjoint_st
        self.adj_dt = adjoint_dt

    def construct(
        self, indices: Tensor, values: Tensor, sparse_shape: tuple, dense: Tensor
    ) -> Tensor:
        """The product."""
        rows, columns = (1, 0) if self.adj_st else (0, 1)
        if self.adj_dt:
            dense = dense.swapaxes(0, 1)
        if len(sparse_shape) != 2 or dense.ndim != 2 or dense.shape[0] != sparse_shape[columns]:
            raise ValueError(
                f"For '{self.cls_name}', there must be two matrices whose inner sizes are equal, but got shapes "
                f"{tuple(sparse_shape)} and {dense.shape}."
            )
        if values.dtype != dense.dtype:
            raise TypeError(
                f"For '{self.cls_name}', both matrices must be of one dtype, but got {values.dtype} and {dense.dtype}."
            )
        parts = values.expand_dims(1) * ops.gather(dense, indices[:, columns], 0)
        shape = (sparse_shape[rows], dense.shape[1])
        return P.ScatterNd()(indices[:, rows : rows + 1], parts, shape)


__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]
