"""Dicts that keep what was put into them last."""

from __future__ import annotations

from typing import Any


def put(kept: dict, key: Any, value: Any, most: int) -> Any:
    """Puts a value at the end, and takes out what was put in first where there is more than `most`; the value."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > most:
        kept.pop(next(iter(kept)), None)
    return value
