"""`mindspore.boost`: steps of training that save work. Gradients are accumulated; what trades accuracy for speed by itself is not
part of this build."""

from __future__ import annotations

from mindspore.boost.grad_accumulation import GradientAccumulation
from mindspore.common._refused import refused

__getattr__ = refused(__name__)
__all__ = [
    "AdaSum",
    "AutoBoost",
    "BoostTrainOneStepCell",
    "BoostTrainOneStepWithLossScaleCell",
    "DimReduce",
    "FreezeOpt",
    "GradientAccumulation",
    "GradientFreeze",
    "GroupLossScaleManager",
    "LessBN",
    "OptimizerProcess",
    "ParameterProcess",
    "freeze_cell",
]
