"""Primitives of files that are read otherwise than by a line of the table: settings under other names, and those that Python
composes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore import _core, ops


class Call(NamedTuple):
    """What to apply, to which values, with which settings."""

    function: Callable
    inputs: list
    settings: dict


def _only(plain: dict, wanted: str) -> Any:
    if wanted not in plain:
        raise ValueError(f"a primitive lacks the attribute '{wanted}'")
    return plain[wanted]


def _last(sizes: Any, count: int) -> tuple:
    """Sizes of the axes of images, of those of all axes too."""
    if not isinstance(sizes, tuple):
        return (sizes,) * count
    if len(sizes) not in (count, count + 2) or any(type(s) is not int for s in sizes):
        raise ValueError(f"{sizes!r} must be {count} sizes")
    return sizes[-count:]


def _layout(plain: dict) -> str:
    return plain.get("format", plain.get("data_format", "NCHW"))


def _convolution(values: list, plain: dict) -> dict:
    pad = plain.get("pad", (0, 0, 0, 0))
    return {
        "out_channel": _only(plain, "out_channel"),
        "kernel_size": _last(_only(plain, "kernel_size"), 2),
        "mode": plain.get("mode", 1),
        "pad_mode": str(_only(plain, "pad_mode")).lower(),
        "pad": pad if isinstance(pad, tuple) else (pad,),
        "stride": _last(_only(plain, "stride"), 2),
        "dilation": _last(plain.get("dilation", 1), 2),
        "group": plain.get("group", 1),
        "data_format": _layout(plain),
    }


def _conv(values: list, plain: dict) -> Call:
    return Call(_core.op("Conv2D"), values, _convolution(values, plain))


def _conv_transposed(values: list, plain: dict) -> Call:
    if len(values) != 3 or not isinstance(values[2], tuple):
        raise ValueError("the sizes of a transposed convolution must be constants")
    settings = {**_convolution(values, plain), "input_size": values[2]}
    return Call(_core.op("Conv2DBackpropInput"), values[:2], settings)


def _max_pool(values: list, plain: dict) -> Call:
    settings = {
        "kernel_size": _last(_only(plain, "kernel_size"), 2),
        "strides": _last(_only(plain, "strides"), 2),
        "pad_mode": str(plain.get("pad_mode", "valid")).lower(),
        "data_format": _layout(plain),
    }
    return Call(_core.op("MaxPool"), values, settings)


def _max_pool_3d(values: list, plain: dict) -> Call:
    settings = {
        "kernel_size": _last(_only(plain, "kernel_size"), 3),
        "strides": _last(_only(plain, "strides"), 3),
        "pad_mode": str(plain.get("pad_mode", "valid")).lower(),
        "pad": _last(plain.get("pad_list", 0), 6),
        "ceil_mode": bool(plain.get("ceil_mode", False)),
        "data_format": plain.get("format", "NCDHW"),
    }
    return Call(_core.op("MaxPool3D"), values, settings)


def _avg_pool(values: list, plain: dict) -> Call:
    names = ("kernel_size", "strides", "pad_mode", "format")
    given = dict(zip(names, values[1:])) if len(values) > 1 else plain
    mode, layout = given.get("pad_mode", "valid"), given.get("format", "NCHW")
    if mode in (1, 2):
        mode = {1: "same", 2: "valid"}[mode]
    settings = {
        "kernel_size": _last(_only(given, "kernel_size"), 2),
        "strides": _last(_only(given, "strides"), 2),
        "pad_mode": str(mode).lower(),
        "data_format": {0: "NCHW", 1: "NHWC"}.get(layout, layout),
    }
    return Call(_core.op("AvgPool"), values[:1], settings)


def _batch_norm(values: list, plain: dict) -> Call:
    names = ("is_training", "epsilon", "momentum", "format")
    given = dict(zip(names, values[5:])) if len(values) > 5 else plain
    if given.get("is_training", False) is not False:
        raise ValueError("'BatchNorm' must not be for training: the file changes its statistics")
    layout = given.get("format", "NCHW")
    settings = {
        "epsilon": given.get("epsilon", 1e-5),
        "data_format": {0: "NCHW", 1: "NHWC"}.get(layout, layout),
    }
    return Call(_normalised, values[:5], settings)


def _normalised(*inputs: Any, **settings: Any) -> tuple:
    """The first result of BatchNorm; the others are of use in training alone."""
    return (_core.op("BatchNormInference")(*inputs, **settings),)


def _pad(values: list, plain: dict) -> Call:
    pairs = _only(plain, "paddings")
    if not isinstance(pairs, tuple) or any(not isinstance(p, tuple) or len(p) != 2 for p in pairs):
        raise ValueError("'paddings' must be pairs")
    return Call(
        _core.op("Pad"), values, {"paddings": tuple(size for pair in pairs for size in pair)}
    )


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


def _lstm(values: list, plain: dict) -> Call:
    names = ("input_size", "hidden_size", "num_layers", "has_bias", "bidirectional", "dropout")
    if plain.get("proj_size", 0):
        raise ValueError("'LSTM' must have no projection")
    return Call(ops.LSTM(**{name: _only(plain, name) for name in names}), values, {})


READERS: dict[str, Callable[[list, dict], Call]] = {
    "Adds": _with_number("Add"),
    "AvgPool": _avg_pool,
    "BatchNorm": _batch_norm,
    "Conv2D": _conv,
    "Conv2DTranspose": _conv_transposed,
    "Conv2DBackpropInput": _conv_transposed,
    "Divs": _with_number("Div"),
    "GeLU": _gelu,
    "LSTM": _lstm,
    "MaxPool": _max_pool,
    "MaxPool3D": _max_pool_3d,
    "Muls": _with_number("Mul"),
    "Pad": _pad,
    "Round": _round,
    "StopGradient": _stop,
    "Subs": _with_number("Sub"),
}
