"""Learning rates as functions of the step, for optimizers: cells that take the global step.

Subclass LearningRateSchedule and define `construct(global_step)` for one of your own.
"""

from __future__ import annotations

import math

from mindspore.common import dtype as mstype
from mindspore.common._kinds import NotNegativeFloat, PositiveFloat, PositiveInt
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P


class LearningRateSchedule(Cell):
    """Base of all schedules."""

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate at a step. Every subclass defines it."""
        raise NotImplementedError(
            f"For '{self.cls_name}', the method 'construct' must be defined, but got none."
        )


class _DecayLR(LearningRateSchedule):
    """What exponential and inverse decays share."""

    def __init__(
        self,
        learning_rate: PositiveFloat,
        decay_rate: PositiveFloat,
        decay_steps: PositiveInt,
        is_stair: bool = False,
    ) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.decay_rate = decay_rate
        self.decay_steps = decay_steps
        self.is_stair = is_stair
        self.pow = P.Pow()
        self.floor = P.Floor()
        self.exp = P.Exp()

    def _periods(self, global_step: Tensor) -> Tensor:
        """Steps in units of decay_steps, rounded down where the rate falls in stairs."""
        periods = global_step.astype(mstype.float32) / self.decay_steps
        return self.floor(periods) if self.is_stair else periods


class ExponentialDecayLR(_DecayLR):
    """learning_rate * decay_rate ** (step / decay_steps).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The factor in decay_steps steps.
        decay_steps: The period.
        is_stair: Whether the rate changes at the end of a period only.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        return self.learning_rate * self.pow(self.decay_rate, self._periods(global_step))


class NaturalExpDecayLR(_DecayLR):
    """learning_rate * exp(-decay_rate * step).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The decay in one step.
        decay_steps: The period of stairs.
        is_stair: Whether the rate changes at the end of a period only.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        steps = global_step.astype(mstype.float32)
        if self.is_stair:
            steps = self._periods(global_step) * self.decay_steps
        return self.learning_rate * self.exp(-self.decay_rate * steps)


class InverseDecayLR(_DecayLR):
    """learning_rate / (1 + decay_rate * step / decay_steps).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The decay in decay_steps steps.
        decay_steps: The period.
        is_stair: Whether the rate changes at the end of a period only.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        return self.learning_rate / (1.0 + self.decay_rate * self._periods(global_step))


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine from max_lr to min_lr in decay_steps steps.

    Args:
        min_lr: The rate at the end.
        max_lr: The rate at the start.
        decay_steps: The steps.
    """

    def __init__(
        self, min_lr: NotNegativeFloat, max_lr: PositiveFloat, decay_steps: PositiveInt
    ) -> None:
        super().__init__()
        if not min_lr < max_lr:
            raise ValueError(
                f"For '{self.cls_name}', 'max_lr' must be greater than 'min_lr', "
                f"but got {max_lr} and {min_lr}."
            )
        self.min_lr = min_lr
        self.max_lr = max_lr
        self.decay_steps = decay_steps
        self.minimum = P.Minimum()
        self.cos = P.Cos()

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        steps = self.minimum(global_step.astype(mstype.float32), float(self.decay_steps))
        wave = 1.0 + self.cos(steps * (math.pi / self.decay_steps))
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * wave


class PolynomialDecayLR(LearningRateSchedule):
    """(learning_rate - end_learning_rate) * (1 - step / decay_steps) ** power + end_learning_rate.

    Args:
        learning_rate: The rate at the start.
        end_learning_rate: The rate at the end.
        decay_steps: The steps.
        power: The exponent.
        update_decay_steps: Whether the rate rises and falls again in the next multiple of
            decay_steps, instead of staying at the end.
    """

    def __init__(
        self,
        learning_rate: PositiveFloat,
        end_learning_rate: NotNegativeFloat,
        decay_steps: PositiveInt,
        power: PositiveFloat,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.end_learning_rate = end_learning_rate
        self.decay_steps = decay_steps
        self.power = power
        self.update_decay_steps = update_decay_steps
        self.minimum = P.Minimum()
        self.maximum = P.Maximum()
        self.ceil = P.Ceil()
        self.pow = P.Pow()

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        steps = global_step.astype(mstype.float32)
        total = float(self.decay_steps)
        if self.update_decay_steps:
            total = self.decay_steps * self.maximum(self.ceil(steps / self.decay_steps), 1.0)
        steps = self.minimum(steps, total)
        left = self.pow(1.0 - steps / total, self.power)
        return (self.learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """learning_rate * min(step, warmup_steps) / warmup_steps.

    Args:
        learning_rate: The rate after the warm-up.
        warmup_steps: The steps of the warm-up.
    """

    def __init__(self, learning_rate: NotNegativeFloat, warmup_steps: PositiveInt) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.minimum = P.Minimum()

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate."""
        steps = self.minimum(global_step.astype(mstype.float32), float(self.warmup_steps))
        return self.learning_rate * steps / self.warmup_steps


__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
]
