"""Fused bodies written as graph text, for tests of the kernels that are generated for them."""

from __future__ import annotations

import importlib.util
from typing import Any

from mindspore import Tensor, _core


def type_text(tensor: Tensor) -> str:
    """Float32[2, 3]."""
    return f"{tensor.dtype!s}[{', '.join(map(str, tensor.shape))}]"


def program(lines: str, inputs: list[Tensor], results: dict[str, str]) -> Any:
    """A program of one Fused node. `lines` name the inputs a0, a1, ...; `results` are names of values and their types."""
    pairs = [(f"a{i}", type_text(t)) for i, t in enumerate(inputs)]
    head = ", ".join(f"{name}: {text}" for name, text in pairs)
    types = ", ".join(results.values())
    outs = ", ".join(f"%out{i}" for i in range(len(results)))
    text = (
        f"graph main({head}) -> ({types}) {{\n"
        f"  {outs} = Fused({', '.join(name for name, _ in pairs)}, body=@body)\n"
        f"  return {outs}\n}}\n"
        f"graph body({head}) -> ({types}) {{\n{lines}\n  return {', '.join(results)}\n}}\n"
    )
    _core.assembler.generate_always(True)
    try:
        return _core.assembler.TextProgram(text)
    finally:
        _core.assembler.generate_always(False)


def run(lines: str, inputs: list[Tensor], results: dict[str, str]) -> list[Tensor]:
    """The results of a body."""
    return program(lines, inputs, results).run(*inputs)


def available() -> bool:
    """Whether kernels can be generated here."""
    return importlib.util.find_spec("llvmlite") is not None
