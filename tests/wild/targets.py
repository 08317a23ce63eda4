"""What is called: public functions, Tensor methods, cells and metrics, each with arguments that it takes."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import mindspore.dataset.transforms
import mindspore.dataset.vision
import mindspore.numpy as mnp
import mindspore.scipy.fft
import mindspore.scipy.linalg
import mindspore.scipy.optimize
import mindspore.scipy.sparse.linalg
from mindspore import Tensor, _core, mint, nn, ops
from mindspore.common import initializer
from mindspore.ops._bind import _split_signature
from wild import places
from wild.faces import FACES
from wild.listed import is_listed, listed_arguments, listed_object
from wild.samples import TEXTS, arguments, f, from_signature

_MADE = (ms.Tensor, ms.Parameter, ms.ParameterTuple, initializer.initializer)


@dataclasses.dataclass
class Target:
    """Something that is called. `make` gives it: anew for each case, where calls may change it."""

    name: str
    make: Callable[[], Callable]
    args: list
    kwargs: dict
    names: list[str]  # parameters that can be given by name and are not among `args`
    of_files: bool = False


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
    args, kwargs = _arguments(name, function)
    if name in _declared():
        names = [n for n, _, _ in _declared()[name][len(args) :]]
    else:
        names = _named(function, len(args))
    return Target(name, lambda: function, args, kwargs, names)


# Where else a function or method of a name is found that takes the same.
_SAME_ARGUMENTS = {"Tensor": ("ops", "mint"), "ops": ("Tensor",), "mint": ("ops", "Tensor")}


def _arguments(name: str, function: Callable) -> tuple[list, dict]:
    """Written down for it, or for the function of a method's name and the other way round; listed so; made for its signature."""
    home, _, own = name.partition(".")
    for place in (name, *(f"{other}.{own}" for other in _SAME_ARGUMENTS.get(home, ()))):
        if place in TEXTS:
            return arguments(TEXTS[place])
        if (found := listed_arguments(place)) is not None:
            return found
    if name in _declared():
        return [f(2, 3) for _, has_default, _ in _declared()[name] if not has_default], {}
    return from_signature(function), {}


def _named(function: Callable, given: int) -> list[str]:
    """Parameters after those that are given by position; none of what is written in C++."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        p.name
        for i, p in enumerate(parameters)
        if p.kind in kinds and (i >= given or p.kind is kinds[1])
    ]


def _of_class(name: str, kind: type) -> Iterator[Target]:
    (args, kwargs), inputs = _of_object(name, kind)
    yield Target(
        f"{name}()",
        lambda: kind,
        args,
        kwargs,
        _named(kind, len(args)) or _OF_TENSORS.get(name, []),
    )
    is_called = issubclass(kind, (nn.Cell, nn.Metric, ops.Primitive)) or "|" in FACES.get(name, "")
    if not is_called or kind in _NOT_CALLED:
        return
    made = kind(*args, **kwargs)
    method = _method_of(made)
    given, named = inputs or (from_signature(method), {})
    fresh = lambda: _method_of(kind(*args, **kwargs))
    make = fresh if isinstance(made, nn.Metric) else lambda: made
    yield Target(name, make, given, named, _named(method, len(given)))


def _of_object(name: str, kind: type) -> tuple[tuple[list, dict], tuple[list, dict] | None]:
    """What makes an object of a class, and what that is called with where that is known."""
    if name in TEXTS:
        text, _, later = TEXTS[name].partition("|")
        return arguments(text), arguments(later) if later else None
    return listed_object(name) or ((from_signature(kind.__init__, 1), {}), None)


_OF_TENSORS = {"ms.Tensor": ["dtype", "shape", "init"]}


def _method_of(made: Any) -> Callable:
    if isinstance(made, nn.Metric):
        return made.update
    return made.construct if isinstance(made, nn.Cell) else made


def _members() -> Iterator[tuple[str, Any]]:
    """What is public, each once."""
    seen: set[int] = set()
    for place, member in _places():
        absent = hasattr(member, "_ms_refused")
        if id(member) not in seen and callable(member) and not (inspect.ismodule(member) or absent):
            seen.add(id(member))
            yield place, member


def _places() -> Iterator[tuple[str, Any]]:
    for name in sorted(ops.__all__, key=lambda n: f"ops.{n}" not in _declared()):
        if not isinstance(getattr(ops, name), type):
            yield f"ops.{name}", getattr(ops, name)
    for name in ops.__all__:
        member = getattr(ops, name)
        if isinstance(member, type) and is_listed(f"ops.{name}", True):
            yield f"ops.{name}", member
    for name in dir(Tensor):
        if not name.startswith("_") and not isinstance(
            inspect.getattr_static(Tensor, name), property
        ):
            yield f"Tensor.{name}", getattr(Tensor, name)
    for made in _MADE:
        yield f"ms.{made.__name__}", made
    for place, module in _MODULES.items():
        for name in getattr(module, "__all__", None) or dir(module):
            member = getattr(module, name)
            whole = place == "nn" or (
                place == "numpy" and isinstance(member, _core.CheckedFunction)
            )
            full = f"{place}.{name}"
            if whole or full in FACES or is_listed(full, isinstance(member, type)):
                yield full, member


_MODULES = {
    "nn": nn,
    "numpy": mnp,
    "mint": mint,
    "mint.special": mint.special,
    "mint.linalg": mint.linalg,
    "mint.nn": mint.nn,
    "mint.nn.functional": mint.nn.functional,
    "mint.optim": mint.optim,
    "mint.distributed": mint.distributed,
    "communication.comm_func": ms.communication.comm_func,
    "scipy.linalg": mindspore.scipy.linalg,
    "scipy.fft": mindspore.scipy.fft,
    "scipy.optimize": mindspore.scipy.optimize,
    "scipy.sparse.linalg": mindspore.scipy.sparse.linalg,
    "amp": ms.amp,
    "dataset.vision": mindspore.dataset.vision,
    "dataset.transforms": mindspore.dataset.transforms,
    "train": ms.train,
}


# Bases that are there to be derived from, and what one process refuses.
_BASES = (
    *("nn.Cell", "nn.LearningRateSchedule", "nn.LossBase", "nn.Metric", "nn.EvaluationBase"),
    *("nn.AdaSumByGradWrapCell", "nn.AdaSumByDeltaWeightWrapCell"),
    "nn.GraphCell",  # of a file
    *("ops.send", "ops.recv", "ops.isend", "ops.irecv", "ops.batch_isend_irecv"),
    *("ops.send_object_list", "ops.recv_object_list"),
)
# Cells that are not called.
_NOT_CALLED = (nn.CellDict, nn.CellList, nn.Optimizer)


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
    for name, function, kwargs, names in places.calls():
        if name.startswith(only):
            of_files = not name.startswith("communication.")
            found.append(Target(name, lambda f=function: f, [], kwargs, names, of_files))
    return found
