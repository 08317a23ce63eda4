"""What may still change: optimizers whose groups and learning rates are set while they train."""

from mindspore.experimental import optim

__all__ = ["optim"]
