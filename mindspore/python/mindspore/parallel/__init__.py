"""Parallel training: settings are kept; this build runs on one device."""

from __future__ import annotations

from typing import Any

from mindspore.context import (
    get_auto_parallel_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)

_algorithm: dict[str, Any] = {}


def set_algo_parameters(**kwargs: Any) -> None:
    """Settings of the strategy search; kept for parallel modes."""
    _algorithm.update(kwargs)


def get_algo_parameters(name: str) -> Any:
    """A setting of the strategy search."""
    return _algorithm.get(name)


def reset_algo_parameters() -> None:
    """Forgets the settings of the strategy search."""
    _algorithm.clear()


__all__ = [
    "get_algo_parameters",
    "get_auto_parallel_context",
    "reset_algo_parameters",
    "reset_auto_parallel_context",
    "set_algo_parameters",
    "set_auto_parallel_context",
]
