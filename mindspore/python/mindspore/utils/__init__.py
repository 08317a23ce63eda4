"""`mindspore.utils`: tensors from and to other packages without a copy."""

from __future__ import annotations

from typing import Any

from mindspore.common._refused import refused
from mindspore import Tensor


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor, whose memory it shares."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"For 'to_dlpack', 'tensor' must be a Tensor, but got {type(tensor).__name__}."
        )
    return tensor.__dlpack__()


class _Exporter:
    """A capsule as an object that gives it."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor that shares the memory of a DLPack capsule, or of an object that gives one."""
    exporter = dlpack if hasattr(dlpack, "__dlpack__") else _Exporter(dlpack)
    try:
        return Tensor.from_dlpack(exporter)  # type: ignore[attr-defined]
    except (TypeError, AttributeError, RuntimeError, ValueError, BufferError) as error:
        raise TypeError(
            f"For 'from_dlpack', 'dlpack' must be a DLPack capsule of the CPU that was not used yet, but got {dlpack!r}."
        ) from error


__getattr__ = refused(__name__)
__all__ = ["from_dlpack", "to_dlpack"]
