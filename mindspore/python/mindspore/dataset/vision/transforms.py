"""Path of 2.x for all image operations."""

from mindspore.dataset.vision.color import *  # noqa: F403
from mindspore.dataset.vision.operations import *  # noqa: F403
