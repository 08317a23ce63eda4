"""Random programs agree in both modes: 2 000 in every run, twelve times as many in the slow tier. A failure prints its seed,
the program made small and what differs; `scripts/dev fuzz SEED` repeats it."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.command import report, run
from fuzz.program import all_rules, generate

PROGRAMS = 2000
CHUNK = 100
MORE = 24000
# Of the programs of a chunk at least, as a whole; of all it is 0.82. The others run eagerly, in part or as a whole.
COMPILED = 0.7
# Of them at most, with an error that says why: their effects cannot be taken back when a line turns out to be one that is not compiled.
REFUSED = 0.03


def check(first: int, count: int) -> None:
    """Runs programs and shows the failures."""
    statistics = run(range(first, first + count))
    print(statistics)
    shown = [report(outcome, small=i < 2) for i, outcome in enumerate(statistics.failures[:6])]
    assert not shown, "\n\n".join(shown)
    assert statistics.refused.total() <= REFUSED * count, str(statistics)
    assert statistics.compiled >= COMPILED * (count - statistics.parted), str(statistics)


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_programs(first: int) -> None:
    """The programs of every run."""
    check(first, CHUNK)


# Programs of the slow tier that have failed.
FAILED = (
    *(2410, 2637, 5802, 6868, 10627, 11690, 13306, 13983, 14105, 14721, 15830, 17673, 20408),
    *(21882, 24578, 25733, 1545, 9826, 10220, 13826, 18891, 14243),
)


@pytest.mark.parametrize("seed", FAILED)
def test_programs_that_failed(seed: int) -> None:
    """Once more."""
    statistics = run([seed])
    assert not statistics.failures, report(statistics.failures[0], small=False)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(PROGRAMS, PROGRAMS + MORE, 1000))
def test_more_programs(first: int) -> None:
    """Many more."""
    check(first, 1000)


def test_every_rule_applies() -> None:
    """The programs of every run use each rule of the grammar, and one seed always gives one program."""
    counts: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        counts += generate(seed).counts
    missing = {name: counts[name] for name in all_rules() if not counts[name]}
    assert not missing
    assert generate(3).source == generate(3).source
