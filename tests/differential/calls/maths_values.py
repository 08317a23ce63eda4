"""Calls of functions of Python values, of what looks at values, and of other names of functions."""

from differential.calllib import at, call, f16, f32, i32, made, of

NAN = float("nan")
for name in "add sub mul div floordiv mod pow max min eq lt le gt ge".split():
    call(f"ops.scalar_{name}", 7, 2)
    call(f"ops.scalar_{name}", -7.5, 2)
for name in "log uadd usub".split():
    call(f"ops.scalar_{name}", 7)
for name, args in {
    "tuple_getitem": ((1, 2), 1),
    "tuple_setitem": ((1, 2), 1, 5),
    "list_getitem": ([1, 2], 1),
    "list_setitem": ([1, 2], 0, 7),
    "list_len": ([1],),
    "tuple_div": ((4, 6), (2, 3)),
    "tuple_equal": ((1, 2), (1, 2)),
    "list_equal": ([1], [1]),
    "tuple_reversed": ((1, 2),),
    "dict_getitem": ({"a": 1}, "a"),
    "make_tuple": (1, 2),
    "make_list": (1, 2),
    "is_": (1, 1),
    "is_not": (1, 1),
    "in_dict": ("a", {"a": 1}),
    "not_in_dict": ("a", {"a": 1}),
    "shape_mul": ((2, 3),),
    "reduced_shape": ((2, 3), (1,)),
    "broadcast_gradient_args": ((2, 3), (3,)),
    "hyper_add": ((1, 2), (3, 4)),
    "augassign_add": (1, 2),
    "scalar_cast": (255.7, at("int64")),
}.items():
    call(f"ops.{name}", *args)
call("ops.broadcast_gradient_args", (2, 1, 3), (4, 3))
call("ops.scalar_cast", 2, at("bool_"))
made("ops.ScalarCast")(255.7, at("int64"))
call(
    "ops.tensor_range",
    of(0, "int32"),
    of(5, "int32"),
    of(2, "int32"),
    ref=lambda *a: of([0, 2, 4], "int64").value,
)
call("ops.mixed_precision_cast", at("float16"), f32(2))
call("ops.dyn_shape", f32(2, 3))
call("ops.shape_", f32(2, 3))
call("ops.deepcopy", f32(2, 3))
call("ops.is_nonzero", of(1, "int32"))
call("ops.floordiv", i32(3), i32(3, low=1, seed=1))
call("ops.floormod", i32(3), i32(3, low=1, seed=1))

made("ops.CheckNumerics")(f32(2))
made("ops.CheckNumerics")(of([1.0, NAN]))
made("ops.FloatStatus")(of([1.0, NAN]), ref=lambda x: of([1.0]).value)
made("ops.FloatStatus")(of([1.0, float("inf")]), ref=lambda x: of([1.0]).value)
made("ops.FloatStatus")(f16(2, 3), ref=lambda x: of([0.0]).value)
made("ops.NPUAllocFloatStatus")(ref=lambda: of([0.0] * 8).value)
made("ops.NPUGetFloatStatus")(f32(8), ref=lambda x: x * 0)
made("ops.NPUClearFloatStatus")(f32(8), ref=lambda x: x * 0)
