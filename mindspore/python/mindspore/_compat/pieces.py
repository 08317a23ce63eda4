"""Small things of several internal modules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore.ops._user_primitive import bprop_getters


class Registry:
    """Functions by name, for methods of tensors."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable] = {}

    def register(self, name: str, function: Callable) -> None:
        """Adds a function."""
        self.functions[name] = function

    def get(self, name: str) -> Callable:
        """A function that was added, or else of `ops`."""
        return self.functions.get(name) or getattr(ops, name)


tensor_operator_registry = Registry()
zeros_like, ones_like = ops.zeros_like, ops.ones_like


def get_bprop_fn(prim: Any) -> Callable | None:
    """The gradient that was registered for a primitive."""
    return bprop_getters.get(prim if isinstance(prim, str) else type(prim))


def deprecated(
    version: str, substitute: str, use_substitute_name: bool = False, module_prefix: str = ""
) -> Callable:
    """Decorates a function that another one replaces: it warns once."""
    from mindspore import log

    def decorate(function: Callable) -> Callable:
        name = f"{module_prefix}{function.__name__}"

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            text = f"'{name}' is deprecated since version {version}: use '{substitute}'."
            log.warn_once(f"deprecated {name}", text)
            return function(*args, **kwargs)

        if use_substitute_name:
            call.__name__ = substitute.split(".")[-1]
        return call

    return decorate


def is_shape_unknown(shape: Any) -> bool:
    """Whether a size or the number of dimensions is open."""
    return any(size < 0 for size in shape)


def is_dim_unknown(shape: Any) -> bool:
    """Whether the number of dimensions is open."""
    return -2 in shape


def get_broadcast_shape(
    x_shape: Any, y_shape: Any, prim_name: str, arg_name1: str = "x", arg_name2: str = "y"
) -> list[int]:
    """The shape that two are broadcast to."""
    try:
        return list(np.broadcast_shapes(tuple(x_shape), tuple(y_shape)))
    except ValueError:
        raise ValueError(
            f"For '{prim_name}', the shapes of '{arg_name1}' and '{arg_name2}' must be broadcast to one, but got "
            f"{tuple(x_shape)} and {tuple(y_shape)}."
        ) from None


def get_concat_offset(x_shp: Any, x_type: Any, axis: int, prim_name: str) -> Any:
    """Where each of some shapes begins in their concatenation, the size of it, and the axis."""
    del x_type
    rank = len(x_shp[0])
    if not -rank <= axis < rank:
        raise ValueError(f"For '{prim_name}', 'axis' must be in [{-rank}, {rank}), but got {axis}.")
    starts = np.concatenate([[0], np.cumsum([s[axis] for s in x_shp])]).tolist()
    return starts[:-1], starts[-1], axis % rank


def _get_cache_prim(cls: type) -> Callable:
    """A constructor that gives the same primitive for the same arguments."""
    return functools.cache(cls)
