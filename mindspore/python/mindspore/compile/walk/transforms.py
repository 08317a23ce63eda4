"""jvp, vjp and vmap inside compiled code: the function becomes a graph of its own, and a structural op makes of it the function
of tangents, or of many items; passes expand it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.compile.program.borders import plainly, serves
from mindspore.compile.walk.apart import Apart
from mindspore.compile.walk.gradients import variables
from mindspore.compile.walk.tracer import at_work
from mindspore.ops._custom import has_tangent
from mindspore.ops._grad import zeros_like


class FunctionGraph(Apart):
    """`call`, which takes a list of tensors, traced for a transform of this name."""

    def __init__(self, name: str, call: Callable, inputs: list, weights: list):
        what = f"a function under {name}"
        super().__init__(
            at_work(), name, what, lambda inner: plainly(call, [inner], {}), inputs, weights
        )


class _Mapped(FunctionGraph):
    """It stands for a call for each item."""

    def __init__(self, name: str, call: Callable, inputs: list, weights: list):
        tracer = at_work()
        tracer.fixed += 1  # the items would each leave a value of their own
        try:
            super().__init__(name, call, inputs, weights)
        finally:
            tracer.fixed -= 1

    def _leave(self) -> list:
        self.leaving.refuse_all()
        left = super()._leave()
        self.leaving.refuse_tensors()
        return left


@serves
def jvp_in_trace(call: Callable, primals: list, tangents: list) -> tuple[Any, list]:
    """The value of `call`, and a tangent for each tensor in it."""
    graph = FunctionGraph("jvp", call, primals, [])
    trace = graph.trace
    moving = [t for p, t in zip(primals, tangents) if has_tangent(p)]
    results = trace.call(trace.jvp(trace.partial(graph.graph)), [*primals, *moving])
    count = len(graph.outputs())
    rest = iter(results[count:])
    found = [next(rest) if has_tangent(o) else None for o in graph.outputs()]
    tangents = [zeros_like(o) if t is None else t for o, t in zip(graph.leaves, found)]
    return graph.place(results[:count]), tangents


@serves
def vjp_in_trace(call: Callable, primals: list, weights: list) -> tuple[Any, Callable]:
    """The value of `call`, and the function from tangents of its tensors to gradients of primals and weights."""
    value, back, rest = both_ways(call, primals, weights)
    tracer = at_work()
    places = gradient_places([*primals, *weights])

    def pull(tangents: list) -> list:
        return all_gradients(tracer.trace.call(back, [*tangents, *rest])[1:], places)

    return value, pull


def both_ways(call: Callable, primals: list, weights: list) -> tuple[Any, Any, list]:
    """The value of `call`, the backward function value, and the tangents that it takes after those of the value."""
    graph = FunctionGraph("vjp", call, primals, [(w, w) for w in weights])
    trace = graph.trace
    inputs = [*variables(at_work(), primals), *map(trace.lift, weights)]
    results = trace.call(trace.vjp(trace.partial(graph.graph)), inputs)
    value = graph.place(results[:-1])
    return value, results[-1], [zeros_like(o) for o in graph.rest() if has_tangent(o)]


def gradient_places(inputs: list) -> list[Tensor | None]:
    """For each input its gradient, where that is zero: it is of dtype Bool."""
    return [None if has_tangent(t) else zeros_like(t) for t in inputs]


def all_gradients(found: list, places: list) -> list:
    """One gradient for each input, from those of what has one."""
    items = iter(found)
    return [next(items) if zero is None else zero for zero in places]


@serves
def vmap_in_trace(
    call: Callable, tensors: list, batched: list, size: int, places: Callable, members: list
) -> tuple[Any, list]:
    """The value of `call` on `size` items, which lie along axis 0 of the `batched` tensors. `places(value)` says for each
    tensor of the value whether it differs between items. `members` are lists of Parameters, one for each item, that
    the function knows as the first of them."""
    inputs = [(t.dtype, tuple(t.shape)[1:]) if b else t for t, b in zip(tensors, batched)]
    weights = [(group[0], group[0]) for group in members]
    graph = _Mapped("vmap", call, inputs, weights)
    trace = graph.trace
    own = {id(group[0]): group for group in members}
    out = [0 if differs else -1 for differs in plainly(places, [graph.value], {})]
    out += [0 if id(p) in own else -1 for p, _ in graph.updated]
    into = [0 if b else -1 for b in batched] + [0] * len(members)
    function = trace.vmap(trace.partial(graph.graph), into, out, size, len(graph.updated))
    stacked = [ops.stack([trace.lift(p) for p in group]) for group in members]
    results = trace.call(function, [*tensors, *stacked])
    for (parameter, _), value in zip(graph.updated, results[len(graph.leaves) :]):
        group = own.get(id(parameter))
        if group is None:
            trace.set_parameter(parameter, value)
            continue
        for member, item in zip(group, ops.unstack(value)):
            trace.set_parameter(member, item)
    return graph.value, results[: len(graph.leaves)]
