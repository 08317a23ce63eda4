"""Adam and its relatives: means of gradients over roots of means of their squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import NotNegative
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer, directed
from mindspore.nn.optim.optimizer import compiled
from mindspore.ops import operations as P
from mindspore.ops._each import each, of_each, steps
from mindspore.ops._steps import amsgrad, infinity, nesterov_adam, rectified_adam, rest_of

_MEANS = {"exp_avg": ("exp_avg", "zeros"), "exp_avg_sq": ("exp_avg_sq", "zeros")}
_LARGEST = {"max_exp_avg_sq": ("max_exp_avg_sq", "zeros")}


class _AdamBase(Optimizer):
    """What Adam and AdamW share: bias correction, and the largest squares, if asked for."""

    _states = {**_MEANS, **_LARGEST}
    _decays = True  # whether weight decay is part of the gradient
    _exact = (
        True  # whether eps is added to the corrected root, as in the paper, or to the root before
    )

    def __init__(
        self,
        params: Any,
        lr: Any,
        betas: Any,
        eps: Any,
        weight_decay: Any,
        amsgrad: bool,
        maximize: bool,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.state_step = self._count("state_step")

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        step = self._next(self.state_step)
        for group, place, own in self._each_group(gradients):
            own = directed(group, own, self._decays)
            beta1, beta2 = group["betas"]
            root = ops.sqrt(rest_of(beta2, step))
            left = rest_of(beta1, step)
            rate = group["lr"] * root / left
            eps = group["eps"] * root if self._exact else group["eps"]
            decay = 0.0 if self._decays else group["weight_decay"]
            states = (tuple(group["params"]), self.exp_avg[place], self.exp_avg_sq[place])
            if group["amsgrad"]:
                columns = (*states, self.max_exp_avg_sq[place], own, of_each(rate, len(own)))
                stay = None if self._decays else 1.0 - group["lr"] * decay
                steps(amsgrad, columns, beta1, beta2, eps, stay)
            else:
                # The op multiplies the decay by its rate, which has the bias correction in it.
                each(
                    P.AdamWeightDecay(),
                    len(own),
                    *states,
                    rate,
                    beta1,
                    beta2,
                    eps,
                    decay * left / root,
                    own,
                )
        return True


class Adam(_AdamBase):
    """Adam (Kingma and Ba, 2015), whose `eps` is added before the bias is corrected.

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the means of gradients and of squares.
        eps: Added to the root.
        weight_decay: Not negative; part of the gradient.
        amsgrad: Whether the largest mean of squares so far is used (Reddi et al., 2018).
        maximize: Whether to climb.
    """

    _exact = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: Any = 1e-8,
        weight_decay: Any = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)


class AdamW(_AdamBase):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the means of gradients and of squares.
        eps: Added to the root.
        weight_decay: Not negative; each step takes lr * weight_decay off the weights.
        amsgrad: Whether the largest mean of squares so far is used.
        maximize: Whether to climb.
    """

    _decays = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: Any = 1e-8,
        weight_decay: Any = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)


class Adamax(Optimizer):
    """Adam with the infinity norm of past gradients (Kingma and Ba, 2015).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the mean of gradients and of the norm.
        eps: Added to gradients in the norm.
        weight_decay: Not negative.
        maximize: Whether to climb.
    """

    _states = {"exp_avg": ("exp_avg", "zeros"), "exp_inf": ("exp_inf", "zeros")}

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: Any = 1e-8,
        weight_decay: Any = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
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
            beta1, beta2 = group["betas"]
            rate = group["lr"] / rest_of(beta1, step)
            columns = (tuple(group["params"]), self.exp_avg[place], self.exp_inf[place], own)
            steps(infinity, columns, rate, beta1, beta2, group["eps"])
        return True


class NAdam(Optimizer):
    """Adam that looks one step ahead (Dozat, 2016).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the means of gradients and of squares.
        eps: Added to the root.
        weight_decay: Not negative.
        momentum_decay: How fast the first factor grows to its full size.
    """

    _states = _MEANS

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: Any = 1e-8,
        weight_decay: Any = 0.0,
        momentum_decay: NotNegative = 4e-3,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
        }
        super().__init__(params, defaults)
        self.step_t = self._count()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, whose factors of means are multiplied on their own."""
        super().add_param_group(param_group)
        name = f"mu_product_{len(self.param_groups) - 1}"
        setattr(self, name, Parameter(Tensor(1.0, mstype.float32), name=name))

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        step = self._next(self.step_t)
        for number, (group, place, own) in enumerate(self._each_group(gradients)):
            own, rate = directed(group, own), group["lr"] + 0.0
            beta1, beta2 = group["betas"]
            fading = 0.96 ** group["momentum_decay"]
            mu = beta1 * (1.0 - 0.5 * ops.pow(fading, step))
            following = beta1 * (1.0 - 0.5 * ops.pow(fading, step + 1.0))
            product = getattr(self, f"mu_product_{number}") * mu
            ops.assign(getattr(self, f"mu_product_{number}"), product)
            of_gradient = rate * (1.0 - mu) / (1.0 - product)
            of_mean = rate * following / (1.0 - product * following)
            left2 = rest_of(beta2, step)
            columns = (tuple(group["params"]), self.exp_avg[place], self.exp_avg_sq[place], own)
            factors = (of_gradient, of_mean, left2, beta1, beta2, group["eps"])
            steps(nesterov_adam, columns, *factors)
        return True


class RAdam(Optimizer):
    """Adam that waits until it knows the mean of squares well enough to divide by it (Liu et al., 2020).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the means of gradients and of squares.
        eps: Added to the root.
        weight_decay: Not negative.
    """

    _states = _MEANS

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: Any = 1e-8,
        weight_decay: Any = 0.0,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        self.step_t = self._count()

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        step = self._next(self.step_t)
        for group, place, own in self._each_group(gradients):
            own = directed(group, own)
            beta1, beta2 = group["betas"]
            left2 = rest_of(beta2, step)
            most = 2.0 / (1.0 - beta2) - 1.0
            length = most - 2.0 * step * (1.0 - left2) / left2
            certain = length > 5.0
            rest = (length - 4.0) * (length - 2.0) * most / ((most - 4.0) * (most - 2.0))
            scale = ops.sqrt(ops.maximum(rest / length, 0.0)) * ops.sqrt(left2)
            rate = group["lr"] / rest_of(beta1, step)
            columns = (tuple(group["params"]), self.exp_avg[place], self.exp_avg_sq[place], own)
            steps(rectified_adam, columns, rate, scale, certain, beta1, beta2, group["eps"])
        return True


__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]
