"""A deep-learning framework: networks as Cells, run eagerly or compiled, on the public MindSpore API."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore._interpreter import check_interpreter

check_interpreter()

from mindspore.version import __version__  # noqa: E402
from mindspore import _assembler  # noqa: E402
from mindspore import common, context, ops  # noqa: E402
from mindspore.common import *  # noqa: E402
from mindspore.common import dtype  # noqa: E402
from mindspore.common.jit_config import JitConfig  # noqa: E402
from mindspore.common.api import jit_class, ms_class, ms_memory_recycle  # noqa: E402
from mindspore.common.dtype import (  # noqa: E402
    QuantDtype,
    bool_,
    dtype_to_nptype,
    dtype_to_pytype,
    get_py_obj_dtype,
    issubclass_,
    pytype_to_dtype,
)
from mindspore.context import *  # noqa: E402
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
    "run_check": "run_check",
    "async_ckpt_thread_status": "train.serialization",
    "load_checkpoint_async": "train.serialization",
    "load": "train.serialization",
    "ckpt_to_safetensors": "train.serialization",
    "safetensors_to_ckpt": "train.serialization",
    "data_sink": "train.data_sink",
}
_MODULES = {
    "amp",
    "communication",
    "compile",
    "dataset",
    "hal",
    "log",
    "nn",
    "parallel",
    "runtime",
    "scipy",
    "train",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(f"mindspore.{_LAZY[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"mindspore.{name}")
    else:
        raise AttributeError(f"module 'mindspore' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})
