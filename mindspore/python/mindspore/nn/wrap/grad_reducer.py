"""Gradients of all processes together, in data parallel training."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from mindspore import context
from mindspore.common import _groups
from mindspore.common._groups import Member
from mindspore.common._kinds import PositiveInt
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn._uneven import Uneven
from mindspore.ops import _exchange
from mindspore.ops._each import rows_of_sums


class DistributedGradReducer(Uneven):
    """Sums or averages gradients over a group of processes. Of one process they stay as they are.

    All processes begin with the parameters of the first one: without a seed each has drawn its own. A parameter with
    `layerwise_parallel=True` is each process's own, and so is its gradient.

    Args:
        parameters: The parameters that the gradients belong to.
        mean: Whether sums are divided by `degree`; what the setting `gradients_mean` says if not given.
        degree: What a mean divides by; the number of processes if not given.
        fusion_type: Accepted for scripts that tune how gradients are grouped for communication.
        group: The processes; all of them if not given.
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: PositiveInt | None = None,
        fusion_type: int = 1,
        group: str | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.group = group
        self.at = _groups.member(group, self.cls_name)
        listed = parameters if isinstance(parameters, (list, tuple)) else ()
        share_parameters(listed, self.at)
        self.own = tuple(map(is_own, listed))  # of each gradient whether it stays as it is
        self.places = tuple(itertools.accumulate((not own for own in self.own), initial=0))
        if mean is None:
            mean = context.get_auto_parallel_context("gradients_mean")
        self.mean = bool(mean)
        self.degree = degree or self.at.size
        self.fusion_type = fusion_type
        self.rows: tuple = ()  # of each gradient those that its reader wants, or None
        self._begin_even(group)

    def _weight_of(self, mine: int, total: int) -> float:
        return super()._weight_of(mine, total) if self.mean else float(mine > 0)

    def construct(self, grads: Sequence[Tensor]) -> Any:
        """The gradients of all processes together."""
        if not any(self.own):
            return self._together(grads, self.rows)
        rows = tuple([r for r, own in zip(self.rows, self.own) if not own])
        sums = self._together([g for g, own in zip(grads, self.own) if not own], rows)
        rest = zip(grads, self.own, self.places)
        return tuple([self._alone(g) if own else sums[i] for g, own, i in rest])

    def _together(self, grads: Sequence[Tensor], rows: tuple) -> Any:
        if self.at.size > 1:
            if self.uneven:
                grads = tuple([grad * self.part_weight.astype(grad.dtype) for grad in grads])
            parts = rows_of_sums(grads, rows) if rows else (None,) * len(grads)
            grads = tuple(
                [
                    _exchange.all_reduce(grad, "sum", self.at) if part is None else part
                    for grad, part in zip(grads, parts)
                ]
            )
        if self.degree > 1 and self.mean:
            return tuple([grad / self.degree for grad in grads])
        return grads

    def _alone(self, grad: Tensor) -> Tensor:
        """The gradient of a parameter of this process alone: nothing where it has no samples in the step."""
        return grad * (self.part_weight > 0).astype(grad.dtype) if self.uneven else grad


def is_own(parameter: Any) -> bool:
    """Whether each process of a data-parallel training has a value of its own for this."""
    return isinstance(parameter, Parameter) and parameter.layerwise_parallel


def share_parameters(parameters: Iterable[Any], at: Member) -> None:
    """Gives all members of a group the parameters of the first: each has drawn its own where no seed is set."""
    if at.size == 1:
        return
    for parameter in parameters:
        if isinstance(parameter, Parameter) and not is_own(parameter):
            parameter.init_data()
            parameter.set_data(_exchange.broadcast(parameter.value(), 0, at))


__all__ = ["DistributedGradReducer"]
