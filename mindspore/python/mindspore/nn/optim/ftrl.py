"""FTRL: follow the regularised leader, for sparse models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import Finite, NotNegative
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import of_each, steps
from mindspore.ops._steps import ftrl, touched_by


class FTRL(Optimizer):
    """Follow the regularised leader (McMahan et al., 2013).

    Args:
        params: Parameters or groups, as for Optimizer.
        initial_accum: The sum of squared gradients at the start, not negative.
        learning_rate: A number above 0.
        lr_power: The exponent of the decreasing rate, not above 0.
        l1: The L1 penalty, not negative.
        l2: The L2 penalty, not negative.
        use_locking: Accepted; updates never race.
        loss_scale: As for Optimizer.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        initial_accum: NotNegative = 0.1,
        learning_rate: Any = 0.001,
        lr_power: Finite = -0.5,
        l1: NotNegative = 0.0,
        l2: NotNegative = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        del use_locking
        owner = self.cls_name
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(
                f"For '{owner}', the learning rate must be one number for all groups and steps, "
                "but got a schedule or group rates."
            )
        if lr_power > 0:
            raise ValueError(f"For '{owner}', 'lr_power' must be at most 0, but got {lr_power}.")
        self.l1 = float(l1)
        self.l2 = float(l2)
        self.lr_power = float(lr_power)
        self.moments = self.parameters.clone(prefix="moments", init=float(initial_accum))
        self.linear = self.parameters.clone(prefix="linear", init="zeros")

    @compiled
    def construct(self, grads: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        touched = touched_by(grads, self.sparse)
        grads = self._prepare(grads)
        self._next_step()
        rates = of_each(self.get_lr(), self.param_length)
        columns = (self.parameters, self.moments, self.linear, grads, rates, touched)
        steps(ftrl, columns, self.l1, self.l2, self.lr_power)
        return True


__all__ = ["FTRL"]
