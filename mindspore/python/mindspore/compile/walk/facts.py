"""What is known of values while a program is traced, and what is read of the world outside: variables of modules and of functions around,
each of which becomes a fact of the graph."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import is_true, of_program, program_error
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values import guards as facts
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.structure import holds
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.states import States


class Facts(States):
    """A storey of Tracer."""

    arguments: list[Tensor]  # of the function, in the order of the graph's inputs
    cells: TensorCells
    called: list
    # Tensors read from outside: as values of the graph, by whose id, and themselves.
    lifted: dict[int, tuple[Tensor, Tensor]]

    def has_traced(self, value: Any) -> bool:
        """A traced tensor, or a structure that holds one."""
        return holds(value, self.is_undecided)

    def is_argument(self, value: Any) -> bool:
        """A tensor that the caller of the compiled function holds."""
        return any(t is value for t in self.arguments)

    def truth(self, value: Any) -> Any:
        """A condition as Bool[]."""
        if isinstance(value, Choice):
            value = self.split(value, lambda v: self.truth(v) if self.is_traced(v) else is_true(v))
        if not isinstance(value, Tensor):
            return Tensor(is_true(value))
        if value.size != 1:
            raise program_error(
                ValueError,
                f"For 'Tensor', a condition must have exactly one element, but got shape {list(value.shape)}. Use ops.any "
                "or ops.all.",
            )
        if value.dtype is not _core.bool:
            value = ops.not_equal(value, 0)
        return ops.reshape(value, ()) if value.ndim else value

    def run_eagerly(
        self, reason: Unsupported, function: Callable, args: list, pure: bool = True
    ) -> Any:
        """A call of what cannot be compiled, for this reason, which is raised where no line may run eagerly."""
        if self.session is None:
            raise reason
        return self.session.call(reason, function, args, {}, pure)

    # ---- reading ----------------------------------------------------------------------------------------------------
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
            raise program_error(NameError, f"free variable '{name}' has no value yet") from None
        self.guards.closure(cell, value)
        return self.fact(value)
