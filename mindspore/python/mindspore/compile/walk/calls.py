"""What a call inside compiled code does: users' functions and cells are parsed, library code and plain Python run as they are
(plain_calls.py)."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import program_operation, serves
from mindspore.compile.program.errors import Unsupported, locate, refusal
from mindspore.compile.program.source import NoSource, Source, find_source
from mindspore.compile.values import foreign
from mindspore.compile.values import guards as facts
from mindspore.compile.values.compilable import SETTINGS, Compilable
from mindspore.compile.values.foreign import (
    MUTATING,
    Does,
    is_library,
    is_of_cells,
    is_standard,
    looks_at_frames,
)
from mindspore.compile.values.host_values import HostValue, has_host
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.frame import Frame, bind_arguments
from mindspore.compile.walk.generators import Generator, UnderWay, is_generator
from mindspore.compile.walk.instances import Instances
from mindspore.compile.walk.kinds import ByKind
from mindspore.compile.walk.plain_calls import is_of_container, makes_dict
from mindspore.compile.walk.python_builtins import SPECIAL
from mindspore.ops.primitive import Primitive


class Calls(Instances):
    """A storey of Tracer."""

    lazily: bool  # see Iterators

    def call(self, function: Any, args: list, kwargs: dict) -> Any:
        """Calls anything."""
        return _CALLS.of(function)(self, function, args, kwargs)

    def _call_chosen(self, function: Choice, args: list, kwargs: dict) -> Any:
        return self.split(function, lambda option: self.call(option, args, kwargs))

    # ---- builtins and classes -------------------------------------------------------------------------------------------
    def _call_builtin(self, function: Any, args: list, kwargs: dict) -> Any:
        """Of what looks at its arguments, a value that came out of the graph makes a line between two graphs."""
        session = self.session
        if session is not None and session.steps and _looks_at_host(function, args, kwargs):
            return self.run_call(function, args, kwargs)
        special = SPECIAL.get(function)
        if special is not None:
            return self.split_arguments(args, kwargs, lambda a, k: special(self, a, k))
        if isinstance(function, type):
            return self.instantiate(function, args, kwargs)
        return self._call_as_it_is(function, args, kwargs)

    def _call_as_it_is(self, function: Any, args: list, kwargs: dict) -> Any:
        """What has no text, and is called for what it does."""
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

    # ---- objects --------------------------------------------------------------------------------------------------------
    def _call_object(self, function: Any, args: list, kwargs: dict) -> Any:
        """An object of a class that says how it is called."""
        if isinstance(function, _late.cell_class):
            self.called.append(function)
            return self._call_cell(function, args, kwargs)
        if getattr(type(function), "_ms_compiled", False):
            return self._call_compiled(function, args, kwargs)
        method = self.special_method(function, "__call__")
        if method is not None:
            return self.call(method, args, kwargs)
        return self._call_as_it_is(function, args, kwargs)

    def _call_compiled(self, function: Any, args: list, kwargs: dict) -> Any:
        """A function decorated with jit. Where it says fullgraph=True, what cannot be compiled in it is an error here too."""
        inner, session = function.bound_function(), self.session
        if not function.options.strict or session is None or has_host((args, kwargs)):
            return self.call(inner, args, kwargs)
        self.session = None
        try:
            return self.call(inner, args, kwargs)
        except Unsupported as reason:
            raise refusal(locate(reason, self.whole.error_places(reason))) from None
        finally:
            self.session = session

    # ---- functions ------------------------------------------------------------------------------------------------------
    def _call_partial(self, function: functools.partial, args: list, kwargs: dict) -> Any:
        if id(function) not in self.made:
            self.guards.content(function.keywords)
        return self.call(function.func, [*function.args, *args], {**function.keywords, **kwargs})

    def _call_method(self, function: types.MethodType, args: list, kwargs: dict) -> Any:
        owner, inner = function.__self__, function.__func__
        if isinstance(inner, NestedFunction) or not isinstance(inner, types.FunctionType):
            return self.call(inner, [owner, *args], kwargs)
        if isinstance(owner, _late.cell_class) and inner.__name__ == "__call__":
            return self._call_cell(owner, args, kwargs)
        if is_library(inner) or is_of_cells(inner):
            if isinstance(owner, Tensor):
                return self.run_call(function, args, kwargs)
            return self._run_library(function, args, kwargs)
        return self._call_function(inner, [owner, *args], kwargs)

    def _run_library(self, function: Any, args: list, kwargs: dict) -> Any:
        def run(args: list, kwargs: dict) -> Any:
            return self.with_numbers(args, kwargs, lambda a, k: self.call_plainly(function, a, k))

        return self.split_arguments(args, kwargs, run)

    def _call_checked(self, function: Any, args: list, kwargs: dict) -> Any:
        """A function that checks its arguments; one that is parsed does not do so itself."""
        if is_library(function):
            return self.run_call(function, args, kwargs)
        if is_of_cells(function):
            return self._run_library(function, args, kwargs)
        args, kwargs = self.call_plainly(function.accept, args, kwargs)
        return self.call(function.__wrapped__, args, kwargs)

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
            what = f"'{function.__name__}' is a coroutine, which cannot be compiled"
            coroutine = functools.partial(function, **kwargs)
            return self.run_eagerly(Unsupported(what), coroutine, args, pure=False)
        return self._parse_function(function, source, args, kwargs)

    def _parse_function(
        self, function: types.FunctionType, source: Source, args: list, kwargs: dict
    ) -> Any:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        frame = Frame(self.whole, source, function.__globals__, cells)
        defaults = [self.fact(d) for d in self._defaults(function)], function.__kwdefaults__ or {}
        frame.env = bind_arguments(source.node, function.__name__, args, kwargs, *defaults)
        frame.first_argument = args[0] if args else None
        if inspect.isgeneratorfunction(function):
            return Generator(self.whole, frame, source.node)
        return self._run_frame(frame, source.node)

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

    def _call_nested(self, function: NestedFunction, args: list, kwargs: dict) -> Any:
        outer = function.frame
        frame = Frame(self.whole, outer.source, outer.globals, outer.cells, parent=outer)
        defaults = function.defaults, function.keyword_defaults
        frame.env = bind_arguments(function.node, function.__name__, args, kwargs, *defaults)
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
        lazily, self.lazily = self.lazily, True
        try:
            with UnderWay(self.whole, frame):
                if isinstance(node, ast.Lambda):
                    frame.at(node.body)
                    return frame.eval(node.body)
                return frame.run_body(node.body)
        finally:
            self.lazily = lazily

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
        return self.call(construct, list(args), kwargs)


def _looks_at_host(function: Any, args: list, kwargs: dict) -> bool:
    """Whether a builtin or class looks at an argument that came out of the graph; what only passes it on does not."""
    if Does.PASSES in foreign.does(function) or is_of_container(function):
        return False
    return not makes_dict(function, args) and has_host((args, kwargs))


_CALLS = ByKind(
    {
        Choice: Calls._call_chosen,
        HostValue: Calls.call_plainly,
        type: Calls._call_builtin,
        types.BuiltinFunctionType: Calls._call_builtin,  # and methods
        types.FunctionType: Calls._call_function,
        types.MethodType: Calls._call_method,
        functools.partial: Calls._call_partial,
        NestedFunction: Calls._call_nested,
        _core.CheckedFunction: Calls._call_checked,
        _core.OpFunction: Calls._call_as_it_is,
    },
    others=Calls._call_object,
)
