"""Places in the user's source, for messages: the line, the expression that failed, and what its operands were."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import types
from collections.abc import Callable, Iterable
from opcode import opmap
from typing import Any, NamedTuple

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.program.deep import caller

# As code objects name files: with the links that led there.
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
_core.set_own_files(PACKAGE)
_LAYERS = os.path.join(PACKAGE, "nn", "layer", "")
_MAX_WIDTH = 150
# Of a statement with a body, what stands for it.
_HEADS = {
    ast.If: "test",
    ast.While: "test",
    ast.For: "iter",
    ast.Assert: "test",
    ast.Return: "value",
    ast.Expr: "value",
    ast.Assign: "value",
}


class Place(NamedTuple):
    """Where something is written. Columns count bytes from 0; an end_column of 0 says that they are unknown."""

    file: str
    line: int
    function: str
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    values: str = ""  # the operands of what failed: "x: Float32[2, 3]"

    def short(self) -> str:
        """One line."""
        return f"{shown(self.file)}:{self.line} in {self.function}:   {source_line(self)[:100]}"

    def block(self) -> str:
        """The line with a mark under the expression."""
        source = linecache.getline(self.file, self.line)
        text = source.strip()
        lines = [f"{shown(self.file)}:{self.line} in {self.function}:", f"    {text[:_MAX_WIDTH]}"]
        start, end = self._mark(source)
        if start < min(end, _MAX_WIDTH):
            lines.append(f"    {' ' * start}{'^' * (min(end, _MAX_WIDTH) - start)}")
        return "\n  ".join(lines)

    def _mark(self, source: str) -> tuple[int, int]:
        """Where the expression begins and ends in the stripped line, in characters."""
        code = source.rstrip()
        indent = len(code) - len(code.lstrip())
        if not self.end_column:
            return 0, 0
        data = source.encode()
        start = len(data[: self.column].decode(errors="replace"))
        end = len(code)
        if self.end_line == self.line:
            end = min(end, len(data[: self.end_column].decode(errors="replace")))
        return max(start - indent, 0), end - indent


def shown(file: str) -> str:
    """The name of a file as text that can be printed: what the locale could not decode of it is escaped."""
    return file.encode("utf-8", "backslashreplace").decode()


_shown: dict[str, str] = {}  # names that differ from what is shown of them


def name_for_core(file: str) -> str:
    """The name of a file as the core keeps it, in UTF-8."""
    name = shown(file)
    if name != file:
        _shown[name] = file
    return name


def core_place(*parts: Any) -> Place:
    """A place that the core kept."""
    place = Place(*parts)
    return place._replace(file=_shown.get(place.file, place.file))


def source_line(place: Place) -> str:
    """The text of a place's line."""
    return linecache.getline(place.file, place.line).strip()


def is_ours(file: str) -> bool:
    """A file of this package."""
    return file.startswith(PACKAGE)


def place_at(node: Any, file: str, function: str, values: str = "") -> Place:
    """The place of a node of a syntax tree; compound statements are represented by their heads."""
    head = getattr(node, _HEADS.get(type(node), ""), None)
    node = node if head is None else head
    return Place(
        file,
        getattr(node, "lineno", 0),
        function,
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", None) or 0,
        getattr(node, "end_col_offset", None) or 0,
        values,
    )


# ---- operands -----------------------------------------------------------------------------------------------------------
_OPERANDS: dict[type, tuple[str, ...]] = {
    ast.BinOp: ("left", "right"),
    ast.AugAssign: ("target", "value"),
    ast.UnaryOp: ("operand",),
    ast.BoolOp: ("values",),
    ast.Compare: ("left", "comparators"),
    ast.Subscript: ("value", "slice"),
    ast.Attribute: ("value",),
}


def describe(value: Any) -> str:
    """What a message says of a value: dtype and shape of a tensor, the name of a Parameter, a short Python value."""
    if isinstance(value, Tensor):
        text = f"{value.dtype}{list(value.shape)}"
        name = getattr(value, "name", None) if hasattr(type(value), "requires_grad") else None
        return f"{text} (Parameter '{name}')" if name is not None else text
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        if len(value) > 4:
            return f"{type(value).__name__} of {len(value)} items"
        items = ", ".join(map(describe, value))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return type(value).__name__


def operands(node: Any) -> list[ast.expr]:
    """The sub-expressions whose values decide whether an expression or statement fails."""
    head = getattr(node, _HEADS.get(type(node), ""), None)
    node = node if head is None else head
    if isinstance(node, ast.Call):
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*receiver, *node.args, *(k.value for k in node.keywords)]
    if type(node) in _OPERANDS:
        fields = [getattr(node, name) for name in _OPERANDS[type(node)]]
        return [v for f in fields for v in (f if isinstance(f, list) else [f])]
    return [node] if isinstance(node, ast.expr) else []


def values_text(nodes: Iterable[ast.expr], lookup: Callable[[str], Any]) -> str:
    """`x: Float32[2, 3], self.w: ...` for those of the expressions that are variables or attributes of variables."""
    texts: dict[str, str] = {}
    for node in nodes:
        for part in _variables(node):
            try:
                value = _read(part, lookup)
            except (AttributeError, LookupError, ValueError):
                continue  # it has no value yet, or is a property
            if not isinstance(value, (type, types.ModuleType)) and not callable(value):
                texts[ast.unparse(part)] = describe(value)
    return ", ".join(f"{name}: {text}" for name, text in texts.items())[:_MAX_WIDTH]


def _variables(node: ast.expr) -> list[ast.expr]:
    """Variables and chains of attributes in an operand, not inside of calls."""
    if isinstance(node, ast.Name):
        return [node]
    if isinstance(node, ast.Attribute):
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return [node] if isinstance(root, ast.Name) else []
    if isinstance(node, (ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Starred)):
        children = (c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))
        return [part for child in children for part in _variables(child)]
    return []


def _read(node: ast.expr, lookup: Callable[[str], Any]) -> Any:
    """The value of a variable or attribute, without running code of the user."""
    if isinstance(node, ast.Attribute):
        owner = _read(node.value, lookup)
        return owner.__dict__[node.attr]
    assert isinstance(node, ast.Name)
    return lookup(node.id)


# ---- places on the Python stack ----------------------------------------------------------------------------------------
def calling_place() -> list[Place]:
    """The user's line that called into this package, from the Python stack."""
    frame = user_frame()
    return [] if frame is None else [frame_place(frame)]


def user_frame() -> types.FrameType | None:
    """The innermost call on the Python stack that is not of this package."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = caller(frame)
    return frame


def frame_place(frame: types.FrameType, instruction: int | None = None) -> Place:
    """Where a Python call stands, or stood at an instruction; with columns if Python knows them (3.11)."""
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    span = _columns(frame, frame.f_lasti if instruction is None else instruction)
    if span is None:
        return Place(code.co_filename, frame.f_lineno, name)
    line, end_line, column, end_column = span
    return Place(code.co_filename, line, name, column, end_line, end_column)


def _columns(frame: types.FrameType, instruction: int) -> tuple[int, int, int, int] | None:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or instruction < 0:
        return None
    for i, span in enumerate(positions()):
        if i == instruction // 2:
            return None if None in span else span
    return None


def eager_places() -> list[Place]:
    """The user's expression that is being run eagerly, with the values of its operands; before it that of the layer of this
    package that it called."""
    frame, layer = user_frame(), sys._getframe(1)
    if frame is None:
        return []
    while layer is not frame and not layer.f_code.co_filename.startswith(_LAYERS):
        layer = caller(layer)  # type: ignore[assignment]
    return [_with_values(f) for f in ([layer] if layer is not frame else []) + [frame]]


def traceback_place(error: BaseException) -> Place | None:
    """The user's expression that an error came from, which none of the user's statements raised; None if there is none."""
    trace, user = error.__traceback__, None
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            user = trace
        last, trace = trace, trace.tb_next
    if user is None or (user is last and _raises(user)):
        return None
    return _with_values(user.tb_frame, user.tb_lasti)


def _raises(trace: types.TracebackType) -> bool:
    """Whether a `raise` or `assert` stands where an exception came from."""
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def _with_values(frame: types.FrameType, instruction: int | None = None) -> Place:
    place = frame_place(frame, instruction)
    node = _expression(place)
    if node is None:
        return place

    def lookup(name: str) -> Any:
        return frame.f_locals[name] if name in frame.f_locals else frame.f_globals[name]

    return place._replace(values=values_text(operands(node), lookup))


def _expression(place: Place) -> ast.AST | None:
    """The syntax tree of the expression at a place."""
    try:
        if not place.end_column:
            return ast.parse(source_line(place)).body[0]
        lines = [
            linecache.getline(place.file, i).encode() for i in range(place.line, place.end_line + 1)
        ]
        lines[-1] = lines[-1][: place.end_column]
        lines[0] = lines[0][place.column :]
        text = b"".join(lines).decode()
        try:
            return ast.parse(f"({text})", mode="eval").body
        except SyntaxError:
            return ast.parse(text.strip()).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return None
