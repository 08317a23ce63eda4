"""What changes the learning rates of an optimizer's groups between steps.

They compute on the host and set the groups' Parameters, so a training step that was compiled stays as it is. Most schedules are a factor
of the first rate; those go on from the present rate, which others may have changed in between.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from mindspore.common import dtype as mstype
from mindspore.common._kinds import Count, Finite, NotNegative, Positive, PositiveInt, Where, within
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim._schedule import Factors, LRScheduler, Schedule


class StepLR(Factors):
    """Rates times gamma after each `step_size` epochs.

    Args:
        optimizer: An optimizer of this package.
        step_size: Epochs of one rate.
        gamma: The factor.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self, optimizer: Any, step_size: PositiveInt, gamma: Finite = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(Factors):
    """Rates times gamma at each of the milestones.

    Args:
        optimizer: An optimizer of this package.
        milestones: Epochs; one that is listed twice counts twice.
        gamma: The factor.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self, optimizer: Any, milestones: list[int], gamma: Finite = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** bisect_right(self.milestones, epoch)


class ConstantLR(Factors):
    """Rates times a factor for some epochs.

    Args:
        optimizer: An optimizer of this package.
        factor: The factor, in [0, 1].
        total_iters: For how many epochs.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        factor: Annotated[float, within(0.0, 1.0, "both")] = 1.0 / 3,
        total_iters: Count = 5,
        last_epoch: int = -1,
    ) -> None:
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(Factors):
    """Rates times a factor that goes from one number to another in equal steps.

    Args:
        optimizer: An optimizer of this package.
        start_factor: The first factor, in (0, 1].
        end_factor: The last factor, in [0, 1].
        total_iters: The epoch of the last factor.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: Annotated[float, within(0.0, 1.0, "right")] = 1.0 / 3,
        end_factor: Annotated[float, within(0.0, 1.0, "both")] = 1.0,
        total_iters: PositiveInt = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        way = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * way


class ExponentialLR(Factors):
    """Rates times gamma at each epoch.

    Args:
        optimizer: An optimizer of this package.
        gamma: The factor.
        last_epoch: The epoch that ended last.
    """

    def __init__(self, optimizer: Any, gamma: Finite, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma**epoch


class PolynomialLR(Factors):
    """Rates that fall to 0 by a power of the epochs that are left.

    Args:
        optimizer: An optimizer of this package.
        total_iters: The epoch of the rate 0.
        power: The power.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        total_iters: PositiveInt = 5,
        power: Positive = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return (1.0 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class LambdaLR(LRScheduler):
    """The first rates times what a function returns for the epoch.

    Args:
        optimizer: An optimizer of this package.
        lr_lambda: A function of the epoch, or one for each group.
        last_epoch: The epoch that ended last.
    """

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self._take(optimizer)
        self.lr_lambdas = self._for_each_group(lr_lambda, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The first rates times what the functions return."""
        pairs = zip(self.base_lrs, self.lr_lambdas)
        return [float(rate) * float(function(self.last_epoch)) for rate, function in pairs]


class MultiplicativeLR(LRScheduler):
    """The present rates times what a function returns for the epoch.

    Args:
        optimizer: An optimizer of this package.
        lr_lambda: A function of the epoch, or one for each group.
        last_epoch: The epoch that ended last.
    """

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self._take(optimizer)
        self.lr_lambdas = self._for_each_group(lr_lambda, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates times what the functions return."""
        if self.last_epoch <= 0:
            return self._rates()
        pairs = zip(self._rates(), self.lr_lambdas)
        return [rate * float(function(self.last_epoch)) for rate, function in pairs]


class CosineAnnealingLR(LRScheduler):
    """Rates that go down and up again along a cosine (Loshchilov and Hutter, 2017).

    Args:
        optimizer: An optimizer of this package.
        T_max: Epochs from the highest rate to the lowest.
        eta_min: The lowest rate.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self, optimizer: Any, T_max: PositiveInt, eta_min: Finite = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Where the cosine leads from the present rates."""
        epoch, most, least = self.last_epoch, self.T_max, self.eta_min
        if epoch == 0:
            return self._rates()
        if (epoch - 1 - most) % (2 * most) == 0:
            rise = (1 - math.cos(math.pi / most)) / 2
            pairs = zip(self._rates(), self.base_lrs)
            return [rate + (float(first) - least) * rise for rate, first in pairs]
        now, before = (1 + math.cos(math.pi * e / most) for e in (epoch, epoch - 1))
        return [now / before * (rate - least) + least for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        share = _cosine(self.last_epoch / self.T_max)
        return [self.eta_min + (float(rate) - self.eta_min) * share for rate in self.base_lrs]


def _cosine(way: float) -> float:
    """From 1 to 0 along a cosine."""
    return (1 + math.cos(math.pi * way)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Rates that go down along a cosine and start again from the top (Loshchilov and Hutter, 2017).

    Args:
        optimizer: An optimizer of this package.
        T_0: Epochs until the first restart.
        T_mult: The factor of the epochs until the next one.
        eta_min: The lowest rate.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        T_0: PositiveInt,
        T_mult: PositiveInt = 1,
        eta_min: Finite = 0,
        last_epoch: int = -1,
    ) -> None:
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.T_cur = last_epoch
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Where the cosine is."""
        share = _cosine(self.T_cur / self.T_i)
        return [self.eta_min + (float(rate) - self.eta_min) * share for rate in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Set the rates of the next epoch, or of one that is named, which may be part of one.

        Args:
            epoch: The epoch.
        """
        if epoch is not None and epoch < 0:
            raise ValueError(
                f"For '{type(self).__name__}.step', 'epoch' must not be negative, but got {epoch}."
            )
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.T_cur, self.T_i = self.last_epoch, self.T_0
        while self.T_cur >= self.T_i:
            whole = self.T_cur // self.T_i if self.T_mult == 1 else 1
            self.T_cur -= whole * self.T_i
            self.T_i *= self.T_mult
        self.last_epoch = math.floor(self.last_epoch)
        self._set_rates(self.get_lr())


class CyclicLR(LRScheduler):
    """Rates that go up and down between two bounds (Smith, 2017).

    Args:
        optimizer: An optimizer of this package.
        base_lr: The lower bound, or one for each group.
        max_lr: The upper bound, or one for each group.
        step_size_up: Steps on the way up.
        step_size_down: Steps on the way down; as many as up if not given.
        mode: 'triangular' keeps the height, 'triangular2' halves it each time, 'exp_range' takes a power of gamma.
        gamma: The factor of the height at each step of 'exp_range'.
        scale_fn: The factor of the height, in place of the mode's: a function of what `scale_mode` names.
        scale_mode: 'cycle' for the number of the cycle, 'iterations' for that of the step.
        last_epoch: The step that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: NotNegative | Sequence[NotNegative],
        max_lr: NotNegative | Sequence[NotNegative],
        step_size_up: PositiveInt = 2000,
        step_size_down: PositiveInt | None = None,
        mode: str = "triangular",
        gamma: Finite = 1.0,
        scale_fn: Callable | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer)
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                "For 'CyclicLR', 'mode' must be one of 'triangular', 'triangular2', 'exp_range', or 'scale_fn' be given, "
                f"but got {mode!r}."
            )
        lowest = self._for_each_group(base_lr, "base_lr")
        self.max_lrs = self._for_each_group(max_lr, "max_lr")
        self.total_size = float(step_size_up + (step_size_down or step_size_up))
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode
        if last_epoch == -1:
            self._set_rates(lowest)
            for group, rate in zip(self.optimizer.param_groups, lowest):
                group["initial_lr"] = float(rate)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(float(rate), mstype.float32) for rate in lowest]

    def _height(self, cycle: float) -> float:
        if self.scale_fn is not None:
            return float(self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch))
        if self.mode == "triangular2":
            return 1.0 / 2.0 ** (cycle - 1)
        return 1.0 if self.mode == "triangular" else self.gamma**self.last_epoch

    def get_lr(self) -> list[Any]:
        """Where the wave is."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = share * self._height(cycle)
        pairs = zip(self.base_lrs, self.max_lrs)
        return [float(low) + (float(high) - float(low)) * height for low, high in pairs]


class SequentialLR(Schedule):
    """Schedules one after the other.

    Args:
        optimizer: An optimizer of this package.
        schedulers: Schedules of that optimizer.
        milestones: The epochs at which the next one begins.
        last_epoch: The epoch that ended last.
    """

    def __init__(
        self,
        optimizer: Any,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer)
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            raise ValueError(
                "For 'SequentialLR', all 'schedulers' must be of the given optimizer, but got one of another."
            )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"For 'SequentialLR', there must be {len(schedulers) - 1} 'milestones' for {len(schedulers)} schedulers, "
                f"but got {len(milestones)}."
            )
        self._schedulers = list(schedulers)
        self.milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self._set_rates([group["initial_lr"] for group in optimizer.param_groups])
        for scheduler in self._schedulers:  # each has made its first step
            scheduler.last_epoch -= 1
        self._schedulers[0].step()

    def step(self) -> None:
        """Set the rates of the next epoch."""
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        begins = number > 0 and self.milestones[number - 1] == self.last_epoch
        self._schedulers[number].step(*([0] if begins else []))


class ReduceLROnPlateau(Schedule):
    """Rates times a factor where a number has not become better for some epochs.

    Args:
        optimizer: An optimizer of this package.
        mode: 'min' where smaller is better, 'max' where larger is.
        factor: The factor, below 1.
        patience: For how many epochs nothing need become better.
        threshold: By how much a number must be better.
        threshold_mode: 'rel' for a share of the best number, 'abs' for a difference.
        cooldown: Epochs after a reduction that do not count.
        min_lr: The lowest rate, or one for each group.
        eps: Smaller changes are not made.
    """

    def __init__(
        self,
        optimizer: Any,
        mode: Literal["min", "max"] = "min",
        factor: Annotated[float, Where(lambda x: x < 1.0, "be below 1")] = 0.1,
        patience: Count = 10,
        threshold: Finite = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: Count = 0,
        min_lr: NotNegative | Sequence[NotNegative] = 0,
        eps: NotNegative = 1e-8,
    ) -> None:
        self._take(optimizer)
        self.min_lrs = self._for_each_group(min_lr, "min_lr")
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.wait = 0
        self.cooldown_counter = 0
        self.last_epoch = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether a reduction was a short time ago."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any) -> None:
        """Take the number of an epoch, and reduce the rates if it is time to.

        Args:
            metrics: A number or a Tensor of one.
        """
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best, self.wait = value, 0
        else:
            self.wait += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.wait > self.patience:
            rates = self._rates()
            lower = [max(r * self.factor, float(least)) for r, least in zip(rates, self.min_lrs)]
            self._set_rates(
                [new if old - new > self.eps else old for old, new in zip(rates, lower)]
            )
            self.cooldown_counter, self.wait = self.cooldown, 0

    def _is_better(self, value: float) -> bool:
        sign = 1.0 if self.mode == "max" else -1.0
        if math.isinf(self.best):
            margin = 0.0
        else:
            margin = self.threshold * (abs(self.best) if self.threshold_mode == "rel" else 1.0)
            # A share of a negative best number counts the other way, as in 'best * (1 + threshold)'.
            if self.threshold_mode == "rel" and self.best < 0:
                margin = -margin
        return sign * value > sign * self.best + margin


__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
