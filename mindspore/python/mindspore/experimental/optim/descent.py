"""Descent along the gradient, averages of it, and steps by signs alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_value
from mindspore.common._kinds import Float, NotNegative
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer, directed
from mindspore.nn.optim.optimizer import compiled
from mindspore.nn.optim.rprop import check_steps
from mindspore.ops import operations as P
from mindspore.ops._each import each, of_each, steps
from mindspore.ops._steps import averaged, next_sizes, resilient


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g, w = w - lr * v; the first v is g itself.

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        momentum: What stays of the velocity, not negative.
        dampening: What is left out of each gradient.
        weight_decay: Not negative.
        nesterov: Whether to look one step ahead; needs momentum and no dampening.
        maximize: Whether to climb.
    """

    _states = {"accum": ("accum", "zeros"), "stat": ("stat", "ones")}

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: Any = 0,
        dampening: Any = 0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "grad_centralization": False,
        }
        super().__init__(params, defaults)

    def _check_group(self, group: dict[str, Any]) -> None:
        super()._check_group(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError(
                f"For '{self.cls_name}', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, "
                f"but got {group['momentum']} and {group['dampening']}."
            )

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        for group, place, own in self._each_group(gradients):
            own = directed(group, own, decays=False)
            opt = P.SGD(float(group["dampening"]), float(group["weight_decay"]), group["nesterov"])
            momentum = float(group["momentum"])
            states = (self.accum[place], momentum, self.stat[place])
            each(opt, len(own), tuple(group["params"]), own, group["lr"], *states)
        return True


class ASGD(Optimizer):
    """Descent with steps that grow shorter, and the average of the weights on the way (Polyak and Juditsky, 1992).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        lambd: How much the weights shrink with each step.
        alpha: The power by which steps grow shorter.
        t0: The step from which on weights are averaged.
        weight_decay: Not negative.
        maximize: Whether to climb.
    """

    _states = {"ax": ("ax", "zeros")}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: Float = 1e-4,
        alpha: Float = 0.75,
        t0: Float = 1e6,
        weight_decay: Any = 0.0,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.step_t = self._count()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, whose steps have sizes of their own."""
        super().add_param_group(param_group)
        number = len(self.param_groups) - 1
        for name, start in (("eta", self.lrs[-1]), ("mu", 1.0)):
            value = Tensor(float(start), mstype.float32)
            setattr(self, f"{name}_{number}", Parameter(value, name=f"{name}_group_{number}"))

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        step = self._next(self.step_t)
        for number, (group, place, own) in enumerate(self._each_group(gradients)):
            eta, mu = getattr(self, f"eta_{number}"), getattr(self, f"mu_{number}")
            own, rate = directed(group, own), group["lr"] + 0.0
            now = ops.select(step > 1.0, eta + 0.0, rate)
            columns = (tuple(group["params"]), self.ax[place], own)
            steps(averaged, columns, now, mu + 0.0, group["lambd"])
            next_sizes(eta, mu, rate, step, group["lambd"], group["alpha"], group["t0"])
        return True


class Rprop(Optimizer):
    """Steps that grow where the gradient keeps its sign and shrink where it turns (Riedmiller and Braun, 1993).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: The first steps.
        etas: By what steps shrink, in (0, 1), and grow, above 1.
        step_sizes: The shortest and the longest step.
        maximize: Whether to climb.
    """

    _states = {"prev": ("prev", "zeros"), "step_size": ("step_size", "zeros")}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: Any = (0.5, 1.2),
        step_sizes: Any = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, {**defaults, "weight_decay": 0.0})
        self.step_t = self._count()

    def _check_group(self, group: dict[str, Any]) -> None:
        super()._check_group(group)
        for name in ("etas", "step_sizes"):
            check_value(tuple[NotNegative, NotNegative], group[name], name, self.cls_name)
        check_steps(self.cls_name, group["etas"], group["step_sizes"])

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        first = self._next(self.step_t) == 1.0
        for group, place, own in self._each_group(gradients):
            own = directed(group, own)
            columns = (tuple(group["params"]), self.prev[place], self.step_size[place], own)
            rates = of_each(group["lr"] + 0.0, len(own))
            steps(resilient, (*columns, rates), first, group["etas"], group["step_sizes"])
        return True


__all__ = ["ASGD", "SGD", "Rprop"]
