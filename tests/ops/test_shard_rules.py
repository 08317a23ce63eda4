"""Sharding rules as facts: what Python reads of them, which ops have none that can be cut, and that the check of rules bites."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import shard_checks
from rowlib import ROWS

import mindspore as ms
from mindspore import Tensor, _core

# Ops that no case of a row cuts: one number, results that need all that came before, or what only a device reads.
NEVER_CUT = {
    "numbers": "Number SizeScalar RandomOffset SetRandomOffset",
    "positions": "Diag DiagPart Eye LinSpace Range",
    "random": "DropoutKey RandomPermutation",
    "packed": "MatMulPacked PackMatrix PackWeight",
    "Python": "HostCall",
    "processes": "AllGather AllReduce AwaitSums Barrier Broadcast Exchange Receive ReduceScatter Send ShardEnter ShardExchange "
    "ShardGather ShardNumber ShardScatter ShardSlice ShardSum StageMove StartSum",
}


def test_every_other_op_is_cut() -> None:
    """A rule that leaves everything whole is listed, so that none comes in unseen."""
    cut = {
        name
        for name, row in ROWS.items()
        if any(list(shard_checks.cuts_of(shard_checks.rule_of(name, c) or {})) for c in row.good)
    }
    assert sorted(set(ROWS) - cut) == sorted(" ".join(NEVER_CUT.values()).split())


# Ops that a rule cuts, but no case of a row can be run so: rows of the neighbours, or a seed for each part.
CUT_BUT_NOT_RUN: set[str] = set()


@pytest.mark.parametrize("name", sorted(set(ROWS) - set(" ".join(NEVER_CUT.values()).split())))
def test_parts_are_run(name: str) -> None:
    """The check of an op's rule compares something."""
    tried = any(shard_checks.check_sharding(ROWS[name], case) for case in ROWS[name].good)
    assert tried != (name in CUT_BUT_NOT_RUN)


def test_a_rule_in_python() -> None:
    rule = _core.shard_rule("MatMul", [(ms.float32, (2, 3)), Tensor([[1.0], [2.0], [3.0]])])
    facts = {n: (f["size"], f["mark"], f["by"], f["splits"]) for n, f in rule["factors"].items()}
    assert facts == {
        "m": (2, "", None, True),
        "k": (3, "sum", None, True),
        "n": (1, "", None, False),
    }
    assert rule["operands"] == [[["m"], ["k"]], [["k"], ["n"]]]
    assert rule["results"] == [[["m"], ["n"]]]
    assert rule["sizes"] == {} and rule["seeded"] is False


def test_attributes_and_numbers() -> None:
    rule = _core.shard_rule("Softmax", [(ms.float32, (2, 3))], {"axis": 0})
    assert [f["mark"] for f in rule["factors"].values()] == ["whole", ""]
    rule = _core.shard_rule("Reshape", [(ms.int32, (6, 4))], {"shape": (2, -1)})
    assert rule["operands"] == [[["f0", "f1"], ["f2"]]] and rule["results"] == [
        [["f0"], ["f1", "f2"]]
    ]
    assert rule["sizes"] == {"shape": [["f0"], ["f1", "f2"]]}
    assert _core.shard_rule("Add", [(ms.int32, (2,)), 1.5])["operands"] == [[["...0"]], []]
    assert _core.shard_rule("Dropout", [(ms.float32, (2,))])["seeded"] is True


BAD: dict[str, tuple[Callable, type, str]] = {
    "op": (lambda: _core.shard_rule("Nothing", []), NameError, "no op 'Nothing'"),
    "inputs": (lambda: _core.shard_rule("Add", []), TypeError, "For 'Add', it takes 2 inputs"),
    "input": (lambda: _core.shard_rule("Neg", ["x"]), TypeError, "For 'Neg', an input must be"),
    "shape": (
        lambda: _core.shard_rule("MatMul", [(ms.float32, (2, 3)), (ms.float32, (2, 3))]),
        ValueError,
        "For 'MatMul', the inner sizes must be equal",
    ),
    "attribute": (
        lambda: _core.shard_rule("Neg", [1.0], {"axis": 0}),
        TypeError,
        "For 'Neg', there is no attribute 'axis'",
    ),
    "required": (
        lambda: _core.shard_rule("Reshape", [(ms.float32, (2, 3))]),
        TypeError,
        "For 'Reshape', 'shape' is missing",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(name: str) -> None:
    call, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        call()


# A rule with one fact changed, which must not pass: op, number of the case, factor, mark.
WRONG = [
    ("Softmax", 0, "a1", ""),
    ("MatMul", 0, "k", "max"),
    ("MatMulBias", 0, "k", "sum"),
    ("ReduceMean", 0, "a0", "sum"),
    ("CumSum", 0, "a1", ""),
    ("BatchNorm", 0, "a0", "mean"),
    ("LayerNormGrad", 0, "a0", "max"),
    ("NLLLoss", 0, "n", "sum"),
    ("Sort", 0, "a1", ""),
    ("ScatterNd", 0, "i0", "max"),
]


@pytest.mark.parametrize(("name", "case", "factor", "mark"), WRONG)
def test_wrong_rules_do_not_pass(name: str, case: int, factor: str, mark: str) -> None:
    row = ROWS[name]
    rule = copy.deepcopy(shard_checks.rule_of(name, row.good[case]))
    assert rule is not None
    assert rule["factors"][factor]["mark"] != mark
    rule["factors"][factor] |= {"mark": mark, "splits": True}
    with pytest.raises(AssertionError, match="in parts along"):
        shard_checks.check_sharding(row, row.good[case], rule)
