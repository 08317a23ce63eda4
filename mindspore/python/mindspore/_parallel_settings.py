"""The settings of parallel training that there are: their defaults, which values they take, and which stand for others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mindspore import _fusion, _paths, _settings

_SETTER = "set_auto_parallel_context"
# Every name that set_auto_parallel_context takes, with its default.
DEFAULTS: dict[str, Any] = {
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "parallel_mode": "stand_alone",
    "auto_parallel_search_mode": "recursive_programming",
    "search_mode": "recursive_programming",
    "parameter_broadcast": False,
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
    "full_batch": False,
    "enable_parallel_optimizer": False,
    "parallel_optimizer_config": {},
    "enable_alltoall": False,
    "all_reduce_fusion_config": [],
    "pipeline_stages": 1,
    "pipeline_config": {},
    "grad_accumulation_step": 1,
    "comm_fusion": {},
    "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False,
    "strategy_ckpt_config": {},
    "dataset_strategy": "data_parallel",
    "sharding_propagation": False,
    "group_ckpt_save_file": "",
    "mirror_mean": False,
    "cast_before_mirror": True,
    "loss_repeated_mean": True,
    "auto_parallel_new_interface": False,
    "device_matrix": (),
    "communi_parallel_mode": "all_group_parallel",
    "hccl_test_avaible": False,
    "auto_pipeline": False,
    "pipeline_result_broadcast": False,
    "pipeline_scheduler": "1f1b",
    "pipeline_interleave": False,
    "dump_local_norm": False,
    "dump_local_norm_path": "",
    "dump_device_local_norm": False,
    "force_fp32_communication": False,
    "pipeline_segments": 1,
    "init_param_in_compile": True,
    "operator_strategy": (),  # see set_op_strategy_config
}

SCHEDULERS = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_CHOICES: dict[str, tuple] = {
    "parallel_mode": (
        "stand_alone",
        "data_parallel",
        "hybrid_parallel",
        "semi_auto_parallel",
        "auto_parallel",
    ),
    "auto_parallel_search_mode": (
        "recursive_programming",
        "dynamic_programming",
        "sharding_propagation",
    ),
    "pipeline_scheduler": SCHEDULERS,
    "search_mode": ("recursive_programming", "dynamic_programming", "sharding_propagation"),
    "communi_parallel_mode": (
        "all_group_parallel",
        "same_server_group_parallel",
        "no_group_parallel",
    ),
}
_LEAST = {
    "device_num": 1,
    "global_rank": 0,
    "pipeline_stages": 1,
    "pipeline_segments": 1,
    "grad_accumulation_step": 1,
}
_SEARCHES = ("search_mode", "auto_parallel_search_mode")  # two names of one setting
_PATHS = ("strategy_ckpt_load_file", "strategy_ckpt_save_file", "group_ckpt_save_file")
_WITHOUT_EFFECT = (
    "dump_local_norm",
    "dump_local_norm_path",
    "dump_device_local_norm",
    "force_fp32_communication",
)
# Of settings that are dicts: each key with its kind, its least value or its choices.
_KEYS: dict[str, dict[str, tuple[type, Any]]] = {
    "parallel_optimizer_config": {
        "gradient_accumulation_shard": (bool, None),
        "parallel_optimizer_threshold": (int, 0),
        "optimizer_weight_shard_size": (int, 1),
        "optimizer_level": (str, ("level1", "level2", "level3")),
    },
    "pipeline_config": {
        "pipeline_interleave": (bool, None),
        "pipeline_scheduler": (str, SCHEDULERS),
    },
    "strategy_ckpt_config": {
        "load_file": (str, None),
        "save_file": (str, None),
        "only_trainable_params": (bool, None),
    },
}
_STRATEGY_FILES = {"load_file": "", "save_file": "", "only_trainable_params": True}


def checked(name: str, value: Any) -> dict[str, Any]:
    """What is set where a user sets this, in the form in which it is kept."""
    own = _OWN.get(name)
    if own is None and name in _PATHS:
        return {name: value if value == "" else _paths.checked(_SETTER, name, value)}
    if own is None:
        _settings.check(_SETTER, name, value, DEFAULTS[name], _CHOICES, _LEAST)
        _warn(name, value)
        return {name: value}
    return own(name, value)


def _warn(name: str, value: Any) -> None:
    if name in _WITHOUT_EFFECT and value != DEFAULTS[name]:
        from mindspore import log  # which logging comes with

        log.warn_once(
            f"setting {name}", f"{_SETTER}: '{name}' is kept, but has no effect in this build."
        )


def shown(name: str, values: dict[str, Any]) -> Any:
    """What a user who asks for a setting gets."""
    if name == "strategy_ckpt_config":
        return _STRATEGY_FILES | values[name]
    return values[name]


def _fused(name: str, value: Any) -> dict[str, Any]:
    _settings.check(_SETTER, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    return {name: _fusion.checked(name, value)}


def _search(name: str, value: Any) -> dict[str, Any]:
    _settings.check(_SETTER, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    return dict.fromkeys(_SEARCHES, value)


def _keyed(name: str, value: Any) -> dict[str, Any]:
    """A dict of known keys."""
    _settings.check(_SETTER, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    keys = _KEYS[name]
    for key, item in value.items():
        if key not in keys:
            raise ValueError(
                f"For '{_SETTER}', the keys of '{name}' must be in {list(keys)}, but got {key!r}."
            )
        kind, limit = keys[key]
        if type(item) is not kind:
            raise TypeError(
                f"For '{_SETTER}', '{key}' of '{name}' must be a value of {kind.__name__}, but got {type(item).__name__}."
            )
        if isinstance(limit, int) and isinstance(item, int) and item < limit:
            raise ValueError(
                f"For '{_SETTER}', '{key}' of '{name}' must be at least {limit}, but got {item}."
            )
        if isinstance(limit, tuple) and item not in limit:
            raise ValueError(
                f"For '{_SETTER}', '{key}' of '{name}' must be one of {list(limit)}, but got {item!r}."
            )
    return _IMPLIED[name](value) | {name: dict(value)}


def _optimizer(value: dict[str, Any]) -> dict[str, Any]:
    size = value.get("optimizer_weight_shard_size")
    level = value.get("optimizer_level")
    if value.get("gradient_accumulation_shard") and level not in (None, "level2"):
        raise ValueError(
            f"For '{_SETTER}', 'optimizer_level' must be 'level2' with 'gradient_accumulation_shard', but got {level!r}."
        )
    return {} if size is None else {"optimizer_weight_shard_size": size}


def _pipeline(value: dict[str, Any]) -> dict[str, Any]:
    interleave = value.get("pipeline_interleave", False)
    scheduler = value.get("pipeline_scheduler", "1f1b")
    if not interleave and scheduler not in ("1f1b", "gpipe"):
        raise TypeError(
            f"For '{_SETTER}', 'pipeline_scheduler' must be '1f1b' or 'gpipe' without 'pipeline_interleave', but got {scheduler!r}."
        )
    return {"pipeline_interleave": interleave, "pipeline_scheduler": scheduler}


def _strategy(value: dict[str, Any]) -> dict[str, Any]:
    places = {"load_file": "strategy_ckpt_load_file", "save_file": "strategy_ckpt_save_file"}
    files = {places[key]: value[key] for key in places if value.get(key)}
    return {name: _paths.checked(_SETTER, name, path) for name, path in files.items()}


def check_dataset_strategy(function: str, argument: str, value: Any) -> Any:
    """How a batch lies: "full_batch", "data_parallel", or for each input how often its dimensions are cut, or a Layout."""
    if isinstance(value, str):
        if value not in ("full_batch", "data_parallel"):
            raise ValueError(
                f"For '{function}', '{argument}' must be 'full_batch', 'data_parallel' or a tuple, but got '{value}'."
            )
        return value
    if not isinstance(value, tuple):
        raise TypeError(
            f"For '{function}', '{argument}' must be a str or a tuple, but got {type(value).__name__}."
        )
    for item in value:
        if hasattr(item, "device_matrix"):
            if item.axes is None:
                raise ValueError(
                    f"For '{function}', a layout in '{argument}' must have been called with the names of the dimensions, but got {item}."
                )
            continue
        if not isinstance(item, tuple):
            raise TypeError(
                f"For '{function}', '{argument}' must hold tuples or Layouts, but got {type(item).__name__}."
            )
        for cut in item:
            if type(cut) is not int:
                raise TypeError(
                    f"For '{function}', '{argument}' must hold tuples of ints, but got {type(cut).__name__}."
                )
            if cut < 1:
                raise ValueError(
                    f"For '{function}', '{argument}' must cut into at least 1 part, but got {item}."
                )
    for one, other in itertools.pairwise(value):
        if hasattr(one, "device_matrix") != hasattr(other, "device_matrix"):
            raise TypeError(
                f"For '{function}', '{argument}' must hold tuples alone or Layouts alone, but got {value}."
            )
    return value


def _dataset(name: str, value: Any) -> dict[str, Any]:
    return {name: check_dataset_strategy(_SETTER, name, value), "full_batch": value == "full_batch"}


def _full_batch(name: str, value: Any) -> dict[str, Any]:
    _settings.check(_SETTER, name, value, False, {}, {})
    return {name: value} | ({"dataset_strategy": "full_batch"} if value else {})


def _step(name: str, value: Any) -> dict[str, Any]:
    _settings.check(_SETTER, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    if value > 1:
        raise ValueError(
            f"For '{_SETTER}', '{name}' must be 1: nn.GradAccumulationCell adds up gradients of parts of a batch, but got {value}."
        )
    return {name: value}


_OWN: dict[str, Callable[[str, Any], dict[str, Any]]] = {
    **dict.fromkeys(("all_reduce_fusion_config", "comm_fusion"), _fused),
    **dict.fromkeys(_SEARCHES, _search),
    **dict.fromkeys(_KEYS, _keyed),
    "dataset_strategy": _dataset,
    "full_batch": _full_batch,
    "grad_accumulation_step": _step,
}
_IMPLIED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "parallel_optimizer_config": _optimizer,
    "pipeline_config": _pipeline,
    "strategy_ckpt_config": _strategy,
}
