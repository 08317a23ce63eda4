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


from_dlpack = Tensor.from_dlpack  # type: ignore[attr-defined]


__getattr__ = refused(__name__)
__all__ = ["from_dlpack", "to_dlpack"]
