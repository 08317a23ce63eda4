"""Sparse systems under SciPy's names."""

from mindspore.scipy.sparse import linalg

__all__ = ["linalg"]
