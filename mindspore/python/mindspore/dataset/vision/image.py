"""Image arithmetic on NumPy arrays: shape checks, padding, colors.

Images are H×W or H×W×C arrays, or PIL images, which stay PIL images where Pillow can do the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import array_of, check_int, check_type
from mindspore.dataset.vision.utils import Border

_MAX_EXTENT = 1 << 16
_PAD_MODES: dict[Border, Any] = {
    Border.EDGE: "edge",
    Border.REFLECT: "reflect",
    Border.SYMMETRIC: "symmetric",
}


def is_pil(image: Any) -> bool:
    """Whether the image is a PIL one."""
    return hasattr(image, "getbands")


def pil_module(op: str) -> Any:
    """PIL.Image; a clear error where Pillow is missing."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"For '{op}', Pillow must be installed (pip install pillow), but importing it gave: {error}."
        ) from None
    return Image


def unreadable(module: Any) -> tuple[type[Exception], ...]:
    """What Pillow raises of bytes that are no picture, or one that is far too large."""
    return OSError, ValueError, SyntaxError, NotImplementedError, module.DecompressionBombError


def as_image(op: str, image: Any) -> np.ndarray:
    """The image as an array of rank 2 or 3."""
    array = array_of(op, image)
    if array.dtype.kind not in "uifb":
        raise TypeError(f"For '{op}', the image must hold numbers, but got {array.dtype}.")
    if array.ndim not in (2, 3):
        raise ValueError(
            f"For '{op}', the image must be <H, W> or <H, W, C>, but got shape {list(array.shape)}."
        )
    return array


# Pictures of bytes whose arrays look like those of RGB, RGBA or gray ones.
_OWN_MODES = ("CMYK", "YCbCr", "HSV", "LAB", "P")


def like(source: Any, result: np.ndarray, op: str) -> Any:
    """The result as a PIL image where the source was one, of its mode if it has as many bands."""
    if not is_pil(source):
        return result
    made = pil_module(op).fromarray(result)
    if source.mode not in _OWN_MODES or len(made.getbands()) != len(source.getbands()):
        return made
    made = pil_module(op).frombytes(source.mode, made.size, made.tobytes())
    if source.mode == "P":
        made.putpalette(source.getpalette())
    return made


def size_pair(op: str, size: Any, name: str = "size") -> tuple[int, int]:
    """(height, width) from an int or a pair."""
    if isinstance(size, (list, tuple)):
        if len(size) != 2:
            raise TypeError(f"For '{op}', {name} must be an int or two of them, but got {size!r}.")
        height, width = size
    else:
        height = width = size
    check_int(op, name, height, 1, _MAX_EXTENT)
    check_int(op, name, width, 1, _MAX_EXTENT)
    return int(height), int(width)


def restore(image: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Float results in the type of the input; integers are rounded and clipped to their range."""
    if dtype.kind in "ui":
        info = np.iinfo(dtype)
        return np.clip(np.rint(image), info.min, info.max).astype(dtype)
    return image.astype(dtype)


def padding_of(op: str, padding: Any) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) from one, two or four numbers; two are (left and right, top and
    bottom).
    """
    check_type(op, "padding", padding, (int, list, tuple))
    values = [padding] * 4 if isinstance(padding, int) else list(padding)
    if len(values) == 2:
        values = [values[0], values[1], values[0], values[1]]
    if len(values) != 4:
        raise ValueError(f"For '{op}', padding must have 1, 2 or 4 numbers, but got {padding!r}.")
    for value in values:
        check_int(op, "padding", value, 0, _MAX_EXTENT)
    return values[0], values[1], values[2], values[3]


def pad(
    image: np.ndarray, padding: tuple[int, int, int, int], fill: Any, mode: Border
) -> np.ndarray:
    """The image with a border."""
    left, top, right, bottom = padding
    extents = [(top, bottom), (left, right), (0, 0)][: image.ndim]
    if mode != Border.CONSTANT:
        return np.pad(image, extents, mode=_PAD_MODES[Border(mode)])
    height, width = image.shape[0] + top + bottom, image.shape[1] + left + right
    result = np.empty((height, width, *image.shape[2:]), image.dtype)
    result[...] = np.asarray(fill if isinstance(fill, Sequence) else [fill]).astype(image.dtype)
    if image.ndim == 2:
        result[...] = fill[0] if isinstance(fill, Sequence) else fill
    result[top : top + image.shape[0], left : left + image.shape[1]] = image
    return result


def gray(image: np.ndarray) -> np.ndarray:
    """Luma of an RGB image, as float32."""
    return image[..., :3].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
