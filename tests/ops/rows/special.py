"""Rows of special functions; SciPy is the reference. More digits: tests/api/test_special_values.py."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, i32, row, wrt
from scipy import special

SAME = args(f32(2, 3), f32(3), says="must have the same shape")
POSITIVE = {"low": 0.3, "high": 12.0}
TOLERANCE = {f16: 5e-3, bf16: 4e-2}
for name in "i0 i0e i1 i1e j0 j1".split():
    row(
        f"Bessel{name[0].upper()}{name[1:]}",
        ref=getattr(special, name),
        good=[args(f32(2, 3)), args(f32(4, low=-12, high=12)), args(f32()), args(f32(0, 2))],
        tol=TOLERANCE,
    )
for name in "k0 k0e k1 k1e y0 y1".split():
    row(
        f"Bessel{name[0].upper()}{name[1:]}",
        ref=getattr(special, name),
        good=[args(f32(2, 3, **POSITIVE)), args(f32(low=0.5, high=2.0))],
        tol=TOLERANCE,
    )
row(
    "Erfinv",
    ref=special.erfinv,
    good=[args(f32(2, 3, low=-0.9, high=0.9)), args(f32(low=0.1, high=0.5))],
    tol=TOLERANCE,
)
for name, ref in {"Igamma": special.gammainc, "Igammac": special.gammaincc}.items():
    row(
        name,
        ref=ref,
        good=[args(f32(2, 3, **POSITIVE), f32(2, 3, **POSITIVE)), args(f32(low=1.0), f32(low=1.0))],
        bad=[SAME],
        grad=wrt(1),
    )


def by_shape(a, x):
    """By central differences in Float64."""
    step = 1e-4
    high, low = (special.gammainc(a.astype(float) + d, x.astype(float)) for d in (step, -step))
    return ((high - low) / (2 * step)).astype(a.dtype)


row(
    "IgammaGradA",
    ref=by_shape,
    good=[args(f32(2, 3, **POSITIVE), f32(2, 3, **POSITIVE))],
    bad=[SAME],
    tol={f64: 1e-7, f32: 1e-5},
    grad=False,
)
UNIT = {"low": 0.05, "high": 0.95}
row(
    "Betainc",
    ref=special.betainc,
    good=[args(f32(4, **POSITIVE), f32(4, **POSITIVE), f32(4, **UNIT))],
    bad=[args(f32(2, 3), f32(3), f32(3), says="must have the same shape")],
    grad=wrt(2),
)
row(
    "Zeta",
    ref=special.zeta,
    good=[args(f32(2, 3, low=1.5, high=9.0), f32(2, 3, **POSITIVE))],
    bad=[SAME],
    grad=wrt(1),
)
row("NextAfter", ref=None, good=[args(f32(2, 3), f32(2, 3))], bad=[SAME], grad=False)
row(
    "Gcd",
    ref=np.gcd,
    good=[args(i32(2, 3), i32(2, 3))],
    bad=[args(i32(2), i32(3), says="must have the same shape")],
    grad=False,
)
row(
    "Lcm",
    ref=np.lcm,
    good=[args(i32(2, 3, low=0), i32(2, 3, low=0))],
    bad=[args(i32(2), i32(3), says="must have the same shape")],
    grad=False,
)
