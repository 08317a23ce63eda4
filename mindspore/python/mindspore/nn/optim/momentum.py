"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common._kinds import NotNegative
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops import operations as P
from mindspore.ops._each import each


class Momentum(Optimizer):
    """v = momentum * v + g, w = w - lr * v; with Nesterov w = w - lr * (g + momentum * v).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        momentum: What stays of the velocity, not negative.
        weight_decay: As for Optimizer.
        loss_scale: As for Optimizer.
        use_nesterov: Whether to look one step ahead.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: NotNegative,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = Parameter(Tensor(float(momentum), mstype.float32), name="momentum")
        self.use_nesterov = use_nesterov
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.opt = P.ApplyMomentum(use_nesterov=self.use_nesterov)

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self._prepare(gradients)
        lr = self.get_lr()
        self._next_step()
        each(
            self.opt,
            self.param_length,
            self.parameters,
            self.moments,
            lr,
            gradients,
            self.momentum,
        )
        return True


__all__ = ["Momentum"]
