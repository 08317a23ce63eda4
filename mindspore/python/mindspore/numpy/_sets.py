"""Arrays as sets of elements. How many elements a set has depends on values, so these must be known, but in `isin`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.numpy.dtypes import bool_, int8, int32
from mindspore.numpy.utils import Array, of_one_type
from mindspore.ops.function.index_func import _concrete


def unique(x: Array, return_inverse: bool = False) -> Any:
    """The different elements in order of appearance; with `return_inverse`, which of them each element of the
    flattened array is, too."""
    values, inverse = ops.unique(ops.ravel(x))
    return (values, inverse) if return_inverse else values


def isin(element: Array, test_elements: Array, invert: bool = False) -> Tensor:
    """Of each element, whether it is among others; whether it is not, with `invert`."""
    if test_elements.size == 0:
        return ops.full(element.shape, invert)
    x, others = (_sortable(t) for t in of_one_type([element, ops.ravel(test_elements)]))
    ordered = ops.sort(others, 0)[0]
    place = ops.clamp(ordered.searchsorted(ops.ravel(x)), 0, ordered.shape[0] - 1)
    found = ops.reshape(ops.equal(ops.gather(ordered, place, 0), ops.ravel(x)), x.shape)
    return ops.logical_not(found) if invert else found


def _sortable(x: Tensor) -> Tensor:
    return ops.cast(x, int8) if x.dtype is bool_ else x


def in1d(ar1: Array, ar2: Array, invert: bool = False) -> Tensor:
    """As `isin`, of the flattened array."""
    return isin(ops.ravel(ar1), ar2, invert)


def setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Tensor:
    """The elements of the first that are not in the second: each once and sorted, or with `assume_unique` as they come."""
    flat = ops.ravel(ar1)
    kept = flat if assume_unique else ops.gather(flat, Tensor(_first(flat)), 0)
    return ops.masked_select(kept, isin(kept, ar2, invert=True))


def _first(x: Tensor) -> np.ndarray:
    """Where each value appears first, in the order of the values."""
    return np.unique(_concrete("unique", x), return_index=True)[1]


def intersect1d(
    ar1: Array, ar2: Array, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements that both have, sorted; with `return_indices`, where each of them has them first, too."""
    x, y = of_one_type([ops.ravel(ar1), ops.ravel(ar2)])
    known = [_concrete("intersect1d", t) for t in (x, y)]
    _, *places = np.intersect1d(known[0], known[1], assume_unique, return_indices=True)
    first, second = (Tensor(p, int32) for p in places)
    common = ops.gather(x, first, 0)
    return (common, first, second) if return_indices else common


__all__ = ["in1d", "intersect1d", "isin", "setdiff1d", "unique"]
check_functions(sys.modules[__name__], __all__)
