"""Networks whose initial values nobody will read: within `drawing_nothing`, initializers give zeros in memory that is not written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from mindspore import _core
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor

# While nothing is drawn: the zeros that no Parameter has taken yet, by id. None: initializers draw.
_untouched: ContextVar[dict[int, Tensor] | None] = ContextVar("untouched", default=None)


@contextmanager
def drawing_nothing() -> Iterator[None]:
    """Within it `initializer` gives zeros, whatever it is asked for."""
    before = _untouched.set({})
    try:
        yield
    finally:
        _untouched.reset(before)


def zeros_undrawn(shape: tuple[int, ...], dtype: mstype.Type) -> Tensor | None:
    """Where nothing is drawn, zeros in memory that the system has promised and not given; else None."""
    made = _untouched.get()
    if made is None:
        return None
    zeros: Tensor = _core.from_numpy(np.zeros(shape, _core.numpy_dtype(dtype)))
    made[id(zeros)] = zeros
    return zeros


def take_untouched(value: object) -> bool:
    """Whether a value is such zeros, which nobody has asked for before: the memory is the caller's."""
    made = _untouched.get()
    return made is not None and made.pop(id(value), None) is not None
