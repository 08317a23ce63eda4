"""Poolings whose windows have sizes that differ by one, so that an image shrinks by a factor that is no whole number: after
Graham, "Fractional Max-Pooling" (arXiv 1412.6071). Where the windows begin is a result of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._checked import check_value
from mindspore.ops._bind import functions
from mindspore.ops.function import random_func
from mindspore.ops.function.creation_func import arange
from mindspore.ops.primitive import PythonPrimitive

_DTYPES = (_core.float32, _core.float64, _core.int32, _core.int64)


def _narrowest(size: int, out: int) -> int:
    """The smaller of the two sizes of windows."""
    return size // out


def _shuffled(size: int, out: int, draws: Any) -> Any:
    """Where windows begin and the last ends, [out + 1], when wide and narrow ones are in the order of random numbers [out]."""
    wide = draws.argsort().argsort() < size % out
    sizes = wide.astype(_core.int32) + _narrowest(size, out)
    ends = sizes.cumsum(0)
    return functions["concat"]([ends[:1] * 0, ends], axis=0).astype(_core.int64)


def _spread(size: int, out: int, draws: Any) -> Any:
    """Where windows begin and the last ends, when they are evenly spread from a random start on."""
    alpha = size / out
    most = (
        min(
            (_narrowest(size, out) + 2) / alpha,
            (size + 1 - _narrowest(size, out)) / alpha - out + 2,
        )
        - 1
    )
    inner = (arange(1, out).astype(_core.float64) + draws[:1].astype(_core.float64) * most) * alpha
    inside = inner.ceil().astype(_core.int64) - 1
    return functions["concat"]([inside[:1] * 0, inside, inside[:1] * 0 + size], axis=0)


class _FractionalPool(PythonPrimitive):
    """What both share."""

    def __init__(
        self,
        pooling_ratio: Sequence[float],
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
    ) -> None:
        name = type(self).__name__
        flags = {"pseudo_random": pseudo_random, "overlapping": overlapping}
        for flag, value in {**flags, "deterministic": deterministic}.items():
            check_value(bool, value, flag, name)
        for what, number in (("seed", seed), ("seed2", seed2)):
            check_value(int, number, what, name)
        _check_ratio(name, pooling_ratio)
        if (seed or seed2) and not deterministic:
            raise ValueError(
                f"For '{name}', 'seed' and 'seed2' must be 0 where 'deterministic' is False, but got {seed} and {seed2}."
            )
        super().__init__(
            tuple(pooling_ratio), pseudo_random, overlapping, deterministic, seed, seed2
        )
        chosen = [abs(seed), abs(seed2)] if seed or seed2 else None
        self._fixed = np.random.default_rng(chosen) if deterministic else None
        self._drawn: dict[int, np.ndarray] = {}  # by axis, for one that is deterministic

    def _draws(self, axis: int, count: int) -> Tensor:
        if self._fixed is None:
            return random_func.rand(count, dtype=_core.float32)
        if axis not in self._drawn or self._drawn[axis].size != count:
            self._drawn[axis] = self._fixed.uniform(size=count).astype(np.float32)
        return Tensor(self._drawn[axis])

    def _starts(self, size: int, axis: int) -> Tensor:
        out = int(size / self.pooling_ratio[axis])
        if out < 1:
            raise ValueError(
                f"For '{self.name}', axis {axis} must be at least as long as its ratio {self.pooling_ratio[axis]}, but got "
                f"{size}."
            )
        if out == size:
            return arange(0, size + 1).astype(_core.int64)
        if out == 1:
            return Tensor([0, size], _core.int64)
        place = _spread if self.pseudo_random else _shuffled
        return place(size, out, self._draws(axis, out))

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if x.ndim != 4:
            raise ValueError(f"For '{self.name}', 'x' must have 4 dimensions, but got {x.ndim}.")
        if x.dtype not in _DTYPES:
            raise TypeError(
                f"For '{self.name}', 'x' must be float32, float64, int32 or int64, but got {x.dtype}."
            )
        rows, columns = (self._starts(x.shape[axis], axis) for axis in (1, 2))
        y, row_there = self._windows(x, rows, 1)
        y, column_there = self._windows(y, columns, 3)
        there = row_there.reshape((1, *row_there.shape, 1, 1, 1)) & column_there.reshape(
            (1, 1, 1, *column_there.shape, 1)
        )
        return self._reduced(y, there), rows, columns

    def _windows(self, x: Tensor, starts: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """An axis as windows and places in them, and which places are in the window."""
        size, out = x.shape[axis], starts.shape[0] - 1
        width = min(_narrowest(size, out) + 2 + self.overlapping, size)
        places = starts[:-1].reshape((out, 1)) + arange(0, width).astype(_core.int64)
        ends = starts[1:].reshape((out, 1)) + int(self.overlapping)
        there = (places < ends) & (places < size)
        taken = x.gather(places.clip(0, size - 1).reshape(-1), axis)
        return taken.reshape((*x.shape[:axis], out, width, *x.shape[axis + 1 :])), there

    def _reduced(self, windows: Tensor, there: Tensor) -> Tensor:
        raise NotImplementedError


def _check_ratio(name: str, ratio: Any) -> None:
    if not isinstance(ratio, (list, tuple)) or any(
        isinstance(r, bool) or not isinstance(r, (int, float)) for r in ratio
    ):
        raise TypeError(
            f"For '{name}', 'pooling_ratio' must be a list of floats, but got {ratio!r}."
        )
    if len(ratio) != 4 or ratio[0] != 1 or ratio[3] != 1 or not min(ratio[1:3]) >= 1:
        raise ValueError(
            f"For '{name}', 'pooling_ratio' must be [1.0, r, s, 1.0] with r and s of at least 1.0, but got {ratio!r}."
        )


class FractionalMaxPool(_FractionalPool):
    """Largest elements of windows over images [N, H, W, C], and where the windows begin along each axis."""

    def _reduced(self, windows: Tensor, there: Tensor) -> Tensor:
        least = (
            -float("inf")
            if windows.dtype.is_floating_point
            else np.iinfo(str(windows.dtype).lower()).min
        )
        return windows.masked_fill(there.logical_not(), least).amax((2, 4))


class FractionalAvgPool(_FractionalPool):
    """Means of windows over images [N, H, W, C], and where the windows begin along each axis. Means of integers are cut."""

    def _reduced(self, windows: Tensor, there: Tensor) -> Tensor:
        total = windows.masked_fill(there.logical_not(), 0).sum((2, 4))
        count = there.astype(windows.dtype).sum((2, 4))
        if windows.dtype.is_floating_point:
            return total / count
        return total.div(count, rounding_mode="trunc").astype(windows.dtype)


CLASSES = {c.__name__: c for c in (FractionalAvgPool, FractionalMaxPool)}
__all__: list[str] = []
