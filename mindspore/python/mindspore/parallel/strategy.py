"""What was planned: the layouts of Parameters by process and name, and files of whole plans."""

from __future__ import annotations

import os

from mindspore import context
from mindspore.common import _planning
from mindspore.common._layouts import Layout
from mindspore.nn import Cell

Metadata = dict[int, dict[str, list[tuple[Layout, str, str]]]]


def get_strategy_metadata(network: Cell, rank_id: int | None = None) -> Metadata | None:
    """For each process, by the names of Parameters: layout, dtype and shape of the whole. None: the network has not been divided.

    Args:
        network: The network, which has run.
        rank_id: This process alone.
    """
    if not isinstance(network, Cell):
        raise TypeError(
            f"For 'get_strategy_metadata', 'network' must be a Cell, but got {type(network).__name__}."
        )
    count = _planning.devices()
    if rank_id is not None and (type(rank_id) is not int or not 0 <= rank_id < count):
        raise ValueError(
            f"For 'get_strategy_metadata', 'rank_id' must be in [0, {count}), but got {rank_id!r}."
        )
    found: dict[str, list[tuple[Layout, str, str]]] = {}
    for parameter in network.get_parameters():
        layout = _planning.layout_of(parameter)
        if layout is not None:
            found[parameter.name] = [(layout, str(parameter.dtype), str(tuple(parameter.shape)))]
    if not found:
        return None
    return dict.fromkeys(range(count) if rank_id is None else [rank_id], found)


def get_current_strategy_metadata(network: Cell) -> Metadata | None:
    """The same of the compiled version that ran last, which is the only one that Parameters lie by."""
    return get_strategy_metadata(network)


def enable_save_strategy_online() -> None:
    """Has plans kept; they always are."""


def clear_strategy_metadata() -> None:
    """Forgets plans; they are kept with the Parameters that lie by them."""


def set_op_strategy_config(mode: str = "SAVE", path: str = "") -> None:
    """Files of plans.

    Args:
        mode: "SAVE": what is compiled from now on writes its plan there, as JSON; "LOAD": Parameters lie as in such a plan, and what
            is computed with them follows.
        path: The file, absolute, with the ending ".json".
    """
    owner = "set_op_strategy_config"
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"For '{owner}', 'path' must be a str, but got {type(path).__name__}.")
    path = os.fspath(path)
    if mode not in ("SAVE", "LOAD"):
        raise KeyError(f"For '{owner}', 'mode' must be 'SAVE' or 'LOAD', but got {mode!r}.")
    if not os.path.isabs(path):
        raise KeyError(f"For '{owner}', 'path' must be absolute, but got '{path}'.")
    if not path.endswith(".json"):
        raise KeyError(f"For '{owner}', 'path' must end with '.json', but got '{path}'.")
    context.set_operator_strategy((mode, path))


__all__ = [
    "clear_strategy_metadata",
    "enable_save_strategy_online",
    "get_current_strategy_metadata",
    "get_strategy_metadata",
    "set_op_strategy_config",
]
