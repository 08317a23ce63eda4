"""What functions over images and volumes share: sizes and paddings along 1 to 3 dimensions, and a batch for what has none.
Sequences are images of height 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.ops._bind import raw

_reshape = raw("Reshape")


def sizes(
    owner: str, argument: str, value: int | Sequence[int], rank: int, minimum: int | None = None
) -> tuple[int, ...]:
    """One int for each dimension, from one for all or from so many."""
    items = (value,) if isinstance(value, int) else tuple(value)
    if len(items) == 1:
        items = items * rank
    if len(items) != rank:
        several = "one int" if rank == 1 else f"an int or a tuple of {rank} ints"
        raise ValueError(f"For '{owner}', '{argument}' must be {several}, but got {value}.")
    if minimum is not None and min(items) < minimum:
        raise ValueError(
            f"For '{owner}', every size in '{argument}' must be at least {minimum}, but got {value}."
        )
    return items


def pads(
    owner: str, value: int | Sequence[int], rank: int, argument: str = "padding"
) -> tuple[int, ...]:
    """(before, after) of each dimension, from one int, one for each dimension, or all of them."""
    items = (value,) if isinstance(value, int) else tuple(value)
    if len(items) == 1:
        return items * (2 * rank)
    if len(items) == rank:
        return tuple(p for p in items for _ in (0, 1))
    if len(items) != 2 * rank:
        several = f"{rank} or {2 * rank}" if rank > 1 else "2"
        raise ValueError(
            f"For '{owner}', '{argument}' must be an int or a tuple of {several} ints, but got {value}."
        )
    return items


def lead(rank: int, value: int) -> tuple[int, ...]:
    """What stands before the sizes of a sequence, to make them those of an image."""
    return (value,) * (2 - rank)


def images(owner: str, x: Tensor, rank: int) -> Tensor:
    """The input with a batch, and a height where it has none."""
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(
            f"For '{owner}', the input must have {rank + 1} or {rank + 2} dimensions, "
            f"but got shape {x.shape}."
        )
    shape = x.shape if x.ndim == rank + 2 else (1, *x.shape)
    if rank == 1:
        shape = (*shape[:2], 1, shape[2])
    return x if shape == x.shape else _reshape(x, shape=shape)


def restored(like: Tensor, y: Any, rank: int) -> Any:
    """A result, or several, without what `images` has put before the dimensions of `like`."""
    if isinstance(y, tuple):
        return tuple(restored(like, item, rank) for item in y)
    shape = (*y.shape[:2], y.shape[3]) if rank == 1 else y.shape
    if like.ndim == rank + 1:
        shape = shape[1:]
    return y if shape == y.shape else _reshape(y, shape=shape)
