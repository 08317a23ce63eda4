"""Stochastic gradient descent with optional momentum."""

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


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g, w = w - lr * v; the first v is g itself.

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        momentum: What stays of the velocity, not negative.
        dampening: What is left out of each gradient, not negative.
        weight_decay: As for Optimizer.
        nesterov: Whether to look one step ahead; needs momentum and no dampening.
        loss_scale: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: NotNegative = 0.0,
        dampening: NotNegative = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        self.dampening = float(dampening)
        self.nesterov = nesterov
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"For '{owner}', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, "
                f"but got {momentum} and {dampening}."
            )
        self.momentum = Parameter(Tensor(float(momentum), mstype.float32), name="momentum")
        self.accum = self.parameters.clone(prefix="accum", init="zeros")
        self.stat = self.parameters.clone(prefix="stat", init="ones")
        self.opt = P.SGD(self.dampening, 0.0, self.nesterov)

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
            gradients,
            lr,
            self.accum,
            self.momentum,
            self.stat,
        )
        return True


__all__ = ["SGD"]
