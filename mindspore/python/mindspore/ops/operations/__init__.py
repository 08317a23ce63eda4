"""Primitive classes, the spelling `from mindspore.ops import operations as P`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore.ops import _bind, _python_ops
from mindspore.ops._collectives import ReduceOp
from mindspore.ops._gradient_ops import Custom, HookBackward, InsertGradientOf
from mindspore.ops.composite import GradOperation

if TYPE_CHECKING:
    from mindspore.ops._registry import *

globals().update(_bind.classes)
globals().update(_python_ops.CLASSES)

__all__ = [
    *_bind.classes,
    *_python_ops.CLASSES,
    "Custom",
    "GradOperation",
    "HookBackward",
    "InsertGradientOf",
    "ReduceOp",
]
