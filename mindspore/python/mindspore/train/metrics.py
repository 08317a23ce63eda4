"""Path of the metrics in training programs."""

from mindspore.nn.metrics import *  # noqa: F403
from mindspore.nn.metrics import __all__ as __all__
