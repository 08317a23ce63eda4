"""What is called: public functions, Tensor methods, cells and metrics, each with arguments that it takes."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor, _core, nn, ops
from mindspore.common import initializer
from mindspore.ops._bind import _split_signature
from wild.samples import TEXTS, arguments, from_signature

_MADE = (ms.Tensor, ms.Parameter, ms.ParameterTuple, initializer.initializer)


@dataclasses.dataclass
class Target:
    """Something that is called. `make` gives it: anew for each case, where calls may change it."""

    name: str
    make: Callable[[], Callable]
    args: list
    kwargs: dict
    names: list[str]  # parameters that can be given by name and are not among `args`


@functools.cache
def _declared() -> dict[str, list[str]]:
    """The names of the parameters of functions and methods of the registry."""
    found = {}
    for op in _core.registry():
        for kind, place in (("functions", "ops"), ("methods", "Tensor")):
            for text in op[kind]:
                name, (given,) = _split_signature(text)
                found[f"{place}.{name}"] = [(n, has, i) for i, (n, _, has) in enumerate(given)]
    return found


def _of_function(name: str, function: Callable) -> Target:
    same = name.replace("Tensor.", "ops.")
    if name in _declared():
        parameters = _declared()[name]
        args, kwargs = arguments(TEXTS[same]) if same in TEXTS else (_plain(parameters), {})
        names = [n for n, _, _ in parameters[len(args) :]]
    else:
        text = TEXTS.get(name, TEXTS.get(same))
        args, kwargs = arguments(text) if text else (from_signature(function), {})
        plain = isinstance(function, types.MethodDescriptorType)  # written in C++
        names = [] if plain else _named(function, len(args))
    return Target(name, lambda: function, args, kwargs, names)


def _plain(parameters: list) -> list:
    from wild.samples import f

    return [f(2, 3) for _, has_default, _ in parameters if not has_default]


def _named(function: Callable, given: int) -> list[str]:
    """Parameters after those that are given by position."""
    parameters = list(inspect.signature(function).parameters.values())
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        p.name
        for i, p in enumerate(parameters)
        if p.kind in kinds and (i >= given or p.kind is kinds[1])
    ]


def _of_class(name: str, kind: type) -> Iterator[Target]:
    text, _, later = TEXTS.get(name, "").partition("|")
    args, kwargs = arguments(text) if name in TEXTS else (from_signature(kind.__init__, 1), {})
    yield Target(f"{name}()", lambda: kind, args, kwargs, _keywords(kind, len(args)))
    if not issubclass(kind, (nn.Cell, nn.Metric)) or kind in _NOT_CALLED:
        return
    made = kind(*args, **kwargs)
    method = made.update if isinstance(made, nn.Metric) else made.construct
    given, named = arguments(later) if later else (from_signature(method), {})
    fresh = lambda: _method_of(kind(*args, **kwargs))
    make = fresh if isinstance(made, nn.Metric) else lambda: made
    yield Target(name, make, given, named, _named(method, len(given)))


def _method_of(made: Any) -> Callable:
    return made.update


def _members() -> Iterator[tuple[str, Any]]:
    places = {f"ops.{name}": getattr(ops, name) for name in ops.__all__}
    declared = {id(member) for place, member in places.items() if place in _declared()}
    for place, member in places.items():
        another_name = place not in _declared() and id(member) in declared
        if not (inspect.ismodule(member) or isinstance(member, type) or another_name):
            yield place, member
    for name in dir(Tensor):
        member = inspect.getattr_static(Tensor, name)
        if not name.startswith("_") and callable(member) and not isinstance(member, type):
            yield f"Tensor.{name}", getattr(Tensor, name)
    for name in nn.__all__:
        yield f"nn.{name}", getattr(nn, name)
    for name in mnp.__all__:
        member = getattr(mnp, name)
        if isinstance(member, _core.CheckedFunction):
            yield f"numpy.{name}", member
    for made in _MADE:
        yield f"ms.{made.__name__}", made


def _keywords(kind: type, given: int) -> list[str]:
    try:
        return _named(kind, given)
    except ValueError:  # written in C++
        return ["dtype", "shape", "init"]


# Bases that are there to be derived from, and what one process refuses.
_BASES = (
    *("nn.Cell", "nn.LearningRateSchedule", "nn.LossBase", "nn.Metric", "nn.EvaluationBase"),
    *("nn.AdaSumByGradWrapCell", "nn.AdaSumByDeltaWeightWrapCell"),
)
# Cells that are not called.
_NOT_CALLED = (nn.CellDict, nn.CellList, nn.GraphCell, nn.Optimizer)


def targets(only: str = "") -> list[Target]:
    """Those whose names begin so, in an order that stays."""
    found: list[Target] = []
    for name, member in _members():
        if name in _BASES or not name.startswith(only):
            continue
        if isinstance(member, type):
            found.extend(_of_class(name, member))
        else:
            found.append(_of_function(name, member))
    return found
