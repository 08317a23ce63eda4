"""Every op in pieces: graphs that are cut at random give, over several processes, what one process gives."""

from __future__ import annotations

import zlib

import pytest
import rehearsal_checks
from rowlib import ROWS, Args, Row

# Its processes are threads, which on a device would share one stream, and wait for each other in it.
pytestmark = pytest.mark.host_device

CASES = [
    pytest.param(row, case, i, id=f"{name}-{i}")
    for name, row in sorted(ROWS.items())
    for i, case in enumerate(row.good)
]
SEEDS = 8


def seed_of(row: Row, i: int) -> int:
    return zlib.crc32(f"{row.name} {i}".encode())


@pytest.mark.parametrize(("row", "case", "i"), [p for p in CASES if p.values[2] == 0])
def test_values(row: Row, case: Args, i: int) -> None:
    rehearsal_checks.check_values(row, case, seed_of(row, i))


@pytest.mark.parametrize(
    ("row", "case", "i"), [p for p in CASES if p.values[2] == 0 and p.values[0].grad]
)
def test_gradient(row: Row, case: Args, i: int) -> None:
    rehearsal_checks.check_gradient(row, case, seed_of(row, i))


@pytest.mark.slow
@pytest.mark.parametrize(("row", "case", "i"), CASES)
def test_many_cuts(row: Row, case: Args, i: int) -> None:
    for seed in range(SEEDS):
        rehearsal_checks.check_values(row, case, seed)
        if row.grad:
            rehearsal_checks.check_gradient(row, case, seed)
