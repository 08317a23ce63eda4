"""`mindspore.ops.operations._grad_ops`: the primitives of gradients that this framework has by themselves. Most gradients are
compositions here, made where they are needed; `ops.grad` gives those."""

from __future__ import annotations

from typing import Any

from mindspore.ops import operations


def __getattr__(name: str) -> Any:
    if name.startswith("__") or not hasattr(operations, name):
        raise AttributeError(
            f"there is no primitive '{name}': the gradient is a composition of others, which ops.grad makes"
        )
    return getattr(operations, name)
