"""Functions over functions and structures: GradOperation, HyperMap, Map, MultitypeFuncGraph, and clipping by value and norm."""

from __future__ import annotations

from typing import Any
from collections.abc import Callable

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.ops._grad import GradOperation, grad, value_and_grad


def _invoke(fn: Callable, *args: Any) -> Any:
    if _core.is_tracing():
        return _late.compiler.call_in_trace(fn, args, {})
    return fn(*args)


class MultitypeFuncGraph:
    """One name for several functions, chosen by the types of the arguments: `@f.register("Tensor", "Number")`."""

    def __init__(self, name: str, read_value: bool = False):
        self.name, self.read_value = name, read_value
        self.entries: list[tuple[tuple, Callable]] = []
        self.__name__ = name

    def register(self, *types: Any) -> Callable:
        """Adds the decorated function for arguments of the given types (names or Python types)."""

        def add(fn: Callable) -> Callable:
            self.entries.append((types, fn))
            return fn

        return add

    def __call__(self, *args: Any) -> Any:
        for types, fn in self.entries:
            if len(types) == len(args) and all(_is_a(a, t) for a, t in zip(args, types)):
                return _invoke(fn, *args)
        got = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"For 'MultitypeFuncGraph', '{self.name}' has no function for ({got}).")


def _is_a(value: Any, kind: Any) -> bool:
    if isinstance(kind, type):
        return isinstance(value, kind)
    if not isinstance(kind, str):
        return (isinstance(value, Tensor) and repr(kind) == "Tensor") or getattr(
            value, "dtype", None
        ) is kind
    checks = {
        "Tensor": lambda v: isinstance(v, Tensor),
        "Number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
        "Bool": lambda v: isinstance(v, bool),
        "Function": callable,
        "Tuple": lambda v: isinstance(v, tuple),
        "List": lambda v: isinstance(v, list),
        "String": lambda v: isinstance(v, str),
        "None": lambda v: v is None,
        "Func": callable,
        "Dictionary": lambda v: isinstance(v, dict),
        "RowTensor": lambda v: False,
        "CSRTensor": lambda v: False,
        "COOTensor": lambda v: False,
        "MapTensor": lambda v: False,
    }
    if kind in checks:
        return checks[kind](value)
    return isinstance(value, (int, float)) and type(value).__name__ == kind.lower().rstrip(
        "0123456789"
    )


class HyperMap:
    """Applies a function to matching leaves of nested tuples and lists."""

    def __init__(self, ops: Callable | None = None, reverse: bool = False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        fn, items = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        return self._map(fn, items)

    def _map(self, fn: Callable, items: tuple) -> Any:
        first = next((i for i in items if isinstance(i, (tuple, list))), None)
        if first is None:
            return _invoke(fn, *items)
        for i in items:
            if not isinstance(i, (tuple, list)) or len(i) != len(first):
                raise ValueError(
                    f"For '{type(self).__name__}', the sequences must have equal lengths, but got "
                    f"{[len(s) if isinstance(s, (tuple, list)) else type(s).__name__ for s in items]}."
                )
        mapped = [self._step(fn, parts) for parts in zip(*items)]
        return mapped if isinstance(first, list) else tuple(mapped)

    def _step(self, fn: Callable, parts: tuple) -> Any:
        return self._map(fn, parts)


class Map(HyperMap):
    """Applies a function to matching items of sequences, one level deep."""

    def _step(self, fn: Callable, parts: tuple) -> Any:
        return _invoke(fn, *parts)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Elements below the minimum become the minimum, those above the maximum the maximum."""
    from mindspore import ops

    return ops.clip_by_value(x, clip_value_min, clip_value_max)


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Any:
    """Scales tensors down together so that their joint Euclidean norm is at most `clip_norm`."""
    from mindspore import ops

    if use_norm is not None:
        raise ValueError("For 'clip_by_global_norm', 'use_norm' must be None.")
    if not isinstance(clip_norm, (int, float)) or isinstance(clip_norm, bool):
        raise TypeError(
            f"For 'clip_by_global_norm', 'clip_norm' must be a number, but got {type(clip_norm).__name__}."
        )
    if clip_norm <= 0:
        raise ValueError(
            f"For 'clip_by_global_norm', 'clip_norm' must be positive, but got {clip_norm}."
        )
    total: Any = None
    for t in x:
        part = ops.reduce_sum(ops.square(ops.cast(t, _core.float32)))
        total = part if total is None else total + part
    norm = ops.sqrt(total)
    scale = clip_norm / ops.maximum(norm, ops.full_like(norm, clip_norm))
    scaled = [t * ops.cast(scale, t.dtype) for t in x]
    return scaled if isinstance(x, list) else tuple(scaled)


def __getattr__(name: str) -> Any:
    """Functions that older scripts reach through `composite`, such as `C.matmul`."""
    from mindspore.ops import functional

    return getattr(functional, name)


__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "clip_by_global_norm",
    "clip_by_value",
    "grad",
    "value_and_grad",
]
