"""Calls of Tensor methods that give a changed copy."""

import numpy as np
from differential.calllib import call, case, f32, i32, of

call(
    "Tensor.index",
    f32(3, 4),
    (of([0, 2], "int64"), of([1, 3], "int64")),
    ref=lambda x, i: x[[0, 2], [1, 3]],
)
call("Tensor.index", f32(3, 4), (of([2, 0, 2], "int64"),), ref=lambda x, i: x[[2, 0, 2]])
call("Tensor.index_put", f32(3, 4), (of([0, 2], "int64"), of([1, 3], "int64")), f32(2))
call("Tensor.index_put", f32(3, 4), (of([0, 0], "int64"), of([1, 1], "int64")), f32(2), True)
call("Tensor.index_put", f32(3, 4), (of([0, 9], "int64"), of([1, 1], "int64")), f32(2))
call("Tensor.index_put", f32(3, 4), of([0, 1], "int64"), f32(2))
call("Tensor.fill_diagonal", f32(3, 4), 7.0)
call("Tensor.fill_diagonal", f32(7, 3), 1.5, wrap=True)
call("Tensor.fill_diagonal", f32(3, 3, 3), 1.5)
call("Tensor.fill_diagonal", f32(3), 1.5)
call("Tensor.fill_diagonal", f32(2, 3, 3), 1.5)
call("Tensor.inplace_update", f32(3, 2), f32(1, 2), 1)
call("Tensor.inplace_update", f32(3, 2), f32(2, 2), (2, 0))
call("Tensor.inplace_update", f32(3, 2), f32(1, 2), of([1], "int32"))
call("Tensor.inplace_update", f32(3, 2), f32(1, 2), 5)
call("Tensor.masked_scatter", f32(2, 3), of([[True, False, True]] * 2, "bool"), f32(5))
call("Tensor.masked_scatter", f32(2, 3), of([True, False, True], "bool"), f32(4))
call("Tensor.masked_scatter", f32(2, 3), f32(2, 3), f32(6))


def _kth(x, k, dim=-1, keepdim=False):
    """What the reference documents, and runs on other devices alone."""
    place = np.take(np.argsort(x, dim, kind="stable"), [k - 1], dim)
    found = (np.take_along_axis(x, place, dim), place)
    return found if keepdim else tuple(np.squeeze(y, dim) for y in found)


call("Tensor.kthvalue", f32(2, 5), 2, ref=_kth)
call("Tensor.kthvalue", f32(2, 5), 1, 0, True, ref=_kth)
call("Tensor.kthvalue", i32(6), 6, 0, True, ref=_kth)
call("Tensor.kthvalue", f32(2, 5), 6)
call("Tensor.reverse_sequence", f32(2, 3), of([1, 2], "int32"), 1)
call(
    "Tensor.reverse_sequence", f32(2, 3), of([1, 2, 1], "int64"), seq_dim=0, batch_dim=1, grad=True
)
call("Tensor.reverse_sequence", f32(2, 3), of([1, 2, 1], "int64"))
for name in ("div", "max", "min", "mul", "sub"):
    call(f"Tensor.scatter_{name}", f32(2, 3), of([[0, 0], [0, 0], [1, 1]], "int32"), f32(3, low=1))
    call(f"Tensor.scatter_{name}", f32(2, 3), of([[0], [1]], "int64"), f32(2, 3, low=1))
    call(f"Tensor.scatter_{name}", f32(2, 3), of([[0], [1]], "int64"), f32(2, 2))
call("Tensor.soft_shrink", f32(2, 3))
call("Tensor.soft_shrink", f32(2, 3), 1.5, grad=True)
call("Tensor.soft_shrink", f32(2, 3), -1.0)
for name in ("max", "min", "prod"):
    call(f"Tensor.unsorted_segment_{name}", f32(3, 2), of([0, 2, 0], "int32"), 3)
    call(f"Tensor.unsorted_segment_{name}", f32(3, 2), of([0, 2, 0], "int32"), 0)
    call(f"Tensor.unsorted_segment_{name}", f32(3, 2), of([0, 2], "int32"), 3)
call("Tensor.set_const_arg", f32(2))
call("Tensor.set_const_arg", f32(2), 3)
call("Tensor.assign_value_cpp", f32(2), f32(2, seed=1))


@case("Tensor.index_of_parent_")
def _(ms):
    x = ms.Tensor([1.0, 2.0])
    return (
        x.index_of_parent_,
        x.parent_tensor_,
        x.set_init_flag(True),
        x.set_cast_dtype(ms.float16),
        x,
    )


@case("Tensor.fill_diagonal")
def _(ms):
    x = ms.ops.zeros((3, 3))
    return x.fill_diagonal(2.0), x.masked_scatter(x == 0, ms.ops.ones(9)), x
