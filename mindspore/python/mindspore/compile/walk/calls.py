"""What a call inside compiled code does: users' functions and cells are parsed, library code runs as it is, and plain Python runs
on values that are known."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.parts import FramePart, TracerPart
from mindspore.compile.program.borders import (
    listed,
    of_compiler,
    of_program,
    program_operation,
    serves,
)
from mindspore.compile.program.errors import Inseparable, Unsupported, is_located, locate, refusal
from mindspore.compile.program.source import NoSource, find_source
from mindspore.compile.values import effects, foreign
from mindspore.compile.values import guards as facts
from mindspore.compile.values.compilable import SETTINGS, Compilable
from mindspore.compile.values.foreign import MUTATING, READING, Does, is_standard, looks_at_frames
from mindspore.compile.values.host_values import HostValue, has_host
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.numbers import NumberDecides, holds_number
from mindspore.compile.values.stand_ins import is_unknown, needs_value
from mindspore.compile.values.structure import (
    contents_of,
    holds,
    replace_leaves,
    same_contents,
    set_contents,
)
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.frame import Frame, bind_arguments
from mindspore.compile.walk.generators import Generator, is_generator
from mindspore.compile.walk.python_builtins import SPECIAL
from mindspore.ops.primitive import Primitive

_LIBRARY = "mindspore."
# Of this package, too, what reads settings that users may change between calls.
_PARSED = (
    "mindspore.nn",
    "mindspore.experimental",
    "mindspore.mint.optim",
    "mindspore.boost",
    "mindspore.model_zoo",
    "mindspore.train.amp",
)


def is_library(function: Any) -> bool:
    """Functions of this package run as they are; cells and users' functions are parsed."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(_LIBRARY) and not (
        module.startswith(_PARSED) or getattr(function, "_ms_parsed", False)
    )


def _is_of_package(function: Any) -> bool:
    """Ops and other functions of this package, and Tensor, but no methods."""
    own = foreign.module_of(function).partition(".")[0] == "mindspore" or function is Tensor
    return own and getattr(function, "__self__", None) is None


def _is_of_cells(function: Any) -> bool:
    """Methods that all cells have run as they are, too."""
    return (getattr(function, "__module__", None) or "").startswith("mindspore.nn.cell")


class Calls(TracerPart):
    """Mixin of Tracer."""

    lazily: bool  # see Iterators

    def call(self, function: Any, args: list, kwargs: dict, frame: FramePart | None) -> Any:
        """Calls anything."""
        if isinstance(function, Choice):
            return self.split(function, lambda f: self.call(f, args, kwargs, frame))
        session = self.session
        if session is not None and session.steps:
            if isinstance(function, HostValue):
                return self._call_plainly(function, args, kwargs)
            if _is_plain(function) and not _makes_dict(function, args) and has_host((args, kwargs)):
                return self.run_call(function, args, kwargs)
        special = SPECIAL.get(function) if _hashable(function) else None
        if special is not None:
            return self.split_arguments(args, kwargs, lambda a, k: special(self, a, k))
        if isinstance(function, NestedFunction):
            return self._parse_nested(function, args, kwargs)
        if isinstance(function, types.MethodType):
            return self._call_method(function, args, kwargs, frame)
        if isinstance(function, types.FunctionType):
            return self._call_function(function, args, kwargs)
        if isinstance(function, _core.CheckedFunction):
            return self._call_checked(function, args, kwargs, frame)
        if isinstance(function, functools.partial):
            if id(function) not in self.made:
                self.guards.content(function.keywords)
            return self.call(
                function.func, [*function.args, *args], {**function.keywords, **kwargs}, frame
            )
        if isinstance(function, _late.cell_class):
            return self._call_cell(function, args, kwargs)
        if getattr(type(function), "_ms_compiled", False):  # a function decorated with jit
            return self._call_compiled(function, args, kwargs, frame)
        if isinstance(function, type):
            return self.instantiate(function, args, kwargs)
        method = self.special_method(function, "__call__")
        if method is not None:
            return self.call(method, args, kwargs, frame)
        for value in (function, *args):
            if isinstance(value, Primitive):
                self.guards.item(value.__dict__, "attrs", value.attrs)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, facts.MUTABLE) and function.__name__ in MUTATING:
            self.check_mutable(owner)
        if function is object.__setattr__ and len(args) == 3:
            return self.set_attribute(args[0], args[1], args[2], object.__setattr__)
        if isinstance(function, types.MethodWrapperType) and len(args) == 2:
            if function.__name__ == "__setattr__":
                return self.set_attribute(owner, args[0], args[1], lambda _, *item: function(*item))
        return self.run_call(function, args, kwargs)

    def _call_compiled(
        self, function: Any, args: list, kwargs: dict, frame: FramePart | None
    ) -> Any:
        """A function decorated with jit. Where it says fullgraph=True, what cannot be compiled in it is an error here too."""
        inner, session = function.bound_function(), self.session
        if not function.fullgraph or session is None or has_host((args, kwargs)):
            return self.call(inner, args, kwargs, frame)
        self.session = None
        try:
            return self.call(inner, args, kwargs, frame)
        except Unsupported as reason:
            raise refusal(locate(reason, self.error_places(reason))) from None
        finally:
            self.session = session

    def _call_method(
        self, function: types.MethodType, args: list, kwargs: dict, frame: FramePart | None
    ) -> Any:
        owner, inner = function.__self__, function.__func__
        if isinstance(inner, NestedFunction) or not isinstance(inner, types.FunctionType):
            return self.call(inner, [owner, *args], kwargs, frame)
        if isinstance(owner, _late.cell_class) and inner.__name__ == "__call__":
            return self._call_cell(owner, args, kwargs)
        if is_library(inner) or _is_of_cells(inner):
            if isinstance(owner, Tensor):
                return self.run_call(function, args, kwargs)
            return self.split_arguments(
                args, kwargs, lambda a, k: self._run_library(function, a, k)
            )
        return self._call_function(inner, [owner, *args], kwargs)

    def _run_library(self, function: Any, args: list, kwargs: dict) -> Any:
        return self.with_numbers(args, kwargs, lambda a, k: self._call_plainly(function, a, k))

    def _call_function(self, function: types.FunctionType, args: list, kwargs: dict) -> Any:
        constant = getattr(function, "_ms_constexpr", None)
        if constant is not None and self.has_traced((args, kwargs)):
            if constant:
                raise Unsupported(
                    f"'{function.__name__}' is a constexpr: its arguments must be known while compiling"
                )
        elif is_library(function) or constant is not None or is_standard(function):
            return self.run_call(function, args, kwargs)
        if looks_at_frames(function, args):
            return self.run_call(function, args, kwargs)
        self.guards.code(function)
        try:
            source = find_source(function)
        except NoSource as reason:
            return self._run_without_source(function, args, kwargs, str(reason))
        if isinstance(source.node, ast.AsyncFunctionDef):
            refusal = Unsupported(f"'{function.__name__}' is a coroutine, which cannot be compiled")
            if self.session is None:
                raise refusal
            return self.session.call(refusal, function, args, kwargs, False)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        frame = Frame(self.whole, source, function.__globals__, cells)
        frame.env = bind_arguments(
            source.node,
            function.__name__,
            args,
            kwargs,
            [self.fact(d) for d in self._defaults(function)],
            function.__kwdefaults__ or {},
        )
        frame.first_argument = args[0] if args else None
        if inspect.isgeneratorfunction(function):
            return Generator(self.whole, frame, source.node)
        return self._run_frame(frame, source.node)

    def _call_checked(
        self, function: Any, args: list, kwargs: dict, frame: FramePart | None
    ) -> Any:
        """A function that checks its arguments; one that is parsed does not do so itself."""
        if is_library(function):
            return self.run_call(function, args, kwargs)
        if _is_of_cells(function):
            return self.split_arguments(
                args, kwargs, lambda a, k: self._run_library(function, a, k)
            )
        args, kwargs = self._call_plainly(function.accept, args, kwargs)
        return self.call(function.__wrapped__, args, kwargs, frame)

    def _defaults(self, function: types.FunctionType) -> tuple:
        """Default values, which are facts where they can change."""
        found = function.__defaults__ or ()
        named = function.__kwdefaults__ or {}
        if found or named:
            self.guards.attribute(function, "__defaults__", function.__defaults__)
            self.guards.attribute(function, "__kwdefaults__", function.__kwdefaults__)
        return found

    def _run_without_source(self, function: Any, args: list, kwargs: dict, reason: str) -> Any:
        """Methods that Python writes for data classes and the like run as they are. What another function without text reads and
        changes cannot be seen."""
        if not (function.__code__.co_filename == "<string>" and function.__name__.startswith("__")):
            raise Unsupported(reason)
        try:
            return self.run_call(function, args, kwargs)
        except Unsupported as error:
            raise Unsupported(f"{error} Moreover, {reason}.") from None

    def _parse_nested(self, function: NestedFunction, args: list, kwargs: dict) -> Any:
        outer = function.frame
        frame = Frame(self.whole, outer.source, outer.globals, outer.cells, parent=outer)
        frame.env = bind_arguments(
            function.node,
            function.__name__,
            args,
            kwargs,
            function.defaults,
            function.keyword_defaults,
        )
        if is_generator(function.node):
            return Generator(self.whole, frame, function.node)
        return self._run_frame(frame, function.node)

    def _run_frame(self, frame: Frame, node: Any) -> Any:
        frame.body = node
        return self.enter_call(frame, node, lambda f: self._run_statements(f, node))

    def _run_statements(self, frame: Frame, node: Any) -> Any:
        if len(self.places) >= self.max_depth:
            text = (
                f"calls are more than {self.max_depth} deep while compiling, the limit of Python; let a value end the "
                "recursion, or write a loop"
            )
            raise Unsupported(text, RecursionError(text))
        caller, lazily = self.trace.span, self.lazily
        self.lazily = True
        self.places.append((frame, caller))
        try:
            if isinstance(node, ast.Lambda):
                frame.at(node.body)
                return frame.eval(node.body)
            return frame.run_body(node.body)
        except Exception as error:
            if is_located(error):
                raise
            located: Any = locate(of_compiler(error), self.error_places(error))
            located._ms_nested = self.trace.depth > 0
            raise located from error.__cause__
        finally:
            self.lazily = lazily
            self.places.pop()
            self.trace.span = caller

    def _call_cell(self, cell: Compilable, args: list, kwargs: dict) -> Any:
        from mindspore.compile.walk import gradients

        self.guards.attribute(type(cell), "construct", type(cell).construct)
        for key in ("training", "requires_grad"):
            self.get_attribute(cell, key)
        if cell.requires_grad and not kwargs and not self.in_gradient and self.trace.depth == 0:
            return gradients.record_cell(self.whole, cell, args)
        return self.memo.call(self.whole, cell, args, kwargs)

    def call_construct(self, cell: Compilable, args: list, kwargs: dict) -> Any:
        """The body of a cell."""
        if self.get_attribute(cell, "_special"):
            for key in SETTINGS:
                self.get_attribute(cell, key)
            run = serves(lambda a, k: self._run_construct(cell, list(a), k))
            with program_operation:
                return cell._run_special(tuple(args), kwargs, run)
        return self._run_construct(cell, args, kwargs)

    def _run_construct(self, cell: Compilable, args: list, kwargs: dict) -> Any:
        if self.get_attribute(cell, "_compute_type") is not None:
            with program_operation:
                args, kwargs = cell._cast_inputs(args, kwargs)
        construct = self.get_attribute(cell, "construct")
        return self.call(construct, list(args), kwargs, None)

    def run_call(self, function: Any, args: list, kwargs: dict) -> Any:
        """Plain Python on values that are known, library code on traced ones, and what neither can do in between two graphs."""
        return self.split_arguments(args, kwargs, lambda a, k: self._run_known(function, a, k))

    def _run_known(self, function: Any, args: list, kwargs: dict) -> Any:
        for value in args:
            if isinstance(value, Iterator):
                self.check_iterator(value)
        result = self.with_numbers(args, kwargs, lambda a, k: self._run_between(function, a, k))
        if Does.COPIES in foreign.does(function) and hasattr(result, "__dict__"):
            self.made.add(id(result))
            self.keep.append(result)
        if _is_of_package(function) and not holds((args, kwargs), lambda v: isinstance(v, Tensor)):
            if type(result) is Tensor and not result.is_symbolic:
                self.whole.cells.note_made(result)
        return self.note_iterator(result)

    def _run_between(self, function: Any, args: list, kwargs: dict) -> Any:
        session = self.session
        if session is None:
            return self._run_here(function, args, kwargs)
        steps, parameters = session.steps, self.trace.environment()
        try:
            passes = _is_of_container(function) or _makes_dict(function, args)
            if steps and not passes and has_host((args, kwargs)):
                raise Unsupported(
                    f"'{_name(function)}' is given a value that came out of the graph"
                )
            return self._run_here(function, args, kwargs)
        except Unsupported as reason:
            if session.steps != steps:  # a part of it has been done
                raise
            self.trace.restore(parameters)
            if isinstance(getattr(function, "__self__", None), facts.MUTABLE):
                if function.__name__ in MUTATING:
                    raise Inseparable(*reason.args) from None
            pure = foreign.is_repeatable(function) or self._is_pure_op(function, (args, kwargs))
            return session.call(reason, function, args, kwargs, pure)

    def _is_pure_op(self, function: Any, arguments: Any) -> bool:
        """Ops that change nothing but the state of random numbers, which is put back. Of ops in Python, those that are given
        Parameters might assign to them."""
        if not foreign.changes_nothing(function) or isinstance(function, _core.OpFunction):
            return foreign.changes_nothing(function)
        may_be = self.aliases.may_be_parameter
        return not holds(arguments, lambda v: isinstance(v, _late.parameter_class) or may_be(v))

    def _run_here(self, function: Any, args: list, kwargs: dict) -> Any:
        owner, module = getattr(function, "__self__", None), foreign.module_of(function)
        root = module.partition(".")[0]
        if root != "mindspore" and holds_number((args, kwargs)):
            raise NumberDecides
        if foreign.speaks(function):
            return effects.emit(self.whole, function, args, kwargs)
        if isinstance(owner, str) and function.__name__ == "join" and args:
            if isinstance(args[0], Iterable):
                args = [listed(self.iterate(args[0])), *args[1:]]  # which each run takes again
        values = (args, kwargs)
        if isinstance(owner, str) and effects.is_text_of(values, self.whole):
            return effects.text_of(self.whole, lambda a, k: function(*a, **k), tuple(args), kwargs)
        if looks_at_frames(function, args):
            raise Inseparable(f"'{_name(function)}' looks at the frame that calls it")
        if foreign.meets_the_world(function, args):
            raise Unsupported(
                f"'{_name(function)}' reads or changes what is outside of the program, on every call"
            )
        if isinstance(function, types.BuiltinMethodType) and self._may_be_changed_by_methods(owner):
            raise Unsupported(
                f"'{_name(function)}' is a method of a {type(owner).__name__} that was made outside of the program, which it "
                "may change"
            )
        if root == "numpy" and self.has_traced(values):
            raise Unsupported(
                f"numpy.{_name(function)} needs values, but in a compiled function a tensor's value is known only at run "
                "time; use the function of mindspore.ops or mindspore.numpy"
            )
        if root != "mindspore":
            self.whole.note_arguments(function, (owner, function, *args, *kwargs.values()))
        result = self._call_watched(function, args, kwargs)
        if root == "mindspore" and isinstance(result, Tensor) and _core.is_weak(result):
            # Of numbers, too, an op makes a tensor: of the tensors that they are converted to.
            args, kwargs = replace_leaves((args, kwargs), self.trace.strong)
            return self.trace.strong(self._call_plainly(function, args, kwargs))
        return result

    def _may_be_changed_by_methods(self, owner: Any) -> bool:
        """An object from outside, of a class of which nothing is known."""
        if owner is None or isinstance(owner, (type, types.ModuleType, Tensor)):
            return False
        known = Does.KEEPS in foreign.module_does(type(owner).__module__) or id(owner) in self.made
        return not known and not isinstance(owner, _CHANGEABLE)

    def _call_watched(self, function: Any, args: list, kwargs: dict) -> Any:
        """Calls what may change a list, dict or array from outside: that would happen once, not on every call."""
        owner = getattr(function, "__self__", None)
        if function is not functools.partial:
            for value in (*args, *kwargs.values()):
                self._refuse_changing(value)
        watched = [
            v
            for v in (owner, *args, *kwargs.values())
            if isinstance(v, _CHANGEABLE) and self.is_outside(v)
        ]
        if not watched or (owner is not None and _name(function) in READING):
            return self._call_plainly(function, args, kwargs)
        before = [copy.copy(v) for v in watched]
        try:
            return self._call_plainly(function, args, kwargs)
        finally:
            changed = [(v, b) for v, b in zip(watched, before) if not _is_still(v, b)]
            for value, contents in changed:
                _put_back(value, contents)
            if changed:
                raise Inseparable(
                    f"'{_name(function)}' changes a {type(changed[0][0]).__name__} that was made outside of the "
                    "compiled function; copy it first, or return the new value"
                )

    def _refuse_changing(self, value: Any) -> None:
        """Refuses a method that somebody else may call, of a list or dict from outside, which it changes."""
        if isinstance(value, functools.partial):
            self._refuse_changing(value.func)
            return
        owner = value.__self__ if isinstance(value, types.BuiltinMethodType) else None
        if isinstance(owner, facts.MUTABLE) and _name(value) in MUTATING and self.is_outside(owner):
            raise Inseparable(
                f"'{_name(value)}' changes a list or dict from outside, where something else calls it"
            )

    def _call_plainly(self, function: Any, args: list, kwargs: dict) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            of_program(error)
            if not isinstance(error, TypeError):
                raise
            if any(isinstance(a, Tensor) and self.aliases.may_be_parameter(a) for a in args):
                raise Inseparable("a tensor decides which Parameter this is") from None
            if is_unknown((args, kwargs)):
                raise needs_value(f"'{_name(function)}'") from None
            raise


_CHANGEABLE = (*facts.MUTABLE, np.ndarray)


def _is_still(value: Any, before: Any) -> bool:
    """Whether a container holds what it held."""
    if isinstance(value, np.ndarray):
        return value.shape == before.shape and value.tobytes() == before.tobytes()
    if isinstance(value, bytearray):
        return bool(value == before)
    return same_contents(contents_of(before), contents_of(value))


def _put_back(value: Any, before: Any) -> None:
    if isinstance(value, np.ndarray):
        value[...] = before
    elif isinstance(value, bytearray):
        value[:] = before
    else:
        set_contents(value, contents_of(before))


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _is_plain(function: Any) -> bool:
    """Builtins and classes that look at their arguments; those that only pass them on are not meant."""
    if not isinstance(function, (type, types.BuiltinFunctionType)):
        return False
    return not (Does.PASSES in foreign.does(function) or _is_of_container(function))


def _is_of_container(function: Any) -> bool:
    """Methods of lists and dicts made in compiled code: they hold stand-ins like any value."""
    return isinstance(getattr(function, "__self__", None), (list, dict, set, tuple))


def _makes_dict(function: Any, args: Any) -> bool:
    """A dict of values, which may be stand-ins like those of any container."""
    return function is dict and not any(isinstance(a, HostValue) for a in args)


def _hashable(function: Any) -> bool:
    return isinstance(function, (type, types.BuiltinFunctionType))
