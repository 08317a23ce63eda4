"""How primitives of images, and of volumes, are read: their settings have values for all axes, under names of two generations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore import _core, ops
from mindspore.common.tensor import Tensor
from mindspore.train._mindir.rules import GRID_MODES, GRID_PADDINGS


class Call(NamedTuple):
    """What to apply, to which values, with which settings."""

    function: Callable
    inputs: list
    settings: dict


def only(plain: dict, wanted: str) -> Any:
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


def _mode(plain: dict) -> str:
    return str(plain.get("pad_mode", "valid")).lower()


def _convolution(plain: dict, count: int) -> dict:
    pad = plain.get("pad", 0)
    return {
        "out_channel": only(plain, "out_channel"),
        "kernel_size": _last(only(plain, "kernel_size"), count),
        "mode": plain.get("mode", 1),
        "pad_mode": str(only(plain, "pad_mode")).lower(),
        "pad": pad if isinstance(pad, tuple) else (pad,) * (2 * count),
        "stride": _last(only(plain, "stride"), count),
        "dilation": _last(plain.get("dilation", 1), count),
        "group": plain.get("group", 1),
        "data_format": _layout(plain),
    }


def _conv(op: str, count: int) -> Callable[[list, dict], Call]:
    return lambda values, plain: Call(_core.op(op), values, _convolution(plain, count))


def _conv_transposed(values: list, plain: dict) -> Call:
    if len(values) != 3 or not isinstance(values[2], tuple):
        raise ValueError("the sizes of a transposed convolution must be constants")
    settings = {**_convolution(plain, 2), "input_size": values[2]}
    return Call(_core.op("Conv2DBackpropInput"), values[:2], settings)


def _conv_deep_transposed(values: list, plain: dict) -> Call:
    settings = {**_convolution(plain, 3), "input_size": only(plain, "input_size")}
    if any(_last(plain.get("output_padding", 0), 3)):
        raise ValueError("'Conv3DTranspose' must have no padding of its output")
    settings["out_channel"] = only(
        plain, "in_channel"
    )  # of the convolution that this is the gradient of
    return Call(_core.op("Conv3DBackpropInput"), values, settings)


def _pool(plain: dict, count: int) -> dict:
    return {
        "kernel_size": _last(only(plain, "kernel_size"), count),
        "strides": _last(only(plain, "strides"), count),
        "pad_mode": _mode(plain),
    }


def _max_pool(values: list, plain: dict) -> Call:
    return Call(_core.op("MaxPool"), values, {**_pool(plain, 2), "data_format": _layout(plain)})


def _deep_pool(op: str) -> Callable[[list, dict], Call]:
    def read(values: list, plain: dict) -> Call:
        settings = {
            **_pool(plain, 3),
            "pad": _last(plain.get("pad_list", 0), 6) if _mode(plain) == "pad" else (0,),
            "ceil_mode": bool(plain.get("ceil_mode", False)),
            "data_format": plain.get("format", "NCDHW"),
        }
        if op == "AvgPool3D":
            settings["count_include_pad"] = bool(plain.get("count_include_pad", True))
            settings["divisor_override"] = plain.get("divisor_override", 0)
        return Call(_core.op(op), values, settings)

    return read


def _avg_pool(values: list, plain: dict) -> Call:
    names = ("kernel_size", "strides", "pad_mode", "format")
    given = dict(zip(names, values[1:])) if len(values) > 1 else plain
    mode, layout = given.get("pad_mode", "valid"), given.get("format", "NCHW")
    if mode in (1, 2):
        mode = {1: "same", 2: "valid"}[mode]
    settings = {
        "kernel_size": _last(only(given, "kernel_size"), 2),
        "strides": _last(only(given, "strides"), 2),
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


def _adaptive(op: str) -> Callable[[list, dict], Call]:
    def read(values: list, plain: dict) -> Call:
        size = values[1] if len(values) > 1 else only(plain, "output_size")
        return Call(_core.op(op), values[:1], {"output_size": size})

    return read


def _pad(values: list, plain: dict) -> Call:
    pairs = only(plain, "paddings")
    if not isinstance(pairs, tuple) or any(not isinstance(p, tuple) or len(p) != 2 for p in pairs):
        raise ValueError("'paddings' must be pairs")
    return Call(
        _core.op("Pad"), values, {"paddings": tuple(size for pair in pairs for size in pair)}
    )


_MODES = {"reflect": "REFLECT", "symmetric": "SYMMETRIC", "edge": "EDGE", "circular": "CIRCULAR"}


def _pad_from_last(values: list, plain: dict) -> Call:
    """Paddings from the last axis on; of a constant, what fills them beside."""
    flat, mode = _numbers(values[1], "paddings"), plain.get("mode", "constant")
    if len(flat) % 2 or mode not in ("constant", *_MODES):
        raise ValueError(f"'PadV3' has the paddings {flat} and the mode {mode!r}")
    if plain.get("paddings_contiguous", True) is not True:
        raise ValueError("'PadV3' must have the paddings of an axis side by side")
    pairs = list(zip(flat[::2], flat[1::2]))[::-1]
    settings: dict[str, Any] = {"pairs": tuple(pairs), "mode": mode, "value": 0.0}
    if mode == "constant" and len(values) > 2 and values[2] is not None:
        settings["value"] = _numbers(values[2], "constant_value")[0]
    return Call(_padded, values[:1], settings)


def _padded(x: Any, pairs: tuple, mode: str, value: float) -> Any:
    rows = ((0, 0),) * (x.ndim - len(pairs)) + pairs
    flat = tuple(size for row in rows for size in row)
    if mode == "constant":
        return _core.op("Pad")(x, paddings=flat, value=value)
    return _core.op("MirrorPad")(x, paddings=flat, mode=_MODES[mode])


def _mirror_pad(values: list, plain: dict) -> Call:
    settings = {"paddings": _numbers(values[1], "paddings"), "mode": only(plain, "mode")}
    return Call(_core.op("MirrorPad"), values[:1], settings)


def _numbers(value: Any, name: str) -> tuple:
    """Of a constant: a number, a tuple or a tensor."""
    if isinstance(value, Tensor):
        return tuple(value.asnumpy().flatten().tolist())
    if isinstance(value, (int, float)):
        return (value,)
    if not isinstance(value, tuple):
        raise ValueError(f"'{name}' must be a constant")
    return value


_RESIZES = {
    "ResizeBicubic": "cubic",
    "ResizeBilinear": "linear",
    "ResizeBilinearV2": "linear",
    "ResizeNearestNeighbor": "nearest",
    "ResizeNearestNeighborV2": "nearest",
}


def _resize(mode: str) -> Callable[[list, dict], Call]:
    def read(values: list, plain: dict) -> Call:
        names = ("size", "align_corners", "half_pixel_centers")
        given = {**plain, **dict(zip(names, values[1:]))}
        if given.get("align_corners", False):
            coordinates = "align_corners"
        else:
            coordinates = "half_pixel" if given.get("half_pixel_centers", False) else "asymmetric"
        keys = mode == "cubic" and coordinates == "half_pixel"
        settings = {
            "size": _numbers(only(given, "size"), "size"),
            "mode": "keys" if keys else mode,
            "coordinates": coordinates,
        }
        return Call(_core.op("Resample"), values[:1], settings)

    return read


def _grid_sample(values: list, plain: dict) -> Call:
    mode, padding, aligned = values[2:] if len(values) == 5 else (-1, -1, False)
    if mode not in (0, 1) or padding not in (0, 1, 2):
        raise ValueError(f"a sampler of a grid has the mode {mode!r} and the padding {padding!r}")
    settings = {
        "mode": GRID_MODES[mode],
        "padding_mode": GRID_PADDINGS[padding],
        "align_corners": bool(aligned),
    }
    return Call(_core.op("GridSample"), values[:2], settings)


def _unfold(values: list, plain: dict) -> Call:
    height, width = _last(plain.get("pads", 0), 2)
    settings = {
        "kernel_size": _last(only(plain, "ksizes"), 2),
        "strides": _last(plain.get("strides", 1), 2),
        "dilation": _last(plain.get("dilations", 1), 2),
        "pad": (height, height, width, width),
    }
    return Call(_core.op("Unfold"), values, settings)


_LRN = ("depth_radius", "bias", "alpha", "beta", "norm_region")


def _lrn(values: list, plain: dict) -> Call:
    return Call(ops.LRN(**{name: only(plain, name) for name in _LRN}), values, {})


READERS: dict[str, Callable[[list, dict], Call]] = {
    "AdaptiveAvgPool2D": _adaptive("AdaptiveAvgPool2D"),
    "AdaptiveMaxPool2D": _adaptive("AdaptiveMaxPool2D"),
    "AvgPool": _avg_pool,
    "AvgPool3D": _deep_pool("AvgPool3D"),
    "BatchNorm": _batch_norm,
    "Conv2D": _conv("Conv2D", 2),
    "Conv2DBackpropInput": _conv_transposed,
    "Conv2DTranspose": _conv_transposed,
    "Conv3D": _conv("Conv3D", 3),
    "Conv3DTranspose": _conv_deep_transposed,
    "GridSampler2D": _grid_sample,
    "GridSampler3D": _grid_sample,
    "Im2Col": _unfold,
    "LRN": _lrn,
    "MaxPool": _max_pool,
    "MaxPool3D": _deep_pool("MaxPool3D"),
    "MirrorPad": _mirror_pad,
    "Pad": _pad,
    "PadV3": _pad_from_last,
    **{name: _resize(mode) for name, mode in _RESIZES.items()},
}
