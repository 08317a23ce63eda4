"""Every op by its row (rows/*.py): values, modes, types, gradients, layouts, refusals."""

from __future__ import annotations

import engine
import pytest
import shard_checks
import transform_checks
from rowlib import ROWS, Args, Row

CASES = [
    pytest.param(row, case, id=f"{name}-{i}")
    for name, row in sorted(ROWS.items())
    for i, case in enumerate(row.good)
]
REFUSALS = [
    pytest.param(row, case, id=f"{name}-{i}")
    for name, row in sorted(ROWS.items())
    for i, case in enumerate(row.bad)
]
DIFFERENTIABLE = [p for p in CASES if p.values[0].grad]


def test_every_op_has_a_row() -> None:
    """A registered op without a row fails here, and so does a row of no op."""
    assert sorted(set(engine.registry()) - set(ROWS)) == []
    assert sorted(set(ROWS) - set(engine.registry())) == []


def test_rows_with_gradients_have_them() -> None:
    ops = engine.registry()
    assert [
        n for n, row in ROWS.items() if row.grad and n in ops and not ops[n]["differentiable"]
    ] == []


# Declared with a gradient, but of another kind than differences show: no float comes out, it takes no tensor, it is zero by
# decision, or the input is a Parameter that gets a new value.
WITHOUT_DIFFERENCES = {
    "truth values": "ApproximateEqual Equal Greater GreaterEqual IsClose IsFinite IsInf IsNan Less LessEqual LogicalAnd "
    "LogicalNot LogicalOr LogicalXor NotEqual",
    "values of no tensor": "Number ShardNumber SizeScalar",
    "several processes, tested with them": "Receive Send",
    "integers": "FitNumber CheckDivisor",
    "complex numbers": "MatrixLogarithm",
    "first order only, tested with the losses": "CTCForward",
    "by decision": "HostCall StopGradient",
    "Parameters": "ApplyMomentum Assign AssignAdd AssignSub",
}


def test_every_differentiable_op_is_differentiated() -> None:
    """To second order, forward and backward, in some case of its row."""
    tested = {p.values[0].name for p in DIFFERENTIABLE if engine.float64_case(*p.values)}
    exempt = {name for names in WITHOUT_DIFFERENCES.values() for name in names.split()}
    differentiable = {name for name, op in engine.registry().items() if op["differentiable"]}
    assert differentiable - tested == exempt


@pytest.mark.parametrize(("row", "case"), CASES)
def test_eager(row: Row, case: Args) -> None:
    engine.check_eager(row, case)


@pytest.mark.parametrize(("row", "case"), CASES)
def test_graph(row: Row, case: Args) -> None:
    engine.check_graph(row, case)


@pytest.mark.parametrize(("row", "case"), CASES)
def test_layouts(row: Row, case: Args) -> None:
    engine.check_layouts(row, case)


@pytest.mark.parametrize(("row", "case"), DIFFERENTIABLE)
def test_gradient(row: Row, case: Args) -> None:
    engine.check_gradient(row, case)


@pytest.mark.parametrize(("row", "case"), DIFFERENTIABLE)
def test_forward_mode(row: Row, case: Args) -> None:
    transform_checks.check_forward(row, case)


@pytest.mark.parametrize(("row", "case"), DIFFERENTIABLE)
def test_compiled_second_order(row: Row, case: Args) -> None:
    transform_checks.check_second_order(row, case)


@pytest.mark.parametrize(("row", "case"), CASES)
def test_batch(row: Row, case: Args) -> None:
    transform_checks.check_batch(row, case)


@pytest.mark.parametrize(("row", "case"), CASES)
def test_sharding(row: Row, case: Args) -> None:
    shard_checks.check_sharding(row, case)


@pytest.mark.parametrize(("row", "case"), REFUSALS)
def test_refusal(row: Row, case: Args) -> None:
    engine.check_refusal(row, case)
