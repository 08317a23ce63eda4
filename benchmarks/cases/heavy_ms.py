"""Heavy ops, eager, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.heavy import HEAVY, SIZES
from cases.timing import steady
from mindspore import Tensor, mint, ops
from mindspore.scipy import linalg


def _resize(mode: str) -> Callable:
    return lambda x, size: ops.interpolate(x, size, mode=mode)


CALLS: dict[str, Callable] = {
    "cholesky": ops.cholesky,
    "inverse": ops.inverse,
    "solve": ops.matrix_solve,
    "det": ops.det,
    "qr": ops.qr,
    "svd": ops.svd,
    "eigh": linalg.eigh,
    "matrix_exp": ops.matrix_exp,
    "fft": ops.fft,
    "rfft2": ops.rfft2,
    "irfft2": ops.irfft2,
    **{
        f"{mode}_{way}": _resize(mode)
        for mode in ("nearest", "bilinear", "bicubic", "area")
        for way in ("up", "down")
    },
    "conv3d_op": lambda x, w: ops.conv3d(x, w, pad_mode="pad", padding=1),
    "max_pool3d_op": lambda x: ops.max_pool3d(x, 3, 2, 1),
    "avg_pool3d_op": lambda x: ops.avg_pool3d(x, 3, 2, 1),
    "ctc_loss": lambda *args: ops.ctc_loss(*args)[0],
    "grid_sample": lambda x, g: ops.grid_sample(x, g, align_corners=False),
    "unfold": lambda x: ops.unfold(x, 3, padding=1),
    "fold": lambda x, size: ops.fold(x, size, 3, padding=1),
    "searchsorted": ops.searchsorted,
    "segment_sum": ops.unsorted_segment_sum,
    "scatter_sum": lambda x, values, i: mint.scatter_add(x, 0, i, values),
    "sort": lambda x: ops.sort(x)[0],
    "topk": lambda x: ops.topk(x, 8)[0],
    "cumsum": lambda x: ops.cumsum(x, -1),
    "cumsum_down": lambda x: ops.cumsum(x, 0),
    "cdist": ops.cdist,
    "cdist_1": lambda x, y: ops.cdist(x, y, 1.0),
    "einsum": lambda x, y: ops.einsum("bhid,bhjd->bhij", x, y),
    "einsum_axes": lambda x, y: ops.einsum("bijc,jkc->bkic", x, y),
}


def _given(value: object) -> object:
    return Tensor(value) if isinstance(value, np.ndarray) else value


def _measures(name: str) -> dict[str, Callable[[], float]]:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    call, measures = CALLS[name], {}
    for size in SIZES:
        args = [_given(value) for value in HEAVY[name].at(size)]
        count = HEAVY[name].gradients
        measures[size] = steady(lambda args=args: call(*args))
        if not count:
            continue
        first, rest = args[:count], args[count:]
        of = lambda *first, rest=rest: call(*first, *rest)  # noqa: E731
        out = of(*first)
        weight = tuple(map(ops.ones_like, out)) if isinstance(out, tuple) else ops.ones_like(out)
        gradient = ops.GradOperation(get_all=True, sens_param=True)(of)
        measures[f"{size} gradient"] = steady(
            lambda gradient=gradient, first=first, weight=weight: gradient(*first, weight)
        )
    return measures


def __getattr__(name: str) -> Callable[[], dict[str, Callable[[], float]]]:
    """The case of an op."""
    if name not in CALLS:
        raise AttributeError(name)
    return lambda: _measures(name)
