"""Where compiled code is entered: look up by the types of the arguments, check the guards, run; or compile."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import math
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core, context
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._tree import flatten, rebuild
from mindspore.common.jit_config import JitConfig
from mindspore.compile import breaks, guards
from mindspore.compile.errors import RunsEagerly, Unsupported, calling_place, is_ours, locate, plain
from mindspore.compile.tracer import Tracer
from mindspore.compile.values import require_plain

logger = logging.getLogger("mindspore.compile")
_MAX_ENTRIES = 64  # per function: older ones go
_WARN_ENTRIES = 16
_RECURSION_LIMIT = 6000
_lock = threading.RLock()


class Entry:
    """One compiled version of a function."""

    def __init__(self, graph: Any, facts: list, place: Callable[[list], Any]):
        self.graph, self.facts, self.place = graph, facts, place
        self.guards = _core.Guards(facts)

    def run(self, args: tuple, kwargs: dict, eager: Callable) -> Any:
        """The function on arguments of the types that this was compiled for."""
        return self.place(self.graph.run(_inputs((args, kwargs))))


class EagerEntry:
    """A version that could not be compiled: it runs as in PYNATIVE_MODE; the cells and jit functions in it are compiled on
    their own."""

    graph = None

    def __init__(self, facts: list):
        self.facts = facts
        self.guards = _core.Guards(facts)

    def run(self, args: tuple, kwargs: dict, eager: Callable) -> Any:
        """The function, run eagerly."""
        return eager(*args, **kwargs)


class PathEntry:
    """A version of several graphs with lines between them that run eagerly."""

    graph = None

    def __init__(self, cache: Cache, function: Callable, root: breaks.Node):
        self.cache, self.function, self.root = cache, function, root
        # What must hold when a run begins; later nodes have their own.
        self.facts, self.guards = root.facts, root.guards

    def run(self, args: tuple, kwargs: dict, eager: Callable) -> Any:
        """Runs along a known path, or traces on from where it ends."""
        try:
            return breaks.follow(self.root, _inputs((args, kwargs)))
        except breaks.Unknown as unknown:
            done = unknown.done
        with _lock:
            compilation = Compilation(self.cache, self.function, args, kwargs, (self.root, done))
            entry = compilation.run()
        return compilation.value if compilation.has_value else entry.run(args, kwargs, eager)


class Cache:
    """The compiled versions of one function, by argument types."""

    def __init__(self, name: str):
        self.name = name
        self.entries: dict[tuple, list[Any]] = {}
        self.compiled = 0
        self.warned: set[str] = set()

    def find(self, key: tuple) -> Entry | None:
        """An entry whose guards hold."""
        for entry in self.entries.get(key, ()):
            if entry.guards.check() < 0:
                return entry
        return None

    def warn_break(self, reason: Unsupported) -> None:
        """Says, once for each line, that it runs eagerly between two graphs."""
        place = locate(reason, calling_place())
        line = str([(p.file, p.line) for p in place.__dict__["_ms_places"][:1]])
        if line in self.warned:
            return
        self.warned.add(line)
        warnings.warn(
            f"a line of {self.name} runs eagerly between two compiled parts, since {place}\n"
            "  The result is that of PYNATIVE_MODE; nothing is optimised over that line, and each run stops there. "
            "jit(fullgraph=True), or set_context(jit_syntax_level=STRICT), makes this an error.",
            RunsEagerly,
            stacklevel=_user_level(),
        )

    def warn_eager(self, reason: str) -> None:
        """Says, once for each reason, that a function is not compiled."""
        line = "".join(reason.splitlines()[:2])
        if line in self.warned:
            return
        self.warned.add(line)
        warnings.warn(
            f"{self.name} runs eagerly, as in PYNATIVE_MODE: correct, but without what compiling saves, since {reason}\n"
            "  Only the cells and jit functions that it calls are compiled. jit(fullgraph=True), or "
            "set_context(jit_syntax_level=STRICT), makes this an error.",
            RunsEagerly,
            stacklevel=_user_level(),
        )

    def add(self, key: tuple, entry: Entry) -> None:
        """Keeps a new version; says why the others did not fit, when logging is on."""
        older = self.entries.setdefault(key, [])
        if older and logger.isEnabledFor(logging.INFO):
            failed = older[-1].guards.check()
            if failed >= 0:
                logger.info(
                    "recompiling %s: %s", self.name, guards.describe(older[-1].facts[failed])
                )
        elif self.entries and len(self.entries) > 1:
            logger.info("recompiling %s: new argument types %s", self.name, key)
        older.insert(0, entry)
        del older[8:]
        self.compiled += 1
        if len(self.entries) == _WARN_ENTRIES:
            logger.warning(
                "%s was compiled for %d different argument types; the latest: %s",
                self.name,
                _WARN_ENTRIES,
                key,
            )
        while len(self.entries) > _MAX_ENTRIES:
            self.entries.pop(next(iter(self.entries)))


def _user_level() -> int:
    """For warnings: how many calls up the user's code is."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def _key(value: Any) -> Any:
    """What of an argument a compiled version depends on."""
    if isinstance(value, Tensor):
        return (
            value.dtype,
            tuple(value.shape),
            isinstance(value, _parameter_class()) and _Identity(value),
        )
    if isinstance(value, float):
        return (float, value, math.copysign(1, value))
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_key, value))
    if isinstance(value, dict):
        return (dict, *((k, _key(v)) for k, v in value.items()))
    try:
        hash(value)
    except TypeError:
        return (type(value), _Identity(value))
    return (type(value), value)


class _Identity:
    """An object as a key by identity; it lives as long as the key, so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value


@functools.lru_cache(None)
def _parameter_class() -> type:
    from mindspore.common.parameter import Parameter

    return Parameter


def _run(
    cache: Cache,
    function: Callable[[Tracer, list, dict], Any],
    args: tuple,
    kwargs: dict,
    eager: Callable,
    strict: bool = False,
) -> Any:
    """Runs the version for these arguments; `function` traces it, `eager` is the same as plain Python. `strict`: what cannot
    be compiled is an error."""
    key = (_key(args), _key(kwargs)) if kwargs else _key(args)
    entry = cache.find(key)
    if entry is None:
        with _lock:
            entry = cache.find(key)
            if entry is None:
                strict |= context.get_context("jit_syntax_level") == context.STRICT
                compilation = Compilation(
                    cache, function, args, kwargs, None if strict else _fresh()
                )
                entry = compilation.run()
                cache.add(key, entry)
                if compilation.has_value:
                    return compilation.value
    return entry.run(args, kwargs, eager)


def _inputs(value: Any) -> list:
    """The tensors among the arguments that are inputs of the graph; Parameters come in by identity instead."""
    return [t for t in flatten(value) if not isinstance(t, _parameter_class())]


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Tracing makes many objects that live on, which the collector of cycles would walk again and again in vain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _fresh() -> tuple[breaks.Node, list]:
    """The beginning of a run whose lines may run eagerly."""
    return breaks.Node(), []


class Compilation:
    """One attempt to compile a function for given arguments. Where lines of it run eagerly, it gives the value of this call
    too."""

    has_value = False
    value: Any = None

    def __init__(
        self,
        cache: Cache,
        function: Callable,
        args: tuple,
        kwargs: dict,
        path: tuple[breaks.Node, list] | None,
    ):
        self.cache, self.function, self.args, self.kwargs = cache, function, args, kwargs
        self.tracer = Tracer()
        if path is not None:
            root, done = path
            inputs = _inputs((args, kwargs))
            self.tracer.session = breaks.Session(self.tracer, inputs, root, done)
            self.tracer.warn_break = cache.warn_break

    def run(self) -> Any:
        """What the cache keeps: an Entry, a PathEntry or an EagerEntry."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(
            max(limit, _RECURSION_LIMIT)
        )  # a user's call is about a dozen of ours
        try:
            with self.tracer, _no_collection():
                return self._trace()
        except Unsupported as error:
            return self._give_up(locate(error, calling_place()))
        except Exception as error:
            raise locate(error, calling_place()).with_traceback(None) from error.__cause__
        finally:
            self.tracer.trace.close()
            sys.setrecursionlimit(limit)

    def _give_up(self, error: BaseException) -> EagerEntry:
        session = self.tracer.session
        if session is None or not session.undo():
            raise plain(error).with_traceback(None) from None
        self.cache.warn_eager(str(error))
        return EagerEntry(self.tracer.guards.facts)

    def _trace(self) -> Any:
        trace = self.tracer.trace
        count = iter(range(1 << 30))

        def symbolic(t: Tensor) -> Tensor:
            return (
                t
                if isinstance(t, _parameter_class())
                else trace.add_parameter(t.dtype, list(t.shape), name=f"x{next(count)}")
            )

        traced_args, traced_kwargs = rebuild((list(self.args), dict(self.kwargs)), symbolic)
        value = self.function(self.tracer, traced_args, traced_kwargs)
        require_plain(value, "what a compiled function returns")
        session = self.tracer.session
        if session is not None and session.steps:
            self.has_value, self.value = True, session.finish(value)
            return PathEntry(self.cache, self.function, session.root)
        return _whole(self.tracer, value)


def _whole(tracer: Tracer, value: Any) -> Entry:
    """The version that is one graph."""
    leaves = flatten(value)
    returned: list = []  # outputs of the graph
    places: list = []  # for each leaf: an output's position, or a tensor to hand out as it is
    for leaf in leaves:
        if leaf.is_symbolic or not isinstance(leaf, _parameter_class()):
            places.append(len(returned))
            returned.append(leaf)
        else:
            places.append(leaf)
    trace = tracer.trace
    trace.finish(returned)
    trace.close()  # what fails from here on is known by the places of its nodes
    graph = _core.compile(trace)

    def place(outputs: list) -> Any:
        items = iter(places)

        def pick(_: Any) -> Any:
            at = next(items)
            return outputs[at] if isinstance(at, int) else at

        return rebuild(value, pick)

    if isinstance(value, Tensor) and isinstance(places[0], int):

        def place(outputs: list) -> Any:
            return outputs[0]
    elif not leaves:

        def place(outputs: list) -> Any:
            return value

    return Entry(graph, tracer.guards.facts, place)


# ---- cells --------------------------------------------------------------------------------------------------------------
def run_cell(cell: Any, args: tuple, kwargs: dict) -> Any:
    """A Cell called in GRAPH_MODE."""
    if _core.is_recording():
        return cell._run_eagerly(args, kwargs)
    cache = cell.__dict__.get("_compiled_versions")
    if cache is None:
        cache = Cache(type(cell).__name__)
        object.__setattr__(cell, "_compiled_versions", cache)
    reference = weakref.ref(cell)
    return _run(
        cache,
        lambda tracer, a, k: tracer.call_construct(reference(), a, k),
        args,
        kwargs,
        lambda *a, **k: cell._run_eagerly(a, k),
        cell.__dict__.get("_strict", False),
    )


def run_eager_cell(cell: Any, args: tuple, kwargs: dict) -> Any:
    """A Cell with set_grad() called in PYNATIVE_MODE."""
    from mindspore.ops import _grad

    if _core.is_recording():
        return cell._run_eagerly(args, kwargs)
    return _grad.record_cell(cell, lambda *a, **k: cell._run_eagerly(a, k), args, kwargs)


def run_grad(function: Any, args: tuple, kwargs: dict) -> Any:
    """A gradient function called in GRAPH_MODE."""
    cache = function.__dict__.get("_compiled_versions")
    if cache is None:
        owner = function.fn
        if isinstance(
            owner, _late.cell_class
        ):  # grad(net) is often made anew for every step: keep its code with the net
            key = (
                function.name,
                function.positions,
                function.sens_param,
                function.has_aux,
                function.with_value,
                function.return_ids,
                tuple(map(id, function.weight_list())),
                function.weights is None,
            )
            caches = owner.__dict__.setdefault("_compiled_gradients", {})
            cache = caches.setdefault(key, Cache(function.__name__))
        else:
            cache = Cache(function.__name__)
        function._compiled_versions = cache
    from mindspore.compile import gradients

    return _run(
        cache,
        lambda tracer, a, k: gradients.grad_in_trace(tracer, function, tuple(a), k),
        args,
        kwargs,
        lambda *a, **k: function._run_eager(a, k),
    )


def _eagerly(function: Callable) -> Callable:
    """A function that runs as it is; a Cell's call would compile it."""
    if isinstance(function, _late.cell_class):
        return lambda *args, **kwargs: function._run_eagerly(args, kwargs)
    return function


# ---- decorated functions --------------------------------------------------------------------------------------------------
class JitFunction:
    """A function that is compiled on each new combination of argument types."""

    _ms_compiled = True

    def __init__(
        self,
        fn: Callable,
        owner: Any = None,
        cache: Cache | None = None,
        fullgraph: bool = False,
    ):
        functools.update_wrapper(
            self, fn
        )  # first: it copies attributes, and a gradient function has an `fn` too
        self.fn, self.owner, self.fullgraph = fn, owner, fullgraph
        self.cache = cache or Cache(getattr(fn, "__qualname__", type(fn).__name__))

    def bound_function(self) -> Any:
        """The plain function, bound to its object if it is a method."""
        return self.fn if self.owner is None else types.MethodType(self.fn, self.owner)

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        if instance is None:
            return self
        caches = instance.__dict__.setdefault("_compiled_methods", {})
        cache = caches.setdefault(self.fn, Cache(self.cache.name))
        return JitFunction(self.fn, instance, cache, self.fullgraph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.bound_function()
        if _core.is_tracing():
            from mindspore.compile import call_in_trace

            return call_in_trace(function, args, kwargs)
        if _core.is_recording():
            return function(*args, **kwargs)
        return _run(
            self.cache,
            lambda tracer, a, k: tracer.call(function, a, k, None),
            args,
            kwargs,
            _eagerly(function),
            self.fullgraph,
        )


def jit(
    fn: Callable | None = None,
    mode: str = "PSJit",
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
    compile_once: bool = False,
    *,
    fullgraph: bool = False,
    **options: Any,
) -> Any:
    """Compiles a function, method or Cell: `@jit`, `@jit(...)` or `jit(f)`.

    Args:
        jit_config: a JitConfig; its syntax level "STRICT" is `fullgraph`.
        fullgraph: what cannot be compiled is an error; otherwise it runs eagerly, with a warning.

    The remaining arguments choose among compilers of other devices and are accepted.
    """
    del mode, input_signature, hash_args, compile_once, options
    if jit_config is not None and not isinstance(jit_config, JitConfig):
        raise TypeError(
            f"For 'jit', 'jit_config' must be a JitConfig, but got {type(jit_config).__name__}."
        )
    if not isinstance(fullgraph, bool):
        raise TypeError(
            f"For 'jit', 'fullgraph' must be a bool, but got {type(fullgraph).__name__}."
        )
    strict = fullgraph or (jit_config is not None and jit_config.strict)

    def wrap(function: Callable) -> Any:
        if isinstance(function, JitFunction):
            return function
        if not callable(function):
            raise TypeError(
                f"For 'jit', the argument must be a function, method or Cell, but got {type(function).__name__}."
            )
        if isinstance(function, types.MethodType):
            return JitFunction(function.__func__, function.__self__, fullgraph=strict)
        return JitFunction(function, fullgraph=strict)

    return wrap if fn is None else wrap(fn)


def ms_function(
    fn: Callable | None = None,
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
) -> Any:
    """`jit` under the name of the first releases."""
    return jit(fn, input_signature=input_signature, hash_args=hash_args, jit_config=jit_config)


def clear_cache(function: Any) -> None:
    """Forgets the compiled versions of a function or cell."""
    for name in ("_compiled_versions", "_compiled_gradients", "_compiled_methods"):
        getattr(function, "__dict__", {}).pop(name, None)
    if isinstance(function, JitFunction):
        function.cache.entries.clear()


def memory_report(function: Any) -> dict:
    """What the latest compiled version of a Cell or jit function needs, in bytes: `parameters`, `feature_maps`, `workspace`,
    `outputs`, and `peak_by_line`, the source lines whose values fill the feature maps at their peak."""
    cache = (
        function.cache
        if isinstance(function, JitFunction)
        else getattr(function, "__dict__", {}).get("_compiled_versions")
    )
    if cache is None or not any(e.graph for versions in cache.entries.values() for e in versions):
        raise ValueError(
            "For 'memory_report', the function must have run in compiled form, but there is no compiled version yet."
        )
    compiled = [e for versions in cache.entries.values() for e in versions if e.graph]
    return compiled[-1].graph.memory()
