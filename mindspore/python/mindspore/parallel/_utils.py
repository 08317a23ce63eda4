"""Facts about parallel training that public training cells ask for by these names."""

from __future__ import annotations

from mindspore.context import ParallelMode, get_auto_parallel_context


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


def _get_pipeline_stages() -> int:
    return int(get_auto_parallel_context("pipeline_stages"))


def _get_stage_device_num() -> int:
    return _get_device_num() // _get_pipeline_stages()


def _get_enable_parallel_optimizer() -> bool:
    return bool(get_auto_parallel_context("enable_parallel_optimizer"))


def _get_parameter_broadcast() -> bool:
    return bool(get_auto_parallel_context("parameter_broadcast"))


def _is_parallel_mode() -> bool:
    return _get_parallel_mode() != ParallelMode.STAND_ALONE


def _is_in_auto_parallel_mode() -> bool:
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _need_to_full() -> bool:
    return _is_in_auto_parallel_mode() and not _get_full_batch()


def _check_full_batch() -> None:
    if _get_full_batch() and not _is_in_auto_parallel_mode():
        raise RuntimeError(
            "For 'full_batch', the parallel mode must be 'semi_auto_parallel' or 'auto_parallel', but got "
            f"'{_get_parallel_mode()}'."
        )


def _device_number_check(parallel_mode: str, device_number: int) -> None:
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(
            f"For 'device_number', it must be 1 in the mode 'stand_alone', but got {device_number}."
        )


def _parameter_broadcast_check(parallel_mode: str, parameter_broadcast: bool) -> None:
    if parameter_broadcast and parallel_mode == ParallelMode.STAND_ALONE:
        raise ValueError(
            "For 'parameter_broadcast', it must be False in the mode 'stand_alone', but got True."
        )
