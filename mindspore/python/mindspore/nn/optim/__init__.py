"""Optimizers."""

from mindspore.nn.optim.ada_grad import Adadelta, Adagrad
from mindspore.nn.optim.adam import Adam, AdaMax, AdamWeightDecay, LazyAdam
from mindspore.nn.optim.ftrl import FTRL
from mindspore.nn.optim.lamb import Lamb
from mindspore.nn.optim.lars import LARS
from mindspore.nn.optim.momentum import Momentum
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.nn.optim.rmsprop import RMSProp
from mindspore.nn.optim.sgd import SGD

__all__ = [
    "FTRL",
    "LARS",
    "SGD",
    "AdaMax",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamWeightDecay",
    "Lamb",
    "LazyAdam",
    "Momentum",
    "Optimizer",
    "RMSProp",
]
