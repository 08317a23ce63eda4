"""Gradients inside compiled code: the function becomes a graph of its own, with what is differentiated as its parameters, and is
called through Vjp; the backward closure that comes back is called at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common._mutable import MUTABLE
from mindspore.common._tree import flatten, rebuild
from mindspore.compile.program.borders import program_operation, serves
from mindspore.compile.values import guards as facts
from mindspore.compile.walk.apart import Apart
from mindspore.compile.walk.tracer import Tracer, at_work
from mindspore.ops._custom import has_tangent
from mindspore.ops._grad import argument_gradient, weight_gradient


class Record(Apart):
    """A function that is differentiated: of the arguments at the `wanted` places, and of Parameters."""

    def __init__(self, tracer: Tracer, call: Callable, args: list, wanted: tuple, weights: list):
        self.wanted, self.weights, self.args = wanted, weights, args
        arguments = moving([args[i] for i in wanted])
        given = variables(tracer, arguments)

        def call_with(inner: list) -> Any:
            items, own = iter(inner), list(args)
            for i in wanted:
                own[i] = rebuild(args[i], lambda t: next(items) if has_tangent(t) else t)
            return call(own)

        super().__init__(
            tracer,
            "grad",
            "a differentiated function",
            call_with,
            map(_kind, arguments),
            [(w, _kind(w)) for w in weights],
        )
        self.inputs = given + self.weight_values


def record_cell(tracer: Tracer, cell: Any, args: list) -> Any:
    """Calls a cell that was told set_grad(): its gradient on the same arguments will reuse this run."""
    trace = tracer.trace
    wanted = tuple(i for i, a in enumerate(args) if isinstance(a, (Tensor, *MUTABLE)) and moving(a))
    record = Record(
        tracer,
        lambda inner: tracer.call_construct(cell, inner, {}),
        args,
        wanted,
        cell.trainable_params(),
    )
    outputs = trace.call(trace.partial(record.graph), record.inputs)
    value = record.place(outputs)
    tracer.records[id(cell)] = record
    return value


@serves
def grad_in_trace(function: Any, args: tuple, kwargs: dict) -> Any:
    """A GradFunction called while tracing."""
    tracer = at_work()
    trace = tracer.trace
    with program_operation:
        args, sens = function.split_sens(args)
        weights = function.weight_list()
        asked = function.wanted(args)
    for w in weights:
        for key in ("_requires_grad", "_gradient_hooks"):
            tracer.guards.item(w.__dict__, key, w.__dict__.get(key, facts.MISSING))
    trained = [w for w in weights if w.requires_grad]
    wanted = tuple(i for i in asked if moving(args[i]))  # the others have the gradient 0
    record = tracer.records.pop(id(function.fn), None)
    reused = record is not None and _serves(trace, record, args, wanted, trained)
    if not reused:
        record = Record(
            tracer,
            lambda inner: tracer.call(function.fn, inner, kwargs),
            list(args),
            wanted,
            trained,
        )
    results = trace.call(trace.vjp(trace.partial(record.graph)), record.inputs)
    outputs, back = results[:-1], results[-1]
    value = record.rebuilt(outputs) if reused else record.place(outputs)
    tangents = _tangents(function, record, value, outputs, sens)
    gradients = trace.call(back, tangents)[1:]
    by_input = dict(zip((i for i, t in enumerate(record.inputs) if has_tangent(t)), gradients))
    first_weight = len(record.inputs) - len(record.weights)
    of_input = iter(gradients)
    of_argument = {i: [next(of_input) for _ in moving(args[i])] for i in record.wanted}
    of_weight = {id(w): by_input.get(first_weight + k) for k, w in enumerate(record.weights)}
    with program_operation:
        return function.arrange(
            asked,
            [argument_gradient(args[i], _leaves(args[i], of_argument.get(i))) for i in asked],
            [weight_gradient(of_weight.get(id(w)), w) for w in weights],
            value,
        )


def _kind(like: Tensor) -> tuple:
    return like.dtype, like.shape


def variables(tracer: Tracer, inputs: list[Tensor]) -> list[Tensor]:
    """Inputs as variables of their own, as eager mode has them. A gradient around this one sums what comes back to such a
    variable before it adds that to the rest: sums of floats depend on their order."""
    if not tracer.in_gradient:
        return inputs
    identity = _core.op("Identity")
    return [identity(t) if has_tangent(t) else t for t in inputs]


def moving(value: Any) -> list[Tensor]:
    """The tensors of an argument that have gradients."""
    return [t for t in flatten(value) if has_tangent(t)]


def _leaves(argument: Any, of_moving: list | None) -> Iterator:
    """Gradients of all tensors of an argument, None where there is none, from those of its tensors that have one."""
    given = iter(of_moving or ())
    return (next(given) if has_tangent(t) and of_moving else None for t in flatten(argument))


def _serves(trace: _core.Trace, record: Record, args: tuple, wanted: tuple, weights: list) -> bool:
    """Whether an earlier run is the one whose gradient is asked for."""
    same = len(args) == len(record.args) and all(a is b for a, b in zip(args, record.args))
    known = {id(w) for w in record.weights}
    unchanged = all(
        _core.same_value(trace.lift(w), v) for w, v in zip(record.weights, record.weight_values)
    )
    return (
        same
        and unchanged
        and set(wanted) <= set(record.wanted)
        and all(id(w) in known for w in weights)
    )


def _tangents(function: Any, record: Record, value: Any, outputs: list, sens: Any) -> list:
    """One tangent for each output of the graph that has one: given ones, ones, and zeros for what is not differentiated."""
    with program_operation:
        given = function.tangents(function.differentiated(value), sens)
    # The differentiated outputs are the first leaves: has_aux takes the first value, otherwise it is all of them.
    result = []
    for i, output in enumerate(outputs):
        if not has_tangent(output):
            continue
        result.append(given[i] if i < len(given) else ops.zeros_like(output))
    return result
