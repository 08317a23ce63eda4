"""How the elements of a tensor stand in its repr: rows in brackets, long axes cut to their ends, columns of one width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_EDGE = 3  # what is shown of each end of an axis that is cut
_LONGEST_VECTOR = 1000  # a tensor of one axis is shown up to this length,
_LONGEST_AXIS = 2 * _EDGE  # an axis of others up to this one
_IN_LINE = {"f": 12, "b": 12}  # of such a vector, by kinds of numbers; others: 24


def _complex(value: complex) -> str:
    return f"{value.real:g}{value.imag:+g}j"


def _one(array: np.ndarray) -> str:
    """The only element, as short as it can be."""
    kind, value = array.dtype.kind, array.item()
    return _complex(value) if kind == "c" else f"{value:g}" if kind == "f" else str(value)


def _columns(texts: list[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def _texts(array: np.ndarray, plain: bool) -> list[str]:
    """All elements in order."""
    values = array.ravel().tolist()
    kind = array.dtype.kind
    if kind == "c":
        return [_complex(v) for v in values]
    if kind == "f" and not plain:
        form = "%11.4e" if array.dtype == np.float16 else "%15.8e"
        return [form % v for v in values]
    if kind == "b":
        return [str(v).rjust(5) for v in values]
    return _columns([f"{v:g}" if kind == "f" else str(v) for v in values])


def _ends(array: np.ndarray) -> tuple[np.ndarray, list[bool]]:
    """What is shown of an array, and which of its axes are cut."""
    longest = _LONGEST_VECTOR if array.ndim == 1 else _LONGEST_AXIS
    cut = [size > longest for size in array.shape]
    for axis, is_cut in enumerate(cut):
        if is_cut:
            size = array.shape[axis]
            array = array.take([*range(_EDGE), *range(size - _EDGE, size)], axis)
    return array, cut


def _vector(texts: list[str], cut: bool, in_line: int) -> str:
    if cut:
        return f"[{', '.join(texts[:_EDGE])} ... {', '.join(texts[_EDGE:])}]"
    lines = (", ".join(texts[i : i + in_line]) for i in range(0, len(texts), in_line))
    return "[" + ", \n ".join(lines) + ("]" if len(texts) % in_line else "\n ]")


def _nested(shape: tuple[int, ...], cut: list[bool], indent: str, row: Callable[[], str]) -> str:
    if len(shape) == 1:
        return row()
    line = f"\n{indent} "
    items = [_nested(shape[1:], cut[1:], indent + " ", row) for _ in range(shape[0])]
    if cut[0]:
        items[_EDGE] = f"...{line}{items[_EDGE]}"
    return "[" + f",{line}".join(items) + "]"


def elements(array: np.ndarray, plain: bool = False) -> str:
    """The elements of an array as they stand in a repr.

    Args:
        array: Of numbers or truth values.
        plain: Whether floats are written as short as they can be, as those of few digits are.
    """
    if array.ndim == 0:
        return _one(array)
    if not array.size:
        return ""
    shown, cut = _ends(array)
    texts = iter(_texts(shown, plain))
    in_line = _IN_LINE.get(array.dtype.kind, 24)

    def row() -> str:
        return _vector([next(texts) for _ in range(shown.shape[-1])], cut[-1], in_line)

    return _nested(shown.shape, cut, "", row)


def decimals(array: np.ndarray) -> str:
    """The elements of an array as NumPy prints them, but floats with six decimals."""
    return np.array2string(array, formatter={"float_kind": lambda value: f"{value:f}"})
