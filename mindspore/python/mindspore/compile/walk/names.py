"""The names that a call under compilation sees, and assignment: to names, attributes and items, alone or several."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.decided.flow import Flow
from mindspore.compile.program.borders import listed, of_program, program_error, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.source import local_names, names_around
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.values import Choice, Undefined

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame


def shares_of(items: list, parts: Sequence[ast.AST], star: type[ast.AST]) -> list | None:
    """What each of the targets or patterns gets: one item, a `star` the list of those that the others leave; None where that
    does not come out."""
    at = next((i for i, part in enumerate(parts) if isinstance(part, star)), None)
    if at is not None and len(items) >= len(parts) - 1:
        end = len(items) - (len(parts) - at - 1)
        items = [*items[:at], items[at:end], *items[end:]]
    return items if len(items) == len(parts) else None


class Names(Flow):
    """A storey of Frame."""

    # ---- names ------------------------------------------------------------------------------------------------------
    def lookup(self, name: str) -> Any:
        """The value of a name: of this frame, those around it, the module, or the builtins."""
        if name in self.env and name not in self.outer_names:
            return self.read(name, self.env[name])
        self._check_assigned(name, self.whole)
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

    def read(self, name: str, value: Any) -> Any:
        """A variable's value, unless branches left it without one."""
        if isinstance(value, Choice):
            return self.tracer.defined(name, value)
        if isinstance(value, Undefined):
            text = f"the variable '{name}' has no single value here: {value.reason}"
            raise Unsupported(text, UnboundLocalError(text))
        return value

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
        kind = type(self.whole)
        scope = kind(self.tracer, self.source, self.globals, parent=self.whole)
        scope.is_scope = True
        return scope

    def zero_argument_super(self) -> Any:
        """What `super()` gives in a method, of whose frame this one may be a scope."""
        owner = self.lookup("__class__")
        with program_operation:
            return super(owner, self.call_around().first_argument)

    def make_function(self, node: ast.AST, name: str) -> Any:
        """A nested function or lambda: parsed when it is called."""
        return NestedFunction(self.whole, node, name)

    # ---- where we are -----------------------------------------------------------------------------------------------
    def at(self, node: ast.AST) -> None:
        """Marks what is being evaluated: nodes of the graph and errors are given this place."""
        self.node = node
        self.tracer.mark(self.whole, node)

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
            raise program_error(ValueError, text)
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
        # An item is put back even so, since a tuple refuses that.
        if changed is not old or isinstance(old, Tensor) or isinstance(target, ast.Subscript):
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
