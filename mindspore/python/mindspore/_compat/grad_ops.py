"""`mindspore.ops.operations._grad_ops`: the primitives of gradients that this framework has by themselves. Most gradients are
compositions here, made where they are needed; `ops.grad` gives those."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore.ops import operations
from mindspore.ops._bind import _classes_of

_ALIASES = {"ReLUGrad": "ReluGrad", "GeluGrad": "GeLUGrad", "SiLUGrad": "SiLUGrad"}
_made: dict[str, type] = {}


def _load() -> None:
    for op in _core.registry():
        if op["internal"] and not op["structural"]:
            _made.update(_classes_of(op))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if hasattr(operations, name):
        return getattr(operations, name)
    if not _made:
        _load()
    known = _ALIASES.get(name, name)
    if known not in _made:
        raise AttributeError(
            f"module 'mindspore.ops.operations._grad_ops' has no attribute '{name}': the gradient is a composition of other "
            "ops, which ops.grad makes"
        )
    return _made[known]
