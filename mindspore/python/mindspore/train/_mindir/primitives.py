"""Primitives of files that are read otherwise than by a line of the table: settings under other names, and those that Python
composes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore.train._mindir import images_read
from mindspore.train._mindir.images_read import Call, only
from mindspore.train._mindir.messages import dtype_of_id


def _round(values: list, plain: dict) -> Call:
    if len(values) > 1 and values[1] != 0:
        raise ValueError("'Round' must keep no decimals")
    return Call(_core.op("Round"), values[:1], {})


def _gelu(values: list, plain: dict) -> Call:
    return Call(_core.op("GeLU"), values, {"approximate": "tanh"})


def _stop(values: list, plain: dict) -> Call:
    return Call(ops.stop_gradient, values, {})


def _with_number(op: str) -> Callable[[list, dict], Call]:
    """A tensor and a number."""

    def read(values: list, plain: dict) -> Call:
        if len(values) != 2 or type(values[1]) not in (int, float, bool):
            raise ValueError(f"the second operand of '{op}s' must be a number")
        return Call(_numbered, values[:1], {"op": op, "number": values[1]})

    return read


def _numbered(x: Any, op: str, number: Any) -> Any:
    return _core.op(op)(x, number)


def _remainder_of_number(values: list, plain: dict) -> Call:
    if len(values) != 2 or type(values[0]) not in (int, float, bool):
        raise ValueError("the first operand of 'RemainderScalarTensor' must be a number")
    return Call(_remainder, values[1:], {"number": values[0]})


def _remainder(x: Any, number: Any) -> Any:
    return _core.op("FloorMod")(number, x)


def _eye(values: list, plain: dict) -> Call:
    rows, columns, dtype = (_argument(values, at) for at in range(3))
    if not all(type(size) is int and 0 <= size < 2**15 for size in (rows, columns)):
        raise ValueError("'Eye' must have sizes below 32768")
    return Call(ops.eye, [], {"n": rows, "m": columns, "dtype": dtype_of_id(dtype)})


def _lstm(values: list, plain: dict) -> Call:
    names = ("input_size", "hidden_size", "num_layers", "has_bias", "bidirectional", "dropout")
    if plain.get("proj_size", 0):
        raise ValueError("'LSTM' must have no projection")
    return Call(ops.LSTM(**{name: only(plain, name) for name in names}), values, {})


def _argument(values: list, at: int, default: Any = None) -> Any:
    """A setting among the values: of those that are missing, what they have by default."""
    value = values[at] if at < len(values) else default
    if value is not None and type(value) not in (bool, int, float, str, tuple):
        raise ValueError("a setting of a primitive must be a constant")
    return value


def _clamp(values: list, plain: dict) -> Call:
    return Call(ops.clamp, values[:1], {"min": _argument(values, 1), "max": _argument(values, 2)})


def _sum(values: list, plain: dict) -> Call:
    dtype = _argument(values, 3)
    settings = {
        "dim": _argument(values, 1),
        "keepdim": bool(_argument(values, 2, False)),
        "dtype": None if dtype is None else dtype_of_id(dtype),
    }
    return Call(ops.sum, values[:1], settings)


def _distances(values: list, plain: dict) -> Call:
    return Call(ops.cdist, values[:2], {"p": float(_argument(values, 2, 2.0))})


def _search(values: list, plain: dict) -> Call:
    if _argument(values, 2) is not None:
        raise ValueError("'SearchSorted' must have no order beside its rows")
    settings = {
        "dtype": dtype_of_id(_argument(values, 3)),
        "right": bool(_argument(values, 4, False)),
    }
    return Call(_core.op("SearchRows"), values[:2], settings)


def _sparse_cross_entropy(values: list, plain: dict) -> Call:
    if plain.get("sens", 1.0) != 1:
        raise ValueError("'SparseSoftmaxCrossEntropyWithLogits' must have a 'sens' of 1")
    settings = {"is_grad": bool(plain.get("is_grad", False))}
    return Call(_core.op("SparseSoftmaxCrossEntropyWithLogits"), values, settings)


READERS: dict[str, Callable[[list, dict], Call]] = {
    **images_read.READERS,
    "Adds": _with_number("Add"),
    "Cdist": _distances,
    "ClampScalar": _clamp,
    "ClampTensor": lambda values, plain: Call(ops.clamp, values, {}),
    "Divs": _with_number("Div"),
    "Eye": _eye,
    "GeLU": _gelu,
    "LSTM": _lstm,
    "Max": lambda values, plain: Call(ops.amax, values[:1], {}),
    "Min": lambda values, plain: Call(ops.amin, values[:1], {}),
    "MaskedFill": lambda values, plain: Call(ops.masked_fill, values, {}),
    "LessScalar": _with_number("Less"),
    "LessEqualScalar": _with_number("LessEqual"),
    "GreaterScalar": _with_number("Greater"),
    "GreaterEqualScalar": _with_number("GreaterEqual"),
    "EqScalar": _with_number("Equal"),
    "EqualScalar": _with_number("Equal"),
    "NotEqualScalar": _with_number("NotEqual"),
    "Muls": _with_number("Mul"),
    "OnesLike": lambda values, plain: Call(ops.ones_like, values[:1], {}),
    "RemainderScalarTensor": _remainder_of_number,
    "RemainderTensorScalar": _with_number("FloorMod"),
    "Round": _round,
    "SearchSorted": _search,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    "StopGradient": _stop,
    "Subs": _with_number("Sub"),
    "SumExt": _sum,
    "ZerosLike": lambda values, plain: Call(ops.zeros_like, values[:1], {}),
}
