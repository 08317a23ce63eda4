"""The loss of language models whose logits are cut along the vocabulary."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell
from mindspore.parallel.nn.op_parallel_config import OpParallelConfig, default_dpmp_config, placed


class CrossEntropyLoss(Cell):
    """The mean cross entropy of those rows that a mask counts.

    Args:
        parallel_config: How rows and classes are cut.

    Inputs:
        logits: [rows, classes].
        label: [rows], integers.
        input_mask: [rows]: how much each counts.

    Outputs:
        A scalar in Float32.
    """

    def __init__(
        self, parallel_config: OpParallelConfig = default_dpmp_config, **kwargs: Any
    ) -> None:
        super().__init__()
        del kwargs  # of other devices
        self.parallel_config = parallel_config

    def construct(self, logits: Tensor, label: Tensor, input_mask: Tensor) -> Tensor:
        """The loss."""
        x = placed(self.cls_name, logits, self.parallel_config, "dp", "mp").astype(mstype.float32)
        x = x - ops.stop_gradient(x.max(axis=-1, keepdims=True))
        norm = ops.log(ops.exp(x).sum(axis=-1))
        chosen = ops.one_hot(label.reshape((-1,)), x.shape[-1], 1.0, 0.0)
        losses = norm - (x * chosen).sum(axis=-1)
        weights = input_mask.reshape((-1,)).astype(mstype.float32)
        return (losses * weights).sum() / (weights.sum() + 1e-5)


__all__ = ["CrossEntropyLoss"]
