"""What is done with a value goes by its class."""

from __future__ import annotations

from mindspore.compile.walk.kinds import ByKind


class Number(int):
    pass


def test_the_nearest_class_says_what_is_done():
    table = ByKind({int: lambda: "int", bool: lambda: "bool"}, others=lambda: "others")
    assert [table.of(v)() for v in (1, True, Number(2), 1.0, None)] == [
        "int",
        "bool",
        "int",
        "others",
        "others",
    ]
