"""What Model is given: checks, and metrics and epochs in the form Model works with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import nn
from mindspore.amp.mixed_precision import LEVELS
from mindspore.amp.train_network import check_boost_level
from mindspore.train.callback._values import check_int

_OPTIONS = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")


def check_arguments(
    network: Any,
    loss_fn: Any,
    optimizer: Any,
    eval_network: Any,
    amp_level: Any,
    boost_level: Any,
    options: dict[str, Any],
) -> None:
    """Raise unless these can make a Model."""
    op = "Model"
    check_cell(op, "network", network)
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(
            f"For '{op}', 'loss_fn' must be a Cell or a function, but got {type(loss_fn).__name__}."
        )
    if optimizer is not None:
        check_cell(op, "optimizer", optimizer)
    if eval_network is not None:
        check_cell(op, "eval_network", eval_network)
    if not isinstance(amp_level, str) or amp_level not in LEVELS:
        raise ValueError(
            f"For '{op}', 'amp_level' must be one of {list(LEVELS)}, but got {amp_level!r}."
        )
    check_boost_level(op, boost_level)
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(
                f"For '{op}', the keyword arguments must be among {list(_OPTIONS)}, but got "
                f"'{name}'."
            )


def check_cell(op: str, name: str, value: Any) -> None:
    """Raise TypeError unless it is a Cell."""
    if not isinstance(value, nn.Cell):
        raise TypeError(f"For '{op}', '{name}' must be a Cell, but got {type(value).__name__}.")


def check_bool(op: str, name: str, value: Any) -> None:
    """Raise TypeError unless it is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{op}', '{name}' must be a bool, but got {value!r}.")


def metrics_of(metrics: Any) -> dict[str, Any]:
    """Metric objects by name; those of a set in alphabetical order, so that runs are alike."""
    if isinstance(metrics, (set, frozenset)):
        metrics = sorted(metrics, key=str)
    return nn.get_metrics(metrics) or {}


def checked_indexes(indexes: Any) -> Sequence[int] | None:
    """Where loss, output and label are, or None."""
    if indexes is None:
        return None
    if (
        not isinstance(indexes, (list, tuple))
        or len(indexes) != 3
        or not all(isinstance(i, int) for i in indexes)
    ):
        raise ValueError(
            "For 'Model', 'eval_indexes' must be three int (loss, output, label), but got "
            f"{indexes!r}."
        )
    return tuple(indexes)


def valid_epochs(frequency: Any, epoch: Any) -> Any:
    """The epochs that end with an evaluation."""
    op = "Model.fit"
    if isinstance(frequency, (list, tuple, set)):
        return {check_int(op, "valid_frequency", item, 1) for item in frequency}
    check_int(op, "valid_frequency", frequency, 1)
    return range(frequency, check_int(op, "epoch", epoch, 1) + 1, frequency)
