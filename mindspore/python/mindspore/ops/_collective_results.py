"""What functions of several processes hand back: results written into tensors that are given, and a handle of what is under way."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from mindspore._core import Tensor
from mindspore.ops.function.inplace_methods import write


class CommHandle:
    """What is under way."""

    def __init__(self, work: Future | None = None) -> None:
        self._work = work

    def wait(self) -> None:
        """Waits until it is done; raises what went wrong."""
        if self._work is not None:
            self._work.result()

    def is_completed(self) -> bool:
        """Whether it is done."""
        return self._work is None or self._work.done()


def handle(async_op: bool) -> CommHandle | None:
    """That of what is done when the function returns: there is nothing to wait for."""
    return CommHandle() if async_op else None


def write_results(name: str, outputs: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Writes what came into the tensors for it, which must be like it."""
    if len(outputs) != len(values):
        raise ValueError(
            f"For '{name}', there must be one item for each process of the group, {len(values)}, but got {len(outputs)}."
        )
    for output, value in zip(outputs, values):
        if tuple(output.shape) != tuple(value.shape) or output.dtype != value.dtype:
            raise ValueError(
                f"For '{name}', the output must have the shape and dtype of what comes, {tuple(value.shape)} and {value.dtype}, "
                f"but got {tuple(output.shape)} and {output.dtype}."
            )
        write(name, output, value)
