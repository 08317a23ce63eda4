"""Fourier transforms, one by one, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from cases.timing import best_of

SMALL = ((8,), (16, 64))
CACHED = ((64, 256), (128, 1000), (64, 127), (1, 16384))
LARGE = ((64, 4096), (1000, 1000), (1048576,), (256, 1009))
IMAGES = ((4, 3, 32, 32), (16, 8, 64, 64), (4, 16, 256, 256))


def _times(call: Callable, inputs: list[torch.Tensor], inner: int = 1) -> Callable[[], float]:
    def forward(x: torch.Tensor) -> object:
        with torch.no_grad():
            return call(x)

    def gradient(x: torch.Tensor) -> object:
        return torch.autograd.grad(call(x).abs().sum(), x)

    for x in inputs:
        x.requires_grad_()
    runs = [lambda f=f, x=x: f(x) for x in inputs for f in (forward, gradient)]
    for run in runs:
        run()
    return lambda: sum(best_of(run, 5, inner) for run in runs)


def _complex(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.complex64)


def fft_small() -> Callable[[], float]:
    """Few and short lines."""
    whole = _times(torch.fft.fft, [_complex(s) for s in SMALL], 50)
    half = _times(torch.fft.rfft, [torch.randn(*s) for s in SMALL], 50)
    return lambda: whole() + half()


def fft_cached() -> Callable[[], float]:
    """What fits into caches: lengths that are powers, products and primes."""
    whole = _times(torch.fft.fft, [_complex(s) for s in CACHED], 3)
    half = _times(torch.fft.rfft, [torch.randn(*s) for s in CACHED], 3)
    back = _times(torch.fft.irfft, [_complex(s) for s in CACHED], 3)
    return lambda: whole() + half() + back()


def fft_large() -> Callable[[], float]:
    """Many lines, and one of a million."""
    whole = _times(torch.fft.fft, [_complex(s) for s in LARGE])
    half = _times(torch.fft.rfft, [torch.randn(*s) for s in LARGE])
    return lambda: whole() + half()


def fft_images() -> Callable[[], float]:
    """Along two axes."""
    half = _times(torch.fft.rfft2, [torch.randn(*s) for s in IMAGES])
    back = _times(torch.fft.irfft2, [_complex((*s[:-1], s[-1] // 2 + 1)) for s in IMAGES])
    return lambda: half() + back()
