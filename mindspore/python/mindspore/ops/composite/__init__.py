"""Functions over functions and structures: GradOperation, HyperMap, Map, MultitypeFuncGraph, and clipping by value and norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore.common._refused import refused
from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._checked import checked
from mindspore.common._kinds import Positive
from mindspore.common import dtype as mstype
from mindspore.ops import _sparse
from mindspore.ops._custom import invoke
from mindspore.ops._grad import GradOperation, grad, value_and_grad


class MultitypeFuncGraph:
    """One name for several functions, chosen by the types of the arguments: `@f.register("Tensor", "Number")`. The first that was
    registered for types that fit is called.

    Args:
        name: for messages.
        read_value: accepted; a Parameter is its value.
    """

    @checked
    def __init__(self, name: str, read_value: bool = False):
        self.name, self.read_value = name, read_value
        self.entries: list[tuple[tuple, Callable]] = []
        self.__name__ = name

    def register(self, *type_names: Any) -> Callable:
        """Adds the decorated function for arguments of the given types (names, element types or Python types)."""
        for name in type_names:
            if isinstance(name, str) and name not in _KINDS and name not in _NUMBERS:
                raise ValueError(
                    f"For 'MultitypeFuncGraph', the types of '{self.name}' must be known names, but got '{name}'; there "
                    f"are {', '.join([*_KINDS, *_NUMBERS])}."
                )

        def add(fn: Callable) -> Callable:
            self.entries.append((type_names, fn))
            return fn

        return add

    def __call__(self, *args: Any) -> Any:
        for types, fn in self.entries:
            if len(types) == len(args) and all(_is_a(a, t) for a, t in zip(args, types)):
                return invoke(fn, *args)
        got = ", ".join(type(a).__name__ for a in args)
        known = "; ".join("(" + ", ".join(map(str, types)) + ")" for types, _ in self.entries)
        raise TypeError(
            f"For 'MultitypeFuncGraph', '{self.name}' must have a function for the types of the arguments, but got "
            f"({got}); it has {known or 'none'}."
        )

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph({self.name})"


_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Number": lambda v: isinstance(v, (int, float)),
    "Bool": lambda v: isinstance(v, bool),
    "Function": callable,
    "Func": callable,
    "Tuple": lambda v: isinstance(v, tuple) and not isinstance(v, _sparse.Sparse),
    "List": lambda v: isinstance(v, list),
    "Dictionary": lambda v: isinstance(v, dict),
    "String": lambda v: isinstance(v, str),
    "None": lambda v: v is None,
    "Slice": lambda v: isinstance(v, slice),
    "Ellipsis": lambda v: v is Ellipsis,
    "Parameter": lambda v: isinstance(v, _late.parameter_class),
    # Kinds of values that this framework does not have.
    **dict.fromkeys(("MapTensor", "UMonadType"), lambda v: False),
    "COOTensor": lambda v: isinstance(v, _sparse.COOTensor),
    "CSRTensor": lambda v: isinstance(v, _sparse.CSRTensor),
    **dict.fromkeys(("RowTensor", "RowTensorInner"), lambda v: isinstance(v, _sparse.RowTensor)),
}
# Python has one kind of int, an Int64, and one of float, which is a Float32 as soon as it meets a tensor.
_NUMBERS: dict[str, type | None] = {
    "Int": int,
    "Int64": int,
    "Float": float,
    "Float32": float,
    "Float64": float,
    **dict.fromkeys(
        ("Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "UInt64", "Float16", "BFloat16"),
        None,
    ),
}


def _is_a(value: Any, kind: Any) -> bool:
    if isinstance(kind, str):
        return _KINDS[kind](value) if kind in _KINDS else type(value) is _NUMBERS[kind]
    if isinstance(kind, mstype.TensorType) and kind.element_type() is not None:
        return isinstance(value, Tensor) and value.dtype == kind.element_type()
    if isinstance(kind, mstype.Type):
        text = str(kind)
        return _KINDS[text](value) if text in _KINDS else type(value) is _NUMBERS.get(text)
    return isinstance(value, kind)


class HyperMap:
    """Applies a function to matching leaves of nested tuples, lists and dicts.

    Args:
        ops: the function; without it, it is the first argument of the call.
        reverse: whether the items are visited from the last to the first; the result is the same.
    """

    @checked
    def __init__(self, ops: Callable | None = None, reverse: bool = False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        name = type(self).__name__
        fn, trees = (self.ops, args) if self.ops is not None else (args[:1], args[1:])
        fn = fn[0] if isinstance(fn, tuple) and fn else fn
        if not callable(fn):
            raise TypeError(
                f"For '{name}', the first argument must be a function, but got {type(fn).__name__}."
            )
        if not trees:
            raise TypeError(f"For '{name}', there must be something to map over, but got nothing.")
        return self._map(fn, trees)

    def _map(self, fn: Callable, trees: tuple) -> Any:
        if not any(map(_is_structure, trees)):
            return invoke(fn, *trees)
        return self._items(fn, trees)

    def _items(self, fn: Callable, trees: tuple) -> Any:
        first = trees[0]
        if isinstance(first, dict) and all(
            isinstance(t, dict) and list(t) == list(first) for t in trees
        ):
            made = self._each(fn, [tuple(t[key] for t in trees) for key in first])
            return dict(zip(first, made))
        if not all(isinstance(t, (tuple, list)) and len(t) == len(first) for t in trees):
            one_kind = any(all(isinstance(t, k) for t in trees) for k in ((tuple, list), dict))
            raise (ValueError if one_kind else TypeError)(
                f"For '{type(self).__name__}', the structures must match, but got {_described(trees)}."
            )
        made = self._each(fn, list(zip(*trees)))
        return made if isinstance(first, list) else tuple(made)

    def _each(self, fn: Callable, groups: list) -> list:
        order = reversed(groups) if self.reverse else groups
        made = [self._step(fn, group) for group in order]
        return made[::-1] if self.reverse else made

    def _step(self, fn: Callable, group: tuple) -> Any:
        return self._map(fn, group)


def _is_structure(tree: Any) -> bool:
    return isinstance(tree, (tuple, list, dict)) and not isinstance(tree, _sparse.Sparse)


def _described(trees: tuple) -> str:
    return " and ".join(
        f"a {type(t).__name__} of {len(t)}"
        if isinstance(t, (tuple, list, dict))
        else type(t).__name__
        for t in trees
    )


class Map(HyperMap):
    """Applies a function to matching items of sequences, one level deep.

    Args:
        ops: the function; without it, it is the first argument of the call.
        reverse: whether the items are visited from the last to the first; the result is the same.
    """

    def _map(self, fn: Callable, trees: tuple) -> Any:
        return self._items(fn, trees)

    def _step(self, fn: Callable, group: tuple) -> Any:
        return invoke(fn, *group)


@checked
def tail(sequence: Sequence[Any]) -> tuple:
    """All items but the first."""
    return tuple(sequence[1:])


@checked
def zip_operation(*sequences: Sequence[Any]) -> tuple:
    """`tuple(zip(...))` of sequences of equal length."""
    if len({len(s) for s in sequences}) > 1:
        raise ValueError(
            f"For 'zip_operation', the sequences must be equally long, but got {_described(sequences)}."
        )
    return tuple(zip(*sequences))


def _ones_like_for_grad(x: Any) -> Any:
    """Ones in the place of each tensor of a structure."""
    from mindspore import ops

    return HyperMap(ops.ones_like)(x)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Elements below the minimum become the minimum, those above the maximum the maximum."""
    from mindspore import ops

    return ops.clip_by_value(x, clip_value_min, clip_value_max)


@checked
def clip_by_global_norm(
    x: Tensor | Sequence[Tensor],
    clip_norm: Positive | Tensor = 1.0,
    use_norm: None = None,
) -> Any:
    """Scales tensors down together so that their joint Euclidean norm is at most `clip_norm`."""
    from mindspore import ops

    if isinstance(clip_norm, Tensor) and clip_norm.size != 1:
        raise ValueError(
            f"For 'clip_by_global_norm', 'clip_norm' must have one element, but got shape {clip_norm.shape}."
        )
    items = [x] if isinstance(x, Tensor) else x
    if not items:
        return x
    doubles = [t for t in items if t.dtype == _core.float64]
    exact = _core.float64 if doubles else _core.float32
    total: Any = None
    for t in items:
        part = ops.reduce_sum(ops.square(ops.cast(t, exact)))
        total = part if total is None else total + part
    norm = ops.sqrt(total)
    limit = ops.full_like(norm, clip_norm) if not isinstance(clip_norm, Tensor) else clip_norm
    scale = limit / ops.maximum(norm, limit)
    scaled = [t * ops.cast(scale, t.dtype) for t in items]
    if isinstance(x, Tensor):
        return scaled[0]
    return scaled if isinstance(x, list) else tuple(scaled)


def __getattr__(name: str) -> Any:
    """Functions that older scripts reach through `composite`, such as `C.matmul`."""
    from mindspore.ops import functional

    return getattr(functional, name) if hasattr(functional, name) else refused(__name__)(name)


__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "clip_by_global_norm",
    "clip_by_value",
    "grad",
    "tail",
    "value_and_grad",
    "zip_operation",
]
