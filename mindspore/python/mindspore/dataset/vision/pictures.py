"""Pictures as encoded bytes and in files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.utils import ImageReadMode

_MAX_PIXELS = 1 << 28


def read_file(filename: str) -> np.ndarray:
    """The bytes of a file, as an array."""
    return np.frombuffer(_content("read_file", filename), np.uint8)


def _content(op: str, filename: Any) -> bytes:
    check_type(op, "filename", filename, str)
    if not Path(filename).is_file():
        raise RuntimeError(f"For '{op}', filename must be a file, but got '{filename}'.")
    try:
        return Path(filename).read_bytes()
    except OSError as error:
        raise RuntimeError(f"For '{op}', '{filename}' must be readable, but {error}.") from None


def write_file(filename: str, data: Any) -> None:
    """An array of bytes, one-dimensional, as a file."""
    check_type("write_file", "filename", filename, str)
    array = _array("write_file", data)
    if array.dtype != np.uint8 or array.ndim != 1:
        raise RuntimeError(
            f"For 'write_file', data must be uint8 of rank 1, but got {array.dtype} of shape "
            f"{list(array.shape)}."
        )
    _write("write_file", filename, array.tobytes())


def _write(op: str, filename: Any, content: bytes) -> None:
    check_type(op, "filename", filename, str)
    try:
        Path(filename).write_bytes(content)
    except OSError as error:
        raise RuntimeError(f"For '{op}', '{filename}' must be writable, but {error}.") from None


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """The picture of a file as an <H, W, C> array."""
    op = "read_image"
    check_type(op, "mode", mode, ImageReadMode)
    content = _content(op, filename)
    module = im.pil_module(op)
    try:
        with module.open(io.BytesIO(content)) as picture:
            if picture.width * picture.height > _MAX_PIXELS:
                raise ValueError(f"it has {picture.width}×{picture.height} pixels")
            array = np.array(_converted(picture, mode))
    except im.unreadable(module) as error:
        raise RuntimeError(f"For '{op}', '{filename}' must be a picture, but {error}.") from None
    return array[..., None] if array.ndim == 2 else array


def _converted(picture: Any, mode: ImageReadMode) -> Any:
    if mode == ImageReadMode.GRAYSCALE:
        return picture.convert("L")
    if mode == ImageReadMode.COLOR or picture.mode not in ("L", "RGB", "RGBA", "I;16", "I"):
        return picture.convert("RGB")
    return picture


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """The bytes of an image as a JPEG picture; `quality` of 1 to 100."""
    return np.frombuffer(_encoded("encode_jpeg", image, quality=quality), np.uint8)


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """The bytes of an image as a PNG picture; `compression_level` of 0 to 9."""
    return np.frombuffer(
        _encoded("encode_png", image, compression_level=compression_level), np.uint8
    )


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """An image as a JPEG file."""
    _write("write_jpeg", filename, _encoded("write_jpeg", image, quality=quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """An image as a PNG file."""
    content = _encoded("write_png", image, compression_level=compression_level)
    _write("write_png", filename, content)


def _array(op: str, value: Any) -> np.ndarray:
    """An array or Tensor as an array."""
    array = value.asnumpy() if hasattr(value, "asnumpy") else value
    check_type(op, "the input", array, np.ndarray)
    return np.asarray(array)


def _encoded(
    op: str, value: Any, quality: int | None = None, compression_level: int | None = None
) -> bytes:
    for name, number, low, high in (
        ("quality", quality, 1, 100),
        ("compression_level", compression_level, 0, 9),
    ):
        if number is None:
            continue
        check_type(op, name, number, int)
        try:
            check_int(op, name, number, low, high)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
    image = _array(op, value)
    if image.dtype != np.uint8:
        raise RuntimeError(f"For '{op}', the image must hold uint8, but got {image.dtype}.")
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[..., 0]
    if image.size == 0 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
        raise RuntimeError(
            f"For '{op}', the image must be <H, W> or <H, W, 1 or 3>, but got shape "
            f"{list(image.shape)}."
        )
    picture, out = im.pil_module(op).fromarray(image), io.BytesIO()
    if quality is not None:
        picture.save(out, "JPEG", quality=quality)
    else:
        picture.save(out, "PNG", compress_level=compression_level)
    return out.getvalue()


def _shape(op: str, image: Any) -> tuple[int, ...]:
    """(height, width[, channels]) of an array, a Tensor or a PIL image."""
    if im.is_pil(image):
        bands = len(image.getbands())
        return (image.height, image.width, bands)
    array = _array(op, image)
    if array.ndim < 2:
        raise RuntimeError(
            f"For '{op}', the image must have a rank of 2 or more, but got {array.ndim}."
        )
    return array.shape


def get_image_size(image: Any) -> list[int]:
    """[height, width] of an image <..., H, W, C> or <H, W>, or of a PIL image."""
    shape = _shape("get_image_size", image)
    return list(shape[:2] if len(shape) == 2 else shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """The number of channels of an image <..., H, W, C> or <H, W>, or of a PIL image."""
    shape = _shape("get_image_num_channels", image)
    return 1 if len(shape) == 2 else shape[-1]
