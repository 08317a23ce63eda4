"""Calls of layers without state: activations, pools, pads, shapes, and of dense layers, convolutions and norms."""

import numpy as np
from differential.calllib import at, b1, case, f16, f32, f64, i32, i64, made, of, value_of

ROWS, IMAGES, VOLUMES, SEQUENCES = f32(3, 4), f32(2, 4, 6, 6), f32(1, 2, 4, 5, 6), f32(2, 4, 9)

# ---- activations ------------------------------------------------------------------------------
for name in (
    "ReLU ReLU6 Sigmoid Tanh GELU FastGelu ELU SeLU CELU HSwish HSigmoid LogSigmoid SiLU Mish Softsign Softmax LogSoftmax Softmin "
    "Hardtanh HShrink SoftShrink Tanhshrink LeakyReLU PReLU GLU"
).split():
    made(f"nn.{name}")(ROWS, grad=True)
    made(f"nn.{name}")(IMAGES)
    made(f"nn.{name}")(f16(2, 4))
    made(f"nn.{name}")([1.0, "a"])
    made(f"nn.{name}", "a")(ROWS)
made("nn.GELU", False)(ROWS, grad=True)
made("nn.GELU", approximate=True)(f64(3))
made("nn.ELU", 0.5)(ROWS)
made("nn.ELU", 1.0)(f32(2, 3, 4), grad=True)
made("nn.CELU", 0.5)(ROWS, grad=True)
made("nn.CELU", 0.0)(ROWS)
made("nn.LeakyReLU", 0.3)(ROWS, grad=True)
made("nn.LeakyReLU", alpha=-0.2)(ROWS)
made("nn.LeakyReLU", 1.5)(ROWS)
made("nn.PReLU", 4, 0.5)(IMAGES, grad=True)
made("nn.PReLU", 4)(ROWS)
made("nn.PReLU", 3)(IMAGES)
made("nn.PReLU", 0)(ROWS)
made("nn.PReLU", 2, of([0.1, 0.2]))(f32(3, 2))
for axis in (0, 1, -1, (0, 1), 2, 1.0):
    made("nn.Softmax", axis)(ROWS)
    made("nn.LogSoftmax", axis)(ROWS)
made("nn.Softmin", 0)(ROWS)
made("nn.Softmin", axis=3)(ROWS)
made("nn.Softmax2d")(IMAGES, grad=True)
made("nn.Softmax2d")(f32(3, 2, 2))
made("nn.Softmax2d")(ROWS)
made("nn.Hardtanh", -0.5, 0.25)(ROWS, grad=True)
made("nn.Hardtanh", 0.5, 0.25)(ROWS)
made("nn.HShrink", 1.0)(ROWS, grad=True)
made("nn.SoftShrink", 1.0)(ROWS, grad=True)
made("nn.SoftShrink", -1.0)(ROWS)
made("nn.GLU", 0)(f32(4, 3), grad=True)
made("nn.GLU", axis=-2)(f32(2, 4, 3))
made("nn.GLU")(f32(2, 3))
made("nn.Threshold", 0.1, 20)(ROWS, grad=True)
made("nn.Threshold", 0, -1.5)(ROWS)
made("nn.Threshold", 0.1, "a")(ROWS)


def activation(name, **kwargs):
    """The activation of that name, used."""

    @case("nn.get_activation")
    def program(ms):
        found = ms.nn.get_activation(name, **kwargs)
        return found if found is None else [type(found).__name__, found(ms.Tensor(ROWS.value))]


for name in (
    "softmax logsoftmax relu relu6 tanh gelu elu sigmoid prelu leakyrelu hswish hsigmoid logsigmoid softshrink hshrink silu swish "
    "fast_gelu nothing"
).split():
    activation(name)
activation(None)
activation("")
activation(3)
activation("softmax", prim_name="Softmax")

# ---- shapes and numbers -----------------------------------------------------------------------
made("nn.Flatten")(IMAGES, grad=True)
made("nn.Flatten", 2)(IMAGES)
made("nn.Flatten", 0, 1)(IMAGES)
made("nn.Flatten", start_dim=-2)(IMAGES)
made("nn.Flatten", 3, 1)(IMAGES)
made("nn.Flatten", 1.0)(IMAGES)
made("nn.Flatten")(f32())
made("nn.Identity")(ROWS, grad=True)
made("nn.Identity", 3)(ROWS)
made("nn.OneHot", -1, 5)(i32(2, 3, low=0, high=5))
made("nn.OneHot", 0, 5, 0.5, -0.5, at("float32"))(i64(3, low=0, high=5))
made("nn.OneHot", 1, 3, dtype=at("float16"))(i32(2, 3, low=0, high=5))
made("nn.OneHot", 4, 5)(i32(2, 3, low=0, high=5))
made("nn.OneHot", -1, -2)(i32(2, 3, low=0, high=5))
made("nn.Range", 4)()
made("nn.Range", 1, 8, 3)()
made("nn.Range", 1.5, 0.0, -0.5)()
made("nn.Range", 0, 5, 0)()
made("nn.Range", "a")()
made("nn.Norm")(ROWS, grad=True)
made("nn.Norm", 1, True)(ROWS)
made("nn.Norm", (0, 2))(f32(2, 3, 4))
made("nn.Norm", 2)(ROWS)
made("nn.ReduceLogSumExp", 0)(ROWS, grad=True)
made("nn.ReduceLogSumExp", (0, 1), True)(ROWS)
made("nn.ReduceLogSumExp", 2)(ROWS)
for pair in ((0, True), (0, False), (None, None), (1, True), ((0, 1), False), (3, None), (0, 1)):
    made("nn.Moments", *pair)(ROWS)
made("nn.Moments", 1, True)(f16(3, 4))
made("nn.MatMul")(f32(2, 3), f32(3, 4), grad=True)
made("nn.MatMul", True)(f32(3, 2), f32(3, 4), grad=True)
made("nn.MatMul", False, True)(f32(5, 2, 3), f32(4, 3))
made("nn.MatMul")(f32(3), f32(3))
made("nn.MatMul")(f32(2, 3), f32(2, 3))
made("nn.MatMul", 1)(f32(2, 3), f32(3, 4))
for name in ("Tril", "Triu"):
    made(f"nn.{name}")(ROWS, grad=True)
    made(f"nn.{name}")(ROWS, 1)
    made(f"nn.{name}")(i32(2, 3, 4), -1)
    made(f"nn.{name}")(f32(3), 0)
    made(f"nn.{name}")(ROWS, 1.5)
made("nn.PixelShuffle", 2)(IMAGES, grad=True)
made("nn.PixelShuffle", 3)(IMAGES)
made("nn.PixelShuffle", 0)(IMAGES)
made("nn.PixelUnshuffle", 3)(IMAGES, grad=True)
made("nn.PixelUnshuffle", 4)(IMAGES)
made("nn.CentralCrop", 0.5)(IMAGES)
made("nn.CentralCrop", 0.7)(f32(3, 8, 9))
made("nn.CentralCrop", 1.0)(IMAGES)
made("nn.CentralCrop", 1.5)(IMAGES)
made("nn.CentralCrop", 0.5)(ROWS)
made("nn.ClipByNorm")(ROWS, f32(low=0.5), grad=True)
made("nn.ClipByNorm")(ROWS, of(100.0))
made("nn.ClipByNorm", 1)(ROWS, of([1.0]))
made("nn.ClipByNorm", (0, 1))(f32(2, 3, 4), of(0.5))
made("nn.ClipByNorm", 3)(ROWS, of(0.5))
made("nn.ClipByNorm")(b1(3), of(0.5))
made("nn.SparseToDense")(ROWS)
for size in (2, (3, 4)):
    made("nn.AdaptiveAvgPool2d", size)(IMAGES, grad=True)
made("nn.AdaptiveAvgPool2d", (None, 3))(IMAGES)
made("nn.AdaptiveAvgPool2d", 3)(f32(4, 6, 6))
made("nn.AdaptiveAvgPool2d", (1, 2, 3))(IMAGES)
made("nn.AdaptiveAvgPool1d", 3)(SEQUENCES, grad=True)
made("nn.AdaptiveAvgPool1d", 3)(f32(4, 9))
made("nn.AdaptiveAvgPool1d", 0)(SEQUENCES)

# ---- pools and pads ---------------------------------------------------------------------------
for name in ("MaxPool2d", "AvgPool2d"):
    made(f"nn.{name}")(IMAGES)
    made(f"nn.{name}", 3, 2)(IMAGES, grad=True)
    made(f"nn.{name}", 3, 2, "same")(IMAGES, grad=True)
    made(f"nn.{name}", (2, 3), (1, 2), "valid")(IMAGES)
    made(f"nn.{name}", 3, 2, "pad", 1)(IMAGES, grad=True)
    made(f"nn.{name}", 3, 2, "pad", (1, 0))(IMAGES)
    made(f"nn.{name}", 3, 2, "pad", 1, ceil_mode=True)(IMAGES)
    made(f"nn.{name}", 3)(f32(4, 6, 6))
    made(f"nn.{name}", 2, 2, data_format="NHWC")(IMAGES)
    made(f"nn.{name}", 7, 1)(IMAGES)
    made(f"nn.{name}", 3, 2, "most")(IMAGES)
    made(f"nn.{name}", 3, 2, "valid", 1)(IMAGES)
    made(f"nn.{name}", 0)(IMAGES)
    made(f"nn.{name}", 3, 2, "same")(ROWS)
made("nn.MaxPool2d", 2, 2, "pad", 0, 2, True)(IMAGES)
made("nn.MaxPool2d", 2, 1, "pad", dilation=2)(IMAGES)
made("nn.MaxPool2d", 2, 2, return_indices=True)(IMAGES)
made("nn.AvgPool2d", 3, 2, "pad", 1, count_include_pad=False)(IMAGES, grad=True)
made("nn.AvgPool2d", 3, 2, "pad", 1, divisor_override=5)(IMAGES)
made("nn.AvgPool2d", 3, 2, "pad", 1, divisor_override=0)(IMAGES)
for name in ("MaxPool1d", "AvgPool1d"):
    made(f"nn.{name}", 3, 2)(SEQUENCES, grad=True)
    made(f"nn.{name}", 3, 2, "same")(SEQUENCES)
    made(f"nn.{name}", 3, 2, "pad", 1)(SEQUENCES)
    made(f"nn.{name}", 3, 1)(f32(4, 9))
    made(f"nn.{name}", 3, 0)(SEQUENCES)
    made(f"nn.{name}", 10)(SEQUENCES)
made("nn.MaxPool1d", 3, 2, "pad", 1, 2, True, True)(SEQUENCES)
made("nn.AvgPool1d", 3, 2, "pad", 1, True, False)(SEQUENCES)
for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
    made("nn.Pad", ((1, 1), (2, 2)), mode)(ROWS, grad=True)
    made("nn.Pad", ((0, 1), (2, 0)), mode)(i32(3, 4))
made("nn.Pad", ((0, 0), (0, 0), (1, 2), (2, 1)))(IMAGES)
made("nn.Pad", ((1, 1),))(ROWS)
made("nn.Pad", ((1, 1), (2, -2)))(ROWS)
made("nn.Pad", ((1, 1), (2, 2)), "EDGE")(ROWS)
made("nn.ZeroPad2d", 1)(IMAGES, grad=True)
made("nn.ZeroPad2d", (1, 0, -1, 2))(IMAGES)
made("nn.ZeroPad2d", (1, 0))(IMAGES)
made("nn.LRN")(IMAGES, grad=True)
made("nn.LRN", 2, 1.0, 0.5, 0.75)(IMAGES)
made("nn.LRN", norm_region="WITHIN_CHANNEL")(IMAGES)
made("nn.LRN", 2.5)(IMAGES)
for name, value in (("Dropout1d", SEQUENCES), ("Dropout2d", IMAGES), ("Dropout3d", VOLUMES)):
    made(f"nn.{name}", 0.3)(value)
    made(f"nn.{name}", 1.3)(value)
made("nn.Dropout", 0.3)(ROWS)
made("nn.Dropout", p=0.3)(ROWS)
made("nn.Dropout", p=1.0)(ROWS)
made("nn.Dropout", -0.5)(ROWS)
made("nn.Dropout", 1.5)(ROWS)
made("nn.Dropout")(ROWS)
made("nn.Dropout", 0.5, 0.5, at("float32"))(ROWS)


def dropped(name, value, *args, **kwargs):
    """What is dropped while training: all of a channel or nothing, and the rest is scaled."""

    @case(f"nn.{name}")
    def program(ms):
        layer = getattr(ms.nn, name)(*args, **kwargs).set_train()
        given = ms.Tensor(value.value)
        result = layer(given).asnumpy() / value.value
        levels = sorted({round(float(x), 4) for x in result.reshape(-1)})
        apart = result.reshape(*value.value.shape[:2], -1)
        whole = bool((apart.max(-1) == apart.min(-1)).all()) if name != "Dropout" else False
        return [levels, whole]


dropped("Dropout", f32(40, 40, low=0.5), p=0.2)
dropped("Dropout", f32(40, 40, low=0.5), 0.8)
dropped("Dropout", f32(40, 40, low=0.5), p=0.0)
dropped("Dropout1d", f32(20, 20, 4, low=0.5, high=0.5), 0.2)
dropped("Dropout2d", f32(20, 20, 4, 2, low=0.5, high=0.5), 0.2)
dropped("Dropout3d", f32(20, 20, 2, 2, 2, low=0.5, high=0.5), 0.2)

# ---- dense layers, convolutions, embeddings ---------------------------------------------------
made("nn.Dense", 4, 5)(ROWS, grad=True)
made("nn.Dense", 4, 5)(f32(2, 3, 4), grad=True)
made("nn.Dense", 4, 5, has_bias=False)(ROWS)
made("nn.Dense", 4, 5, activation="relu")(ROWS, grad=True)
made("nn.Dense", 4, 5, activation=at("nn.ReLU"))(ROWS)
made("nn.Dense", 4, 5, "ones", "zeros", dtype=at("float16"))(f16(3, 4))
made("nn.Dense", 4, 5, f32(5, 4), f32(5))(ROWS)
made("nn.Dense", 4, 5, f32(4, 5))(ROWS)
made("nn.Dense", 4, 5, "ones", f32(4))(ROWS)
made("nn.Dense", 3, 5)(ROWS)
made("nn.Dense", 0, 5)(ROWS)
made("nn.Dense", 4, 2.5)(ROWS)
made("nn.Dense", 4, 5, activation="most")(ROWS)
made("nn.Dense", 4, 5)(f32(4))
made("nn.Dense", 4, 5)(i32(3, 4))
for mode, padding in (("same", 0), ("valid", 0), ("pad", 1), ("pad", (0, 1, 2, 1))):
    made("nn.Conv2d", 4, 6, 3, 2, mode, padding)(IMAGES, grad=True)
    made("nn.Conv2d", 4, 6, (2, 3), pad_mode=mode, padding=padding, dilation=2)(IMAGES)
made("nn.Conv2d", 4, 6, 3, group=2, has_bias=True)(IMAGES, grad=True)
made("nn.Conv2d", 4, 4, 3, group=4)(IMAGES, grad=True)
made("nn.Conv2d", 4, 6, 3, group=3)(IMAGES)
made("nn.Conv2d", 4, 6, 3, data_format="NHWC")(IMAGES)
made("nn.Conv2d", 4, 6, 3, weight_init=f32(6, 4, 3, 3))(IMAGES)
made("nn.Conv2d", 4, 6, 3, weight_init=f32(6, 4, 3, 2))(IMAGES)
made("nn.Conv2d", 4, 6, 3, pad_mode="same", padding=1)(IMAGES)
made("nn.Conv2d", 4, 6, 3, pad_mode="most")(IMAGES)
made("nn.Conv2d", 4, 6, 0)(IMAGES)
made("nn.Conv2d", 4, 6, 3, stride=-1)(IMAGES)
made("nn.Conv2d", 3, 6, 3)(IMAGES)
made("nn.Conv2d", 4, 6, 8, pad_mode="valid")(IMAGES)
made("nn.Conv2d", 4, 6, 3)(ROWS)
for mode, padding in (("same", 0), ("valid", 0), ("pad", 1)):
    made("nn.Conv1d", 4, 6, 3, 2, mode, padding)(SEQUENCES, grad=True)
    made("nn.Conv1dTranspose", 4, 3, 3, 2, mode, padding)(SEQUENCES, grad=True)
    made("nn.Conv2dTranspose", 4, 3, 3, 2, mode, padding)(IMAGES, grad=True)
    made("nn.Conv2dTranspose", 4, 3, (2, 3), (1, 2), mode, padding, has_bias=True)(IMAGES)
made("nn.Conv1d", 4, 6, 3, dilation=2, group=2, has_bias=True)(SEQUENCES)
made("nn.Conv1d", 4, 6, 3, 1, "pad", (1, 2))(SEQUENCES)
made("nn.Conv1d", 4, 6, 0)(SEQUENCES)
made("nn.Conv1d", 4, 6, 3)(IMAGES)
made("nn.Conv1d", 4, 6, (3,))(SEQUENCES)
made("nn.Conv1dTranspose", 4, 6, 3, dilation=2, group=2)(SEQUENCES)
made("nn.Conv1dTranspose", 4, 6, 3)(IMAGES)
made("nn.Conv2dTranspose", 4, 6, 3, 2, "pad", 1, 1)(IMAGES)
made("nn.Conv2dTranspose", 4, 6, 3, 2, "pad", 1, (1, 0), dilation=2, group=2)(IMAGES)
made("nn.Conv2dTranspose", 4, 6, 3, 2, "same", 0, 1)(IMAGES)
made("nn.Conv2dTranspose", 4, 6, 3, 2, "pad", (1, 0, 2, 1))(IMAGES)
made("nn.Conv2dTranspose", 4, 6, 0)(IMAGES)
made("nn.Conv2dTranspose", 3, 6, 3)(IMAGES)
made("nn.Conv2dBnAct", 4, 6, 3)(IMAGES)
made("nn.Conv2dBnAct", 4, 6, 3, has_bn=True, activation="relu")(IMAGES, tol=1e-4)
made("nn.Conv2dBnAct", 4, 6, 3, 2, "pad", 1, has_bias=True, activation="leakyrelu", alpha=0.3)(
    IMAGES
)
made("nn.Conv2dBnAct", 4, 6, 3, has_bn=1)(IMAGES)
made("nn.DenseBnAct", 4, 5)(ROWS)
made("nn.DenseBnAct", 4, 5, has_bn=True, activation="relu")(ROWS)
made("nn.DenseBnAct", 4, 5, activation="leakyrelu", alpha=0.3, after_fake=False)(ROWS)
made("nn.DenseBnAct", 4, 5, has_bn=1)(ROWS)
made("nn.Embedding", 5, 3)(i32(2, 3, low=0, high=5))
made("nn.Embedding", 5, 3, True)(i64(2, 3, low=0, high=5))
made("nn.Embedding", 5, 3, padding_idx=1)(i32(2, 3, low=0, high=5))
made("nn.Embedding", 5, 3, False, f32(5, 3))(i32(4, low=0, high=5))
made("nn.Embedding", 5, 3)(of([0, 7, 1], "int32"))
made("nn.Embedding", 5, 3, padding_idx=5)(i32(4, low=0, high=5))
made("nn.Embedding", 0, 3)(i32(4, low=0, high=5))
made("nn.Embedding", 5, 3)(ROWS)


# ---- norms ------------------------------------------------------------------------------------
def standard(x: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    """Each channel of each sample with mean 0 and deviation 1."""
    axes = tuple(range(2, x.ndim))
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def instance_normed(x: np.ndarray) -> np.ndarray:
    """Scaled and shifted by what a layer's parameters are filled with."""
    channels = (x.shape[1],)
    scale, shift = (
        value_of(n, channels).reshape(-1, *[1] * (x.ndim - 2)) for n in ("gamma", "beta")
    )
    return standard(x) * scale + shift


NORMED = {"1d": ROWS, "2d": IMAGES}
for rank, value in NORMED.items():
    made(f"nn.BatchNorm{rank}", 4)(value, grad=True)
    made(f"nn.BatchNorm{rank}", 4, 1e-3, 0.5, False)(value)
    made(f"nn.BatchNorm{rank}", 4, use_batch_statistics=True)(value, grad=True, tol=1e-4)
    made(f"nn.BatchNorm{rank}", 4, use_batch_statistics=False)(value)
    made(f"nn.BatchNorm{rank}", 3)(value)
    made(f"nn.BatchNorm{rank}", 0)(value)
    made(f"nn.BatchNorm{rank}", 4, momentum=1.5)(value)
    made(f"nn.BatchNorm{rank}", 4)(VOLUMES)
made("nn.BatchNorm1d", 4)(SEQUENCES)
made("nn.BatchNorm2d", 6, data_format="NHWC")(IMAGES)
made("nn.BatchNorm3d", 2)(VOLUMES, grad=True)
made("nn.BatchNorm3d", 2, use_batch_statistics=True)(VOLUMES, tol=1e-4)
made("nn.BatchNorm3d", 2)(IMAGES)
made("nn.SyncBatchNorm", 0)(IMAGES)
made("nn.LayerNorm", (4,))(ROWS, grad=True)
made("nn.LayerNorm", (6, 6), 2, 2)(IMAGES, grad=True)
made("nn.LayerNorm", [4], epsilon=0.1)(f32(2, 3, 4))
made("nn.LayerNorm", (4,), -1, -1, "zeros", "ones")(ROWS)
made("nn.LayerNorm", 4)(ROWS)
made("nn.LayerNorm", (3,))(ROWS)
made("nn.LayerNorm", ())(ROWS)
made("nn.GroupNorm", 2, 4)(IMAGES, grad=True)
made("nn.GroupNorm", 4, 4, 0.1, False)(IMAGES)
made("nn.GroupNorm", 3, 4)(IMAGES)
made("nn.GroupNorm", 2, 4)(ROWS)
for rank, value, channels in (("1d", SEQUENCES, 4), ("2d", IMAGES, 4), ("3d", VOLUMES, 2)):
    made(f"nn.InstanceNorm{rank}", channels)(value, ref=instance_normed)

    made(f"nn.InstanceNorm{rank}", 0)(value)
    made(f"nn.InstanceNorm{rank}", channels, momentum=1.5)(value)


def trained(name, value, *args, steps=2, **kwargs):
    """The results and statistics of a norm that is trained."""

    @case(f"nn.{name}", tol=1e-4)
    def program(ms):
        layer = getattr(ms.nn, name)(*args, **kwargs).set_train()
        results = [layer(ms.Tensor(value.value * (i + 1))) for i in range(steps)]
        kept = {p.name: p for p in layer.get_parameters()}
        return [results, kept, layer.set_train(False)(ms.Tensor(value.value))]


for rank, value in NORMED.items():
    trained(f"BatchNorm{rank}", value, 4)
    trained(f"BatchNorm{rank}", value, 4, momentum=0.1)
    trained(f"BatchNorm{rank}", value, 4, use_batch_statistics=False)
    trained(f"BatchNorm{rank}", value, 4, affine=False)
trained("BatchNorm3d", VOLUMES, 2)
trained("LayerNorm", ROWS, (4,))
