"""Faces: what ops have already, under the names and in the order of arguments of `mint`. A face is a line of a table.

A line is the signature that users call, and behind `=` what it is a face of: an op of the registry by its class name, whose
attributes go by their order or under their own names, so that the call costs nothing on the way; or a function of `ops`, or a
method of Tensor, with the arguments that have other names there: `chunk(input, chunks, dim) = ops.chunk axis=dim`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.ops import _bind


def read_faces(table: str) -> dict[str, str]:
    """The lines of a table by the names that they give."""
    lines = (line.strip() for line in table.strip().splitlines())
    return {line.split("(", 1)[0]: line for line in lines if line}


def face(line: str, module: str) -> Callable:
    """The function that a line stands for."""
    signature, _, meaning = (part.strip() for part in line.rpartition(" = "))
    source, *names = meaning.split()
    owner, _, wanted = source.rpartition(".")
    if not owner:
        return _bind.face(source, signature)
    function = getattr(Tensor if owner == "Tensor" else ops, wanted)
    own = {theirs: ours for ours, _, theirs in (pair.partition("=") for pair in names)}
    return _renamed(function, signature, own, module) if own else function


def _renamed(function: Callable, signature: str, own: dict[str, str], module: str) -> Callable:
    name = signature.split("(", 1)[0]

    def call(*args: Any, **named: Any) -> Any:
        for other in own.keys() & named.keys():
            named[own[other]] = named.pop(other)
        return function(*args, **named)

    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = module, function.__doc__
    call.__signature__ = _signature_of(function, own)  # type: ignore[attr-defined]
    return call


def _signature_of(function: Callable, own: dict[str, str]) -> inspect.Signature:
    names = {ours: theirs for theirs, ours in own.items()}
    signature = inspect.signature(function)
    parameters = [p.replace(name=names.get(p.name, p.name)) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters)


def attribute_of(faces: dict[str, str], module: str, functions: Any) -> Callable[[str], Any]:
    """The `__getattr__` of a module of faces, and of functions that are more than that; each is made when it is first named."""

    def get(name: str) -> Any:
        if name in faces:
            value = face(faces[name], module)
        elif name in functions.__all__:
            value = getattr(functions, name)
        else:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return value

    return get
