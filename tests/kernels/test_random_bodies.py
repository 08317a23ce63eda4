"""Random graphs, compiled and fused, against their ops one by one; `random_bodies.py` runs as many as one likes."""

from __future__ import annotations

import bodies
import pytest
import random_bodies

pytestmark = pytest.mark.skipif(not bodies.available(), reason="needs llvmlite")


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_random_graphs(seed: int) -> None:
    for s in range(seed, seed + 5):
        random_bodies.check(s)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 3000, 100))
def test_many_random_graphs(seed: int) -> None:
    for s in range(seed, seed + 100):
        random_bodies.check(s)


def test_a_wrong_bit_is_found() -> None:
    found = random_bodies.Body(3)
    exact = next(
        v
        for seed in range(3, 50)
        for v in random_bodies.Body(seed).outputs
        if not v.error and v.tensor.size
    )
    with pytest.raises(AssertionError, match="differs at"):
        found._compare(exact, (~exact.tensor) if exact.dtype == "Bool" else exact.tensor + 1)


def test_graphs_are_of_all_kinds() -> None:
    """The generator reaches sums, all dtypes, empty arrays, specials and broadcasts."""
    graphs = [random_bodies.Body(seed) for seed in range(120)]
    text = "".join(g.text() for g in graphs)
    for word in (
        *random_bodies.REDUCTIONS,
        *random_bodies.EPSILON,
        *random_bodies.INTEGERS,
        "Bool",
        "Select(",
        ", 0]",
    ):
        assert word in text, word
    assert any(v.error for g in graphs for v in g.outputs)
    assert sum(not g.tame for g in graphs) > 20
