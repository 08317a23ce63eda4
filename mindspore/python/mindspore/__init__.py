"""A deep-learning framework: networks as Cells, run eagerly or compiled, on the public MindSpore API."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore._interpreter import check_interpreter

check_interpreter()

from mindspore.version import __version__  # noqa: E402
from mindspore import _assembler, _compat  # noqa: E402
from mindspore import common, context, ops  # noqa: E402
from mindspore.common import *  # noqa: E402
from mindspore.common import dtype  # noqa: E402
from mindspore.common._processors import share as _share_processors  # noqa: E402
from mindspore.common._refused import refused as _refused  # noqa: E402
from mindspore.common.jit_config import JitConfig  # noqa: E402
from mindspore.common.api import jit_class, ms_class, ms_memory_recycle  # noqa: E402
from mindspore.common.dtype import (  # noqa: E402
    QuantDtype,
    TypeNull as _NullType,
    _null,
    bool_,
    dtype_to_nptype,
    dtype_to_pytype,
    float8_e4m3fn,
    float8_e5m2,
    get_py_obj_dtype,
    hifloat8,
    issubclass_,
    pytype_to_dtype,
    qint4x2,
)
from mindspore.context import *  # noqa: E402
from mindspore.run_check import run_check  # noqa: E402
from mindspore.ops import (  # noqa: E402
    get_grad,
    grad,
    jacfwd,
    jacrev,
    jvp,
    recompute,
    value_and_grad,
    vjp,
    vmap,
)

_assembler.install()
_compat.install()
_share_processors()

# Heavier parts load when they are first named.
_LAZY = {
    "Model": "train.model",
    "ParallelMode": "context",
    "save_checkpoint": "train.serialization",
    "load_checkpoint": "train.serialization",
    "load_param_into_net": "train.serialization",
    "export": "train.serialization",
    "LossMonitor": "train.callback",
    "TimeMonitor": "train.callback",
    "ModelCheckpoint": "train.callback",
    "CheckpointConfig": "train.callback",
    "Callback": "train.callback",
    "RunContext": "train.callback",
    "LearningRateScheduler": "train.callback",
    "EarlyStopping": "train.callback",
    "History": "train.callback",
    "LambdaCallback": "train.callback",
    "ReduceLROnPlateau": "train.callback",
    "FixedLossScaleManager": "train.loss_scale_manager",
    "DynamicLossScaleManager": "train.loss_scale_manager",
    "LossScaleManager": "train.loss_scale_manager",
    "DatasetHelper": "train.dataset_helper",
    "connect_network_with_dataset": "train.dataset_helper",
    "build_train_network": "train.amp",
    "async_ckpt_thread_status": "train.serialization",
    "load_checkpoint_async": "train.serialization",
    "load": "train.serialization",
    "ckpt_to_safetensors": "train.serialization",
    "safetensors_to_ckpt": "train.serialization",
    "data_sink": "train.data_sink",
    **dict.fromkeys(("get_level", "get_log_config"), "log"),
    **dict.fromkeys(("enable_dynamic", "lazy_inline", "no_inline", "set_dump"), "_compat.marks"),
    "DeviceCtx": "_compat.device_context",
    "_Function": "ops._autograd_function",
    **dict.fromkeys(
        ("build_searched_strategy", "load_distributed_checkpoint", "load_segmented_checkpoints")
        + ("merge_sliced_parameter", "rank_list_for_transform", "transform_checkpoint_by_rank")
        + ("transform_checkpoints",),
        "train",
    ),
    "BackupAndRestore": "train.callback",
    "OnRequestExit": "train.callback",
    "_no_grad": "common.api",
    "seed": "common._generator",
    "_pynative_executor": "common.api",
    "cells_compile_cache": "common.api",
    "_get_graph_seed": "common.seed",
    "Profiler": "profiler",
    "summary": "nn.network_summary",
    **dict.fromkeys(("COOTensor", "CSRTensor", "RowTensor", "SparseTensor"), "ops._sparse"),
    **dict.fromkeys(
        ("get_algo_parameters", "merge_pipeline_strategys", "parameter_broadcast")
        + ("reset_algo_parameters", "restore_group_info_list", "set_algo_parameters")
        + ("sync_pipeline_shared_parameters", "unified_safetensors"),
        "parallel",
    ),
    **dict.fromkeys(("Layout", "shard"), "parallel.shard"),
    "Symbol": "common._symbol",
    **dict.fromkeys(
        (
            "ConvertModelUtils",
            "ConvertNetUtils",
            "SummaryCollector",
            "SummaryLandscape",
            "SummaryRecord",
        ),
        "train",
    ),
    **dict.fromkeys(("Node", "NodeType", "ScopedValue", "SymbolTree"), "rewrite"),
    **dict.fromkeys(
        ("Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream")
        + ("dispatch_threads_num", "empty_cache", "launch_blocking", "max_memory_allocated")
        + ("max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats")
        + ("memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved")
        + ("reset_peak_memory_stats", "set_cpu_affinity", "set_cur_stream", "set_memory")
        + ("set_kernel_launch_group", "synchronize"),
        "runtime",
    ),
    "number_type": "common.dtype",
    "frombuffer": "common.tensor",
}
_LAZY |= dict.fromkeys(
    """Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta HausdorffDistance Loss MAE
    MSE MeanSurfaceDistance Metric OcclusionSensitivity Perplexity Precision ROC Recall RootMeanSquareDistance
    Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy auc get_metric_fn names rearrange_inputs""".split(),
    "train.metrics",
)
_MODULES = {
    "amp",
    "boost",
    "communication",
    "compile",
    "compression",
    "dataset",
    "experimental",
    "hal",
    "log",
    "mindrecord",
    "mint",
    "nn",
    "numpy",
    "parallel",
    "profiler",
    "runtime",
    "scipy",
    "sysconfig",
    "train",
    "utils",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(f"mindspore.{_LAZY[name]}"), name)
    elif name in _MODULES or _compat.known(f"mindspore.{name}"):
        value = importlib.import_module(f"mindspore.{name}")
    else:
        value = _refused(__name__)(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})
