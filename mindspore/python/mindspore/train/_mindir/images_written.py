"""How ops on images, and on volumes, go into a file: their primitives have settings for all axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train._mindir.building import Builder, NotThere, Value
from mindspore.train._mindir.rules import GRID_MODES, GRID_PADDINGS


def sizes_of(sizes: Any, count: int) -> tuple[int, ...]:
    """One size for each of the last axes."""
    return tuple(sizes) * count if len(sizes) == 1 else tuple(sizes[-count:])


def _around(pad: Any, count: int) -> tuple[int, ...]:
    """What is added before and behind each of the last axes."""
    return tuple(pad) * (2 * count) if len(pad) == 1 else tuple(pad)


def _named(inputs: str, output: str = "output") -> dict:
    return {"input_names": inputs.split(), "output_names": [output]}


def _convolution(attributes: dict, count: int, upper: bool) -> dict:
    """What all convolutions have."""
    mode = attributes["pad_mode"]
    pad = _around(attributes["pad"] if mode == "pad" else (0,), count)
    if attributes.get("weight_format"):
        raise NotThere("has a layout of weights that no file has")
    return {
        "out_channel": attributes["out_channel"],
        "kernel_size": sizes_of(attributes["kernel_size"], count),
        "mode": attributes["mode"],
        "pad_mode": mode.upper() if upper else mode,
        "pad": pad,
        "pad_list": pad,
        "stride": (1, 1, *sizes_of(attributes["stride"], count)),
        "dilation": (1, 1, *sizes_of(attributes["dilation"], count)),
        "group": attributes["group"],
        "groups": attributes["group"],
        "format": attributes["data_format"],
    }


def _deep_convolution(attributes: dict) -> dict:
    settings = _convolution(attributes, 3, False)
    return {**settings, "strides": settings["stride"], "dilations": settings["dilation"]}


def _conv(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    return b.apply("Conv2D", values, types, {**_convolution(attributes, 2, False), **_named("x w")})


def _conv_deep(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    settings = {**_deep_convolution(attributes), **_named("x w"), "offset_x": 0}
    if attributes["pad_mode"] == "same":
        settings["pad_list"] = _same(types[0][1], values[0].shape, attributes)
    return b.apply("Conv3D", values, types, settings)


def _conv_transposed(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    names = _named("out_backprop filter input_sizes")
    settings = {**_convolution(attributes, 2, True), **names}
    if attributes["pad_mode"] == "same":
        settings["pad_list"] = _same(values[0].shape, types[0][1], attributes)
    return b.apply("Conv2DTranspose", [*values, tuple(attributes["input_size"])], types, settings)


def _conv_deep_transposed(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    settings = {
        **_deep_convolution(attributes),
        **_named("x filter"),
        "input_size": tuple(attributes["input_size"]),
        "in_channel": values[0].shape[1],
        "out_channel": types[0][1][1],
        "output_padding": (0,) * 5,
    }
    if attributes["pad_mode"] == "same":
        settings["pad_list"] = _same(values[0].shape, types[0][1], attributes)
    return b.apply("Conv3DTranspose", values, types, settings)


def _same(small: Any, large: Any, attributes: dict) -> tuple[int, ...]:
    """How many elements 'same' adds before and behind each axis, of windows that go from `large` to `small`."""
    pads: list[int] = []
    count = len(small) - 2
    axes = zip(
        small[2:],
        large[2:],
        sizes_of(attributes["kernel_size"], count),
        sizes_of(attributes["stride"], count),
        sizes_of(attributes.get("dilation", (1,)), count),
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


def _plain_pool(attributes: dict) -> bool:
    """Whether the primitives of images can do it, which know no numbers of padding."""
    return attributes["pad_mode"] != "pad" and not attributes["ceil_mode"]


def _deep_pool(attributes: dict, large: tuple, small: tuple) -> dict:
    """What pools of volumes have; of images, which are volumes of one layer."""
    mode, count = attributes["pad_mode"], len(large) - 2
    pad = _around(attributes["pad"] if mode == "pad" else (0,), count)
    if mode == "same":
        pad = _same(small, large, {**attributes, "stride": attributes["strides"]})
    layer = (1,) * (3 - count)
    return {
        "kernel_size": (1, 1, *layer, *sizes_of(attributes["kernel_size"], count)),
        "strides": (1, 1, *layer, *sizes_of(attributes["strides"], count)),
        "pad_mode": mode.upper(),
        "pad_list": (0,) * (6 - len(pad)) + pad,
        "ceil_mode": int(attributes["ceil_mode"]),
        "format": "NCDHW",
    }


def _of_volumes(
    b: Builder, primitive: str, values: list[Value], types: list, settings: dict
) -> list:
    """A pool of volumes; images become such and back."""
    x = values[0]
    if len(x.shape) == 5:
        return b.apply(primitive, [x], types, settings)
    (dtype, shape) = types[0]
    deep = b.one("ExpandDims", [x, 2], x, (*x.shape[:2], 1, *x.shape[2:]))
    found = b.apply(primitive, [deep], [(dtype, (*shape[:2], 1, *shape[2:]))], settings)[0]
    return b.apply("Squeeze", [found, (2,)], types)


def _check_pool(attributes: dict) -> None:
    if any(d != 1 for d in attributes.get("dilation", ())):
        raise NotThere("must have a dilation of 1 to go into a MINDIR file")
    if not _plain_pool(attributes) and attributes["data_format"] == "NHWC":
        raise NotThere("must have the format NCHW to go into a MINDIR file with padding")


def _max_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    _check_pool(attributes)
    count = len(values[0].shape) - 2
    if count == 3 or not _plain_pool(attributes):
        settings = {**_deep_pool(attributes, values[0].shape, types[0][1]), **_named("x")}
        return _of_volumes(b, "MaxPool3D", values, types, settings)
    settings = {
        "kernel_size": (1, 1, *sizes_of(attributes["kernel_size"], 2)),
        "strides": (1, 1, *sizes_of(attributes["strides"], 2)),
        "pad_mode": attributes["pad_mode"].upper(),
        "format": attributes["data_format"],
        **_named("x"),
    }
    return b.apply("MaxPool", values, types, settings)


def _avg_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    _check_pool(attributes)
    count = len(values[0].shape) - 2
    if count == 3 or attributes["divisor_override"] or not _plain_pool(attributes):
        settings = {
            **_deep_pool(attributes, values[0].shape, types[0][1]),
            "count_include_pad": bool(attributes["count_include_pad"]),
            "divisor_override": attributes["divisor_override"],
            **_named("input"),
        }
        return _of_volumes(b, "AvgPool3D", values, types, {**settings, "pad": settings["pad_list"]})
    mode = {"same": 1, "valid": 2}[attributes["pad_mode"]]
    layout = ("NCHW", "NHWC").index(attributes["data_format"])
    sizes = sizes_of(attributes["kernel_size"], 2), sizes_of(attributes["strides"], 2)
    return b.apply("AvgPool", [values[0], *sizes, mode, layout], types)


def _adaptive_avg_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    settings = {"output_size": tuple(types[0][1][-2:]), **_named("x", "y")}
    return b.apply("AdaptiveAvgPool2D", values, types, settings)


def _adaptive_max_pool(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    return b.apply("AdaptiveMaxPool2D", [values[0], tuple(types[0][1][-2:])], types)


def _pad(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    flat, x = attributes["paddings"], values[0]
    pairs = tuple((flat[i], flat[i + 1]) for i in range(0, len(flat), 2))
    if attributes["value"] == 0:
        return b.apply("Pad", [x], types, {"paddings": pairs, **_named("x", "y")})
    return _pad_from_last(b, x, pairs, b.scalar(attributes["value"], x.dtype), "constant", types)


def _pad_from_last(
    b: Builder, x: Value, pairs: tuple, value: Value | None, mode: str, types: list
) -> list:
    """By the primitive that counts axes from the last one, and knows no outer ones where nothing is added."""
    while len(pairs) > 1 and pairs[0] == (0, 0):
        pairs = pairs[1:]
    flat = tuple(n for pair in reversed(pairs) for n in pair)
    settings = {
        "mode": mode,
        "paddings_contiguous": True,
        **_named("x paddings constant_value", "y"),
    }
    return b.apply("PadV3", [x, flat, value], types, settings)


def _mirror_pad(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    mode, rows = attributes["mode"], np.reshape(attributes["paddings"], (-1, 2))
    if mode in ("REFLECT", "SYMMETRIC"):
        settings = {"mode": mode, **_named("x paddings", "y")}
        return b.apply("MirrorPad", [values[0], b.tensor(Tensor(rows.astype(np.int64)))], types, settings)  # fmt: skip
    pairs = tuple((int(a), int(z)) for a, z in rows)
    return _pad_from_last(b, values[0], pairs, None, mode.lower(), types)


# By mode and kind of coordinates of Resample: the primitive, and whether it aligns corners, or takes pixels for areas.
_RESIZES = {
    ("nearest", "asymmetric"): ("ResizeNearestNeighborV2", False, False),
    ("nearest", "align_corners"): ("ResizeNearestNeighborV2", True, False),
    ("nearest", "half_pixel"): ("ResizeNearestNeighborV2", False, True),
    ("linear", "asymmetric"): ("ResizeBilinearV2", False, False),
    ("linear", "align_corners"): ("ResizeBilinearV2", True, False),
    ("linear", "half_pixel"): ("ResizeBilinearV2", False, True),
    ("cubic", "asymmetric"): ("ResizeBicubic", False, False),
    ("cubic", "align_corners"): ("ResizeBicubic", True, False),
    ("keys", "half_pixel"): ("ResizeBicubic", False, True),
}


def _resample(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x, size = values[0], tuple(attributes["size"])
    found = _RESIZES.get((attributes["mode"], attributes["coordinates"]))
    if found is None or len(size) != 2 or len(x.shape) != 4:
        raise NotThere("must be of images [N, C, H, W], and of a mode that MINDIR files have")
    for scale, old, new in zip(attributes["scales"], x.shape[2:], size):
        if abs(scale * old - new) > 1e-6 * new:
            raise NotThere(f"must have positions by the sizes, not by the scale {scale}, to go into a MINDIR file")  # fmt: skip
    primitive, align_corners, half_pixel = found
    return b.apply(primitive, [x, size, align_corners, half_pixel], types)


def _grid_sample(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    settings = (
        GRID_MODES.index(attributes["mode"]),
        GRID_PADDINGS.index(attributes["padding_mode"]),
        bool(attributes["align_corners"]),
    )
    primitive = "GridSampler2D" if len(values[0].shape) == 4 else "GridSampler3D"
    return b.apply(primitive, [*values, *settings], types)


def _unfold(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """Windows as columns [N, C, elements of a window, windows]."""
    pad = _around(attributes["pad"] if attributes["pad_mode"] == "pad" else (0,), 2)
    if len(values[0].shape) != 4 or attributes["pad_mode"] == "same" or pad[::2] != pad[1::2]:
        raise NotThere("must be of images, padded alike on both sides, to go into a MINDIR file")
    settings = {
        "ksizes": sizes_of(attributes["kernel_size"], 2),
        "strides": sizes_of(attributes["strides"], 2),
        "dilations": sizes_of(attributes["dilation"], 2),
        "pads": pad[::2],
        "padding_mode": "CALCULATED",
        **_named("x", "y"),
    }
    return b.apply("Im2Col", values, types, settings)


WRITERS: dict[str, Callable[[Builder, list[Value], dict, list], list]] = {
    "AdaptiveAvgPool2D": _adaptive_avg_pool,
    "AdaptiveMaxPool2D": _adaptive_max_pool,
    "AvgPool": _avg_pool,
    "AvgPool3D": _avg_pool,
    "BatchNormInference": _batch_norm,
    "Conv2D": _conv,
    "Conv2DBackpropInput": _conv_transposed,
    "Conv3D": _conv_deep,
    "Conv3DBackpropInput": _conv_deep_transposed,
    "GridSample": _grid_sample,
    "MaxPool": _max_pool,
    "MaxPool3D": _max_pool,
    "MirrorPad": _mirror_pad,
    "Pad": _pad,
    "Resample": _resample,
    "Unfold": _unfold,
}
