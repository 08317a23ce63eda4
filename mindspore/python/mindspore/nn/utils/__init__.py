"""Helpers for making networks."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mindspore.common._undrawn import drawing_nothing


def no_init_parameters() -> AbstractContextManager[None]:
    """Within it, or in a function that it decorates, initializers draw nothing and give zeros: for networks whose
    parameters are loaded next.

    Examples:
        >>> with nn.no_init_parameters():
        ...     net = nn.Dense(4096, 4096)
        >>> mindspore.load_checkpoint("dense.ckpt", net)
    """
    return drawing_nothing()


__all__ = ["no_init_parameters"]
