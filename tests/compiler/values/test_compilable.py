"""What compilation asks of a Cell beside its public names, a Cell has."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, nn
from mindspore.compile.values.compilable import BOOKKEEPING, SETTINGS, Compilable, Options

PRIVATE = [n for n in vars(Compilable) if n.startswith("_") and not n.startswith("__")]


def test_a_cell_is_what_the_compiler_takes_it_for() -> None:
    """The methods and settings that a Cell has from its class."""
    methods = [n for n in PRIVATE if callable(getattr(nn.Cell, n, None))]
    assert {"_run_eagerly", "_run_special", "_cast_inputs", "_cast_parameter"} <= set(methods)
    cell = nn.Dense(2, 2)
    annotated = [n for n in Compilable.__annotations__ if not hasattr(cell, n)]
    assert not annotated
    assert not [n for n in SETTINGS if n != "bprop" and not hasattr(nn.Cell, n)]


def test_only_bookkeeping_is_left_by_a_call() -> None:
    """What a call adds to the attributes of a Cell, no graph depends on."""
    cell = nn.Dense(2, 2)
    before = set(vars(cell))
    cell.compile(Tensor(np.ones((1, 2), np.float32)))
    assert set(vars(cell)) - before <= BOOKKEEPING


def test_options() -> None:
    """How a Cell asks to be compiled."""
    cell = nn.Dense(2, 2)
    assert Options.of(vars(cell)) == Options(False, None, True)
    cell.set_inputs(Tensor(shape=[None, 2], dtype=cell.weight.dtype))
    assert Options.of(vars(cell)).signature is not None
