"""Checks of earlier releases for methods that take transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindspore.dataset.core.validator_helpers import check_type


def check_random_transform_ops(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method; its argument `transforms` must be a list of callables."""

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        transforms = kwargs["transforms"] if "transforms" in kwargs else args[0] if args else None
        op = type(self).__name__
        check_type(op, "transforms", transforms, (list, tuple))
        if not transforms:
            raise ValueError(f"For '{op}', transforms must not be empty.")
        for transform in transforms:
            if not callable(transform):
                raise TypeError(f"For '{op}', transforms must be callable, but got {transform!r}.")
        return method(self, *args, **kwargs)

    return checked
