"""Rows of windows side by side and of their sum. The references are loops over the elements of a window."""

import itertools

import numpy as np
from rowlib import args, f32, row


def several(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


def layout(space, kernel_size=1, strides=1, dilation=1, pad_mode="pad", pad=0):
    """Kernel, steps, distances, padding and number of windows along each dimension."""
    rank = len(space)
    kernel, step, apart = (several(v, rank) for v in (kernel_size, strides, dilation))
    around = several(pad, 2 * rank)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, apart)]
    if pad_mode.lower() == "same":
        around = ()
        for n, s, r in zip(space, step, reach):
            total = max(0, (-(-n // s) - 1) * s + r - n)
            around += (total // 2, total - total // 2)
    pairs = list(zip(around[::2], around[1::2]))
    out = [(n + a + b - r) // s + 1 for n, (a, b), r, s in zip(space, pairs, reach, step)]
    return kernel, step, apart, pairs, out


def each(space, **a):
    """For each element of a window, the padded image's slices that it is in all windows."""
    kernel, step, apart, _, out = layout(space, **a)
    for tap, place in enumerate(itertools.product(*map(range, kernel))):
        begins = [k * d for k, d in zip(place, apart)]
        yield tap, (..., *(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(begins, out, step)))


def unfold(x, **a):
    kernel, _, _, pairs, out = layout(x.shape[2:], **a)
    padded = np.pad(x, [(0, 0), (0, 0), *pairs])
    y = np.zeros((*x.shape[:2], np.prod(kernel), np.prod(out)), x.dtype)
    for tap, where in each(x.shape[2:], **a):
        y[:, :, tap] = padded[where].reshape(y[:, :, tap].shape)
    return y


def fold(x, input_size, **a):
    _, _, _, pairs, out = layout(input_size[2:], **a)
    padded = np.pad(np.zeros(input_size, x.dtype), [(0, 0), (0, 0), *pairs])
    for tap, where in each(input_size[2:], **a):
        padded[where] += x[:, :, tap].reshape(*input_size[:2], *out)
    inside = [slice(a, a + n) for (a, _), n in zip(pairs, input_size[2:])]
    return padded[(..., *inside)]


SAMPLES = [
    ((2, 3, 5, 6), {"kernel_size": 3}),
    ((2, 2, 5, 6), {"kernel_size": (2, 3), "strides": (2, 1), "pad": (1, 0, 2, 1)}),
    ((1, 2, 6, 7), {"kernel_size": 2, "dilation": (3, 2), "strides": 2, "pad_mode": "valid"}),
    ((1, 2, 5, 5), {"kernel_size": 3, "strides": 2, "pad_mode": "same"}),
    ((1, 1, 2, 2), {"kernel_size": 2, "pad": 3, "strides": 2}),
    ((1, 2, 3, 4, 3), {"kernel_size": (2, 1, 2), "strides": (1, 2, 1)}),
    ((1, 1, 3, 3, 4), {"kernel_size": 2, "pad_mode": "SAME", "strides": 2}),
]
X = (1, 1, 4, 4)
BAD = [
    ((4, 4, 4), {}, "must have 4 or 5 dimensions"),
    (X, {"kernel_size": 0}, "'kernel_size' must be positive"),
    (X, {"kernel_size": 5}, "the height of the input after padding must be at least"),
    (X, {"strides": 0}, "'strides' must be positive"),
    (X, {"pad": (1, 2)}, "'pad' must be an int or a tuple of 4 ints"),
    (X, {"pad": 1, "pad_mode": "same"}, "'pad' must be 0 unless"),
]

row(
    "Unfold",
    ref=unfold,
    good=[args(f32(*s), **a) for s, a in SAMPLES] + [args(f32(0, 2, 3, 3), kernel_size=2)],
    bad=[args(f32(*s), says=says, **a) for s, a, says in BAD],
)


def columns(shape, a):
    kernel, *_, out = layout(shape[2:], **a)
    return (*shape[:2], int(np.prod(kernel)), int(np.prod(out)))


row(
    "Fold",
    ref=fold,
    good=[args(f32(*columns(s, a)), input_size=s, **a) for s, a in SAMPLES],
    bad=[args(f32(1, 1, 1, 1), input_size=s, says=says, **a) for s, a, says in BAD]
    + [args(f32(1, 1, 4, 8), input_size=X, kernel_size=2, says="'x' must have the shape")],
)
