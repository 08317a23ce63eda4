"""Rows of what processes do together: here by one alone, whose results are what goes in. Of several: tests/parallel."""

from rowlib import args, c64, f32, i32, row

import mindspore as ms

ONE = {"group": "alone", "members": 1}
TWO = {"group": "alone", "members": 2}


def same(x, **_):
    return x


row(
    "AllReduce",
    ref=same,
    good=[args(f32(2, 3), **ONE), args(f32(3), op="max", **ONE), args(i32(), op="min", **ONE)],
    bad=[
        args(f32(3), op="mean", says="must be 'sum', 'prod', 'max' or 'min'", **ONE),
        args(c64(3), op="max", says="must be 'sum' or 'prod' for complex numbers", **ONE),
    ],
)
# Float32 is number 11.
SUM = {"group": "alone", "index": 0, "counts": (6, 2), "dtypes": (11, 11)}
row(
    "StartSum",
    ref=same,
    good=[args(f32(2, 3), **SUM)],
    bad=[
        args(f32(2, 3), **{**SUM, "index": 2}, says="'index' must be in [0, 2), but got 2"),
        args(f32(2, 3), **{**SUM, "index": -1}, says="'index' must be in [0, 2), but got -1"),
        args(f32(2, 3), **{**SUM, "dtypes": (11,)}, says="'dtypes' must have 2 entries, but got 1"),
        args(f32(2), **SUM, says="the tensor must have 6 elements"),
    ],
    grad=False,
)
row("AwaitSums", ref=lambda *x, group: x, good=[args(f32(2, 3), f32(2), group="alone")], grad=False)
row(
    "ReduceScatter",
    ref=same,
    good=[args(f32(4, 3), **ONE), args(f32(4, 3), counts=(4,), **ONE)],
    bad=[
        args(f32(), says="must have at least 1 dimension", **ONE),
        args(f32(3), says="must be a multiple of the number of processes, 2, but got 3", **TWO),
        args(f32(3), counts=(1, 1), says="must have all 3 rows together, but got 2", **TWO),
        args(f32(3), counts=(1, 2), rank=2, says="'rank' must be in [0, 2), but got 2", **TWO),
    ],
)
row(
    "AllGather",
    ref=same,
    good=[args(f32(4, 3), **ONE), args(f32(4, 3), counts=(4,), **ONE)],
    bad=[
        args(f32(), says="must have at least 1 dimension", **ONE),
        args(f32(3), counts=(1, 2), says="must have the 1 rows of this rank, but got 3", **TWO),
    ],
)
row(
    "Broadcast",
    ref=same,
    good=[args(f32(2, 3), root=0, rank=0, **ONE)],
    bad=[args(f32(3), root=1, rank=0, says="'root' must be in [0, 1), but got 1", **ONE)],
)
row(
    "Exchange",
    ref=same,
    good=[args(f32(5), group="alone", sends=(5,), receives=(5,))],
    bad=[
        args(f32(2, 3), group="alone", sends=(6,), receives=(6,), says="must have 1 dim"),
        args(f32(5), group="alone", sends=(4,), receives=(5,), says="all 5 elements together"),
        args(f32(5), group="alone", sends=(5,), receives=(5, 1), says="for each process"),
        args(f32(5), group="alone", sends=(6, -1), receives=(5, 0), says="at least 0"),
    ],
)
row(
    "Send",
    ref=None,
    good=[],
    bad=[args(f32(5), group="alone", target=1, says="there must be another process")],
    grad=False,
)
row(
    "Receive",
    ref=None,
    good=[],
    bad=[
        args(
            group="alone",
            source=1,
            shape=(2,),
            dtype=ms.float32,
            says="there must be another process",
        )
    ],
    grad=False,
)
row("Barrier", ref=lambda **_: 0.0, good=[args(group="alone")], grad=False)
