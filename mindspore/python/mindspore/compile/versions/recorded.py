"""Compiled code that is called while eager code records a gradient. The call is one step of the tape: the function is compiled
together with what maps tangents back to the tensors that are recorded, among its arguments and among what it reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._tree import flatten, rebuild, refill
from mindspore.compile.decided.given import Given, containers_of
from mindspore.compile.program.borders import serves
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.failures import Again
from mindspore.compile.program.recent import put
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.keys import inputs_of
from mindspore.compile.versions.notices import Notices
from mindspore.compile.versions.target import Target, require_whole, run_target
from mindspore.compile.walk.transforms import FunctionGraph
from mindspore.ops._custom import has_tangent
from mindspore.ops._grad import zeros_like

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_MAX_CACHES = 16
_ATTEMPTS = 3
_MAX_READS = 256  # tensors that are no Parameters
_EAGER = object()  # in place of the step of a call that could not be compiled


def run(target: Target, args: tuple, kwargs: dict) -> Any:
    """The value of a call, whose tensors are recorded as results of one step."""
    calls = target.cache.recorded
    if calls is None:
        calls = target.cache.recorded = _Calls(target.cache)
    moving = tuple(map(_is_variable, inputs_of((args, kwargs))))
    for attempt in range(_ATTEMPTS):
        weights = [p for p in calls.reads if _is_variable(p)]
        # Where they stand on the tape now: the function may update Parameters.
        inputs = list(map(_core.recorded_alias, weights))
        version = calls.version(target, moving, weights, attempt)
        try:
            with _core.NoRecord():
                value, back, step = run_target(version, args, kwargs)
            break
        except Again:
            continue
    if step is _EAGER:
        if target.options.strict:
            require_whole(target, args, kwargs)  # warns of nothing where it raises
            version.cache.notices.say()
        return target.eager(*args, **kwargs)
    if back is not None:
        primals = [t for t, m in zip(inputs_of((args, kwargs)), moving) if m]
        step.record(value, back, [*primals, *inputs])
    return value


def _is_variable(tensor: Tensor) -> bool:
    return has_tangent(tensor) and _core.is_recorded(tensor)


class _Withheld(Notices):
    """Of a function that must be compiled, it is said why a call is not one step when it is known that it can be."""

    remedy = "It is compiled where eager code records no gradient of it."
    reason = ""

    def call_is_eager(self, reason: str) -> None:
        """Keeps it."""
        self.reason = reason

    def say(self) -> None:
        """What was to be said."""
        if self.reason:
            super().call_is_eager(self.reason)


class _Calls:
    """The versions of one function, by which of its tensors are recorded."""

    def __init__(self, plain: Cache):
        self.plain = plain
        # Parameters, and tensors that are no arguments, which the function was seen to read.
        self.reads: list[Tensor] = []
        self.caches: dict[tuple, tuple[Cache, list]] = {}

    def version(self, target: Target, moving: tuple, weights: list, attempt: int) -> Target:
        """What compiles and runs calls of which these arguments and these other tensors are recorded."""
        key = (moving, *map(id, weights))
        if key not in self.caches:
            cache = Cache(self.plain.name)
            kind = _Withheld if target.options.strict else Notices
            cache.notices = kind.of(self.plain.notices, again=False)
            # With the weights, so that no others get their ids.
            put(self.caches, key, (cache, weights), _MAX_CACHES)
        return dataclasses.replace(
            target,
            options=target.options._replace(strict=False),
            cache=self.caches[key][0],
            function=lambda tracer, a, k: self._trace(
                tracer, target.function, (a, k), moving, weights, attempt
            ),
            eager=lambda *a, **k: (None, None, _EAGER),
        )

    def _trace(
        self,
        tracer: Tracer,
        function: Callable,
        given: tuple[list, dict],
        moving: tuple,
        weights: list,
        attempt: int,
    ) -> tuple:
        """(the value, the backward function, the step), of a function under compilation."""
        arguments = inputs_of(given)
        primals = [t for t, m in zip(arguments, moving) if m]
        inside = list(arguments)

        @serves
        def call(inner: list) -> Any:
            items = iter(inner)
            inside[:] = [next(items) if m else t for t, m in zip(arguments, moving)]
            return _call_with(tracer, function, given, inside)

        graph = FunctionGraph("grad", call, primals, [(w, w) for w in weights])
        self._learn(graph.trace, attempt)
        graph.leaving.refuse_tensors()
        trace, back = graph.trace, None
        function_value = trace.partial(graph.graph)
        if primals or weights:
            inputs = [*primals, *map(trace.lift, weights)]
            *results, back = trace.call(trace.vjp(function_value), inputs)
        else:
            results = trace.call(function_value, [])
        graph.place(results)
        value, step = _value_of(graph, results, dict(zip(map(id, inside), arguments)))
        return value, back, step

    def _learn(self, trace: _core.Trace, attempt: int) -> None:
        """Asks for another attempt, where the function reads tensors of which was not known whether they are recorded."""
        known = set(map(id, self.reads))
        parameter = _late.parameter_class
        new = [tensor for tensor, _ in trace.environment() if id(tensor) not in known]
        if attempt:  # what each trace makes anew is on no tape
            new = [t for t in new if isinstance(t, parameter) or _core.was_recorded(t)]
        if not new:
            return
        if attempt + 1 == _ATTEMPTS:
            raise Unsupported("a call that is differentiated reads other tensors each time")
        read = [*self.reads, *new]
        others = [t for t in read if not isinstance(t, parameter)]
        self.reads = [p for p in read if isinstance(p, parameter)] + others[-_MAX_READS:]
        raise Again


def _call_with(tracer: Tracer, function: Callable, given: tuple[list, dict], inside: list) -> Any:
    """Calls the function with `inside` in place of the tensors in its arguments."""
    items = iter(inside)
    parameter = _late.parameter_class
    args, kwargs = rebuild(given, lambda t: t if isinstance(t, parameter) else next(items))
    copies = Given(args, kwargs)
    value = function(tracer, args, kwargs)
    returned = containers_of((value,), {})
    if copies.changed() or any(copies.place(c) >= 0 for c in returned):
        raise Unsupported(
            "a call that is differentiated changes or returns a list or dict that is its argument"
        )
    if tracer.cells.current(inside):
        raise Unsupported("a call that is differentiated changes an argument in place")
    return value


def _value_of(graph: FunctionGraph, results: list, arguments: dict) -> tuple[Any, TapeStep]:
    """The value of a call with these results, in which arguments, by the id of what stands for them inside, are themselves."""
    placed = []
    for leaf, result in zip(graph.leaves, results):
        own = arguments.get(id(leaf)) if leaf.is_symbolic else leaf
        placed.append(result if own is None else own)
    step = TapeStep([], [p for p, _ in graph.updated if has_tangent(p)], [])
    at = 0  # among the tensors of the value
    for made, result in zip(placed, results):
        number = made.is_symbolic and _core.is_weak(made)
        if has_tangent(made):
            is_result = made is result and not number
            step.outputs.append(
                Output(len(step.results) if is_result else -1, -1 if number else at, made.dtype)
            )
            if is_result:
                step.results.append(at)
        at += not number
    for k, parameter in enumerate(step.updated):
        step.outputs.append(Output(len(step.results) + k, -1, parameter.dtype))
    return refill(graph.value, placed), step


class Output(NamedTuple):
    """A floating output of the compiled graph."""

    result: int  # its place among the results of the step, -1 where the value holds an argument or a number instead
    tensor: int  # its place among the tensors of the value, -1 for a number and a Parameter
    dtype: Any


@dataclasses.dataclass
class TapeStep:
    """What a call of one version puts onto the tape."""

    results: list[int]  # places among the tensors of the value
    updated: list[Tensor]  # Parameters that the function changes, further results
    outputs: list[Output]

    def record(self, value: Any, back: Any, inputs: list) -> None:
        """Puts the step onto the tape; the tensors of `value` and the Parameters are there as its results."""
        tensors = flatten(value)
        results = [tensors[i] for i in self.results] + self.updated
        if not results:
            return
        values = list(map(_core.alias, results))

        def zeros(output: Output) -> Tensor:
            if output.result >= 0:
                return zeros_like(values[output.result])
            return (
                zeros_like(tensors[output.tensor])
                if output.tensor >= 0
                else Tensor(0, output.dtype)
            )

        def rule(tangents: list) -> list:
            given = [None if o.result < 0 else tangents[o.result] for o in self.outputs]
            return back.run([zeros(o) if t is None else t for t, o in zip(given, self.outputs)])

        _core.Snapshot(results).adopt(_core.record_custom(inputs, values, rule))
