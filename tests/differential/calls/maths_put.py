"""Calls that write, fill and look up at positions, and of segments."""

from typing import Any

import numpy as np
from differential.calllib import at, b1, call, f32, i32, i64, made, of, param

ROWS = of([[0], [2], [0]], "int32")
for kind in "Mul Div Max Min".split():
    low = 0.5
    call(f"ops.scatter_nd_{kind.lower()}", param(f32(4, 2, low=low)), ROWS, f32(3, 2, low=low))
    call(
        f"ops.scatter_{kind.lower()}",
        param(f32(4, 2, low=low)),
        of([0, 2, 0], "int32"),
        f32(3, 2, low=low, seed=1),
    )
    made(f"ops.ScatterNd{kind}")(param(f32(4, 2, low=low)), ROWS, f32(3, 2, low=low, seed=1))
    made(f"ops.Scatter{kind}")(
        param(f32(4, 2, low=low)), of([0, 2, 0], "int32"), f32(3, 2, low=low)
    )
    call(
        f"ops.scatter_{kind.lower()}",
        param(f32(4, 2, low=low)),
        of([0, 4], "int32"),
        f32(2, 2, low=low),
    )
call(
    "ops.scatter_div", param(i32(4, low=10, high=99)), of([0, 2, 0], "int32"), i32(3, low=2, high=4)
)
for name in "mul div".split():
    call(f"ops.tensor_scatter_{name}", f32(4, 2, low=0.5), ROWS, f32(3, 2, low=0.5))
    made(f"ops.TensorScatter{name.title()}")(
        f32(4, 2, low=0.5), of([[0], [1], [3]], "int32"), f32(3, 2, low=0.5)
    )
SEGMENTS = of([0, 0, 2], "int32")


def segments(name: str) -> Any:
    """The slices that share a segment joined by a function of NumPy's; what has no slices is filled."""

    def join(x: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
        limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        empty = {"max": limits.min, "min": limits.max, "prod": 1}[name]
        parts = [x[ids == i] for i in range(count)]
        function = getattr(np, name)
        return np.stack(
            [function(p, 0) if len(p) else np.full(x.shape[1:], empty) for p in parts]
        ).astype(x.dtype)

    return join


for (
    name
) in "max min prod".split():  # with references: no wild calls, some of which would take all memory
    call(f"ops.unsorted_segment_{name}", f32(3, 2), SEGMENTS, 4, ref=segments(name))
    call(f"ops.unsorted_segment_{name}", i32(3, 2), of([1, -1, 1], "int32"), 2, ref=segments(name))
    made(f"ops.UnsortedSegment{name.title()}")(f32(3, 2), SEGMENTS, 3, ref=segments(name))
for name in "Sum Prod Max Min Mean".split():
    made(f"ops.Segment{name}")(f32(3, 2), of([0, 0, 2], "int64"))
    made(f"ops.Segment{name}")(f32(3), of([1, 2, 2], "int32"))
call("ops.sparse_segment_mean", f32(4, 2), of([0, 3, 1], "int32"), SEGMENTS)
call("ops.sparse_segment_mean", f32(4, 2), of([0, 3], "int32"), SEGMENTS)

for name in "inplace_add inplace_sub inplace_update".split():
    call(f"ops.{name}", f32(3, 2), f32(2, 2, seed=1), (0, 2))
    call(f"ops.{name}", f32(3, 2), f32(1, 2, seed=1), 1)
    call(f"ops.{name}", f32(3, 2), f32(2, 2, seed=1), (0, 3))
made("ops.InplaceAdd", (0, 1))(f32(3, 2), f32(2, 2, seed=1))
made("ops.InplaceSub", (0, 1))(f32(3, 2), f32(2, 2, seed=1))
made("ops.InplaceUpdate", (0, 1))(f32(3, 2), f32(2, 2, seed=1))
made("ops.InplaceUpdateV2")(f32(3, 2), (0, 1), f32(2, 2, seed=1))
made("ops.InplaceIndexAdd", 0)(param(f32(3, 2)), of([0, 1], "int32"), f32(2, 2, seed=1))
call("ops.inplace_index_add", param(f32(3, 2)), of([0, 1], "int32"), f32(3, 2, seed=1), 1)
made("ops.ScatterAddWithAxis", 1)(param(f32(2, 3)), of([[0], [1]], "int32"), f32(2, 1))
made("ops.IndexPut")(f32(2, 3), of([9.0]), [of([0, 0], "int32"), of([0, 1], "int32")])
made("ops.IndexPut", 1)(f32(2, 3), of([9.0]), [of([0, 0], "int32"), of([1, 1], "int32")])
made("ops.IndexFill")(f32(2, 3), 1, of([0, 2], "int32"), of(9.0))
made("ops.MaskedScatter")(f32(4), b1(4), f32(4, seed=1))
made("ops.FillDiagonal", 9.0)(f32(3, 3))
made("ops.FillDiagonal", 9.0, True)(f32(7, 3))
made("ops.SparseGatherV2")(f32(4, 2), of([1, 3], "int32"), 0, ref=lambda x, i, a: x[i])
made("ops.EmbeddingLookup")(f32(4, 2), of([[5, 2], [3, 9]], "int32"), 2)
made("ops.SparseToDense")(of([[0, 1], [1, 2]], "int64"), f32(2), (3, 4))
made("ops.CopyWithSlice")(param(f32(2, 2)), f32(2, 2, seed=1))
made("ops.Fills")(f32(2, 2), 5.0, ref=lambda x, v: x * 0 + 5)
call("ops.fills", i32(2, 2), 5.7, ref=lambda x, v: x * 0 + 5)
made("ops.FillV2")((2, 3), of(4, "int32"), ref=lambda shape, x: np.full(shape, x))
made("ops.FillV2")((2, 3), f32(1), ref=lambda shape, x: np.full(shape, x))
made("ops.IdentityN")([f32(2), i32(2)])
call("ops.accumulate_n", [f32(2), f32(2, seed=1)], ref=lambda x: x[0].value + x[1].value)
made("ops.AccumulateNV2")([f32(2), f32(2, seed=1)], ref=lambda x: x[0].value + x[1].value)
made("ops.Expand")(f32(2, 1), of([2, 3], "int64"))
call("ops.expand_as", f32(2, 1), f32(2, 3))
call("ops.expand_as", f32(2, 2), f32(2, 3))
call("ops.view_as", f32(2, 3), f32(3, 2))
call("ops.tensor_slice", f32(4, 3), (1, 0), (2, 2))
made("ops.RaggedRange", at("int64"))(
    of([2, 5, 8], "int64"), of([3, 5, 12], "int64"), of([1, 1, 1], "int64")
)
call("ops.put_", f32(2, 3), of([0, 4], "int64"), f32(2, seed=1), torch="Tensor.put_")
call("ops.gather_nd", f32(2, 3), i64(2, 1, low=0, high=1))
