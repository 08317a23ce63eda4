"""The old path of `mindspore.communication`."""

from mindspore.communication import *  # noqa: F403
from mindspore.communication import GROUP, __all__  # noqa: F401
