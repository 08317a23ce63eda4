"""Calls of searches, counts, running and order statistics, and of what is different in lists."""

from typing import Any

import numpy as np
from differential.calllib import at, b1, call, f32, i32, made, of

NAN = float("nan")
X = f32(3, 5)
HOLES = of([[1.0, NAN, 3.0, 2.0], [4.0, 0.0, NAN, NAN], [5.0, 1.0, 2.0, 3.0]])
SORTED = of([[-1.0, 0.0, 1.0], [0.0, 0.5, 2.0]])


def searched(rows: np.ndarray, values: np.ndarray, side: Any = "left") -> np.ndarray:
    """The places of values, row by row."""
    return np.stack([np.searchsorted(r, v, side) for r, v in zip(rows, values)])


call("ops.bucketize", X, [-1.0, 0.0, 1.0])
call("ops.bucketize", X, [-1.0, 0.0, 1.0], right=True)
call("ops.bucketize", i32(3, 5), [-1.0, 0.0, 1.0])
made("ops.Bucketize", [-1.0, 0.0, 1.0])(X)
call("ops.searchsorted", of([1.0, 3.0, 5.0]), of([2.0, 3.0, 6.0]), ref=np.searchsorted)
call("ops.searchsorted", SORTED, f32(2, 4), ref=searched)
call("ops.searchsorted", SORTED, f32(2, 4), right=True, ref=lambda r, v: searched(r, v, "right"))
call(
    "ops.searchsorted",
    SORTED,
    f32(2, 4),
    out_int32=True,
    ref=lambda r, v: searched(r, v).astype("int32"),
)
call("ops.searchsorted", SORTED, f32(3, 4))
call("ops.searchsorted", of([1, 3, 5], "int32"), of([2, 3, 6], "int32"))
made("ops.SearchSorted", at("int32"), True)(
    SORTED, f32(2, 4), ref=lambda r, v: searched(r, v, "right").astype("int32")
)
made("ops.LowerBound")(SORTED, f32(2, 4))
made("ops.UpperBound")(SORTED, f32(2, 4))
call("ops.bincount", of([1, 2, 2, 5], "int32"))
call(
    "ops.bincount",
    of([1, 2, 2, 5], "int32"),
    f32(4),
    8,
    ref=lambda x, w, n: np.bincount(x, w, n).astype("float32"),
)
call("ops.bincount", i32(2, 2, low=0))
made("ops.Bincount")(
    of([1, 2, 2, 5], "int32"),
    of(4, "int32"),
    f32(4),
    ref=lambda x, n, w: np.array([0, w[0], w[1] + w[2], 0], "float32"),
)
call("ops.histc", X, 5)
call("ops.histc", X, 4, -1.0, 1.0)
call("ops.histc", i32(9), 4, 0.0, 4.0)
call("ops.histc", X, 0)
made("ops.Histogram", 4, -1.0, 1.0)(f32(9))
made("ops.HistogramFixedWidth", 5)(
    of([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]),
    of([0.0, 5.0]),
    ref=lambda x, r: np.array([2, 1, 1, 0, 2], "int32"),
)
call("ops.intopk", X, of([1, 2, 4], "int32"), 2)
made("ops.InTopK", 3)(X, of([1, 2, 4], "int32"))

for name in "cummax cummin".split():
    call(f"ops.{name}", X, 1, grad=True)
    call(f"ops.{name}", X, 0)
    call(f"ops.{name}", of([1.0, 3.0, 3.0, 2.0]), 0)
    call(f"ops.{name}", i32(2, 4), -1)
    call(f"ops.{name}", X, 2)
    made(f"ops.{name.title()}", 1)(X)
call("ops.logcumsumexp", X, 1, grad=True)
call("ops.logcumsumexp", of([-float("inf"), 1.0, 90.0, 3.0]), 0)
call("ops.logcumsumexp", X, 2)
made("ops.CumulativeLogsumexp", False, True)(X, of(0, "int32"))
made("ops.CumulativeLogsumexp")(X, of(0, "int32"))
call("ops.msort", X)
call("ops.aminmax", X)
call("ops.aminmax", X, axis=1, keepdims=True)
call("ops.aminmax", X, axis=None)
made("ops.Median", False, 1, True)(X)
made("ops.Median", True)(X)
made("ops.Median", False, 1, False, True)(HOLES)
call("ops.nanmedian", HOLES, 1)
call("ops.nanmedian", HOLES, 0, True)
call("ops.nanmean", HOLES, 1)
call("ops.nanmean", HOLES)
call("ops.nanmean", HOLES, (0, 1), True)
for name in "quantile nanquantile".split():
    call(f"ops.{name}", X, of([0.2, 0.7]), 1, torch=name)
    call(f"ops.{name}", X, 0.3, torch=name)
    call(f"ops.{name}", HOLES, 0.3, 1, True, torch=name)
made("ops.NthElement")(X, of(1, "int32"))
made("ops.NthElement", True)(X, 1)
call("ops.trapz", X)
call("ops.trapz", X, of([0.0, 1.0, 3.0, 4.0, 6.0]))
call("ops.trapz", X, dx=2.0, dim=0, grad=True)
call("ops.trapz", i32(3, 5))

RUNS = of([1, 1, 2, 2, 1, 3], "int32")
call("ops.unique_consecutive", RUNS)
call("ops.unique_consecutive", RUNS, True)
call("ops.unique_consecutive", RUNS, True, True)
call("ops.unique_consecutive", of([[1, 1, 2], [1, 1, 2]], "int32"), True, False, 1)
call("ops.unique_consecutive", of([[1, 1, 2], [1, 1, 2]], "int32"), True, True, 0)
call("ops.unique_consecutive", RUNS, dim=1)
call("ops.unique_with_pad", RUNS, 0)
call("ops.unique_with_pad", f32(2, 2), 0)
made("ops.UniqueWithPad")(RUNS, 9)
call("ops.argwhere", b1(3, 4))
call("ops.argwhere", of([[0, 1], [2, 0]], "int32"))
made("ops.ListDiff")(of([1, 2, 3, 4, 5, 6], "int32"), of([1, 3, 5], "int32"))
made("ops.ListDiff", at("int64"))(f32(3), f32(2))
made("ops.UnravelIndex")(of([5, 7, 11], "int32"), of([3, 4], "int32"))
made("ops.InvertPermutation")((2, 0, 1))
made("ops.InvertPermutation")((2, 0, 2))
made("ops.TrilIndices", 3, 4, 1, at("int64"))()
made("ops.TriuIndices", 3, 4)()
made("ops.SquareSumAll")(X, f32(2))
made("ops.EqualCount")(of([1.0, 2.0, 3.0]), of([1.0, 2.0, 4.0]))
made("ops.ConfusionMatrix", 4)(
    of([0, 1, 1, 3], "int32"),
    of([1, 1, 3, 3], "int32"),
    ref=lambda a, b: np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]], "int32"),
)
made("ops.CompareAndBitpack")(f32(2, 16), of(0.5))
made("ops.CompareAndBitpack")(f32(2, 15), of(0.5))
made("ops.ComputeAccidentalHits", 2)(
    of([[1, 2], [0, 4], [3, 3]], "int64"), of([0, 1, 2, 3, 4], "int64")
)
made("ops.NoRepeatNGram", 2)(of([[[1, 1, 2, 1], [0, 3, 0, 3]]], "int32"), f32(1, 2, 5))
made("ops.NoRepeatNGram", 9)(of([[[1, 1, 2, 1], [0, 3, 0, 3]]], "int32"), f32(1, 2, 5))
made("ops.EditDistance")(
    of([[0, 0, 0], [1, 0, 1], [1, 0, 0]], "int64"),
    of([1.0, 2.0, 3.0]),
    of([2, 1, 2], "int64"),
    of([[0, 0, 0], [0, 0, 1], [1, 0, 0]], "int64"),
    of([1.0, 2.0, 1.0]),
    of([2, 1, 2], "int64"),
)
