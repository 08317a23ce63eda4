"""Ops that go into a file as several primitives, or as one whose settings are made of ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train._mindir.building import Builder, Value


class NotThere(Exception):
    """Why an op cannot go into a file."""


def _pair(sizes: Any) -> tuple[int, int]:
    return (sizes[0], sizes[-1]) if len(sizes) <= 2 else tuple(sizes[-2:])


def _four(pad: Any) -> tuple[int, ...]:
    return tuple(pad) * 4 if len(pad) == 1 else tuple(pad)


def _convolution(attributes: dict, upper: bool) -> dict:
    """What both convolutions have."""
    mode = attributes["pad_mode"]
    pad = _four(attributes["pad"]) if mode == "pad" else (0, 0, 0, 0)
    if attributes["weight_format"]:
        raise NotThere("has a layout of weights that no file has")
    return {
        "out_channel": attributes["out_channel"],
        "kernel_size": _pair(attributes["kernel_size"]),
        "mode": attributes["mode"],
        "pad_mode": mode.upper() if upper else mode,
        "pad": pad,
        "pad_list": pad,
        "stride": (1, 1, *_pair(attributes["stride"])),
        "dilation": (1, 1, *_pair(attributes["dilation"])),
        "group": attributes["group"],
        "groups": attributes["group"],
        "format": attributes["data_format"],
    }


def _conv(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    names = {"input_names": ["x", "w"], "output_names": ["output"]}
    return b.apply("Conv2D", values, types, {**_convolution(attributes, False), **names})


def _conv_transposed(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    names = {"input_names": ["out_backprop", "filter", "input_sizes"], "output_names": ["output"]}
    settings = {**_convolution(attributes, True), **names}
    if attributes["pad_mode"] == "same":
        settings["pad_list"] = _same(values[0].shape, types[0][1], attributes)
    return b.apply("Conv2DTranspose", [*values, tuple(attributes["input_size"])], types, settings)


def _same(small: Any, large: Any, attributes: dict) -> tuple[int, ...]:
    """How many rows and columns 'same' adds on each side."""
    pads: list[int] = []
    axes = zip(
        small[2:],
        large[2:],
        _pair(attributes["kernel_size"]),
        _pair(attributes["stride"]),
        _pair(attributes["dilation"]),
    )
    for few, many, kernel, stride, dilation in axes:
        lacking = max(0, (few - 1) * stride + (kernel - 1) * dilation + 1 - many)
        pads += [lacking // 2, lacking - lacking // 2]
    return tuple(pads)


def _batch_norm(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    layout = ("NCHW", "NHWC").index(attributes["data_format"])
    arguments = [*values, False, attributes["epsilon"], 0.1, layout]
    statistics = [(values[1].dtype, values[1].shape)] * 4
    return b.apply("BatchNorm", arguments, [types[0], *statistics], read=1)


def _max_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x, mode = values[0], attributes["pad_mode"]
    kernel, strides = _pair(attributes["kernel_size"]), _pair(attributes["strides"])
    if any(d != 1 for d in attributes["dilation"]):
        raise NotThere("must have a dilation of 1 to go into a MINDIR file")
    if mode != "pad" and not attributes["ceil_mode"]:
        settings = {
            "kernel_size": (1, 1, *kernel),
            "strides": (1, 1, *strides),
            "pad_mode": mode.upper(),
            "format": attributes["data_format"],
            "input_names": ["x"],
            "output_names": ["output"],
        }
        return b.apply("MaxPool", [x], types, settings)
    if attributes["data_format"] != "NCHW":
        raise NotThere("must have the format NCHW to go into a MINDIR file with padding")
    n, c, h, w = x.shape
    dtype, (_, _, rows, columns) = types[0]
    pad = _four(attributes["pad"]) if mode == "pad" else (0, 0, 0, 0)
    settings = {
        "kernel_size": (1, 1, 1, *kernel),
        "strides": (1, 1, 1, *strides),
        "pad_mode": "PAD" if mode == "pad" else mode.upper(),
        "pad_list": (0, 0, *pad),
        "ceil_mode": int(attributes["ceil_mode"]),
        "format": "NCDHW",
        "input_names": ["x"],
        "output_names": ["output"],
    }
    deep = b.one("ExpandDims", [x, 2], x, (n, c, 1, h, w))
    found = b.apply("MaxPool3D", [deep], [(dtype, (n, c, 1, rows, columns))], settings)[0]
    return b.apply("Squeeze", [found, (2,)], types)


def _avg_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    if attributes["pad_mode"] == "pad" or attributes["ceil_mode"] or attributes["divisor_override"]:
        raise NotThere(
            "must have the pad_mode 'valid' or 'same', no ceil_mode and no divisor to go into a MINDIR file"
        )
    mode = {"same": 1, "valid": 2}[attributes["pad_mode"]]
    layout = ("NCHW", "NHWC").index(attributes["data_format"])
    sizes = _pair(attributes["kernel_size"]), _pair(attributes["strides"])
    return b.apply("AvgPool", [values[0], *sizes, mode, layout], types)


def _leaky_relu(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x, alpha = values[0], attributes["alpha"]
    less = b.one("Mul", [b.scalar(alpha, x.dtype), x], x)
    return [b.one("Maximum" if alpha <= 1 else "Minimum", [less, x], x)]


def _gelu(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x = values[0]
    if attributes["approximate"] != "none":
        return b.apply("GeLU", [x], types)
    inner = b.one("Erf", [b.one("Div", [x, b.scalar(math.sqrt(2), x.dtype)], x)], x)
    twice = b.one("Mul", [x, b.one("Add", [inner, b.scalar(1, x.dtype)], x)], x)
    return [b.one("Mul", [twice, b.scalar(0.5, x.dtype)], x)]


def _attention(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    query, key, value, mask, _ = values
    if attributes["keep_prob"] != 1:
        raise NotThere("must drop nothing to go into a MINDIR file: call net.set_train(False)")
    product = "MatMul" if len(query.shape) == 2 else "BatchMatMul"
    shape = (*query.shape[:-1], key.shape[-2])
    scores = b.one(product, [query, key, False, True], query, shape)
    scores = b.one("Mul", [scores, b.scalar(attributes["scale"], query.dtype)], scores)
    if attributes["causal"]:
        hidden = Tensor(np.triu(np.ones(shape[-2:], np.bool_), 1))
        scores = _hide(b, b.tensor(hidden), scores, attributes["fill"])
    if str(mask.dtype) == "Bool":
        scores = _hide(b, mask, scores, attributes["fill"])
    elif mask.tensor is None or mask.tensor.asnumpy().any():
        scores = b.one("Add", [scores, mask], scores)
    weights = b.one("Softmax", [scores, (-1,)], scores)
    return [b.apply(product, [weights, value, False, False], types[:1])[0], None, None]


def _hide(b: Builder, mask: Value, scores: Value, fill: float) -> Value:
    if mask.shape != scores.shape:
        mask = b.one("BroadcastTo", [mask, scores.shape], mask, scores.shape)
    filled = b.one("BroadcastTo", [b.scalar(fill, scores.dtype), scores.shape], scores)
    return b.one("Select", [mask, filled, scores], scores)


def _full(value: float | None) -> Callable:
    def write(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
        ((dtype, shape),) = types
        number = b.scalar(attributes["value"] if value is None else value, dtype)
        return [
            number if not shape else b.one("BroadcastTo", [number, tuple(shape)], number, shape)
        ]

    return write


def _pad(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    if attributes["value"] != 0:
        raise NotThere("must fill with 0 to go into a MINDIR file")
    flat = attributes["paddings"]
    pairs = tuple((flat[i], flat[i + 1]) for i in range(0, len(flat), 2))
    settings = {"paddings": pairs, "input_names": ["x"], "output_names": ["y"]}
    return b.apply("Pad", [values[0]], types, settings)


_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")


def _strided_slice(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """Without an ellipsis: MindSpore refuses one that stands for nothing."""
    rows = list(zip(attributes["begin"], attributes["end"], attributes["strides"], strict=True))
    bits = [[attributes[name] >> at & 1 for name in _MASKS] for at in range(len(rows))]
    for at in range(len(rows)):
        if attributes["ellipsis_mask"] >> at & 1:
            others = sum(not bit[2] for bit in bits) - 1
            missing = len(values[0].shape) - others
            rows[at : at + 1] = [(0, 0, 1)] * missing
            bits[at : at + 1] = [[1, 1, 0, 0]] * missing
            break
    masks = [sum(bit[kind] << at for at, bit in enumerate(bits)) for kind in range(len(_MASKS))]
    sizes = [tuple(row[kind] for row in rows) for kind in range(3)]
    return b.apply("StridedSlice", [values[0], *sizes, masks[0], masks[1], 0, *masks[2:]], types)


WRITERS: dict[str, Callable[[Builder, list[Value], dict, list], list]] = {
    "Attention": _attention,
    "AvgPool": _avg_pool,
    "BatchNormInference": _batch_norm,
    "Conv2D": _conv,
    "Conv2DBackpropInput": _conv_transposed,
    "Fill": _full(None),
    "GeLU": _gelu,
    "LeakyReLU": _leaky_relu,
    "MaxPool": _max_pool,
    "Ones": _full(1),
    "OnesLike": _full(1),
    "Pad": _pad,
    "StridedSlice": _strided_slice,
    "Zeros": _full(0),
    "ZerosLike": _full(0),
}
