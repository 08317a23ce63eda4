"""What users call of this package, where it calls their code: exceptions that leave it show the users' lines alone (see
compile/program/tracebacks.py). What is called often does the same in place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from mindspore.common import _late

_Function = TypeVar("_Function", bound=Callable)


def boundary(function: _Function) -> _Function:
    """Decorates such a function or method."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _late.compiler.hide(error)
            del args, kwargs  # the frames that are left know this one
            raise

    return call  # type: ignore[return-value]
