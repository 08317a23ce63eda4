"""Gradients of several steps, summed, then one step of the optimizer."""

from __future__ import annotations

from typing import Any

from mindspore import ParameterTuple, Tensor, nn, ops
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_value
from mindspore.common._kinds import PositiveInt
from mindspore.common.parameter import Parameter

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def _accumulate(accumulation_step: int, cumulative_grad: Tensor, grad: Tensor) -> Any:
    """Adds a step's share of a gradient."""
    return ops.assign_add(cumulative_grad, (grad / accumulation_step).astype(cumulative_grad.dtype))


@gradient_clear_op.register("Tensor")
def _clear(cumulative_grad: Tensor) -> Any:
    """Sets a sum to 0."""
    return ops.assign(cumulative_grad, ops.zeros_like(cumulative_grad))


class GradientAccumulation(nn.Cell):
    """Adds the gradients of steps up, and lets the optimizer use their mean after every `max_accumulation_step` of them.

    Args:
        max_accumulation_step: how many steps are taken together.
        optimizer: the optimizer.

    Examples:
        >>> accumulate = boost.GradientAccumulation(4, optimizer)
        >>> loss = ops.depend(loss, accumulate(loss, gradients))
    """

    def __init__(self, max_accumulation_step: int, optimizer: nn.Optimizer):
        super().__init__()
        self._max_accumulation_step = check_value(
            PositiveInt, max_accumulation_step, "max_accumulation_step", "GradientAccumulation"
        )
        if not isinstance(optimizer, nn.Optimizer):
            raise TypeError(
                f"For 'GradientAccumulation', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}."
            )
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self._grad_accumulation = ParameterTuple(
            [
                Parameter(
                    ops.zeros_like(w), name=f"grad_accumulation.{w.name}", requires_grad=False
                )
                for w in self.weights
            ]
        )
        self._accumulation_step = Parameter(
            Tensor(0, mstype.int32), name="accumulation_step", requires_grad=False
        )

    def construct(self, loss: Tensor, grads: Any) -> Tensor:
        """The loss; the gradients are added up, and used where they are complete."""
        steps = self._max_accumulation_step
        for total, grad in zip(self._grad_accumulation, grads):
            gradient_accumulation_op(steps, total, grad)
        ops.assign_add(self._accumulation_step, Tensor(1, mstype.int32))
        if self._accumulation_step >= steps:
            self.optimizer(tuple(total * 1 for total in self._grad_accumulation))
            for total in self._grad_accumulation:
                gradient_clear_op(total)
            ops.assign(self._accumulation_step, Tensor(0, mstype.int32))
        return loss


__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]
