"""Heavy ops in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

from cases.heavy import HEAVY, SIZES
from cases.timing import steady


def _resize(mode: str) -> Callable:
    return lambda x, size: functional.interpolate(x, size, mode=mode)


def _ctc(scores: torch.Tensor, *args: torch.Tensor) -> torch.Tensor:
    return functional.ctc_loss(scores, *args)


def _segment_sum(x: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    return torch.zeros(count, *x.shape[1:]).index_add(0, ids, x)


CALLS: dict[str, Callable] = {
    "cholesky": torch.linalg.cholesky,
    "inverse": torch.linalg.inv,
    "solve": torch.linalg.solve,
    "det": torch.linalg.det,
    "qr": torch.linalg.qr,
    "svd": lambda x: torch.linalg.svd(x, full_matrices=False),
    "eigh": torch.linalg.eigh,
    "matrix_exp": torch.linalg.matrix_exp,
    "fft": torch.fft.fft,
    "rfft2": torch.fft.rfft2,
    "irfft2": torch.fft.irfft2,
    **{
        f"{mode}_{way}": _resize(mode)
        for mode in ("nearest", "bilinear", "bicubic", "area")
        for way in ("up", "down")
    },
    "conv3d_op": lambda x, w: functional.conv3d(x, w, padding=1),
    "max_pool3d_op": lambda x: functional.max_pool3d(x, 3, 2, 1),
    "avg_pool3d_op": lambda x: functional.avg_pool3d(x, 3, 2, 1),
    "ctc_loss": _ctc,
    "grid_sample": lambda x, g: functional.grid_sample(x, g, align_corners=False),
    "unfold": lambda x: functional.unfold(x, 3, padding=1),
    "fold": lambda x, size: functional.fold(x, size, 3, padding=1),
    "searchsorted": torch.searchsorted,
    "segment_sum": _segment_sum,
    "scatter_sum": lambda x, values, i: torch.scatter_add(x, 0, i, values),
    "sort": lambda x: torch.sort(x)[0],
    "topk": lambda x: torch.topk(x, 8)[0],
    "cumsum": lambda x: torch.cumsum(x, -1),
    "cumsum_down": lambda x: torch.cumsum(x, 0),
    "cdist": torch.cdist,
    "cdist_1": lambda x, y: torch.cdist(x, y, 1.0),
    "einsum": lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y),
    "einsum_axes": lambda x, y: torch.einsum("bijc,jkc->bkic", x, y),
}


def _given(value: object) -> object:
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


def _forward(call: Callable, args: list) -> object:
    with torch.no_grad():
        return call(*args)


def _measures(name: str) -> dict[str, Callable[[], float]]:
    call, measures = CALLS[name], {}
    for size in SIZES:
        args = [_given(value) for value in HEAVY[name].at(size)]
        measures[size] = steady(lambda args=args: _forward(call, args))
        first = args[: HEAVY[name].gradients]
        if not first:
            continue
        for x in first:
            x.requires_grad_()
        out = _forward(call, args)
        weights = [torch.ones_like(y) for y in (out if isinstance(out, tuple) else (out,))]

        def gradient(args: list = args, first: list = first, weights: list = weights) -> object:
            out = call(*args)
            return torch.autograd.grad(out if isinstance(out, tuple) else (out,), first, weights)

        measures[f"{size} gradient"] = steady(gradient)
    return measures


def __getattr__(name: str) -> Callable[[], dict[str, Callable[[], float]]]:
    """The case of an op."""
    if name not in CALLS:
        raise AttributeError(name)
    return lambda: _measures(name)
