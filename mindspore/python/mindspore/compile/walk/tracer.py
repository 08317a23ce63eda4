"""Turns one call of a user function into a graph: decides for every call inside it whether to parse, to run or to refuse, reads
Python facts under guards, and keeps the place in the user's source.

Its storeys, each built on those before: Choices and Recursion (decided/), Iterators, States, Facts, Subscripts, Attributes, Operations,
PlainCalls, Instances, Calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import _core, context
from mindspore._core import Tensor
from mindspore.compile.decided.aliases import Aliases
from mindspore.compile.decided.given import Given
from mindspore.compile.program.errors import Unsupported, call_place
from mindspore.compile.program.places import Place, calling_place
from mindspore.compile.values import guards as facts
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.walk.calls import Calls
from mindspore.compile.walk.frame import Frame
from mindspore.compile.walk.memo import Memo

if TYPE_CHECKING:
    from mindspore.compile.versions.breaks import Session


class _Threads(threading.local):
    tracers: tuple[Tracer, ...] = ()


_current = _Threads()


def current() -> Tracer | None:
    """The tracer at work on this thread."""
    return _current.tracers[-1] if _current.tracers else None


def at_work() -> Tracer:
    """The tracer at work on this thread, where there must be one."""
    return _current.tracers[-1]


class Tracer(Calls):
    """One compilation."""

    def __init__(self, max_depth: int, fast: bool) -> None:
        self.max_depth = max_depth  # of calls of the user
        self.fast = fast  # the passes that only make graphs faster run
        self.guards = facts.Guards()
        self.places: list[tuple[Frame, int]] = []  # of calls under way: frame, span of its caller
        self.made: set[int] = set()  # ids of objects that the compiled function made itself
        self.keep: list[Any] = []  # ... kept alive, so that ids stay theirs
        self.records: dict[int, Any] = {}  # forward runs of cells with set_grad, by id of the cell
        self.in_gradient = 0
        self.fixed = 0  # graphs that can change no Parameter, around what is being traced
        self.tentative = False  # numbers or sizes are open; what fails is compiled again without
        self.acts = False  # a run prints, logs or calls what may do anything
        self.emitted = 0  # how often something to do beside computing was put into a graph
        self.arms = 0  # branches that a tensor decides, around what is being traced
        self.unrolls = True  # a loop that is left by tensors, but whose rounds are known, too
        self.session: Session | None = None  # None: no line may run eagerly
        self.warn_break: Callable[[Unsupported], None] = lambda reason: None
        self.calls, self.unrolled = [], set()  # see recursion.py
        self.cells = TensorCells()
        self.called: list = []  # cells of the network
        self.iterators = {}  # see generators.py
        self.arguments: list[Tensor] = []  # of the function, in the order of the graph's inputs
        self.aliases = Aliases(self)
        self.given = Given((), {})  # lists and dicts among the arguments
        # Tensors read from outside: as values of the graph, by whose id, and themselves.
        self.lifted: dict[int, tuple[Tensor, Tensor]] = {}
        self.replaced: list[Tensor] = []  # Parameters that set_data gives another value
        self.changed_arrays, self.arrays_apart = [], 0  # see subscripts.py
        self._begin()

    def _begin(self) -> None:
        """Begins a graph. From here on this thread is tracing, until `close` of the trace."""
        place = context.place_of("device_target")
        self.device = place[2]
        _core.synchronize(self.device)  # what it found wrong before is not of this program
        self.guards.item(*place)
        self.guards.item(*context.place_of("deterministic"))  # the device chooses kernels by it
        self.limits, self.decided, self.conditions, self.numbers = [], {}, {}, {}  # see choices.py
        self.memo = Memo()
        self.trace = _core.Trace()
        self.trace.on_update = self.aliases.check_change
        self.trace.on_write, self.trace.on_replace = self.write, self.replace

    def __enter__(self) -> Tracer:
        _current.tracers += (self,)
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.tracers = _current.tracers[:-1]

    def restart(self) -> None:
        """Goes on in a new graph, after a line that ran eagerly."""
        span, made = self.trace.span, self.trace.made
        self.records.clear()
        self._begin()
        self.trace.span, self.trace.continued, self.trace.made = span, True, made

    @property
    def parts(self) -> Session:
        """The session, where a value has come out of a graph or the last part ends."""
        assert self.session is not None
        return self.session

    # ---- places -----------------------------------------------------------------------------------------------------
    def mark(self, frame: Frame, node: Any) -> None:
        """What is emitted from here on stands at `node`."""
        if node is None or not hasattr(node, "lineno"):
            return
        caller = self.places[-1][1] if self.places else 0
        source = frame.source
        self.trace.span = self.trace.intern_span(
            source.core_file,
            node.lineno,
            node.col_offset + 1,
            node.end_lineno or node.lineno,
            (node.end_col_offset or 0) + 1,
            source.name,
            caller,
        )

    def place_text(self, frame: Frame) -> str:
        """` (net.py:14)` for messages."""
        node: Any = frame.node
        return f" ({frame.source.core_file}:{node.lineno})" if node is not None else ""

    def error_places(self, error: BaseException | None = None) -> list[Place]:
        """The place of each call under way, innermost first, and the call into this package."""
        frames = [f for f, _ in reversed(self.places) if f.node is not None]
        return [call_place(f, error) for f in frames] + calling_place()

    # ---- reading Python facts ---------------------------------------------------------------------------------------
