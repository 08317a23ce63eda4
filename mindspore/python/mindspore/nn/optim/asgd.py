"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Float
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import of_each, steps
from mindspore.ops._steps import averaged, next_sizes


class ASGD(Optimizer):
    """Descent with steps that grow shorter, and the average of the weights on the way (Polyak and Juditsky, 1992).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        lambd: How much the weights shrink with each step.
        alpha: The power by which steps grow shorter.
        t0: The step from which on weights are averaged.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: Float = 1e-4,
        alpha: Float = 0.75,
        t0: Float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.lambd = lambd
        self.alpha = alpha
        self.t0 = t0
        self.mu = self._scalars("mu_", 1)
        self.eta = self._scalars("eta_", 0)
        self.ax = self.parameters.clone(prefix="ax_", init="zeros")

    def _scalars(self, prefix: str, value: int) -> ParameterTuple:
        """A number for each parameter."""
        return ParameterTuple(
            Parameter(initializer(value, (), mstype.float32), name=f"{prefix}{p.name}")
            for p in self.parameters
        )

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self._prepare(gradients)
        rates = of_each(self.get_lr(), self.param_length)
        step = self.global_step.reshape(()).astype(mstype.float32) + 1.0
        self._next_step()
        etas = tuple([ops.select(step > 1.0, e + 0.0, r + 0.0) for e, r in zip(self.eta, rates)])
        steps(averaged, (self.parameters, self.ax, gradients, etas, self.mu), self.lambd)
        steps(next_sizes, (self.eta, self.mu, rates), step, self.lambd, self.alpha, self.t0)
        return True


__all__ = ["ASGD"]
