"""Turns one call of a user function into a graph: decides for every call inside it whether to parse, to run or to refuse, reads
Python facts under guards, and keeps the place in the user's source."""

from __future__ import annotations

import builtins
import operator
import threading
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore import _core, context, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.aliases import Aliases
from mindspore.compile.decided.choices import Choices
from mindspore.compile.decided.given import Given
from mindspore.compile.decided.recursion import Recursion
from mindspore.compile.program.borders import (
    is_true,
    listed,
    of_program,
    program_operation,
)
from mindspore.compile.program.errors import Unsupported, call_place
from mindspore.compile.program.places import Place, calling_place
from mindspore.compile.values import guards as facts
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.effects import is_text_of, text_of
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.stand_ins import is_unknown, needs_value
from mindspore.compile.values.structure import holds
from mindspore.compile.values.values import NUMBERS, Choice, dtype_of, is_weak
from mindspore.compile.walk.attributes import Attributes
from mindspore.compile.walk.calls import Calls
from mindspore.compile.walk.frame import Frame
from mindspore.compile.walk.generators import Iterators
from mindspore.compile.walk.instances import Instances
from mindspore.compile.walk.memo import Memo
from mindspore.compile.walk.special_methods import SpecialMethods
from mindspore.compile.walk.states import States
from mindspore.compile.walk.subscripts import Subscripts

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


class Tracer(
    Calls, Instances, States, Attributes, Subscripts, Choices, Recursion, Iterators, SpecialMethods
):
    """One compilation."""

    def __init__(self, max_depth: int, fast: bool) -> None:
        self.max_depth = max_depth  # of calls of the user
        self.fast = fast  # the passes that only make graphs faster run
        self.guards = facts.Guards()
        self._take_device()
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
        self.session: Session | None = None  # None: no line may run eagerly
        self.warn_break: Callable[[Unsupported], None] = lambda reason: None
        self.facts, self.decided, self.conditions, self.numbers = [], {}, {}, {}  # see choices.py
        self.calls, self.unrolled = [], set()  # see recursion.py
        self.memo = Memo()
        self.cells = TensorCells()
        self.iterators = {}  # see generators.py
        self.arguments: list[Tensor] = []  # of the function, in the order of the graph's inputs
        self.aliases = Aliases(self)
        self.given = Given((), {})  # lists and dicts among the arguments
        # Tensors read from outside: as values of the graph, by whose id, and themselves.
        self.lifted: dict[int, tuple[Tensor, Tensor]] = {}
        self.replaced: list[Tensor] = []  # Parameters that set_data gives another value
        self.trace = _core.Trace()  # last: from here on this thread is tracing, until close()
        self._listen()

    def _take_device(self) -> None:
        place = context.place_of("device_target")
        self.device = place[2]
        _core.synchronize(self.device)  # what it found wrong before is not of this program
        self.guards.item(*place)

    def _listen(self) -> None:
        self.trace.on_update = self.aliases.check_change
        self.trace.on_write, self.trace.on_replace = self.write, self.replace

    def __enter__(self) -> Tracer:
        _current.tracers += (self,)
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.tracers = _current.tracers[:-1]

    def restart(self) -> None:
        """Goes on in a new graph, after a line that ran eagerly."""
        span = self.trace.span
        self.records.clear()
        self.facts, self.decided, self.conditions, self.numbers = [], {}, {}, {}
        self.memo = Memo()
        made = self.trace.made
        self.trace = _core.Trace()
        self._listen()
        self._take_device()
        self.trace.span, self.trace.continued, self.trace.made = span, True, made

    @property
    def parts(self) -> Session:
        """The session, where a value has come out of a graph or the last part ends."""
        assert self.session is not None
        return self.session

    def run_eagerly(
        self, reason: Unsupported, function: Callable, args: list, pure: bool = True
    ) -> Any:
        """A call of what cannot be compiled, for this reason, which is raised where no line may run eagerly."""
        if self.session is None:
            raise reason
        return self.session.call(reason, function, args, {}, pure)

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

    # ---- what is traced ---------------------------------------------------------------------------------------------
    def is_traced(self, value: Any) -> bool:
        """A tensor whose value is known only at run time; Parameters are."""
        return isinstance(value, Tensor) and (
            value.is_symbolic or isinstance(value, _late.parameter_class)
        )

    def has_traced(self, value: Any) -> bool:
        """A traced tensor, or a structure that holds one."""
        return holds(value, self.is_undecided)

    def is_argument(self, value: Any) -> bool:
        """A tensor that the caller of the compiled function holds."""
        return any(t is value for t in self.arguments)

    def is_traced_range(self, value: Any) -> bool:
        """Whether it is a range of which a tensor decides the bounds."""
        return isinstance(value, TracedRange)

    def truth(self, value: Any) -> Any:
        """A condition as Bool[]."""
        if isinstance(value, Choice):
            value = self.split(value, lambda v: self.truth(v) if self.is_traced(v) else is_true(v))
        if not isinstance(value, Tensor):
            return Tensor(is_true(value))
        if value.size != 1:
            raise of_program(
                ValueError(
                    f"For 'Tensor', a condition must have exactly one element, but got shape {list(value.shape)}. Use ops.any "
                    "or ops.all."
                )
            )
        if value.dtype is not _core.bool:
            value = ops.not_equal(value, 0)
        return ops.reshape(value, ()) if value.ndim else value

    # ---- reading Python facts ---------------------------------------------------------------------------------------
    def fact(self, value: Any) -> Any:
        """A value read from outside: concrete tensors become inputs of the graph, so that later changes are seen."""
        if (
            isinstance(value, Tensor)
            and not value.is_symbolic
            and not isinstance(value, _late.parameter_class)
            and id(value) not in self.cells.made
        ):
            lifted = self.trace.lift(value)
            self.lifted[id(lifted)] = lifted, value
            return lifted
        if hasattr(type(value), "__next__"):
            self.note_outside(value)
        return value

    def read_global(self, name: str, module_globals: dict) -> Any:
        """A global or builtin, which becomes a fact."""
        if name in module_globals:
            value = module_globals[name]
            self.guards.item(module_globals, name, value)
            return self.fact(value)
        self.guards.item(module_globals, name, facts.MISSING)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        self.guards.item(vars(builtins), name, facts.MISSING)
        raise of_program(NameError(f"name '{name}' is not defined", name=name))

    def read_cell(self, name: str, cell: types.CellType) -> Any:
        """A variable of a function around the program's, which becomes a fact."""
        try:
            value = cell.cell_contents
        except ValueError:
            self.guards.closure(cell, facts.MISSING)
            raise of_program(NameError(f"free variable '{name}' has no value yet")) from None
        self.guards.closure(cell, value)
        return self.fact(value)

    def iterate(self, value: Any) -> Any:
        """The items of an iterable that is known while compiling."""
        if isinstance(value, Choice):
            value = self.split(value, lambda v: listed(self.iterate(v)))
        if isinstance(value, Tensor):
            if value.ndim == 0:
                raise of_program(
                    TypeError("iteration needs at least one dimension, but got a 0-d tensor")
                )
            with program_operation:
                return [value[i] for i in range(value.shape[0])]
        if isinstance(value, _late.cell_class):
            self.guards.children(value._cells)
        if isinstance(value, TracedRange):
            reason = Unsupported("a range with a tensor bound can only be looped over by 'for'")
            bounds = [value.start, value.stop, value.step]
            return self.run_eagerly(reason, lambda *b: list(range(*map(int, b))), bounds)
        if isinstance(value, Iterator):
            self.check_iterator(value)
        elif type(value) not in _BUILT_IN:
            method = self.special_method(value, "__iter__")
            return value if method is None else self.call(method, [], {}, None)
        return value

    def operate(self, operation: Callable, a: Any, b: Any) -> Any:
        """A binary operator; operators that user classes define are parsed."""
        if isinstance(a, Choice):
            return self.split(a, lambda x: self.operate(operation, x, b))
        if isinstance(b, Choice):
            return self.split(b, lambda x: self.operate(operation, a, x))
        if self.numbers and operation in _COMPARISONS:
            x, y = self.as_choice(a), self.as_choice(b)
            if (x is not a and isinstance(b, NUMBERS)) or (y is not b and isinstance(a, NUMBERS)):
                return self.operate(operation, x, y)
        if isinstance(a, str) and operation is operator.mod and is_text_of(b, self):
            return text_of(self, operation, a, b)
        if isinstance(a, HostValue) or isinstance(b, HostValue):
            return self.parts.operate(operation, a, b)
        if type(a) not in _BUILT_IN or type(b) not in _BUILT_IN:
            result = self.operate_by_methods(operation, a, b)
            if result is not NotImplemented:
                return result
            if operation not in (operator.is_, operator.is_not):
                self.note_states((a, b))
        if operation in _DIVISIONS:
            self._require_divisor(operation, a, b)
        try:
            return operation(a, b)
        except Unsupported as reason:
            return self.run_eagerly(reason, operation, [a, b])
        except TypeError as error:
            x, y = self.as_choice(a), self.as_choice(b)
            if x is a and y is b:
                if not is_unknown((a, b)):
                    of_program(error)
                    raise
                # An operator of numbers and strings, which the tensors that stand for them have not.
                reason = needs_value(f"the operator '{operation.__name__}'")
                return self.run_eagerly(reason, operation, [a, b])
            return self.operate(operation, x, y)
        except Exception as error:
            of_program(error)
            raise

    def _require_divisor(self, operation: Callable, a: Any, b: Any) -> None:
        """Python's numbers raise where they are divided by zero, as tensors do not."""
        if not (is_weak(a) and is_weak(b) and (_is_symbolic(a) or _is_symbolic(b))):
            return
        error = _of_zero(operation, dtype_of(a), dtype_of(b))
        if _is_symbolic(b):
            self.require(ops.not_equal(b, 0), error)
        elif b == 0:
            raise of_program(error)


_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_symbolic


def _of_zero(operation: Callable, *kinds: Any) -> ZeroDivisionError:
    """What Python raises where numbers of these kinds are divided by zero."""
    a, b = (float(n) if kind is _core.float64 else n for n, kind in zip((1, 0), kinds))
    try:
        operation(a, b)
    except ZeroDivisionError as error:
        return error.with_traceback(None)
    raise AssertionError


_BUILT_IN = frozenset({Tensor, int, float, bool, str, tuple, list, dict, type(None)})
_COMPARISONS = frozenset(
    {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)
