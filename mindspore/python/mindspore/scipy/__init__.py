"""What of SciPy runs here: linear algebra and optimisation."""

from __future__ import annotations

from mindspore.scipy import linalg

__all__ = ["linalg"]
