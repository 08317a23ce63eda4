"""Learning rates as lists, one number for each step, for the `learning_rate` of an optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

from mindspore.common._checked import checked
from mindspore.common._kinds import Float, NotNegativeFloat, PositiveFloat, PositiveInt, Where

# Each is a number in a list.
Steps: TypeAlias = Annotated[PositiveInt, Where(lambda n: n <= 1 << 27, "be at most 134217728")]


@checked
def piecewise_constant_lr(
    milestone: Sequence[Steps], learning_rates: Sequence[Float]
) -> list[float]:
    """Constant pieces: learning_rates[i] up to, not including, step milestone[i].

    Args:
        milestone: Growing step numbers.
        learning_rates: As many rates.

    Examples:
        >>> piecewise_constant_lr([2, 3], [0.1, 0.05])
        [0.1, 0.1, 0.05]
    """
    owner = "piecewise_constant_lr"
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"For '{owner}', 'milestone' and 'learning_rates' must be of the same length, "
            f"but got {len(milestone)} and {len(learning_rates)}."
        )
    rates: list[float] = []
    last = 0
    for step, rate in zip(milestone, learning_rates):
        if step < last:
            raise ValueError(f"For '{owner}', 'milestone' must grow, but got {step} after {last}.")
        rates += [rate] * (step - last)
        last = step
    return rates


def _by_epoch(total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> list[float]:
    """The rate of its epoch for each step."""
    return [rate(step // step_per_epoch) for step in range(total_step)]


def _periods(epoch: int, decay_epoch: int, is_stair: bool) -> float:
    return epoch // decay_epoch if is_stair else epoch / decay_epoch


@checked
def exponential_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * decay_rate ** (epoch / decay_epoch).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The factor in decay_epoch epochs.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        decay_epoch: The period.
        is_stair: Whether the rate changes at the end of a period only.
    """

    def rate(epoch: int) -> float:
        periods = _periods(epoch, decay_epoch, is_stair)
        try:
            found = learning_rate * decay_rate**periods
        except OverflowError:  # so a power says it, where a product says inf
            found = math.inf
        if math.isinf(found):
            raise ValueError(
                "For 'exponential_decay_lr', all rates must be finite, but got 'decay_rate' "
                f"{decay_rate} to the power of {periods}."
            )
        return found

    return _by_epoch(total_step, step_per_epoch, rate)


@checked
def natural_exp_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * exp(-decay_rate * epoch).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The decay in one epoch.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        decay_epoch: The period of stairs.
        is_stair: Whether the rate changes at the end of a period only.
    """

    def rate(epoch: int) -> float:
        counted = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.exp(-decay_rate * counted)

    return _by_epoch(total_step, step_per_epoch, rate)


@checked
def inverse_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate / (1 + decay_rate * epoch / decay_epoch).

    Args:
        learning_rate: The rate at the start.
        decay_rate: The decay in decay_epoch epochs.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        decay_epoch: The period.
        is_stair: Whether the rate changes at the end of a period only.
    """
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate / (1 + decay_rate * _periods(epoch, decay_epoch, is_stair)),
    )


@checked
def cosine_decay_lr(
    min_lr: NotNegativeFloat,
    max_lr: PositiveFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
) -> list[float]:
    """Half a cosine from max_lr to min_lr in decay_epoch epochs.

    Args:
        min_lr: The rate at the end.
        max_lr: The rate at the start.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        decay_epoch: The epochs of the decay.
    """
    owner = "cosine_decay_lr"
    if not min_lr < max_lr:
        raise ValueError(
            f"For '{owner}', 'max_lr' must be greater than 'min_lr', but got {max_lr} and {min_lr}."
        )

    def rate(epoch: int) -> float:
        share = min(epoch, decay_epoch) / decay_epoch
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * share))

    return _by_epoch(total_step, step_per_epoch, rate)


@checked
def polynomial_decay_lr(
    learning_rate: PositiveFloat,
    end_learning_rate: NotNegativeFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    power: PositiveFloat,
    update_decay_epoch: bool = False,
) -> list[float]:
    """(learning_rate - end_learning_rate) * (1 - epoch / decay_epoch) ** power + end_learning_rate.

    Args:
        learning_rate: The rate at the start.
        end_learning_rate: The rate at the end.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        decay_epoch: The epochs of the decay.
        power: The exponent.
        update_decay_epoch: Whether the rate rises and falls again in the next multiple of
            decay_epoch, instead of staying at the end.
    """

    def rate(epoch: int) -> float:
        total = decay_epoch
        if update_decay_epoch:
            total = decay_epoch * max(math.ceil(epoch / decay_epoch), 1)
        left = (1 - min(epoch, total) / total) ** power
        return (learning_rate - end_learning_rate) * left + end_learning_rate

    return _by_epoch(total_step, step_per_epoch, rate)


@checked
def warmup_lr(
    learning_rate: NotNegativeFloat,
    total_step: Steps,
    step_per_epoch: PositiveInt,
    warmup_epoch: PositiveInt,
) -> list[float]:
    """learning_rate * min(epoch, warmup_epoch) / warmup_epoch.

    Args:
        learning_rate: The rate after the warm-up.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        warmup_epoch: The epochs of the warm-up.
    """
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch,
    )


__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
