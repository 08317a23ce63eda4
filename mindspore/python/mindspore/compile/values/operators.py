"""Python's operators: their names, which are those of special methods, the nodes of the syntax tree, and what computes them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def function_of(name: str) -> Callable:
    """What computes the operator of this name."""
    return getattr(operator, name + "_" if name in ("and", "or") else name)


BINARY = {node: function_of(name) for node, name in ARITHMETIC.items()}
UNARY: dict[type[ast.unaryop], Callable] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}

# The methods of an operator: of the left operand, and of the right one.
BINARY_METHODS = {function_of(n): (f"__{n}__", f"__r{n}__") for n in ARITHMETIC.values()} | {
    function_of(n): (f"__{n}__", f"__{m}__") for n, m in MIRRORED.items()
}
UNARY_METHODS = {function_of(n): f"__{n}__" for n in ("neg", "pos", "invert")}
