"""Path of 2.x for all image operations."""

from mindspore.dataset.vision.augment import *  # noqa: F403
from mindspore.dataset.vision.boxes import *  # noqa: F403
from mindspore.dataset.vision.color import *  # noqa: F403
from mindspore.dataset.vision.conversions import *  # noqa: F403
from mindspore.dataset.vision.geometry import *  # noqa: F403
from mindspore.dataset.vision.mixing import *  # noqa: F403
from mindspore.dataset.vision.operations import *  # noqa: F403
from mindspore.dataset.vision.parts import *  # noqa: F403
from mindspore.dataset.vision.video import *  # noqa: F403
