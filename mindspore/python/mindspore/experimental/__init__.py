"""What may still change: optimizers whose groups and learning rates are set while they train."""

from mindspore.common._refused import refused
from mindspore.experimental import optim

__getattr__ = refused(__name__)
__all__ = ["optim"]
