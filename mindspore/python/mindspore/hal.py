"""`mindspore.hal`: what `mindspore.runtime` says of memory, under its older name."""

from mindspore.runtime import *  # noqa: F403
from mindspore.runtime import __all__  # noqa: F401
