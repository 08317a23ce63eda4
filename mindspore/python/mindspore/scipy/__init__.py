"""What of SciPy runs here: linear algebra, cosine transforms, optimisation and solvers of sparse systems."""

from __future__ import annotations

from mindspore.scipy import fft, linalg, optimize, sparse

__all__ = ["fft", "linalg", "optimize", "sparse"]
