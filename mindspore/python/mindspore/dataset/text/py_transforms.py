"""Path of 1.x for the operations on text."""

from mindspore.dataset.text.transforms import *  # noqa: F403
