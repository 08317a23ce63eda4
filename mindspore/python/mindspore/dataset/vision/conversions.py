"""Image operations between representations of colors, and linear maps of whole images."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.transforms.transforms import PyTensorOperation
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import ImageTensorOperation, Normalize
from mindspore.dataset.vision.utils import ConvertMode

# For each mode the channels that it takes, and which of them it gives: -1 is an opaque alpha channel.
_ORDERS: dict[int, tuple[int, list[int]]] = {
    0: (3, [0, 1, 2, -1]),
    1: (4, [0, 1, 2]),
    2: (3, [2, 1, 0, -1]),
    3: (4, [2, 1, 0]),
    4: (3, [2, 1, 0]),
    5: (4, [2, 1, 0, 3]),
    8: (1, [0, 0, 0]),
    9: (1, [0, 0, 0, -1]),
}
# Those that give gray: the channels that they take, and where red and blue are among them.
_GRAYS = {6: (3, 2, 0), 7: (3, 0, 2), 10: (4, 2, 0), 11: (4, 0, 2)}


class ConvertColor(ImageTensorOperation):
    """The image with its channels in another order, with or without alpha, or gray."""

    gives_arrays = True

    def __init__(self, convert_mode: ConvertMode) -> None:
        check_type("ConvertColor", "convert_mode", convert_mode, ConvertMode)
        self.convert_mode = convert_mode

    def _image(self, image: np.ndarray) -> np.ndarray:
        mode = int(self.convert_mode)
        count = _GRAYS[mode][0] if mode in _GRAYS else _ORDERS[mode][0]
        channels = 1 if image.ndim == 2 else image.shape[2]
        if channels != count:
            raise ValueError(
                f"For 'ConvertColor', the image must have {count} channels for "
                f"{self.convert_mode.name}, but got shape {list(image.shape)}."
            )
        if image.ndim == 2:
            image = image[..., None]
        if mode in _GRAYS:
            _, red, blue = _GRAYS[mode]
            gray = 0.299 * image[..., red] + 0.587 * image[..., 1] + 0.114 * image[..., blue]
            return im.restore(gray, image.dtype)
        opaque = np.iinfo(image.dtype).max if image.dtype.kind in "ui" else 1
        planes = [
            np.full(image.shape[:2], opaque, image.dtype) if c < 0 else image[..., c]
            for c in _ORDERS[mode][1]
        ]
        return np.stack(planes, -1)


class _Hsv(PyTensorOperation):
    """Base of the conversions of <..., H, W, C> or <..., C, H, W> arrays of three channels."""

    def __init__(self, is_hwc: bool = False) -> None:
        check_type(type(self).__name__, "is_hwc", is_hwc, bool)
        self.is_hwc = is_hwc

    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        array = np.asarray(value)
        if array.dtype.kind not in "uif":
            raise TypeError(f"For '{op}', the image must hold numbers, but got {array.dtype}.")
        axis = -1 if self.is_hwc else -3
        if array.ndim not in (3, 4) or array.shape[axis] != 3:
            layout = "<[N,] H, W, 3>" if self.is_hwc else "<[N,] 3, H, W>"
            raise ValueError(
                f"For '{op}', the image must be {layout}, but got shape {list(array.shape)}."
            )
        planes = np.moveaxis(array, axis, 0).astype(np.float64)
        return np.ascontiguousarray(np.moveaxis(self._planes(*planes), 0, axis))

    def _planes(self, *planes: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class RgbToHsv(_Hsv):
    """Red, green and blue in [0, 1] as hue, saturation and value, float64."""

    def _planes(self, *planes: np.ndarray) -> np.ndarray:
        red, green, blue = planes
        high = np.maximum(np.maximum(red, green), blue)
        span = high - np.minimum(np.minimum(red, green), blue)
        safe = np.where(span == 0, 1, span)
        hue = np.where(high == green, 2 + (blue - red) / safe, 4 + (red - green) / safe)
        hue = np.where(high == red, (green - blue) / safe, hue) / 6 % 1.0
        saturation = span / np.where(high == 0, 1, high)
        return np.stack([np.where(span == 0, 0, hue), saturation, high])


class HsvToRgb(_Hsv):
    """Hue, saturation and value in [0, 1] as red, green and blue: float64, but of the type that was given
    where the first pixel is gray.
    """

    def _apply(self, value: Any) -> Any:
        made, given = super()._apply(value), np.asarray(value)
        saturation = np.take(given, 1, axis=-1 if self.is_hwc else -3)
        # As MindSpore has it, for which the first pixel decides what all become.
        gray = saturation.size > 0 and saturation.flat[0] == 0
        return made.astype(given.dtype) if gray else made

    def _planes(self, *planes: np.ndarray) -> np.ndarray:
        hue, saturation, value = planes
        sixth = np.trunc(hue * 6)
        beyond = hue * 6 - sixth
        low, falling = value * (1 - saturation), value * (1 - saturation * beyond)
        rising = value * (1 - saturation * (1 - beyond))
        which = np.nan_to_num(sixth % 6).astype(np.intp)
        return np.stack(
            [
                np.choose(which, [value, falling, low, low, rising, value]),
                np.choose(which, [rising, value, value, falling, low, low]),
                np.choose(which, [low, low, rising, value, value, falling]),
            ]
        )


class NormalizePad(Normalize):
    """Normalize, with a fourth channel of zeros."""

    def __init__(self, mean: Any, std: Any, dtype: str = "float32", is_hwc: bool = True) -> None:
        super().__init__(mean, std, is_hwc)
        check_type("NormalizePad", "dtype", dtype, str)
        if dtype not in ("float32", "float16"):
            raise ValueError(
                f"For 'NormalizePad', dtype must be 'float32' or 'float16', but got '{dtype}'."
            )
        self.dtype = np.dtype(dtype)

    def spec(self) -> None:  # type: ignore[override]
        """Only in Python."""

    def _apply(self, value: Any) -> Any:
        image = im.as_image("NormalizePad", value)
        if image.ndim != 3 or image.shape[2 if self.is_hwc else 0] != 3:
            layout = "<H, W, 3>" if self.is_hwc else "<3, H, W>"
            raise ValueError(
                f"For 'NormalizePad', the image must be {layout}, but got {list(image.shape)}."
            )
        mean, std = self.mean.tolist(), self.std.tolist()
        scaled = np.asarray(Normalize(mean, std, self.is_hwc)(image))
        border = [(0, 0), (0, 0), (0, 1)] if self.is_hwc else [(0, 1), (0, 0), (0, 0)]
        return np.pad(scaled, border).astype(self.dtype)


class LinearTransformation(PyTensorOperation):
    """A C×H×W image, flat, minus a vector, times a square matrix."""

    def __init__(self, transformation_matrix: Any, mean_vector: Any) -> None:
        op = "LinearTransformation"
        check_type(op, "transformation_matrix", transformation_matrix, np.ndarray)
        check_type(op, "mean_vector", mean_vector, np.ndarray)
        matrix = transformation_matrix
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"For '{op}', transformation_matrix must be square, but got {list(matrix.shape)}."
            )
        if mean_vector.shape != matrix.shape[:1]:
            raise ValueError(
                f"For '{op}', mean_vector must have {matrix.shape[0]} numbers, but got shape "
                f"{list(mean_vector.shape)}."
            )
        self.transformation_matrix, self.mean_vector = matrix, mean_vector

    def _apply(self, value: Any) -> Any:
        array = np.asarray(value)
        size = self.mean_vector.shape[0]
        if array.ndim != 3 or array.size != size:
            raise ValueError(
                f"For 'LinearTransformation', the image must be <C, H, W> of {size} numbers, but "
                f"got shape {list(array.shape)}."
            )
        flat = array.reshape(1, size) - self.mean_vector
        return (flat @ self.transformation_matrix).reshape(array.shape)
