"""The gradient of each op by one input alone, of one output alone, fused with elementwise work on both sides, against eager
mode: what nobody reads must not be made, and must not be missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engine
import numpy as np
import pytest
from engine import as_tuple, describe, registry, tensors
from rowlib import ROWS, Args, Row

import mindspore
from mindspore import Tensor, _core, context

DIFFERENTIABLE = [
    pytest.param(row, case, id=f"{name}-{i}", marks=[pytest.mark.slow] if i else [])
    for name, row in sorted(ROWS.items())
    if row.grad
    for i, case in enumerate(row.good)
]
FLOATS = ("float16", "bfloat16", "float32", "float64")


def floats(values: list) -> list[int]:
    return [
        i for i, x in enumerate(values) if isinstance(x, Tensor) and str(x.dtype).lower() in FLOATS
    ]


def slope(op: dict, case: Args, place: int, output: int) -> Callable:
    """A function of all tensors of the case and of a one, that gives the gradient of an output by the input at `place`."""
    apply = _core.op(op["name"])
    held = list(case.inputs)
    places = [i for i, x in enumerate(held) if isinstance(x, np.ndarray)]
    updated = {i for _, i in op["updates"]}
    attrs = case.attrs

    def call(one, *given):
        values = list(held)
        for i, value in zip(places, given):
            values[i] = value

        def of_one(x):
            inside = list(values)
            inside[place] = x * one.astype(x.dtype)
            y = as_tuple(apply(*inside, **attrs))[output]
            return mindspore.ops.tanh(y) * one.astype(y.dtype)

        x = values[place]
        return mindspore.grad(of_one)(x) * one.astype(x.dtype) + x

    assert place not in updated
    return call


def outcome(run: Callable, op: dict, case: Args) -> Any:
    """The gradient as an array; at a kink also the first line of what refuses it."""
    given = [x for x in tensors(op, case) if isinstance(x, Tensor)]
    mindspore.set_seed(7)
    try:
        return run(Tensor(1.0, mindspore.float32), *given).asnumpy()
    except ValueError as error:
        if not case.kink:
            raise
        return str(error).partition("\n")[0]


def check(row: Row, case: Args, place: int, output: int) -> None:
    op = registry()[row.name]
    call = slope(op, case, place, output)
    results = [outcome(run, op, case) for run in (call, mindspore.jit(call))]
    if case.kink and isinstance(results[0], str):  # none there: of a singular matrix, say
        assert not isinstance(results[1], str) or results[1] == results[0]  # or not even computed
        return
    eager, compiled = results
    what = f"gradient of output {output} of {row.name}({describe(case)}) by input {place}"
    assert eager.shape == compiled.shape and eager.dtype == compiled.dtype, what
    wide = np.float64
    step = {"float16": 1e-3, "bfloat16": 1e-2, "float64": 1e-12}.get(eager.dtype.name, 1e-5)
    finite = np.abs(eager.astype(wide)[np.isfinite(eager.astype(wide))])
    scale = float(finite.max()) if finite.size else 1.0
    np.testing.assert_allclose(
        compiled.astype(wide),
        eager.astype(wide),
        rtol=4 * step,
        atol=4 * step * scale,
        err_msg=what,
    )


@pytest.mark.parametrize(("row", "case"), DIFFERENTIABLE)
def test_by_one_input_of_one_output(row: Row, case: Args) -> None:
    op = registry()[row.name]
    context.set_context(mode=context.PYNATIVE_MODE)
    updated = {i for _, i in op["updates"]}
    inputs = tensors(op, case)
    chosen = row.grad if isinstance(row.grad, engine.Wrt) else None
    outputs = floats(list(as_tuple(engine.call(op, inputs, case.attrs))))
    for place in floats(inputs):
        if place in updated or (chosen is not None and place not in chosen.inputs):
            continue
        for output in outputs:
            if chosen is None or chosen.outputs is None or output in chosen.outputs:
                check(row, case, place, output)
