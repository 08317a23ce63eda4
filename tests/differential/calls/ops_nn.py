"""Calls of functions of networks: convolutions, pools, norms, losses."""

from differential.calllib import call, f32, i32, of, param

SEQUENCES, IMAGES = f32(2, 4, 9), f32(2, 4, 6, 6)
ROWS, TARGET, CLASSES = f32(3, 4), f32(3, 4, seed=1), i32(3, low=0, high=4)
PROBABLE = f32(3, 4, low=0.05, high=0.95)
SIGNS = of([[1.0, -1.0, 1.0, 1.0]] * 3)

call("ops.adaptive_avg_pool2d", IMAGES, 3)
call("ops.adaptive_avg_pool2d", IMAGES, (None, 2))
call("ops.adaptive_avg_pool2d", IMAGES, (4, 5), grad=True)
call("ops.adaptive_avg_pool2d", IMAGES, 0)
call("ops.avg_pool2d", IMAGES, 2, 2)
call("ops.avg_pool2d", IMAGES, 3, 2, 1, True, False)
call("ops.avg_pool2d", IMAGES, 3, divisor_override=5)
call("ops.avg_pool2d", IMAGES, 0)
call("ops.max_pool2d", IMAGES, 2)
call("ops.max_pool2d", IMAGES, 3, 2, 1, 1, True)
call("ops.max_pool2d", IMAGES, 3, 2, 1, ceil_mode=True)
call("ops.conv1d", SEQUENCES, f32(6, 4, 3), f32(6), 2, "pad", 1)
call("ops.conv1d", SEQUENCES, f32(6, 2, 3), groups=2, dilation=2)
call("ops.conv1d", SEQUENCES, f32(6, 3, 3))
call("ops.conv2d", IMAGES, f32(6, 4, 3, 3), f32(6), grad=True)
call("ops.conv2d", IMAGES, f32(6, 4, 3, 3), None, 2, "same")
call("ops.conv2d", IMAGES, f32(6, 2, 3, 3), pad_mode="pad", padding=(1, 2), groups=2)
call("ops.conv2d", IMAGES, f32(6, 4, 3, 3), pad_mode="most")
call("ops.batch_norm", IMAGES, f32(4), f32(4, low=0.1), f32(4, seed=1), f32(4, seed=2))
call(
    "ops.batch_norm",
    IMAGES,
    param(f32(4)),
    param(f32(4, low=0.1)),
    param(f32(4, seed=1)),
    param(f32(4, seed=2)),
    True,
)
call("ops.layer_norm", ROWS, (4,))
call("ops.layer_norm", IMAGES, (6, 6), f32(6, 6), f32(6, 6, seed=1), 1e-3)
call("ops.layer_norm", ROWS, (3,))
call("ops.group_norm", IMAGES, 2)
call("ops.group_norm", IMAGES, 2, f32(4), f32(4, seed=1), 1e-3)
call("ops.group_norm", IMAGES, 3)
call("ops.lrn", IMAGES)
call("ops.lrn", IMAGES, 2, 2.0, 0.5, 0.75)
call("ops.prelu", IMAGES, f32(4))
call("ops.prelu", IMAGES, f32(1))
call("ops.prelu", IMAGES, f32(3))
for how in ("mean", "sum", "none"):
    call("ops.mse_loss", ROWS, TARGET, reduction=how)
    call("ops.l1_loss", ROWS, TARGET, reduction=how)
    call("ops.smooth_l1_loss", ROWS, TARGET, 0.5, reduction=how)
    call("ops.huber_loss", ROWS, TARGET, reduction=how, delta=0.5)
    call("ops.cross_entropy", ROWS, CLASSES, reduction=how)
    call("ops.nll_loss", ROWS, CLASSES, reduction=how)
    call("ops.binary_cross_entropy", PROBABLE, f32(3, 4, low=0.0, high=1.0, seed=1), reduction=how)
    call(
        "ops.binary_cross_entropy_with_logits",
        ROWS,
        PROBABLE,
        f32(3, 4, low=0.5),
        f32(4, low=0.5),
        reduction=how,
    )
    call("ops.soft_margin_loss", ROWS, SIGNS, reduction=how)
    call("ops.cosine_embedding_loss", ROWS, TARGET, of([1, -1, 1], "int32"), 0.1, reduction=how)
    call("ops.hinge_embedding_loss", ROWS, SIGNS, 1.0, reduction=how)
    call("ops.margin_ranking_loss", ROWS, TARGET, SIGNS, 0.1, reduction=how)
    call("ops.kl_div", ROWS, PROBABLE, reduction=how)
for name in "mse_loss l1_loss huber_loss soft_margin_loss hinge_embedding_loss".split():
    call(f"ops.{name}", ROWS, SIGNS, grad=True)
    call(f"ops.{name}", ROWS, SIGNS, reduction="most")
call("ops.kl_div", ROWS, PROBABLE, "batchmean")
call("ops.cross_entropy", ROWS, CLASSES, f32(4, low=0.1), 1, "mean", 0.1)
call("ops.cross_entropy", ROWS, PROBABLE, label_smoothing=0.1, grad=True)
call("ops.nll_loss", ROWS, CLASSES, f32(4, low=0.1), 2)
call("ops.nll_loss", ROWS, i32(2, low=0, high=4))
