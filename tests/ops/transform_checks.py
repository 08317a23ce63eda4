"""What is checked of jvp and vmap for every op, in terms of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import engine
import numpy as np
from engine import as_tuple, close, describe, registry, tensors
from rowlib import Args, Row

import mindspore
from mindspore import Tensor, jvp, vmap
from mindspore.ops import _transforms

ITEMS = 3


def at_places(op: dict, case: Args, places: tuple) -> Callable:
    """The op as a function of the inputs at `places`; the others stay what they are."""
    inputs = tensors(op, case)
    for place in places:
        inputs[place] = mindspore.Tensor(case.inputs[place])
    held = [x if i not in places else None for i, x in enumerate(inputs)]
    apply = mindspore._core.op(op["name"])
    attrs = case.attrs

    def call(*given):
        values = list(held)
        for place, value in zip(places, given):
            values[place] = value
        return apply(*values, **attrs)

    return call


# ---- forward mode ----------------------------------------------------------------------
def check_forward(row: Row, case: Args) -> None:
    """<u, J v> = <J^T u, v>: forward mode against reverse mode, as compiled and as eager code has it."""
    wide = engine.float64_case(row, case)
    if wide is None:
        return
    op = registry()[row.name]
    f = engine.Projected(row, wide)
    x, v = f.start(), f.direction()
    if f(*map(Tensor, x)) is None:  # no float64 comes out; the call also fixes the weights
        return
    wanted = engine.along(f.gradient(*map(Tensor, x)), v)
    points, directions = [Tensor(a) for a in x], [Tensor(a) for a in v]

    def fresh() -> Callable:  # what a call writes to is another one's
        return at_places(op, wide, f.positions)

    def project(tangents: object) -> float:
        return float(sum((t.asnumpy() * w).sum() for t, w in f.weighted(as_tuple(tangents))))

    mindspore.set_seed(7)
    what = f"forward mode of {row.name}({describe(wide)})"
    close(what, project(jvp(fresh(), points, directions)[1]), wanted)
    mindspore.set_seed(7)
    call = fresh()
    eager = _transforms._forward(lambda xs: call(*xs), points, directions)[1]
    close(f"eager {what}", project(eager), wanted)


def check_second_order(row: Row, case: Args) -> None:
    """Compiled second order, forward over reverse, against differences of the eager gradient."""
    wide = engine.float64_case(row, case)
    if wide is None:
        return
    op = registry()[row.name]
    f = engine.Projected(row, wide)
    x, v = f.start(), f.direction()
    if f(*map(Tensor, x)) is None:
        return
    u = f.direction()
    call = at_places(op, wide, f.positions)
    places = tuple(range(len(x)))

    def weighted(*active):
        total = None
        for t, w in f.weighted(as_tuple(call(*active))):
            term = (t * Tensor(w)).sum()
            total = term if total is None else total + term
        return total

    def slope(scalar, *active):
        gradients = as_tuple(mindspore.grad(scalar, places)(*active))
        total = None
        for g, b in zip(gradients, u):
            term = (g * Tensor(b)).sum()
            total = term if total is None else total + term
        return total

    def eager_slope(*active: Tensor) -> Tensor:
        mindspore.set_seed(7)
        return slope(f, *active)  # each call of which writes to Parameters of its own

    mindspore.set_seed(7)
    found = jvp(
        lambda *active: slope(weighted, *active), [Tensor(a) for a in x], [Tensor(a) for a in v]
    )[1]
    what = f"compiled second gradient of {row.name}({describe(wide)})"
    close(what, float(found.asnumpy()), engine.differences(eager_slope, x, v))


# ---- batches ----------------------------------------------------------------------
def items_of(x: np.ndarray) -> np.ndarray:
    """Other samples of the same values: turned along the first axis."""
    return np.stack([np.roll(x, k, axis=0) if x.ndim else x for k in range(ITEMS)])


def choices(op: dict, case: Args) -> Iterator[tuple]:
    """Which inputs differ between items: all, and each by itself."""
    updated = {i for _, i in op["updates"]}
    arrays = tuple(
        i for i, x in enumerate(case.inputs) if isinstance(x, np.ndarray) and i not in updated
    )
    if arrays:
        yield arrays
    if len(arrays) > 1:
        for i in arrays[:4]:
            yield (i,)


def check_batch(row: Row, case: Args) -> None:
    """vmap = one call for each item."""
    op = registry()[row.name]
    for places in choices(op, case):
        what = f"vmap of {row.name}({describe(case)}) over inputs {places}"
        call = at_places(op, case, places)
        given = [items_of(case.inputs[i]) for i in places]
        if op["updates"]:
            check_refused(what, call, given)
            continue
        mindspore.set_seed(7)
        together = as_tuple(vmap(call)(*[Tensor(a) for a in given]))
        single = [as_tuple(call(*[Tensor(a[k]) for a in given])) for k in range(ITEMS)]
        assert len(together) == len(single[0])
        for i, actual in enumerate(together):
            wanted = np.stack([s[i].asnumpy() for s in single])
            found = actual.asnumpy()
            assert found.shape == wanted.shape and found.dtype == wanted.dtype, (
                f"{what}: {found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
            )
            if not op["random"]:
                compare(what, found, wanted, row.tolerance(found.dtype))


def compare(what: str, found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    tolerance = max(tolerance, 1e-6)
    np.testing.assert_allclose(
        found.astype(wide), wanted.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
    )


def check_refused(what: str, call: Callable, given: list) -> None:
    """A Parameter cannot take another value for each item."""
    try:
        vmap(call)(*[Tensor(a) for a in given])
    except ValueError as error:
        assert "the same for all items" in str(error), f"{what}: {error}"
    else:
        raise AssertionError(f"{what} was not refused")
