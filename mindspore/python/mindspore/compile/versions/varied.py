"""Which Python numbers among the arguments of a function are inputs of its graph, since they changed from call to call
(values/numbers.py); and by what such versions are found."""

from __future__ import annotations

from mindspore.compile.program.recent import put
from mindspore.compile.values.numbers import is_number

_MOST = 64  # keys without numbers


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

    def next(self, masked: tuple, values: list, places: list[int]) -> frozenset[int]:
        """The places worth a try as inputs, since their numbers are not the first ones."""
        numbers = tuple(values[i] for i in places)
        if masked not in self._first:
            put(self._first, masked, numbers, _MOST)
        first = self._first[masked]
        changed = {
            i for i, a, b in zip(places, first, numbers) if a is not b and repr(a) != repr(b)
        }
        return frozenset(changed) | self._varied.get(masked, frozenset())

    def keep(self, masked: tuple, places: frozenset[int]) -> None:
        """These are inputs from now on; none: they were tried, and decide something."""
        put(self._varied, masked, places, _MOST)

    def tried(self, masked: tuple) -> bool:
        """Whether it was found that numbers decide something."""
        return masked in self._varied and not self._varied[masked]

    def key(self, masked: tuple, chosen: tuple[int, ...], values: list, places: list[int]) -> tuple:
        """The key of a version in which the chosen numbers are inputs, and the others constants."""
        kept = tuple((i, repr(values[i])) for i in places if i not in chosen)
        return ("numbers", chosen, kept, *masked)
