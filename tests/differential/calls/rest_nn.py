"""Calls of layers with later arguments, of casts, and of what trainings and parallel runs import."""

from differential.calllib import at, call, case, f16, f32, i32, made, of

for name, shape in (
    ("AvgPool1dExt", (2, 3, 8)),
    ("AvgPool2dExt", (1, 2, 6, 8)),
    ("AvgPool3dExt", (1, 2, 4, 6, 8)),
):
    plain = f"nn.{name[:-3]}"
    made(f"nn.{name}", 2)(f32(*shape), torch=plain)
    made(f"nn.{name}", 3, 2, 1, True, False)(f32(*shape), torch=plain)
    made(f"nn.{name}", kernel_size=2, stride=1, padding=1)(f32(*shape), torch=plain)
    made(f"nn.{name}", 2, 0)(f32(*shape), torch=plain)
made("nn.AvgPool2dExt", 2, divisor_override=3)(f32(1, 2, 6, 8), torch="nn.AvgPool2d")
made("nn.MaxPool2dExt", 2)(f32(1, 2, 6, 8), torch="nn.MaxPool2d")
made("nn.MaxPool2dExt", 3, 2, 1, 1, False, True)(f32(1, 2, 6, 8), torch="nn.MaxPool2d")
made("nn.MaxPool2dExt", 3, 2, padding=2)(f32(1, 2, 6, 8), torch="nn.MaxPool2d")
call("train.amp.amp_cast", f32(2, 3), at("float16"))
call("train.amp.amp_cast", i32(2, 3), at("float16"))
call("train.amp.amp_cast", f16(2), at("float32"))
call("train.amp.amp_cast", 3, at("float16"))
call("nn.layer.conv._check_input_3d", (1, 2, 3), "Net")
call("nn.layer.conv._check_input_3d", (1, 2), "Net")


@case("merge_sliced_parameter")
def _(ms):
    pieces = [
        ms.Parameter(ms.Tensor([[1.0], [2.0]]), name="w"),
        ms.Parameter(ms.Tensor([[3.0]]), name="w"),
    ]
    whole = ms.merge_sliced_parameter(pieces)
    return whole.name, whole.value(), whole.requires_grad


@case("merge_sliced_parameter")
def _(ms):
    """other names"""
    return ms.merge_sliced_parameter([ms.Parameter(ms.Tensor([1.0]), name=n) for n in "ab"])


call("merge_sliced_parameter", [])
call("merge_sliced_parameter", [of([1.0])])


@case("nn.wrap.loss_scale.shard_grad_scale")
def _(ms):
    total = ms.Parameter(ms.Tensor([4.0, 2.0]), name="total")
    scaled = ms.nn.wrap.loss_scale.shard_grad_scale(ms.Tensor(2.0), ms.Tensor([1.0, 1.0]), total)
    return scaled, total


@case("_Function")
def _(ms):
    ms.set_context(mode=ms.PYNATIVE_MODE)

    class Scaled(ms._Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            x, y = ctx.saved_tensors
            return gradient * y * 10, gradient * x

    def loss(x, y):
        return Scaled.apply(x, y).sum()

    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])
    return Scaled.apply(x, y), ms.grad(loss, (0, 1))(x, y)


@case("enable_dynamic")
def _(ms):
    def plus(x):
        return x + 1

    fast = ms.enable_dynamic(x=ms.Tensor(shape=[None, 2], dtype=ms.float32))(ms.jit(plus))
    return fast(ms.ops.ones((1, 2))), fast(ms.ops.ones((3, 2)))


@case("enable_dynamic")
def _(ms):
    """an argument that is not there"""
    return ms.enable_dynamic(y=ms.Tensor(shape=None, dtype=ms.float32))(ms.jit(lambda x: x))


call("enable_dynamic", x=3)


@case("float8_e4m3fn")
def _(ms):
    kinds = (ms.float8_e4m3fn, ms.float8_e5m2, ms.hifloat8, ms.qint4x2, ms._null)
    return [(str(kind), repr(kind)) for kind in kinds], isinstance(ms._null, ms._NullType)


@case("DeviceCtx")
def _(ms):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with ms.DeviceCtx("CPU"):
        return ms.ops.add(ms.Tensor([1.0]), 1)


@case("Parameter.add_pipeline_stage")
def _(ms):
    w = ms.Parameter(ms.Tensor([1.0]), name="w")
    return w.add_pipeline_stage(1), w
