"""How statements are left, and where that leads on the stack of what is still to run."""

from __future__ import annotations

import pytest

from mindspore.compile.decided import exits
from mindspore.compile.decided.exits import BREAK, CONTINUE, FALLS, RETURN, Exit, landing
from mindspore.compile.program.errors import Unsupported

BLOCK, FOR, WHILE = ("block", [], 0), ("for", None, [], 1), ("while", None, 1)
ARM, LOOP = ("arm", False), ("loop",)


@pytest.mark.parametrize(
    ("stack", "way", "base", "outside"),
    [
        ([BLOCK, FOR, BLOCK], BREAK, 1, False),
        ([BLOCK, FOR, BLOCK], CONTINUE, 2, False),
        ([BLOCK, FOR, BLOCK], RETURN, 0, True),
        ([FOR, BLOCK, WHILE, BLOCK], BREAK, 2, False),
        ([FOR, ARM, BLOCK], BREAK, 2, True),
        ([FOR, ARM, BLOCK], CONTINUE, 2, True),
        ([FOR, ARM, WHILE, BLOCK], CONTINUE, 3, False),
        ([FOR, ARM, WHILE, BLOCK], RETURN, 2, True),
        ([LOOP, BLOCK], BREAK, 1, True),
    ],
)
def test_where_a_jump_leads(stack, way, base, outside):
    assert landing(stack, way) == (way, base, outside)


def test_what_is_left_of_an_exit_where_it_has_led():
    jump = Exit.by(BREAK)
    assert landing([FOR], BREAK).left_of(jump).way is FALLS
    assert landing([FOR, ARM], BREAK).left_of(jump).way is BREAK  # it goes on around the arm


def test_an_exit_that_a_tensor_decides():
    mixed = Exit(frozenset({FALLS, BREAK, CONTINUE}), 2)
    assert mixed.way is None
    assert mixed.nearest is CONTINUE
    assert mixed.leaving().ways == {BREAK, CONTINUE}
    assert mixed.arrived(RETURN) is mixed
    arrived = mixed.arrived(CONTINUE)
    assert arrived.ways == {FALLS, BREAK}
    assert int(arrived.kind) == BREAK


def test_the_end_of_a_function():
    assert exits.is_end([], 0)
    assert exits.is_end([BLOCK, ("arm", True)], 2)
    assert not exits.is_end([BLOCK, ARM], 2)
    assert exits.barrier([BLOCK]) == -1
    assert exits.barrier([BLOCK, ARM, LOOP, BLOCK]) == 2


def test_a_block_that_is_cut_as_a_tensor_decides():
    stack = [FOR, ("finally", []), BLOCK]
    exits.check_cut(stack, 2, "with", "finally")
    with pytest.raises(Unsupported, match="how a 'with' or 'try' block is left"):
        exits.check_cut(stack, 1, "with", "finally")
