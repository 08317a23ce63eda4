"""jvp, vjp and vmap inside compiled code: the function becomes a graph of its own, and a structural op makes of it the function
of tangents, or of many items; passes expand it. A vjp outside of it is compiled to a graph that returns, beside the value, the
backward function with what that has captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._tree import flatten, rebuild
from mindspore.compile.program.borders import plainly, serves
from mindspore.compile.values.cells import refuse_changes
from mindspore.compile.values.values import require_plain
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.entries import Entry
from mindspore.compile.versions.homes import home_for
from mindspore.compile.versions.target import Target, options_of, run_target
from mindspore.compile.walk.gradients import variables
from mindspore.compile.walk.leaving import Leaving
from mindspore.compile.walk.tracer import at_work, current
from mindspore.ops._custom import has_tangent
from mindspore.ops._grad import zeros_like


class FunctionGraph:
    """`call`, which takes a list of tensors, traced into its own graph; `weights` are Parameters that become inputs too."""

    def __init__(self, name: str, call: Callable, inputs: list, weights: list):
        """An input is a tensor whose type it has, or (dtype, shape); so are the second items of `weights`."""
        tracer = current()
        assert tracer is not None
        self.trace = trace = tracer.trace
        for parameter, _ in weights:
            trace.lift(parameter)
        environment = trace.environment()
        self.graph = trace.begin(name)
        cells = tracer.cells.mark()
        self.leaving = Leaving(tracer, f"a function under {name}")
        tracer.in_gradient += 1
        tracer.fixed += name == "vmap"  # the items would each leave a value of their own
        try:
            inner = [self._parameter(kind) for kind in inputs]
            for parameter, kind in weights:
                trace.set_parameter(parameter, self._parameter(kind))
            start = trace.environment()
            self.value = plainly(call, [inner], {})
            require_plain(self.value, f"what a function under {name} returns")
            refuse_changes(tracer, self.graph, cells, f"a function under {name}")
            self.leaves = flatten(self.value)
            self.updated = trace.changed_since(start)
            if name == "vmap":  # it stands for a call for each item
                self.leaving.refuse_all()
            self.left = self.leaving.end(self.graph, self.leaves, self.value)
            if name == "vmap":
                self.leaving.refuse_tensors()
            trace.end(self.outputs())
        except BaseException as error:
            trace.suspend()
            self.leaving.refuse_after(self.graph, error)
            raise
        finally:
            tracer.in_gradient -= 1
            tracer.fixed -= name == "vmap"
            trace.restore(environment)

    def _parameter(self, kind: Any) -> Tensor:
        if isinstance(kind, Tensor):  # weak where it is
            return self.trace.parameter_like(kind)
        return self.trace.add_parameter(kind[0], list(kind[1]))

    def outputs(self) -> list:
        """What the graph returns: the tensors of the value, then the Parameters that it changed, and what leaves it otherwise."""
        return self.leaves + self.rest()

    def rest(self) -> list:
        """What the graph returns beside the tensors of the value."""
        return [v for _, v in self.updated] + self.left

    def place(self, results: list) -> Any:
        """The value from the results of a call, and the Parameters that it changed."""
        own, count = len(self.leaves), len(self.leaves) + len(self.updated)
        for (parameter, _), value in zip(self.updated, results[own:count]):
            self.trace.set_parameter(parameter, value)
        self.leaving.put(results[:own], results[count:])
        items = iter(results)
        return rebuild(self.value, lambda _: next(items))


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
    value, back, rest = _both_ways(call, primals, weights)
    tracer = current()
    assert tracer is not None
    places = _places([*primals, *weights])

    def pull(tangents: list) -> list:
        return _gradients(tracer.trace.call(back, [*tangents, *rest])[1:], places)

    return value, pull


def _both_ways(call: Callable, primals: list, weights: list) -> tuple[Any, Any, list]:
    """The value of `call`, the backward function value, and the tangents that it takes after those of the value."""
    graph = FunctionGraph("vjp", call, primals, [(w, w) for w in weights])
    trace = graph.trace
    inputs = [*variables(at_work(), primals), *map(trace.lift, weights)]
    results = trace.call(trace.vjp(trace.partial(graph.graph)), inputs)
    value = graph.place(results[:-1])
    return value, results[-1], [zeros_like(o) for o in graph.rest() if has_tangent(o)]


def _places(inputs: list) -> list[Tensor | None]:
    """For each input its gradient, where that is zero: it is of dtype Bool."""
    return [None if has_tangent(t) else zeros_like(t) for t in inputs]


def _gradients(found: list, places: list) -> list:
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
    from mindspore import ops

    inputs = [(t.dtype, tuple(t.shape)[1:]) if b else t for t, b in zip(tensors, batched)]
    weights = [(group[0], group[0]) for group in members]
    graph = FunctionGraph("vmap", call, inputs, weights)
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


# ---- entered from Python ------------------------------------------------------------------------------------------------
def run_transform(function: Any, key: tuple, body: Callable, args: tuple, eager: Callable) -> Any:
    """Compiles and runs `body`, a transform of `function`; where that is not possible, runs `eager`."""
    return run_target(_target(function, key, body, eager), args, {})


def _target(function: Any, key: tuple, body: Callable, eager: Callable) -> Target:
    home, inner = home_for(function)
    full = (key, inner)
    cache = home.get(full)
    if cache is None:
        cache = home[full] = Cache(f"{key[0]}({getattr(function, '__name__', 'function')})")
    return Target(cache, lambda tracer, a, k: plainly(body, a, {}), eager)


class CompiledPull:
    """What maps tangents back after a compiled vjp. Its code has no derivatives: where those are asked for, `again` runs the
    function eagerly on the values that it had, if that is possible."""

    def __init__(self, back: Any, rest: list, places: list, again: Callable | None):
        self.back, self.rest, self.places, self.again = back, rest, places, again

    def __call__(self, tangents: list) -> list:
        if any(map(_core.is_recorded, tangents)):
            pull = self.again() if self.again is not None else None
            if pull is None:
                raise RuntimeError(
                    "For 'vjp', the function that it returns in GRAPH_MODE must be called where vjp is, inside what is "
                    "differentiated, but got a call that is differentiated alone, while the function of vjp draws random "
                    "numbers, changes Parameters or arguments, calls Python, or has changed since."
                )
            return pull(tangents)
        return _gradients(self.back.run([*tangents, *self.rest]), self.places)


def run_vjp(
    function: Any, call: Callable, primals: list, weights: list, eager: Callable
) -> tuple[Any, Callable]:
    """The value of `call`, a vjp of `function`, and what maps tangents back: compiled where possible, otherwise `eager`."""

    @serves
    def body(primals: tuple, weights: tuple) -> tuple:
        return _both_ways(call, list(primals), list(weights))

    def run_eagerly(primals: tuple, weights: tuple) -> tuple:
        return (*eager(call, list(primals), list(weights)), None)

    target = _target(function, ("vjp",), body, run_eagerly)
    target.strict, _, target.fast = options_of(function)
    args = (tuple(primals), tuple(weights))
    value, back, rest = run_target(target, args, {})
    if rest is None:
        return value, back
    entry = target.cache.find(target.key_of(args, {}))
    again = None
    if type(entry) is Entry and entry.graph.repeats:
        known = [_core.alias(t) for t in primals]
        before = _core.Snapshot(entry.graph.parameters)

        def again() -> Callable | None:
            if entry.guards.check() >= 0:
                return None
            with before:
                return eager(call, known, weights)[1]

    return value, CompiledPull(back, rest, _places([*primals, *weights]), again)
