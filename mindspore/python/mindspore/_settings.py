"""The settings that there are: their defaults, and which values they take. A value is of the type of its default."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from mindspore import _paths

# Every name that set_context takes, with its default.
DEFAULTS: dict[str, Any] = {
    "mode": 1,
    "device_target": "CPU",
    "device_id": 0,
    "device_fallback": False,
    "save_graphs": 0,
    "save_graphs_path": ".",
    "enable_graph_kernel": True,
    "graph_kernel_flags": "",
    "max_call_depth": 1000,
    "max_device_memory": "1024GB",
    "mempool_block_size": "1GB",
    "memory_optimize_level": "O0",
    "enable_compile_cache": False,
    "compile_cache_path": ".",
    "precompile_only": False,
    "deterministic": "OFF",
    "pynative_synchronize": False,
    "reserve_class_name_in_scope": True,
    "enable_reduce_precision": True,
    "enable_dump": False,
    "save_dump_path": ".",
    "enable_profiling": False,
    "profiling_options": "",
    "print_file_path": "",
    "auto_tune_mode": "NO_TUNE",
    "check_bprop": False,
    "env_config_path": "",
    "grad_for_scalar": False,
    "runtime_num_threads": 0,
    "inter_op_parallel_num": 0,
    "ascend_config": {},
    "gpu_config": {},
    "jit_syntax_level": 2,
    "jit_level": "",
    "jit_config": {},
    "exec_order": "",
    "op_timeout": 900,
    "aoe_tune_mode": "",
    "aoe_config": {},
    "support_binary": False,
    "disable_format_transform": False,
    "variable_memory_max_size": "30GB",
    "enable_sparse": False,
    "enable_auto_mixed_precision": False,
    "enable_task_sink": True,
    "enable_mem_reuse": True,
    "enable_loop_sink": True,
    "enable_ir_fusion": True,
    "enable_dynamic_memory": True,
    "enable_pynative_infer": False,
    "save_ms_model": False,
    "save_ms_model_path": ".",
    "enable_hccl": False,
    "enable_gpu_summary": True,
    "debug_level": 0,
    "recompute": True,
    "graph_memory_max_size": "0",
    "enable_mem_scheduler": False,
    "jit_enable_inplace_ops": True,
    "gpu_memory": "",
    "tune_budget": 0,
    "conv_allow_tf32": True,
    "matmul_allow_tf32": False,
    "conv_fprop_algo": "normal",
    "conv_dgrad_algo": "normal",
    "conv_wgrad_algo": "normal",
    "enable_mem_offload": False,
    "hccl_watchdog": True,
    "exception_dump": "2",
    "parallel_speed_up_json_path": "",
    "save_compile_cache": False,
    "load_compile_cache": False,
    **dict.fromkeys(
        ("atomic_clean_policy", "conv_allow_hf32", "ge_options", "host_scheduling_max_threshold"),
        None,
    ),
    **dict.fromkeys(
        ("jit_compile", "matmul_allow_hf32", "op_debug_option", "op_precision_mode"), None
    ),
    "precision_mode": None,
}

# Of parameter servers, which are off.
SERVERS: dict[str, Any] = {
    "enable_ps": False,
    "enable_ssl": False,
    "is_worker": False,
    "is_pserver": False,
    "is_sched": False,
    "scheduler_ip": "",
    "scheduler_port": 6667,
    "worker_num": 0,
    "server_num": 0,
    "config_file_path": "",
    "client_password": "",
    "server_password": "",
}

_CHOICES: dict[str, tuple] = {
    "deterministic": ("ON", "OFF"),
    "memory_optimize_level": ("O0", "O1"),
    "debug_level": (0, 1),
    "exec_order": ("", "bfs", "dfs", "gpto"),
    "aoe_tune_mode": ("", "online", "offline"),
    "auto_tune_mode": ("NO_TUNE", "RL", "GA", "RL,GA", "GA,RL"),
    "jit_syntax_level": (0, 1, 2),
    "save_graphs": (False, True, 0, 1, 2, 3),
}
_LEAST = {"device_id": 0, "op_timeout": 0, "inter_op_parallel_num": 0, "max_call_depth": 1}
# What asks for something that is not done here. All else has its meaning, or holds whatever its value is.
_WITHOUT_MEANING = frozenset(
    {
        "enable_compile_cache",
        "precompile_only",
        "enable_dump",
        "enable_profiling",
        "print_file_path",
    }
    | {
        "auto_tune_mode",
        "check_bprop",
        "ascend_config",
        "gpu_config",
        "op_timeout",
        "aoe_tune_mode",
    }
    | {"aoe_config", "graph_kernel_flags", "debug_level", "exec_order", "enable_mem_offload"}
    | {"memory_optimize_level", "variable_memory_max_size", "mempool_block_size", "jit_compile"}
    | {"ge_options", "precision_mode", "op_debug_option", "op_precision_mode", "env_config_path"}
    | {"atomic_clean_policy", "conv_allow_hf32", "matmul_allow_hf32", "support_binary"}
    | {"enable_auto_mixed_precision", "parallel_speed_up_json_path", "save_compile_cache"}
    | {"load_compile_cache", "inter_op_parallel_num", "host_scheduling_max_threshold"}
)


def checked(function: str, name: str, value: Any) -> Any:
    """A value that a setting takes."""
    if name in _CHECKS:
        return _CHECKS[name](function, name, value)
    check(function, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    if name in _WITHOUT_MEANING and value != DEFAULTS[name]:
        from mindspore import log  # which logging comes with

        log.warn_once(
            f"setting {name}", f"{function}: '{name}' is kept, but has no effect in this build."
        )
    return value


def check(
    function: str,
    name: str,
    value: Any,
    default: Any,
    choices: dict[str, tuple],
    least: dict[str, int],
) -> None:
    """A value must be of the type of the default, one of the choices, not below the least."""
    if name in choices:
        known = isinstance(value, (bool, int, str)) and value in choices[name]
        if not known or (
            isinstance(value, bool) is not isinstance(default, bool) and name != "save_graphs"
        ):
            kind = ValueError if isinstance(value, type(default)) else TypeError
            raise kind(
                f"For '{function}', '{name}' must be one of {list(choices[name])}, but got {value!r}."
            )
        return
    kind = type(default)
    if (kind in (bool, int, dict) and type(value) is not kind) or (
        kind is str and not isinstance(value, str)
    ):
        article = "an" if kind is int else "a"
        raise TypeError(
            f"For '{function}', '{name}' must be {article} {kind.__name__}, but got {type(value).__name__}."
        )
    if name in least and value < least[name]:
        raise ValueError(
            f"For '{function}', '{name}' must be at least {least[name]}, but got {value}."
        )


# ---- settings that take something of their own -----------------------------------------------------
def _check_threads(function: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"For '{function}', '{name}' must be a non-negative int, but got {value!r}."
        )
    return value


def _graphs_level(function: str, name: str, value: Any) -> Any:
    """Which graphs are saved: 0, none, to 3; True is 2."""
    check(function, name, value, DEFAULTS[name], _CHOICES, _LEAST)
    return 2 * value if isinstance(value, bool) else value


_UNITS = {"GB": 1 << 30, "MB": 1 << 20, "KB": 1 << 10}


def bytes_of(value: str) -> int:
    """The bytes that a limit of memory stands for; 0: it is none."""
    number, unit = value[:-2].strip(), value[-2:].upper()
    if unit not in _UNITS or not re.fullmatch(r"\d+(\.\d+)?", number):
        return 0
    return int(min(float(number) * _UNITS[unit], sys.maxsize))


def _check_memory(function: str, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(
            f"For '{function}', '{name}' must be a str, but got {type(value).__name__}."
        )
    if not bytes_of(value):
        raise ValueError(
            f"For '{function}', '{name}' must be a number with GB, MB or KB behind it, of a byte "
            f"at least, but got {value!r}."
        )
    return value


def _check_level(function: str, name: str, value: Any) -> Any:
    if value not in ("", "O0", "O1", "O2", "O3"):
        raise ValueError(
            f"For '{function}', '{name}' must be 'O0', 'O1', 'O2' or 'O3', but got {value!r}."
        )
    return value


def _check_jit_config(function: str, name: str, value: Any) -> dict:
    if not isinstance(value, dict):
        raise TypeError(
            f"For '{function}', '{name}' must be a dict, but got {type(value).__name__}."
        )
    _check_level(function, "jit_level", value.get("jit_level", ""))
    return value


_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "jit_level": _check_level,
    "jit_config": _check_jit_config,
    "runtime_num_threads": _check_threads,
    "max_device_memory": _check_memory,
    "save_graphs": _graphs_level,
    **dict.fromkeys(
        (
            "save_graphs_path",
            "compile_cache_path",
            "save_dump_path",
            "print_file_path",
            "env_config_path",
        ),
        _paths.checked,
    ),
}
