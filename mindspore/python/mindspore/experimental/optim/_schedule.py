"""What all schedules of learning rates share: they set the rates of an optimizer's groups, those of an epoch, or by a factor."""

from __future__ import annotations

from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common._checked import check_methods, check_value
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer


class Schedule:
    """What all of them do: set the rates of groups, and say what these are."""

    optimizer: Optimizer

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        check_methods(cls, ("__init__",))

    def _take(self, optimizer: Any) -> None:
        self.optimizer = check_value(Optimizer, optimizer, "optimizer", type(self).__name__)
        self.groups_num = len(self.optimizer.param_groups)

    def _rates(self) -> list[float]:
        """The present rates."""
        return [float(group["lr"]) for group in self.optimizer.param_groups]

    def _set_rates(self, rates: Any) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            if isinstance(group["lr"], Parameter):
                group["lr"].set_data(Tensor(float(rate), mstype.float32))
            else:
                group["lr"] = float(rate)

    @property
    def _last_lr(self) -> list[Any]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[Tensor]:
        """The present rates."""
        return [Tensor(rate, mstype.float32) for rate in self._rates()]

    def _for_each_group(self, values: Any, name: str) -> list[Any]:
        """A value for each group, from one for all or a sequence of them."""
        if not isinstance(values, (list, tuple)):
            return [values] * self.groups_num
        if len(values) != self.groups_num:
            raise ValueError(
                f"For '{type(self).__name__}', there must be one '{name}' for each of the {self.groups_num} groups, "
                f"but got {len(values)}."
            )
        return list(values)


class LRScheduler(Schedule):
    """Base of schedules. A subclass returns the rates of the epoch `last_epoch` from `get_lr`.

    Args:
        optimizer: An optimizer of this package.
        last_epoch: The epoch that ended last, or -1 at the start.
    """

    __module__ = "mindspore.experimental.optim.lr_scheduler"  # where it is public

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self._take(optimizer)
        if last_epoch < -1:
            raise ValueError(
                f"For '{type(self).__name__}', 'last_epoch' must be at least -1, but got {last_epoch}."
            )
        for number, group in enumerate(self.optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", float(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"For '{type(self).__name__}', groups must have an 'initial_lr' where 'last_epoch' is not -1, "
                    f"but got none in group {number}."
                )
        first = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.base_lrs = [Tensor(float(rate), mstype.float32) for rate in first]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list[Any]:
        """The rates of the epoch. Every subclass defines it."""
        raise NotImplementedError(
            f"For '{type(self).__name__}', the method 'get_lr' must be defined, but got none."
        )

    def _get_closed_form_lr(self) -> list[Any]:
        """The rates of the epoch, whatever they were before."""
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or of one that is named.

        Args:
            epoch: The epoch.
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set_rates(self.get_lr() if epoch is None else self._get_closed_form_lr())


class Factors(LRScheduler):
    """Schedules whose rates are a factor of the first ones."""

    def _factor(self, epoch: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The present rates times the ratio of the factors of this epoch and the one before."""
        before = self._factor(self.last_epoch - 1) if self.last_epoch > 0 else 1.0
        ratio = self._factor(self.last_epoch) / before if before else 1.0
        return [rate * ratio for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [float(rate) * self._factor(self.last_epoch) for rate in self.base_lrs]
