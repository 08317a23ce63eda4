"""Reading numbers out of what a step returned, and checking what callbacks are given."""

from __future__ import annotations

import math
import numbers
import re
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor


def first_value(outputs: Any) -> Any:
    """The loss among a step's outputs: the first tensor; its mean, as a float."""
    while isinstance(outputs, (tuple, list)) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Tensor):
        return float(np.mean(outputs.asnumpy()))
    if isinstance(outputs, (np.ndarray, np.generic, int, float)):
        return float(np.mean(outputs))
    return None


def step_in_epoch(run_context: Any) -> int:
    """The number of a step in its epoch, from 1 on."""
    params, run = run_context.original_args(), run_context._run
    if run is not None:  # it knows even where the batches were not counted
        return int(run.step + params.cur_step_num - run.steps)
    return int((params.cur_step_num - 1) % params.batch_num + 1)


def is_broken(value: Any) -> bool:
    """Whether a loss is NaN or infinite."""
    return isinstance(value, float) and not math.isfinite(value)


def check_int(op: str, name: str, value: Any, low: int) -> int:
    """Raise unless `value` is an int of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{op}', '{name}' must be an int, but got {type(value).__name__}.")
    if value < low:
        raise ValueError(f"For '{op}', '{name}' must be at least {low}, but got {value}.")
    return value


def check_number(op: str, name: str, value: Any) -> float:
    """Raise unless `value` is a real number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"For '{op}', '{name}' must be a number, but got {type(value).__name__}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"For '{op}', '{name}' must fit into a float, but is too large.") from None


def monitored(params: Any, op: str, monitor: str) -> float | None:
    """The value that a callback watches: a metric, "loss" or "eval_loss"."""
    results = dict(params.get("eval_results") or {})
    if monitor == "loss":  # of the training, also where a metric has the name
        return first_value(params.get("net_outputs"))
    if monitor in results:
        return float(np.mean(results[monitor]))
    if not results and monitor.startswith("eval_"):
        return None
    if not results:
        return None
    raise ValueError(
        f"For '{op}', 'monitor' must be 'loss' or one of {sorted(results)}, but got '{monitor}'."
    )


# In the names of values of which less is better; of any other, as of an accuracy, more is.
_SMALLER = ("loss", "err", "(^|_)r?m[as]e(_|$)", "perplexity", "distance", "(^|_)[wc]er(_|$)")


def better_of(op: str, mode: str, monitor: str) -> bool:
    """Whether larger values are better, from the mode and, for "auto", the name of the value."""
    if not isinstance(mode, str) or mode not in ("auto", "min", "max"):
        raise ValueError(f"For '{op}', 'mode' must be 'auto', 'min' or 'max', but got {mode!r}.")
    if mode != "auto":
        return mode == "max"
    return not any(re.search(word, monitor.lower()) for word in _SMALLER)


def set_learning_rate(optimizer: Any, op: str, change: Any) -> tuple[float, float]:
    """Give an optimizer change(rate) as its rate; returns the old and the new one."""
    parameter = getattr(optimizer, "learning_rate", None)
    if not isinstance(parameter, Tensor) or parameter.ndim != 0:
        raise ValueError(
            f"For '{op}', the learning rate of the optimizer must be one number that can be set, "
            "but it is a schedule."
        )
    old = float(parameter.asnumpy())
    new = float(change(old))
    if new != old:
        parameter.set_data(Tensor(new, parameter.dtype))
    return old, new
