"""Image operations. They take H×W×C arrays or PIL images and give the same kind back, unless they
say so.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_probability, check_type
from mindspore.dataset.transforms.transforms import PyTensorOperation, numpy_type
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.utils import Border, Inter

_MAX_ENCODED_PIXELS = 1 << 28


class ImageTensorOperation(PyTensorOperation):
    """Base: checks the image, keeps PIL images PIL images."""

    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        return im.like(value, self._image(im.as_image(op, value)), op)

    def _image(self, image: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class Decode(PyTensorOperation):
    """Encoded bytes (JPEG, PNG, ...) as an RGB image: an array, or with to_pil a PIL image."""

    def __init__(self, to_pil: bool = False) -> None:
        check_type("Decode", "to_pil", to_pil, bool)
        self.to_pil = to_pil

    def _apply(self, value: Any) -> Any:
        module = im.pil_module("Decode")
        if not isinstance(value, bytes):
            value = np.asarray(value)
            if value.ndim > 1 or value.dtype.kind not in "uiS":
                raise TypeError(
                    "For 'Decode', the input must be encoded bytes, but got an array of "
                    f"{value.dtype} of rank {value.ndim}."
                )
            value = value.tobytes()
        try:
            picture = module.open(io.BytesIO(value))
            if picture.width * picture.height > _MAX_ENCODED_PIXELS:
                raise ValueError(
                    f"it has {picture.width}×{picture.height} pixels, more than are allowed"
                )
            picture = picture.convert("RGB")
        except (OSError, ValueError, SyntaxError) as error:
            raise ValueError(
                f"For 'Decode', the input must be a valid image, but {error}."
            ) from None
        return picture if self.to_pil else np.array(picture)


class ToPIL(PyTensorOperation):
    """An array as a PIL image."""

    def _apply(self, value: Any) -> Any:
        if im.is_pil(value):
            return value
        array = im.as_image("ToPIL", value)
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[..., 0]
        return im.pil_module("ToPIL").fromarray(array)


class ToNumpy(PyTensorOperation):
    """A PIL image as an array."""

    def _apply(self, value: Any) -> Any:
        return np.array(value)


class ToTensor(PyTensorOperation):
    """An image in [0, 255] as a C×H×W array in [0, 1]."""

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = numpy_type(output_type)

    def _apply(self, value: Any) -> Any:
        array = im.as_image("ToTensor", value)
        if array.ndim == 2:
            array = array[..., None]
        chw = np.ascontiguousarray(array.transpose(2, 0, 1))
        if self.output_type.kind in "ui":
            return (chw / 255).astype(self.output_type)
        return chw.astype(self.output_type) / self.output_type.type(255)


class ToType(PyTensorOperation):
    """The array in another type."""

    def __init__(self, data_type: Any) -> None:
        self.data_type = numpy_type(data_type)

    def _apply(self, value: Any) -> Any:
        return np.asarray(value).astype(self.data_type)


class HWC2CHW(PyTensorOperation):
    """Channels first; an image without channels stays as it is."""

    def _apply(self, value: Any) -> Any:
        array = im.as_image("HWC2CHW", value)
        return array if array.ndim == 2 else np.ascontiguousarray(array.transpose(2, 0, 1))


class Rescale(PyTensorOperation):
    """image * rescale + shift, in float32."""

    def __init__(self, rescale: float, shift: float) -> None:
        check_type("Rescale", "rescale", rescale, (int, float))
        check_type("Rescale", "shift", shift, (int, float))
        self.rescale, self.shift = rescale, shift

    def _apply(self, value: Any) -> Any:
        return np.asarray(value).astype(np.float32) * np.float32(self.rescale) + np.float32(
            self.shift
        )


class Normalize(PyTensorOperation):
    """(image - mean) / std for each channel, in float32."""

    def __init__(self, mean: Any, std: Any, is_hwc: bool = True) -> None:
        op = "Normalize"
        for name, values in (("mean", mean), ("std", std)):
            check_type(op, name, values, (list, tuple))
            for value in values:
                check_type(op, name, value, (int, float))
        if len(mean) != len(std):
            raise ValueError(
                f"For '{op}', mean and std must have equal lengths, but got {len(mean)} and "
                f"{len(std)}."
            )
        if any(s <= 0 for s in std):
            raise ValueError(f"For '{op}', std must be positive, but got {list(std)}.")
        check_type(op, "is_hwc", is_hwc, bool)
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
        self.is_hwc = is_hwc

    def _apply(self, value: Any) -> Any:
        array = np.asarray(value)
        if array.ndim == 2:
            array = array[..., None] if self.is_hwc else array[None]
        axis = -1 if self.is_hwc else 0
        if array.ndim != 3 or len(self.mean) not in (1, array.shape[axis]):
            raise ValueError(
                "For 'Normalize', mean must have one entry for each channel, but got "
                f"{len(self.mean)} for an "
                f"image of shape {list(array.shape)} (is_hwc={self.is_hwc})."
            )
        shape = (-1,) if self.is_hwc else (-1, 1, 1)
        result = (array.astype(np.float32) - self.mean.reshape(shape)) / self.std.reshape(shape)
        return result.reshape(np.shape(value))


class Resize(ImageTensorOperation):
    """size = (height, width), or the length of the shorter side."""

    def __init__(self, size: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        im.size_pair("Resize", size)
        check_type("Resize", "interpolation", interpolation, Inter)
        self.size, self.interpolation = size, interpolation

    def _target(self, height: int, width: int) -> tuple[int, int]:
        if isinstance(self.size, (list, tuple)):
            return int(self.size[0]), int(self.size[1])
        if height < width:
            return int(self.size), max(int(self.size * width / height), 1)
        return max(int(self.size * height / width), 1), int(self.size)

    def _apply(self, value: Any) -> Any:
        if im.is_pil(value):
            height, width = self._target(value.height, value.width)
            return value.resize((width, height), _pil_filter(self.interpolation))
        return super()._apply(value)

    def _image(self, image: np.ndarray) -> np.ndarray:
        return im.resize("Resize", image, self._target(*image.shape[:2]), self.interpolation)


def _pil_filter(inter: Inter) -> Any:
    module = im.pil_module("Resize")
    names = {Inter.NEAREST: "NEAREST", Inter.BILINEAR: "BILINEAR", Inter.BICUBIC: "BICUBIC",
             Inter.PILCUBIC: "BICUBIC", Inter.ANTIALIAS: "LANCZOS", Inter.AREA: "BOX"}  # fmt: skip
    return getattr(getattr(module, "Resampling", module), names[inter])


class Crop(ImageTensorOperation):
    """The part of `size` at `coordinates` = (top, left)."""

    def __init__(self, coordinates: Any, size: Any) -> None:
        check_type("Crop", "coordinates", coordinates, (list, tuple))
        self.top, self.left = (check_int("Crop", "coordinates", c, 0) for c in coordinates)
        self.size = im.size_pair("Crop", size)

    def _image(self, image: np.ndarray) -> np.ndarray:
        return _cut("Crop", image, self.top, self.left, self.size)


def _cut(op: str, image: np.ndarray, top: int, left: int, size: tuple[int, int]) -> np.ndarray:
    if top + size[0] > image.shape[0] or left + size[1] > image.shape[1]:
        raise ValueError(
            f"For '{op}', the part must lie in the image of {image.shape[0]}×{image.shape[1]}, but "
            f"got {size[0]}×{size[1]} at ({top}, {left})."
        )
    return np.ascontiguousarray(image[top : top + size[0], left : left + size[1]])


class CenterCrop(ImageTensorOperation):
    """The middle of the image; zeros around a smaller one."""

    def __init__(self, size: Any) -> None:
        self.size = im.size_pair("CenterCrop", size)

    def _image(self, image: np.ndarray) -> np.ndarray:
        height, width = self.size
        missing = max(height - image.shape[0], 0), max(width - image.shape[1], 0)
        if any(missing):
            top, left = (missing[0] + 1) // 2, missing[1] // 2
            image = im.pad(
                image, (left, top, missing[1] - left, missing[0] - top), 0, Border.CONSTANT
            )
        return _cut(
            "CenterCrop",
            image,
            (image.shape[0] - height) // 2,
            (image.shape[1] - width) // 2,
            self.size,
        )


class Pad(ImageTensorOperation):
    """A border around the image."""

    def __init__(
        self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        self.padding = im.padding_of("Pad", padding)
        check_type("Pad", "fill_value", fill_value, (int, tuple))
        check_type("Pad", "padding_mode", padding_mode, Border)
        self.fill_value, self.padding_mode = fill_value, padding_mode

    def _image(self, image: np.ndarray) -> np.ndarray:
        return im.pad(image, self.padding, self.fill_value, self.padding_mode)


class RandomCrop(ImageTensorOperation):
    """A part at a random place, after an optional border."""

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = im.size_pair("RandomCrop", size)
        self.padding = None if padding is None else im.padding_of("RandomCrop", padding)
        check_type("RandomCrop", "pad_if_needed", pad_if_needed, bool)
        check_type("RandomCrop", "padding_mode", padding_mode, Border)
        self.pad_if_needed, self.fill_value, self.padding_mode = (
            pad_if_needed,
            fill_value,
            padding_mode,
        )

    def _image(self, image: np.ndarray) -> np.ndarray:
        if self.padding is not None:
            image = im.pad(image, self.padding, self.fill_value, self.padding_mode)
        height, width = self.size
        if self.pad_if_needed:
            rows, columns = max(height - image.shape[0], 0), max(width - image.shape[1], 0)
            image = im.pad(
                image, (columns, rows, columns, rows), self.fill_value, self.padding_mode
            )
        if height > image.shape[0] or width > image.shape[1]:
            raise ValueError(
                f"For 'RandomCrop', the image must have at least {height}×{width} pixels, but got "
                f"{image.shape[0]}×{image.shape[1]}. Use pad_if_needed=True."
            )
        rng = row_rng()
        top = int(rng.integers(image.shape[0] - height + 1))
        left = int(rng.integers(image.shape[1] - width + 1))
        return _cut("RandomCrop", image, top, left, self.size)


class RandomResizedCrop(ImageTensorOperation):
    """A part of random area (share of the image: `scale`) and aspect (`ratio`), resized."""

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        op = type(self).__name__
        self.size = im.size_pair(op, size)
        for name, pair in (("scale", scale), ("ratio", ratio)):
            check_type(op, name, pair, (list, tuple))
            if len(pair) != 2 or not 0 <= pair[0] <= pair[1] or pair[1] <= 0:
                raise ValueError(
                    f"For '{op}', {name} must be (low, high) with 0 <= low <= high, but got "
                    f"{pair!r}."
                )
        check_type(op, "interpolation", interpolation, Inter)
        self.scale, self.ratio, self.interpolation = tuple(scale), tuple(ratio), interpolation
        self.max_attempts = check_int(op, "max_attempts", max_attempts, 1)

    def _window(self, height: int, width: int) -> tuple[int, int, int, int]:
        rng = row_rng()
        low, high = np.log(np.maximum(self.ratio, 1e-6))
        for _ in range(self.max_attempts):
            area = height * width * rng.uniform(*self.scale)
            aspect = np.exp(rng.uniform(low, high))
            w, h = round(float(np.sqrt(area * aspect))), round(float(np.sqrt(area / aspect)))
            if 0 < w <= width and 0 < h <= height:
                return int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1)), h, w
        # No draw fitted: the largest middle part with an allowed aspect.
        aspect = min(max(width / height, self.ratio[0]), self.ratio[1])
        w, h = (
            min(width, max(round(height * aspect), 1)),
            min(height, max(round(width / aspect), 1)),
        )
        return (height - h) // 2, (width - w) // 2, h, w

    def _image(self, image: np.ndarray) -> np.ndarray:
        op = type(self).__name__
        top, left, height, width = self._window(*image.shape[:2])
        return im.resize(
            op, _cut(op, image, top, left, (height, width)), self.size, self.interpolation
        )


class RandomCropDecodeResize(RandomResizedCrop):
    """RandomResizedCrop of encoded bytes."""

    def _apply(self, value: Any) -> Any:
        return self._image(Decode()(value))


class HorizontalFlip(ImageTensorOperation):
    """Left and right exchanged."""

    def _image(self, image: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(image[:, ::-1])


class VerticalFlip(ImageTensorOperation):
    """Top and bottom exchanged."""

    def _image(self, image: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(image[::-1])


class _Sometimes(ImageTensorOperation):
    """Base of the operations that act with a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)

    def _apply(self, value: Any) -> Any:
        return super()._apply(value) if row_rng().random() < self.prob else value


class RandomHorizontalFlip(_Sometimes, HorizontalFlip):
    """HorizontalFlip with a probability."""


class RandomVerticalFlip(_Sometimes, VerticalFlip):
    """VerticalFlip with a probability."""
