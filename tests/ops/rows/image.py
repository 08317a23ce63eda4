"""Rows of images: sampling along axes, means of the insides of boxes, suppression of boxes."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, i32, row, wrt


# ---- sampling ------------------------------------------------------------------------------------
def place(i, size, out, coordinates, step):
    if coordinates == "half_pixel_or_first" and out == 1:
        return 0.0
    return (i + 0.5) * step - 0.5 if coordinates.startswith("half") else i * step


def keys(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def taps(i, size, out, mode, coordinates, step):
    """Pairs of an element, which may be outside, and its weight."""
    at = place(i, size, out, coordinates, step)
    if size == out and mode in ("nearest", "linear"):
        return [(i, 1)]
    if mode == "nearest":
        if coordinates == "align_corners":
            return [(np.floor(np.float32(i) * np.float32(step) + np.float32(0.5)), 1)]
        if coordinates == "asymmetric":
            return [(np.floor(np.float32(i) * np.float32(step)), 1)]
        return [(np.floor((np.float32(i) + np.float32(0.5)) * np.float32(step)), 1)]
    if mode == "linear":
        at = max(at, 0.0)
        return [(j, max(0.0, 1 - abs(at - j))) for j in (np.floor(at), np.floor(at) + 1)]
    if mode in ("cubic", "keys"):
        near = np.floor(at) + np.arange(-1, 3)
        if mode == "cubic":
            return [(j, keys(at - j, -0.75)) for j in near]
        inside = [(j, keys(at - j, -0.5)) for j in near if 0 <= j < size]
        return [(j, w / sum(v for _, v in inside)) for j, w in inside]
    if mode == "mean":
        shared = range(i * size // out, -(-(i + 1) * size // out))
        return [(j, 1 / len(shared)) for j in shared]
    begin, end = i * step, (i + 1) * step
    covered = range(int(np.floor(begin)), int(np.ceil(end)))
    return [(j, (min(j + 1, end) - max(j, begin)) / step) for j in covered]


def weights(size, out, mode="linear", coordinates="half_pixel", scale=None):
    step = size / out if scale is None else 1 / scale
    if coordinates == "align_corners" and out > 1:
        step = (size - 1) / (out - 1)
    result = np.zeros((out, size))
    for i in range(out):
        for j, w in taps(i, size, out, mode, coordinates, step):
            result[i, int(np.clip(j, 0, size - 1))] += w
    return result


def sample(x, sizes, size, transposed, scales=(), **how):
    y = x if x.dtype.kind != "f" else x.astype(np.float64)
    for k in range(len(size)):
        axis = x.ndim - len(size) + k
        ends = (size[k], sizes[k]) if transposed else (sizes[k], size[k])
        w = weights(*ends, scale=scales[k] if scales else None, **how)
        y = np.moveaxis(np.tensordot(w.T if transposed else w, y, (1, axis)), 0, axis)
    return y.astype(x.dtype)


def resample(x, size, **how):
    return sample(x, x.shape[x.ndim - len(size) :], size, False, **how)


def resample_grad(dy, size, **how):
    return sample(dy, dy.shape[dy.ndim - len(size) :], size, True, **how)


HOW = [
    ((2, 3, 5, 6), (10, 12), {"mode": "nearest", "coordinates": "asymmetric"}),
    ((2, 5, 6), (3, 9), {"mode": "nearest"}),
    ((1, 4, 7), (9, 3), {"mode": "nearest", "coordinates": "align_corners"}),
    ((2, 2, 5, 6), (10, 12), {}),
    ((2, 7, 9), (3, 4), {"coordinates": "align_corners"}),
    ((1, 4, 5), (9, 2), {"coordinates": "asymmetric", "scales": (2.3, 0.5)}),
    ((2, 4, 5), (4, 7), {"scales": (1.2, 1.5)}),
    ((3, 5), (1,), {"coordinates": "half_pixel_or_first"}),
    ((3, 6), (6,), {}),
    ((2, 3, 4, 5), (5, 8, 3), {}),
    ((1, 4, 3, 5), (2, 3, 5), {"coordinates": "align_corners"}),
    ((2, 6, 5), (11, 3), {"mode": "cubic"}),
    ((2, 4, 5), (7, 8), {"mode": "cubic", "coordinates": "align_corners"}),
    ((2, 6, 1), (11, 3), {"mode": "keys"}),
    ((2, 7, 5), (3, 8), {"mode": "mean"}),
    ((2, 7, 13), (3, 2), {"mode": "area"}),
    ((2, 7, 5), (3, 8), {"mode": "area", "coordinates": "align_corners"}),
    ((0, 4, 5), (2, 3), {}),
]


def refused(shape):
    return [
        args(f32(*shape), size=(), says="'size' must have 1 to 3 items"),
        args(f32(*shape), size=(1, 2, 3, 4), says="'size' must have 1 to 3 items"),
        args(f32(4), size=(2, 3), says="must have at least 2 dimensions, but got 1"),
        args(f32(*shape), size=(2, 0), says="'size' must be in [1, 16777216]"),
        args(f32(*shape), size=(2, 1 << 40), says="'size' must be in [1, 16777216]"),
        args(f32(2, 0, 3), size=(2, 2), says="sizes of images must be positive"),
        args(f32(*shape), size=(2, 2), scales=(1.0,), says="'scales' must be positive, as many"),
        args(f32(*shape), size=(2, 2), scales=(1.0, -1.0), says="'scales' must be positive"),
        args(f32(*shape), size=(2, 2), mode="best", says="'mode' must be one of nearest, linear"),
        args(f32(*shape), size=(2, 2), coordinates="x", says="'coordinates' must be one of"),
    ]


HALF = {f16: 4e-3, bf16: 3e-2}
row(
    "Resample",
    ref=resample,
    good=[args(f32(*shape), size=size, **how) for shape, size, how in HOW],
    bad=[
        *refused((2, 4, 4)),
        args(i32(2, 4, 4), size=(2, 2), says="must be of a floating type unless"),
    ],
    tol=HALF,
)
row(
    "ResampleGrad",
    ref=resample_grad,
    good=[
        args(
            f32(*shape[: len(shape) - len(size)], *size),
            size=shape[len(shape) - len(size) :],
            **how,
        )
        for shape, size, how in HOW
    ],
    bad=refused((2, 4, 4)),
    tol=HALF,
)


# ---- means of the insides of boxes ----------------------------------------------------------------
def points(begin, length, results, samples, size):
    """[results, size]: how much of each element is in each result."""
    step = length / results
    count = samples if samples > 0 else max(int(step), 1) if step > 0 else 0
    w = np.zeros((results, size))
    for i in range(results * count if size else 0):
        at = begin + (i // count) * step + (i % count + 0.5) * step / count
        if -1 <= at <= size:
            at = min(max(at, 0.0), size - 1.0)
            low = int(at)
            w[i // count, low] += (1 - (at - low)) / count
            w[i // count, min(low + 1, size - 1)] += (at - low) / count
    return w


def region_weights(roi, shape, a):
    scale, end = a["spatial_scale"], a.get("roi_end_mode", 1)
    x, y, right, bottom = (float(v) * scale for v in roi[1:])
    w, h = right - x + end * scale, bottom - y + end * scale
    w, h = (w, h) if end else (max(w, 1.0), max(h, 1.0))
    samples = a.get("sample_num", 2)
    return (
        points(y, h, a["pooled_height"], samples, shape[2]),
        points(x, w, a["pooled_width"], samples, shape[3]),
    )


def roi_align(features, rois, **a):
    y = np.zeros((len(rois), features.shape[1], a["pooled_height"], a["pooled_width"]))
    for n, roi in enumerate(rois):
        rows, columns = region_weights(roi, features.shape, a)
        y[n] = rows @ features[int(roi[0])].astype(np.float64) @ columns.T
    return y.astype(features.dtype)


def roi_align_grad(dy, rois, input_size, **a):
    dx = np.zeros(input_size)
    for n, roi in enumerate(rois):
        rows, columns = region_weights(roi, input_size, a)
        dx[int(roi[0])] += rows.T @ dy[n].astype(np.float64) @ columns
    return dx.astype(dy.dtype)


ROIS = f32([[0, 1, 2, 11, 12], [1, 0, 0, 15, 15], [0, 3, 3, 3, 3], [1, -5, -4, 6, 30]])
OF_NO_IMAGE, LARGE = (np.array(ROIS) for _ in range(2))
OF_NO_IMAGE[2, 0], LARGE[1, 3] = 2, np.inf
FEATURES, POOLED = (2, 3, 8, 9), (4, 3, 2, 3)
GRID = {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5}
REGIONS = [
    GRID,
    {**GRID, "roi_end_mode": 0, "sample_num": 3},
    {**GRID, "roi_end_mode": 0, "sample_num": 0},
    {**GRID, "sample_num": 1, "spatial_scale": 1.0},
]


def bad_regions(first, **more):
    return [
        args(first(), f32(4, 4), **GRID, **more, says="'rois' must have shape (n, 5)"),
        args(first(), f64(4, 5), **GRID, **more, says="must have the same dtype"),
        args(
            first(), ROIS, **{**GRID, "pooled_height": 0}, **more, says="must be positive, but got"
        ),
        args(first(), ROIS, **GRID, roi_end_mode=2, **more, says="'roi_end_mode' must be 0 or 1"),
        args(first(), OF_NO_IMAGE, **GRID, **more, says="must be in [0, 2), but got 2"),
        args(
            first(),
            LARGE,
            **GRID,
            sample_num=0,
            **more,
            says="must have up to 16384 elements of 'features' in each direction for one of the "
            "result, but box 1 has more",
        ),
    ]


row(
    "ROIAlign",
    ref=roi_align,
    good=[
        *[args(f32(*FEATURES), ROIS, **a) for a in REGIONS],
        *[args(f32(2, 3, *empty), ROIS, **GRID) for empty in ((0, 9), (8, 0))],
    ],
    bad=[
        args(f32(3, 8, 9), ROIS, **GRID, says="'features' must have 4 dimensions"),
        *bad_regions(lambda: f32(*FEATURES)),
    ],
    grad=wrt(0),
    tol={f16: 2e-1, bf16: 9e-1},
)
row(
    "ROIAlignGrad",
    ref=roi_align_grad,
    good=[args(f32(*POOLED), ROIS, **a, input_size=FEATURES) for a in REGIONS],
    bad=[
        args(f32(*POOLED), ROIS, **GRID, input_size=(8, 9), says="'features' must have 4"),
        args(f32(4, 3, 2, 2), ROIS, **GRID, input_size=FEATURES, says="'dy' must have the shape"),
        *bad_regions(lambda: f32(*POOLED), input_size=FEATURES),
    ],
    grad=wrt(0),
    tol={f16: 2e-1, bf16: 9e-1},
)


# ---- suppression ---------------------------------------------------------------------------------
def unsuppressed(boxes, iou_threshold=0.5):
    keep = np.ones(boxes.shape[:-1], bool)
    for at in np.ndindex(boxes.shape[:-2]):
        list_, stays = boxes[at], keep[at]
        for i, b in enumerate(list_):
            for j in range(i):
                c = list_[j]
                w = max(min(b[2], c[2]) - max(b[0], c[0]), 0)
                h = max(min(b[3], c[3]) - max(b[1], c[1]), 0)
                both = (b[2] - b[0]) * (b[3] - b[1]) + (c[2] - c[0]) * (c[3] - c[1]) - w * h
                with np.errstate(all="ignore"):
                    stays[i] &= not (stays[j] and w * h / both > iou_threshold)
    return keep


def boxes(*shape):
    made = f32(*shape, 4, low=0, high=4)
    made[..., 2:] += made[..., :2]
    return made


row(
    "UnsuppressedBoxes",
    ref=unsuppressed,
    good=[
        args(boxes(40)),
        args(boxes(3, 20), iou_threshold=0.2),
        args(boxes(2, 0)),
        args(boxes(1), iou_threshold=0.0),
        args(f32([[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 2, 2]])),
    ],
    bad=[
        args(f32(4), says="'boxes' must have shape (..., n, 4)"),
        args(f32(3, 5), says="'boxes' must have shape (..., n, 4)"),
    ],
    grad=False,
)
