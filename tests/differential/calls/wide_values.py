"""Calls with numbers of middle and large size, where what is exact near zero may be off, and with complex ones."""

from differential.calllib import c64, c128, call, f16, f32, f64

MIDDLE, POSITIVE, LARGE = (
    f32(3, 4, low=-40, high=40),
    f32(3, 4, low=3, high=40),
    f32(3, 4, high=9e4),
)
HALF, DOUBLE = f16(3, 4, low=-300, high=300), f64(3, 4, low=-300, high=300)

for name in (
    "abs ceil cos erf erfc exp expm1 floor neg sigmoid sin sinh cosh tanh asinh atan square trunc round softsign logsigmoid"
).split():
    call(f"ops.{name}", MIDDLE)
    call(f"ops.{name}", DOUBLE)
for name in "sin cos tan atan square asinh floor".split():
    call(f"ops.{name}", LARGE)
for name in "log log1p log2 log10 sqrt rsqrt reciprocal lgamma digamma acosh".split():
    call(f"ops.{name}", POSITIVE)
for name in "gelu silu elu mish softplus hardtanh".split():
    call(f"ops.{name}", MIDDLE)
for name in "abs neg floor ceil sigmoid tanh".split():
    call(f"ops.{name}", HALF)
for name in "softmax log_softmax".split():
    call(f"ops.{name}", MIDDLE, -1)
    call(f"ops.{name}", LARGE, 0)
for name in "add sub mul div atan2 fmod remainder maximum minimum hypot floor_divide".split():
    call(f"ops.{name}", MIDDLE, POSITIVE)
    call(f"ops.{name}", LARGE, POSITIVE)
for name in "sum mean var std prod logsumexp cumsum".split():
    call(f"ops.{name}", MIDDLE, 1)
for name in "mean sum logsumexp".split():
    call(f"ops.{name}", LARGE, 1)

SMALL, OTHER = c64(3, 4), c64(3, 4, seed=1)
for name in (
    "abs angle real imag conj exp log log1p sin cos tan sinh cosh tanh asinh atan asin acos sqrt square reciprocal neg rsqrt expm1"
).split():
    call(f"ops.{name}", SMALL)
    call(f"ops.{name}", c128(3, 4, low=-20, high=20))
for name in "add sub mul div pow".split():
    call(f"ops.{name}", SMALL, OTHER)
    call(f"ops.{name}", SMALL, f32(3, 4, seed=2))
call("ops.matmul", SMALL, c64(4, 3))
call("ops.sum", SMALL, 0)
call("ops.mean", SMALL, 1)
call("ops.prod", SMALL, 1)
call("ops.cumsum", SMALL, 1)
call("ops.matmul", c128(3, 4), c128(4, 3))
