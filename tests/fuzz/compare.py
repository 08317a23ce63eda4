"""Whether two results are the same. Values must have equal bits, except that any nan is a nan and the two zeros are one: `x + 0`
may become `x`. Gradients may be sums in another order, see `SUM_ULPS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore import Tensor

# A value that is used n times has a sum of n tangents as its gradient. Eager code adds them one by one as it walks back over
# all ops that ran; compiled code adds up those of a branch, a loop's round or a called function first, as each is a function
# of its own. Of n terms of size m both sums are within (n - 1) * m * eps/2 of the exact one. The largest gradient of the
# program stands for m, which the squashing in loops keeps near all that was added, and n is at most some dozens.
# A value that all items of a vmap share is computed once in compiled code, so that its tangents are added up before they go back
# through what made it; eager code, which calls the function for each item, sends each back by itself. Both round in the
# dtypes of that part, compiled code once and eager code n times: the ulps are those of the coarsest dtype of the program.
SUM_ULPS = 64

# Of the passes that make code faster those that change a reduction (its order, or where softmax rounds on the way) change last
# bits: of a sum of n terms by (n - 1) / 2 at most. Tensors here hold some hundreds of elements at most, and few are added up in
# a row. The ulps are those of the coarsest dtype that the program mentions, as values of it may end up in finer ones.
FUSED_ULPS = 64
# What a second derivative adds up is larger than what comes out where it cancels, as of a softmax of equal numbers, of which the
# exact derivative is 0: terms are products of two first ones.
SECOND_ULPS = 512


@dataclass(frozen=True)
class Slack:
    """How far values may be apart: some units in the last place of `scale`, in their own dtype or, where given, a coarser one."""

    ulps: int = 0
    scale: float = 1.0
    unit: float = 0.0

    def limit(self, dtype: np.dtype) -> float:
        return self.ulps * max(epsilon(dtype), self.unit) * max(self.scale, 1.0)


def epsilon(dtype: Any) -> float:
    """A unit in the last place of 1."""
    return float(np.finfo(dtype).eps)


class Difference(Exception):
    """Where two results differ, and how."""


def same(a: Any, b: Any, where: str = "result", slack: Slack = Slack()) -> None:
    """Raises Difference unless a compiled result `b` is the eager one `a`."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        _same_tensors(a, b, where, slack)
    elif type(a) is not type(b):
        raise Difference(
            f"{where}: {type(a).__name__} {_short(a)} became {type(b).__name__} {_short(b)}"
        )
    elif isinstance(a, (tuple, list)):
        if len(a) != len(b):
            raise Difference(f"{where}: {len(a)} items became {len(b)}")
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{where}[{i}]", slack)
    elif isinstance(a, dict):
        if list(a) != list(b):
            raise Difference(f"{where}: keys {list(a)} became {list(b)}")
        for key in a:
            same(a[key], b[key], f"{where}[{key!r}]", slack)
    elif isinstance(a, np.ndarray):
        _same_arrays(a, b, where, slack)
    elif not (a == b or (a != a and b != b)):
        raise Difference(f"{where}: {_short(a)} became {_short(b)}")


def _same_tensors(a: Tensor, b: Tensor, where: str, slack: Slack) -> None:
    if a.dtype is not b.dtype or tuple(a.shape) != tuple(b.shape):
        raise Difference(f"{where}: {a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}")
    _same_arrays(a.asnumpy(), b.asnumpy(), where, slack)


def _same_arrays(a: np.ndarray, b: np.ndarray, where: str, slack: Slack) -> None:
    equal = (a == b) | ((a != a) & (b != b))
    if equal.all():
        return
    if slack.ulps and a.dtype.kind == "f":
        with np.errstate(all="ignore"):
            near = np.abs(a.astype(np.float64) - b.astype(np.float64)) <= slack.limit(a.dtype)
        equal = equal | near | (_overflows(a) & _overflows(b))
        if equal.all():
            return
    at = tuple(int(i) for i in np.argwhere(~equal)[0])
    raise Difference(
        f"{where}{list(at) if at else ''}: {a[at]!r} became {b[at]!r} ({int((~equal).sum())} of {a.size} differ)"
    )


def _overflows(a: np.ndarray) -> np.ndarray:
    """Where numbers are so large that another order of steps may make them infinite, or are so already."""
    return ~np.isfinite(a) | (np.abs(a) > np.finfo(a.dtype).max / 1e3)


def largest(values: Any) -> float:
    """The largest finite number in a structure of tensors."""
    if isinstance(values, Tensor):
        array = np.abs(values.asnumpy().astype(np.float64))
        array = array[np.isfinite(array)]
        return float(array.max()) if array.size else 0.0
    if isinstance(values, (tuple, list)):
        return max(map(largest, values), default=0.0)
    return 0.0


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
