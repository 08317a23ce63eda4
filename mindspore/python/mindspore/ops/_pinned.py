"""Pins of the user: how operands and results of an op, or values in a function, are to lie among processes. While a function is
compiled in an auto-parallel mode a pin becomes the op ShardHint, which changes nothing and which the planner obeys; at all other times
pins are kept and do nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _groups, _layouts, _planning
from mindspore.common._layouts import Cuts, Layout

_numbers = itertools.count()  # of pinned calls: the operands and results of one belong together


# ---- what users write ---------------------------------------------------------------------------------------------------------
def check_strategies(owner: str, in_strategy: Any, out_strategy: Any) -> None:
    """Strategies for operands and results: tuples of tuples of ints, or tuples of Layouts."""
    kinds = set()
    for what, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if strategy is None:
            continue
        if not isinstance(strategy, tuple):
            raise TypeError(
                f"For '{owner}', '{what}' must be a tuple, but got {type(strategy).__name__}."
            )
        kinds |= {check_pin(owner, what, pin) for pin in strategy if pin is not None}
    if len(kinds) > 1:
        raise (ValueError if in_strategy and out_strategy else TypeError)(
            f"For '{owner}', strategies must all be tuples of ints, or all Layouts, but got {in_strategy} and {out_strategy}."
        )
    if in_strategy is None and out_strategy is not None:
        raise ValueError(
            f"For '{owner}', 'in_strategy' must be given with 'out_strategy' {out_strategy}, but got None."
        )


def check_pin(owner: str, what: str, pin: Any) -> type:
    """One of them; the kind that it is."""
    if isinstance(pin, Layout):
        if pin.axes is None:
            raise ValueError(
                f"For '{owner}', a layout in '{what}' must have been called with the names of the dimensions, but got {pin}."
            )
        _planning.see(pin)
        return Layout
    if not isinstance(pin, tuple):
        raise TypeError(
            f"For '{owner}', '{what}' must hold tuples or Layouts, but got {type(pin).__name__}."
        )
    for cut in pin:
        if isinstance(cut, tuple):  # of an operand that is a tuple of tensors
            check_pin(owner, what, cut)
        elif type(cut) is not int:
            raise TypeError(
                f"For '{owner}', '{what}' must hold tuples of ints, but got {type(cut).__name__}."
            )
        elif cut < 1:
            raise ValueError(
                f"For '{owner}', '{what}' must cut into at least 1 part, but got {pin}."
            )
    _planning.see_cuts([cut for cut in pin if isinstance(cut, int)])
    return tuple


# ---- hints --------------------------------------------------------------------------------------------------------------------
def hinted(x: Tensor, text: str, strategy: str = "") -> Tensor:
    """A tensor that lies as the text says."""
    from mindspore.ops._bind import raw

    return raw("ShardHint")(x, layout=text, strategy=strategy)


def pinned(owner: str, x: Any, pin: Any) -> Any:
    """A tensor as a Layout or cuts say; while nothing is planned, the tensor."""
    mesh = _planning.traced_mesh()
    if pin is None or mesh is None or not isinstance(x, Tensor):
        return x
    return hinted(x, _planning.pin_text(owner, pin, x.shape, mesh), owner)


def active() -> bool:
    """Whether a function is being compiled that will be divided."""
    return _planning.traced_mesh() is not None


def part_of_batch(x: Any, number: int) -> Any:
    """A value that belongs to one of the parts of a batch that go through the stages of a pipeline."""
    if _planning.traced_stages() == 1 or not isinstance(x, Tensor):
        return x
    from mindspore.ops._bind import raw

    return raw("StageMark")(x, part=number)


def pinned_all(owner: str, values: Any, pins: Sequence[Any] | None) -> Any:
    """The tensors of a value, each as its pin says: of a tuple or list of tensors in order, or of one."""
    if pins is None or not active():
        return values
    if isinstance(values, (tuple, list)):
        if len(pins) > sum(isinstance(v, Tensor) for v in values):
            raise ValueError(
                f"For '{owner}', there must be a tensor for each of the {len(pins)} strategies, but got {len(values)} values."
            )
        rest = iter(pins)
        return type(values)(
            [pinned(owner, v, next(rest, None)) if isinstance(v, Tensor) else v for v in values]
        )
    return pinned(owner, values, pins[0] if pins else None)


# ---- calls of primitives --------------------------------------------------------------------------------------------------------
def pinned_call(primitive: Any, call: Callable) -> Callable:
    """The call of a primitive with strategies for its operands and results."""

    def run(*args: Any, **kwargs: Any) -> Any:
        mesh = _planning.traced_mesh()
        if mesh is None:
            return call(*args, **kwargs)
        return _Call(primitive, args, kwargs, mesh).run(call)

    return run


class _Call:
    """One call of a pinned primitive."""

    def __init__(
        self, primitive: Any, args: tuple, kwargs: dict[str, Any], mesh: _layouts.Mesh
    ) -> None:
        self.name = str(primitive.name)
        self.ins, self.outs = (
            primitive.attrs.get("in_strategy"),
            primitive.attrs.get("out_strategy"),
        )
        self.primitive, self.args, self.kwargs = primitive, list(args), kwargs
        self.mesh = mesh
        self.id = f"{self.name}#{next(_numbers)}"
        self.places = [i for i, a in enumerate(self.args) if isinstance(a, Tensor)]
        if self.ins is not None and len(self.ins) > len(self.places):
            raise ValueError(
                f"For '{self.name}', 'in_strategy' must have an entry for each of the {len(self.places)} tensors, but got {self.ins}."
            )

    def run(self, call: Callable) -> Any:
        """The call, with hints around it."""
        pins = [*(self.ins or ()), *[None] * len(self.places)][: len(self.places)]
        if any(isinstance(pin, Layout) for pin in pins):
            texts = [self._of_layout(pin, at) for pin, at in zip(pins, self.places)]
            axes: list = []
        else:
            texts, axes = self._of_cuts(pins)
        for at, text in zip(self.places, texts):
            if text is not None:
                self.args[at] = hinted(self.args[at], text, self.id)
        result = call(*self.args, **self.kwargs)
        if self.outs is None:
            return result
        values = result if isinstance(result, tuple) else (result,)
        made = [self._result(v, n, axes) for n, v in enumerate(values)]
        return tuple(made) if isinstance(result, tuple) else made[0]

    def _of_layout(self, pin: Any, at: int) -> str | None:
        if pin is None:
            return None
        return _layouts.layout_text(self.name, pin, self.mesh, self.args[at].ndim)

    def _of_cuts(self, pins: list) -> tuple[list[str | None], list]:
        """The texts of the operands, and the axes that the results' dimensions get from them."""
        cuts: list[Cuts | None] = []
        for number, (pin, at) in enumerate(zip(pins, self.places)):
            what = f"input {number}"
            shape = self.args[at].shape
            cuts.append(
                None
                if pin is None
                else _layouts.check_cuts(self.name, pin, shape, self._devices(), what)
            )
        rule = self._rule()
        if rule is None or any(not isinstance(a, Tensor) for a in self.args[: len(self.places)]):
            alone = [
                None if c is None else _layouts.cuts_text(self.name, c, self.mesh) for c in cuts
            ]
            return alone, []
        texts, results = _layouts.rule_texts(self.name, rule, cuts, self.mesh)
        return [None if c is None else t for c, t in zip(cuts, texts)], results

    def _devices(self) -> int:
        return math.prod(size for _, size in self.mesh)

    def _rule(self) -> dict[str, Any] | None:
        """The sharding rule of the call; None where it has none."""
        primitive = self.primitive
        op = getattr(primitive, "_op", "")
        if not op:
            return None
        attrs = {
            n: v for n, v in primitive.attrs.items() if n in primitive._attributes and v is not None
        }
        inputs: list[Any] = []
        for name, value in [*zip(primitive._call_names, self.args), *self.kwargs.items()]:
            attribute = name.rpartition("@")[2]
            if "@" in name or attribute in primitive._attributes:
                attrs[attribute] = value
            else:
                tensor = isinstance(value, Tensor)
                inputs.append((value.dtype, tuple(value.shape)) if tensor else value)
        try:
            rule: dict[str, Any] | None = _core.shard_rule(op, inputs, attrs)
        except (TypeError, ValueError, RuntimeError):
            return None  # the call itself says what is wrong with it
        return rule

    def _result(self, value: Any, number: int, texts: list[str]) -> Any:
        if number >= len(self.outs) or self.outs[number] is None or not isinstance(value, Tensor):
            return value
        pin = self.outs[number]
        if isinstance(pin, Layout):
            text = _layouts.layout_text(self.name, pin, self.mesh, value.ndim)
        else:
            cuts = _layouts.check_cuts(
                self.name, pin, value.shape, self._devices(), f"output {number}"
            )
            near = texts[number] if number < len(texts) else None
            text = _layouts.cuts_like(self.name, cuts, near, self.mesh)
        return hinted(value, text, self.id)


# ---- Parameters -----------------------------------------------------------------------------------------------------------------
def share(parameters: Sequence[Any]) -> None:
    """Gives all processes the values of the first, once for each Parameter: each has drawn its own where no seed is set."""
    from mindspore.ops import _exchange

    if _groups.world_size() == 1:
        return
    at = _groups.member(None, "parameter_broadcast")
    for parameter in parameters:
        if getattr(parameter, "_alike", False):
            continue
        parameter._alike = True
        if _planning.slice_of(parameter) is None:
            parameter.init_data()
            parameter.set_data(_exchange.broadcast(parameter.value(), 0, at))
