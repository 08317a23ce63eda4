"""Settings of the search for strategies: checked, kept and given back. The search here is exact, or says how far from the best it may
be, so that none of them changes what it finds."""

from __future__ import annotations

from typing import Any

# With their defaults; a value is of the type of its default.
_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_algorithm = dict(_DEFAULTS)


def _known(function: str, name: str) -> Any:
    if name not in _DEFAULTS:
        raise ValueError(
            f"For '{function}', there is no setting '{name}'; there are {list(_DEFAULTS)}."
        )
    return _DEFAULTS[name]


def set_algo_parameters(**kwargs: Any) -> None:
    """Settings of the strategy search; kept for parallel modes."""
    for name, value in kwargs.items():
        kind = type(_known("set_algo_parameters", name))
        if type(value) is not kind:
            raise TypeError(
                f"For 'set_algo_parameters', '{name}' must be a {kind.__name__}, but got {type(value).__name__}."
            )
    _algorithm.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """A setting of the strategy search."""
    _known("get_algo_parameters", attr_key)
    return _algorithm[attr_key]


def reset_algo_parameters() -> None:
    """Forgets the settings of the strategy search."""
    _algorithm.update(_DEFAULTS)


__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]
