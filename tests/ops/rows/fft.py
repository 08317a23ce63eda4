"""Rows of Fourier transforms and of what complex numbers are made of. Lengths of all kinds: tests/kernels/test_transform_kernels.py."""

import numpy as np
from rowlib import args, c64, c128, f32, f64, i32, row

SCALES = {"none": "backward", "ortho": "ortho", "whole": "forward"}


def transform(x, axes, inverse=False, scale="none", size=0, adjoint=False):
    """By NumPy, whose inverse transforms divide where the others do not."""
    real = x.real.dtype
    last, others = axes[-1], axes[:-1]
    forward = SCALES[scale]
    norm = (
        {"forward": "backward", "backward": "forward"}.get(forward, "ortho") if inverse else forward
    )
    along = np.fft.ifftn if inverse else np.fft.fftn
    if not np.iscomplexobj(x):
        half = np.fft.rfft(x, axis=last, norm=forward)
        half = np.conj(half) if inverse else half
        if adjoint:
            half = half * twice(x.shape[last], half.shape, last)
        y = along(half, axes=others, norm=norm) if others else half
    elif size:
        if others:
            x = along(x, axes=others, norm=norm)
        x = x if inverse else np.conj(x)
        if adjoint:
            x = x / twice(size, x.shape, last)
        y = np.fft.irfft(
            x,
            size,
            axis=last,
            norm={"forward": "backward", "backward": "forward"}.get(forward, "ortho"),
        )
        return y.astype(real)
    else:
        y = along(x, axes=axes, norm=norm)
    return y.astype(np.result_type(real, np.complex64))


def twice(size, shape, axis):
    """2 for the elements of half a spectrum that stand for two."""
    k = np.arange(shape[axis])
    counts = np.where((k == 0) | (2 * k == size), 1.0, 2.0)
    return counts.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])


row(
    "FFT",
    ref=transform,
    good=[
        args(c64(3, 8), axes=(-1,)),
        args(c64(4, 3), axes=(0,), inverse=True, scale="whole"),
        args(c64(2, 3, 4), axes=(1, 2), scale="ortho"),
        args(f32(3, 8), axes=(-1,)),
        args(f32(7, 2), axes=(0,), inverse=True, scale="ortho"),
        args(f32(2, 3, 4), axes=(2, 1)),
        args(f32(2, 6), axes=(1,), adjoint=True),
        args(f32(2, 5), axes=(1,), adjoint=True),
        args(c64(3, 5), axes=(-1,), inverse=True, scale="whole", size=8),
        args(c64(3, 5), axes=(-1,), size=9),
        args(c64(2, 3, 4), axes=(0, 1), inverse=True, size=4),
        args(c64(2, 4), axes=(1,), inverse=True, size=6, adjoint=True),
        args(c64(2, 4), axes=(1,), size=7, adjoint=True),
        args(f64(5), axes=(0,)),
        args(c128(1, 1), axes=(0,)),
        args(c64(0, 4), axes=(1,)),
    ],
    bad=[
        args(i32(4), axes=(0,), says="the dtype of 'x' must be one of"),
        args(c64(4), axes=(), says="'axes' must name at least one axis"),
        args(c64(4, 4), axes=(0, -2), says="'axes' must be distinct"),
        args(c64(4), axes=(1,), says="must be in [-1, 1)"),
        args(c64(0, 4), axes=(0,), says="the axes must not be empty"),
        args(c64(4), axes=(0,), size=4, says="must have 3 elements for a result of 4"),
        args(c64(4), axes=(0,), scale="half", says="'scale' must be 'none', 'ortho' or 'whole'"),
    ],
    tol={c64: 1e-4, f32: 1e-4},
)
row(
    "Complex",
    ref=lambda real, imag: (real + 1j * imag).astype(np.result_type(real.dtype, np.complex64)),
    good=[
        args(f32(2, 3), f32(2, 3)),
        args(f32(2, 1), f32(3)),
        args(f64(2), f64(2)),
        args(f32(0), f32(0)),
    ],
    bad=[args(i32(2), i32(2), says="the dtype of 'real' must be one of")],
)
