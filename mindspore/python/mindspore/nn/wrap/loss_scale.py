"""Training steps with loss scaling: gradients of half precision are kept in range by a factor.

A step whose gradients overflow changes no parameter. The factor is fixed, or follows overflows.
"""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Finite, Positive, PositiveInt
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell
from mindspore.ops import operations as P

# A gradient without its scale, for `ops.HyperMap()(ops.partial(grad_scale, scale), gradients)` of users' own steps.
grad_scale = ops.MultitypeFuncGraph("grad_scale")


@grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale: Tensor, grad: Tensor) -> Tensor:
    """The gradient over the scale, in its own type."""
    return (grad / scale.astype(mstype.float32)).astype(grad.dtype)


shard_grad_scale = ops.MultitypeFuncGraph("shard_grad_scale")


@shard_grad_scale.register("Tensor", "Tensor", "Tensor")
def tensor_shard_grad_scale(scale: Tensor, grad: Tensor, accu_grad: Tensor) -> Tensor:
    """The gradient without its scale; the sum over steps, which it was taken from, begins anew."""
    whole = grad * ops.cast(ops.reciprocal(scale), grad.dtype)
    ops.assign(accu_grad, ops.zeros_like(accu_grad))
    return whole


class DynamicLossScaleUpdateCell(Cell):
    """Divides the scale after an overflow, and multiplies it after a row of steps without.

    Args:
        loss_scale_value: The scale at the start.
        scale_factor: The factor.
        scale_window: The number of steps without overflow after which the scale grows.

    Inputs:
        loss_scale: The Parameter that holds the scale.
        overflow: Whether the step overflowed.

    Outputs:
        `overflow`.
    """

    def __init__(
        self, loss_scale_value: Positive, scale_factor: PositiveInt, scale_window: PositiveInt
    ) -> None:
        super().__init__()
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self.loss_scale_value = loss_scale_value
        self.minimum_loss_scale = Tensor(1.0, mstype.float32)
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(
            Tensor(0, mstype.int32), name="last_overflow_iterator_step"
        )

    def get_loss_scale(self) -> float:
        """The scale at the start."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        """Update the scale."""
        lowered = ops.maximum(loss_scale / float(self.scale_factor), self.minimum_loss_scale)
        scale = ops.select(overflow, lowered, loss_scale + 0.0)
        full_window = self.cur_iter - self.last_overflow_iter >= self.scale_window
        raises = ops.logical_and(full_window, ops.logical_not(overflow))
        begins = ops.logical_or(full_window, overflow)
        ops.assign(
            self.last_overflow_iter,
            ops.select(begins, self.cur_iter + 0, self.last_overflow_iter + 0),
        )
        ops.assign(loss_scale, ops.select(raises, scale * float(self.scale_factor), scale))
        ops.assign_add(self.cur_iter, Tensor(1, mstype.int32))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Leaves the scale as it is.

    Args:
        loss_scale_value: The scale.
    """

    def __init__(self, loss_scale_value: Finite) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Tensor) -> Tensor:
        """`overflow`."""
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with loss scaling.

    Args:
        network: A network whose output is the loss.
        optimizer: Updates the parameters.
        scale_sense: The scale: a Tensor of one element, or a cell that updates it, as
            DynamicLossScaleUpdateCell.

    Outputs:
        The loss, whether the step overflowed, and the scale it was run with.
    """

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Cell | Tensor) -> None:
        super().__init__(network, optimizer, sens=None)
        self.hyper_map = ops.HyperMap()
        self.base = Tensor(1, mstype.float32)
        self.equal = P.Equal()
        self.less_equal = P.LessEqual()
        self.logic_not = P.LogicalNot()
        self.reduce_sum = P.ReduceSum(keep_dims=False)
        self.is_distributed = self.reducer_flag
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            if not hasattr(scale_sense, "get_loss_scale"):
                raise TypeError(
                    f"For '{self.cls_name}', 'scale_sense' must be a Tensor or a Cell that has "
                    f"get_loss_scale(), but got {type(scale_sense).__name__}."
                )
            self.loss_scaling_manager = scale_sense
            start = Tensor(float(scale_sense.get_loss_scale()), mstype.float32)
        elif tuple(scale_sense.shape) in ((), (1,)):
            start = scale_sense
        else:
            raise ValueError(
                f"For '{self.cls_name}', the shape of 'scale_sense' must be () or (1,), "
                f"but got {tuple(scale_sense.shape)}."
            )
        self.scale_sense = Parameter(start, name="scale_sense")

    def construct(self, *inputs: Any) -> Any:
        """Run the step."""
        loss = self.network(*inputs)
        scaling_sens = self.scale_sense + 0.0
        status, scaling_sens = self.start_overflow_check(loss, scaling_sens)
        sens = ops.ones_like(loss) * scaling_sens.astype(loss.dtype)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        grads = tuple([self._unscaled(grad, scaling_sens) for grad in grads])
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(status, grads)
        overflow = self.process_loss_scale(cond)
        if not overflow:
            self.optimizer(grads)
        return loss, cond, scaling_sens

    def _unscaled(self, grad: Tensor, scale: Tensor) -> Tensor:
        """A gradient without the scale, in its own type."""
        return (grad / scale.reshape(()).astype(mstype.float32)).astype(grad.dtype)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Give the scale a new value.

        Args:
            sens: A Tensor of the scale's shape.
        """
        if not isinstance(sens, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'sens' must be a Tensor, but got {type(sens).__name__}."
            )
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Any:
        """The state of a check that begins after `pre_cond`, and `compute_input` itself.

        Args:
            pre_cond: What is computed before.
            compute_input: What the checked part takes.
        """
        return Tensor(False), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Whether some element of the results is not finite.

        Args:
            status: What `start_overflow_check` returned.
            compute_output: A Tensor or a tuple of Tensors.
        """
        outputs = compute_output if isinstance(compute_output, (tuple, list)) else (compute_output,)
        overflow: Any = None
        for output in outputs:
            broken = ops.logical_not(ops.isfinite(output).all())
            overflow = broken if overflow is None else ops.logical_or(overflow, broken)
        return overflow

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Update the scale after a step, and return whether the step is left out.

        Args:
            overflow: Whether the step overflowed.
        """
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


__all__ = [
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "TrainOneStepWithLossScaleCell",
]
