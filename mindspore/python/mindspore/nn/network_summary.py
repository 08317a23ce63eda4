"""summary: the cells of a network in a table, with what goes through them and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore import _core, context
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._conv_base import _Conv
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv_transpose import _ConvTranspose
from mindspore.nn.layer.rnn_cells import _RNNCellBase
from mindspore.nn.layer.rnns import _Recurrent


class CellRow(NamedTuple):
    """One cell of a NetworkSummary. What is not known is None."""

    name: str  # "" for the network itself
    kind: str
    depth: int
    output: str  # shapes of what it returns
    parameters: int  # elements of its own, those in the cells inside not counted
    flops: int | None


class NetworkSummary:
    """What `summary` returns; its text is the table.

    Attributes: `rows` (of CellRow), `parameters` and `trainable` (elements), `parameter_bytes`, `output_bytes` (what the innermost
    cells return, which a training keeps for gradients; None without inputs) and `flops` (None without inputs).
    """

    def __init__(self, rows: list[CellRow], parameters: list[Parameter], output_bytes: int | None):
        self.rows = rows
        self.parameters = sum(int(p.size) for p in parameters)
        self.trainable = sum(int(p.size) for p in parameters if p.requires_grad)
        self.parameter_bytes = sum(int(p.size) * int(p.itemsize) for p in parameters)
        self.output_bytes = output_bytes
        known = [row.flops for row in rows if row.flops is not None]
        self.flops = None if output_bytes is None else sum(known)

    def __str__(self) -> str:
        head = ("cell", "output", "parameters", "FLOPs")
        lines = [head]
        for row in self.rows:
            label = (
                "  " * row.depth
                + (f"{row.name.rpartition('.')[2]}: " if row.name else "")
                + row.kind
            )
            flops = "" if row.flops is None else f"{row.flops:,}"
            lines.append((label, row.output, f"{row.parameters:,}", flops))
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        texts = [
            f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}".rstrip()
            for a, b, c, d in lines
        ]
        rule = "-" * max(map(len, texts))
        end = [
            f"parameters: {self.parameters:,} ({self.trainable:,} trainable), {_bytes(self.parameter_bytes)}"
        ]
        if self.flops is not None and self.output_bytes is not None:
            end.append(f"outputs of layers: {_bytes(self.output_bytes)}")
            end.append(f"FLOPs of a forward pass: {self.flops:,}")
        return "\n".join([texts[0], rule, *texts[1:], rule, *end])

    __repr__ = __str__


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024 or unit == "GB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def summary(net: Cell, *inputs: Any) -> NetworkSummary:
    """The cells of a network with the shapes of their outputs, their parameters, their FLOPs, and the memory of it all.

    With inputs the network runs once, line by line and as in inference. FLOPs are the multiplications and additions of
    convolutions, dense and recurrent layers; ops that a construct of your own calls are not counted.

    Args:
        net: the network.
        inputs: what it is called with; a tuple of ints stands for a Tensor of ones of that shape. Without any, only parameters are
            told.

    Examples:
        >>> print(ms.summary(net, (1, 3, 224, 224)))
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'summary', 'net' must be a Cell, but got {type(net).__name__}.")
    seen: dict[int, _Note] = {}
    if inputs:
        _run(net, [_input(value) for value in inputs], seen)
    rows, counted = [], set[int]()
    output_bytes = 0
    for name, cell in net.cells_and_names():
        own = [p for _, p in cell.parameters_and_names(expand=False)]
        fresh = [p for p in own if id(p) not in counted]
        counted.update(id(p) for p in own)
        note = seen.get(id(cell), _Note("", 0, None))
        if not cell.name_cells():
            output_bytes += note.output_bytes
        depth, elements = name.count(".") + bool(name), sum(int(p.size) for p in fresh)
        rows.append(CellRow(name, type(cell).__name__, depth, note.output, elements, note.flops))
    parameters = [p for _, p in net.parameters_and_names()]
    return NetworkSummary(rows, parameters, output_bytes if inputs else None)


def _input(value: Any) -> Any:
    if isinstance(value, tuple) and value and all(type(n) is int and n >= 0 for n in value):
        size = math.prod(value)
        return Tensor([1.0], mstype.float32).broadcast_to((size,)).reshape(value)
    return value


class _Note(NamedTuple):
    """What the calls of one cell returned and cost."""

    output: str
    output_bytes: int
    flops: int | None


def _run(net: Cell, inputs: list[Any], seen: dict[int, _Note]) -> None:
    """Run the network with hooks that note what its cells return."""
    modes = [(cell, cell.training) for _, cell in net.cells_and_names()]
    mode, state = context.get_context("mode"), _core.get_random_state()
    handles = [cell.register_forward_hook(_noting(seen)) for cell, _ in modes]
    try:
        context.set_context(mode=context.PYNATIVE_MODE)
        net.set_train(False)
        net(*inputs)
    finally:
        context.set_context(mode=mode)
        for handle in handles:
            handle.remove()
        for cell, training in modes:
            cell.training = training
        _core.set_random_state(*state)


def _noting(seen: dict[int, _Note]) -> Callable[..., None]:
    def note(cell: Any, inputs: Any, output: Any) -> None:
        before = seen.get(id(cell), _Note("", 0, None))
        flops = _flops(cell, inputs, output)
        if flops is not None and before.flops is not None:
            flops += before.flops
        seen[id(cell)] = _Note(_shapes(output), before.output_bytes + _bytes_of(output), flops)

    return note


def _flops(cell: Any, inputs: Any, output: Any) -> int | None:
    """Of a layer with products; a cell that is called several times has the sum."""
    x = inputs[0] if isinstance(inputs, tuple) and inputs else inputs
    if not isinstance(x, Tensor):
        return None
    if isinstance(cell, _ConvTranspose):
        return 2 * int(x.size) * (int(cell.weight.size) // int(cell.weight.shape[0]))
    if isinstance(cell, (_Conv, Dense)):
        products = 2 * int(output.size) * (int(cell.weight.size) // int(cell.weight.shape[0]))
        return products + (int(output.size) if cell.has_bias else 0)
    if isinstance(cell, (_Recurrent, _RNNCellBase)):
        matrices = sum(int(p.size) for p in cell.get_parameters() if p.ndim > 1)
        return 2 * matrices * math.prod(int(n) for n in x.shape[:-1])
    return None


def _tensors(output: Any) -> list[Tensor]:
    if isinstance(output, Tensor):
        return [output]
    if isinstance(output, (tuple, list)):
        return [tensor for item in output for tensor in _tensors(item)]
    return []


def _bytes_of(output: Any) -> int:
    return sum(int(t.size) * int(t.itemsize) for t in _tensors(output))


def _shapes(output: Any) -> str:
    return ", ".join(str(tuple(int(n) for n in t.shape)) for t in _tensors(output))


__all__ = ["CellRow", "NetworkSummary", "summary"]
