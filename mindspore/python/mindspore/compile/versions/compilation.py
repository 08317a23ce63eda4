"""From a function and the arguments of a call to what the cache keeps: one attempt, or several; a path; or a refusal."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

from mindspore import context
from mindspore.compile.program import deep
from mindspore.compile.program.errors import Unsupported, plain, too_late
from mindspore.compile.versions import again, breaks, path
from mindspore.compile.versions.attempt import Answered, Asked, Attempt, RaisesInside
from mindspore.compile.versions.cache import Cache, making
from mindspore.compile.versions.entries import EagerEntry, FailedEntry, LikelyFails, Version
from mindspore.compile.versions.keys import inputs_of, records_of
from mindspore.compile.versions.remembered import Remembered
from mindspore.compile.versions.signature import InputShapes, Sizes
from mindspore.compile.walk.tracer import Tracer


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
            asked = Asked(self.cache, self.function, args, kwargs, strict=False, fast=self.fast)
            compilation = Compilation(asked)
            entry = compilation.resume(self.root, done)
        return compilation.serve(entry, eager)


class Compilation:
    """From what is asked for to a version that the cache keeps. `attempt`: makes one, of a trace."""

    answer: Answered | None = None  # to this call, where it was made meanwhile
    session: breaks.Session | None = None

    def __init__(self, asked: Asked, attempt: Callable[..., Attempt] = Attempt):
        # Eager lines would see what each process has, not the whole.
        strict = asked.strict or asked.planning is not None
        strict = strict or context.get_context("jit_syntax_level") == context.STRICT
        self.asked, self.attempt = asked._replace(strict=strict), attempt

    def serve(self, entry: Version, eager: Callable) -> Any:
        """The value of this call, from the version that was made of it."""
        if self.answer is not None:
            return self.answer.give()
        return entry.run(self.asked.args, self.asked.kwargs, eager)

    def run(self) -> Any:
        """What the cache keeps for these types."""
        start = None if self.asked.strict else (path.Node(), path.Done())
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
        asked, tracer = self.asked, self._tracer()
        if start is not None:
            inputs = inputs_of((asked.args, asked.kwargs))
            records = records_of(asked.args, asked.kwargs)
            tracer.session = self.session = breaks.Session(tracer, inputs, records, *start)
            tracer.warn_break = asked.cache.notices.line_is_eager
        try:
            made = self._made(tracer)
        except Unsupported as error:
            return self._refused(tracer, error)
        if self.session is not None:
            self.session.slots = []  # what is traced dies with cycles, these values now
        if isinstance(made, Answered):
            self.answer = made
            return PathEntry(asked.cache, asked.function, tracer.parts.root, asked.fast)
        return made

    def _made(self, tracer: Tracer) -> Any:
        try:
            return self.attempt(self.asked, tracer).run()
        except ValueError as error:
            if self.asked.planning is None or not again.lacks_memory(error):
                raise
            make = lambda: self.attempt(self.asked, self._tracer()).run()  # noqa: E731
            return again.with_blocks(self.asked, tracer.called, error, self._tracer, make)

    def _refused(self, tracer: Tracer, error: Any) -> Any:
        """Of what cannot be compiled."""
        tracer.guards.item(*context.place_of("jit_syntax_level"))
        if tracer.session is None:
            return FailedEntry(tracer.guards.facts, Remembered(error), refused=True)
        late = not tracer.session.undo()
        if isinstance(error, RaisesInside):
            if late:
                raise error.error.with_traceback(None) from error.error.__cause__
            warn = functools.partial(self.asked.cache.notices.call_is_eager, str(error))
            return LikelyFails(tracer.guards.facts, warn)
        if late:
            raise plain(too_late(error)).with_traceback(None) from None
        self.asked.cache.notices.call_is_eager(str(error))
        return EagerEntry(tracer.guards.facts)

    def open(self, sizes: list[Sizes | None] | None, numbers: tuple[int, ...] = ()) -> Any:
        """A version for all sizes that are open, which is one graph, with the numbers at these places as inputs."""
        return self._deeply(lambda: self._open(sizes, numbers))

    def _open(self, sizes: list[Sizes | None] | None, numbers: tuple[int, ...]) -> Any:
        merged: dict[int, int] = {}
        while True:
            tracer = self._tracer()
            shapes = InputShapes(tracer.trace, sizes, merged)
            entry = self.attempt(self.asked, tracer, shapes, numbers).run()
            if entry is not None:
                return entry
            # Sizes that must be equal become one symbol, so that types agree wherever they meet.
            merged = {**merged, **shapes.found_equal()}

    def _tracer(self) -> Tracer:
        return Tracer(_front_end.max_depth(), self.asked.fast)
