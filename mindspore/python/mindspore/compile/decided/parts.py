"""A Frame and a Tracer are each one object that is built in storeys: each class uses itself and those below it, and what it asks of those
above stands here. One object, so that what a call leaves behind is freed with it, by its reference count."""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.exits import Stack
from mindspore.compile.values.nested import Scope

if TYPE_CHECKING:
    from mindspore import _core
    from mindspore.compile.decided.aliases import Aliases
    from mindspore.compile.program.source import Source
    from mindspore.compile.values.guards import Guards
    from mindspore.compile.versions.breaks import Session
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.memo import Memo
    from mindspore.compile.walk.tracer import Tracer


class FramePart(Scope, ABC):
    """The ground of a Frame."""

    tracer: Tracer
    source: Source
    parent: Frame | None
    globals: dict[str, Any]
    cells: dict[str, types.CellType]
    stack: Stack
    loops: dict[ast.While, int]
    outer_names: dict[str, str]
    is_scope: bool
    node: ast.AST | None
    body: ast.AST | None
    name: ast.Name | None
    first_argument: Any

    @property
    def whole(self) -> Frame:
        """The object of which this is a part: itself."""
        return cast("Frame", self)

    @abstractmethod
    def assign(self, target: ast.expr, value: Any) -> None: ...
    @abstractmethod
    def test(self, node: ast.expr) -> Any: ...
    @abstractmethod
    def run(self, base: int) -> Any: ...
    @abstractmethod
    def unwind(self, keep: int, again: tuple) -> bool: ...


class TracerPart(ABC):
    """The ground of a Tracer."""

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

    def is_traced(self, value: Any) -> bool:
        """A tensor whose value is known only at run time; Parameters are."""
        return isinstance(value, Tensor) and (
            value.is_symbolic or isinstance(value, _late.parameter_class)
        )

    @abstractmethod
    def call(self, function: Any, args: list, kwargs: dict) -> Any: ...
    @abstractmethod
    def run_call(self, function: Any, args: list, kwargs: dict) -> Any: ...
    @abstractmethod
    def special_method(self, owner: Any, name: str) -> Any: ...
