"""RMSProp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import NotNegative, PositiveFloat
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops import operations as P
from mindspore.ops._each import each


class RMSProp(Optimizer):
    """Gradients divided by the root of their mean square, with momentum (Tieleman, Hinton, 2012).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        decay: The factor of the mean square, not negative.
        momentum: What stays of the velocity, not negative.
        epsilon: Added under the root.
        use_locking: Accepted; updates never race.
        centered: Whether the variance of gradients is used instead of the mean square.
        loss_scale: As for Optimizer.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: NotNegative = 0.9,
        momentum: NotNegative = 0.0,
        epsilon: PositiveFloat = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = float(decay)
        self.momentum = float(momentum)
        self.epsilon = epsilon
        self.centered = centered
        if centered:
            self.mg = self.parameters.clone(prefix="mean_grad", init="zeros")
            self.opt: Any = P.ApplyCenteredRMSProp(use_locking)
        else:
            self.opt = P.ApplyRMSProp(use_locking)
        self.ms = self.parameters.clone(prefix="mean_square", init="ones")
        self.moment = self.parameters.clone(prefix="moment", init="zeros")

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self._prepare(gradients)
        lr = self.get_lr()
        self._next_step()
        if self.centered:
            each(
                self.opt,
                self.param_length,
                self.parameters,
                self.mg,
                self.ms,
                self.moment,
                gradients,
                lr,
                self.decay,
                self.momentum,
                self.epsilon,
            )
        else:
            each(
                self.opt,
                self.param_length,
                self.parameters,
                self.ms,
                self.moment,
                lr,
                gradients,
                self.decay,
                self.momentum,
                self.epsilon,
            )
        return True


__all__ = ["RMSProp"]
