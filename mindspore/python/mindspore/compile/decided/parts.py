"""A Frame and a Tracer are each one object in several files: their parts share one state, so that what a call leaves behind is freed
with it, by its reference count. These bases say what the parts use of each other; mypy holds the whole to it."""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from mindspore.compile.values.nested import Scope

if TYPE_CHECKING:
    from mindspore import _core
    from mindspore._core import Tensor
    from mindspore.compile.decided.aliases import Aliases
    from mindspore.compile.program.errors import Unsupported
    from mindspore.compile.program.places import Place
    from mindspore.compile.program.source import Source
    from mindspore.compile.values.guards import Guards
    from mindspore.compile.versions.breaks import Session
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.memo import Memo
    from mindspore.compile.walk.tracer import Tracer


class FramePart(Scope, ABC):
    """What the parts of a Frame know of it."""

    tracer: Tracer
    source: Source
    parent: Frame | None
    globals: dict[str, Any]
    cells: dict[str, types.CellType]
    stack: list[tuple]  # statements still to run; see walk/statements.py
    loops: dict[ast.While, int]
    outer_names: dict[str, str]
    is_scope: bool
    node: ast.AST | None
    name: ast.Name | None

    @property
    def whole(self) -> Frame:
        """The object of which this is a part: itself."""
        return cast("Frame", self)

    # ---- names and places
    @abstractmethod
    def lookup(self, name: str) -> Any: ...
    @abstractmethod
    def peek(self, name: str) -> Any: ...
    @abstractmethod
    def bind(self, name: str, value: Any) -> None: ...
    @abstractmethod
    def is_builtin(self, name: str) -> bool: ...
    @abstractmethod
    def child_scope(self) -> Frame: ...
    @abstractmethod
    def make_function(self, node: ast.AST, name: str) -> Any: ...
    @abstractmethod
    def zero_argument_super(self) -> Any: ...
    @abstractmethod
    def at(self, node: ast.AST) -> None: ...

    # ---- statements
    @abstractmethod
    def run(self, base: int) -> Any: ...
    @abstractmethod
    def push(self, statements: list[ast.stmt]) -> None: ...
    @abstractmethod
    def assign(self, target: ast.expr, value: Any) -> None: ...
    @abstractmethod
    def augment(self, node: ast.AugAssign) -> None: ...
    @abstractmethod
    def run_yield(self, node: ast.Yield | ast.YieldFrom) -> Any: ...

    # ---- conditions
    @abstractmethod
    def test(self, node: ast.expr) -> Any: ...
    @abstractmethod
    def both(self, a: Any, b: Any) -> Any: ...
    @abstractmethod
    def either(self, a: Any, b: Any) -> Any: ...
    @abstractmethod
    def negation(self, value: Any) -> Any: ...
    @abstractmethod
    def truth_as_bool(self, value: Any) -> Any: ...
    @abstractmethod
    def compare_once(self, op: ast.cmpop, left: Any, right: Any) -> Any: ...
    @abstractmethod
    def comprehend(self, generators: list[ast.comprehension], first: Any = None) -> Any: ...
    @abstractmethod
    def ends_early(self, node: ast.Call) -> bool: ...
    @abstractmethod
    def any_or_all(self, node: ast.Call) -> Any: ...

    # ---- what a tensor decides
    @abstractmethod
    def barrier(self) -> int: ...
    @abstractmethod
    def branch_on(self, choice: Any, start: Callable[[Any], None]) -> Any: ...
    @abstractmethod
    def choose(self, test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any: ...
    @abstractmethod
    def choose_expression(self, node: ast.IfExp, test: Any) -> Any: ...
    @abstractmethod
    def tensor_assert(self, test: Any, fail: Callable[[], None]) -> None: ...
    @abstractmethod
    def tensor_if(self, node: ast.If, test: Any) -> Any: ...
    @abstractmethod
    def tensor_for(self, node: ast.For, bounds: Any) -> Any: ...
    @abstractmethod
    def tensor_while(self, node: ast.While) -> Any: ...

    # ---- how statements are left
    @abstractmethod
    def jump(self, kind: int, again: tuple) -> Any: ...
    @abstractmethod
    def leave(self, value: Any) -> Any: ...
    @abstractmethod
    def unwind(self, keep: int, again: tuple) -> bool: ...
    @abstractmethod
    def catch(self, error: Exception, base: int) -> bool: ...
    @abstractmethod
    def handled_error(self) -> BaseException: ...


class TracerPart(ABC):
    """What the parts of a Tracer know of it."""

    trace: _core.Trace
    guards: Guards
    aliases: Aliases
    memo: Memo
    session: Session | None
    places: list[tuple[Frame, int]]
    made: set[int]
    keep: list[Any]
    max_depth: int
    arms: int
    in_gradient: int
    fixed: int

    @property
    def whole(self) -> Tracer:
        """The object of which this is a part: itself."""
        return cast("Tracer", self)

    # ---- what values are
    @abstractmethod
    def is_argument(self, value: Any) -> bool: ...
    @abstractmethod
    def is_traced(self, value: Any) -> bool: ...
    @abstractmethod
    def has_traced(self, value: Any) -> bool: ...
    @abstractmethod
    def is_outside(self, value: Any) -> bool: ...
    @abstractmethod
    def fact(self, value: Any) -> Any: ...
    @abstractmethod
    def truth(self, value: Any) -> Any: ...

    # ---- what is done with them
    @abstractmethod
    def bound(self, owner: Any, name: str) -> Any: ...
    @abstractmethod
    def call(self, function: Any, args: list, kwargs: dict, frame: FramePart | None) -> Any: ...
    @abstractmethod
    def enter_call(self, frame: Frame, node: Any, run: Callable[[Any], Any]) -> Any: ...
    @abstractmethod
    def instantiate(self, kind: type, args: list, kwargs: dict) -> Any: ...
    @abstractmethod
    def run_call(self, function: Any, args: list, kwargs: dict) -> Any: ...
    @abstractmethod
    def run_eagerly(
        self, reason: Unsupported, function: Callable, args: list, pure: bool = True
    ) -> Any: ...
    @abstractmethod
    def item_at(self, items: Any, index: Tensor) -> Any: ...
    @abstractmethod
    def replace(self, parameter: Tensor, value: Tensor) -> None: ...
    @abstractmethod
    def check_iterator(self, value: Any) -> None: ...
    @abstractmethod
    def check_mutable(self, value: Any) -> None: ...
    @abstractmethod
    def error_places(self, error: BaseException | None = None) -> list[Place]: ...
    @abstractmethod
    def get_attribute(self, owner: Any, name: str) -> Any: ...
    @abstractmethod
    def iterate(self, value: Any) -> Any: ...
    @abstractmethod
    def note_iterator(self, value: Any) -> Any: ...
    @abstractmethod
    def set_attribute(
        self, owner: Any, name: str, value: Any, put: Callable[[Any, str, Any], None] = setattr
    ) -> None: ...
    @abstractmethod
    def special_method(self, owner: Any, name: str) -> Any: ...

    # ---- with each option of what a tensor chose
    @abstractmethod
    def split(self, choice: Any, use: Callable[[Any], Any]) -> Any: ...
    @abstractmethod
    def split_arguments(
        self, args: list, kwargs: dict, use: Callable[[list, dict], Any]
    ) -> Any: ...
    @abstractmethod
    def with_numbers(self, args: list, kwargs: dict, use: Callable[[list, dict], Any]) -> Any: ...
