"""jvp, vjp and vmap entered from Python. A vjp is compiled to a graph that returns, beside the value, the backward function with what
that has captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore.compile.program.borders import plainly, serves
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.entries import Entry
from mindspore.compile.versions.homes import home_for
from mindspore.compile.versions.target import Target, options_of, run_target
from mindspore.compile.walk.transforms import all_gradients, both_ways, gradient_places


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
        return all_gradients(self.back.run([*tangents, *self.rest]), self.places)


def run_vjp(
    function: Any, call: Callable, primals: list, weights: list, eager: Callable
) -> tuple[Any, Callable]:
    """The value of `call`, a vjp of `function`, and what maps tangents back: compiled where possible, otherwise `eager`."""

    @serves
    def body(primals: tuple, weights: tuple) -> tuple:
        return both_ways(call, list(primals), list(weights))

    def run_eagerly(primals: tuple, weights: tuple) -> tuple:
        return (*eager(call, list(primals), list(weights)), None)

    target = _target(function, ("vjp",), body, run_eagerly)
    target.options = options_of(function)._replace(signature=None)
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

    return value, CompiledPull(back, rest, gradient_places([*primals, *weights]), again)
