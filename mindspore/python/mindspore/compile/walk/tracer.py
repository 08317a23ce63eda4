"""Turns one call of a user function into a graph: decides for every call inside it whether to parse, to run or to refuse, reads
Python facts under guards, and keeps the place in the user's source."""

from __future__ import annotations

import ast
import builtins
import collections
import inspect
import operator
import os
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core, context
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.aliases import Aliases
from mindspore.compile.decided.choices import Choices, is_sequence
from mindspore.compile.decided.given import Given
from mindspore.compile.decided.recursion import Recursion
from mindspore.compile.program.errors import (
    Inseparable,
    Place,
    Unsupported,
    calling_place,
    frame_place,
)
from mindspore.compile.values import guards as facts
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.effects import Text
from mindspore.compile.values.host_values import HostValue, decides, has_host
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.stand_ins import attribute_of, is_unknown, needs_value, sample_of
from mindspore.compile.values.structure import holds
from mindspore.compile.values.values import NUMBERS, Choice
from mindspore.compile.walk.calls import Calls, is_library
from mindspore.compile.walk.frame import Frame
from mindspore.compile.walk.generators import Iterators
from mindspore.compile.walk.memo import Memo
from mindspore.compile.walk.special_methods import SpecialMethods


class _Threads(threading.local):
    tracers: tuple[Tracer, ...] = ()


_current = _Threads()


def current() -> Tracer | None:
    """The tracer at work on this thread."""
    return _current.tracers[-1] if _current.tracers else None


class Tracer(Calls, Choices, Recursion, Iterators, SpecialMethods):
    """One compilation."""

    def __init__(self, max_depth: int, fast: bool) -> None:
        self.max_depth = max_depth  # of calls of the user
        self.fast = fast  # the passes that only make graphs faster run
        self.guards = facts.Guards()
        self._take_device()
        self.places: list[
            tuple[Frame, int]
        ] = []  # (frame, span of its caller) for each call under way
        self.made: set[int] = set()  # ids of objects that the compiled function made itself
        self.keep: list[Any] = []  # ... kept alive, so that ids stay theirs
        self.records: dict[int, Any] = {}  # forward runs of cells with set_grad, by id of the cell
        self.in_gradient = 0
        self.tentative = False  # numbers or sizes are open; what fails is compiled again without
        self.acts = False  # a run prints, logs or calls what may do anything
        self.emitted = 0  # how often something to do beside computing was put into a graph
        self.arms = 0  # branches that a tensor decides, around what is being traced
        self.session: Any = None  # where lines may run eagerly; None where all must be compiled
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

    # ---- places -----------------------------------------------------------------------------------------------------
    def mark(self, frame: Frame, node: ast.AST | None) -> None:
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
        return f" ({frame.source.core_file}:{frame.node.lineno})" if frame.node is not None else ""

    def error_places(self, error: BaseException | None = None) -> list[Place]:
        """The place of each call under way, innermost first, and the call into this package."""
        frames = [f for f, _ in reversed(self.places) if f.node is not None]
        return [frame_place(f, error) for f in frames] + calling_place()

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
        from mindspore import ops

        if isinstance(value, Choice):
            value = self.split(value, lambda v: self.truth(v) if self.is_traced(v) else bool(v))
        if not isinstance(value, Tensor):
            return Tensor(bool(value))
        if value.size != 1:
            raise ValueError(
                f"For 'Tensor', a condition must have exactly one element, but got shape {list(value.shape)}. Use ops.any "
                "or ops.all."
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
        raise NameError(f"name '{name}' is not defined", name=name)

    def read_cell(self, name: str, cell: types.CellType) -> Any:
        """A variable of a function around the program's, which becomes a fact."""
        try:
            value = cell.cell_contents
        except ValueError:
            self.guards.closure(cell, facts.MISSING)
            raise NameError(f"free variable '{name}' has no value yet") from None
        self.guards.closure(cell, value)
        return self.fact(value)

    def get_attribute(self, owner: Any, name: str) -> Any:
        """`owner.name`; what the caller has becomes a fact, and what it has not."""
        try:
            return self._attribute(owner, name)
        except AttributeError:
            self.note_missing(owner, name)
            raise

    def note_missing(self, owner: Any, name: str) -> None:
        """That an object has no such attribute is a fact."""
        kind = owner if isinstance(owner, type) else type(owner)
        instance = (
            None if isinstance(owner, (Tensor, HostValue)) else getattr(owner, "__dict__", None)
        )
        if _static_attribute(kind, name) is not facts.MISSING or (instance and name in instance):
            return  # it has, and code of the program raised the error
        if type(instance) is dict and id(owner) not in self.made:
            self._guard_of(owner)(instance, name, facts.MISSING)
        if not isinstance(owner, types.ModuleType):
            self.guards.attribute(kind, name, facts.MISSING)

    def _guard_of(self, owner: Any) -> Callable[[dict, str, Any], None]:
        """How facts about the attributes of an object are kept."""
        return self.guards.member if isinstance(owner, _late.cell_class) else self.guards.item

    def _attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, HostValue):
            return getattr(owner, name)
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.get_attribute(o, name))
        if self.aliases.origins and isinstance(owner, Tensor):
            self.aliases.check_attribute(owner, name)
        if name == "__class__":
            return type(sample_of(owner))
        if isinstance(owner, Tensor) and _core.is_weak(owner):
            value = attribute_of(owner, name)
            self.made.add(id(value))
            self.keep.append(value)
            return value
        if isinstance(owner, (Tensor, str, tuple, list, dict, set, int, float, NestedFunction)):
            value = getattr(owner, name)
            if isinstance(owner, _late.parameter_class) and not isinstance(value, Tensor):
                if isinstance(vars(_late.parameter_class).get(name), property):
                    self.guards.attribute(owner, name, value)
            return value
        instance = getattr(owner, "__dict__", None)
        if id(owner) in self.made:
            return self._made_attribute(owner, instance, name)
        if name == "__dict__" and type(instance) is dict:
            self.guards.content(instance)
            return instance
        if type(instance) is dict and not isinstance(owner, type):
            return self._instance_attribute(owner, instance, name)
        value = getattr(owner, name)
        if isinstance(owner, types.ModuleType):
            self.guards.item(vars(owner), name, vars(owner).get(name, facts.MISSING))
        elif not isinstance(value, (types.MethodType, types.BuiltinMethodType)) and not isinstance(
            owner, super
        ):
            self.guards.attribute(owner, name, value)
        return self.fact(value)

    def _made_attribute(self, owner: Any, instance: Any, name: str) -> Any:
        """Of an object that the compiled function made: what its class has is a fact."""
        kind = type(owner)
        static = _static_attribute(kind, name)
        if is_library(kind) or static is facts.MISSING or (instance and name in instance):
            return getattr(owner, name)
        self.guards.attribute(kind, name, getattr(kind, name, static))
        if isinstance(static, property):
            return self.call(static.fget, [owner], {}, None)
        return getattr(owner, name)

    def _instance_attribute(self, owner: Any, instance: dict, name: str) -> Any:
        kind = type(owner)
        static = _static_attribute(kind, name)
        guard = self._guard_of(owner)
        if isinstance(static, property) and not is_library(kind):
            self.guards.attribute(kind, name, static)
            return self.call(static.fget, [owner], {}, None)
        if name in instance and not hasattr(static, "__set__"):
            value = instance[name]
            guard(instance, name, value)
            value = self.fact(value)
            changes = instance.get("_compute_type") or instance.get("_parameter_hooks")
            return owner._cast_parameter(value) if changes is not None else value
        value = getattr(owner, name)
        if name not in instance and static is not facts.MISSING:
            guard(instance, name, facts.MISSING)
            if not isinstance(static, property) and hasattr(kind, name):
                self.guards.attribute(kind, name, getattr(kind, name))
        elif name not in instance and not isinstance(owner, _late.cell_class):
            self.guards.attribute(owner, name, value)  # a __getattr__ found it
        return self.fact(value)

    def bound(self, owner: Any, name: str) -> Any:
        """A special method of an object's class, bound to it."""
        return types.MethodType(self.get_attribute(type(owner), name), owner)

    # ---- writing ----------------------------------------------------------------------------------------------------
    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name = value`."""
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.set_attribute(o, name, value))
        if isinstance(owner, NestedFunction):
            if self.arms or self.trace.depth:
                raise Unsupported("an attribute of a function changes as a tensor decides")
            return setattr(owner, name, value)
        if self.trace.depth and id(owner) in self.made and not hasattr(owner, "__dict__"):
            raise Unsupported("an object without a '__dict__' changes as a tensor decides")
        if id(owner) in self.made or isinstance(owner, HostValue):
            setattr(owner, name, value)
            return None
        held = getattr(owner, name, None)
        if isinstance(held, _late.parameter_class):
            if isinstance(value, Choice):  # of two types, that a tensor chose
                return self.split(value, lambda v: self.set_attribute(owner, name, v))
            from mindspore import ops

            if not isinstance(value, Tensor):
                value = ops.full_like(held, value)
            self.replace(held, value if value.dtype is held.dtype else ops.cast(value, held.dtype))
            return None
        state = getattr(owner, "__dict__", None)
        if type(state) is dict:
            self._guard_of(owner)(state, name, state.get(name, facts.MISSING))
        raise Unsupported(
            f"a compiled function can assign only Parameters of '{type(owner).__name__}', but '{name}' is "
            f"{type(held).__name__}; make it a Parameter, or return the value"
        )

    def check_mutable(self, value: Any) -> None:
        """Objects from outside must not change while compiling: the change would happen once, not on every call."""
        if isinstance(value, facts.MUTABLE) and self.is_outside(value):
            raise Unsupported(
                f"a compiled function cannot change a {type(value).__name__} that was made outside of it; copy it "
                "first, or return the new value"
            )

    def is_outside(self, value: Any) -> bool:
        """Whether a list, dict or array was read from outside."""
        return (facts.LIST, id(value), None) in self.guards._known

    def outside_of(self, value: Tensor) -> Tensor | None:
        """The tensor outside that a value of the graph is: a Parameter, or what was lifted."""
        if isinstance(value, _late.parameter_class):
            return value
        return self.lifted[id(value)][1] if id(value) in self.lifted else None

    def set_item(self, owner: Any, key: Any, value: Any) -> Any:
        """`owner[key] = value`; the owner."""
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.set_item(o, key, value))
        if isinstance(key, Choice):
            return self.split(key, lambda k: self.set_item(owner, k, value))
        if (at := _choice_at(key)) is not None:
            return self.split(
                key[at], lambda k: self.set_item(owner, (*key[:at], k, *key[at + 1 :]), value)
            )
        if isinstance(owner, Tensor):
            return owner._write(self._updated(owner, key, value))
        method = self.special_method(owner, "__setitem__")
        if method is not None:
            self.call(method, [key, value], {}, None)
            return owner
        self.check_mutable(owner)
        owner[key] = value
        return owner

    def replace(self, parameter: Tensor, value: Tensor) -> None:
        """A Parameter is given another value, as `set_data` does: views of it keep what they show."""
        self.aliases.check_change(parameter)
        if any(view.is_symbolic for view in _core.views_of(parameter)):
            raise Inseparable("a Parameter is given another value while a view of it is in use")
        self.replaced.append(parameter)
        self.trace.set_parameter(parameter, value)

    def write(self, owner: Tensor, value: Tensor) -> None:
        """A tensor that is no view is given another value where it stands: what `Tensor._write` comes to."""
        self.aliases.check_change(owner)
        if isinstance(owner, _late.parameter_class):
            self.trace.set_parameter(owner, value)
            return
        if id(owner) in self.lifted:
            raise Inseparable(
                "a compiled function cannot change a tensor that was made outside of it in place; "
                "make it a Parameter, or copy it first"
            )
        if self.session is not None and self.session.steps and self.is_argument(owner):
            raise Inseparable(
                "an argument is changed in place, in a function with lines that run eagerly"
            )
        # Known or not, these are values of the graph: facts are objects that stay what they are.
        for view in _core.views_of(owner):
            if not view.is_symbolic:
                self.cells.change(view, self.trace.constant(view))
        self.cells.change(owner, value if value.is_symbolic else self.trace.constant(value))

    def _updated(self, owner: Tensor, key: Any, value: Any) -> Tensor:
        """A tensor with some of its elements replaced, between two graphs where a value came out of the first."""
        from mindspore.common._indexing import index_update

        if self.session is not None and has_host((key, value)):
            return self.session.call(decides(), index_update, [owner, key, value], {}, True)
        try:
            return index_update(owner, key, value)
        except Unsupported as reason:  # a mask or a bound: where the values go depends on values
            if self.session is None:
                raise
            return self.session.call(reason, index_update, [owner, key, value], {}, True)

    def get_item(self, owner: Any, key: Any) -> Any:
        """`owner[key]`."""
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.get_item(o, key))
        if isinstance(key, Choice):
            return self.split(key, lambda k: self.get_item(owner, k))
        if (at := _choice_at(key)) is not None:
            return self.split(
                key[at], lambda k: self.get_item(owner, (*key[:at], k, *key[at + 1 :]))
            )
        if self.is_traced(key) and is_sequence(owner):
            return self.item_at(owner, key)
        if owner is os.environ:
            return self._run(operator.getitem, [owner, key], {})
        if not isinstance(owner, (Tensor, tuple, list, dict, str)) and hasattr(
            type(owner), "__getitem__"
        ):
            method = inspect.getattr_static(type(owner), "__getitem__")
            if isinstance(method, types.FunctionType) and not method.__module__.startswith(
                "mindspore"
            ):
                return self.call(method, [owner, key], {}, None)
        if isinstance(owner, dict) and isinstance(key, HostValue):  # one without a hash so far
            return key.session.operate(operator.getitem, owner, key)
        if isinstance(owner, collections.defaultdict) and key not in owner:
            self.check_mutable(owner)
        try:
            return self.fact(owner[key])
        except Unsupported as reason:  # a mask, a bound: the size of the result depends on values
            if self.session is None or not isinstance(owner, Tensor):
                raise
            return self.session.call(reason, operator.getitem, [owner, key], {}, True)

    def iterate(self, value: Any) -> Any:
        """The items of an iterable that is known while compiling."""
        if isinstance(value, Choice):
            value = self.split(value, lambda v: list(self.iterate(v)))
        if isinstance(value, Tensor):
            if value.ndim == 0:
                raise TypeError("iteration needs at least one dimension, but got a 0-d tensor")
            return [value[i] for i in range(value.shape[0])]
        if isinstance(value, _late.cell_class):
            self.guards.children(value._cells)
        if isinstance(value, TracedRange):
            reason = Unsupported("a range with a tensor bound can only be looped over by 'for'")
            if self.session is None:
                raise reason
            bounds = [value.start, value.stop, value.step]
            return self.session.call(reason, lambda *b: list(range(*map(int, b))), bounds, {}, True)
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
        if isinstance(a, str) and operation is operator.mod and self.has_traced(b):
            return Text(operation, a, b)
        if isinstance(a, HostValue) or isinstance(b, HostValue):
            return self.session.operate(operation, a, b)
        if type(a) not in _BUILT_IN or type(b) not in _BUILT_IN:
            result = self.operate_by_methods(operation, a, b)
            if result is not NotImplemented:
                return result
        try:
            return operation(a, b)
        except Unsupported as reason:
            if self.session is None:
                raise
            return self.session.call(reason, operation, [a, b], {}, True)
        except TypeError:
            x, y = self.as_choice(a), self.as_choice(b)
            if x is a and y is b:
                if not is_unknown((a, b)):
                    raise
                return self._operate_later(operation, a, b)
            return self.operate(operation, x, y)

    def _operate_later(self, operation: Callable, a: Any, b: Any) -> Any:
        """An operator that numbers and strings have, and the tensors that stand for them have not."""
        reason = needs_value(f"the operator '{operation.__name__}'")
        if self.session is None:
            raise reason
        return self.session.call(reason, operation, [a, b], {}, True)


_BUILT_IN = frozenset({Tensor, int, float, bool, str, tuple, list, dict, type(None)})
_COMPARISONS = frozenset(
    {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)


def _static_attribute(kind: type, name: str) -> Any:
    """What a class or its bases define under a name, as written there."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return facts.MISSING


def _choice_at(key: Any) -> int | None:
    """The place in a key of several indices of one that a tensor chose."""
    if not isinstance(key, tuple):
        return None
    return next((i for i, part in enumerate(key) if isinstance(part, Choice)), None)
