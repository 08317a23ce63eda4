"""What `input_signature` and `Cell.set_inputs` say of arguments: their dtypes, their sizes, and which sizes are open."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.common._symbol import Symbol, symbols_of
from mindspore.common._tree import flatten

if TYPE_CHECKING:
    from mindspore import _core

Sizes = tuple[int | None, ...]


class Signature:
    """Descriptions of the arguments of one function, by position and by name."""

    def __init__(self, name: str, function: Callable, inputs: tuple, named: dict | None = None):
        self.name, self.inputs, self.named = name, inputs, dict(named or {})
        self.parameters = argument_names(function)
        if len(inputs) > len(self.parameters) and self.parameters:
            raise ValueError(
                f"For '{name}', at most {len(self.parameters)} inputs can be declared, "
                f"({', '.join(self.parameters)}), but got {len(inputs)}."
            )
        for key in self.named:
            if key not in self.parameters:
                raise ValueError(
                    f"For '{name}', a declared input must be one of [{', '.join(self.parameters)}], but got '{key}'."
                )

    def bound(self) -> Signature:
        """The same for a method of an object, whose first parameter is not among the arguments."""
        signature = copy.copy(self)
        signature.parameters = self.parameters[1:]
        return signature

    def sizes(self, args: tuple, kwargs: dict) -> list[Sizes | None] | None:
        """For every tensor among the arguments its declared sizes, None where any size will do, or None where nothing was
        declared. No list where an open size is 0: symbols stand for sizes of at least 1."""
        found: list[Sizes | None] = []
        unique: dict[Symbol, int] = {}
        for position, value in enumerate(args):
            name = self.parameters[position] if position < len(self.parameters) else str(position)
            self._visit(self._declared(position, name), value, name, found, unique)
        for name, value in kwargs.items():
            position = self.parameters.index(name) if name in self.parameters else -1
            self._visit(self._declared(position, name), value, name, found, unique)
        tensors = flatten((list(args), kwargs))
        for sizes, tensor in zip(found, tensors):
            if sizes and any(s is None and n == 0 for s, n in zip(sizes, tensor.shape)):
                return None
        return found

    def _declared(self, position: int, name: str) -> Any:
        if 0 <= position < len(self.inputs):
            return self.inputs[position]
        return self.named.get(name)

    def _visit(self, declared: Any, value: Any, name: str, found: list, unique: dict) -> None:
        if isinstance(declared, Tensor):
            found.append(self._tensor(declared, value, name))
            self._check_symbols(symbols_of(declared), tuple(value.shape), name, unique)
        elif isinstance(declared, (tuple, list)):
            if not isinstance(value, (tuple, list)) or len(value) != len(declared):
                got = f"{type(value).__name__}" + (
                    f" of {len(value)}" if hasattr(value, "__len__") else ""
                )
                raise ValueError(
                    f"For '{self.name}', '{name}' must be a sequence of {len(declared)}, as declared, but got {got}."
                )
            for i, (d, v) in enumerate(zip(declared, value)):
                self._visit(d, v, f"{name}[{i}]", found, unique)
        elif isinstance(declared, dict) and isinstance(value, dict):
            for key, item in value.items():
                self._visit(declared.get(key), item, f"{name}[{key!r}]", found, unique)
        else:
            found.extend([None] * len(flatten(value)))

    def _tensor(self, declared: Tensor, value: Any, name: str) -> Sizes:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"For '{self.name}', '{name}' must be a Tensor, as declared, but got {type(value).__name__}."
            )
        if value.dtype != declared.dtype:
            raise TypeError(
                f"For '{self.name}', '{name}' must be of dtype {declared.dtype}, as declared, but got {value.dtype}."
            )
        shape, wanted = tuple(value.shape), tuple(declared.shape)
        if wanted == (-2,):
            return (None,) * len(shape)
        if len(shape) != len(wanted):
            raise ValueError(
                f"For '{self.name}', '{name}' must have {len(wanted)} dimensions, as declared, "
                f"but got {len(shape)} with shape {shape}."
            )
        for axis, (size, expected) in enumerate(zip(shape, wanted)):
            if expected not in (-1, size):
                raise ValueError(
                    f"For '{self.name}', dimension {axis} of '{name}' must be {expected}, as declared, "
                    f"but got {size} with shape {shape}."
                )
        return tuple(None if s == -1 else s for s in wanted)

    def _check_symbols(self, sizes: tuple, shape: tuple, name: str, unique: dict) -> None:
        """Holds open sizes to what their symbols say; `unique` has the sizes of those that stand for one."""
        for axis, (symbol, size) in enumerate(zip(sizes, shape)):
            if not isinstance(symbol, Symbol):
                continue
            must = symbol.refusal(size)
            if symbol.unique and unique.setdefault(symbol, size) != size:
                must = f"{unique[symbol]}, as the other sizes of its Symbol are"
            if must:
                raise ValueError(
                    f"For '{self.name}', dimension {axis} of '{name}' must be {must}, as declared, "
                    f"but got {size} with shape {shape}."
                )


def argument_names(function: Callable | None) -> list[str]:
    """The names of a function's arguments, in order; none where they cannot be found."""
    if function is None:
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.kind not in kinds]


def declared(function: Callable, inputs: Any) -> Signature | None:
    """The signature that `input_signature` gives to a function."""
    if inputs is None:
        return None
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    if not flatten(list(given)):
        raise TypeError(
            f"For 'jit', 'input_signature' must be a Tensor or a tuple with Tensors, but got {inputs!r}."
        )
    name = getattr(function, "__qualname__", type(function).__name__)
    return Signature(name, function, tuple(given))


class InputShapes:
    """The shapes of the parameters of a graph: every open size is a symbol of the trace. `merged` maps the number of an open
    size to that of an earlier one that it was found to equal."""

    def __init__(
        self,
        trace: _core.Trace,
        sizes: list[Sizes | None] | None = None,
        merged: dict[int, int] | None = None,
    ):
        self.trace, self.merged = trace, merged or {}
        self._declared: Iterator = iter(sizes or ())
        self._symbols: list[Any] = []  # by the number of the open size
        self._first: list[int] = []  # by symbol: the open size that it came from

    def next(self, tensor: Tensor) -> list:
        """The shape for the next tensor among the arguments."""
        declared = next(self._declared, None) or tuple(tensor.shape)
        return [self._open(n) if s is None else s for s, n in zip(declared, tensor.shape)]

    def _open(self, hint: int) -> Any:
        number = len(self._symbols)
        if number in self.merged:
            self._symbols.append(self._symbols[self.merged[number]])
        else:
            self._symbols.append(self.trace.add_symbol(hint))
            self._first.append(number)
        return self._symbols[-1]

    def found_equal(self) -> dict[int, int]:
        """Open sizes that the trace took to be equal because they are so in this call, as `merged`."""
        pairs = self.trace.equal_symbols() if self._symbols else ()
        return {self._first[later]: self._first[earlier] for earlier, later in pairs}
