"""One attempt to compile a function for given arguments: it is traced, and the trace is compiled."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late, _planning
from mindspore.common._planning import Planning
from mindspore.common._tree import all_leaves, rebuild
from mindspore.compile.decided.given import Given
from mindspore.compile.program.borders import of_compiler
from mindspore.compile.program.errors import Inseparable, Unsupported, locate
from mindspore.compile.program.failures import is_of_program
from mindspore.compile.program.marks import original_of
from mindspore.compile.program.places import calling_place
from mindspore.compile.values.guards import OBSERVED
from mindspore.compile.values.numbers import NumberDecides, NumberInput, as_tensor, holds_number
from mindspore.compile.values.values import require_plain
from mindspore.compile.versions import memory
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.entries import ChangingEntry, Entry, FailedEntry, Version
from mindspore.compile.versions.keys import inputs_of, opaque_part, records_of
from mindspore.compile.versions.remembered import Remembered
from mindspore.compile.versions.results import Result, check_parts
from mindspore.compile.versions.signature import InputShapes
from mindspore.compile.walk.tracer import Tracer
from mindspore.ops import _pinned


class Asked(NamedTuple):
    """What is to be compiled. `strict`: whole, or not at all."""

    cache: Cache
    function: Callable[[Tracer, list, dict], Any]
    args: tuple
    kwargs: dict
    strict: bool
    fast: bool
    planning: Planning | None = None


class Answered(NamedTuple):
    """The call has been made while it was traced, since lines of it run eagerly: `give` has its value, or raises its error."""

    give: Callable[[], Any]


class RaisesInside(Inseparable):
    """An error of the program in a graph inside another, which did something before: it is lost with that graph."""

    error: Exception


# Errors that say something about an attempt to compile.
_OF_COMPILATION = (Unsupported, NumberDecides, _core.SymbolicSizeError, RecursionError, MemoryError)


class Attempt:
    """`shapes`: sizes that are open. `numbers`: the places of numbers that are inputs of the graph."""

    def __init__(
        self,
        asked: Asked,
        tracer: Tracer,
        shapes: InputShapes | None = None,
        numbers: tuple[int, ...] = (),
    ):
        self.asked, self.tracer, self.numbers = asked, tracer, numbers
        tracer.tentative = bool(numbers) or shapes is not None
        self.shapes = shapes or InputShapes(tracer.trace)

    def run(self) -> Version | Answered | None:
        """A version, or the answer to the call; None where open sizes must be equal."""
        tracer = self.tracer
        try:
            with tracer, _planning.tracing(self.asked.planning):
                return self._trace()
        except Unsupported as error:
            raise locate(error, calling_place()) from None
        except Exception as error:
            original = original_of(of_compiler(error))
            trace = None if is_of_program(error) else original.__traceback__
            raise locate(error, calling_place()).with_traceback(trace) from error.__cause__
        finally:
            tracer.cells.clear()
            tracer.trace.close()

    # ---- tracing ------------------------------------------------------------------------------------------------------
    def _trace(self) -> Version | Answered | None:
        asked, tracer = self.asked, self.tracer
        args, kwargs = self._inputs()
        tracer.arguments = inputs_of((args, kwargs))
        tracer.given = Given(args, kwargs, records_of(args, kwargs))
        for leaf in all_leaves((args, kwargs)):
            if isinstance(leaf, OBSERVED):
                tracer.guards.content(leaf)
            elif hasattr(type(leaf), "__next__"):
                tracer.note_outside(leaf)
        try:
            value = asked.function(tracer, args, kwargs)
        except Exception as error:
            if not self._is_lasting(error):
                raise
            return self._fail(locate(error, calling_place()))
        if self._is_parted():
            return self._answer(value)
        if self.numbers:
            require_plain(value, "what a compiled function returns")
            if holds_number(value):
                raise NumberDecides
        if self.shapes.found_equal():
            return None
        entry = self._whole(value)
        memory.dump(entry.graph, asked.cache.name)
        return entry

    def _is_parted(self) -> bool:
        """Whether lines have run eagerly."""
        return self.tracer.session is not None and self.tracer.session.steps > 0

    def _answer(self, value: Any) -> Answered:
        require_plain(value, "what a compiled function returns")
        check_parts(value)
        if self.tracer.given.changed():
            raise Unsupported(
                "a list or dict that is an argument changes, in a function with lines that run eagerly"
            )
        found = self.tracer.parts.finish(value)
        return Answered(lambda: found)

    def _inputs(self) -> tuple[list, dict]:
        """The arguments with parameters of the graph in place of tensors, and of those numbers."""
        asked, trace = self.asked, self.tracer.trace
        count = iter(range(1 << 30))
        opaque = opaque_part((asked.args, asked.kwargs))
        if opaque is not None:
            _refuse_class(opaque)

        def symbolic(t: Tensor) -> Tensor:
            shape = self.shapes.next(t)
            if isinstance(t, _late.parameter_class):
                return t
            if type(t) is not Tensor:
                _refuse_class(t)
            number = next(count)
            if asked.planning is not None:
                shape = asked.planning.given(number, shape)
            return trace.add_parameter(t.dtype, shape, name=f"x{number}")

        args, kwargs = rebuild((list(asked.args), dict(asked.kwargs)), symbolic)
        names = [*range(len(args)), *kwargs]
        for place in self.numbers:
            at = names[place]
            owner: Any = args if isinstance(at, int) else kwargs
            dtype = as_tensor(owner[at]).dtype
            owner[at] = NumberInput(trace.add_parameter(dtype, [], name=f"x{next(count)}"))
        return args, kwargs

    # ---- errors of the program ----------------------------------------------------------------------------------------
    def _is_lasting(self, error: Any) -> bool:
        """Whether an error is one of the program, which every such call raises."""
        tracer = self.tracer
        if tracer.tentative or tracer.trace.depth or isinstance(error, _OF_COMPILATION):
            return False
        if not is_of_program(error):
            return False
        changes = tracer.emitted or tracer.aliases.changes
        if changes and getattr(error, "_ms_nested", False) and tracer.session is not None:
            raise RaisesInside(f"it raises after it did something: {error}", error)
        return True

    def _fail(self, located: Any) -> Version | Answered:
        """A version that does what the program does before it raises an error, then raises it."""
        failed = Remembered(located)
        if self._is_parted():
            if self.tracer.given.changed():
                raise located
            self.tracer.parts.fail(failed)
            return Answered(failed.raise_again)
        before = self._whole(None)
        return FailedEntry(self.tracer.guards.facts, failed, before)

    # ---- one graph ----------------------------------------------------------------------------------------------------
    def _whole(self, value: Any) -> Entry:
        """The version that is one graph."""
        tracer = self.tracer
        planning = self.asked.planning
        result = Result(tracer, value, planning.inputs if planning else ())
        returned = result.returned
        changed = tracer.cells.current(tracer.arguments)  # in place, by position
        trace = tracer.trace
        trace.finish(returned + list(changed.values()))
        trace.close()  # what fails from here on is known by the places of its nodes
        graph = self._compiled()
        graph.replace(tracer.replaced)

        entry: Entry
        if changed or result.contents or result.uses_given:
            entry = ChangingEntry(graph, tracer.guards.facts, result.place, self.numbers)
            entry.changed = list(changed)
            entry.changed_containers = [at for at, _ in result.contents]
            entry.outside = tracer.guards.containers()
        else:
            plain = (
                isinstance(value, Tensor) and returned and not (result.numeric[0] or result.shows)
            )
            place = operator.itemgetter(0) if plain else lambda outputs: result.make(outputs, {})
            entry = Entry(graph, tracer.guards.facts, place, self.numbers)
        entry.warn = _refuse if self.asked.strict else self.asked.cache.notices.call_is_eager
        return entry

    def _compiled(self) -> Any:
        """The graph of what was traced; that of this process, where the work is divided."""
        tracer, planning = self.tracer, self.asked.planning
        if planning is None:
            return _core.compile(tracer.trace, tracer.device, tracer.fast)
        parameters = self.parameters()
        with planning.told(parameters):
            graph = _core.compile(tracer.trace, tracer.device, tracer.fast)
        planning.written(graph)
        _pinned.share(parameters)
        return graph

    def parameters(self) -> list[Any]:
        """The Parameters that the function reads or writes."""
        read = [tensor for tensor, _ in self.tracer.trace.environment()]
        return [p for p in read if isinstance(p, _late.parameter_class)]


def _refuse_class(value: Any) -> NoReturn:
    raise Unsupported(
        f"an argument is of the class '{type(value).__name__}', which has more to it than compiled code knows"
    )


def _refuse(reason: str) -> NoReturn:
    """In place of a warning, where what cannot be compiled is an error."""
    raise locate(TypeError(reason), calling_place())
