"""Calls that resize images, sample them, and work with boxes and colours."""

import numpy as np
from differential.calllib import call, case, f16, f32, f64, i32, made, of

# ---- interpolation -------------------------------------------------------------------------------
X3, X4, X5 = f32(1, 2, 5), f32(2, 3, 4, 5), f32(1, 2, 3, 4, 5)


def peer(**how):
    """The same function of PyTorch."""

    def run(x, *_):
        from peers import torch  # the reference has none

        return torch.nn.functional.interpolate(torch.from_numpy(np.array(x)), **how)

    return run


call("ops.interpolate", X3, (7,), grad=True)
call("ops.interpolate", X3, 3, mode="nearest-exact")
call("ops.interpolate", X3, (7,), mode="linear", grad=True)
call("ops.interpolate", X3, 1, mode="linear")
call("ops.interpolate", X3, (7,), mode="linear", align_corners=True)
call("ops.interpolate", X4, (6, 3), grad=True)
call("ops.interpolate", X4, 8, mode="nearest-exact")
call("ops.interpolate", X4, (6, 3), mode="bilinear", grad=True)
call("ops.interpolate", X4, [8, 10], mode="bilinear", align_corners=True, grad=True)
call("ops.interpolate", f16(1, 2, 4, 5), 3, mode="bilinear")
call("ops.interpolate", X4, (6, 3), mode="bicubic", tol=5e-3)
call("ops.interpolate", X4, (6, 3), mode="bicubic", align_corners=True, tol=5e-3, grad=True)
call("ops.interpolate", X4, (2, 9), mode="area", grad=True)
call("ops.interpolate", X4, scale_factor=(0.7, 2.5), mode="area")
call("ops.interpolate", X4, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)
call("ops.interpolate", X4, scale_factor=1.7, recompute_scale_factor=True)
call("ops.interpolate", X5, (2, 6, 7), mode="trilinear", grad=True)
call("ops.interpolate", X5, scale_factor=(0.7, 1.3, 2.0))
call("ops.interpolate", X5, scale_factor=1.7, mode="trilinear")
call("ops.interpolate", f64(1, 1, 3, 4, 5), 6, mode="area")
call(
    "ops.interpolate",
    X4,
    scale_factor=1.7,
    mode="bilinear",
    ref=peer(scale_factor=1.7, mode="bilinear"),
)
call("ops.interpolate", X3, scale_factor=2.3, ref=peer(scale_factor=2.3))
call("ops.interpolate", X3, 3, mode="area", ref=peer(size=3, mode="area"))
call("ops.interpolate", X4, mode="bilinear")
call("ops.interpolate", X4, 3, 2.0)
call("ops.interpolate", X4, 3, mode="linear")
call("ops.interpolate", X4, 0)
call("ops.interpolate", X4, (3,))
call("ops.interpolate", X4, 3, mode="best")
call("ops.interpolate", X4, 3, mode="area", align_corners=True)
call("ops.interpolate", X4, 3, recompute_scale_factor=True)
call("ops.interpolate", i32(1, 2, 4, 5), 3, mode="bilinear")
call("ops.upsample", X4, (8, 10), mode="bilinear", align_corners=True)
call("ops.upsample", X3, 9)
call("ops.upsample", X3)
made("nn.Upsample", (6, 3))(X4)
made("nn.Upsample", (6, 3), mode="bilinear", align_corners=True)(X4, grad=True)
made("nn.Upsample", scale_factor=2.0, mode="area")(X4)
made("nn.Upsample", scale_factor=2.0, recompute_scale_factor=True)(X4)
made("nn.Upsample", mode="best")(X4)

for size in ((6, 3), (2, 7), (8, 10), (1, 1)):
    SIZE = of(size, "int32")
    for how in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        if not how.get("half_pixel_centers"):
            made("ops.ResizeNearestNeighbor", size, **how)(X4, grad=True)
        made("ops.ResizeNearestNeighborV2", **how)(X4, SIZE)
        made("ops.ResizeBilinearV2", **how)(X4, size, grad=size == (6, 3))
        made("ops.ResizeBicubic", **how)(X4, size, tol=5e-3)
    made("ops.ResizeArea")(f32(2, 4, 5, 3), SIZE)
    made("ops.ResizeArea", True)(f32(2, 4, 5, 3), SIZE)
made("ops.ResizeNearestNeighbor", (2, 3))(i32(1, 2, 4, 5))
made("ops.ResizeNearestNeighbor", (2, 3))(f32(2, 4, 5))
made("ops.ResizeNearestNeighbor", 3)(X4)
made("ops.ResizeNearestNeighbor", (0, 3))(X4)
made("ops.ResizeBilinearV2", True, True)(X4, (2, 3))
made("ops.ResizeBilinearV2")(X4, (2, 3, 4))
made("ops.ResizeArea")(i32(1, 4, 5, 2), of((2, 3), "int32"))
for width in (7, 3, 1, 10):
    made("ops.ResizeLinear1D")(X3, (width,), grad=True)
    made("ops.ResizeLinear1D", "half_pixel")(X3, (width,))
made("ops.ResizeLinear1D", "asymmetric")(X3, (3,))
made("ops.UpsampleNearest3D")(X5, (4, 3, 7), None, grad=True)
made("ops.UpsampleNearest3D")(X5, None, (1.3, 2.5, 0.7))
made("ops.UpsampleNearest3D")(X5)
made("ops.UpsampleTrilinear3D")(X5, (4, 3, 7), None, grad=True)
made("ops.UpsampleTrilinear3D", True)(X5, [4, 3, 7])
made("ops.UpsampleTrilinear3D")(X5, None, [1.3, 2.5, 0.7])
made("ops.UpsampleTrilinear3D")(X5, (4, 3, 7), (1.0, 1.0, 1.0))

# ---- sampling ------------------------------------------------------------------------------------
GRID, GRID3 = f32(2, 3, 4, 2, low=-1.6, high=1.6), f32(1, 2, 3, 4, 3, low=-1.6, high=1.6)
for mode in ("bilinear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        smooth = mode == "bilinear"
        call("ops.grid_sample", X4, GRID, mode, padding, grad=smooth)
        call("ops.grid_sample", X4, GRID, mode, padding, True, grad=smooth)
        call("ops.grid_sample", X5, GRID3, mode, padding, False)
        call("ops.grid_sample", X5, GRID3, mode, padding, True)
call("ops.grid_sample", f16(1, 2, 3, 4), f16(1, 2, 2, 2, low=-1, high=1))
call("ops.grid_sample", f64(1, 2, 1, 4), f64(1, 2, 2, 2), padding_mode="reflection", tol=1e-6)
call("ops.grid_sample", X4, f64(2, 3, 4, 2))
call("ops.grid_sample", X4, GRID, "bicubic")
call("ops.grid_sample", X4, f32(3, 3, 4, 2))
call("ops.grid_sample", f32(2, 3, 4), GRID)
made("ops.GridSampler2D")(X4, GRID)
made("ops.GridSampler2D", "nearest", "border", True)(X4, GRID)
made("ops.GridSampler2D")(X5, GRID3)
made("ops.GridSampler3D", "bilinear", "reflection", True)(X5, GRID3)
call("ops.affine_grid", f32(2, 2, 3), (2, 3, 4, 5), grad=True)
call("ops.affine_grid", f32(2, 2, 3), (2, 3, 4, 1), True)
call("ops.affine_grid", f32(2, 3, 4), (2, 1, 2, 3, 4))
call("ops.affine_grid", f16(1, 2, 3), (1, 1, 2, 2))
call("ops.affine_grid", f32(2, 2, 3), (2, 3, 4))
call("ops.affine_grid", f32(2, 2, 3), (1, 3, 4, 5))
made("ops.AffineGrid", True)(f32(2, 2, 3), (2, 3, 4, 5))

IMAGES = f32(2, 5, 6, 3)
BOXES = of([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.8, 0.9, 0.1, 0.2], [-0.3, 0.2, 0.5, 1.4]])
WHICH = of([0, 1, 0, 1], "int32")
for method in ("bilinear", "nearest", "bilinear_v2"):
    for crop in ((3, 4), (1, 1), (7, 5)):
        call("ops.crop_and_resize", IMAGES, BOXES, WHICH, crop, method, 0.5)
call("ops.crop_and_resize", i32(2, 5, 6, 3), BOXES, WHICH, (2, 2))
call("ops.crop_and_resize", IMAGES, BOXES, of([0, 1, 0, 2], "int32"), (2, 2))
call("ops.crop_and_resize", IMAGES, BOXES, of([0, 1, 0, -1], "int32"), (2, 2))
call("ops.crop_and_resize", IMAGES, BOXES, WHICH, (2, 0))
call("ops.crop_and_resize", IMAGES, f32(4, 5), WHICH, (2, 2))
made("ops.CropAndResize")(IMAGES, BOXES, WHICH, (3, 4))
made("ops.CropAndResize", "nearest", 1.0)(IMAGES, BOXES, WHICH, (3, 4))
made("ops.CropAndResize", "best")(IMAGES, BOXES, WHICH, (3, 4))
for centered in (True, False):
    made("ops.ExtractGlimpse", centered, True, False, "zero")(
        f32(2, 6, 7, 3), of([3, 4], "int32"), of([[0.1, -0.3], [0.8, 0.9]])
    )
    made("ops.ExtractGlimpse", centered, False, False, "zero")(
        f32(2, 6, 7, 3), of([2, 2], "int32"), of([[2, 3], [5.5, -1]])
    )
made("ops.ExtractGlimpse")(f32(2, 6, 7, 3), of([8, 9], "int32"), f32(2, 2), shape_only=True)
made("ops.ExtractGlimpse", True, True, True, "zero")(
    f32(2, 6, 7, 3), of([3, 4], "int32"), f32(2, 2)
)
KERNELS = ("lanczos1", "lanczos3", "lanczos5", "box", "triangle", "keyscubic", "mitchellcubic")
for kernel in KERNELS:
    for antialias in (True, False):
        made("ops.ScaleAndTranslate", kernel, antialias)(
            f32(2, 7, 8, 2), of([5, 6], "int32"), of([0.7, 0.8]), of([0.5, -1.0])
        )
made("ops.ScaleAndTranslate")(i32(1, 7, 8, 2), of([9, 9], "int32"), of([1.5, 1.2]), of([0.0, 1.0]))
made("ops.ScaleAndTranslate", "best")(IMAGES, of([9, 9], "int32"), of([1.5, 1.2]), of([0.0, 1.0]))

# ---- boxes ---------------------------------------------------------------------------------------
random = np.random.default_rng(1)
CORNERS = random.uniform(0, 20, (20, 4)).round(2)
CORNERS[:, 2:] = (CORNERS[:, :2] + CORNERS[:, 2:] * 0.6).round(2)
SCORES = random.uniform(0, 1, 20).round(3)
A, B = of(CORNERS[:5].tolist()), of(CORNERS[5:10].tolist())
SCORED = of(np.column_stack([CORNERS, SCORES]).tolist())
call("ops.iou", A, of(CORNERS[5:8].tolist()))
call("ops.iou", A, B, "iof")
call("ops.iou", of(CORNERS[:2].tolist(), "float16"), of(CORNERS[2:4].tolist(), "float16"), tol=1e-2)
call("ops.iou", A, f64(3, 4))
call("ops.iou", A, B, "best")
made("ops.IOU")(A, B)
made("ops.IOU", "iof")(A, B)
for share in (0.1, 0.3, 0.5, 1.0):
    made("ops.NMSWithMask", share)(SCORED)
made("ops.NMSWithMask")(of([[0, 0, 1, 1, 0.5]]))
made("ops.NMSWithMask")(f32(3, 4))
made("ops.NMSWithMask", 1)(SCORED)
OVERLAPS = of(np.minimum(1, abs(random.normal(0, 0.3, (20, 20))) + np.eye(20)).round(3).tolist())
for most, share, least in (
    (20, 0.3, 0.1),
    (5, 0.3, 0.1),
    (20, 0.1, 0.5),
    (0, 0.3, 0.1),
    (20, 0.0, 0.0),
):
    made("ops.NonMaxSuppressionWithOverlaps")(
        OVERLAPS, of(SCORES.tolist()), of(most, "int32"), of(share), of(least)
    )
made("ops.NonMaxSuppressionWithOverlaps")(f32(3, 4), f32(3), of(2, "int32"), of(0.5), of(0.0))


def greedy(boxes, scores, most, share, least):
    """The boxes that stay, by the definition."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    chosen = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] > least and len(chosen) < most:
            sides = np.minimum(high[i], high[chosen]) - np.maximum(low[i], low[chosen])
            common = np.maximum(sides, 0).prod(-1)
            area = [(high[k] - low[k]).prod(-1) for k in (i, chosen)]
            if not (common / (area[0] + area[1] - common) > share).any():
                chosen.append(i)
    return np.array(chosen, np.int32)


for most, share, least in ((20, 0.3, 0.1), (3, 0.5, 0.2), (20, 0.0, 0.9)):
    made("ops.NonMaxSuppressionV3")(
        of(CORNERS.tolist()),
        of(SCORES.tolist()),
        of(most, "int32"),
        of(share),
        of(least),
        ref=greedy,
    )
CLASSES = of(random.uniform(0, 1, (2, 10, 3)).round(3).tolist())
SHARED, OWN = CORNERS.reshape(2, 10, 1, 4) / 32, CORNERS.reshape(2, 10, 1, 4) / [[24], [32], [40]]
for boxes in (SHARED, OWN):
    for pad in (False, True):
        for clip in (False, True):
            for most, total in ((4, 6), (2, 20)):
                made("ops.CombinedNonMaxSuppression", pad, clip)(
                    of(boxes.round(4).tolist()),
                    CLASSES,
                    of(most, "int32"),
                    of(total, "int32"),
                    of(0.2),
                    of(0.3),
                )
made("ops.CombinedNonMaxSuppression")(
    f32(2, 4, 2, 4), f32(2, 4, 3), of(1, "int32"), of(2, "int32"), of(0.2), of(0.3)
)
NORMAL = {"means": (0.1, 0.2, 0.0, -0.1), "stds": (0.5, 1.0, 2.0, 0.2)}
call("ops.bounding_box_encode", A, B)
call("ops.bounding_box_encode", A, B, **NORMAL)
call("ops.bounding_box_encode", A, f32(4, 5))
call("ops.bounding_box_decode", A, f32(5, 4), (20, 15))
call("ops.bounding_box_decode", A, f32(5, 4), (20, 15), wh_ratio_clip=0.1, **NORMAL)
call("ops.bounding_box_decode", A, f32(5, 4), (20, 15, 3))
made("ops.BoundingBoxEncode", **NORMAL)(A, B)
made("ops.BoundingBoxEncode", 0.0)(A, B)
made("ops.BoundingBoxDecode", (20, 15), **NORMAL)(A, f32(5, 4))
made("ops.BoundingBoxDecode")(A, f32(5, 4))
EDGES = of([[0, 0, 9, 7], [0, 0, 9.5, 7], [-0.1, 0, 5, 5], [0, 0, 9, 7.5], [5, 5, 1, 1]])
call("ops.check_valid", EDGES, of([4, 5, 2]))
call("ops.check_valid", of(CORNERS.tolist(), "float16"), of([18, 25, 1], "float16"))
call("ops.check_valid", i32(3, 4), i32(3))
made("ops.CheckValid")(EDGES, of([4, 5, 2]))
ROIS = of(
    [[0, 1, 2, 11, 12], [1, 0, 0, 15, 15], [0, 3, 3, 3, 3], [1, -5, -4, 6, 30], [1, 9, 8, 2, 3]]
)
for samples in (1, 2, 3):
    for end in (0, 1):
        made("ops.ROIAlign", 2, 3, 0.5, samples, end)(f32(2, 3, 8, 9), ROIS)
made("ops.ROIAlign", 2, 2, 1.0, 0, 0)(f32(2, 3, 8, 9), ROIS)
made("ops.ROIAlign", 2, 3, 0.5, 2, 2)(f32(2, 3, 8, 9), ROIS)
made("ops.ROIAlign", 2, 3, 0.5)(f32(1, 3, 8, 9), ROIS)
made("ops.SampleDistortedBoundingBoxV2", 1, 2)(
    of([64, 48, 3], "int32"), of([[[0.1, 0.1, 0.5, 0.6]]]), of([0.5]), shape_only=True
)
made("ops.SampleDistortedBoundingBoxV2")(
    of([64, 48, 3], "int32"), of([[[0.1, 0.1, 1.5, 0.6]]]), of([0.5])
)

# ---- colours -------------------------------------------------------------------------------------
COLORS = f32(2, 3, 4, 3, low=0, high=1)
made("ops.RGBToHSV")(COLORS)
made("ops.RGBToHSV")(of([0.5, 0.5, 0.5]))
made("ops.RGBToHSV")(f16(2, 3, low=0, high=1))
made("ops.RGBToHSV")(f32(2, 4))
made("ops.HSVToRGB")(COLORS)
made("ops.HSVToRGB")(f32(2, 2, 3))
for number in (0.2, -0.3, 1.7, 0.0):
    made("ops.AdjustHue")(COLORS, of(number))
for number in (0.5, 2.0, 0.0, -1.0):
    made("ops.AdjustSaturation")(COLORS, of(number))
made("ops.AdjustHue")(f16(2, 3, 3, low=0, high=1), of(0.2))
made("ops.AdjustHue")(f32(2, 3), of(0.2))
made("ops.AdjustSaturation")(f32(2, 3, 4), of(0.2))
made("nn.ImageGradients")(X4, grad=True)
made("nn.ImageGradients")(i32(1, 2, 3, 4))
made("nn.ImageGradients")(f32(2, 3, 4))


@case("nn.PSNR")
def _(ms):
    """Pairs of images of several dtypes."""
    ms.set_context(mode=ms.GRAPH_MODE)  # of the reference, these run in no other
    a, b = (np.random.default_rng(i).uniform(0, 1, (2, 3, 16, 17)) for i in (0, 1))
    pairs = [(1.0, "float32", 1), (255, "int32", 255), (255, "uint8", 255)]
    return [
        ms.nn.PSNR(most)(*(ms.Tensor((x * by).astype(dtype)) for x in (a, b)))
        for most, dtype, by in pairs
    ]


@case("nn.SSIM", tol=2e-4)
def _(ms):
    """Pairs of images, with windows of several sizes."""
    ms.set_context(mode=ms.GRAPH_MODE)
    a, b = (np.random.default_rng(i).uniform(0, 1, (2, 3, 16, 17)) for i in (0, 1))
    return [
        ms.nn.SSIM(*how)(*(ms.Tensor((x * by).astype(dtype)) for x in (a, b)))
        for how, dtype, by in (
            ((), "float32", 1),
            ((255, 7, 2.0, 0.05, 0.1), "float32", 255),
            ((1.0, 5), "float16", 1),
        )
    ]


@case("nn.MSSSIM", tol=2e-4)
def _(ms):
    """Pairs of images at several scales."""
    ms.set_context(mode=ms.GRAPH_MODE)
    a, b = (
        np.random.default_rng(i).uniform(0, 1, (2, 3, 64, 64)).astype("float32") for i in (0, 1)
    )
    b = 0.7 * a + 0.3 * b
    odd = ms.nn.MSSSIM(power_factors=(0.3, 0.3, 0.3), filter_size=3)
    return (
        ms.nn.MSSSIM(power_factors=(0.033, 0.033, 0.033))(ms.Tensor(a), ms.Tensor(b)),
        ms.nn.MSSSIM(filter_size=3)(ms.Tensor(a), ms.Tensor(b)),
        odd(ms.Tensor(a[..., :33, :31].copy()), ms.Tensor(b[..., :33, :31].copy())),
        odd(ms.Tensor(a), ms.Tensor(1 - a)),
    )
