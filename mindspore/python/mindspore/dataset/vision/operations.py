"""Image operations. They take H×W×C arrays or PIL images and give the same kind back, unless they say so."""

from __future__ import annotations

import io
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.random import row_key, row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_probability, check_type
from mindspore.dataset.transforms import native
from mindspore.dataset.transforms.transforms import PyTensorOperation, TypeCast, numpy_type
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision import pillow
from mindspore.dataset.vision.utils import Border, Inter

_MAX_ENCODED_PIXELS = 1 << 28
_KNOW_PILLOW = ("CenterCrop", "Pad", "RandomCrop")  # the engine does otherwise with PIL images


class ImageTensorOperation(PyTensorOperation):
    """Base: checks the image, keeps PIL images PIL images. What has a `spec` runs in the engine."""

    _by_pillow = True  # where Pillow has its own way with PIL images

    def pil_form(self) -> Callable[[Any], Any] | None:
        """What Pillow does with a PIL image where that differs from what the engine does."""
        by_pillow = self._by_pillow and not self.gives_arrays
        spec = getattr(self, "spec", lambda: None)() if by_pillow else None
        if spec is None or spec[0] not in pillow.FORMS:
            return None
        form, op = pillow.FORMS[spec[0]], type(self).__name__

        def apply(image: Any) -> Any:
            numbers = native.drawn(spec)
            return image if numbers is None else pillow.done(op, form, image, numbers)

        return apply

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        form = self.pil_form() if im.is_pil(value) else None
        if form is not None:
            return form(value)
        image = im.as_image(op, value)
        specs = native.spec_of(self) if im.is_pil(value) else None
        if specs and specs[0][0] in _KNOW_PILLOW:
            key = row_key() if self._draws else 0
            return im.like(value, native.chain_of([ToPIL(), self]).run(image, key), op)
        return im.like(value, self._image(image), op)

    @native.all_engine
    def _image(self, image: np.ndarray) -> np.ndarray:
        return np.asarray(native.run(self, image, self._draws))


class BatchTensorOperation(ImageTensorOperation):
    """Base of what also takes arrays of several images, <..., H, W, C>."""

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        if not im.is_pil(value) and np.ndim(value) > 3:
            return self._image(np.asarray(value))
        return super()._apply(value)


def _read_picture(content: bytes) -> tuple[np.ndarray | None, str]:
    """A picture of any format as an RGB array; else what is wrong with it."""
    module = im.pil_module("Decode")
    try:
        return np.array(_opened(module, content)), ""
    except module.UnidentifiedImageError:  # its text names no bytes, but an object of ours
        found = f"{len(content)} bytes from {content[:8]!r} on, which are of no known format"
        return None, f"the input must be a valid image, but got {found}."
    except im.unreadable(module) as error:
        return None, f"the input must be a valid image, but {error}."


def _opened(module: Any, content: bytes) -> Any:
    picture = module.open(io.BytesIO(content))
    if picture.width * picture.height > _MAX_ENCODED_PIXELS:
        raise ValueError(f"it has {picture.width}×{picture.height} pixels, more than are allowed")
    if picture.mode.startswith("I"):  # 16 bits, of which Pillow would cut off the upper ones
        picture = module.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
    return picture.convert("RGB")


_core.dataset.set_picture_reader(_read_picture)


class Decode(PyTensorOperation):
    """Encoded bytes (JPEG, PNG, ...) as an RGB image: an array, or with to_pil a PIL image."""

    takes_bytes = True

    def __init__(self, to_pil: bool = False) -> None:
        check_type("Decode", "to_pil", to_pil, bool)
        self.to_pil = to_pil

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "Decode", [float(self.to_pil)]

    def _apply(self, value: Any) -> Any:
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        image = native.run(self, value)
        return im.pil_module("Decode").fromarray(image) if self.to_pil else image


class ToPIL(PyTensorOperation):
    """An array as a PIL image."""

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "ToPIL", []

    def _apply(self, value: Any) -> Any:
        if im.is_pil(value):
            return value
        check_type("ToPIL", "the image", value, np.ndarray)
        array = im.as_image("ToPIL", value)
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[..., 0]
        return im.pil_module("ToPIL").fromarray(array)


class ToNumpy(PyTensorOperation):
    """A PIL image as an array."""

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "ToNumpy", []

    def _apply(self, value: Any) -> Any:
        return np.array(value)


class ToTensor(PyTensorOperation):
    """An image in [0, 255] as a C×H×W array in [0, 1]."""

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = numpy_type(output_type)

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        return ("ToTensor", []) if self.output_type == np.float32 else None

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        array = im.as_image("ToTensor", value)
        if self.spec() is not None:
            return native.run(self, array)
        if array.ndim == 2:
            array = array[..., None]
        chw = np.ascontiguousarray(array.transpose(2, 0, 1))
        if self.output_type.kind in "ui":
            return (chw / 255).astype(self.output_type)
        return chw.astype(self.output_type) / self.output_type.type(255)


class ToType(TypeCast, PyTensorOperation):
    """The array in another type."""


class HWC2CHW(PyTensorOperation):
    """Channels first; an image without channels stays as it is."""

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        return native.run(self, im.as_image("HWC2CHW", value))

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "HWC2CHW", []


class Rescale(PyTensorOperation):
    """image * rescale + shift, in float32."""

    def __init__(self, rescale: float, shift: float) -> None:
        check_type("Rescale", "rescale", rescale, (int, float))
        check_type("Rescale", "shift", shift, (int, float))
        self.rescale, self.shift = rescale, shift

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        return native.run(self, value)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "Rescale", [float(self.rescale), float(self.shift)]


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
        if not all(0 <= m <= 255 for m in mean):
            raise ValueError(f"For '{op}', mean must be in [0, 255], but got {list(mean)}.")
        if not all(0 < s <= 255 for s in std):
            raise ValueError(
                f"For '{op}', std must be positive and at most 255, but got {list(std)}."
            )
        check_type(op, "is_hwc", is_hwc, bool)
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
        self.is_hwc = is_hwc

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "Normalize", [float(self.is_hwc), *map(float, self.mean), *map(float, self.std)]

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        return native.run(self, im.as_image("Normalize", value))


class Resize(BatchTensorOperation):
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

    @native.all_engine
    def _apply(self, value: Any) -> Any:
        if im.is_pil(value):
            height, width = self._target(value.height, value.width)
            return value.resize((width, height), _pil_filter(self.interpolation))
        return super()._apply(value)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        pair = isinstance(self.size, (list, tuple))
        height, width = self.size if pair else (self.size, 0)
        return "Resize", [float(height), float(width), float(self.interpolation)]


def _pil_filter(inter: Inter) -> Any:
    module = im.pil_module("Resize")
    names = {Inter.NEAREST: "NEAREST", Inter.BILINEAR: "BILINEAR", Inter.BICUBIC: "BICUBIC",
             Inter.PILCUBIC: "BICUBIC", Inter.ANTIALIAS: "LANCZOS", Inter.AREA: "BOX"}  # fmt: skip
    return getattr(getattr(module, "Resampling", module), names[inter])


class Crop(ImageTensorOperation):
    """The part of `size` at `coordinates` = (top, left)."""

    gives_arrays = True

    def __init__(self, coordinates: Any, size: Any) -> None:
        check_type("Crop", "coordinates", coordinates, (list, tuple))
        if len(coordinates) != 2:
            raise TypeError(
                f"For 'Crop', coordinates must be (top, left), but got {coordinates!r}."
            )
        self.top, self.left = (check_int("Crop", "coordinates", c, 0) for c in coordinates)
        self.size = im.size_pair("Crop", size)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "Crop", [float(self.top), float(self.left), *map(float, self.size)]


class CenterCrop(BatchTensorOperation):
    """The middle of the image; zeros around a smaller one."""

    def __init__(self, size: Any) -> None:
        self.size = im.size_pair("CenterCrop", size)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "CenterCrop", [float(extent) for extent in self.size]


class Pad(ImageTensorOperation):
    """A border around the image."""

    def __init__(
        self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        self.padding = im.padding_of("Pad", padding)
        check_fill("Pad", fill_value)
        check_type("Pad", "padding_mode", padding_mode, Border)
        self.fill_value, self.padding_mode = fill_value, padding_mode

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        if self.padding_mode != Border.CONSTANT:
            return None
        return "Pad", [*map(float, self.padding), *_fill(self.fill_value)]

    @native.all_engine
    def _image(self, image: np.ndarray) -> np.ndarray:
        if self.spec() is not None:
            return super()._image(image)
        return im.pad(image, self.padding, self.fill_value, self.padding_mode)


def check_fill(op: str, value: Any) -> None:
    """Raise unless the value is a color of one number or three."""
    check_type(op, "fill_value", value, (int, tuple))
    values = value if isinstance(value, tuple) else (value,)
    if len(values) not in (1, 3):
        raise TypeError(f"For '{op}', fill_value must be one number or three, but got {value!r}.")
    for number in values:
        check_int(op, "fill_value", number, 0, 255)


def _fill(value: Any) -> list[float]:
    """The value of a border, one for all channels or one for each."""
    return [float(v) for v in value] if isinstance(value, (tuple, list)) else [float(value)]


class RandomCrop(ImageTensorOperation):
    """A part at a random place, after an optional border."""

    _draws = True

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
        check_fill("RandomCrop", fill_value)
        self.pad_if_needed = pad_if_needed
        self.fill_value, self.padding_mode = fill_value, padding_mode

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        if self.padding_mode != Border.CONSTANT:
            return None
        border = [*map(float, self.padding or (0, 0, 0, 0)), float(self.pad_if_needed)]
        return "RandomCrop", [*map(float, self.size), *border, *_fill(self.fill_value)]

    @native.all_engine
    def _image(self, image: np.ndarray) -> np.ndarray:
        if self.spec() is not None:
            return super()._image(image)
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
        return np.ascontiguousarray(image[top : top + height, left : left + width])


class RandomResizedCrop(ImageTensorOperation):
    """A part of random area (share of the image: `scale`) and aspect (`ratio`), resized."""

    _draws = True

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
            known = len(pair) == 2 and all(isinstance(end, Real) for end in pair)
            if not known or not 0 <= pair[0] <= pair[1] or pair[1] <= 0:
                raise ValueError(
                    f"For '{op}', {name} must be (low, high) with 0 <= low <= high, but got "
                    f"{pair!r}."
                )
        check_type(op, "interpolation", interpolation, Inter)
        self.scale, self.ratio, self.interpolation = tuple(scale), tuple(ratio), interpolation
        self.max_attempts = check_int(op, "max_attempts", max_attempts, 1)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        window = [*map(float, self.size), *map(float, self.scale), *map(float, self.ratio)]
        return "RandomResizedCrop", [*window, float(self.interpolation), float(self.max_attempts)]


class RandomCropDecodeResize(RandomResizedCrop):
    """RandomResizedCrop of encoded bytes, of which only that part is decoded."""

    takes_bytes = True

    @property
    def composed(self) -> Any:
        """See native.spec_of."""
        crop = RandomResizedCrop(
            self.size, self.scale, self.ratio, self.interpolation, self.max_attempts
        )
        return Decode(), crop

    def _apply(self, value: Any) -> Any:
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        return native.run(self, value, draws=True)


class HorizontalFlip(BatchTensorOperation):
    """Left and right exchanged."""

    gives_arrays = True

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "HorizontalFlip", []


class VerticalFlip(BatchTensorOperation):
    """Top and bottom exchanged."""

    gives_arrays = True

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "VerticalFlip", []


class _Sometimes(ImageTensorOperation):
    """Base of the operations that act with a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)

    def _apply(self, value: Any) -> Any:
        return super()._apply(value) if row_rng().random() < self.prob else value


class _RandomFlip(BatchTensorOperation):
    """Base of the flips that the engine draws."""

    _draws = True
    _flip = ""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return self._flip, [self.prob]


class RandomHorizontalFlip(_RandomFlip):
    """HorizontalFlip with a probability."""

    _flip = "HorizontalFlip"


class RandomVerticalFlip(_RandomFlip):
    """VerticalFlip with a probability."""

    _flip = "VerticalFlip"
