"""What can be compiled, and the run of the version that serves a call."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from mindspore import _core, context
from mindspore.common import _late, _planning
from mindspore.compile.program.failures import is_of_program
from mindspore.compile.values.compilable import AS_USUAL, Options
from mindspore.compile.values.numbers import as_tensor, is_number
from mindspore.compile.versions.attempt import Asked
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.compilation import Compilation
from mindspore.compile.versions.entries import FailedEntry
from mindspore.compile.versions.keys import inputs_of, key_of, look_up, with_open_sizes, with_passes
from mindspore.compile.versions.signature import Sizes
from mindspore.compile.walk.tracer import Tracer


@dataclasses.dataclass
class Target:
    """What is compiled, and how: its versions, what traces it, the same as plain Python, and what was declared of it."""

    cache: Cache
    function: Callable[[Tracer, list, dict], Any]
    eager: Callable
    options: Options = AS_USUAL

    def sizes(self, args: tuple, kwargs: dict) -> list[Sizes | None] | None:
        """The declared sizes of the tensors; None where none are open."""
        signature = self.options.signature
        sizes = signature.sizes(args, kwargs) if signature else None
        return None if self.cache.static or _planning.on() else sizes

    def key_of(self, args: tuple, kwargs: dict, sizes: list[Sizes | None] | None = None) -> tuple:
        """What a version depends on."""
        return with_passes(key_of(args, kwargs, sizes), self.options.fast)

    def look_up(self, args: tuple, kwargs: dict) -> tuple[tuple, list]:
        """What a version depends on, and the tensors among the arguments."""
        key, tensors = look_up(args, kwargs)
        return with_passes(key, self.options.fast), tensors

    def compilation(self, args: tuple, kwargs: dict) -> Compilation:
        """An attempt to make a version."""
        strict, fast = self.options.strict, self.options.fast and context.fast()
        planning = _planning.current(self.options.whole)
        return Compilation(Asked(self.cache, self.function, args, kwargs, strict, fast, planning))


def run_target(target: Target, args: tuple, kwargs: dict) -> Any:
    """Runs the version for these arguments."""
    cache = target.cache
    sizes = target.sizes(args, kwargs)
    if sizes is not None:
        return _run_open(target, args, kwargs, sizes)
    key, tensors = target.look_up(args, kwargs)
    entry = cache.find(key)
    if entry is not None:
        return entry.run(args, kwargs, target.eager, tensors)
    compilation = target.compilation(args, kwargs)
    entry = _find_for_numbers(compilation, key)
    if entry is None:
        entry = cache.get(key, None, compilation.run)
    return compilation.serve(entry, target.eager)


def prepare(target: Target, args: tuple, kwargs: dict) -> None:
    """Makes the version for these arguments, which is run when they come."""
    with _core.NoRecord():
        sizes = target.sizes(args, kwargs)
        compilation = target.compilation(args, kwargs)
        if sizes is None:
            target.cache.get(target.key_of(args, kwargs), None, compilation.run)
        else:
            key = with_open_sizes(target.key_of(args, kwargs, sizes))
            make = functools.partial(compilation.open, sizes)
            target.cache.get(key, inputs_of((args, kwargs)), make)


def require_whole(target: Target, args: tuple, kwargs: dict) -> None:
    """Raises what is wrong where these arguments have no version that is compiled whole."""
    with _core.NoRecord():
        key, _ = target.look_up(args, kwargs)
        entry = target.cache.get(key, None, target.compilation(args, kwargs).run)
    if isinstance(entry, FailedEntry) and entry.refused:
        entry.error.raise_again()


def _find_for_numbers(
    compilation: Compilation,
    key: tuple,
    inputs: list | None = None,
    sizes: list[Sizes | None] | None = None,
) -> Any:
    """A version in which the numbers that changed between calls are inputs, and `sizes` are open; None where nothing changed,
    or a number decides what must be known while compiling."""
    asked, cache = compilation.asked, compilation.asked.cache
    values = [*asked.args, *asked.kwargs.values()]
    if not any(map(is_number, values)):
        return None
    masked, places = cache.numbers.masked(key, values)
    wanted = cache.numbers.next(masked, values, places)
    if not wanted or cache.numbers.tried(masked):
        return None
    chosen = tuple(sorted(wanted))
    if inputs is not None:
        inputs = inputs + [as_tensor(values[i]) for i in chosen]
    make = functools.partial(compilation.open, sizes, chosen)
    try:
        entry = cache.get(cache.numbers.key(masked, chosen, values, places), inputs, make)
    except Exception as error:
        if not is_of_program(error):
            raise
        # The numbers stay constants, and an error of the program comes again.
        cache.numbers.keep(masked, frozenset())
        return None
    cache.numbers.keep(masked, wanted)
    return entry


def _run_open(target: Target, args: tuple, kwargs: dict, sizes: list[Sizes | None]) -> Any:
    """As run_target, with open sizes: one version serves all of them, unless something in the function depends on them."""
    cache = target.cache
    key = target.key_of(args, kwargs, sizes)
    inputs = inputs_of((args, kwargs))
    entry = cache.find(with_open_sizes(key), inputs)
    if entry is None and cache.failed:
        entry = cache.failure(target.key_of(args, kwargs))
    if entry is not None:
        return entry.run(args, kwargs, target.eager)
    compilation = target.compilation(args, kwargs)
    entry = _find_for_numbers(compilation, key, inputs, sizes)
    if entry is not None:
        return entry.run(args, kwargs, target.eager)
    try:
        make = functools.partial(compilation.open, sizes)
        entry = cache.get(with_open_sizes(key), inputs, make)
    except Exception as error:
        if not is_of_program(error):
            raise
        # What can be compiled for the sizes of this call must not fail.
        options = target.options._replace(signature=None)
        result = run_target(dataclasses.replace(target, options=options), args, kwargs)
        cache.give_up_open_sizes(error)
        return result
    return entry.run(args, kwargs, target.eager)


def options_of(function: Any) -> Options:
    """How a cell or decorated function that is differentiated is to be compiled."""
    if getattr(type(function), "_ms_compiled", False):  # a JitFunction
        return function.options
    return Options.of(function.__dict__ if isinstance(function, _late.cell_class) else {})
