"""Path of the first releases for :mod:`mindspore.dataset.vision.py_transforms`."""

from mindspore.dataset.transforms.py_transforms import Compose as ComposeOp  # noqa: F401
from mindspore.dataset.vision.py_transforms import *  # noqa: F403
