"""How the user wants the gradients of several processes joined for their sums: `all_reduce_fusion_config` and `comm_fusion`."""

from __future__ import annotations

from typing import Any

from mindspore import _core

_SETTER = "set_auto_parallel_context"
_KINDS = ("allreduce", "allgather", "reducescatter")
_MODES = ("auto", "size", "index")
_MEGABYTE = 1 << 20


def checked(name: str, value: Any) -> Any:
    """A value of one of the two settings, whole: with what is not said."""
    if name == "all_reduce_fusion_config":
        return _indices(name, value)
    result: dict[str, Any] = {"openstate": True}
    result |= {kind: {"mode": "auto", "config": None} for kind in _KINDS}
    for key, what in value.items():
        if key not in result:
            raise KeyError(
                f"For '{_SETTER}', the keys of '{name}' must be in {list(result)}, but got {key!r}."
            )
        result[key] = _switch(name, what) if key == "openstate" else _how(f"{name}[{key!r}]", what)
    return result if value else {}


def apply(indices: list[int], how: dict[str, Any]) -> None:
    """Tells the runtime. Where both are set, indices count."""
    fusion = how.get("allreduce", {"mode": "auto", "config": None})
    if how and not how["openstate"]:
        fusion = {"mode": "size", "config": 0}
    mode, config = fusion["mode"], fusion["config"]
    if not indices and mode == "index":
        indices = config
    size = max(int(config * _MEGABYTE), 1) if mode == "size" and not indices else 0
    _core.set_bucket_wish(indices, size)


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(
            f"For '{_SETTER}', 'openstate' of '{name}' must be a bool, but got {type(value).__name__}."
        )
    return value


def _how(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != {"mode", "config"}:
        raise KeyError(
            f"For '{_SETTER}', '{name}' must be a dict with 'mode' and 'config', but got {value!r}."
        )
    mode, config = value["mode"], value["config"]
    if mode not in _MODES:
        raise KeyError(
            f"For '{_SETTER}', the mode of '{name}' must be one of {list(_MODES)}, but got {mode!r}."
        )
    if mode == "index":
        _indices(name, config)
    if mode == "size":
        if isinstance(config, bool) or not isinstance(config, (int, float)):
            raise TypeError(
                f"For '{_SETTER}', the size of '{name}' must be a number of MB, but got {type(config).__name__}."
            )
        if not 0 <= config <= 1 << 20:
            raise ValueError(
                f"For '{_SETTER}', the size of '{name}' must be in [0, 1048576] MB, but got {config}."
            )
    return dict(value)


def _indices(name: str, value: Any) -> list[int]:
    if not isinstance(value, list) or not all(type(i) is int for i in value):
        raise TypeError(f"For '{_SETTER}', '{name}' must be a list of ints, but got {value!r}.")
    if any(i < 1 for i in value) or sorted(set(value)) != value:
        raise ValueError(
            f"For '{_SETTER}', '{name}' must be numbers of gradients that grow, of at least 1, but got {value}."
        )
    return value
