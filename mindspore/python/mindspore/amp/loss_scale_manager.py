"""How the loss is scaled in a training step: by a fixed factor, or one that follows overflows."""

from __future__ import annotations

from typing import Any

from mindspore import nn


def _positive(op: str, name: str, value: Any, types: tuple[type, ...] = (int, float)) -> Any:
    if isinstance(value, bool) or not isinstance(value, types):
        raise TypeError(
            f"For '{op}', '{name}' must be {' or '.join(t.__name__ for t in types)}, but got "
            f"{value!r}."
        )
    if value <= 0:  # type: ignore[operator]
        raise ValueError(f"For '{op}', '{name}' must be positive, but got {value}.")
    return value


class LossScaleManager:
    """Base of the managers."""

    def get_loss_scale(self) -> float:
        """The factor for the next step."""
        raise NotImplementedError

    def update_loss_scale(self, overflow: bool) -> None:
        """Say whether the last step overflowed."""
        raise NotImplementedError

    def get_update_cell(self) -> Any:
        """The cell that keeps the factor inside the training step, or None."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """The same factor in every step.

    With `drop_overflow_update` steps that overflow change nothing.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        op = "FixedLossScaleManager"
        self._loss_scale = _positive(op, "loss_scale", loss_scale)
        if loss_scale < 1:
            raise ValueError(f"For '{op}', 'loss_scale' must be at least 1, but got {loss_scale}.")
        if not isinstance(drop_overflow_update, bool):
            raise TypeError(
                f"For '{op}', 'drop_overflow_update' must be a bool, but got "
                f"{drop_overflow_update!r}."
            )
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        """The factor."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps that overflow change nothing."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Nothing: the factor stays."""

    def get_update_cell(self) -> Any:
        """A cell that drops updates which overflow; None when all updates are made."""
        return nn.FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """The factor shrinks by `scale_factor` at an overflow and grows after `scale_window` good
    steps.
    """

    def __init__(
        self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000
    ) -> None:
        op = "DynamicLossScaleManager"
        if isinstance(init_loss_scale, (int, float)) and init_loss_scale < 1:
            raise ValueError(
                f"For '{op}', 'init_loss_scale' must be at least 1, but got {init_loss_scale}."
            )
        self.loss_scale = _positive(op, "init_loss_scale", init_loss_scale)
        self.scale_factor = _positive(op, "scale_factor", scale_factor, (int,))
        self.scale_window = _positive(op, "scale_window", scale_window, (int,))
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = 1000
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        """The factor for the next step."""
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """True: steps that overflow change nothing."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Follow the outcome of a step; an endless row of overflows is an error."""
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
            if self.bad_step > self.bad_step_max:
                raise RuntimeError(
                    f"For 'DynamicLossScaleManager', {self.bad_step} steps in a row overflowed: "
                    "the loss "
                    "is not finite whatever the scale. Lower the learning rate, or check the data."
                )
        else:
            self.bad_step = 0
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
        self.cur_iter += 1

    def get_update_cell(self) -> Any:
        """The cell that keeps the factor inside the training step."""
        return nn.DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
