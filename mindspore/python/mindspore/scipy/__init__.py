"""What of SciPy runs here: linear algebra and cosine transforms."""

from __future__ import annotations

from mindspore.scipy import fft, linalg

__all__ = ["fft", "linalg"]
