"""LAMB: Adam whose steps are scaled layer by layer, for large batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveFloat
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.adam import Beta
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import chosen, of_each, steps
from mindspore.ops._steps import by_layer, rest_of


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
        gradients = self.gradients_centralization(self._as_weights(gradients))
        decays = self._current_decay()
        lr = self.get_lr()
        self._next_step()
        step = self.global_step.reshape(()).astype(mstype.float32)
        left1 = rest_of(self.beta1, step)
        left2 = rest_of(self.beta2, step)
        columns = (
            self.parameters,
            self.moments1,
            self.moments2,
            gradients,
            of_each(lr, self.param_length),
            chosen(self.decay_flags, decays, 0.0),
        )
        steps(by_layer, columns, (left1, left2), self.beta1, self.beta2, self.eps)
        return True


__all__ = ["Lamb"]
