"""pad_info as the engine takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_int, check_type


def checked_padding(op: str, pad_info: Any) -> dict[str, Any] | None:
    """{column: (extents with -1 for the largest, value)}; empty: all columns, with zeros."""
    if pad_info is None:
        return None
    check_type(op, "pad_info", pad_info, dict)
    padding = {}
    for name, pair in pad_info.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"For '{op}', pad_info must hold (shape, value), but got {pair!r}.")
        shape, value = pair
        extents = None
        if shape is not None:
            check_type(op, "pad_info", shape, (list, tuple))
            extents = [-1 if d is None else check_int(op, "pad_info", d, 0) for d in shape]
        # The engine casts a number to the type of the column.
        padding[name] = (extents or None, None if value is None else np.asarray(value))
    return padding
