"""`mindspore.parallel._cost_model_context`: what the search for strategies takes a device to cost; kept for parallel modes."""

from __future__ import annotations

from typing import Any

from mindspore._compat.settings import Settings

_settings = Settings(
    "cost_model_context",
    {
        "device_memory_capacity": 16.0 * 2**30,
        "costmodel_alpha": 1.0,
        "costmodel_beta": 400.0,
        "costmodel_gamma": 0.001,
        "costmodel_communi_threshold": 2048.0,
        "costmodel_communi_const": 3072.0,
        "costmodel_communi_bias": 1024.0,
        "multi_subgraphs": False,
        "run_phase": 0,
        "rp_matmul_mem_coef": 0.1,
        "costmodel_allreduce_fusion_algorithm": 0,
        "costmodel_allreduce_fusion_times": 0,
        "costmodel_allreduce_fusion_tail_percent": 0.1,
        "costmodel_allreduce_fusion_tail_time": 0.1,
        "costmodel_allreduce_fusion_allreduce_inherent_time": 0.1,
        "costmodel_allreduce_fusion_allreduce_bandwidth": 0.1,
        "costmodel_allreduce_fusion_computation_time_parameter": 0.1,
    },
)
set_cost_model_context = _settings.set
get_cost_model_context = _settings.get
reset_cost_model_context = _settings.reset


def cost_model_context() -> Settings:
    """The settings."""
    return _settings


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    _settings.set(multi_subgraphs=multi_subgraph)


def _get_multi_subgraphs() -> Any:
    return _settings.get("multi_subgraphs")


def _set_rp_matmul_mem_coef(coef: float) -> None:
    _settings.set(rp_matmul_mem_coef=coef)


def _get_rp_matmul_mem_coef() -> Any:
    return _settings.get("rp_matmul_mem_coef")
