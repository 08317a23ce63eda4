"""Custom gradients, gradient hooks and recomputation inside compiled code. Each is a CustomGrad of the IR: a function f traced
into a graph of its own, and the graph of its backward function, which takes f's inputs, f's results and their tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._tree import flatten, rebuild, refill
from mindspore.compile.decided.inner import Inner
from mindspore.compile.program.borders import plainly, program_operation, serves
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.walk.apart import Apart
from mindspore.compile.walk.tracer import Tracer, at_work
from mindspore.ops import _bind, _custom
from mindspore.ops._custom import has_tangent

if TYPE_CHECKING:
    from mindspore import _core


class Traced(Apart):
    """A call traced into a graph of its own: the tensors in `args` to the tensors in its value and the Parameters it changed."""

    differentiated = False  # its gradient is its own

    def __init__(self, tracer: Tracer, name: str, call: Callable, args: tuple):
        self.inputs = [tracer.trace.constant(t) for t in flatten(args)]

        def call_with(inner: list) -> Any:
            return plainly(call, refill(args, inner), {})

        super().__init__(
            tracer, name, f"'{name}', which has a gradient of its own,", call_with, self.inputs
        )
        self.results = self.outputs()

    def _parameter(self, kind: Any) -> Tensor:
        return self.trace.add_parameter_like(kind)

    def _leave(self) -> list:
        self.leaving.refuse(self.graph)
        return []

    def tangents(self, given: list) -> Any:
        """The tangents of the value, in its structure."""
        of = iter(given)
        return refill(
            self.value, (next(of) if has_tangent(r) else _custom.zeros_like(r) for r in self.leaves)
        )


def _backward(tracer: Tracer, graph: Any, make: Callable) -> Any:
    """The backward function of `graph`: make(inputs, results, tangents) gives the tangents of the inputs that have one."""
    trace = tracer.trace
    tracer.fixed += 1
    try:
        with Inner(trace):
            start = trace.environment()
            back, inputs, results, tangents = trace.begin_backward(graph)
            made = make(inputs, results, tangents)
            if trace.changed_since(start):
                raise Unsupported("the gradient of a compiled function cannot assign a Parameter")
            trace.end(made)
    finally:
        tracer.fixed -= 1
    return trace.partial(back)


@serves
def custom_in_trace(
    name: str, forward: Callable, backward: Callable, args: tuple, parameters: list
) -> Any:
    """See ops._custom.custom_call. The Parameters are further arguments, for the sake of their gradients."""
    tracer = at_work()
    if not tracer.in_gradient:
        return plainly(forward, args, {})
    trace = tracer.trace
    everything = (*args, *parameters)
    traced = Traced(tracer, name, lambda *inner: forward(*inner[: len(args)]), everything)

    def make(inputs: list, results: list, tangents: list) -> list:
        arguments = refill(everything, inputs)[: len(args)]
        out, dout = refill(traced.value, results), traced.tangents(tangents)
        with program_operation:
            found = backward(*arguments, out, dout)
            given = _custom.match_gradients(name, found, arguments, parameters)
        return [_or_zeros(g, x) for g, x in zip(given, inputs) if has_tangent(x)]

    back = _backward(tracer, traced.graph, make)
    function = trace.custom_grad(trace.partial(traced.graph), back)
    return traced.place(trace.call(function, traced.inputs))


def _or_zeros(gradient: Tensor | None, of: Tensor) -> Tensor:
    return _custom.zeros_like(of) if gradient is None else gradient


def _wrapper(trace: _core.Trace, name: str, inputs: list, body: Callable) -> Any:
    """A graph that has the inputs of another, and calls it in its own way."""
    with Inner(trace):
        graph = trace.begin(name)
        trace.end(body([trace.add_parameter_like(v) for v in inputs]))
    return graph


@serves
def hooked_in_trace(
    name: str, cell: Any, run: Callable, args: tuple, before: list, after: list
) -> Any:
    """See ops._custom.hooked_call. The gradients of the results reach the hooks on the inputs as the tangents of zeros that lead
    from the inputs to the results."""
    tracer = at_work()
    if not tracer.in_gradient:
        return plainly(run, args, {})
    trace = tracer.trace
    traced = Traced(tracer, name, run, args)
    moving = [i for i, y in enumerate(traced.leaves) if has_tangent(y)]
    like = [(tuple(traced.leaves[i].shape), traced.leaves[i].dtype) for i in moving]
    results = [(tuple(y.shape), y.dtype) for y in traced.leaves]

    def enter(*xs: Tensor) -> tuple:
        return xs, [ops.zeros(shape, dtype) for shape, dtype in like]

    def at_inputs(*rest: Any) -> tuple:
        dx, slots = rest[-1]
        douts: list = [None] * len(results)
        for i, slot in zip(moving, slots):
            douts[i] = slot
        douts = [
            ops.zeros(*results[i]) if d is None else d  # of a result that has no gradient
            for i, d in enumerate(douts)
        ]
        return _custom.input_hooks(name, cell, after, dx, tuple(douts))

    def at_outputs(*rest: Any) -> tuple:
        douts = _custom.output_hooks(name, cell, before, rest[-1])
        return *douts, [douts[i] for i in moving]

    xs, slots = custom_in_trace(name, enter, at_inputs, tuple(traced.inputs), [])
    value = traced.place(trace.call(trace.partial(traced.graph), list(xs)))
    ys = custom_in_trace(name, lambda *rest: rest[:-1], at_outputs, (*flatten(value), slots), [])
    return refill(value, ys)


@serves
def recompute_in_trace(name: str, run: Callable, args: tuple) -> Any:
    """See ops._custom.recomputed_call. What is run again waits for the first tangent, so that it is not merged with the first run;
    if it draws random numbers, the offset they started from is one of f's results."""
    tracer = at_work()
    if not tracer.in_gradient:
        return plainly(run, args, {})
    trace = tracer.trace
    traced = Traced(tracer, name, run, args)
    if not any(has_tangent(r) for r in traced.results):
        return traced.place(trace.call(trace.partial(traced.graph), traced.inputs))
    lifted = trace.lift_captures(traced.graph)
    inputs = traced.inputs + trace.captures(traced.graph)
    draws = trace.has_effect(traced.graph)

    def forward(x: list) -> list:
        state = [_bind.raw("RandomOffset")()] if draws else []
        return trace.call(trace.partial(lifted), x) + state

    def make(inner: list, results: list, tangents: list) -> list:
        waiting = [
            _bind.raw("Depend")(x, [tangents[0]]) if isinstance(x, Tensor) else x for x in inner
        ]
        now = _bind.raw("SetRandomOffset")(results[-1]) if draws else None
        again = trace.call(trace.vjp(trace.partial(lifted)), waiting)
        if draws:
            _bind.raw("SetRandomOffset")(now)
        own = sum(map(has_tangent, traced.results))  # the offset is one result more
        return trace.call(again[-1], tangents[:own])[1:]

    graph = _wrapper(trace, name, inputs, forward)
    back = _backward(tracer, graph, make)
    outputs = trace.call(trace.custom_grad(trace.partial(graph), back), inputs)
    return traced.place(outputs[: len(traced.results)])


class TracedHook:
    """The handle of a hook on a traced tensor: while compiling, taking it off puts the tensor back."""

    def __init__(self, tracer: Tracer, original: Tensor, hooked: Tensor):
        self._tracer, self._original, self._hooked = tracer, original, hooked

    def remove(self) -> None:
        """Take the hook off."""
        _rebind(self._tracer, self._hooked, self._original)


@serves
def hook_in_trace(x: Tensor, hook: Callable) -> TracedHook:
    """Tensor.register_hook: names that held the tensor hold one whose gradient goes through the hook."""
    tracer = at_work()
    if tracer.trace.is_used(x):
        raise Unsupported(
            "in a compiled function, a hook must be registered before its tensor is used; move register_hook up"
        )

    def backward(value: Tensor, out: Tensor, dout: Tensor) -> Tensor:
        replaced = _custom.invoke(hook, dout)
        return dout if replaced is None else replaced

    hooked = custom_in_trace("register_hook", lambda value: value, backward, (x,), [])
    _rebind(tracer, x, hooked)
    return TracedHook(tracer, x, hooked)


def _rebind(tracer: Tracer, old: Tensor, new: Tensor) -> None:
    for innermost, _ in tracer.places:
        for frame in innermost.outward():
            for name, held in frame.env.items():
                if held is old:
                    frame.env[name] = new


@serves
def host_call_in_trace(name: str, function: Callable, args: tuple, types: list | None) -> list:
    """`function(*args)`, a list of tensors of the given (dtype, shape) pairs, computed by Python while the graph runs."""
    tracer = at_work()
    traced = [t for t in flatten(args) if tracer.is_traced(t)]
    if not traced:
        return plainly(function, args, {})
    if types is None:
        raise Unsupported(
            f"'{name}' computes with Python and does not say of which types its results are; define infer_shape and "
            "infer_dtype"
        )

    places = {id(t) for t in traced}

    def run(*values: Tensor) -> list:
        items = iter(values)
        return function(*rebuild(args, lambda t: next(items) if id(t) in places else t))

    tracer.acts = True
    return tracer.trace.host_call(run, traced, types)
