"""LAMB: Adam whose steps are scaled layer by layer, for large batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveFloat
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.adam import Beta
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register


def _norm(x: Tensor) -> Tensor:
    """The Euclidean norm of all elements."""
    return ops.sqrt(ops.square(x.astype(mstype.float32)).sum())


class Lamb(Optimizer):
    """Adam's step, scaled by the norm of the weights over the norm of the step (You et al., 2020).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        beta1: The factor of the mean of gradients, in (0, 1).
        beta2: The factor of the mean of squares, in (0, 1).
        eps: Added to the root.
        weight_decay: As for Optimizer; it is part of the step, not of the gradient.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: Beta = 0.9,
        beta2: Beta = 0.999,
        eps: PositiveFloat = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.moments1 = self.parameters.clone(prefix="lamb_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="lamb_v", init="zeros")

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self.gradients_centralization(gradients)
        decays = self.get_weight_decay()
        lr = self.get_lr()
        self._next_step()
        step = self.global_step.reshape(()).astype(mstype.float32)
        left1 = 1.0 - ops.pow(self.beta1, step)
        left2 = 1.0 - ops.pow(self.beta2, step)
        for i in range(self.param_length):
            rate = lr[i] if self.is_group_lr else lr
            decay = 0.0
            if self.decay_flags[i]:
                decay = decays[i] if self.is_group else decays
            self._update(i, gradients[i], rate, decay, left1, left2)
        return True

    def _update(
        self, i: int, gradient: Tensor, rate: Any, decay: Any, left1: Tensor, left2: Tensor
    ) -> None:
        """Update one parameter."""
        parameter = self.parameters[i]
        m = self.moments1[i] * self.beta1 + gradient * (1.0 - self.beta1)
        v = self.moments2[i] * self.beta2 + ops.square(gradient) * (1.0 - self.beta2)
        step = (m / left1) / (ops.sqrt(v / left2) + self.eps) + parameter * decay
        weight_norm = _norm(parameter)
        step_norm = _norm(step)
        both = ops.logical_and(weight_norm > 0.0, step_norm > 0.0)
        ratio = ops.select(both, weight_norm / step_norm, ops.ones_like(weight_norm))
        ops.assign(self.moments1[i], m)
        ops.assign(self.moments2[i], v)
        ops.assign_sub(parameter, rate * ratio * step)


__all__ = ["Lamb"]
