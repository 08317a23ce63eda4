"""Adagrad and Adadelta: steps that shrink with the gradients seen so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mindspore.common._kinds import NotNegative, PositiveFloat, within
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops import operations as P
from mindspore.ops._each import each


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares (Duchi et al., 2011).

    Args:
        params: Parameters or groups, as for Optimizer.
        accum: The sum of squares at the start, not negative.
        learning_rate: As for Optimizer.
        update_slots: Whether the sum of squares grows.
        loss_scale: As for Optimizer.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: NotNegative = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.accum = self.parameters.clone(prefix="accum", init=float(accum))
        self.opt = P.ApplyAdagrad(update_slots=update_slots)

    @compiled
    def construct(self, grads: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        grads = self._prepare(grads)
        lr = self.get_lr()
        self._next_step()
        each(self.opt, self.param_length, self.parameters, self.accum, lr, grads)
        return True


class Adadelta(Optimizer):
    """Steps in units of the steps before (Zeiler, 2012).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        rho: The factor of the moving averages, in [0, 1].
        epsilon: Added under the roots.
        loss_scale: As for Optimizer.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: Annotated[float, within(0.0, 1.0, "both")] = 0.9,
        epsilon: PositiveFloat = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = float(rho)
        self.epsilon = epsilon
        self.accum = self.parameters.clone(prefix="accum", init=0)
        self.accum_update = self.parameters.clone(prefix="accum_update", init=0)
        self.opt = P.ApplyAdadelta()

    @compiled
    def construct(self, grads: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        grads = self._prepare(grads)
        lr = self.get_lr()
        self._next_step()
        each(
            self.opt,
            self.param_length,
            self.parameters,
            self.accum,
            self.accum_update,
            lr,
            self.rho,
            self.epsilon,
            grads,
        )
        return True


__all__ = ["Adadelta", "Adagrad"]
