"""What gradient functions return: nesting, values and dtypes, against a table; `!` marks an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from structure_cases import CASES, show

TABLE = dict(
    line.split(" = ", 1)
    for line in (Path(__file__).parent / "structure_table.txt").read_text().splitlines()
)


def test_every_case_is_in_the_table():
    assert set(TABLE) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_result(name, mode):
    expected = TABLE[name]
    if expected.startswith("!"):
        with pytest.raises(Exception, match="For '") as caught:
            CASES[name]()
        assert type(caught.value).__name__ == expected[1:]
    else:
        assert show(CASES[name]()) == expected
