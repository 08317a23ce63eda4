"""Adagrad with proximal steps, which make weights sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import NotNegative
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import of_each, steps
from mindspore.ops._steps import proximal_adagrad, touched_by


class ProximalAdagrad(Optimizer):
    """Adagrad's steps, each followed by the best weights nearby under L1 and L2 penalties (Duchi and Singer, 2009).

    Args:
        params: Parameters or groups, as for Optimizer.
        accum: The sum of squares at the start, not negative.
        learning_rate: As for Optimizer.
        l1: The factor of the L1 penalty, not negative.
        l2: The factor of the L2 penalty, not negative.
        use_locking: Accepted; updates never race.
        loss_scale: As for Optimizer.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: NotNegative = 0.1,
        learning_rate: Any = 0.001,
        l1: NotNegative = 0.0,
        l2: NotNegative = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        del use_locking
        self.accum = self.parameters.clone(prefix="accum", init=float(accum))
        self.l1 = float(l1)
        self.l2 = float(l2)

    @compiled
    def construct(self, grads: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        touched = touched_by(grads, self.sparse)
        grads = self._prepare(grads)
        rates = of_each(self.get_lr(), self.param_length)
        self._next_step()
        columns = (self.parameters, self.accum, grads, rates, touched)
        steps(proximal_adagrad, columns, self.l1, self.l2)
        return True


__all__ = ["ProximalAdagrad"]
