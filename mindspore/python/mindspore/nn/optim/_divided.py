"""Optimizers whose states are divided among the processes of a data-parallel training: each keeps and updates the states of its rows of
the parameters, and all are given the rows of all. `set_auto_parallel_context(enable_parallel_optimizer=True)` asks for it.

An optimizer that is made then becomes the face of another one of its class, which is made of rows: what users see, its parameters, its
learning rate, are of the whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mindspore import context, log
from mindspore.common import _groups
from mindspore.common._groups import Member
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import _exchange
from mindspore.ops._each import give_rows, own_rows, take_rows

_SETTER = "set_auto_parallel_context"
_LEVELS = ("level1", "level2", "level3")
_KILOBYTE = 1024
# Their steps look at whole parameters: at a norm, or at means over rows.
_WHOLE = ("Lamb", "AdaFactor")


class Rows(NamedTuple):
    """What a process has of a parameter: from its attribute `own_rows`."""

    begin: int
    end: int
    all: int
    at: Member


class _Wish(NamedTuple):
    threshold: int  # bytes from which on a parameter is divided
    gradients: bool  # whether gradients are divided, too
    at: Member


def wish(cls: type) -> _Wish | None:
    """What the settings ask of an optimizer that is made; None: its states are whole."""
    if not context.get_auto_parallel_context("enable_parallel_optimizer") or _building.inner:
        return None
    if context.planned():  # the compiler divides the states together with the parameters
        return None
    if not _groups.have_the_same():
        return None
    threshold, gradients = _checked(context.get_auto_parallel_context("parallel_optimizer_config"))
    if cls.__name__ in _WHOLE or not cls.__module__.startswith("mindspore.nn.optim."):
        log.warn_once(
            f"undivided {cls.__name__}",
            f"The states of the optimizer '{cls.__name__}' are whole in each process: its steps may look at whole parameters.",
        )
        return None
    return _Wish(threshold * _KILOBYTE, gradients, _groups.member(None, cls.__name__))


def _checked(config: dict[str, Any]) -> tuple[int, bool]:
    """The threshold that `parallel_optimizer_config` says, in KB, and whether gradients are divided; what is not done is said."""
    threshold = config.get("parallel_optimizer_threshold", 64)
    if type(threshold) is not int or threshold < 0:
        raise ValueError(
            f"For '{_SETTER}', 'parallel_optimizer_threshold' must be an int that is not negative, but got {threshold!r}."
        )
    level = config.get("optimizer_level", "level1")
    if level not in _LEVELS:
        raise ValueError(
            f"For '{_SETTER}', 'optimizer_level' must be one of {list(_LEVELS)}, but got {level!r}."
        )
    sizes = config.get("optimizer_weight_shard_size", -1)
    if sizes not in (-1, _groups.world_size()):
        raise ValueError(
            f"For '{_SETTER}', 'optimizer_weight_shard_size' must be -1 or the number of processes, {_groups.world_size()}, but got "
            f"{sizes!r}."
        )
    if level == "level3":
        log.warn_once(
            "optimizer level",
            "States of optimizers and gradients are divided, weights are whole in each process: 'level3' needs "
            "parallel_mode='semi_auto_parallel', which divides them, too.",
        )
    return threshold, level != "level1" or bool(config.get("gradient_accumulation_shard"))


def _part(parameter: Parameter, wished: _Wish) -> Parameter:
    """The rows of a parameter that this process updates, or the parameter itself."""
    shape, at = tuple(parameter.shape), wished.at
    small = parameter.size * parameter.itemsize < wished.threshold
    own = parameter.layerwise_parallel or not parameter.parallel_optimizer
    if small or own or not shape or shape[0] == 0 or shape[0] % at.size:
        return parameter
    count = shape[0] // at.size
    rows = Rows(at.rank * count, (at.rank + 1) * count, shape[0], at)
    parameter.init_data()
    part = Parameter(
        Tensor(parameter.asnumpy()[rows.begin : rows.end].copy(), parameter.dtype),
        name=parameter.name,
    )
    kept = {name: value for name, value in vars(parameter).items() if name not in vars(part)}
    vars(part).update(kept)
    vars(part)["own_rows"] = rows  # its clones, the states, have it too
    return part


class _Building(threading.local):
    inner = (
        False  # an optimizer of rows is being made by this thread, which is not to be divided again
    )


_building = _Building()


def build(face: Any, wished: _Wish, init: Callable, params: list[Any], rest: Any) -> None:
    """Makes an optimizer the face of one of rows. `init(optimizer, params, *args, **kwargs)` makes one."""
    args, kwargs = rest
    parts: dict[int, Parameter] = {}
    whole: dict[int, Parameter] = {}

    def part(parameter: Any) -> Any:
        if not isinstance(parameter, Parameter):
            return parameter  # the optimizer refuses it
        if id(parameter) not in parts:
            own = parts[id(parameter)] = _part(parameter, wished)
            whole[id(own)] = parameter
        return parts[id(parameter)]

    def parts_of(item: Any) -> Any:
        if not isinstance(item, dict):
            return part(item)
        lists = {k: [part(p) for p in item[k]] for k in ("params", "order_params") if k in item}
        return {**item, **lists}

    cls: Any = type(face)
    inner = cls.__new__(cls)
    _building.inner = True
    try:
        init(inner, [parts_of(item) for item in params], *args, **kwargs)
    finally:
        _building.inner = False
    for own in inner.parameters:
        if whole[id(own)] is not own:
            inner._params.pop(own.name)
    _become(face, inner, tuple(whole[id(own)] for own in inner.parameters))
    vars(face)["_takes_rows"] = wished.gradients


def _become(face: Any, inner: Any, weights: tuple[Parameter, ...]) -> None:
    face.__class__ = type(type(inner).__name__, (_Face, type(inner)), {"__doc__": inner.__doc__})
    Cell.__init__(face, auto_prefix=False)
    own = vars(face)
    own.update({name: value for name, value in vars(inner).items() if name not in own})
    face._rows_of = inner
    face.parameters = face.params = face._parameters = ParameterTuple(weights)
    own["_own"] = tuple(getattr(part, "own_rows", None) for part in inner.parameters)
    own["_at"] = _groups.member(None, type(inner).__name__)


class _Face(Cell):
    """The whole optimizer of which each process has a part."""

    def construct(self, gradients: Sequence[Tensor]) -> Any:
        """Update the rows of this process, and take those of the others."""
        if len(gradients) != len(self._own):
            return self._rows_of(gradients)  # refuses them
        parts = self._rows_of.parameters
        take_rows(parts, self.parameters, self._own)
        done = self._rows_of(own_rows(gradients, self._own))
        give_rows(parts, self.parameters, self._own, self._at)
        return done

    construct.is_compiled_update = True  # type: ignore[attr-defined]


def rows_of_gradients(optimizer: Any) -> tuple[Rows | None, ...]:
    """For each gradient the rows of it that are enough for an optimizer; empty: it asks for whole ones."""
    facts = vars(optimizer)
    return facts["_own"] if facts.get("_takes_rows") else ()


def whole_state(value: Any) -> Any:
    """A state with the rows of all processes, which all call this in the same order; other values are whole."""
    rows = vars(value).get("own_rows") if isinstance(value, Parameter) else None
    if rows is None or value.shape[0] != rows.end - rows.begin:
        return value
    return _exchange.all_gather(value.value(), rows.at)


def rows_of_state(target: Parameter, value: Any) -> Any:
    """What a process takes of a whole value that is loaded into a parameter, which may be a state of which it has rows."""
    rows = vars(target).get("own_rows")
    if rows is None or tuple(value.shape) != (rows.all, *target.shape[1:]):
        return value
    return Parameter(value.value()[rows.begin : rows.end].copy(), name=target.name)


__all__ = ["Rows", "build", "rows_of_gradients", "rows_of_state", "whole_state", "wish"]
