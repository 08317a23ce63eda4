"""Where compiled code is entered: look up by the types of the arguments, check the guards, run; or compile."""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from mindspore import _core, context, tuning
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common.jit_config import JitConfig
from mindspore.compile.program.recent import put
from mindspore.compile.program.tracebacks import hide
from mindspore.compile.values.compilable import (
    FAST,
    KEPT,
    METHODS,
    SIGNATURE,
    VERSIONS,
    Compilable,
    Options,
)
from mindspore.compile.versions import recorded
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.entries import Entry
from mindspore.compile.versions.homes import home_for, home_of
from mindspore.compile.versions.keys import look_up, with_passes
from mindspore.compile.versions.signature import declared
from mindspore.compile.versions.target import Target, options_of, prepare, run_target
from mindspore.compile.walk.gradients import grad_in_trace
from mindspore.compile.walk.tracer import current
from mindspore.ops import _grad


# ---- cells --------------------------------------------------------------------------------------------------------------
def _cache_of_cell(cell: Compilable) -> Cache:
    cache = cell.__dict__.get(VERSIONS)
    if cache is None:
        cache = Cache(type(cell).__name__, cell.construct)
        object.__setattr__(cell, VERSIONS, cache)
    return cache


def run_cell(cell: Compilable, args: tuple, kwargs: dict) -> Any:
    """A Cell called in GRAPH_MODE."""
    recording = _core.is_recording()
    if _uncompiled.depth and cell.requires_grad and not recording and not kwargs:
        return _grad.record_cell(cell, lambda *a, **k: run_cell(cell, a, k), args, kwargs)
    state = cell.__dict__
    cache = state.get(VERSIONS)
    if cache is None:
        cache = _cache_of_cell(cell)
    elif not recording and state.get(SIGNATURE) is None:
        # The common case: as run_target, with nothing prepared.
        key, tensors = look_up(args, kwargs)
        entry = cache.find(with_passes(key, state.get(FAST, True)))
        if entry is not None:
            return entry.run(args, kwargs, lambda *a, **k: _run_uncompiled(cell, a, k), tensors)
    return (run_recorded if recording else run_target)(_target_of(cell, cache), args, kwargs)


class _Uncompiled(threading.local):
    depth = 0  # of the cells of this thread that run without being compiled


_uncompiled = _Uncompiled()


def _run_uncompiled(cell: Compilable, args: tuple, kwargs: dict) -> Any:
    """A Cell that cannot be compiled: as in PYNATIVE_MODE, so that the gradient of one that it calls takes that very run."""
    _uncompiled.depth += 1
    try:
        return cell._run_eagerly(args, kwargs)
    finally:
        _uncompiled.depth -= 1


def graph_of(cell: Compilable, args: tuple) -> Entry | None:
    """The version that a call of a Cell with these Tensors runs now, where all that it does is to run one graph on them."""
    state = cell.__dict__
    cache = state.get(VERSIONS)
    if cache is None or state.get(SIGNATURE) is not None:
        return None
    if not _core.graph_mode() or _core.is_recording():
        return None
    entry = cache.find(with_passes(look_up(args, {})[0], state.get(FAST, True)))
    return entry if type(entry) is Entry and not entry.numbers else None


def _target_of(cell: Compilable, cache: Cache) -> Target:
    reference: Callable[[], Any] = weakref.ref(cell)
    return Target(
        cache,
        lambda tracer, a, k: tracer.call_construct(reference(), a, k),
        lambda *a, **k: _run_uncompiled(cell, a, k),
        Options.of(cell.__dict__),
    )


def compile_cell(cell: Compilable, args: tuple, kwargs: dict) -> None:
    """Makes the version of a Cell for these arguments, which is run when it is called."""
    prepare(_target_of(cell, _cache_of_cell(cell)), args, kwargs)


def run_recorded(target: Target, args: tuple, kwargs: dict) -> Any:
    """As run_target, while eager code records a gradient."""
    if not (_core.records_whole_calls() and target.options.fast and context.fast()):
        return target.eager(*args, **kwargs)
    return recorded.run(target, args, kwargs)


def run_eager_cell(cell: Compilable, args: tuple, kwargs: dict) -> Any:
    """A Cell with set_grad() called in PYNATIVE_MODE."""
    if _core.is_recording():
        return cell._run_eagerly(args, kwargs)
    return _grad.record_cell(cell, lambda *a, **k: cell._run_eagerly(a, k), args, kwargs)


def run_grad(function: Any, args: tuple, kwargs: dict) -> Any:
    """A gradient function called in GRAPH_MODE, or that of a function decorated with jit."""
    cache = function.__dict__.get(VERSIONS)
    if cache is None:
        cache = function.__dict__[VERSIONS] = _cache_of_gradient(function)
    target = Target(
        cache,
        lambda tracer, a, k: grad_in_trace(function, tuple(a), k),
        lambda *a, **k: function._run_eager(a, k),
        options_of(function.fn),
    )
    return run_target(target, args, kwargs)


_MAX_GRADIENTS = 16


def _cache_of_gradient(gradient: Any) -> Cache:
    """Kept with what is differentiated: grad(f) is often made anew for every step."""
    weights = gradient.weight_list()
    found = (gradient.weights is None, isinstance(gradient.weights, Tensor))
    key = (gradient.settings(), *found, options_of(gradient.fn).strict, *map(id, weights))
    home, inner = home_for(gradient.fn)
    caches = home.setdefault(("gradients", inner), {})
    if key not in caches:
        function = getattr(gradient.fn, "construct", gradient.fn)
        # With the weights, so that no others get their ids.
        put(caches, key, (Cache(gradient.__name__, function), weights), _MAX_GRADIENTS)
    return caches[key][0]


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
        self, fn: Callable, options: Options, owner: Any = None, cache: Cache | None = None
    ):
        # First: it copies attributes, and a gradient function has an `fn` too.
        functools.update_wrapper(self, fn)
        self.fn, self.options, self.owner = fn, options, owner
        self.cache = cache or Cache(getattr(fn, "__qualname__", type(fn).__name__), fn)

    def bound_function(self) -> Any:
        """The plain function, bound to its object if it is a method."""
        return self.fn if self.owner is None else types.MethodType(self.fn, self.owner)

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        if instance is None:
            return self
        caches = home_of(instance, METHODS)
        cache = caches.get(self.fn)
        if cache is None:
            cache = caches[self.fn] = Cache(self.cache.name, types.MethodType(self.fn, instance))
        signature = self.options.signature and self.options.signature.bound()
        return JitFunction(self.fn, self.options._replace(signature=signature), instance, cache)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.bound_function()
        if _core.is_tracing():
            tracer = current()
            assert tracer is not None
            return tracer.call(function, list(args), kwargs)
        target = Target(
            self.cache,
            lambda tracer, a, k: tracer.call(function, a, k),
            _eagerly(function),
            self.options,
        )
        run = run_recorded if _core.is_recording() else run_target
        try:
            return run(target, args, kwargs)
        except Exception as error:
            hide(error)
            del args, kwargs  # the frames that are left know this one
            raise


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
        input_signature: a Tensor, or a tuple of them, that describes the first arguments. Tensor(shape=[None, 3],
            dtype=mindspore.float32) leaves the first size open: one compile serves them all.
        jit_config: a JitConfig; its syntax level "STRICT" is `fullgraph`, its jit_level "O0" turns fusion off.
        fullgraph: what cannot be compiled is an error; otherwise it runs eagerly, with a warning.

    The remaining arguments choose among compilers of other devices and are accepted.
    """
    del mode, hash_args, compile_once, options
    if jit_config is not None and not isinstance(jit_config, JitConfig):
        raise TypeError(
            f"For 'jit', 'jit_config' must be a JitConfig, but got {type(jit_config).__name__}."
        )
    if not isinstance(fullgraph, bool):
        raise TypeError(
            f"For 'jit', 'fullgraph' must be a bool, but got {type(fullgraph).__name__}."
        )
    strict = fullgraph or (jit_config is not None and jit_config.strict)
    fast = jit_config is None or jit_config.fast
    if jit_config is not None:
        tuning.raise_budget(jit_config.tune_budget)

    def wrap(function: Callable) -> Any:
        if isinstance(function, JitFunction):
            return function
        if not callable(function):
            raise TypeError(
                f"For 'jit', the argument must be a function, method or Cell, but got {type(function).__name__}."
            )
        options = Options(strict, declared(function, input_signature), fast)
        if isinstance(function, types.MethodType):
            return JitFunction(function.__func__, options, function.__self__)
        return JitFunction(function, options)

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
    for name in KEPT:
        getattr(function, "__dict__", {}).pop(name, None)
    if isinstance(function, JitFunction):
        function.cache.clear()
