"""Path of mixed precision in training programs."""

from mindspore.amp.loss_scale_manager import DynamicLossScaleManager, LossScaleManager
from mindspore.amp.mixed_precision import (
    auto_mixed_precision,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from mindspore.amp.train_network import build_train_network

__all__ = [
    "DynamicLossScaleManager",
    "LossScaleManager",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
