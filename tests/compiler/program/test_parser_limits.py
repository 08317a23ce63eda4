"""Deep, long and unusual sources: the front end gives Python's result or a clear error, and never crashes."""

import ast
import inspect
import linecache
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, ops

X = np.array([1.0, -2.0, 3.0], np.float32)
_count = 0


@pytest.fixture(autouse=True)
def strict():
    context.set_context(jit_syntax_level=context.STRICT)
    yield
    context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)


def function_of(text):
    """The function `f` of a source that only Python's line cache holds."""
    global _count
    _count += 1
    name = f"<limit {_count}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"ops": ops, "ms": ms, "np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def lines_of(*parts):
    return "\n".join(["def f(x, p):", *("    " + p for p in parts)]) + "\n"


def both(text):
    """The results of both modes."""
    function = function_of(text)
    arguments = Tensor(X), Tensor(True)
    return ms.jit(function)(*arguments).asnumpy(), function(*arguments).asnumpy()


def deepest(make, low, high):
    """The greatest n for which CPython itself compiles make(n)."""
    while high - low > 1:
        middle = (low + high) // 2
        try:
            compile(make(middle), "<probe>", "exec")
            low = middle
        except (SyntaxError, MemoryError, RecursionError):
            high = middle
    return low - 10 if low > 200 else low  # the stack is a little deeper where it is compiled


def chain(count, first, other, last):
    """`first`, then `count` times `other`, then `last`."""
    return lines_of(
        "n = x.sum()", first, *(part.format(i) for i in range(count) for part in other), *last
    )


DEEP = {
    "parentheses": lambda n: lines_of("return " + "(" * n + "x" + ")" * n),
    "lists": lambda n: lines_of("y = " + "[" * n + "x" + "]" * n, f"for i in range({n}):", "    y = y[0]", "return y"),
    "sums": lambda n: lines_of("return " + " + ".join(["x"] * n)),
    "signs": lambda n: lines_of("return " + "-" * n + "x"),
    "methods": lambda n: lines_of("return x" + ".abs()" * n),
    "indices": lambda n: lines_of("return x" + "[:]" * n),
    "conjunctions": lambda n: lines_of("return x if " + " and ".join(["p"] * n) + " else -x"),
    "calls": lambda n: lines_of("g = lambda a: a * 0.5", "return " + "g(" * n + "x" + ")" * n),
    "lambdas": lambda n: lines_of("g = " + "lambda: (" * n + "x" + ")" * n, f"for i in range({n}):", "    g = g()", "return g"),
    "choices": lambda n: lines_of("n = x.sum()", "return " + "".join(f"x + {i}.0 if n == {i + 9} else " for i in range(n)) + "x"),
    "branches": lambda n: lines_of("n = x.sum()", *(" " * i + f"if n > {-i}:" for i in range(n)), " " * n + "x = x + 1", "return x"),
    "loops": lambda n: lines_of(*(" " * i + f"for i{i} in range(1):" for i in range(n)), " " * n + "x = x + 1", "return x"),
    "managers": lambda n: lines_of(*(" " * i + "try:" for i in range(n)), " " * n + "x = x + 1", *(" " * i + "finally:\n    " + " " * i + " x = x * 1.0" for i in reversed(range(n))), "return x"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_nesting_as_deep_as_cpython_goes(name):
    depth = deepest(DEEP[name], 1, 3000)
    assert depth >= 15
    np.testing.assert_array_equal(*both(DEEP[name](depth)))


LONG = {
    "elif on numbers": chain(1000, "k = 7", ["if k == {}:", "    return x * {}"], ["return x"]),
    "elif on tensors": chain(1000, "if n == -1:\n        y = x", ["elif n == {}:", "    y = x * {}"], ["else:", "    y = x", "return y"]),
    "early returns": chain(1000, "pass", ["if n > {} + 5:", "    return x * {}"], ["return x"]),
    "loops of tensors": chain(60, "pass", ["i = n * 0", "while i < 3:", "    i = i + 1", "    x = x + {}"], ["return x"]),
    "branches in a row": chain(1000, "pass", ["if n > 5:", "    x = x + {}"], ["return x"]),
    "statements": chain(20_000, "pass", ["x = x + 1"], ["return x"]),
    "statements of Python": chain(20_000, "k = 0", ["k = k + 1"], ["return x * k"]),
    "literals": lines_of("k = [" + ",".join(map(str, range(50_000))) + "]", "return x * k[7]"),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_long_functions(name):
    np.testing.assert_array_equal(*both(LONG[name]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tensors", "numbers"])
def test_100_000_statements(kind):
    part = "x = x + 1" if kind == "tensors" else "k = k + 1"
    np.testing.assert_array_equal(*both(chain(100_000, "k = 0", [part], ["return x * k"])))


@pytest.mark.slow
def test_10_megabytes_of_source():
    filler = "".join(
        f"def h{i}(x, y=1):\n    return [x, y, {i}, 'some text to fill the file']\n"
        for i in range(150_000)
    )
    text = (
        filler
        + "class A:\n    @staticmethod\n    def g(x):\n        return (x\n                + 1)\n"
        + lines_of("return A.g(x) * 2")
    )
    assert len(text) > 10e6
    np.testing.assert_array_equal(*both(text))


def calls(depth):
    """Functions that call each other so deep."""
    inner = "".join(f"def f{i}(x):\n    return f{i - 1}(x) + 1\n" for i in range(1, depth))
    return "def f0(x):\n    return x\n" + inner + lines_of(f"return f{depth - 1}(x)")


def test_calls_as_deep_as_python_allows():
    np.testing.assert_array_equal(*both(calls(700)))


def test_a_warning_from_the_deep_stack_names_the_users_line():
    context.set_context(jit_syntax_level=context.LAX)
    body = lines_of("y = x.asnumpy()[0]", "return f600(x) * float(y)")
    function = ms.jit(
        function_of(calls(601).replace("def f(x, p):\n    return f600(x)\n", "") + body)
    )
    with pytest.warns(ms.compile.errors.RunsEagerly) as caught:
        function(Tensor(X), Tensor(True))
    assert {w.filename for w in caught} == {__file__}


def test_deeper_calls_are_an_error():
    function = ms.jit(function_of(calls(10_000)))
    with pytest.raises(RecursionError, match="deep while compiling"):
        function(Tensor(X), Tensor(True))


@pytest.mark.slow
def test_10_000_nested_calls_where_the_user_lets_python_go_so_deep():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(12_000)
    try:
        np.testing.assert_array_equal(*both(calls(10_000)))
    finally:
        sys.setrecursionlimit(limit)


# A program for every class of node of Python's grammar. Each is the body of f; the class must occur in it.
GRAMMAR = {
    ast.FunctionDef: "def g(a):\n    return a * 2\nreturn g(x)",
    ast.AsyncFunctionDef: "async def g(a):\n    return a\nreturn x",
    ast.ClassDef: "class A:\n    k = 2\nreturn x * A.k",
    ast.Return: "return x",
    ast.Delete: "y = x\ndel y\nreturn x",
    ast.Assign: "y = z = x\n(a, *b), [c] = (y, z, 1), [2]\nreturn a * c",
    ast.AugAssign: "x += 1\nreturn x",
    ast.AnnAssign: "y: int = 2\nz: float\nreturn x * y",
    ast.For: "for i in range(3):\n    x = x + i\nelse:\n    x = x * 2\nreturn x",
    ast.AsyncFor: "async def g(a):\n    async for i in a:\n        pass\nreturn x",
    ast.While: "i = 0\nwhile i < 3:\n    i = i + 1\nelse:\n    x = x * i\nreturn x",
    ast.If: "if p:\n    x = x + 1\nelif x.ndim == 5:\n    pass\nelse:\n    x = -x\nreturn x",
    ast.With: "import contextlib\nwith contextlib.nullcontext(3) as k, contextlib.suppress():\n    x = x * k\nreturn x",
    ast.AsyncWith: "async def g(a):\n    async with a:\n        pass\nreturn x",
    ast.Match: "match x.ndim:\n    case 1:\n        return x\n    case _:\n        return -x",
    ast.Raise: "if x.ndim == 5:\n    raise ValueError('five') from None\nreturn x",
    ast.Try: "try:\n    x = x + 1\nexcept ValueError as e:\n    pass\nelse:\n    x = x * 2\nfinally:\n    x = x - 1\nreturn x",
    ast.Assert: "assert x.ndim == 1, 'rank'\nreturn x",
    ast.Import: "import math, os.path as path\nreturn x * math.pi",
    ast.ImportFrom: "from math import pi as k\nreturn x * k",
    ast.Global: "global KEPT\nreturn x",
    ast.Nonlocal: "k = 1\ndef g():\n    nonlocal k\n    k = 5\ng()\nreturn x * k",
    ast.Expr: "x + 1\nreturn x",
    ast.Pass: "pass\nreturn x",
    ast.Break: "for i in range(9):\n    x = x + i\n    if i == 3:\n        break\nreturn x",
    ast.Continue: "for i in range(9):\n    if i == 3:\n        continue\n    x = x + i\nreturn x",
    ast.BoolOp: "return x * (0 or 3) if p and True else x",
    ast.NamedExpr: "return x * (k := 3) + k",
    ast.BinOp: "return ((x + 1 - 2) * 3 / 4) ** 2 + x // 1 + x % 2 + (5 & 3 | 1 ^ 2) + (1 << 3 >> 1)",
    ast.UnaryOp: "return -x + +x * ~3 * (not 0)",
    ast.Lambda: "return (lambda a, *b, c=2, **d: a * c)(x)",
    ast.IfExp: "return x if p else -x",
    ast.Dict: "return {'a': x, **{'b': 2}}['a']",
    ast.Set: "return x * len({1, 2, 2})",
    ast.ListComp: "return [x * i for i in range(4) if i % 2][1]",
    ast.SetComp: "return x * len({i % 2 for i in range(4)})",
    ast.DictComp: "return {i: x * i for i in range(4)}[2]",
    ast.GeneratorExp: "return sum(x * i for i in range(4))",
    ast.Await: "async def g(a):\n    await a\nreturn x",
    ast.Yield: "def g():\n    yield 2\nreturn x * list(g())[0]",
    ast.YieldFrom: "def g():\n    yield from (1, 2)\nreturn x * list(g())[1]",
    ast.Compare: "return x * (1 < 2 <= 3 != 4) * (1 in (1, 2)) * (3 not in (1, 2)) * (x is x) * (x is not None)",
    ast.Call: "return ops.add(*(x,), **{'other': 2})",
    ast.FormattedValue: "return x * len(f'{1.5:.3f}')",
    ast.JoinedStr: "return x * len(f'{x.ndim!r:>{4}} {{}}')",
    ast.Constant: "return x * 2 * 1.5 * len('a') * len(b'bc') * (None is None) * (... is ...) * (2j * 1j).real",
    ast.Attribute: "return x.T * x.ndim",
    ast.Subscript: "return x[0] + (4, 5)[1]",
    ast.Starred: "a, *b = (1, 2, 3)\nreturn x * [*b, a][0]",
    ast.Name: "y = x\nreturn y",
    ast.List: "return [x, x][-1]",
    ast.Tuple: "return (x, x)[-1]",
    ast.Slice: "return x[::2] + x[:2] + x[1:]",
}
if sys.version_info >= (3, 11):
    GRAMMAR[ast.TryStar] = "try:\n    x = x + 1\nexcept* ValueError:\n    pass\nreturn x"
if sys.version_info >= (3, 12):
    GRAMMAR[ast.TypeAlias] = "type A = int\nreturn x"
if sys.version_info >= (3, 14):
    GRAMMAR[ast.TemplateStr] = "return x * len(t'{x.ndim}'.strings)"
    GRAMMAR[ast.Interpolation] = "return x * len(t'{x.ndim}'.values)"
# Classes that Python keeps for old programs and no longer makes.
OLD = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "slice"}


def test_the_programs_cover_the_grammar():
    classes = {
        c
        for _, c in inspect.getmembers(ast, inspect.isclass)
        if issubclass(c, (ast.stmt, ast.expr)) and c not in (ast.stmt, ast.expr)
    }
    assert {c for c in classes if c.__name__ not in OLD} == set(GRAMMAR)
    for kind, body in GRAMMAR.items():
        text = lines_of(*body.split("\n"))
        assert any(isinstance(n, kind) for n in ast.walk(ast.parse(text))), kind


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", GRAMMAR, ids=lambda k: k.__name__)
def test_every_statement_and_expression(kind):
    """Compiled whole, or refused with the line where only that is wanted; run eagerly otherwise."""
    function = function_of(lines_of(*GRAMMAR[kind].split("\n")))
    expected = function(Tensor(X), Tensor(True)).asnumpy()
    try:
        got = ms.jit(function)(Tensor(X), Tensor(True)).asnumpy()
    except TypeError as error:
        assert "<limit " in str(error) and "^" in str(error), error
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    context.set_context(jit_syntax_level=context.LAX)
    got = ms.jit(function)(Tensor(X), Tensor(True)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-6)
