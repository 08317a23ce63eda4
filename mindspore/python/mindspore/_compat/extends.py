"""`mindspore._extends`: a decorator of constructors that kept the arguments of cells."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any


def cell_attr_register(fn: Callable | None = None, attrs: str | Sequence[str] | None = None) -> Any:
    """Decorates the constructor of a cell: its arguments, or those that `attrs` names, are kept as `cell_init_args`, a text by
    which equal cells are known."""

    def wrap(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def construct(self: Any, *args: Any, **kwargs: Any) -> None:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            names = [attrs] if isinstance(attrs, str) else attrs or list(bound.arguments)[1:]
            given = {name: str(bound.arguments[name]) for name in names}
            function(self, *args, **kwargs)
            self.cell_init_args = f"{type(self).__module__}.{type(self).__name__}{given}"

        return construct

    return wrap if fn is None else wrap(fn)


__all__ = ["cell_attr_register"]
