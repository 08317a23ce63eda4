"""Faces: what ops have already, under the names and in the order of arguments of `mint`. A face is a line of a table.

Behind `=` stands what it is a face of: an op of the registry by its class name, before which the line is the signature that users
call, whose attributes go by their order or under their own names, so that the call costs nothing on the way; or a function of
`ops`, or a method of Tensor, whose signature it has but for the names that differ: `chunk = ops.chunk axis=dim`."""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import checked
from mindspore.ops import _bind


def read_faces(table: str) -> dict[str, str]:
    """The lines of a table by the names that they give."""
    lines = (line.strip() for line in table.strip().splitlines())
    return {re.split(r"\W", line, maxsplit=1)[0]: line for line in lines if line}


def face(line: str, module: str) -> Callable:
    """The function that a line stands for."""
    signature, _, meaning = (part.strip() for part in line.rpartition(" = "))
    source, *names = meaning.split()
    owner, _, wanted = source.rpartition(".")
    if not owner:
        return _bind.face(source, signature)
    function = getattr(Tensor if owner == "Tensor" else ops, wanted)
    shown = dict(pair.split("=") for pair in names)
    return _renamed(function, signature, shown, module) if shown else function


def _renamed(function: Callable, name: str, shown: dict[str, str], module: str) -> Callable:
    """The function with some of its parameters under other names, by which alone they may be given."""
    plain = inspect.unwrap(function)
    signature = inspect.signature(plain)
    if unknown := shown.keys() - signature.parameters.keys():
        raise ValueError(
            f"For '{name}', '{function.__name__}' has no parameters {sorted(unknown)}."
        )
    own = {theirs: ours for ours, theirs in shown.items()}
    hidden = shown.keys() - own.keys()

    def call(*args: Any, **named: Any) -> Any:
        if wrong := hidden & named.keys():
            raise TypeError(f"{name}() got an unexpected keyword argument '{min(wrong)}'")
        return plain(*args, **{own.get(n, n): value for n, value in named.items()})

    hints = typing.get_type_hints(plain, include_extras=True)
    parameters = [
        p.replace(name=shown.get(n, n), annotation=hints.get(n, p.empty))
        for n, p in signature.parameters.items()
    ]
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = module, function.__doc__
    call.__annotations__ = {shown.get(n, n): hint for n, hint in hints.items()}
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return checked(call)


def attribute_of(faces: dict[str, str], module: str, functions: Any) -> Callable[[str], Any]:
    """The `__getattr__` of a module of faces, and of functions that are more than that; each is made when it is first named, and kept
    there."""
    home = vars(sys.modules[module])

    def get(name: str) -> Any:
        if name in faces:
            value = face(faces[name], module)
        elif name in functions.__all__:
            value = getattr(functions, name)
        else:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return home.setdefault(name, value)

    return get
