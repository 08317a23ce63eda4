"""Python numbers among the arguments: constants of the compiled function, until one of them changes from call to call and
decides nothing that must be known while compiling. Then it is an input, and one version serves all its values."""

from __future__ import annotations

from typing import Any, NoReturn

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.program.failures import NumberDecides
from mindspore.compile.values.structure import Structure, holds, register

_LIMIT = 1 << 63


class NumberInput:
    """A number that each call brings. It can be an operand beside a tensor, where it has no dtype of its own; whatever else
    is done with it needs its value."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor):
        self.tensor = tensor

    def _decides(self, *_: Any) -> NoReturn:
        raise NumberDecides

    __bool__ = __int__ = __float__ = __index__ = __hash__ = _decides
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _decides
    __repr__ = __str__ = __format__ = __reduce__ = __copy__ = __deepcopy__ = _decides


_core.register_python("number_input", NumberInput)
register(NumberInput, Structure(sample=NumberInput._decides))


def is_number(value: Any) -> bool:
    """Whether an argument could become an input."""
    kind = type(value)
    return kind is float or (kind is int and -_LIMIT <= value < _LIMIT)


def as_tensor(value: Any) -> Tensor:
    """The number as a graph takes it: with all its digits."""
    return Tensor(value, _core.float64 if type(value) is float else _core.int64)


def holds_number(value: Any) -> bool:
    """Whether a NumberInput is somewhere in a structure."""
    return holds(value, lambda v: isinstance(v, NumberInput))


class Numbers:
    """For one function: which numbers among its arguments are inputs, by what the other arguments are."""

    def __init__(self) -> None:
        self._first: dict[tuple, tuple] = {}  # masked key: the numbers of the first call
        self._varied: dict[tuple, frozenset[int]] = {}  # places that are inputs

    def masked(self, key: tuple, values: list) -> tuple[tuple, list[int]]:
        """The key without the numbers, and their places among `values`, all arguments in order."""
        *settings, args, kwargs = key
        parts = [*args[1:], *[k for _, k in kwargs[1:]]]
        places = [i for i, v in enumerate(values) if is_number(v)]
        masked = [(p[0],) if i in places else p for i, p in enumerate(parts)]
        return (*settings, tuple(masked), tuple(name for name, _ in kwargs[1:])), places

    def inputs(self, masked: tuple) -> frozenset[int]:
        """The places that are inputs by now."""
        return self._varied.get(masked, frozenset())

    def next(self, masked: tuple, values: list, places: list[int]) -> frozenset[int]:
        """The places worth a try as inputs, since their numbers are not the first ones."""
        numbers = tuple(values[i] for i in places)
        first = self._first.setdefault(masked, numbers)
        changed = {
            i for i, a, b in zip(places, first, numbers) if a is not b and repr(a) != repr(b)
        }
        return frozenset(changed) | self.inputs(masked)

    def keep(self, masked: tuple, places: frozenset[int]) -> None:
        """These are inputs from now on; none: they were tried, and decide something."""
        self._varied[masked] = places
        while len(self._varied) > 64:
            self._varied.pop(next(iter(self._varied)))
        while len(self._first) > 64:
            self._first.pop(next(iter(self._first)))

    def tried(self, masked: tuple) -> bool:
        """Whether it was found that numbers decide something."""
        return masked in self._varied and not self._varied[masked]
