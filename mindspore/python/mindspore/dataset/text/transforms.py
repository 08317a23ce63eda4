"""Path of 2.x for all operations on text."""

from mindspore.dataset.text.tokenizers import *  # noqa: F403
from mindspore.dataset.text.utils import JiebaMode, NormalizeForm, Vocab  # noqa: F401
from mindspore.dataset.text.words import *  # noqa: F403
