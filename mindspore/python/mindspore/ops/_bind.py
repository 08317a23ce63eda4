"""Python names of ops, made from the registry: functions, Tensor methods and Primitive classes. Nothing here knows any op."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._user_primitive import DECLARED
from mindspore.ops.primitive import DeclaredPrimitive

Parameter = tuple[str, Any, bool]  # name, default, has a default


def _split_signature(text: str) -> tuple[str, list[list[Parameter]]]:
    """`"ReduceSum(keep_dims=False)(x, axis=())"` to its name and one parameter list per pair of parentheses."""
    name = text.split("(", 1)[0].strip()
    groups, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char == "(":
            if depth == 0:
                start = i + 1
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                groups.append(_parameters(text[start:i]))
    return name, groups


def _parameters(text: str) -> list[Parameter]:
    arguments = ast.parse(f"lambda {text}: 0", mode="eval").body.args  # type: ignore[attr-defined]
    names = [a.arg for a in arguments.args]
    first = len(names) - len(arguments.defaults)
    result: list[Parameter] = [(n, None, False) for n in names[:first]]
    for n, default in zip(names[first:], arguments.defaults):
        try:
            result.append((n, ast.literal_eval(default), True))
        except ValueError:
            result.append((n, None, True))  # the name of a constant: the declared default holds
    return result


def _call_names(op: dict, parameters: list[Parameter]) -> list[str]:
    """The parameters of a call as the core wants them: `shown@declared` is an attribute under another name.

    What is called as an attribute is that attribute; the others are the inputs in order, and then the attributes."""
    attributes = [a[0] for a in op["attributes"]]
    left = iter([a for a in attributes if a not in {p for p, _, _ in parameters}])
    inputs = len(op["inputs"])
    names = []
    for parameter, _, _ in parameters:
        if parameter in attributes:
            names.append(parameter)
        elif inputs:
            inputs -= 1
            names.append(parameter)
        else:
            names.append(f"{parameter}@{next(left)}")
    return names


def _make_function(op: dict, signature: str) -> tuple[str, Callable]:
    name, (parameters,) = _split_signature(signature)
    return name, _core.make_function(op["name"], name, _call_names(op, parameters))


def _make_class(op: dict, name: str, constructor: list[Parameter], call: list[str]) -> type:
    defaults = {n: d for n, d, _, _ in op["attributes"]}
    required = {n for n, _, r, _ in op["attributes"] if r}
    accepted = [
        (n, d if has else defaults.get(n), has or n not in required) for n, d, has in constructor
    ]
    return type(
        name,
        (DeclaredPrimitive,),
        {
            "__doc__": op["doc"],
            "__module__": "mindspore.ops.operations",
            "_op": op["name"],
            "_constructor": accepted,
            "_call_names": call,
            "_attributes": frozenset(defaults),
            "_updates": op["updates"],
        },
    )


def _inputs_as_called(op: dict) -> list[str]:
    """The inputs under the names that the first function gives them, or their own."""
    for signature in op["functions"]:
        (parameters,) = _split_signature(signature)[1]
        names = _call_names(op, parameters)
        inputs = [n for n in names if "@" not in n and n not in {a[0] for a in op["attributes"]}]
        if len(inputs) == len(op["inputs"]):
            return inputs
    return [i[0] for i in op["inputs"]]


def _classes_of(op: dict) -> dict[str, type]:
    signatures = [s for s in op["classes"] if "(" in s]
    aliases = [s for s in op["classes"] if "(" not in s]
    made = {}
    for signature in signatures:
        name, groups = _split_signature(signature)
        constructor = groups[0] if len(groups) > 1 else []
        made[name] = _make_class(op, name, constructor, _call_names(op, groups[-1]))
    if not signatures:
        constructor = [(n, d, not r) for n, d, r, _ in op["attributes"]]
        made[op["name"]] = _make_class(op, op["name"], constructor, _inputs_as_called(op))
    first = next(iter(made.values()))
    made.update(dict.fromkeys(aliases, first))
    return made


class _Bound:
    """The functions by attribute, for compositions: `bound.add(x, y)`."""

    def __init__(self, functions: dict[str, Callable]):
        self.__dict__.update(functions)


functions: dict[str, Callable] = {}
methods: dict[str, Callable] = {}
classes: dict[str, type] = {}


def _bind_all() -> None:
    for op in _core.registry():
        if op["structural"] or op["internal"]:
            continue
        for signature in op["functions"]:
            name, function = _make_function(op, signature)
            functions[name] = function
        for signature in op["methods"]:
            name, function = _make_function(op, signature)
            methods[name] = function
            setattr(Tensor, name, function)
        classes.update(_classes_of(op))
    DECLARED.update(classes)


_bind_all()
bound: Any = _Bound(functions)  # Any: its attributes come from the registry


def face(name: str, signature: str) -> Callable:
    """An op of the registry as a function of another signature: `face("Concat", "cat(tensors, dim=0)")`."""
    op = next(op for op in _core.registry() if op["name"] == name)
    declared = {a[0]: a[1] for a in op["attributes"]}
    _, (parameters,) = _split_signature(signature)
    for (shown, default, _), called in zip(parameters, _call_names(op, parameters)):
        of_op = declared.get(called.rpartition("@")[2])
        if default not in (None, (), of_op) and of_op is not None:
            raise ValueError(
                f"For '{name}', '{shown}' is {of_op} by default, but not in {signature}."
            )
    return _make_function(op, signature)[1]


def function_named(name: str) -> Callable | None:
    """The function of an op, for copies of what is pickled."""
    return functions.get(name)


def raw(name: str) -> Callable:
    """The op itself: inputs by position, attributes by keyword."""
    return _core.op(name)
