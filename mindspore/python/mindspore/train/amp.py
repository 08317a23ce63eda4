"""Path of mixed precision in training programs."""

import enum
from typing import Any

from mindspore.amp.loss_scale_manager import DynamicLossScaleManager, LossScaleManager
from mindspore.amp.mixed_precision import (
    auto_mixed_precision,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from mindspore.amp.train_network import build_train_network
from mindspore.common import dtype as mstype
from mindspore.common._refused import refused
from mindspore.common.tensor import Tensor
from mindspore.ops import Primitive


class AmpLevel(enum.Enum):
    """How much of a network is cast."""

    AmpO0, AmpO1, AmpO2, AmpO3, AmpAuto = range(5)


def amp_cast(value: Any, dtype: Any) -> Any:
    """A tensor of floats in another dtype; anything else as it is."""
    if isinstance(value, Tensor) and value.dtype in mstype.float_type:
        return value.astype(dtype)
    return value


__getattr__ = refused(__name__)

__all__ = [
    "AmpLevel",
    "DynamicLossScaleManager",
    "LossScaleManager",
    "Primitive",
    "amp_cast",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
