"""Layers in the later spelling. What has no parameters applies a function of `mint.nn.functional` (layers.py); what has is in
trained.py; and what means the same as a layer of `mindspore.nn` is that layer."""

from __future__ import annotations

import importlib
from typing import Any

_SAME = frozenset(
    """
    ConstantPad1d ConstantPad2d ConstantPad3d CosineEmbeddingLoss Identity Linear LogSigmoid Mish ReflectionPad1d ReflectionPad2d
    ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SoftMarginLoss Tanh
    """.split()
)
# What `mindspore.nn` calls NAMEExt, since its NAME takes other arguments.
_EXTENDED = frozenset("Dropout Dropout2d Embedding LayerNorm LogSoftmax PReLU".split())


def __getattr__(name: str) -> Any:
    if name in ("functional", "functions", "layers", "trained"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _SAME:
        value = getattr(importlib.import_module("mindspore.nn"), name)
    elif name in _EXTENDED:
        value = getattr(importlib.import_module("mindspore.nn"), f"{name}Ext")
    else:
        for module in map(importlib.import_module, (f"{__name__}.layers", f"{__name__}.trained")):
            if name in module.__all__:
                value = getattr(module, name)
                break
        else:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    layers, trained = (importlib.import_module(f"{__name__}.{n}") for n in ("layers", "trained"))
    return sorted({*_SAME, *_EXTENDED, *layers.__all__, *trained.__all__, "functional"})
