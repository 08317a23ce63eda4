"""Path of the first releases for :mod:`mindspore.dataset.vision`."""

from mindspore.dataset.transforms.vision import c_transforms, py_transforms
from mindspore.dataset.vision.utils import Border, Inter

__all__ = ["Border", "Inter", "c_transforms", "py_transforms"]
