"""Optimizers."""

from mindspore.common._refused import refused
from mindspore.nn.optim.ada_grad import Adadelta, Adagrad
from mindspore.nn.optim.adafactor import AdaFactor
from mindspore.nn.optim.adam import Adam, AdaMax, AdamOffload, AdamWeightDecay, LazyAdam
from mindspore.nn.optim.adasum import AdaSumByDeltaWeightWrapCell, AdaSumByGradWrapCell
from mindspore.nn.optim.asgd import ASGD
from mindspore.nn.optim.ftrl import FTRL
from mindspore.nn.optim.lamb import Lamb
from mindspore.nn.optim.lars import LARS
from mindspore.nn.optim.momentum import Momentum
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.nn.optim.proximal_ada_grad import ProximalAdagrad
from mindspore.nn.optim.rmsprop import RMSProp
from mindspore.nn.optim.rprop import Rprop
from mindspore.nn.optim.sgd import SGD

__getattr__ = refused(__name__)
__all__ = [
    "ASGD",
    "FTRL",
    "LARS",
    "SGD",
    "AdaFactor",
    "AdaMax",
    "AdaSumByDeltaWeightWrapCell",
    "AdaSumByGradWrapCell",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamOffload",
    "AdamWeightDecay",
    "Lamb",
    "LazyAdam",
    "Momentum",
    "Optimizer",
    "ProximalAdagrad",
    "RMSProp",
    "Rprop",
]
