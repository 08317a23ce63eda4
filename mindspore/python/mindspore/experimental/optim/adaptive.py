"""Steps divided by the size of past gradients: Adadelta, Adagrad and RMSprop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import NotNegative
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer, directed
from mindspore.nn.optim.optimizer import compiled
from mindspore.ops import operations as P
from mindspore.ops._each import each, of_each, steps
from mindspore.ops._steps import mean_square


class Adadelta(Optimizer):
    """Steps in units of the steps before (Zeiler, 2012).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        rho: The factor of the moving averages, in [0, 1].
        eps: Added under the roots.
        weight_decay: Not negative.
        maximize: Whether to climb.
    """

    _states = {"accum": ("accum", "zeros"), "accum_update": ("accum_update", "zeros")}

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: Any = 0.9,
        eps: Any = 1e-6,
        weight_decay: Any = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _check_group(self, group: dict[str, Any]) -> None:
        super()._check_group(group)
        if not 0.0 <= group["rho"] <= 1.0:
            raise ValueError(
                f"For '{self.cls_name}', 'rho' must be in [0, 1], but got {group['rho']}."
            )

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        opt = P.ApplyAdadelta()
        for group, place, own in self._each_group(gradients):
            own = directed(group, own)
            states = (self.accum[place], self.accum_update[place])
            factors = (float(group["rho"]), float(group["eps"]))
            each(opt, len(own), tuple(group["params"]), *states, group["lr"], *factors, own)
        return True


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares (Duchi et al., 2011).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        lr_decay: How fast the rate falls with the number of the step.
        weight_decay: Not negative.
        initial_accumulator_value: The sum of squares at the start.
        eps: Added to the root.
        maximize: Whether to climb.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: Any = 0.0,
        weight_decay: Any = 0.0,
        initial_accumulator_value: NotNegative = 0.0,
        eps: Any = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        self._states = {"accum": ("accum", float(initial_accumulator_value))}
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.step_t = self._count()

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        step = self._next(self.step_t)
        for group, place, own in self._each_group(gradients):
            own = directed(group, own)
            rate = group["lr"] / (1.0 + (step - 1.0) * group["lr_decay"])
            opt = P.ApplyAdagradV2(epsilon=float(group["eps"]))
            each(opt, len(own), tuple(group["params"]), self.accum[place], rate, own)
        return True


class RMSprop(Optimizer):
    """Gradients divided by the root of their mean square, or, if centered, of their variance.

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        alpha: The factor of the mean.
        eps: Added to the root.
        weight_decay: Not negative.
        momentum: What stays of the velocity, not negative.
        centered: Whether the variance is taken.
        maximize: Whether to climb.
    """

    _states = {
        "mean_grad": ("mean_grad", "zeros"),
        "mean_square": ("mean_square", "zeros"),
        "moment": ("moment", "zeros"),
    }

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: NotNegative = 0.99,
        eps: Any = 1e-8,
        weight_decay: Any = 0.0,
        momentum: Any = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        for group, place, own in self._each_group(gradients):
            own = directed(group, own)
            states = (self.mean_grad[place], self.mean_square[place], self.moment[place])
            columns = (tuple(group["params"]), *states, own, of_each(group["lr"] + 0.0, len(own)))
            settings = (group["alpha"], group["eps"], group["momentum"], group["centered"])
            steps(mean_square, columns, *settings)
        return True


__all__ = ["Adadelta", "Adagrad", "RMSprop"]
