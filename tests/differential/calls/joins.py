"""Calls that join and cut tensors."""

from differential.calllib import at, b1, call, f16, f32, i32, made

call("ops.hstack", [f32(2), f32(3)])
call("ops.hstack", [f32(2, 1), i32(2, 3)])
call("ops.split", f32(5, 2), 2, grad=True)
call("ops.split", f32(5, 2), [2, 3], 0)
call("ops.split", f32(5, 2), 0)
call("ops.where", b1(2, 3), f16(2, 3), f16(2, 3, seed=1))
call("ops.full", (2, 3), 1.5, dtype=at("float16"))
made("ops.Concat", 1)((f32(2, 1), f32(2, 3)))
made("ops.Concat", 2)((f32(2, 1), f32(2, 3)))
