"""One call of a user function under compilation: its variables and the statements still to run. Statements run on an explicit
stack, so that a branch decided by a tensor can fork the rest of a region: each arm runs it to its end in a graph of its own."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.decided.flow import Flow
from mindspore.compile.program.borders import listed, of_program, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.source import local_names, names_around
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.operators import BINARY
from mindspore.compile.walk.expressions import Expressions
from mindspore.compile.walk.generators import Yields
from mindspore.compile.walk.handlers import Handlers
from mindspore.compile.walk.logic import Logic
from mindspore.compile.walk.matching import Matching, shares_of
from mindspore.compile.walk.statements import Statements

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Frame(Expressions, Logic, Statements, Flow, Handlers, Matching, Yields):
    """Variables, scopes and the statement stack of one call."""

    def __init__(
        self,
        tracer: Tracer,
        source: Any,
        function_globals: dict,
        cells: dict[str, types.CellType] | None = None,
        parent: Frame | None = None,
    ):
        self.tracer, self.source, self.globals = tracer, source, function_globals
        self.cells = cells or {}
        self.parent = parent  # whose variables a nested function or a comprehension sees
        self.env: dict[str, Any] = {}
        self.stack: list[tuple] = []
        self.loops: dict[ast.While, int] = {}  # branches around each `while` when it began
        self.outer_names: dict[str, str] = {}  # names declared global or nonlocal
        self.is_scope = False  # a comprehension: statements and errors belong to the parent
        self.node: ast.AST | None = None
        self.body: ast.AST | None = None  # the function, unless it is a comprehension
        self.name: ast.Name | None = None  # the last one that was read
        self.first_argument: Any = None

    # ---- names ------------------------------------------------------------------------------------------------------
    def lookup(self, name: str) -> Any:
        """The value of a name: of this frame, those around it, the module, or the builtins."""
        if name in self.env and name not in self.outer_names:
            return self.read(name, self.env[name])
        self._check_assigned(name, self)
        frame = self.parent
        while frame is not None:
            if name in frame.env:
                return frame.read(name, frame.env[name])
            self._check_assigned(name, frame)
            if name in frame.cells:
                return self.tracer.read_cell(name, frame.cells[name])
            frame = frame.parent
        if name in self.cells:
            return self.tracer.read_cell(name, self.cells[name])
        return self.tracer.read_global(name, self.globals)

    def _check_assigned(self, name: str, owner: Frame) -> None:
        """A variable that its function assigns later, or has deleted, is none of an enclosing scope."""
        if owner.body is None or name not in local_names(owner.body):
            return
        if owner is self:
            text = f"cannot access local variable '{name}' where it is not associated with a value"
            raise of_program(UnboundLocalError(text, name=name))
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        raise of_program(NameError(text, name=name))

    def peek(self, name: str) -> Any:
        """A variable's value for a message: KeyError if there is none, and no fact of the graph."""
        for frame in self.outward():
            if name in frame.env:
                return frame.env[name]
            if name in frame.cells:
                return frame.cells[name].cell_contents
        return self.globals[name]

    def known_names(self) -> list[str]:
        """The names of the program that can be read here, or could be if they were assigned before."""
        names: list[str] = []
        for frame in self.outward():
            own = [] if frame.body is None else local_names(frame.body)
            names += [*frame.env, *own, *frame.cells]
        return [*names, *names_around(self.source), *self.globals]

    def is_builtin(self, name: str) -> bool:
        """Whether a name means the builtin here."""
        if any(name in frame.env or name in frame.cells for frame in self.outward()):
            return False
        return name not in self.globals and hasattr(builtins, name)

    def bind(self, name: str, value: Any) -> None:
        """Assigns to a name where it belongs: here, or in the frame that a nonlocal names."""
        declared = self.outer_names.get(name)
        if declared == "global":
            raise Unsupported(
                f"a compiled function cannot assign the global '{name}'; return the value instead"
            )
        if declared == "nonlocal":
            _, *around = self.outward()
            frame = next((f for f in around if name in f.env), None)
            if frame is None:
                raise Unsupported(
                    f"a compiled function cannot assign '{name}' of an enclosing function that is not compiled "
                    "with it"
                )
            frame.env[name] = value
            return
        self.env[name] = value

    def call_around(self) -> Frame:
        """The frame of the call of which this one may be a scope."""
        return next(frame for frame in self.outward() if not frame.is_scope)

    def child_scope(self) -> Frame:
        """A scope for a comprehension."""
        scope = Frame(self.tracer, self.source, self.globals, parent=self)
        scope.is_scope = True
        return scope

    def zero_argument_super(self) -> Any:
        """What `super()` gives in a method, of whose frame this one may be a scope."""
        owner = self.lookup("__class__")
        with program_operation:
            return super(owner, self.call_around().first_argument)

    def make_function(self, node: ast.AST, name: str) -> Any:
        """A nested function or lambda: parsed when it is called."""
        return NestedFunction(self, node, name)

    # ---- where we are -----------------------------------------------------------------------------------------------
    def at(self, node: ast.AST) -> None:
        """Marks what is being evaluated: nodes of the graph and errors are given this place."""
        self.node = node
        self.tracer.mark(self, node)

    # ---- assignment -------------------------------------------------------------------------------------------------
    def assign(self, target: ast.expr, value: Any) -> None:
        """Assigns to a target: a name, an attribute, an item, or several of them."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            self.at(target)
            self.tracer.set_attribute(owner, target.attr, value)
        elif isinstance(target, ast.Subscript):
            self._set_item(target, value)
        else:
            raise Unsupported(
                f"assignment to '{type(target).__name__}' is not supported in a compiled function"
            )

    def _unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        items, targets = listed(self.tracer.iterate(value)), target.elts
        shares = shares_of(items, targets, ast.Starred)
        if shares is None:
            star = any(isinstance(t, ast.Starred) for t in targets)
            least = f"at least {len(targets) - 1}" if star else f"{len(targets)}"
            text = f"{least} values are expected to unpack, but got {len(items)}"
            raise of_program(ValueError(text))
        for t, item in zip(targets, shares):
            self.assign(t.value if isinstance(t, ast.Starred) else t, item)

    def _set_item(self, target: ast.Subscript, value: Any) -> None:
        owner = self.eval(target.value)
        key = self.eval(target.slice)
        self.at(target)
        self.tracer.set_item(owner, key, value)

    def augment(self, node: ast.AugAssign) -> None:
        """`x += y`: in place for Python objects made in the trace, a new value for tensors."""
        target = node.target
        read, write = self._place(target)
        old = read()
        value = self.eval(node.value)
        self.at(node)
        changed = self.tracer.augment(type(node.op), old, value)
        if changed is NotImplemented:
            changed = self.tracer.operate(BINARY[type(node.op)], old, value)
        if changed is not old or isinstance(old, Tensor):
            self.at(target)
            write(changed)

    def _place(self, target: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
        """How to read and to write a name, an attribute or an item, whose owner and key are evaluated here, once."""
        tracer = self.tracer
        if isinstance(target, ast.Name):
            name = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return lambda: self.eval(name), lambda value: self.bind(target.id, value)
        owner = self.eval(target.value)
        if isinstance(target, ast.Attribute):
            attribute = target.attr
            read = lambda: tracer.get_attribute(tracer.as_choice(owner), attribute)  # noqa: E731
            return read, lambda value: tracer.set_attribute(owner, attribute, value)
        key = self.eval(target.slice)
        self.at(target)
        return lambda: tracer.get_item(owner, key), lambda value: tracer.set_item(owner, key, value)


def bind_arguments(
    node: Any, name: str, args: list, kwargs: dict, defaults: list, keyword_defaults: dict
) -> dict[str, Any]:
    """Parameters by name, as Python binds them."""
    spec = node.args
    positional = [a.arg for a in spec.posonlyargs + spec.args]
    env: dict[str, Any] = dict(zip(positional, args))
    rest = list(args[len(positional) :])
    if spec.vararg:
        env[spec.vararg.arg] = tuple(rest)
    elif rest:
        raise of_program(
            TypeError(
                f"{name}() takes {len(positional)} positional arguments but {len(args)} were given"
            )
        )
    extra: dict[str, Any] = {}
    keyword_only = [a.arg for a in spec.kwonlyargs]
    for key, value in kwargs.items():
        if key in positional[len(spec.posonlyargs) :] or key in keyword_only:
            if key in env:
                raise of_program(TypeError(f"{name}() got multiple values for argument '{key}'"))
            env[key] = value
        elif spec.kwarg:
            extra[key] = value
        else:
            takes = ", ".join([*positional, *keyword_only])
            raise of_program(
                TypeError(
                    f"{name}() got an unexpected keyword argument '{key}'; it takes ({takes})"
                )
            )
    for key, value in zip(positional[len(positional) - len(defaults) :], defaults):
        env.setdefault(key, value)
    for key, value in keyword_defaults.items():
        env.setdefault(key, value)
    if spec.kwarg:
        env[spec.kwarg.arg] = extra
    missing = [p for p in positional + keyword_only if p not in env]
    if missing:
        raise of_program(
            TypeError(
                f"{name}() is missing {len(missing)} required argument{'s' * (len(missing) > 1)}: "
                + ", ".join(f"'{m}'" for m in missing)
            )
        )
    return env
