"""What of SciPy runs here: linear algebra, optimisation and solvers of sparse systems."""

from __future__ import annotations

from mindspore.scipy import linalg, optimize, sparse

__all__ = ["linalg", "optimize", "sparse"]
