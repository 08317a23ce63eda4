"""Whether a function was made from a text: what the text says is compiled as Python compiles it, and the code is compared with the
function's. Where code stands (its file, its lines and columns) does not matter; all else does: what decides beside the text
(`from __future__`, -O, mangled names of a class, variables of functions around) is given to the compiler again."""

from __future__ import annotations
import __future__

import ast
import bisect
import copy
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

# The bits of a code's flags that `from __future__` sets; that of nested scopes says something else by now.
_FUTURE = 0
for _name in __future__.all_feature_names:
    if _name != "nested_scopes":
        _FUTURE |= getattr(__future__, _name).compiler_flag
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # of statements, where others stand
_FAILURES = (SyntaxError, ValueError, MemoryError)
_NAMES = ("id", "attr", "arg", "name", "asname", "rest")  # fields of nodes
_KEPT = {ast.keyword: (), ast.alias: ("asname",)}  # those of other nodes
Codes = dict[tuple[str, int], list[types.CodeType]]  # by name and first line


def quietly(work: Callable[[], Any]) -> Any:
    """`work()`, which compiles a text that has been compiled before: what Python warns of is no error now."""
    try:
        return work()
    except SyntaxError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()


class Unit:
    """What is compiled alone: a function that stands in no other, or a statement with lambdas, in the classes around it."""

    __slots__ = ("classes", "codes", "is_function", "statement")

    def __init__(self, statement: ast.stmt, classes: tuple[ast.ClassDef, ...]):
        self.statement, self.classes = statement, classes
        self.is_function = isinstance(statement, _FUNCTIONS)
        self.codes: dict[tuple[int, frozenset[str] | None], Codes] = {}

    def compiled(self, flags: int, imported: frozenset[str] | None) -> Codes:
        """The functions that the unit makes, in a module that imports these names, and perhaps others; None: nothing."""
        known = [names for f, names in self.codes if f == flags and names is not None]
        if imported is not None:
            around = next((names for names in known if names >= imported), None)
            imported = imported.union(*known) if around is None else around
        key = flags, imported
        if key not in self.codes:
            self.codes[key] = self._compiled(self.statement, flags, imported)
        return self.codes[key]

    def compiled_apart(self, node: Any, flags: int, imported: frozenset[str] | None) -> list:
        """What one lambda of several on a line makes: it alone is moved to a line of its own."""
        copies: dict = {}
        statement = copy.deepcopy(self.statement, copies)
        moved = copies[id(node)]
        moved.lineno = moved.end_lineno = (statement.end_lineno or 0) + 1
        moved.end_col_offset = moved.col_offset
        return self._compiled(statement, flags, imported).get(("<lambda>", moved.lineno), [])

    def _compiled(self, statement: ast.stmt, flags: int, imported: frozenset[str] | None) -> Codes:
        body = [statement]
        for node in reversed(self.classes):
            around = copy.copy(node)
            around.bases, around.keywords, around.decorator_list = [], [], []
            around.body, body = body, [around]
        if imported:
            imports = ast.Import([ast.alias("_", name) for name in imported])
            body.insert(0, ast.fix_missing_locations(imports))
        return _codes_of(ast.Module(body, []), flags)


def _codes_of(program: ast.Module | str, flags: int) -> Codes:
    try:
        pending = [quietly(lambda: compile(program, "", "exec", flags, dont_inherit=True))]
    except _FAILURES:
        return {}
    found: Codes = {}
    for code in pending:
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        pending += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return found


class Written:
    """A function in a text, with the names of the classes around it."""

    __slots__ = ("name", "node", "private", "unit")

    def __init__(self, node: Any, unit: Unit, classes: tuple[ast.ClassDef, ...]):
        self.node, self.unit, self.name = node, unit, getattr(node, "name", "<lambda>")
        self.private = "_" + classes[-1].name.lstrip("_") if classes else "_"

    def mangled(self, code: types.CodeType) -> Any:
        """The node, in which private names of the class are what its code calls them."""
        names = _names_in(code) if self.private != "_" else ()
        if any(name.startswith(self.private + "__") for name in names):
            for node in ast.walk(self.node):
                for field in _KEPT.get(type(node), _NAMES):
                    name = getattr(node, field, None)
                    if isinstance(name, str):
                        setattr(node, field, self._mangled(name))
                if isinstance(node, (ast.Global, ast.Nonlocal)):
                    node.names = [self._mangled(name) for name in node.names]
        return self.node

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.private + name if private else name


class FileText:
    """The text of a file, and the functions in it by their first lines. `tree`: of a part of a file that has been parsed, which
    begins at the line `first`."""

    def __init__(self, text: str, file: str, tree: ast.Module | None = None, first: int = 1):
        self.text, self.file, self.is_part = text, file, tree is not None
        self.functions: dict[int, list[Written]] = {}
        self.imported: set[str] = set()  # names, in the module
        self._whole: dict[Any, Codes] = {}
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._lambdas = [i for i, line in enumerate(lines, first) if "lambda" in line]
        self._index(tree or quietly(lambda: ast.parse(text, file)))

    def _index(self, tree: ast.Module) -> None:
        pending: list[tuple[Any, Unit, tuple]] = [(tree, Unit(ast.Pass(), ()), ())]
        for node, unit, classes in pending:
            kind = type(node)
            if isinstance(node, ast.stmt) and not unit.is_function:
                unit = Unit(node, classes)
                if isinstance(node, (ast.Import, ast.ImportFrom)) and not classes:
                    self.imported |= {a.asname or a.name.partition(".")[0] for a in node.names}
            if kind in _FUNCTIONS or kind is ast.Lambda:
                made = Written(node, unit, classes)
                self.functions.setdefault(first_line(node), []).append(made)
            for name in node._fields if self._may_hold_lambda(node) else _BLOCKS:
                value = getattr(node, name, None)
                inner = (*classes, node) if kind is ast.ClassDef and name == "body" else classes
                for part in value if isinstance(value, list) else (value,):
                    if isinstance(part, ast.AST):
                        pending.append((part, unit, inner))

    def _may_hold_lambda(self, node: Any) -> bool:
        """Whether the word stands in its lines; most expressions need no look."""
        if not self._lambdas:
            return False
        if not hasattr(node, "lineno"):
            return True
        at = bisect.bisect_left(self._lambdas, first_line(node))
        return at < len(self._lambdas) and self._lambdas[at] <= node.end_lineno

    def find(self, code: types.CodeType, space: dict, line: int | None = None) -> Written | None:
        """The function with this code, which has these globals, if it is here. `line`: where it is now."""
        at = self.functions.get(code.co_firstlineno if line is None else line, ())
        fitting = [w for w in at if w.name == code.co_name]
        if not fitting:
            return None
        wanted = _meaning(code)
        for written in fitting:
            for made in self._made_of(written, len(fitting) == 1, code, space):
                if _meaning(made) == wanted:
                    return written
        return None

    def find_moved(self, code: types.CodeType, space: dict) -> Written | None:
        """The same, on whatever line, the nearest first."""
        distance = lambda line: abs(line - code.co_firstlineno)  # noqa: E731
        found = (self.find(code, space, line) for line in sorted(self.functions, key=distance))
        return next((written for written in found if written is not None), None)

    def _made_of(
        self, written: Written, single: bool, code: types.CodeType, space: dict
    ) -> Iterator[types.CodeType]:
        """What the node makes: in its unit alone, which is fast; then in all of the text, as a module; then as notebooks compile
        it, statement by statement; and as pytest does."""
        node, unit = written.node, written.unit
        flags = code.co_flags & _FUTURE
        # What is imported counts: `module.name()` is code of its own where the compiler sees that `module` is.
        imported = frozenset(self.imported & _names_in(code))
        if not single:
            for names in (imported, None):
                yield from unit.compiled_apart(node, flags, names)
            return
        key = code.co_name, first_line(node)
        try:
            yield from unit.compiled(flags, imported).get(key, ())
        except RecursionError:
            pass  # a deep tree, which Python compiles from its text
        if self.is_part:
            return
        yield from self._compiled(flags, lambda: self.text).get(key, ())
        if imported:
            yield from unit.compiled(flags, None).get(key, ())
        if __debug__ and "@pytest_ar" in space:
            yield from self._compiled("pytest", lambda: self._rewritten(space)).get(key, ())

    def _compiled(self, key: Any, program: Callable[[], Any]) -> Codes:
        """The functions of the whole text; `key` is the flags, or says how the text was changed before."""
        if key not in self._whole:
            self._whole[key] = _codes_of(program(), key if isinstance(key, int) else 0)
        return self._whole[key]

    def _rewritten(self, space: dict) -> ast.Module:
        """The tree with the assertions that pytest writes instead, which mean the same."""
        tree = quietly(lambda: ast.parse(self.text, self.file))
        rewrite = getattr(sys.modules.get("_pytest.assertion.rewrite"), "rewrite_asserts", None)
        if rewrite is not None:
            config = getattr(space.get("__loader__"), "config", None)
            rewrite(tree, self.text.encode(), self.file, config)
        return tree


def first_line(node: Any) -> int:
    """The line where Python says that a function begins."""
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _names_in(code: types.CodeType) -> set[str]:
    inner = (_names_in(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}.union(*inner)


def _meaning(code: types.CodeType) -> list[types.CodeType]:
    """What a code and those in it do, wherever they stand. One by one: Python compares nested codes twice on each level."""
    found = [code]
    for outer in found:
        found += [c for c in outer.co_consts if isinstance(c, types.CodeType)]
    return [
        c.replace(
            co_consts=tuple("" if isinstance(x, types.CodeType) else x for x in c.co_consts),
            co_filename="",
            co_firstlineno=1,
            co_linetable=b"",
        )
        for c in found
    ]
