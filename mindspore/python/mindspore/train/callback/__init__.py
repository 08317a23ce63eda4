"""Callbacks: what happens during a training beside the training."""

from mindspore.common._refused import refused
from mindspore.train.callback._callback import (
    Callback,
    RunContext,
    _CallbackManager,
    _InternalCallbackParam,
    _set_cur_net,
)
from mindspore.train.callback._checkpoint import (
    CheckpointConfig,
    CheckpointManager,
    ModelCheckpoint,
    _CheckpointManager,
)
from mindspore.train.callback._early_stop import EarlyStopping
from mindspore.train.callback._history import History
from mindspore.train.callback._lambda_callback import LambdaCallback
from mindspore.train.callback._leaving import BackupAndRestore, OnRequestExit
from mindspore.train.callback._loss_monitor import LossMonitor
from mindspore.train.callback._lr_scheduler_callback import LearningRateScheduler
from mindspore.train.callback._reduce_lr_on_plateau import ReduceLROnPlateau
from mindspore.train.callback._summary_collector import SummaryCollector
from mindspore.train.callback._time_monitor import TimeMonitor
from mindspore.train.summary._landscape import SummaryLandscape

__getattr__ = refused(__name__)
__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "SummaryLandscape",
    "TimeMonitor",
]
