"""jvp, vjp and vmap inside compiled code: the function becomes a graph of its own, and a structural op makes of it the function
of tangents, or of many items; passes expand it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._tree import flatten, rebuild
from mindspore.compile.cache import Cache
from mindspore.compile.cells import refuse_changes
from mindspore.compile.homes import home_of
from mindspore.compile.jit import Target, run_target
from mindspore.compile.leaving import Leaving
from mindspore.compile.tracer import current
from mindspore.compile.values import require_plain
from mindspore.ops._grad import FLOATS, GradFunction, zeros_like


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
        cells = dict(tracer.cells)
        self.leaving = Leaving(tracer, f"a function under {name}")
        tracer.in_gradient += 1
        try:
            inner = [self._parameter(kind) for kind in inputs]
            for parameter, kind in weights:
                trace.set_parameter(parameter, self._parameter(kind))
            start = trace.environment()
            self.value = call(inner)
            require_plain(self.value, f"what a function under {name} returns")
            refuse_changes(tracer, self.graph, cells, f"a function under {name}")
            self.leaves = flatten(self.value)
            self.updated = trace.changed_since(start)
            if name == "vmap":  # it stands for a call for each item
                self.leaving.refuse_all()
            self.left = self.leaving.end(self.graph, self.leaves)
            trace.end(self.outputs())
        except BaseException as error:
            trace.suspend()
            self.leaving.refuse_after(self.graph, error)
            raise
        finally:
            tracer.in_gradient -= 1
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


def jvp_in_trace(call: Callable, primals: list, tangents: list) -> tuple[Any, list]:
    """The value of `call`, and a tangent for each tensor in it."""
    graph = FunctionGraph("jvp", call, primals, [])
    trace = graph.trace
    moving = [t for p, t in zip(primals, tangents) if p.dtype in FLOATS]
    results = trace.call(trace.jvp(trace.partial(graph.graph)), [*primals, *moving])
    count = len(graph.outputs())
    rest = iter(results[count:])
    found = [next(rest) if o.dtype in FLOATS else None for o in graph.outputs()]
    tangents = [zeros_like(o) if t is None else t for o, t in zip(graph.leaves, found)]
    return graph.place(results[:count]), tangents


def vjp_in_trace(call: Callable, primals: list, weights: list) -> tuple[Any, Callable]:
    """The value of `call`, and the function from tangents of its floating tensors to gradients of primals and weights."""
    graph = FunctionGraph("vjp", call, primals, [(w, w) for w in weights])
    trace = graph.trace
    inputs = [*primals, *(trace.lift(w) for w in weights)]
    results = trace.call(trace.vjp(trace.partial(graph.graph)), inputs)
    back = results[-1]
    rest = [o for o in graph.rest() if o.dtype in FLOATS]

    def pull(tangents: list) -> list:
        found = iter(trace.call(back, [*tangents, *map(zeros_like, rest)])[1:])
        return [next(found) if t.dtype in FLOATS else zeros_like(t) for t in inputs]

    return graph.place(results[:-1]), pull


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
    out = [0 if differs else -1 for differs in places(graph.value)]
    out += [0 if id(p) in own else -1 for p, _ in graph.updated]
    into = [0 if b else -1 for b in batched] + [0] * len(members)
    function = trace.vmap(trace.partial(graph.graph), into, out, size)
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
_of_builtins: dict = {}  # compiled versions for functions that cannot hold them


def home_for(function: Any) -> tuple[dict, tuple]:
    """Where compiled versions of transforms of `function` are kept, and under which key: with the user's function, since a
    transform is often made anew for each call."""
    if getattr(
        type(function), "is_transform", False
    ):  # a function that wraps one has its attributes, too
        home, inner = home_for(function.fn)
        return home, (function._transform_key, inner)
    if isinstance(function, GradFunction) and function.weights is None:
        settings = (function.name, function.positions, function.sens_param, function.has_aux)
        home, inner = home_for(function.fn)
        return home, (settings, function.with_value, function.return_ids, inner)
    if getattr(function, "owner", None) is not None and hasattr(type(function), "_ms_compiled"):
        function = function.bound_function()  # each look-up gives the method another JitFunction
    if isinstance(function, types.MethodType) and hasattr(function.__self__, "__dict__"):
        home = home_of(function.__self__, "_compiled_methods")
        return home, ("transform", function.__func__)
    if isinstance(function, _late.cell_class):
        return home_of(function, "_compiled_gradients"), ()
    if isinstance(getattr(function, "__dict__", None), dict):
        return home_of(function, "_compiled_transforms"), ()
    return _of_builtins, (function,)


def run_transform(function: Any, key: tuple, body: Callable, args: tuple, eager: Callable) -> Any:
    """Compiles and runs `body`, a transform of `function`; where that is not possible, runs `eager`."""
    home, inner = home_for(function)
    full = (key, inner)
    cache = home.get(full)
    if cache is None:
        cache = home[full] = Cache(f"{key[0]}({getattr(function, '__name__', 'function')})")
    return run_target(Target(cache, lambda tracer, a, k: body(*a), eager), args, {})
