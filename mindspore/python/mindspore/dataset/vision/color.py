"""Image operations on colors, blur and sharpness. All are functions of the engine, with numbers that
are given or drawn; what they do with PIL images is in `pillow`.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_int, check_probability, check_type
from mindspore.dataset.transforms import native
from mindspore.dataset.vision import checks, pillow
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import (
    BatchTensorOperation,
    ImageTensorOperation,
    _Sometimes,
)


def need_rgb(op: str, image: np.ndarray) -> None:
    """Raise ValueError unless the image is an RGB one."""
    if image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"For '{op}', the image must be <H, W, 3>, but got shape {list(image.shape)}."
        )


class _Fixed(ImageTensorOperation):
    """Base of a function of the engine with its numbers."""

    _numbers: tuple[float, ...] = ()

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return type(self).__name__, list(self._numbers)


class _Drawn(ImageTensorOperation):
    """Base of another's function with numbers that are drawn between `low` and `high`, or with a
    probability.
    """

    _draws = True
    _of = ""
    _whole = False
    _spans: tuple[tuple[float, float], ...] = ()
    prob = 1.0

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        draws = [
            draw
            for place, (low, high) in enumerate(self._spans)
            for draw in checks.draw(place, low, high, self._whole)
        ]
        return self._of, [low for low, _ in self._spans], draws, self.prob

    def _set_probability(self, prob: Any) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)


class _Adjust(_Fixed):
    def __init__(self, factor: float) -> None:
        self.factor = checks.number(type(self).__name__, "the factor", factor, 0)
        self._numbers = (self.factor,)


class AdjustBrightness(_Adjust):
    """The image times a factor."""

    def __init__(self, brightness_factor: float) -> None:
        super().__init__(brightness_factor)


class AdjustContrast(_Adjust):
    """Distances from the mean gray times a factor."""

    def __init__(self, contrast_factor: float) -> None:
        super().__init__(contrast_factor)


class AdjustSaturation(_Adjust):
    """Distances from gray times a factor."""

    def __init__(self, saturation_factor: float) -> None:
        super().__init__(saturation_factor)


class AdjustSharpness(_Adjust):
    """Distances from the smooth image times a factor."""

    gives_arrays = True

    def __init__(self, sharpness_factor: float) -> None:
        super().__init__(sharpness_factor)


class AdjustHue(_Fixed):
    """Colors turned by up to half a turn."""

    def __init__(self, hue_factor: float) -> None:
        self.hue_factor = checks.number("AdjustHue", "hue_factor", hue_factor, -0.5, 0.5)
        self._numbers = (self.hue_factor,)


class AdjustGamma(BatchTensorOperation, _Fixed):
    """gain * image ** gamma, of values between 0 and the largest."""

    def __init__(self, gamma: float, gain: float = 1) -> None:
        gamma = checks.number("AdjustGamma", "gamma", gamma, 0)
        self._numbers = (gamma, checks.number("AdjustGamma", "gain", gain))


class RandomSharpness(_Drawn):
    """AdjustSharpness by a random factor within `degrees` = (least, most)."""

    _of = "AdjustSharpness"

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        self._spans = (checks.span("RandomSharpness", "degrees", degrees, 0),)


class RandomColor(_Drawn):
    """AdjustSaturation by a random factor within `degrees` = (least, most)."""

    _of = "AdjustSaturation"

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        self._spans = (checks.span("RandomColor", "degrees", degrees, 0),)


class RandomAdjustSharpness(_Drawn):
    """AdjustSharpness with a probability."""

    gives_arrays = True

    _of = "AdjustSharpness"

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        factor = checks.number("RandomAdjustSharpness", "degree", degree, 0)
        self._spans = ((factor, factor),)
        self._set_probability(prob)


class RandomColorAdjust(ImageTensorOperation):
    """Brightness, contrast, saturation and hue by random amounts, in random order."""

    _draws = True

    def __init__(
        self,
        brightness: Any = (1, 1),
        contrast: Any = (1, 1),
        saturation: Any = (1, 1),
        hue: Any = (0, 0),
    ) -> None:
        self.brightness = _span("brightness", brightness, 1.0, 0.0, None)
        self.contrast = _span("contrast", contrast, 1.0, 0.0, None)
        self.saturation = _span("saturation", saturation, 1.0, 0.0, None)
        self.hue = _span("hue", hue, 0.0, -0.5, 0.5)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        spans = (self.brightness, self.contrast, self.saturation, self.hue)
        return "RandomColorAdjust", [bound for span in spans for bound in span]


def _span(
    name: str, value: Any, centre: float, low: float, high: float | None
) -> tuple[float, float]:
    """(low, high) from a pair, or from the distance to the neutral value."""
    op = "RandomColorAdjust"
    check_type(op, name, value, (int, float, list, tuple))
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"For '{op}', {name} must not be negative, but got {value}.")
        value = (max(centre - value, low), centre + value)
    if len(value) != 2 or not low <= value[0] <= value[1] or (high is not None and value[1] > high):
        bound = "" if high is None else f" <= {high}"
        raise ValueError(
            f"For '{op}', {name} must be (a, b) with {low} <= a <= b{bound}, but got {value!r}."
        )
    return float(value[0]), float(value[1])


class Grayscale(ImageTensorOperation):
    """Gray with one channel (an <H, W> array) or three."""

    def __init__(self, num_output_channels: int = 1) -> None:
        known = isinstance(num_output_channels, Integral) and num_output_channels in (1, 3)
        if not known:
            raise ValueError(
                "For 'Grayscale', num_output_channels must be 1 or 3, but got "
                f"{num_output_channels}."
            )
        self.num_output_channels = num_output_channels

    def pil_form(self) -> Callable[[Any], Any]:
        """Gray of what the image shows, whatever its mode."""
        return lambda image: pillow.gray(image, self.num_output_channels)

    def _image(self, image: np.ndarray) -> np.ndarray:
        if image.ndim == 3:
            need_rgb("Grayscale", image)
            image = im.restore(im.gray(image), image.dtype)
        return image if self.num_output_channels == 1 else np.stack([image] * 3, axis=-1)


class RandomGrayscale(_Sometimes):
    """Gray with three channels, with a probability; what has one channel is left as it is."""

    def __init__(self, prob: float = 0.1) -> None:
        super().__init__(prob)

    def pil_form(self) -> Callable[[Any], Any]:
        """See Grayscale."""
        return lambda image: image if image.mode == "L" else pillow.gray(image, 3)

    def _image(self, image: np.ndarray) -> np.ndarray:
        return image if image.ndim == 2 else Grayscale(3)._image(image)


class Invert(_Fixed):
    """255 minus the image."""


class Equalize(_Fixed):
    """Each channel with its values spread so that all occur about equally often."""


class _Probably(_Drawn):
    """Base of what only has a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self._set_probability(prob)


class RandomInvert(_Probably):
    """Invert with a probability."""

    gives_arrays = True

    _of = "Invert"


class RandomEqualize(_Probably):
    """Equalize with a probability."""

    gives_arrays = True

    _of = "Equalize"
    _by_pillow = False


def _contrast(op: str, cutoff: Any, ignore: Any) -> tuple[float, ...]:
    share = checks.number(op, "cutoff", cutoff, 0, 50)
    if share == 50:
        raise ValueError(f"For '{op}', cutoff must be less than 50, but got {cutoff}.")
    check_type(op, "ignore", ignore, (int, list, tuple, type(None)))
    values = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
    return share, *(float(check_int(op, "ignore", value, 0, 255)) for value in values)


class AutoContrast(_Fixed):
    """Each channel stretched to [0, 255], after `cutoff` percent of its pixels at both ends and the
    values in `ignore` were left out of account.
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self._numbers = _contrast("AutoContrast", cutoff, ignore)


class RandomAutoContrast(_Drawn):
    """AutoContrast with a probability."""

    gives_arrays = True

    _of = "AutoContrast"

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        numbers = _contrast("RandomAutoContrast", cutoff, ignore)
        self._spans = tuple((number, number) for number in numbers)
        self._set_probability(prob)


class Solarize(_Fixed):
    """Pixels within `threshold` = (low, high), or from a number on, inverted."""

    gives_arrays = True

    def __init__(self, threshold: Any) -> None:
        op = "Solarize"
        check_type(op, "threshold", threshold, (int, float, list, tuple))
        pair = threshold if isinstance(threshold, (list, tuple)) else (threshold, 255)
        self._numbers = checks.span(op, "threshold", pair, 0, 255)


class RandomSolarize(_Drawn):
    """Solarize between two random thresholds within `threshold` = (least, most)."""

    gives_arrays = True

    _of = "Solarize"
    _whole = True

    def __init__(self, threshold: Any = (0, 255)) -> None:
        op = "RandomSolarize"
        check_type(op, "threshold", threshold, (list, tuple))
        if len(threshold) != 2:
            raise ValueError(f"For '{op}', threshold must be (least, most), but got {threshold!r}.")
        for bound in threshold:
            check_type(op, "threshold", bound, int)
        self._spans = (checks.span(op, "threshold", threshold, 0, 255),) * 2


class Posterize(_Fixed):
    """The upper `bits` of each byte, the others 0."""

    gives_arrays = True

    def __init__(self, bits: int) -> None:
        self._numbers = (float(check_int("Posterize", "bits", bits, 0, 8)),)


class RandomPosterize(_Drawn):
    """Posterize with a random number of bits within `bits` = (least, most)."""

    gives_arrays = True

    _of = "Posterize"
    _whole = True

    def __init__(self, bits: Any = (8, 8)) -> None:
        op = "RandomPosterize"
        check_type(op, "bits", bits, (int, list, tuple))
        pair = bits if isinstance(bits, (list, tuple)) else (bits, bits)
        for bound in pair:
            check_type(op, "bits", bound, int)
        self._spans = (checks.span(op, "bits", pair, 1, 8),)


class RandomLighting(ImageTensorOperation):
    """Noise of deviation `alpha` along the principal colors of ImageNet."""

    _draws = True

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = checks.number("RandomLighting", "alpha", alpha, 0)

    def _apply(self, value: Any) -> Any:
        # The colors that a PIL image shows are not always those of its bands.
        return super()._apply(value.convert("RGB") if im.is_pil(value) else value)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "RandomLighting", [self.alpha]


class GaussianBlur(_Fixed):
    """The image blurred; without `sigma`, as much as fits the size of the kernel."""

    gives_arrays = True

    def __init__(self, kernel_size: Any, sigma: Any = None) -> None:
        op = "GaussianBlur"
        check_type(op, "kernel_size", kernel_size, (int, list, tuple))
        sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * 2
        if len(sizes) != 2:
            raise TypeError(f"For '{op}', kernel_size must be one or two, but got {kernel_size!r}.")
        check_type(op, "sigma", sigma, (*checks.Number, list, tuple, type(None)))
        given = 0 if sigma is None else sigma
        deviations = given if isinstance(given, (list, tuple)) else (given, given)
        self._numbers = (
            *(float(checks.odd(op, "kernel_size", size)) for size in sizes),
            *checks.numbers(op, "sigma", deviations, (2,), 0),
        )
