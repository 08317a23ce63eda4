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
