"""Ops in graphs that are cut at random and run as several processes would, by threads of this one: as one process runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import engine
import numpy as np
from engine import arrays, as_tuple, describe, registry
from rowlib import Args, Row
from transform_checks import at_places

import mindspore
from mindspore import Tensor, _core

MESHES = ((2,), (3,), (2, 2))


@contextmanager
def rehearsal(mesh: tuple[int, ...], seed: int) -> Iterator[None]:
    """Graphs that are compiled inside are cut at random over a mesh of threads."""
    _core.set_rehearsal(mesh, seed)
    try:
        yield
    finally:
        _core.set_rehearsal(())


def both(make: Callable[[], Callable], given: list, mesh: tuple, seed: int) -> tuple[list, list]:
    """What a function gives compiled whole, and in pieces. `make`: for each a new one."""
    mindspore.set_seed(7)
    whole = arrays(mindspore.jit(make())(*given))
    mindspore.set_seed(7)
    with rehearsal(mesh, seed):
        pieces = arrays(mindspore.jit(make())(*given))
    return whole, pieces


def same(what: str, pieces: list, whole: list, row: Row, loose: np.dtype) -> None:
    """Whole numbers to the bit, floats up to the order of sums."""
    assert len(pieces) == len(whole), what
    for i, (found, wanted) in enumerate(zip(pieces, whole)):
        engine.compare(row, f"{what} output {i}", found, wanted, loose)


def check_values(row: Row, case: Args, seed: int) -> None:
    op = registry()[row.name]
    inputs = engine.tensors(op, case)
    plain = all(type(x) is Tensor for x in inputs)

    def make() -> Callable:
        fresh = engine.tensors(op, case)
        if plain:
            return engine.traced(op, case.attrs, len(fresh))
        return engine.constant_call(op, fresh, case.attrs)

    given = [x for x in inputs if type(x) is Tensor]
    mesh = MESHES[seed % len(MESHES)]
    whole, pieces = both(make, given, mesh, seed)
    what = f"{row.name}({describe(case)}) over {mesh}, seed {seed}"
    same(what, pieces, whole, row, engine.loosest(case))


def check_gradient(row: Row, case: Args, seed: int) -> None:
    wide = engine.float64_case(row, case)
    if wide is None:
        return
    op = registry()[row.name]
    f = engine.Projected(row, wide)
    mindspore.set_seed(7)
    if not f.positions or f(*map(Tensor, f.start())) is None:
        return
    places = tuple(range(len(f.positions)))

    def make() -> Callable:
        call = at_places(op, wide, f.positions)

        def weighted(*active: Tensor) -> Any:
            total = None
            for t, w in f.weighted(as_tuple(call(*active))):
                term = (t * Tensor(w)).sum()
                total = term if total is None else total + term
            return total

        return lambda *active: mindspore.grad(weighted, places)(*active)

    mesh = MESHES[seed % len(MESHES)]
    whole, pieces = both(make, [Tensor(x) for x in f.start()], mesh, seed)
    what = f"gradient of {row.name}({describe(wide)}) over {mesh}, seed {seed}"
    same(what, pieces, whole, row, np.dtype(np.float64))
