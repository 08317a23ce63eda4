"""Methods that the API has in two forms: their arguments go by either's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def also(method: Callable, **names: str) -> Callable:
    """The method, which takes arguments under other names too: `also(argmax, dim="axis")`."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        for other in names.keys() & named.keys():
            own = names[other]
            if own in named:
                raise TypeError(
                    f"For 'Tensor.{method.__name__}', '{other}' and '{own}' are one argument, but got both."
                )
            named[own] = named.pop(other)
        return method(self, *args, **named)

    return call


def method(function: Callable, **names: str) -> Callable:
    """A function called `_method_NAME` as the method NAME, under other names of its arguments too. By its qualified name it is
    found where it is a method, as pickle does."""
    function.__name__ = function.__name__.removeprefix("_method_")
    function.__qualname__ = f"Tensor.{function.__name__}"
    return also(function, **names) if names else function
