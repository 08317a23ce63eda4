"""Loss functions."""

from typing import TYPE_CHECKING

from mindspore.nn.loss import cross_entropy, loss, margin, sampled
from mindspore.nn.loss.cross_entropy import *
from mindspore.nn.loss.loss import *
from mindspore.nn.loss.margin import *
from mindspore.nn.loss.sampled import *

# The first releases had every loss in one module; models still import them from there.
for _module in (cross_entropy, margin, sampled):
    for _name in _module.__all__:
        setattr(loss, _name, getattr(_module, _name))
del _module, _name

if not TYPE_CHECKING:  # type checkers take a computed __all__ for an empty one
    __all__ = [*cross_entropy.__all__, *loss.__all__, *margin.__all__, *sampled.__all__]
