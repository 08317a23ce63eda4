"""Reductions as Tensor methods, where these take other arguments than the functions do."""

from __future__ import annotations

from typing import Any, Literal

from mindspore._core import DType, Tensor
from mindspore.common._checked import check_value
from mindspore.common._kinds import Ints, Real
from mindspore.ops._bind import raw
from mindspore.ops._forms import method
from mindspore.ops.function.reduce_func import (
    _axes,
    _bounded,
    _reshape,
    _sort,
    amax,
    amin,
    argmax,
    cumsum,
    max,
    min,
    prod,
    sum,
)

_reduce = {"max": raw("ReduceMax"), "min": raw("ReduceMin")}
_with_position = {"max": max, "min": min}

# The two forms in which `max` and `min` are called: as elsewhere, positions come with the values;
# as in NumPy, where something only this form has is named, when they are asked for.
_ALONG = ("dim", "keepdim")
_OVER = ("axis", "keepdims", "initial", "where", "return_indices")
_KINDS: dict[str, Any] = {
    "dim": int,
    "keepdim": bool,
    "axis": Ints | None,
    "keepdims": bool,
    "initial": Real | Tensor | None,
    "where": Tensor | Literal[True] | None,
    "return_indices": bool,
}


def _extreme(name: str, self: Tensor, args: tuple, named: dict[str, Any]) -> Any:
    along = isinstance(args[0], int) if args else "dim" in named
    names = _ALONG if along and named.keys().isdisjoint(_OVER) else _OVER
    given = {**dict(zip(names, args)), **named}
    if len(args) > 2 or len(given) < len(args) + len(named) or not given.keys() <= set(names):
        raise TypeError(
            f"For 'Tensor.{name}', the call must be {name}(dim, keepdim=False) or {name}(axis=None, "
            "keepdims=False, *, initial=None, where=True, return_indices=False), but got "
            f"{len(args)} positional arguments and {sorted(named)}."
        )
    given = {n: check_value(_KINDS[n], v, n, f"Tensor.{name}") for n, v in given.items()}
    if names is _ALONG:
        return _with_position[name](self, given["dim"], given.get("keepdim", False))
    return _extreme_over(name, self, **given)


def _extreme_over(
    name: str,
    self: Tensor,
    axis: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    return_indices: bool = False,
) -> Any:
    where = None if where is True else where
    if return_indices:
        return _with_position[name](self, axis, keepdims, initial=initial, where=where)
    input = _bounded(name, self, initial, where, name == "min")
    # Along one axis the first of equal extremes takes the gradient, as where positions are given.
    first = isinstance(axis, int)
    return _reduce[name](input, axis=_axes(axis), keep_dims=keepdims, first=first)


def _method_max(self: Tensor, *args: Any, **named: Any) -> Any:
    """Largest element: `max(dim, keepdim)` gives values and positions along an axis, `max()` and
    `max(axis=..., keepdims=..., initial=..., where=..., return_indices=False)` values alone."""
    return _extreme("max", self, args, named)


def _method_min(self: Tensor, *args: Any, **named: Any) -> Any:
    """Smallest element: `min(dim, keepdim)` gives values and positions along an axis, `min()` and
    `min(axis=..., keepdims=..., initial=..., where=..., return_indices=False)` values alone."""
    return _extreme("min", self, args, named)


def _method_sum(
    self: Tensor,
    axis: Ints | None = None,
    dtype: DType | bool | None = None,
    keepdims: bool = False,
    initial: Real | Tensor | None = None,
    *,
    dim: Ints | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Sum over axes."""
    if isinstance(dtype, bool):  # sum(dim, keepdim)
        keepdims, dtype = dtype, None
    result = sum(self, axis if dim is None else dim, keepdims or keepdim, dtype=dtype)
    return result if initial is None else result + initial


def _method_argmax(self: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the largest element."""
    return argmax(self, axis, keepdims)


def _method_prod(
    self: Tensor, axis: Ints | None = None, keep_dims: bool = False, dtype: DType | None = None
) -> Tensor:
    """Product over axes."""
    return prod(self, axis, keep_dims, dtype)


def _method_cumsum(self: Tensor, axis: int | None = None, dtype: DType | None = None) -> Tensor:
    """Running sum along an axis, or through the flattened tensor."""
    if axis is None:
        self, axis = _reshape(self, shape=(-1,)), 0
    return cumsum(self, axis, dtype)


def _method_argmax_with_value(
    self: Tensor, axis: int = 0, keep_dims: bool = False
) -> tuple[Tensor, Tensor]:
    """Value and position of the largest element along an axis."""
    return max(self, axis, keep_dims)


def _method_argmin_with_value(
    self: Tensor, axis: int = 0, keep_dims: bool = False
) -> tuple[Tensor, Tensor]:
    """Value and position of the smallest element along an axis."""
    return min(self, axis, keep_dims)


def _method_sort(self: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sorted elements along an axis and where they came from."""
    return _sort(self, axis=axis, descending=descending)


def _method_ptp(self: Tensor, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    """Largest less smallest element over axes."""
    return amax(self, axis, keepdims) - amin(self, axis, keepdims)


METHODS = tuple(
    method(f)
    for f in (
        _method_sum,
        _method_max,
        _method_min,
        _method_argmax,
        _method_prod,
        _method_cumsum,
        _method_argmax_with_value,
        _method_argmin_with_value,
        _method_sort,
        _method_ptp,
    )
)

__all__: list[str] = []
