"""Learning rates as lists, one number for each step, for the `learning_rate` of an optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mindspore.nn import _checks


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """Constant pieces: learning_rates[i] up to, not including, step milestone[i].

    Args:
        milestone: Growing step numbers.
        learning_rates: As many rates.

    Examples:
        >>> piecewise_constant_lr([2, 3], [0.1, 0.05])
        [0.1, 0.1, 0.05]
    """
    owner = "piecewise_constant_lr"
    _checks.check_type(milestone, (tuple, list), "milestone", owner)
    _checks.check_type(learning_rates, (tuple, list), "learning_rates", owner)
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"For '{owner}', 'milestone' and 'learning_rates' must be of the same length, "
            f"but got {len(milestone)} and {len(learning_rates)}."
        )
    rates: list[float] = []
    last = 0
    for index, (step, rate) in enumerate(zip(milestone, learning_rates)):
        _checks.check_positive_int(step, f"milestone[{index}]", owner)
        _checks.check_float(rate, f"learning_rates[{index}]", owner)
        if step < last:
            raise ValueError(f"For '{owner}', 'milestone' must grow, but got {step} after {last}.")
        rates += [rate] * (step - last)
        last = step
    return rates


def _check(
    owner: str,
    learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    epochs: tuple[str, int],
    decay_rate: float | None = None,
    is_stair: bool = False,
) -> None:
    """What all schedules below require of their arguments."""
    _checks.check_positive_int(total_step, "total_step", owner)
    _checks.check_positive_int(step_per_epoch, "step_per_epoch", owner)
    _checks.check_positive_int(epochs[1], epochs[0], owner)
    _checks.check_positive_float(learning_rate, "learning_rate", owner)
    if decay_rate is not None:
        _checks.check_positive_float(decay_rate, "decay_rate", owner)
    _checks.check_bool(is_stair, "is_stair", owner)


def _by_epoch(total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> list[float]:
    """The rate of its epoch for each step."""
    return [rate(step // step_per_epoch) for step in range(total_step)]


def _periods(epoch: int, decay_epoch: int, is_stair: bool) -> float:
    return epoch // decay_epoch if is_stair else epoch / decay_epoch


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
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
    _check(
        "exponential_decay_lr",
        learning_rate,
        total_step,
        step_per_epoch,
        ("decay_epoch", decay_epoch),
        decay_rate,
        is_stair,
    )
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate * decay_rate ** _periods(epoch, decay_epoch, is_stair),
    )


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
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
    _check(
        "natural_exp_decay_lr",
        learning_rate,
        total_step,
        step_per_epoch,
        ("decay_epoch", decay_epoch),
        decay_rate,
        is_stair,
    )

    def rate(epoch: int) -> float:
        counted = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.exp(-decay_rate * counted)

    return _by_epoch(total_step, step_per_epoch, rate)


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
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
    _check(
        "inverse_decay_lr",
        learning_rate,
        total_step,
        step_per_epoch,
        ("decay_epoch", decay_epoch),
        decay_rate,
        is_stair,
    )
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate / (1 + decay_rate * _periods(epoch, decay_epoch, is_stair)),
    )


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
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
    _check(owner, max_lr, total_step, step_per_epoch, ("decay_epoch", decay_epoch))
    _checks.check_float(min_lr, "min_lr", owner)
    _checks.check_non_negative(min_lr, "min_lr", owner)
    if not min_lr < max_lr:
        raise ValueError(
            f"For '{owner}', 'max_lr' must be greater than 'min_lr', but got {max_lr} and {min_lr}."
        )

    def rate(epoch: int) -> float:
        share = min(epoch, decay_epoch) / decay_epoch
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * share))

    return _by_epoch(total_step, step_per_epoch, rate)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
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
    owner = "polynomial_decay_lr"
    _check(owner, learning_rate, total_step, step_per_epoch, ("decay_epoch", decay_epoch))
    _checks.check_float(end_learning_rate, "end_learning_rate", owner)
    _checks.check_non_negative(end_learning_rate, "end_learning_rate", owner)
    _checks.check_positive_float(power, "power", owner)
    _checks.check_bool(update_decay_epoch, "update_decay_epoch", owner)

    def rate(epoch: int) -> float:
        total = decay_epoch
        if update_decay_epoch:
            total = decay_epoch * max(math.ceil(epoch / decay_epoch), 1)
        left = (1 - min(epoch, total) / total) ** power
        return (learning_rate - end_learning_rate) * left + end_learning_rate

    return _by_epoch(total_step, step_per_epoch, rate)


def warmup_lr(
    learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int
) -> list[float]:
    """learning_rate * min(epoch, warmup_epoch) / warmup_epoch.

    Args:
        learning_rate: The rate after the warm-up.
        total_step: The number of steps.
        step_per_epoch: The steps in an epoch.
        warmup_epoch: The epochs of the warm-up.
    """
    _check("warmup_lr", learning_rate, total_step, step_per_epoch, ("warmup_epoch", warmup_epoch))
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
