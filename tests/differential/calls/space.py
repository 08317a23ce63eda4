"""Calls of convolution, pooling and folding over one to three dimensions, and of borders."""

import numpy as np
from differential.calllib import at, call, case, f16, f32, f64, i32, i64, made, of

X1, X2, X3 = f32(2, 4, 9), f32(2, 4, 6, 7), f32(2, 4, 5, 6, 7)
V = f32(1, 2, 4, 4, 5)

# ---- convolution ---------------------------------------------------------------------------------
made("nn.Conv3d", 4, 6, 3)(X3)
made("nn.Conv3d", 4, 6, (2, 3, 3), stride=2, pad_mode="valid", has_bias=True)(X3)
made("nn.Conv3d", 4, 6, 3, pad_mode="pad", padding=(1, 1, 0, 0, 2, 2), group=2)(X3)
made("nn.Conv3d", 2, 2, 2, stride=(1, 2, 1), dilation=1, pad_mode="same", has_bias=True)(
    V, grad=True
)
made("nn.Conv3d", 4, 6, 2, dilation=2, pad_mode="valid")(X3)
made("nn.Conv3d", 4, 6, 3, padding=1)(X3)
made("nn.Conv3d", 0, 6, 3)(X3)
made("nn.Conv3d", 4, 6, 3)(X2)
made("nn.Conv3dTranspose", 4, 6, 3, stride=2, has_bias=True)(X3)
made("nn.Conv3dTranspose", 4, 6, 3, stride=2, pad_mode="pad", padding=1, output_padding=1)(X3)
made("nn.Conv3dTranspose", 4, 6, 2, pad_mode="valid", group=2)(X3)
made("nn.Conv3dTranspose", 2, 3, 2, stride=2, pad_mode="valid")(V, grad=True)
made("nn.Conv3dTranspose", 4, 6, 3, output_padding=1)(X3)
made("nn.Conv3dTranspose", 4, 6, 3)(X2)
made("ops.Conv3D", 6, (2, 3, 3))(X3, f32(6, 4, 2, 3, 3))
made("ops.Conv3D", 6, 3, pad_mode="same", stride=2)(X3, f32(6, 4, 3, 3, 3))
made("ops.Conv3D", 6, 3, pad_mode="pad", pad=(0, 1, 1, 2, 0, 1))(X3, f32(6, 4, 3, 3, 3))
made("ops.Conv3D", 6, 3, group=2)(X3, f32(6, 2, 3, 3, 3))
made("ops.Conv3D", 3, 2)(V, f32(3, 2, 2, 2, 2), grad=True)
made("ops.Conv3D", 6, 3, pad_mode="pad", pad=(0, 1, 1))(X3, f32(6, 4, 3, 3, 3))
made("ops.Conv3D", 6, 3)(X3, f32(6, 3, 3, 3, 3))
made("ops.Conv3DTranspose", 4, 6, 3)(X3, f32(4, 6, 3, 3, 3))
made("ops.Conv3DTranspose", 4, 6, 3, stride=2, pad_mode="pad", pad=1, output_padding=1)(
    X3, f32(4, 6, 3, 3, 3)
)
made("ops.Conv3DTranspose", 4, 6, 3, stride=2, pad_mode="same")(X3, f32(4, 6, 3, 3, 3))
made("ops.Conv3DTranspose", 4, 6, 3, group=2)(X3, f32(4, 3, 3, 3, 3))
made("ops.Conv3DTranspose", 2, 3, 2)(V, f32(2, 3, 2, 2, 2), grad=True)
made("ops.Conv3DTranspose", 4, 6, 3)(X3, f32(3, 6, 3, 3, 3))
call("ops.conv3d", X3, f32(6, 4, 3, 3, 3), f32(6))
call("ops.conv3d", X3, f32(6, 4, 3, 3, 3), stride=2, pad_mode="pad", padding=1)
call("ops.conv3d", X3, f32(6, 4, 3, 3, 3), stride=2, pad_mode="pad", padding=(1, 0, 1))
call("ops.conv3d", X3, f32(6, 2, 2, 2, 2), pad_mode="same", groups=2, dilation=2)
call("ops.conv3d", V, f32(3, 2, 2, 2, 2), f32(3), grad=True)
call("ops.conv3d", X3, f32(6, 4, 3, 3))
call("ops.conv3d", X3, f32(6, 4, 3, 3, 3), stride=(1, 2))
call("ops.conv3d_transpose", X3, f32(4, 6, 3, 3, 3), stride=2)
call("ops.conv3d_transpose", V, f32(2, 3, 2, 2, 2), grad=True)
call("ops.conv3d_transpose", X3, f32(3, 6, 3, 3, 3))


def torch_of(name, *args, **kwargs):
    """A function of PyTorch on arrays."""

    def run(*arrays):
        import torch

        function = torch
        for part in name.split("."):
            function = getattr(function, part)
        made = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays]
        result = function(*made, *args, **kwargs)
        return [r.numpy() for r in result] if isinstance(result, tuple) else result.numpy()

    return run


F = "nn.functional."
call(
    "ops.conv_transpose2d",
    X2,
    f32(4, 6, 3, 3),
    stride=2,
    padding=1,
    output_padding=1,
    ref=torch_of(F + "conv_transpose2d", stride=2, padding=1, output_padding=1),
)
call(
    "ops.conv_transpose2d",
    X2,
    f32(4, 3, 3, 2),
    f32(6),
    2,
    (1, 0),
    0,
    2,
    2,
    ref=torch_of(F + "conv_transpose2d"),
)
call(
    "ops.conv3d_transpose",
    X3,
    f32(4, 3, 3, 3, 3),
    "pad",
    1,
    1,
    1,
    2,
    ref=lambda x, w, *_: torch_of(F + "conv_transpose3d", padding=1, groups=2)(x, w),
)
call("ops.conv_transpose2d", f32(4, 6, 7), f32(4, 6, 3, 3), ref=torch_of(F + "conv_transpose2d"))


def depthwise(x, w):
    """One filter and more for each channel."""
    filters = np.ascontiguousarray(w.transpose(1, 0, 2, 3)).reshape(-1, 1, *w.shape[2:])
    return torch_of(F + "conv2d", groups=x.shape[1])(x, filters)


made("ops.operations.DepthwiseConv2dNative", 1, 3)(X2, f32(1, 4, 3, 3), ref=depthwise)
made("ops.operations.DepthwiseConv2dNative", 3, (3, 2))(X2, f32(3, 4, 3, 2), ref=depthwise)


def dilated(stride=1, rate=1, same=False):
    """The largest sum of a filter and each window."""

    def run(x, w):
        _, kh, kw = w.shape
        pads = [(0, 0), (0, 0)]
        for n, k in zip(x.shape[2:], (kh, kw)):
            total = max(0, (-(-n // stride) - 1) * stride + (k - 1) * rate + 1 - n) if same else 0
            pads.append((total // 2, total - total // 2))
        x = np.pad(x, pads, constant_values=-np.inf)
        out = [(n - (k - 1) * rate - 1) // stride + 1 for n, k in zip(x.shape[2:], (kh, kw))]
        y = np.full((*x.shape[:2], *out), -np.inf, x.dtype)
        for i in range(kh):
            for j in range(kw):
                rows = slice(i * rate, i * rate + (out[0] - 1) * stride + 1, stride)
                columns = slice(j * rate, j * rate + (out[1] - 1) * stride + 1, stride)
                y = np.maximum(y, x[:, :, rows, columns] + w[:, i, j][None, :, None, None])
        return y

    return run


made("ops.Dilation2D", 1, 1)(X2, f32(4, 3, 3), ref=dilated(same=True))
made("ops.Dilation2D", 2, 1, pad_mode="VALID")(X2, f32(4, 3, 2), ref=dilated(2))
made("ops.Dilation2D", (1, 1, 2, 2), (1, 1, 2, 2))(X2, f32(4, 2, 3), ref=dilated(2, 2, True))
made("ops.DeformableOffsets", (1, 1, 1, 1), (0, 0, 0, 0), (3, 3))(f32(1, 4, 6, 6), f32(1, 27, 4, 4))
made("ops.DeformableOffsets", (1, 1, 2, 1), (1, 0, 1, 2), (2, 3), (1, 1, 2, 1), "NCHW", 2)(
    f32(1, 4, 6, 6), f32(1, 36, 3, 7)
)
call(
    "ops.deformable_conv2d",
    f32(1, 4, 6, 6),
    f32(5, 4, 3, 3),
    f32(1, 27, 4, 4),
    (3, 3),
    (1, 1, 1, 1),
    (0, 0, 0, 0),
    tol=1e-4,
)
call(
    "ops.deformable_conv2d",
    f32(1, 4, 6, 6),
    f32(5, 4, 3, 3),
    f32(1, 27, 6, 6, seed=1),
    (3, 3),
    (1, 1, 1, 1),
    (1, 1, 1, 1),
    f32(5),
    groups=1,
)

# ---- fixed windows -------------------------------------------------------------------------------
made("nn.MaxPool3d", 3, 2)(X3)
made("nn.MaxPool3d", 2, 2)(X3, grad=True)
made("nn.MaxPool3d", 3, 2, "same")(X3)
made("nn.MaxPool3d", 3, 2, "pad", 1, return_indices=True, ceil_mode=True)(X3)
made("nn.MaxPool3d", (2, 3, 2), (1, 2, 1), pad_mode="pad", padding=(1, 0, 1))(X3)
made("nn.MaxPool3d", 2, 1, pad_mode="pad", dilation=2)(X3)
made("nn.MaxPool3d", 3, 2)(f32(4, 5, 6, 7))
made("nn.MaxPool3d", 3, 2, padding=1)(X3)
made("nn.MaxPool3d", 8)(X3)
made("nn.AvgPool3d", 3, 2)(X3, grad=True)
made("nn.AvgPool3d", 3, 2, "same")(X3)
made("nn.AvgPool3d", 3, 2, "pad", 1, True, False)(X3)
made("nn.AvgPool3d", 3, 2, "pad", 1, True, False, 5)(X3)
made("nn.AvgPool3d", (2, 3, 2), (1, 2, 1), pad_mode="pad", padding=(1, 0, 1))(X3)
made("nn.AvgPool3d", 3, 2)(f32(4, 5, 6, 7))
made("nn.AvgPool3d", 3, 2, padding=1)(X3)
made("ops.MaxPool3D", 2, 2)(X3)
made("ops.MaxPool3D", 3, 2, "same")(X3)
made("ops.MaxPool3D", 3, 2, "pad", 1, True)(X3)
made("ops.MaxPool3D", 3, 2, "pad", (1, 0, 1, 1, 0, 1))(X3, grad=True)
made("ops.MaxPool3D", 3, 2, "valid", 1)(X3)
made("ops.AvgPool3D", 2, 2)(X3)
made("ops.AvgPool3D", 3, 2, "same")(X3)
made("ops.AvgPool3D", 3, 2, "same", count_include_pad=False)(X3)
made("ops.AvgPool3D", 3, 2, "pad", 1, True)(X3)
made("ops.AvgPool3D", 3, 2, "pad", (1, 0, 1, 1, 0, 1), True, False, 5)(X3, grad=True)
made("ops.AvgPool3D", 0)(X3)
made("ops.MaxPool3DWithArgmax", 2, 2, 0)(X3)
made("ops.MaxPool3DWithArgmax", 3, 2, 1, ceil_mode=True, argmax_type=at("int32"))(X3)
made("ops.MaxPool3DWithArgmax", 2, 1, 0, (2, 1, 2))(X3)
made("ops.MaxPool3DWithArgmax", 2, 2, 2)(X3)
made("ops.MaxPoolWithArgmaxV2", 3, 2, 1)(X2)
made("ops.MaxPoolWithArgmaxV2", 2, None, 0, (2, 2), True, at("int32"))(X2)
made("ops.MaxPoolWithArgmaxV2", (2, 3), (1, 2), (1, 1))(X2, grad=True)
made("ops.MaxPoolWithArgmaxV2", 3, 2, 1, argmax_type=at("float32"))(X2)
call("ops.max_pool3d", X3, 3, 2, 1, return_indices=True)
call("ops.max_pool3d", X3, 2, 2, 0, 2)
call("ops.max_pool3d", X3, (2, 3, 2), ceil_mode=True)
call("ops.max_pool3d", V, 2, grad=True)
call("ops.max_pool3d", X3, 3, 2, 2)
call("ops.avg_pool1d", X1, 3, 2, 1)
call("ops.avg_pool1d", X1, 4, 3, 1, True, False)
call("ops.avg_pool1d", X1, 3, 2, grad=True)
call("ops.avg_pool1d", X1, 0)
call("ops.avg_pool3d", X3, 3, 2, 1)
call("ops.avg_pool3d", X3, 3, 2, 1, True, False)
call("ops.avg_pool3d", X3, 3, 2, 1, True, False, 7)
call("ops.avg_pool3d", X3, 3, 2, (1, 0, 1, 1, 0, 1))
call("ops.avg_pool3d", V, (2, 1, 2), grad=True)
call("ops.avg_pool3d", X3, 3, 2, -1)

# ---- norms of windows ----------------------------------------------------------------------------
POSITIVE1, POSITIVE2 = f32(2, 4, 9, low=0.1), f32(2, 4, 6, 7, low=0.1)
call("ops.lp_pool1d", X1, 2, 3)
call("ops.lp_pool1d", POSITIVE1, 3.0, 4, 3, True)
call("ops.lp_pool1d", f32(4, 9, low=0.1), 2, 3, 2)
call("ops.lp_pool1d", X1, 0, 3)
call("ops.lp_pool2d", POSITIVE2, 1, (2, 3), 2)
call("ops.lp_pool2d", POSITIVE2, 2.0, 3, 2, True)
call("ops.lp_pool2d", POSITIVE2, 3.0, (2, 3), grad=True)
call("ops.lp_pool2d", X2, 2, 0)
made("nn.LPPool1d", 2, 3, 2)(X1)
made("nn.LPPool1d", 1, 3)(X1)
made("nn.LPPool2d", 2, 3, 2)(X2)
made("nn.LPPool2d", 3, (2, 3), ceil_mode=True)(POSITIVE2)

# ---- adaptive windows ----------------------------------------------------------------------------
call("ops.adaptive_avg_pool1d", X1, 3, grad=True)
call("ops.adaptive_avg_pool1d", f32(4, 9), 4)
call("ops.adaptive_avg_pool1d", X1, 0)
call("ops.adaptive_avg_pool3d", X3, (2, 3, 2), grad=True)
call("ops.adaptive_avg_pool3d", X3, (None, 3, 2))
call("ops.adaptive_avg_pool3d", f32(4, 5, 6, 7), 2)
call("ops.adaptive_avg_pool3d", X2, (2, 2))
call("ops.adaptive_max_pool1d", X1, 3, grad=True)
call("ops.adaptive_max_pool1d", f32(4, 9), 4)
call("ops.adaptive_max_pool1d", X1, -1)
call("ops.adaptive_max_pool2d", X2, (2, 3), True)
call("ops.adaptive_max_pool2d", X2, (None, 4), grad=True)
call("ops.adaptive_max_pool2d", f32(4, 6, 7), 2)
call("ops.adaptive_max_pool2d", X1, (2, 2, 2))
call("ops.adaptive_max_pool3d", X3, (2, 3, 2), True)
call("ops.adaptive_max_pool3d", X3, 2, grad=True)
call("ops.adaptive_max_pool3d", X3, (2, 2))
made("ops.AdaptiveMaxPool2D", (2, 3))(X2)
made("ops.AdaptiveMaxPool2D", 3)(f32(4, 6, 7))
made("ops.AdaptiveMaxPool2D", 0)(X2)
made("ops.AdaptiveMaxPool3D")(X3, of([2, 3, 2], "int32"))
made("ops.AdaptiveAvgPool3D", (2, None, 2))(X3)
made("ops.AdaptiveAvgPool3D", 1)(f32(4, 5, 6, 7))
made("ops.AdaptiveAvgPool3D", (2, 2))(X3)
made("nn.AdaptiveMaxPool1d", 3)(X1)
made("nn.AdaptiveMaxPool1d", 4)(f16(2, 4, 9))
made("nn.AdaptiveMaxPool1d", 0)(X1)
made("nn.AdaptiveMaxPool2d", (None, 3), True)(X2)
made("nn.AdaptiveMaxPool2d", 3)(f64(2, 4, 6, 7), grad=True)
made("nn.AdaptiveMaxPool3d", (2, 3, 2), True)(X3)
made("nn.AdaptiveMaxPool3d", 2)(f32(4, 5, 6, 7))
made("nn.AdaptiveAvgPool3d", (2, 3, None))(X3)
made("nn.AdaptiveAvgPool3d", 2)(V, grad=True)
made("nn.AdaptiveAvgPool3d", (2, 2))(X3)


# ---- the inverse of a maximum --------------------------------------------------------------------
def positions(*shape, of_all):
    """Different positions in planes of so many elements, the same for the same shape."""
    random = np.random.default_rng(sum(shape))
    planes = int(np.prod(shape[:2]))
    count = int(np.prod(shape[2:]))
    chosen = [random.permutation(of_all)[:count] for _ in range(planes)]
    return of(np.reshape(chosen, shape).tolist(), "int64")


I1 = positions(2, 3, 4, of_all=9)
I2 = positions(2, 3, 3, 3, of_all=42)
I3 = positions(1, 2, 2, 3, 3, of_all=144)
call("ops.max_unpool1d", f32(2, 3, 4), I1, 3, 2)
call("ops.max_unpool1d", f32(2, 3, 4), I1, 3, 2, output_size=(10,))
call("ops.max_unpool1d", f32(2, 3, 4), I1, 3, 2, output_size=(20,))
call("ops.max_unpool2d", f32(2, 3, 3, 3), I2, 2, 2, output_size=(2, 3, 6, 7))
call("ops.max_unpool2d", f32(2, 3, 3, 3), I2, 2, 2, 0, (6, 7), grad=True)
call("ops.max_unpool2d", f32(2, 3, 3, 3), I2, (2, 3), (2, 2))
call("ops.max_unpool2d", f32(2, 3, 3, 3), i64(2, 3, 3, 2, low=0), 2, 2)
call("ops.max_unpool3d", f32(1, 2, 2, 3, 3), I3, 2, 2, output_size=(5, 6, 7))
call("ops.max_unpool3d", f32(1, 2, 2, 3, 3), I3, (2, 2, 2), None)
call("ops.max_unpool3d", f32(2, 3, 3), I1, 2)
made("nn.MaxUnpool1d", 3, 2)(f32(2, 3, 4), I1)
made("nn.MaxUnpool1d", 3, 2)(f32(2, 3, 4), I1, (2, 3, 10))
made("nn.MaxUnpool2d", 2, 2)(f32(2, 3, 3, 3), I2, (2, 3, 6, 7))
made("nn.MaxUnpool2d", 2, 2)(f32(2, 3, 3, 3), I2, (2, 3, 9, 9))
made("nn.MaxUnpool3d", 2, 2)(f32(1, 2, 2, 3, 3), I3)
made("nn.MaxUnpool3d", 2, 2)(f32(1, 2, 2, 3, 3), I3, (5, 6, 7))
made("ops.MaxUnpool2D", 2, 2, 0, (2, 3, 6, 7))(f32(2, 3, 3, 3), I2)
made("ops.MaxUnpool2D", 2, 2, 0, (2, 3, 8, 8))(f32(2, 3, 3, 3), I2)
made("ops.MaxUnpool3D", 2, 2, 0, (1, 2, 5, 6, 7))(f32(1, 2, 2, 3, 3), I3)
made("ops.MaxUnpool3D", 2, 2)(f32(1, 2, 2, 3, 3), I3)

# ---- windows at random places --------------------------------------------------------------------
S2, S3 = f32(1, 2, 2, low=0.0, high=1.0), f32(1, 2, 3, low=0.0, high=1.0)
call(
    "ops.fractional_max_pool2d", f32(1, 2, 8, 9), 3, (4, 5), return_indices=True, _random_samples=S2
)
call(
    "ops.fractional_max_pool2d",
    f32(1, 2, 8, 9),
    (2, 3),
    output_ratio=(0.5, 0.6),
    _random_samples=S2,
)
call("ops.fractional_max_pool2d", f32(1, 2, 8, 9), 2, (1, 3), _random_samples=S2, grad=True)
call("ops.fractional_max_pool2d", f32(1, 2, 8, 9), 3, (4, 5), shape_only=True)
call("ops.fractional_max_pool2d", f32(1, 2, 8, 9), 3)
call("ops.fractional_max_pool2d", f32(1, 2, 8, 9), 3, (9, 9), _random_samples=S2)
call(
    "ops.fractional_max_pool3d",
    f32(1, 2, 6, 8, 9),
    (2, 3, 3),
    (3, 4, 5),
    return_indices=True,
    _random_samples=S3,
)
call(
    "ops.fractional_max_pool3d",
    f32(1, 2, 6, 8, 9),
    2,
    output_ratio=(0.5, 0.6, 0.4),
    _random_samples=S3,
)
call("ops.fractional_max_pool3d", f32(1, 2, 6, 8, 9), 2)
made("nn.FractionalMaxPool2d", 3, (4, 5), _random_samples=S2)(f32(1, 2, 8, 9))
made("nn.FractionalMaxPool2d", 3, output_ratio=(0.5, 0.5), return_indices=True, _random_samples=S2)(
    f32(1, 2, 8, 9)
)
made("nn.FractionalMaxPool2d", 3)(f32(1, 2, 8, 9))
made("nn.FractionalMaxPool3d", 3, (4, 5, 5), _random_samples=S3)(f32(1, 2, 8, 9, 8))
made("nn.FractionalMaxPool3d", 3, (4, 5, 5))(f32(1, 2, 8, 9, 8), shape_only=True)
made("ops.FractionalMaxPoolWithFixedKsize", (3, 2), (4, 5))(f32(1, 2, 8, 9), S2)
made("ops.FractionalMaxPoolWithFixedKsize", 2, 3)(f32(1, 2, 8, 9), S2)
made("ops.FractionalMaxPool3DWithFixedKsize", (2, 3, 3), (3, 4, 5))(f32(1, 2, 6, 8, 9), S3)

# ---- windows side by side ------------------------------------------------------------------------
call("ops.unfold", X2, 3, grad=True)
call("ops.unfold", X2, (2, 3), (1, 2), (1, 0), 2)
call("ops.unfold", f16(1, 2, 4, 4), 2, stride=2)
call("ops.unfold", X2, 9)
call("ops.unfold", X2, 3, 1, (1, 0, 1, 2))
call("ops.fold", f32(2, 36, 20), of([6, 7], "int32"), 3, grad=True)
call("ops.fold", f32(2, 12, 24), of([6, 8], "int32"), (2, 3), 1, (1, 0), (2, 1))
call("ops.fold", f32(2, 36, 19), of([6, 7], "int32"), 3)
call("ops.col2im", f32(2, 4, 9, 20), of([6, 7], "int32"), [3, 3], [1, 1], [0, 0], [1, 1])
call("ops.col2im", f32(2, 4, 4, 12), of([6, 8], "int32"), [2, 2], [1, 1], [0, 0], [2, 2])
call("ops.col2im", f32(2, 4, 8, 20), of([6, 7], "int32"), [3, 3], [1, 1], [0, 0], [1, 1])
call("Tensor.unfold", X2, 3)
call("Tensor.fold", f32(2, 36, 20), of([6, 7], "int32"), 3)
call("Tensor.col2im", f32(2, 4, 9, 20), of([6, 7], "int32"), [3, 3], [1, 1], [0, 0], [1, 1])
made("ops.operations.Im2Col", 3)(X2)
made("ops.operations.Im2Col", (2, 3), 2, 1, (1, 0))(X2)
made("ops.operations.Im2Col", 2, 1, 2)(X2)
made("ops.operations.Im2Col", 8)(X2)
made("ops.Col2Im", 3)(f32(2, 4, 9, 20), of([6, 7], "int32"))
made("ops.Col2Im", (2, 2), (1, 1), (0, 0), (2, 2))(f32(2, 4, 4, 12), of([6, 8], "int32"))
made("ops.Col2Im", 3)(f32(2, 4, 9, 21), of([6, 7], "int32"))


def patches(kernel, step, rate=(1, 1), same=False):
    """Rows, columns and channels of each patch, in this order."""

    def run(x):
        rank = len(kernel)
        pads = [(0, 0), (0, 0)]
        for n, k, s, r in zip(x.shape[2:], kernel, step, rate):
            total = max(0, (-(-n // s) - 1) * s + (k - 1) * r + 1 - n) if same else 0
            pads.append((total // 2, total - total // 2))
        x = np.pad(x, pads)
        out = [
            (n - (k - 1) * r - 1) // s + 1 for n, k, s, r in zip(x.shape[2:], kernel, step, rate)
        ]
        parts = [
            x[
                (
                    ...,
                    *(
                        slice(p * r, p * r + (o - 1) * s + 1, s)
                        for p, r, o, s in zip(place, rate, out, step)
                    ),
                )
            ]
            for place in np.ndindex(*kernel)
        ]
        assert rank == 2
        return np.concatenate(parts, 1)

    return run


made("nn.Unfold", [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])(X2, ref=patches((2, 2), (2, 2)))
made("nn.Unfold", [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "same")(
    X2, ref=patches((3, 2), (2, 2), (1, 2), True)
)
made("nn.Unfold", [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "valid")(
    f16(1, 2, 5, 5), ref=patches((3, 3), (1, 1))
)
made("ops.operations.ExtractImagePatches", [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "same")(
    X2, ref=patches((3, 3), (2, 2), (1, 1), True)
)
made("ops.operations.ExtractImagePatches", [1, 2, 1, 1], [1, 1, 3, 1], [1, 2, 1, 1])(
    i32(1, 2, 5, 6), ref=patches((2, 1), (1, 3), (2, 1))
)
made("ops.ExtractVolumePatches", [1, 1, 2, 2, 2], [1, 1, 1, 1, 1], "VALID")(V)
made("ops.ExtractVolumePatches", [1, 1, 2, 3, 2], [1, 1, 2, 2, 2], "SAME")(V)
made("ops.ExtractVolumePatches", 2, 1, "VALID")(V)
made("ops.ExtractVolumePatches", [2, 1, 2, 2, 2], [1, 1, 1, 1, 1], "VALID")(V)

# ---- borders -------------------------------------------------------------------------------------
call("ops.padding", f32(3, 1), 4, grad=True)
call("ops.padding", i32(2, 3, 1))
call("ops.padding", f32(3, 2), 4)
made("ops.Padding", 3)(f32(2, 1))
made("ops.Padding", 0)(f32(2, 1))
made("ops.PadV3")(f32(1, 2, 3), of([1, 2], "int64"), of(9.0))
made("ops.PadV3")(f32(1, 2, 3), of([1, 2, 0, 1], "int64"), of(1.5))
made("ops.PadV3", paddings_contiguous=False)(f32(1, 2, 3), of([1, 2, 0, 1], "int64"), of(0.0))
made("ops.PadV3", "reflect")(f32(1, 2, 3), of([1, 2], "int64"))
made("ops.PadV3", "edge")(f32(1, 2, 3), of([1, 2], "int64"))
made("ops.PadV3", "circular")(f32(1, 2, 3), of([1, 2], "int64"))
made("ops.PadV3", "wrong")(f32(1, 2, 3), of([1, 2], "int64"))
made("ops.PadV3", "reflect")(f32(1, 2, 3), of([1, 3], "int64"))
call("ops.mirror_pad", f32(2, 3), of([[1, 1], [2, 1]], "int64"), "REFLECT")
call("ops.mirror_pad", f32(2, 3), of([[1, 1], [2, 1]], "int64"), "SYMMETRIC")
call("ops.mirror_pad", f32(2, 3), of([[2, 1], [2, 1]], "int64"), "REFLECT")
made("nn.ReflectionPad3d", (1, 0, 1, 1, 0, 2))(X3)
made("nn.ReflectionPad3d", 1)(f32(4, 5, 6, 7))
made("nn.ReflectionPad3d", 1)(V, grad=True)
made("nn.ReflectionPad3d", 7)(V)
made("nn.ReplicationPad3d", (1, 0, 1, 1, 0, 2))(X3)
made("nn.ReplicationPad3d", 2)(V)
made("nn.ReplicationPad3d", (1, 2, 3))(V)

# ---- neighbouring channels, names of dimensions --------------------------------------------------
made("ops.LRN", 2, 1.0, 0.5, 0.75)(X2, grad=True)
made("ops.LRN")(X2)
made("ops.LRN", 1, 2.0, 1e-3, 0.5, "ACROSS_CHANNELS")(f16(1, 6, 2, 2))
made("ops.LRN", 2)(X1)
made("ops.DataFormatDimMap")(of([0, 1, 2, 3, -1, -2], "int32"))
made("ops.DataFormatDimMap", "NCHW", "NHWC")(of([[0, 1], [2, 3]], "int64"))
made("ops.DataFormatDimMap", "NCHW", "NCHW")(of([2, -4], "int32"))
made("ops.DataFormatDimMap", "NCHW", "WHCN")(of([2, -4], "int32"))
made("ops.DataFormatVecPermute")(of([1, 2, 3, 4], "int32"))
made("ops.DataFormatVecPermute", "NCHW", "NHWC")(of([[1, 5], [2, 6], [3, 7], [4, 8]], "int64"))
made("ops.DataFormatVecPermute")(of([1, 2, 3], "int32"))


@case("ops.max_pool3d")
def _(ms):
    """The positions of a maximum put its elements back"""
    x = ms.Tensor(np.arange(2 * 4 * 4 * 4, dtype=np.float32).reshape(1, 2, 4, 4, 4) % 13)
    values, where = ms.ops.max_pool3d(x, 2, 2, return_indices=True)
    return ms.ops.max_unpool3d(values, where, 2, 2)
