"""Cells around a network, for training and evaluation."""

from typing import TYPE_CHECKING

from mindspore.nn.wrap import cell_wrapper, grad_reducer, loss_scale, micro_batches, transforms
from mindspore.nn.wrap.cell_wrapper import *
from mindspore.nn.wrap.grad_reducer import *
from mindspore.nn.wrap.loss_scale import *
from mindspore.nn.wrap.micro_batches import *
from mindspore.nn.wrap.transforms import *

if not TYPE_CHECKING:  # type checkers take a computed __all__ for an empty one
    __all__ = [
        *cell_wrapper.__all__,
        *grad_reducer.__all__,
        *loss_scale.__all__,
        *micro_batches.__all__,
        *transforms.__all__,
    ]
