"""Old path of :mod:`mindspore.dataset.config`."""

from mindspore.dataset.config import *  # noqa: F403
