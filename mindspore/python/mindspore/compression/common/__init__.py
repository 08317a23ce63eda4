"""The sizes of quantised numbers."""

from mindspore.common.dtype import QuantDtype

__all__ = ["QuantDtype"]
