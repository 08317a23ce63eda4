"""Calls of the layers of mint.nn and their functions, which PyTorch knows under the same names."""

from typing import Any

from differential.calllib import at, call, f32, i64, made, of

SEQUENCES, IMAGES, VOLUMES = f32(2, 4, 9), f32(2, 4, 6, 6), f32(1, 2, 4, 5, 6)
ROWS, PROBABLE = f32(3, 4), f32(3, 4, low=0.05, high=0.95)
TARGET, CLASSES = f32(3, 4, seed=1), i64(3, low=0, high=4)


def function(name: str, *args: Any, **kwargs: Any) -> None:
    """A call of a function that PyTorch has, too."""
    call(f"mint.nn.functional.{name}", *args, torch=f"nn.functional.{name}", **kwargs)


def layer(name: str, *args: Any, inputs: tuple = (ROWS,), **kwargs: Any) -> None:
    """A call of a layer that PyTorch has, too."""
    made(f"mint.nn.{name}", *args, **kwargs)(*inputs, torch=f"nn.{name}")


# ---- activations ------------------------------------------------------------------------------
for name in (
    "relu relu6 silu elu gelu glu hardtanh hardsigmoid hardswish hardshrink leaky_relu logsigmoid mish selu sigmoid tanh softmax "
    "log_softmax"
).split():
    function(name, ROWS)
    function(name, IMAGES)
    function(name, 3)
function("elu", ROWS, 0.5)
function("elu", ROWS, inplace=True)
function("relu", ROWS, True)
function("gelu", ROWS, approximate="tanh")
function("gelu", ROWS, approximate="none")
function("glu", ROWS, dim=0)
function("glu", IMAGES, 1)
function("hardtanh", ROWS, -0.5, 0.25)
function("leaky_relu", ROWS, 0.3)
function("softmax", ROWS, 0)
function("softmax", ROWS, dim=1, dtype=at("float64"))
function("softmax", ROWS, 2)
function("log_softmax", ROWS, dim=-1)
function("threshold", ROWS, 0.1, 20.0)
function("threshold", ROWS, 0.1, -1, True)
function("prelu", IMAGES, f32(4))
function("prelu", IMAGES, f32(1))
function("prelu", IMAGES, f32(3))
for name in "relu_ elu_ hardtanh_ sigmoid_".split():
    call(
        f"mint.nn.functional.{name}",
        ROWS,
        torch=f"nn.functional.{name}" if name != "sigmoid_" else "sigmoid_",
    )
function("threshold_", ROWS, 0.1, 20.0)
function("dropout", ROWS, 0.5, False)
function("dropout", ROWS, 0.0)
function("dropout2d", IMAGES, 0.5, False)
function("dropout2d", IMAGES, 1.5)
for name in (
    "ELU GELU Hardtanh Hardshrink Hardsigmoid Hardswish LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Tanh "
    "Flatten Identity"
).split():
    layer(name)
    layer(name, inputs=(IMAGES,))
layer("ELU", 0.5)
layer("GELU", "tanh")
layer("GELU", approximate="tanh")
layer("Hardtanh", min_val=-0.5, max_val=0.5)
layer("Hardshrink", 1.0)
layer("LogSoftmax", dim=0)
layer("Softmax", dim=1)
layer("Softmax", 3)
layer("PReLU", 4, 0.5)
layer("Threshold", 0.1, 20.0)
layer("Threshold", threshold=0.5, value=0.0)
layer("Flatten", 0, 1, inputs=(VOLUMES,))
layer("Flatten", start_dim=2, inputs=(VOLUMES,))
layer("ReLU", 1, 2)

# ---- convolutions and linear ------------------------------------------------------------------
function("linear", ROWS, f32(5, 4), f32(5))
function("linear", f32(2, 3, 4), f32(5, 4))
function("linear", ROWS, f32(5, 3))
function("conv1d", SEQUENCES, f32(6, 4, 3), f32(6), stride=2, padding=1)
function("conv1d", SEQUENCES, f32(6, 2, 3), groups=2, dilation=2)
function("conv1d", f32(4, 9), f32(6, 4, 3))
function("conv2d", IMAGES, f32(6, 4, 3, 3), f32(6), 2, 1)
function("conv2d", IMAGES, f32(6, 4, 3, 3), padding="same")
function("conv2d", IMAGES, f32(6, 2, 3, 3), groups=2, dilation=(2, 1), padding=(1, 0))
function("conv2d", IMAGES, f32(6, 3, 3, 3))
function("conv3d", VOLUMES, f32(3, 2, 2, 2, 2), f32(3))
function("conv3d", VOLUMES, f32(3, 2, 2, 2, 2), stride=2, padding=1)
function("conv_transpose2d", IMAGES, f32(4, 3, 3, 3), f32(3))
function("conv_transpose2d", IMAGES, f32(4, 3, 3, 3), stride=2, padding=1, output_padding=1)
function("conv_transpose2d", IMAGES, f32(4, 3, 2, 2), groups=2, dilation=2)
layer("Linear", 4, 5)
layer("Linear", 4, 5, bias=False)
layer("Linear", 3, 5)
layer("Linear", 0, 5)
layer("Conv1d", 4, 6, 3, inputs=(SEQUENCES,))
layer("Conv1d", 4, 6, 3, padding=1, padding_mode="circular", inputs=(SEQUENCES,))
layer("Conv2d", 4, 6, 3, stride=2, padding=1, inputs=(IMAGES,))
layer("Conv2d", 4, 6, (3, 1), padding="same", bias=False, inputs=(IMAGES,))
layer("Conv2d", 4, 6, 3, padding=2, padding_mode="reflect", groups=2, inputs=(IMAGES,))
layer("Conv2d", 4, 6, 3, groups=3, inputs=(IMAGES,))
layer("Conv3d", 2, 3, 2, inputs=(VOLUMES,))
layer("Conv3d", 2, 4, 2, groups=2, dilation=2, inputs=(VOLUMES,))
layer("ConvTranspose2d", 4, 3, 3, inputs=(IMAGES,))
layer("ConvTranspose2d", 4, 6, 3, 2, 1, 1, 2, inputs=(IMAGES,))
layer("ConvTranspose2d", 4, 6, 3, padding_mode="reflect", inputs=(IMAGES,))

# ---- pools and shapes -------------------------------------------------------------------------
function("avg_pool1d", SEQUENCES, 3)
function("avg_pool1d", SEQUENCES, 3, 2, 1, True, False)
function("avg_pool2d", IMAGES, 2)
function("avg_pool2d", IMAGES, 3, 2, 1, True, False)
function("avg_pool2d", IMAGES, 3, stride=1, divisor_override=5)
function("avg_pool3d", VOLUMES, 2)
function("avg_pool3d", VOLUMES, 2, 1, 1, count_include_pad=False)
function("max_pool2d", IMAGES, 2)
function("max_pool2d", IMAGES, 3, 2, 1, 1, True)
function("max_pool2d", IMAGES, 2, return_indices=True)
function("max_pool2d", IMAGES, 7)
function("adaptive_avg_pool1d", SEQUENCES, 4)
function("adaptive_avg_pool2d", IMAGES, (3, 4))
function("adaptive_avg_pool2d", IMAGES, (None, 2))
function("adaptive_avg_pool3d", VOLUMES, 2)
function("adaptive_max_pool1d", SEQUENCES, 4)
function("adaptive_max_pool1d", SEQUENCES, 4, return_indices=True)
function("adaptive_max_pool2d", IMAGES, 4)
function("adaptive_max_pool2d", IMAGES, (3, 2), True)
PLACES = of([[[[0, 3], [12, 15]]] * 4] * 2, "int64")
function("max_unpool2d", f32(2, 4, 2, 2), PLACES, 2)
function("max_unpool2d", f32(2, 4, 2, 2), PLACES, 2, output_size=(5, 4))
function("fold", f32(1, 8, 9), (4, 4), 2)
function("unfold", IMAGES, 2)
function("unfold", IMAGES, (2, 3), dilation=1, padding=1, stride=2)
function("pad", IMAGES, (1, 2))
function("pad", IMAGES, (1, 2, 0, 1), value=1.5)
function("pad", IMAGES, (1, 2, 2, 1), mode="reflect")
function("pad", IMAGES, (1, 2, 2, 1), "replicate")
function("pad", IMAGES, (1, 2, 2, 1), "circular")
function("pad", IMAGES, (1,))
function("pixel_shuffle", IMAGES, 2)
function("pixel_shuffle", IMAGES, 3)
function("interpolate", IMAGES, size=(9, 4))
function("interpolate", IMAGES, scale_factor=2.0, mode="bilinear")
function("interpolate", IMAGES, size=(9, 4), mode="bicubic", align_corners=True)
function("interpolate", IMAGES, size=(9, 4), mode="bicubic", align_corners=False)
function("interpolate", f32(2, 4, 9), size=1, mode="linear", align_corners=False)
function("upsample", IMAGES, scale_factor=2.0)
function("grid_sample", IMAGES, f32(2, 3, 3, 2), align_corners=False)
function(
    "grid_sample",
    IMAGES,
    f32(2, 3, 3, 2),
    mode="nearest",
    padding_mode="border",
    align_corners=True,
)
function("flatten", VOLUMES, 1)
layer("AdaptiveAvgPool1d", 4, inputs=(SEQUENCES,))
layer("AdaptiveAvgPool2d", (3, 2), inputs=(IMAGES,))
layer("AdaptiveAvgPool3d", 2, inputs=(VOLUMES,))
layer("AdaptiveMaxPool1d", 4, inputs=(SEQUENCES,))
layer("AdaptiveMaxPool2d", 4, return_indices=True, inputs=(IMAGES,))
layer("AvgPool1d", 3, inputs=(SEQUENCES,))
layer("AvgPool2d", 2, padding=1, inputs=(IMAGES,))
layer("AvgPool3d", 2, inputs=(VOLUMES,))
layer("MaxPool2d", 2, inputs=(IMAGES,))
layer("MaxUnpool2d", 2, inputs=(f32(2, 4, 2, 2), PLACES))
layer("Fold", (4, 4), 2, inputs=(f32(1, 8, 9),))
layer("Unfold", 2, inputs=(IMAGES,))
layer("PixelShuffle", 2, inputs=(IMAGES,))
layer("Upsample", scale_factor=2.0, inputs=(IMAGES,))
layer("Upsample", size=(3, 4), mode="bilinear", inputs=(IMAGES,))
layer("UpsamplingBilinear2d", scale_factor=2.0, inputs=(IMAGES,))
layer("UpsamplingNearest2d", size=(3, 8), inputs=(IMAGES,))
for rank, value in (("1d", SEQUENCES), ("2d", IMAGES), ("3d", VOLUMES)):
    layer(f"ConstantPad{rank}", 1, 0.5, inputs=(value,))
    layer(f"ReflectionPad{rank}", 1, inputs=(value,))
    layer(f"ReplicationPad{rank}", 2, inputs=(value,))
    layer(f"ZeroPad{rank}", 1, inputs=(value,))
    layer(f"ZeroPad{rank}", (1, 2), inputs=(value,))

# ---- norms and embeddings ---------------------------------------------------------------------
function("batch_norm", IMAGES, f32(4), f32(4, low=0.1))
function(
    "batch_norm", IMAGES, f32(4), f32(4, low=0.1), f32(4, seed=1), f32(4, seed=2), False, 0.1, 1e-3
)
function("batch_norm", IMAGES, f32(4), f32(4, low=0.1), training=True)
function("layer_norm", ROWS, (4,))
function("layer_norm", IMAGES, (6, 6), f32(6, 6), f32(6, 6, seed=1))
function("layer_norm", ROWS, (3,))
function("group_norm", IMAGES, 2)
function("group_norm", IMAGES, 2, f32(4), f32(4, seed=1), 1e-3)
function("group_norm", IMAGES, 3)
function("normalize", ROWS)
function("normalize", ROWS, 1.0, 0)
function("normalize", IMAGES, p=3, dim=2)
function("embedding", i64(2, 3, low=0, high=5), f32(5, 4))
function("embedding", i64(2, 3, low=0, high=5), f32(5, 4), 1)
function("one_hot", i64(2, 3, low=0, high=5), 6)
function("one_hot", i64(2, 3, low=0, high=5))
layer("BatchNorm1d", 4, inputs=(SEQUENCES,))
layer("BatchNorm1d", 4)
layer("BatchNorm2d", 4, inputs=(IMAGES,))
layer("BatchNorm2d", 4, 1e-3, 0.2, False, inputs=(IMAGES,))
layer("BatchNorm2d", 4, inputs=(SEQUENCES,))
layer("BatchNorm3d", 2, inputs=(VOLUMES,))
layer("BatchNorm3d", 2, track_running_stats=False, inputs=(VOLUMES,))
layer("GroupNorm", 2, 4, inputs=(IMAGES,))
layer("GroupNorm", 3, 4, inputs=(IMAGES,))
made("mint.nn.SyncBatchNorm", 4)(IMAGES, torch="nn.BatchNorm2d")

# ---- losses -----------------------------------------------------------------------------------
for how in ("mean", "sum", "none"):
    function("mse_loss", ROWS, TARGET, reduction=how)
    function("l1_loss", ROWS, TARGET, reduction=how)
    function("smooth_l1_loss", ROWS, TARGET, reduction=how, beta=0.5)
    function("cross_entropy", ROWS, CLASSES, reduction=how)
    function("nll_loss", ROWS, CLASSES, reduction=how)
    function("binary_cross_entropy", PROBABLE, f32(3, 4, low=0.0, high=1.0, seed=1), reduction=how)
    function("binary_cross_entropy_with_logits", ROWS, PROBABLE, reduction=how)
    function("soft_margin_loss", ROWS, of([[1, -1, 1, 1]] * 3), reduction=how)
    function("cosine_embedding_loss", ROWS, TARGET, of([1, -1, 1]), 0.1, reduction=how)
    layer("MSELoss", reduction=how, inputs=(ROWS, TARGET))
    layer("L1Loss", reduction=how, inputs=(ROWS, TARGET))
    layer("SmoothL1Loss", reduction=how, beta=0.5, inputs=(ROWS, TARGET))
    layer("BCELoss", reduction=how, inputs=(PROBABLE, f32(3, 4, low=0.0, high=1.0, seed=1)))
    layer("BCEWithLogitsLoss", reduction=how, inputs=(ROWS, PROBABLE))
    layer("SoftMarginLoss", reduction=how, inputs=(ROWS, of([[1, -1, 1, 1]] * 3)))
    layer("CosineEmbeddingLoss", 0.1, reduction=how, inputs=(ROWS, TARGET, of([1, -1, 1])))
for how in ("mean", "sum", "none", "batchmean"):
    function("kl_div", ROWS, PROBABLE, reduction=how)
    function("kl_div", ROWS, TARGET, reduction=how, log_target=True)
    layer("KLDivLoss", reduction=how, inputs=(ROWS, PROBABLE))
function("mse_loss", ROWS, TARGET, reduction="most")
function("cross_entropy", ROWS, CLASSES, f32(4, low=0.1), 1, "mean", label_smoothing=0.1)
function("cross_entropy", ROWS, PROBABLE)
function("nll_loss", ROWS, CLASSES, f32(4, low=0.1), 2)
function("binary_cross_entropy_with_logits", ROWS, PROBABLE, f32(4), pos_weight=f32(4, low=0.1))
layer("BCEWithLogitsLoss", f32(4), pos_weight=f32(4, low=0.1), inputs=(ROWS, PROBABLE))

# ---- others -----------------------------------------------------------------------------------
for name in "erfc exp2 expm1 log1p round sinc".split():
    call(f"mint.special.{name}", PROBABLE, torch=f"special.{name}")
    call(f"mint.special.{name}", f32(), torch=f"special.{name}")
call("mint.special.log_softmax", ROWS, 1, torch="special.log_softmax")
call("mint.linalg.inv", f32(3, 3), torch="linalg.inv")
call("mint.linalg.inv", f32(2, 3), torch="linalg.inv")
call("mint.linalg.norm", ROWS, torch="linalg.norm")
call("mint.linalg.norm", ROWS, 1, 0, torch="linalg.norm")
call("mint.linalg.norm", ROWS, "fro", torch="linalg.norm")
call("mint.linalg.matrix_norm", ROWS, torch="linalg.matrix_norm")
call("mint.linalg.matrix_norm", ROWS, 1, keepdim=True, torch="linalg.matrix_norm")
call("mint.linalg.vector_norm", ROWS, torch="linalg.vector_norm")
call("mint.linalg.vector_norm", ROWS, 3, 1, torch="linalg.vector_norm")
call("mint.linalg.qr", f32(3, 3), torch="linalg.qr")
