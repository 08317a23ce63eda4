"""Gradients of all processes together, in data parallel training."""

from __future__ import annotations

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

    All processes begin with the parameters of the first one: without a seed each has drawn its own.

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
        if isinstance(parameters, (list, tuple)):
            share_parameters(parameters, self.at)
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
        if self.at.size > 1:
            if self.uneven:
                grads = tuple([grad * self.weight.astype(grad.dtype) for grad in grads])
            parts = rows_of_sums(grads, self.rows) if self.rows else (None,) * len(grads)
            grads = tuple(
                [
                    _exchange.all_reduce(grad, "sum", self.at) if part is None else part
                    for grad, part in zip(grads, parts)
                ]
            )
        if self.degree > 1 and self.mean:
            return tuple([grad / self.degree for grad in grads])
        return grads


def share_parameters(parameters: Iterable[Any], at: Member) -> None:
    """Gives all members of a group the parameters of the first: each has drawn its own where no seed is set."""
    if at.size == 1:
        return
    for parameter in parameters:
        if isinstance(parameter, Parameter):
            parameter.init_data()
            parameter.set_data(_exchange.broadcast(parameter.value(), 0, at))


__all__ = ["DistributedGradReducer"]
