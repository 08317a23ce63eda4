"""Operators and iteration. Where a class of users has a special method for it, that is parsed like any method; what tensors stand for
is computed by the graph, or between two graphs."""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import listed, of_program, program_error, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.effects import is_text_of, text_of
from mindspore.compile.values.foreign import ARRAYS
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.operators import (
    ARITHMETIC,
    BINARY,
    BINARY_METHODS,
    MIRRORED,
    UNARY_METHODS,
)
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.stand_ins import is_unknown, needs_value, sample_of
from mindspore.compile.values.values import NUMBERS, Choice, dtype_of, is_symbolic, is_weak
from mindspore.compile.walk.attributes import Attributes

_CONTAINERS = (list, set, dict, deque, bytearray)


class Operations(Attributes):
    """A storey of Tracer."""

    def iterate(self, value: Any) -> Any:
        """The items of an iterable that is known while compiling."""
        if isinstance(value, Choice):
            value = self.split(value, lambda v: listed(self.iterate(v)))
        if isinstance(value, Tensor):
            if value.ndim == 0:
                raise program_error(
                    TypeError, "iteration needs at least one dimension, but got a 0-d tensor"
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
            return value if method is None else self.call(method, [], {})
        return value

    def operate(self, operation: Callable, a: Any, b: Any) -> Any:
        """A binary operator."""
        numbers = self.numbers and operation in _COMPARISONS
        if numbers or type(a) not in _PLAIN or type(b) not in _PLAIN:
            for way in _WAYS:
                result = way(self, operation, a, b)
                if result is not NotImplemented:
                    return result
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
                unknown = needs_value(f"the operator '{operation.__name__}'")
                return self.run_eagerly(unknown, operation, [a, b])
            return self.operate(operation, x, y)
        except Exception as error:
            of_program(error)
            raise

    # ---- what an operand has to say: the value, or NotImplemented -------------------------------------------------------
    def _operate_on_options(self, operation: Callable, a: Any, b: Any) -> Any:
        """With values of different types, that a tensor chose."""
        if isinstance(a, Choice):
            return self.split(a, lambda option: self.operate(operation, option, b))
        if isinstance(b, Choice):
            return self.split(b, lambda option: self.operate(operation, a, option))
        return NotImplemented

    def _operate_on_numbers(self, operation: Callable, a: Any, b: Any) -> Any:
        """A comparison with a tensor that stands for some numbers says which of them it is."""
        if operation not in _COMPARISONS:
            return NotImplemented
        x, y = self.as_choice(a), self.as_choice(b)
        if (x is not a and isinstance(b, NUMBERS)) or (y is not b and isinstance(a, NUMBERS)):
            return self.operate(operation, x, y)
        return NotImplemented

    def _operate_on_text(self, operation: Callable, a: Any, b: Any) -> Any:
        """`"%s" % b`, where what is written of `b` is known when the graph runs."""
        if operation is operator.mod and isinstance(a, str) and is_text_of(b, self.whole):
            return text_of(self.whole, operation, a, b)
        return NotImplemented

    def _operate_on_host(self, operation: Callable, a: Any, b: Any) -> Any:
        """With what came out of the graph."""
        if isinstance(a, HostValue) or isinstance(b, HostValue):
            return self.whole.parts.operate(operation, a, b)
        return NotImplemented

    def _operate_on_objects(self, operation: Callable, a: Any, b: Any) -> Any:
        """Users' methods are parsed; what Python's own read is noted."""
        if type(a) in _BUILT_IN and type(b) in _BUILT_IN:
            return NotImplemented
        result = self.operate_by_methods(operation, a, b)
        if result is NotImplemented and operation not in (operator.is_, operator.is_not):
            self.note_states((a, b))
        return result

    def _require_divisor(self, operation: Callable, a: Any, b: Any) -> None:
        """Python's numbers raise where they are divided by zero, as tensors do not."""
        if not (is_weak(a) and is_weak(b) and (is_symbolic(a) or is_symbolic(b))):
            return
        error = _of_zero(operation, dtype_of(a), dtype_of(b))
        if is_symbolic(b):
            self.require(ops.not_equal(b, 0), error)
        elif b == 0:
            raise of_program(error)

    # ---- by methods of users ------------------------------------------------------------------------------------------
    def operate_by_methods(self, operation: Callable, a: Any, b: Any) -> Any:
        """A binary operator of an object of a user; NotImplemented where neither has a method for it."""
        names = BINARY_METHODS.get(operation)
        if names is None:
            return NotImplemented
        ways = [(a, names[0], b), (b, names[1], a)]
        compares = names[1][2:-2] in MIRRORED
        if type(b) is type(a) and not compares:
            ways.pop()
        elif type(b) is not type(a) and isinstance(b, type(a)):
            own = getattr(type(b), names[1], None) is not getattr(type(a), names[1], None)
            if compares or own:
                ways.reverse()
        for owner, name, other in ways:
            method = self.special_method(owner, name)
            if method is None:
                continue
            result = self.call(method, [other], {})
            if result is not NotImplemented:
                return result
        return NotImplemented

    def operate_on(self, operation: Callable, value: Any) -> Any:
        """A unary operator."""
        method = self.special_method(value, UNARY_METHODS[operation])
        if method is not None:
            return self.call(method, [], {})
        with program_operation:
            return operation(value)

    def augment(self, operation: type[ast.operator], old: Any, value: Any) -> Any:
        """`old += value`: what can change does so in place."""
        if isinstance(old, Choice):
            return self.split(old, lambda o: self.augment(operation, o, value))
        changed = self._change(operation, old, value)
        return self.operate(BINARY[operation], old, value) if changed is NotImplemented else changed

    def _change(self, operation: type[ast.operator], old: Any, value: Any) -> Any:
        """The value, changed in place; NotImplemented where none can be."""
        name = ARITHMETIC[operation]
        if isinstance(old, HostValue):
            if hasattr(old.session.value(old), f"__i{name}__"):
                return old.session.operate(getattr(operator, f"i{name}"), old, value)
            return NotImplemented
        method = self.special_method(old, f"__i{name}__")
        if method is not None:
            return self.call(method, [value], {})
        if type(old) is list and isinstance(value, Tensor) and sample_of(value) is value:
            return NotImplemented  # Python asks the tensor first, to which a list is numbers
        if isinstance(old, ARRAYS):
            self.check_array(old, value)
            with program_operation:
                return getattr(operator, f"i{name}")(old, value)
        if type(old) in _CONTAINERS and hasattr(old, f"__i{name}__"):
            self.check_mutable(old)
            if operation is ast.Add:
                value = listed(self.iterate(value)) if isinstance(old, (list, deque)) else value
            with program_operation:
                return getattr(operator, f"i{name}")(old, value)
        return NotImplemented


_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})


def _of_zero(operation: Callable, *kinds: Any) -> ZeroDivisionError:
    """What Python raises where numbers of these kinds are divided by zero."""
    a, b = (float(n) if kind is _core.float64 else n for n, kind in zip((1, 0), kinds))
    try:
        operation(a, b)
    except ZeroDivisionError as error:
        return error.with_traceback(None)
    raise AssertionError


_BUILT_IN = frozenset({Tensor, int, float, bool, str, tuple, list, dict, type(None)})
_PLAIN = _BUILT_IN - {str}  # of which a binary operator is Python's own
_COMPARISONS = frozenset(
    {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)
# The first that has a value gives it. Options come first, for each of them may be anything; a method of the program last, for it would
# be given the others' stand-ins.
_WAYS = (
    Operations._operate_on_options,
    Operations._operate_on_numbers,
    Operations._operate_on_text,
    Operations._operate_on_host,
    Operations._operate_on_objects,
)
