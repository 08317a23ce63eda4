"""Calls of Tensor methods on a tensor as a whole, and what it says of its memory."""

from differential.calllib import at, call, case, f32, i32, of

for name in ("H", "mH", "mT", "adjoint"):
    call(f"Tensor.{name}", f32(2, 3))
    call(f"Tensor.{name}", f32(3))
    call(f"Tensor.{name}", f32(2, 2, 3))
call("Tensor.reshape_as", f32(2, 3), f32(3, 2))
call("Tensor.reshape_as", f32(2, 3), f32(3, 3))
call("Tensor.sum_to_size", f32(2, 3), 1, 3)
call("Tensor.sum_to_size", f32(2, 3), (2, 1))
call("Tensor.sum_to_size", f32(4, 2, 3), (2, 1), grad=True)
call("Tensor.sum_to_size", f32(2, 3), 3, 3)
call("Tensor.allclose", f32(2, 3), f32(2, 3))
call("Tensor.allclose", f32(2, 3), f32(2, 3, seed=1))
call("Tensor.allclose", of([1.0, float("nan")]), of([1.0, float("nan")]), equal_nan=True)
call("Tensor.bitwise_not", i32(2, 3), torch="bitwise_not")
call("Tensor.bitwise_not", of([True, False], "bool"), torch="bitwise_not")
call("Tensor.bitwise_not", f32(2, 3), torch="bitwise_not")
call("Tensor.top_k", f32(2, 5), 3)
call("Tensor.top_k", f32(2, 5), 6)
call("Tensor.reverse", f32(2, 3), (0,))
call("Tensor.reverse", f32(2, 3), (0, 1))
call("Tensor.reverse", f32(2, 3), (2,))
call("Tensor.new_empty", f32(2, 3), (2,), shape_only=True)
call("Tensor.new_full", f32(2, 3), (2, 2), 1.5, torch="Tensor.new_full")
call("Tensor.new_full", f32(2, 3), (2, 2), 2, dtype=at("int32"), torch="Tensor.new_full")
call("Tensor.uniform", f32(2, 3), shape_only=True)
call("Tensor.log_normal", f32(2, 3), shape_only=True)
call("Tensor.cauchy", f32(2, 3), shape_only=True)
call("Tensor.random_categorical", f32(2, 3), 4, shape_only=True)
for name in (
    "nelement",
    "stride",
    "is_meta",
    "is_pinned",
    "is_shared",
    "is_init",
    "init_finished",
    "delta_seed",
):
    call(f"Tensor.{name}", f32(2, 3))
call("Tensor.stride", f32(2, 3), 1)
call("Tensor.stride", f32(2, 3), 2)
call("Tensor.storage_offset", f32(2, 3))
call("Tensor.set_dtype", f32(2, 3), at("float16"))
call("Tensor.offload_file_path", f32(2, 3))


@case("Tensor.convert_bytes_to_tensor")
def _(ms):
    """There and back."""
    x = ms.Tensor([[1.0, 2.0]], ms.float32)
    return ms.Tensor(ms.Tensor.convert_bytes_to_tensor(x.get_bytes(), (1, 2), ms.float32))


@case("Tensor.get_bytes")
def _(ms):
    return list(ms.Tensor([1, 2], ms.int16).get_bytes())


@case("Tensor.assign_value")
def _(ms):
    x = ms.Tensor([1.0, 2.0])
    x.assign_value(ms.Tensor([3.0, 4.0]))
    return x


@case("Tensor.requires_grad_")
def _(ms):
    p = ms.Parameter(ms.Tensor([1.0]), name="p")
    p.requires_grad_(False)
    return p.requires_grad


@case("Tensor.data_ptr")
def _(ms):
    x = ms.Tensor([1.0])
    return x.data_ptr() == x.data_ptr() != 0
