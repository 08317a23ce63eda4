"""Optimizers by the letter of their papers: those of `mindspore.experimental.optim`."""

from __future__ import annotations

from mindspore.experimental.optim import SGD, AdamW
from mindspore.experimental.optim import Adam as _Adam


class Adam(_Adam):
    """Adam (Kingma and Ba, 2015).

    Args:
        params: Parameters or groups, as for Optimizer.
        lr: A number or a Tensor of one.
        betas: The factors of the means of gradients and of squares.
        eps: Added to the corrected root.
        weight_decay: Not negative; part of the gradient.
        amsgrad: Whether the largest mean of squares so far is used (Reddi et al., 2018).
        maximize: Whether to climb.
    """

    _exact = True


FusedAdamW = AdamW  # one kernel updates all weights in either

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]
