"""What save_checkpoint is given, as entries of a file: names, and the tensors or texts that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindspore import nn
from mindspore.common import _planning
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim import _divided
from mindspore.train._tensors import Entry, number, text_entry


def items(op: str, what: str, mapping: Any) -> Iterable[tuple[str, Any]]:
    """What a dict holds whose keys are texts."""
    if not isinstance(mapping, dict):
        raise TypeError(f"For '{op}', '{what}' must be a dict, but got {type(mapping).__name__}.")
    for name in mapping:
        if not isinstance(name, str):
            raise TypeError(f"For '{op}', the names in '{what}' must be str, but got {name!r}.")
    return mapping.items()


def distinct(net: nn.Cell) -> dict[str, Parameter]:
    """The parameters of a network by name; two of one name would overwrite each other in a file."""
    found: dict[str, Parameter] = {}
    for path, parameter in net.parameters_and_names():
        other = found.setdefault(parameter.name, parameter)
        if other is not parameter:
            raise ValueError(
                f"For 'save_checkpoint', parameters must have different names, but '{path}' and "
                f"another one are both named '{parameter.name}'. Call net.update_parameters_name()."
            )
    return found


def _pairs(save_obj: Any) -> Iterable[tuple[str, Any]]:
    """(name, tensor) of everything that save_checkpoint takes."""
    op = "save_checkpoint"
    if isinstance(save_obj, nn.Cell):
        return distinct(save_obj).items()
    if isinstance(save_obj, dict):
        return items(op, "save_obj", save_obj)
    if not isinstance(save_obj, (list, tuple)):
        raise TypeError(
            f"For '{op}', 'save_obj' must be a Cell, a list or a dict, but got "
            f"{type(save_obj).__name__}."
        )
    pairs = []
    for item in save_obj:
        if isinstance(item, Parameter):
            pairs.append((item.name, item))
        elif isinstance(item, dict) and isinstance(item.get("name"), str) and "data" in item:
            pairs.append((item["name"], item["data"]))
        else:
            raise TypeError(
                f"For '{op}', a list in 'save_obj' must hold {{'name': str, 'data': Tensor}} or "
                f"Parameters, but got {item!r:.100}."
            )
    return pairs


def named_entries(save_obj: Any, choice_func: Callable[[str], bool] | None) -> list[Entry]:
    """What is saved of what save_checkpoint takes, by name."""
    entries: list[Entry] = []
    for name, value in _pairs(save_obj):
        if choice_func is not None and not choice_func(name):
            continue
        if isinstance(value, str):
            entries.append(text_entry(name, value))
        elif isinstance(value, Tensor):
            entries.append((name, _divided.whole_state(value)))
        else:
            raise TypeError(
                f"For 'save_checkpoint', '{name}' must be a Tensor, but got {type(value).__name__}."
            )
    return entries


def appended(name: str, value: Any) -> Entry:
    """A number, text or tensor that is saved as well."""
    if isinstance(value, str):
        return text_entry(name, value)
    tensor = value if isinstance(value, Tensor) else number(value)
    if tensor is None:
        raise TypeError(
            "For 'save_checkpoint', the values of 'append_dict' must be int, float, bool, str or "
            f"Tensor, but '{name}' is {type(value).__name__}."
        )
    return name, tensor


def held(value: Any, whole: bool) -> Any:
    """What is saved of a value: of a Parameter that lies in slices all of it, or this process's."""
    if not isinstance(value, Parameter) or _planning.slice_of(value) is None:
        return value
    return _planning.whole_value(value) if whole else _planning.local_value(value)
