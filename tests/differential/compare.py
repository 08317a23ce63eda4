"""Whether two results of a call are the same, and how they differ where not."""

from __future__ import annotations

from typing import Any

import numpy as np

_TOLERANCE = {
    "Float16": 4e-3,
    "BFloat16": 3e-2,
    "Float32": 2e-5,
    "Float64": 1e-9,
    "Complex64": 2e-5,
    "Complex128": 1e-9,
}


# What cancelling leaves of the largest element, as a share of the usual tolerance: its last places. A tolerance of a call's own is one
# of the whole array.
_LAST = 0.02
_FEW = 8  # elements that are kept of a wild call's arrays


def shortened(described: Any) -> Any:
    """A result with few elements of each array."""
    if isinstance(described, list):
        return [shortened(v) for v in described]
    if isinstance(described, dict):
        short = {k: shortened(v) for k, v in described.items() if k != "values"}
        if values := described.get("values"):
            short["values"] = values[:: -(-len(values) // _FEW)]
        elif "values" in described:
            short["values"] = []
        return short
    return described


def difference(expected: Any, got: Any, tol: float | None = None, shape_only: bool = False) -> str:
    """What differs in a few words; nothing where all agrees."""
    if isinstance(expected, dict) and "values" in expected:
        return _arrays(expected, got, tol, shape_only)
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"expected {len(expected)} parts, but got {_short(got)}"
        parts = (difference(e, g, tol, shape_only) for e, g in zip(expected, got))
        return next((f"part {i}: {d}" for i, d in enumerate(parts) if d), "")
    if isinstance(expected, dict):
        if not isinstance(got, dict) or got.keys() != expected.keys():
            return f"expected keys {sorted(expected)}, but got {_short(got)}"
        parts = ((k, difference(v, got[k], tol, shape_only)) for k, v in expected.items())
        return next((f"{k}: {d}" for k, d in parts if d), "")
    if isinstance(expected, float) and isinstance(got, float):
        same = shape_only or np.isclose(
            expected, got, rtol=1e-5 if tol is None else tol, equal_nan=True
        )
        return "" if same else f"expected {expected}, but got {got}"
    same = type(expected) is type(got) and (shape_only or expected == got)
    return "" if same else f"expected {_short(expected)}, but got {_short(got)}"


def _arrays(expected: dict, got: Any, tol: float | None, shape_only: bool) -> str:
    if not isinstance(got, dict) or "values" not in got:
        return f"expected a {expected['dtype']} array, but got {_short(got)}"
    for what in ("dtype", "shape"):
        if expected[what] != got[what]:
            return f"expected {what} {expected[what]}, but got {got[what]}"
    if shape_only:
        return ""
    dtype = expected["dtype"].replace("numpy f", "F").replace("numpy c", "C")
    tolerance = _TOLERANCE.get(dtype, 0.0) if tol is None else tol
    left, right = expected["values"], got["values"]
    if tolerance or dtype in _TOLERANCE:
        cancelled = tolerance * (_LAST if tol is None else 1.0)
        near = _near(
            np.asarray(left, np.float64), np.asarray(right, np.float64), tolerance, cancelled
        )
    else:  # integers keep all their digits
        near = np.array([x == y for x, y in zip(left, right)], bool)
    if near.all():
        return ""
    worst = int(np.argmin(near))
    return (
        f"{int((~near).sum())} of {near.size} elements differ, the first at {worst}: expected "
        f"{left[worst]}, but got {right[worst]}"
    )


def _near(left: np.ndarray, right: np.ndarray, tolerance: float, cancelled: float) -> np.ndarray:
    """Which elements agree, each by its own size; one that large ones cancel in may be off by a share of the largest."""
    scale = np.abs(left[np.isfinite(left)]).max(initial=0.0)
    return np.isclose(left, right, rtol=tolerance, atol=cancelled * scale, equal_nan=True)


def _short(value: Any) -> str:
    if isinstance(value, dict) and "values" in value:
        return f"a {value['dtype']} array of shape {value['shape']}"
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
