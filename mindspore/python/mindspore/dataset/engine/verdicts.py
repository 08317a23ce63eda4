"""What filters decided about rows, as a state of an iterator has it: so that none is asked again about rows that were given."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type

_KEYS = ("node", "epoch", "rows")
Told = tuple[int, int, int, bytes]


def written(told: list[Told]) -> list[dict[str, Any]]:
    """Plain values, which json can hold."""
    return [
        {
            "node": node,
            "epoch": epoch,
            "rows": rows,
            "kept": base64.b64encode(zlib.compress(bits, 1)).decode(),
        }
        for node, epoch, rows, bits in told
        if rows
    ]


def read(state: dict[str, Any]) -> list[Told]:
    """The inverse, from a state that may have none."""
    given = state.get("filters", [])
    check_type("restore", "filters", given, list)
    return [_one(entry) for entry in given]


def _one(entry: Any) -> Told:
    check_type("restore", "filters", entry, dict)
    most = (1 << 31) - 1, (1 << 63) - 1, _core.dataset.MOST_VERDICTS
    node, epoch, rows = (
        check_int("restore", name, entry.get(name), 0, limit)
        for name, limit in zip(_KEYS, most, strict=True)
    )
    check_type("restore", "kept", entry.get("kept"), str)
    size = (rows + 7) // 8
    try:
        packed = base64.b64decode(entry["kept"], validate=True)
        bits = zlib.decompressobj().decompress(packed, size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise ValueError(
            f"For 'restore', the state of the filter of node {node} is damaged: {error}."
        ) from None
    return node, epoch, rows, bits


__all__ = ["read", "written"]
