"""Path of 2.x for all operations on sound."""

from mindspore.dataset.audio.effects import *  # noqa: F403
from mindspore.dataset.audio.features import *  # noqa: F403
from mindspore.dataset.audio.filters import *  # noqa: F403
from mindspore.dataset.audio.mel import *  # noqa: F403
from mindspore.dataset.audio.operation import AudioTensorOperation  # noqa: F401
from mindspore.dataset.audio.spectra import *  # noqa: F403
from mindspore.dataset.audio.timing import *  # noqa: F403
from mindspore.dataset.audio.voice import *  # noqa: F403
