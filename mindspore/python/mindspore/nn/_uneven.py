"""Steps in which the processes that train together have different numbers of samples."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import _exchange


class Uneven(Cell):
    """What takes means over processes. Model tells it before a step how many samples each of them has; nobody else does."""

    at: _groups.Member

    def _begin_even(self, group: str | None) -> None:
        self._among = _groups.ranks_of(group, self.cls_name)
        self.uneven = False
        self.samples = 0  # of all processes, where they have different numbers
        self.register_buffer("part_weight", Tensor(1.0, mstype.float32), persistent=False)

    def _weight_of(self, mine: int, total: int) -> float:
        """What this process's part of a mean over processes is multiplied by."""
        return mine / total * self.at.size if total else 0.0

    def _weigh(self, samples: Any) -> None:
        """How many samples each process of the world has in the next step."""
        own = [int(samples[rank]) for rank in self._among]
        uneven = len(set(own)) > 1
        if uneven:
            self.samples = sum(own)
            share = self._weight_of(own[self.at.rank], self.samples)
            self.part_weight = Tensor(share, mstype.float32)
        if uneven != self.uneven:
            self.uneven = uneven


class NormalizedTogether(Uneven):
    """What is normalised by the moments of all processes of a group."""

    def _whitened(
        self, x: Tensor, scale: Any, shift: Any, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The channels less their mean and by their deviation, scaled and moved; the mean, and the variance of a sample."""
        shape = (1, -1) + (1,) * (x.ndim - 2)
        axes = (0, *range(2, x.ndim))
        wide = x.astype(mstype.float32)
        mean = self._over_all(wide.mean(axes))
        centred = wide - mean.reshape(shape)
        variance = self._over_all((centred * centred).mean(axes))
        samples = self.samples if self.uneven else x.shape[0] * self.at.size
        count = x.size // (x.shape[0] * x.shape[1]) * samples
        factor = ops.rsqrt(variance + eps)
        factor = factor if scale is None else scale * factor
        y = centred * factor.reshape(shape)
        y = y if shift is None else y + shift.reshape(shape)
        return y.astype(x.dtype), mean, variance * (count / max(count - 1, 1))

    def _over_all(self, own: Tensor) -> Tensor:
        """The mean over the samples of all processes from those over each one's."""
        even = _exchange.all_reduce(own, "avg", self.at)
        if not self.uneven:
            return even
        # A process's loss weighs as its samples do, also where it comes back to the statistics of the others: gradients go by the
        # second summand alone, and are weighed once more where they are reduced.
        exact = _exchange.all_reduce(own * self.part_weight, "avg", self.at)
        path = even * self.part_weight
        return ops.stop_gradient(exact - path) + path

    def _follow(self, kept: Any, now: Tensor, momentum: float) -> None:
        """Moves a statistic for inference, of which `momentum` stays."""
        ops.assign(kept, kept * momentum + ops.stop_gradient(now) * (1 - momentum))


__all__ = ["NormalizedTogether", "Uneven"]
