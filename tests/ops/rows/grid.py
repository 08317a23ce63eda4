"""Rows of samples of images at the positions of grids. The references have a matrix for each axis: points by elements."""

import itertools
import math

import numpy as np
from rowlib import args, bf16, f16, f32, f64, i32, row


# ---- references ----------------------------------------------------------------------------------
def position(g, size, padding, align):
    """Coordinates as positions of elements, and how these change with them."""
    at = (g + 1) / 2 * (size - 1) if align else (g + 1) / 2 * size - 0.5
    slope = np.full(g.shape, (size - 1) / 2 if align else size / 2)
    if padding == "zeros":
        return at, slope
    if padding == "reflection":
        low, span = (0, size - 1) if align else (-0.5, size)
        if span == 0:
            return at * 0, slope * 0
        turn = (at - low) % (2 * span)
        slope = np.where(turn < span, slope, -slope)
        at = low + np.where(turn < span, turn, 2 * span - turn)
    return np.clip(at, 0, size - 1), np.where((at > 0) & (at < size - 1), slope, 0)


def matrix(g, size, mode, padding, align, differentiated):
    """[n, points, size]: how much of each element is in the sample of a point, or how that changes with its coordinate."""
    at, slope = position(g.astype(np.float64), size, padding, align)
    distance = at[..., None] - np.arange(size)
    if mode == "nearest":
        return (np.rint(at)[..., None] == np.arange(size)).astype(float)
    inside = np.abs(distance) < 1
    if differentiated:
        return inside * -np.where(distance >= 0, 1, -1) * slope[..., None]
    return inside * (1 - np.abs(distance))


def matrices(grid, sizes, mode="bilinear", padding_mode="zeros", align_corners=False, slopes=()):
    """Of all axes of the images in order; coordinates of the grid begin with the last one."""
    flat = grid.reshape(len(grid), math.prod(grid.shape[1:-1]), grid.shape[-1])
    axes = len(sizes)
    return [
        matrix(flat[..., k], sizes[axes - 1 - k], mode, padding_mode, align_corners, k in slopes)
        for k in reversed(range(axes))
    ]


def sample(x, grid, **how):
    made = matrices(grid, x.shape[2:], **how)
    letters = "hwd"[: len(made)]
    terms = ",".join(f"np{a}" for a in letters)
    y = np.einsum(f"nc{letters},{terms}->ncp", x.astype(np.float64), *made)
    return y.reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype)


def sample_grad(dy, grid, input_size, **how):
    made = matrices(grid, input_size[2:], **how)
    letters = "hwd"[: len(made)]
    terms = ",".join(f"np{a}" for a in letters)
    flat = dy.astype(np.float64).reshape(*dy.shape[:2], math.prod(dy.shape[2:]))
    return np.einsum(f"ncp,{terms}->nc{letters}", flat, *made).astype(dy.dtype)


def grid_grad(dy, x, grid, slopes=(), **how):
    result = np.zeros(grid.shape)
    wide = [a.astype(np.float64) for a in (dy, x)]
    for k in set(range(grid.shape[-1])) - set(slopes):
        result[..., k] = (wide[0] * sample(wide[1], grid, slopes=(*slopes, k), **how)).sum(1)
    return result.astype(grid.dtype)


# ---- samples -------------------------------------------------------------------------------------
def places(points, sizes, align, reach=0.6):
    """A grid whose positions are between elements, well away from where a sample has no derivative, beyond the ends too."""
    random = np.random.default_rng(sum(points) + sum(sizes))
    result = []
    for size in reversed(sizes):
        around = int(np.ceil(reach * size))
        at = random.integers(-around, size + around, points) + random.uniform(0.15, 0.4, points)
        result.append(2 * at / max(size - 1, 1) - 1 if align else (2 * at + 1) / size - 1)
    return np.stack(result, -1).astype(np.float32)


SIZES = [((2, 3, 4, 5), (2, 3, 4)), ((1, 2, 3, 4, 3), (1, 2, 2, 3))]
WAYS = [
    {"mode": mode, "padding_mode": padding, "align_corners": align}
    for mode, padding, align in itertools.product(
        ("bilinear", "nearest"), ("zeros", "border", "reflection"), (False, True)
    )
]
CASES = [
    *((x, points, how) for x, points in SIZES for how in WAYS),
    ((1, 2, 1, 3), (1, 2, 3), {"padding_mode": "reflection", "align_corners": True}),
    ((1, 20, 3, 3), (1, 30, 40), {"padding_mode": "border"}),
    ((0, 2, 3, 4), (0, 2, 3), {}),
    ((2, 2, 3, 4), (2, 0, 3), {}),
    ((2, 0, 3, 4), (2, 2, 3), {}),
    ((2, 3, 4, 5), (2, 3, 4), {"slopes": (0,)}),
    ((2, 3, 4, 5), (2, 3, 4), {"slopes": (1, 0), "padding_mode": "reflection"}),
    ((1, 2, 3, 4, 3), (1, 2, 2, 3), {"slopes": (2, 0), "padding_mode": "border"}),
]
SMOOTH = [case for case in CASES if case[2].get("mode") != "nearest"]


def grid(x, points, how):
    return places(points, x[2:], how.get("align_corners", False))


def samples(x, points):
    return f32(*x[:2], *points[1:])


X, GRID = f32(2, 3, 4, 5), f32(2, 3, 4, 2)
TOLERANCE = {f16: 4e-2, bf16: 3e-1}


def refused(before, after):
    """Bad calls of all three ops: what stands before the grid, and attributes that must be given."""
    return [
        args(*before, f32(3, 3, 4, 2), **after, says="the grid must have 4 dimensions, the first"),
        args(*before, f32(2, 3, 4, 3), **after, says="the last of 2, but got shape"),
        args(*before, f32(2, 12, 2), **after, says="the grid must have 4 dimensions"),
        args(*before, f64(2, 3, 4, 2), **after, says="must have the same dtype"),
        args(*before, i32(2, 3, 4, 2), **after, says="dtype"),
        args(*before, GRID, **after, mode="bicubic", says="'mode' must be one of bilinear"),
        args(*before, GRID, **after, padding_mode="same", says="'padding_mode' must be one of"),
        args(*before, GRID, **after, slopes=(2,), says="'slopes' must be different coordinates"),
        args(*before, GRID, **after, slopes=(1, 1), says="'slopes' must be different coordinates"),
        args(*before, GRID, **after, slopes=(0,), mode="nearest", says="none with mode 'nearest'"),
    ]


row(
    "GridSample",
    ref=sample,
    good=[args(f32(*x), grid(x, points, how), **how) for x, points, how in CASES],
    bad=[
        args(f32(2, 3, 4), GRID, says="must have 4 or 5 dimensions, but got shape [2, 3, 4]"),
        args(f32(2, 3, 0, 5), GRID, says="images must not be empty"),
        *refused((X,), {}),
    ],
    tol=TOLERANCE,
)
row(
    "GridSampleGrad",
    ref=sample_grad,
    good=[
        args(samples(x, points), grid(x, points, how), input_size=x, **how)
        for x, points, how in CASES
    ],
    bad=[
        args(f32(2, 3, 4), GRID, input_size=(3, 4), says="must have 4 or 5 dimensions"),
        args(f32(2, 3, 3, 5), GRID, input_size=X.shape, says="'dy' must have the shape of the"),
        *refused((f32(2, 3, 3, 4),), {"input_size": X.shape}),
    ],
    tol=TOLERANCE,
)
row(
    "GridSampleGridGrad",
    ref=grid_grad,
    good=[
        args(samples(x, points), f32(*x), grid(x, points, how), **how) for x, points, how in SMOOTH
    ],
    bad=[
        args(f32(2, 3, 3, 5), X, GRID, says="'dy' must have the shape of the samples"),
        args(f32(2, 3, 3, 4), f64(2, 3, 4, 5), GRID, says="must have the same dtype"),
        args(f32(2, 3, 3, 4), X, GRID, mode="nearest", says="'mode' must be 'bilinear'"),
        *refused((f32(2, 3, 3, 4), X), {}),
    ],
    tol=TOLERANCE,
)
