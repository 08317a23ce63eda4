"""Training: Model, callbacks, checkpoints, loss scaling."""

import importlib

from mindspore.amp.loss_scale_manager import (
    DynamicLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)
from mindspore.amp.loss_scaler import DynamicLossScaler, StaticLossScaler
from mindspore.common._refused import refused
from mindspore.context import ParallelMode
from mindspore.train import (
    amp,
    callback,
    dataset_helper,
    loss_scale_manager,
    metrics,
    model,
    serialization,
)
from mindspore.train.amp import build_train_network
from mindspore.train.callback import (
    BackupAndRestore,
    OnRequestExit,
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    ReduceLROnPlateau,
    RunContext,
    SummaryCollector,
    SummaryLandscape,
    TimeMonitor,
)
from mindspore.train.callback._checkpoint import CheckpointManager
from mindspore.train.data_sink import data_sink
from mindspore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from mindspore.train.metrics import *
from mindspore.train.metrics import __all__ as _metric_names
from mindspore.train.model import Model
from mindspore.train._names import name_map
from mindspore.train._distributed_load import load_distributed_checkpoint
from mindspore.train._reslice import (
    build_searched_strategy,
    load_segmented_checkpoints,
    merge_sliced_parameter,
    rank_list_for_transform,
    transform_checkpoint_by_rank,
    transform_checkpoints,
)
from mindspore.train._strategy_files import restore_group_info_list
from mindspore.train.summary import SummaryRecord
from mindspore.train.serialization import (
    async_ckpt_thread_status,
    ckpt_to_safetensors,
    export,
    load,
    load_checkpoint,
    load_checkpoint_async,
    load_param_into_net,
    safetensors_to_ckpt,
    save_checkpoint,
)

_LATE = ("ConvertModelUtils", "ConvertNetUtils")


def __getattr__(name: str):
    if name in _LATE:
        return getattr(importlib.import_module("mindspore.train.train_thor"), name)
    return refused(__name__)(name)


__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "CheckpointManager",
    "DatasetHelper",
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "EarlyStopping",
    "FixedLossScaleManager",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "LossScaleManager",
    "Model",
    "ModelCheckpoint",
    "OnRequestExit",
    "ParallelMode",
    "ReduceLROnPlateau",
    "RunContext",
    "StaticLossScaler",
    "SummaryCollector",
    "SummaryLandscape",
    "SummaryRecord",
    "TimeMonitor",
    "async_ckpt_thread_status",
    "build_searched_strategy",
    "build_train_network",
    "ckpt_to_safetensors",
    "connect_network_with_dataset",
    "data_sink",
    "export",
    "load",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_distributed_checkpoint",
    "load_param_into_net",
    "merge_sliced_parameter",
    "name_map",
    "restore_group_info_list",
    "safetensors_to_ckpt",
    "save_checkpoint",
]
__all__ += _metric_names
