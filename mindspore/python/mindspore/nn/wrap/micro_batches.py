"""Networks that take a batch in parts: less memory at once, and the sum of what the parts give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindspore.common._kinds import PositiveInt, Real
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.optim.optimizer import check_count
from mindspore.ops import _pinned


class _MicroBatches(Cell):
    """The sum of a network's outputs of equal parts of a batch."""

    def __init__(self, network: Cell, count: PositiveInt) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.micro_size = count

    def construct(self, *inputs: Any, **kwargs: Any) -> Any:
        """The sum."""
        total: Any = None
        for number in range(self.micro_size):
            parts = [self._part(item, number) for item in inputs]
            named = {name: self._part(item, number) for name, item in kwargs.items()}
            output = _pinned.part_of_batch(self.network(*parts, **named), number)
            total = output if total is None else total + output
        return total

    def _part(self, item: Any, number: int) -> Any:
        """One of the equal parts of a Tensor; the whole of anything else."""
        if not isinstance(item, Tensor):
            return item
        rows = item.shape[0] if item.ndim else 0
        if not rows or rows % self.micro_size:
            raise ValueError(
                f"For '{self.cls_name}', the first size of inputs must be a multiple of {self.micro_size}, "
                f"but got shape {item.shape}."
            )
        size = rows // self.micro_size
        return _pinned.part_of_batch(item[number * size : (number + 1) * size], number)


class PipelineCell(_MicroBatches):
    """A network of stages that parts of a batch pass one after the other. With `pipeline_stages`, each stage is computed by processes
    of its own, which work on different parts at the same time; the output is the sum of those of the parts, either way.

    Args:
        network: The network, with its loss.
        micro_size: The number of parts.
        stage_config: The stages of cells by their names in the network, in place of `pipeline_stage` of these.
        segment_config: Kept; stages have one segment.
    """

    def __init__(
        self,
        network: Cell,
        micro_size: PositiveInt,
        stage_config: dict | None = None,
        segment_config: dict | None = None,
    ) -> None:
        super().__init__(network, micro_size)
        self.stage_config = stage_config
        self.segment_config = segment_config
        cells = dict(network.cells_and_names()) if stage_config else {}
        for name, stage in (stage_config or {}).items():
            if name not in cells:
                raise KeyError(
                    f"For 'PipelineCell', the names in 'stage_config' must be those of cells of the network, but got {name!r}."
                )
            cells[name].pipeline_stage = stage


class GradAccumulationCell(_MicroBatches):
    """A network whose gradients are the sums of those of parts of a batch.

    Args:
        network: The network, with its loss.
        micro_size: The number of parts.
    """

    def __init__(self, network: Cell, micro_size: PositiveInt) -> None:
        super().__init__(network, micro_size)


class MicroBatchInterleaved(_MicroBatches):
    """A network that computes one part of a batch while devices exchange what another part needs.

    Args:
        network: The network.
        interleave_num: The number of parts.
    """

    def __init__(self, network: Cell, interleave_num: PositiveInt = 2) -> None:
        super().__init__(network, interleave_num)
        self.interleave_num = interleave_num


class PipelineGradReducer(Cell):
    """Gradients of a pipeline without the scale of its loss. In one process nothing is gathered from others.

    Args:
        parameters: The parameters that the gradients belong to.
        scale_sense: The scale.
        opt_shard: Whether states of the optimizer are split over devices.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        scale_sense: Real = 1.0,
        opt_shard: bool | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.accu_grads = tuple(parameters)
        self.scale_sense = scale_sense
        self.opt_shard = bool(opt_shard)

    def construct(self, grads: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradients."""
        check_count(self.cls_name, grads, self.accu_grads)
        return tuple([grad / self.scale_sense for grad in grads])


__all__ = ["GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell", "PipelineGradReducer"]
