"""Facts about parallel training that public training cells ask for by these names."""

from __future__ import annotations

from mindspore.context import get_auto_parallel_context


def _get_device_num() -> int:
    return int(get_auto_parallel_context("device_num"))


def _get_gradients_mean() -> bool:
    return bool(get_auto_parallel_context("gradients_mean"))


def _get_parallel_mode() -> str:
    return str(get_auto_parallel_context("parallel_mode"))


def _get_global_rank() -> int:
    return int(get_auto_parallel_context("global_rank"))


def _get_full_batch() -> bool:
    return bool(get_auto_parallel_context("full_batch"))
