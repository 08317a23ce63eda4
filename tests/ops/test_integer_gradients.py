"""Gradients by integer inputs, of every op that takes them: the same in both modes, and of the type of the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import engine
import numpy as np
import pytest
from engine import admitted, as_tuple, registry, tensors
from rowlib import ROWS, Args, Row

import mindspore
from mindspore import Tensor, context

WITHOUT = {"CTCBackward"}  # its floats have no gradient, nor have its labels
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")


def takes(op: dict, case: Args) -> bool:
    """Whether integers are taken with these attributes: images are chosen from, but not mixed."""
    try:
        engine.call(op, tensors(op, case), case.attrs)
    except TypeError:
        return False
    return True


def integer_cases(row: Row) -> Iterator[Args]:
    """The cases of a row with integers wherever the op takes them."""
    op = registry()[row.name]
    for case in row.good:
        yield case
        inputs = list(case.inputs)
        for i, x in enumerate(inputs):
            if isinstance(x, np.ndarray) and x.dtype == np.float32 and "int32" in admitted(op, i):
                with np.errstate(invalid="ignore"):
                    inputs[i] = np.nan_to_num(np.rint(3 * x), posinf=9, neginf=-9).astype(np.int32)
        if any(a is not b for a, b in zip(inputs, case.inputs)):
            made = Args(tuple(inputs), case.attrs)
            if takes(op, made):
                yield made


CASES = [
    pytest.param(row, case, id=f"{name}-{i}")
    for name, row in sorted(ROWS.items())
    if name in registry() and name not in WITHOUT and not registry()[name]["updates"]
    for i, case in enumerate(integer_cases(row))
    if any(isinstance(x, np.ndarray) and x.dtype.name in INTEGERS for x in case.inputs)
]


def by(op: dict, case: Args, place: int) -> tuple[Callable, list]:
    """A function of the tensors of the case that sums its outputs, to be differentiated by the one at `place`, and these."""
    given = tensors(op, case)
    moved = [x for x in given if type(x) is Tensor]

    def total(*values: Tensor) -> Any:
        items = iter(values)
        inputs = [next(items) if type(x) is Tensor else x for x in given]
        outputs = as_tuple(engine.call(op, inputs, case.attrs))
        terms = [y.astype(mindspore.float64).sum() for y in outputs if y.dtype != mindspore.bool_]
        return sum(terms[1:], terms[0]) if terms else outputs[0]

    position = sum(type(x) is Tensor for x in given[:place])
    return mindspore.grad(total, position), moved


@pytest.mark.parametrize(("row", "case"), CASES)
def test_both_modes_agree(row: Row, case: Args) -> None:
    op = registry()[row.name]
    for place, x in enumerate(case.inputs):
        if not isinstance(x, np.ndarray) or x.dtype.name not in INTEGERS:
            continue
        results = []
        for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
            context.set_context(mode=mode)
            gradient, given = by(op, case, place)
            results.append(gradient(*given).asnumpy())
        eager, compiled = results
        assert eager.dtype == x.dtype and eager.shape == x.shape
        np.testing.assert_array_equal(eager, compiled)
