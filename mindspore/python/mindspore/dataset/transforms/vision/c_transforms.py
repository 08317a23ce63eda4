"""Path of the first releases for :mod:`mindspore.dataset.vision.c_transforms`."""

from mindspore.dataset.vision.c_transforms import *  # noqa: F403
