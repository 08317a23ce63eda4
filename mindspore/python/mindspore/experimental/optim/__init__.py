"""Optimizers whose groups are dictionaries that may be changed between steps, and what changes their learning rates."""

from mindspore.experimental.optim import lr_scheduler
from mindspore.experimental.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from mindspore.experimental.optim.adaptive import Adadelta, Adagrad, RMSprop
from mindspore.experimental.optim.descent import ASGD, SGD, Rprop
from mindspore.experimental.optim.optimizer import Optimizer

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
