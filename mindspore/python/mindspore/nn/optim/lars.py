"""LARS: scales the gradients of another optimizer layer by layer, for large batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Float
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.optim.optimizer import Optimizer, _is_norm_parameter, check_count


def _default_filter(parameter: Parameter) -> bool:
    """Whether a parameter is scaled: those of normalisations and biases are not."""
    return not _is_norm_parameter(parameter.name) and "bias" not in parameter.name


class LARS(Cell):
    """Layer-wise scaling of gradients around an optimizer (You et al., 2017).

    A gradient becomes ratio * (g + weight_decay * w), the ratio being coefficient * |w| /
    (|g| + weight_decay * |w| + epsilon). The weight decay is the wrapped optimizer's.

    Args:
        optimizer: What updates the parameters.
        epsilon: Added to the divisor.
        coefficient: The trust coefficient.
        use_clip: Whether the ratio is at most the learning rate, and counted in units of it.
        lars_filter: Which parameters are scaled.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: Float = 1e-5,
        coefficient: Float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = _default_filter,
    ) -> None:
        super().__init__(auto_prefix=False)
        if optimizer.is_group and optimizer.exec_weight_decay:
            raise ValueError(
                f"For '{self.cls_name}', the optimizer must have no groups with weight decay of "
                "their own, but got some."
            )
        self.opt = optimizer
        self.epsilon = epsilon
        self.coefficient = coefficient
        self.use_clip = use_clip
        self.parameters = optimizer.parameters
        self.learning_rate = optimizer.learning_rate
        self.dynamic_lr = optimizer.dynamic_lr
        self.is_group = optimizer.is_group
        self.is_group_lr = optimizer.is_group_lr
        self.weight_decay = 0.0 if optimizer.is_group else optimizer.weight_decay
        self.lars_flag = tuple(bool(lars_filter(param)) for param in optimizer.parameters)
        self.decay_flags = tuple(not _is_norm_parameter(p.name) for p in optimizer.parameters)
        # The decay is part of the ratio here, so the optimizer must not add it again.
        optimizer.exec_weight_decay = False

    def construct(self, gradients: Sequence[Tensor]) -> Any:
        """Scale the gradients and update the parameters."""
        check_count(self.cls_name, gradients, self.parameters)
        lr = self.opt.get_lr()
        scaled: list[Any] = []
        for i in range(len(self.parameters)):
            gradient = gradients[i] * self.opt.reciprocal_scale
            if self.lars_flag[i]:
                rate = lr[i] if self.is_group_lr else lr
                gradient = self._scaled(self.parameters[i], gradient, self.decay_flags[i], rate)
            scaled.append(gradient * self.opt.loss_scale)
        return self.opt(tuple(scaled))

    def _scaled(self, parameter: Parameter, gradient: Tensor, decays: bool, rate: Any) -> Tensor:
        """The gradient times its ratio."""
        decay = self.weight_decay if decays else 0.0
        weight_norm = ops.sqrt(ops.square(parameter.astype(mstype.float32)).sum())
        gradient_norm = ops.sqrt(ops.square(gradient.astype(mstype.float32)).sum())
        divisor = gradient_norm + decay * weight_norm + self.epsilon
        ratio = self.coefficient * weight_norm / divisor
        if self.use_clip:
            ratio = ops.minimum(ratio / rate, 1.0)
        both = ops.logical_and(weight_norm > 0.0, gradient_norm > 0.0)
        ratio = ops.select(both, ratio, ops.ones_like(ratio))
        return (gradient + parameter * decay) * ratio


__all__ = ["LARS"]
