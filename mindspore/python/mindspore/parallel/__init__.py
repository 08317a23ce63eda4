"""Parallel training: what the compiler divides among processes, by itself or as `shard` and layouts say. docs/parallel.md teaches it."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore.common._refused import refused
from mindspore.context import (
    get_auto_parallel_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)
from mindspore.parallel.algo_parameter_config import (
    get_algo_parameters,
    reset_algo_parameters,
    set_algo_parameters,
)
from mindspore.parallel.shard import Layout, shard

# Names that come with checkpoints, or with what is planned, when they are asked for.
_LATER = {
    **dict.fromkeys(
        (
            "build_searched_strategy",
            "load_segmented_checkpoints",
            "merge_sliced_parameter",
            "rank_list_for_transform",
            "transform_checkpoint_by_rank",
            "transform_checkpoints",
        ),
        "mindspore.train._reslice",
    ),
    **dict.fromkeys(
        (
            "convert_checkpoint_by_rank",
            "convert_checkpoints",
            "merge_pipeline_strategys",
            "rank_list_for_convert",
            "restore_group_info_list",
            "sync_pipeline_shared_parameters",
            "unified_safetensors",
        ),
        "mindspore.train._strategy_files",
    ),
    "load_distributed_checkpoint": "mindspore.train._distributed_load",
    "parameter_broadcast": "mindspore.parallel._same_slices",
    "set_op_strategy_config": "mindspore.parallel.strategy",
    "explain": "mindspore.parallel._explain",
    "dry_run": "mindspore.parallel._explain",
}


_refuse = refused(__name__)


def __getattr__(name: str) -> Any:
    home = _LATER.get(name)
    return _refuse(name) if home is None else getattr(importlib.import_module(home), name)


__all__ = [
    "Layout",
    "build_searched_strategy",
    "convert_checkpoint_by_rank",
    "convert_checkpoints",
    "dry_run",
    "explain",
    "get_algo_parameters",
    "get_auto_parallel_context",
    "load_distributed_checkpoint",
    "load_segmented_checkpoints",
    "merge_pipeline_strategys",
    "merge_sliced_parameter",
    "parameter_broadcast",
    "rank_list_for_convert",
    "rank_list_for_transform",
    "reset_algo_parameters",
    "reset_auto_parallel_context",
    "restore_group_info_list",
    "set_algo_parameters",
    "set_auto_parallel_context",
    "set_op_strategy_config",
    "shard",
    "sync_pipeline_shared_parameters",
    "transform_checkpoint_by_rank",
    "transform_checkpoints",
    "unified_safetensors",
]
