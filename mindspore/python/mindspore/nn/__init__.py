"""Neural networks: Cell, layers, losses, optimizers, training steps, metrics."""

import importlib
from typing import TYPE_CHECKING, Any

from mindspore.common._refused import refused
from mindspore.nn import (
    dynamic_lr,
    layer,
    learning_rate_schedule,
    loss,
    metrics,
    optim,
    utils,
    wrap,
)
from mindspore.nn.cell import Cell, GraphCell
from mindspore.nn.dynamic_lr import *
from mindspore.nn.layer import *
from mindspore.nn.learning_rate_schedule import *
from mindspore.nn.loss import *  # type: ignore[no-redef]
from mindspore.nn.metrics import *
from mindspore.nn.optim import *
from mindspore.nn.utils import *
from mindspore.nn.wrap import *

if not TYPE_CHECKING:  # type checkers take a computed __all__ for an empty one
    __all__ = [
        "Cell",
        "GraphCell",
        *dynamic_lr.__all__,
        *layer.__all__,
        *learning_rate_schedule.__all__,
        *loss.__all__,
        *metrics.__all__,
        *optim.__all__,
        *utils.__all__,
        *wrap.__all__,
    ]

_refused = refused(__name__)


def __getattr__(name: str) -> Any:
    if name == "probability":  # loads when it is first named
        return importlib.import_module("mindspore.nn.probability")
    return _refused(name)
