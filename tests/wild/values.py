"""What no call expects: each makes its value anew, for some are used up."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from wild.places import path_of
from wild.samples import b, f


def _tensor(dtype: Any) -> Callable[[], Tensor]:
    return lambda: Tensor(np.ones((2, 3), np.float32)).astype(dtype)


def _generator() -> Any:
    yield f(2, 3)


NUMBERS: dict[str, Callable[[], Any]] = {
    "-1": lambda: -1,
    "0": lambda: 0,
    "7": lambda: 7,
    "2**31-1": lambda: 2**31 - 1,
    "2**40": lambda: 2**40,
    "2**62": lambda: 2**62,
    "2**63": lambda: 2**63,
    "-2**63": lambda: -(2**63),
    "1000": lambda: 1000,
    "10**6": lambda: 10**6,
    "10**10": lambda: 10**10,
    "1e3": lambda: 1e3,
    "1e10": lambda: 1e10,
    "10**400": lambda: 10**400,
    "3.7": lambda: 3.7,
    "1e300": lambda: 1e300,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "True": lambda: True,
    "1+2j": lambda: 1 + 2j,
    "float32(1.5)": lambda: np.float32(1.5),
    "int64(1)": lambda: np.int64(1),
}
OBJECTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "'abc'": lambda: "abc",
    "''": lambda: "",
    "b'abc'": lambda: b"abc",
    "object()": object,
    "a Cell": nn.ReLU,
    "a dtype": lambda: ms.float32,
    "int": lambda: int,
    "a function": lambda: lambda *args: args[0],
    "a slice": lambda: slice(0, 1),
    "...": lambda: ...,
    "a generator": _generator,
}
CONTAINERS: dict[str, Callable[[], Any]] = {
    "()": lambda: (),
    "[None]": lambda: [None],
    "{}": dict,
    "{'a': 1}": lambda: {"a": 1},
    "{1, 2}": lambda: {1, 2},
    "(0, 0)": lambda: (0, 0),
    "(2, 3)": lambda: (2, 3),
    "(-1, -2)": lambda: (-1, -2),
    "(2**31, 2**31, 2**31)": lambda: (2**31, 2**31, 2**31),
    "(2**63,)": lambda: (2**63,),
    "(1.5, 'a')": lambda: (1.5, "a"),
    "[[1, [2]], [3]]": lambda: [[1, [2]], [3]],
    "a huge tuple": lambda: tuple(range(100_000)),
    "[x, y]": lambda: [f(2, 3), f(3, 2)],
    "[x, None]": lambda: [f(2, 3), None],
    "an array": lambda: np.ones((2, 3), np.float32),
    "an array of objects": lambda: np.array([None, 1]),
    "an array of complex": lambda: np.full((2, 3), 1 + 2j),
    "[1+2j]": lambda: [1 + 2j],
    "(10**6, 1)": lambda: (10**6, 1),
}
TENSORS: dict[str, Callable[[], Any]] = {
    "an empty tensor": lambda: Tensor(np.zeros((0,), np.float32)),
    "an empty tensor of rank 3": lambda: Tensor(np.zeros((2, 0, 3), np.float32)),
    "a 0-d tensor": lambda: Tensor(1.5),
    "a 0-d int tensor": lambda: Tensor(1),
    "a tensor of rank 1": lambda: f(6),
    "a tensor of rank 5": lambda: f(1, 2, 1, 3, 1),
    "a tensor of bools": lambda: b(2, 3),
    "a tensor with a long axis": lambda: Tensor(np.ones((1, 100_000), np.float32)),
    "a long tensor": lambda: Tensor(np.arange(100_000, dtype=np.int32)),
    "a tensor of large floats": lambda: f(2, 3) * 1e10,
    "a tensor of large ints": lambda: Tensor(np.full((2, 3), 10**6, np.int32)),
    **{
        f"a tensor of {dtype}": _tensor(dtype)
        for dtype in (
            *(ms.float16, ms.bfloat16, ms.float64, ms.int8, ms.uint8, ms.int32, ms.int64),
            *(ms.uint64, ms.complex64, ms.complex128),
        )
    },
}


def _filled(content: str, shape: tuple[int, ...], dtype: str) -> Callable[[], Tensor]:
    def make() -> Tensor:
        size = int(np.prod(shape))
        numbers = np.arange(size) % 5 if content == "counting" else np.ones(size)
        numbers = numbers * {"zeros": 0, "negative": -1}.get(content, 1)
        whole = Tensor(numbers.astype(np.float32).reshape(shape)).astype(getattr(ms, dtype))
        return _with_ends(whole) if content == "special" else whole

    return make


def _with_ends(x: Tensor) -> Tensor:
    """The first elements replaced by what is not finite, or by the ends of the range."""
    array = x.asnumpy().copy()
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        ends = np.array([info.max, info.min, 0], array.dtype)
    else:
        ends = np.array([np.nan, np.inf, -np.inf]).astype(array.dtype)
    array.reshape(-1)[: len(ends)] = ends[: array.size]
    return Tensor(array).astype(x.dtype)


# Tensors of all dtypes, some shapes and contents.
_SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (2, 3),
    (3, 2),
    (2, 0, 3),
    (1, 2, 3),
    (2, 3, 4, 5),
    (1, 1, 2, 3, 4),
)
_DTYPES = "bool_ int8 int32 int64 uint8 uint32 float16 bfloat16 float32 float64 complex64".split()
GRID: dict[str, Callable[[], Any]] = {
    f"{dtype}{list(shape)} {content}": _filled(content, shape, dtype)
    for dtype in _DTYPES
    for shape in _SHAPES
    for content in ("zeros", "ones", "counting", "negative", "special")
}
VALUES = {**NUMBERS, **OBJECTS, **CONTAINERS, **TENSORS}
# Of each kind what has found most.
FEW = (
    *("None", "-1", "0", "2**63", "2**40", "3.7", "'abc'", "object()", "()", "[None]", "{'a': 1}"),
    *("(2**31, 2**31, 2**31)", "an empty tensor", "a 0-d tensor", "a tensor of rank 5"),
    *("a tensor of bools", "a generator", "1+2j", "1000", "10**6", "1e10", "(10**6, 1)"),
    *("a tensor of Complex64", "a tensor with a long axis", "a tensor of large ints"),
)
# Where a file is wanted.
PATHS: dict[str, Callable[[], str]] = {
    f"a path of {what}": functools.partial(path_of, kind)
    for what, kind in (
        ("nothing", "missing"),
        ("an empty file", "empty"),
        ("a folder", "folder"),
        ("noise", "noise"),
    )
}
