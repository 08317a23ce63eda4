"""From a function and the arguments of a call to what the cache keeps: trace, and compile the trace."""

from __future__ import annotations

import functools
import gc
import operator
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from mindspore import _core, context
from mindspore._core import Tensor
from mindspore.common import _late, _planning
from mindspore.common._planning import Planning
from mindspore.common._tree import all_leaves, rebuild
from mindspore.compile.decided.given import Given
from mindspore.compile.program import deep
from mindspore.compile.program.borders import of_compiler
from mindspore.compile.program.errors import Inseparable, Unsupported, locate, plain, too_late
from mindspore.compile.program.failures import is_of_program
from mindspore.compile.program.marks import original_of
from mindspore.compile.program.places import calling_place
from mindspore.compile.values.guards import OBSERVED
from mindspore.compile.values.numbers import NumberDecides, NumberInput, as_tensor, holds_number
from mindspore.compile.values.values import require_plain
from mindspore.compile.versions import breaks, memory, path
from mindspore.compile.versions.cache import Cache, making
from mindspore.compile.versions.entries import (
    ChangingEntry,
    EagerEntry,
    Entry,
    FailedEntry,
    LikelyFails,
    Version,
)
from mindspore.compile.versions.keys import inputs_of, opaque_part, records_of
from mindspore.compile.versions.remembered import Remembered
from mindspore.compile.versions.results import Result, check_parts
from mindspore.compile.versions.signature import InputShapes, Sizes
from mindspore.compile.walk.tracer import Tracer
from mindspore.ops import _pinned


class _FrontEnd:
    """What the process grants while any thread traces. Room for calls: a user's call is about a dozen of ours. No collection
    of cycles: tracing makes many objects that live on, which the collector would walk again and again in vain."""

    def __init__(self) -> None:
        self._lock, self._users, self._outer = threading.Lock(), 0, (0, True)

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._outer = (sys.getrecursionlimit(), gc.isenabled())
                sys.setrecursionlimit(max(self._outer[0], deep.LIMIT))
                gc.disable()

    def max_depth(self) -> int:
        """How deep Python lets the user's calls be."""
        return self._outer[0]

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setrecursionlimit(self._outer[0])
                if self._outer[1]:
                    gc.enable()


_front_end = _FrontEnd()


class _RaisesInside(Inseparable):
    """An error of the program in a graph inside another, which did something before: it is lost with that graph."""

    error: Exception


# Errors that say something about an attempt to compile.
_OF_COMPILATION = (Unsupported, NumberDecides, _core.SymbolicSizeError, RecursionError, MemoryError)


class PathEntry(Version):
    """A version of several graphs with lines between them that run eagerly. Its facts must hold when a run begins; the nodes of the
    path have their own."""

    def __init__(self, cache: Cache, function: Callable, root: path.Node, fast: bool):
        super().__init__(root.facts)
        self.cache, self.function, self.root, self.fast = cache, function, root, fast

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        try:
            return path.follow(self.root, [*inputs_of((args, kwargs)), *records_of(args, kwargs)])
        except path.Unknown as unknown:
            done = unknown.done
        with self.cache.alone(("path", id(self))):
            compilation = Compilation(
                self.cache, self.function, args, kwargs, strict=False, fast=self.fast
            )
            entry = compilation.resume(self.root, done)
        return compilation.result() if compilation.has_value else entry.run(args, kwargs, eager)


class Compilation:
    """One attempt to compile a function for given arguments. Where lines of it run eagerly, it gives the value of this call
    too."""

    has_value = False
    value: Any = None
    failed: Remembered | None = None  # in place of the value
    session: breaks.Session | None = None

    def __init__(
        self,
        cache: Cache,
        function: Callable,
        args: tuple,
        kwargs: dict,
        strict: bool,
        fast: bool,
        planning: Planning | None = None,
    ):
        self.cache, self.function, self.args, self.kwargs = cache, function, args, kwargs
        self.fast, self.planning = fast, planning
        self.strict = strict or context.get_context("jit_syntax_level") == context.STRICT
        if planning is not None:
            self.strict = True  # eager lines would see what each process has, not the whole

    def result(self) -> Any:
        """The value of this call, or its error."""
        return self.value if self.failed is None else self.failed.raise_again()

    def run(self) -> Any:
        """What the cache keeps for these types."""
        start = None if self.strict else (path.Node(), path.Done())
        return self._deeply(lambda: self._along(start))

    def resume(self, root: path.Node, done: path.Done) -> Any:
        """As run, along a path of which a part has been done."""
        return self._deeply(lambda: self._along((root, done)))

    def _deeply(self, work: Callable[[], Any]) -> Any:
        def inside() -> Any:
            with making():  # perhaps on a thread of its own
                return work()

        with _front_end:
            return deep.call(inside, lambda: self.session is None or self.session.undo())

    def _along(self, start: tuple[path.Node, path.Done] | None) -> Any:
        tracer = self._tracer()
        if start is not None:
            inputs = inputs_of((self.args, self.kwargs))
            records = records_of(self.args, self.kwargs)
            tracer.session = self.session = breaks.Session(tracer, inputs, records, *start)
            tracer.warn_break = self.cache.notices.line_is_eager
        try:
            made = self._attempt(tracer)
            if self.session is not None:
                self.session.slots = []  # what is traced dies with cycles, these values now
            return made
        except Unsupported as error:
            return self._refused(tracer, error)

    def _refused(self, tracer: Tracer, error: Any) -> Any:
        """Of what cannot be compiled."""
        tracer.guards.item(*context.place_of("jit_syntax_level"))
        if tracer.session is None:
            return FailedEntry(tracer.guards.facts, Remembered(error), refused=True)
        late = not tracer.session.undo()
        if isinstance(error, _RaisesInside):
            if late:
                raise error.error.with_traceback(None) from error.error.__cause__
            warn = functools.partial(self.cache.notices.call_is_eager, str(error))
            return LikelyFails(tracer.guards.facts, warn)
        if late:
            raise plain(too_late(error)).with_traceback(None) from None
        self.cache.notices.call_is_eager(str(error))
        return EagerEntry(tracer.guards.facts)

    def open(self, sizes: list[Sizes | None] | None, numbers: tuple[int, ...] = ()) -> Any:
        """A version for all sizes that are open, which is one graph, with the numbers at these places as inputs."""
        return self._deeply(lambda: self._open(sizes, numbers))

    def _open(self, sizes: list[Sizes | None] | None, numbers: tuple[int, ...]) -> Any:
        merged: dict[int, int] = {}
        while True:
            tracer = self._tracer()
            shapes = InputShapes(tracer.trace, sizes, merged)
            entry = self._attempt(tracer, shapes, numbers)
            if entry is not None:
                return entry
            # Sizes that must be equal become one symbol, so that types agree wherever they meet.
            merged = {**merged, **shapes.found_equal()}

    def _tracer(self) -> Tracer:
        return Tracer(_front_end.max_depth(), self.fast)

    def _attempt(
        self, tracer: Tracer, shapes: InputShapes | None = None, numbers: tuple[int, ...] = ()
    ) -> Any:
        try:
            with tracer, _planning.tracing(self.planning):
                return self._trace(tracer, shapes, numbers)
        except Unsupported as error:
            raise locate(error, calling_place()) from None
        except Exception as error:
            original = original_of(of_compiler(error))
            trace = None if is_of_program(error) else original.__traceback__
            raise locate(error, calling_place()).with_traceback(trace) from error.__cause__
        finally:
            tracer.cells.clear()
            tracer.trace.close()

    def _trace(self, tracer: Tracer, shapes: InputShapes | None, numbers: tuple[int, ...]) -> Any:
        tracer.tentative = bool(numbers) or shapes is not None
        shapes = shapes or InputShapes(tracer.trace)
        args, kwargs = self._inputs(tracer.trace, shapes, numbers)
        tracer.arguments = inputs_of((args, kwargs))
        tracer.given = Given(args, kwargs, records_of(args, kwargs))
        for leaf in all_leaves((args, kwargs)):
            if isinstance(leaf, OBSERVED):
                tracer.guards.content(leaf)
            elif hasattr(type(leaf), "__next__"):
                tracer.note_outside(leaf)
        session = tracer.session
        try:
            value = self.function(tracer, args, kwargs)
        except Exception as error:
            if not self._is_lasting(tracer, error):
                raise
            return self._fail(tracer, locate(error, calling_place()))
        parted = session is not None and session.steps
        if parted or numbers:
            require_plain(value, "what a compiled function returns")
        if parted:
            check_parts(value)
            if tracer.given.changed():
                raise Unsupported(
                    "a list or dict that is an argument changes, in a function with lines that run eagerly"
                )
            self.has_value, self.value = True, tracer.parts.finish(value)
            return PathEntry(self.cache, self.function, tracer.parts.root, self.fast)
        if numbers and holds_number(value):
            raise NumberDecides
        if shapes.found_equal():
            return None
        entry = self._whole(tracer, value, numbers)
        memory.dump(entry.graph, self.cache.name)
        return entry

    def _is_lasting(self, tracer: Tracer, error: Any) -> bool:
        """Whether an error is one of the program, which every such call raises."""
        if tracer.tentative or tracer.trace.depth or isinstance(error, _OF_COMPILATION):
            return False
        if not is_of_program(error):
            return False
        changes = tracer.emitted or tracer.aliases.changes
        if changes and getattr(error, "_ms_nested", False) and tracer.session is not None:
            raise _RaisesInside(f"it raises after it did something: {error}", error)
        return True

    def _fail(self, tracer: Tracer, located: Any) -> Any:
        """A version that does what the program does before it raises an error, then raises it."""
        failed = Remembered(located)
        session = tracer.session
        if session is not None and session.steps:
            if tracer.given.changed():
                raise located
            self.has_value, self.failed = True, failed
            session.fail(failed)
            return PathEntry(self.cache, self.function, session.root, self.fast)
        before = self._whole(tracer, None, ())
        return FailedEntry(tracer.guards.facts, failed, before)

    def _whole(self, tracer: Tracer, value: Any, numbers: tuple[int, ...]) -> Entry:
        """The version that is one graph."""
        result = Result(tracer, value)
        returned = result.returned
        changed = tracer.cells.current(tracer.arguments)  # in place, by position
        trace = tracer.trace
        trace.finish(returned + list(changed.values()))
        trace.close()  # what fails from here on is known by the places of its nodes
        graph = self._compiled(tracer)
        graph.replace(tracer.replaced)

        entry: Entry
        if changed or result.contents or result.uses_given:
            entry = ChangingEntry(graph, tracer.guards.facts, result.place, numbers)
            entry.changed = list(changed)
            entry.changed_containers = [at for at, _ in result.contents]
            entry.outside = tracer.guards.containers()
        else:
            plain = (
                isinstance(value, Tensor) and returned and not (result.numeric[0] or result.shows)
            )
            place = operator.itemgetter(0) if plain else lambda outputs: result.make(outputs, {})
            entry = Entry(graph, tracer.guards.facts, place, numbers)
        entry.warn = _refuse if self.strict else self.cache.notices.call_is_eager
        return entry

    def _compiled(self, tracer: Tracer) -> Any:
        """The graph of what was traced; that of this process, where the work is divided."""
        if self.planning is None:
            return _core.compile(tracer.trace, tracer.device, tracer.fast)
        parameters = self._parameters(tracer)
        with self.planning.told(parameters):
            graph = _core.compile(tracer.trace, tracer.device, tracer.fast)
        self.planning.written(graph)
        _pinned.share(parameters)
        return graph

    def _parameters(self, tracer: Tracer) -> list[Any]:
        """The Parameters that the function reads or writes."""
        read = [tensor for tensor, _ in tracer.trace.environment()]
        return [p for p in read if isinstance(p, _late.parameter_class)]

    def _inputs(
        self, trace: _core.Trace, shapes: InputShapes, numbers: tuple[int, ...]
    ) -> tuple[list, dict]:
        """The arguments with parameters of the graph in place of tensors, and of those numbers."""
        count = iter(range(1 << 30))
        opaque = opaque_part((self.args, self.kwargs))
        if opaque is not None:
            _refuse_class(opaque)

        def symbolic(t: Tensor) -> Tensor:
            shape = shapes.next(t)
            if isinstance(t, _late.parameter_class):
                return t
            if type(t) is not Tensor:
                _refuse_class(t)
            number = next(count)
            if self.planning is not None:
                shape = self.planning.given(number, shape)
            return trace.add_parameter(t.dtype, shape, name=f"x{number}")

        args, kwargs = rebuild((list(self.args), dict(self.kwargs)), symbolic)
        names = [*range(len(args)), *kwargs]
        for place in numbers:
            at = names[place]
            owner: Any = args if isinstance(at, int) else kwargs
            dtype = as_tensor(owner[at]).dtype
            owner[at] = NumberInput(trace.add_parameter(dtype, [], name=f"x{next(count)}"))
        return args, kwargs


def _refuse_class(value: Any) -> NoReturn:
    raise Unsupported(
        f"an argument is of the class '{type(value).__name__}', which has more to it than compiled code knows"
    )


def _refuse(reason: str) -> NoReturn:
    """In place of a warning, where what cannot be compiled is an error."""
    raise locate(TypeError(reason), calling_place())
