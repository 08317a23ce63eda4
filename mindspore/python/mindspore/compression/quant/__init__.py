"""How layers round while they train. Networks are written with these layers: none is turned into such a one by itself."""

from __future__ import annotations

from functools import partial
from typing import Any

from mindspore.common._checked import checked
from mindspore.common.dtype import QuantDtype
from mindspore.compression.quant import quant_utils, quantizer
from mindspore.compression.quant.quantizer import OptimizeOption, QuantizationAwareTraining
from mindspore.nn.layer.quant import FakeQuantWithMinMaxObserver, QuantConfig


def _two(value: Any) -> tuple[Any, Any]:
    """The settings of weights and of activations, from one for both or a list of them."""
    if not isinstance(value, (tuple, list)):
        return value, value
    return (value[0], value[-1])


@checked
def create_quant_config(
    quant_observer: Any = (FakeQuantWithMinMaxObserver, FakeQuantWithMinMaxObserver),
    quant_delay: Any = (0, 0),
    quant_dtype: Any = (QuantDtype.INT8, QuantDtype.INT8),
    per_channel: Any = (False, False),
    symmetric: Any = (False, False),
    narrow_range: Any = (False, False),
    mode: str = "DEFAULT",
) -> QuantConfig:
    """How layers round their weights and activations. Each argument is that of both, or a pair.

    Args:
        quant_observer: The class that rounds.
        quant_delay: Steps before anything is rounded.
        quant_dtype: The size of the integers.
        per_channel: Whether each channel has bounds of its own.
        symmetric: Whether both bounds are equally far from 0.
        narrow_range: Whether the least integer is left out.
        mode: As for FakeQuantWithMinMaxObserver.
    """
    names = ("quant_delay", "per_channel", "symmetric", "narrow_range")
    values = [_two(v) for v in (quant_delay, per_channel, symmetric, narrow_range)]
    kinds, sizes = _two(quant_observer), _two(quant_dtype)
    made = []
    for i in range(2):
        settings = {name: pair[i] for name, pair in zip(names, values)}
        made.append(partial(_observer, kinds[i], sizes[i], {**settings, "mode": mode}))
    return QuantConfig(*made)


def _observer(kind: Any, size: QuantDtype, settings: dict, **own: Any) -> Any:
    return kind(**{**settings, **own, "quant_dtype": own.get("quant_dtype") or size})


__all__ = [
    "OptimizeOption",
    "QuantizationAwareTraining",
    "create_quant_config",
    "quant_utils",
    "quantizer",
]
