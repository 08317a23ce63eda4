"""`mindspore.boost`: steps of training that save work. Gradients are accumulated; what trades accuracy for speed by itself is not
part of this build."""

from __future__ import annotations

from mindspore._compat.refused import refusing
from mindspore.boost.grad_accumulation import GradientAccumulation

_WHY = "training that leaves out work by itself is not part of this build"
AdaSum, AutoBoost, DimReduce, FreezeOpt, GradientFreeze, LessBN, OptimizerProcess = (
    refusing(name, _WHY)
    for name in (
        "AdaSum",
        "AutoBoost",
        "DimReduce",
        "FreezeOpt",
        "GradientFreeze",
        "LessBN",
        "OptimizerProcess",
    )
)
ParameterProcess, GroupLossScaleManager, BoostTrainOneStepCell, freeze_cell = (
    refusing(name, _WHY)
    for name in (
        "ParameterProcess",
        "GroupLossScaleManager",
        "BoostTrainOneStepCell",
        "freeze_cell",
    )
)
BoostTrainOneStepWithLossScaleCell = refusing("BoostTrainOneStepWithLossScaleCell", _WHY)

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
