"""Loss functions."""

from typing import TYPE_CHECKING

from mindspore.nn.loss import cross_entropy, loss
from mindspore.nn.loss.cross_entropy import *
from mindspore.nn.loss.loss import *

# The first releases had every loss in one module; models still import them from there.
for _name in cross_entropy.__all__:
    setattr(loss, _name, getattr(cross_entropy, _name))
del _name

if not TYPE_CHECKING:  # type checkers take a computed __all__ for an empty one
    __all__ = [*cross_entropy.__all__, *loss.__all__]
