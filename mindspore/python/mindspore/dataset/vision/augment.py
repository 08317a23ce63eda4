"""Chains of image operations that are drawn: policies found by AutoAugment (Cubuk et al. 2018), and the
ones without a search, RandAugment (2019) and TrivialAugment (Müller and Hutter 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.transforms.transforms import PyTensorOperation, TensorOperation
from mindspore.dataset.vision import checks, color, geometry
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.utils import AutoAugmentPolicy, Inter

# The policies, a pair of steps a row: a step is a name, its probability and its magnitude of 0 to 9.
_POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize 0.4 8 Rotate 0.6 9 | Solarize 0.6 5 AutoContrast 0.6 0 | Equalize 0.8 0 Equalize 0.6 0
        Posterize 0.6 7 Posterize 0.6 6 | Equalize 0.4 0 Solarize 0.2 4 | Equalize 0.4 0 Rotate 0.8 8
        Solarize 0.6 3 Equalize 0.6 0 | Posterize 0.8 5 Equalize 1.0 0 | Rotate 0.2 3 Solarize 0.6 8
        Equalize 0.6 0 Posterize 0.4 6 | Rotate 0.8 8 Color 0.4 0 | Rotate 0.4 9 Equalize 0.6 0
        Equalize 0.0 0 Equalize 0.8 0 | Invert 0.6 0 Equalize 1.0 0 | Color 0.6 4 Contrast 1.0 8
        Rotate 0.8 8 Color 1.0 2 | Color 0.8 8 Solarize 0.8 7 | Sharpness 0.4 7 Invert 0.6 0
        ShearX 0.6 5 Equalize 1.0 0 | Color 0.4 0 Equalize 0.6 0 | Equalize 0.4 0 Solarize 0.2 4
        Solarize 0.6 5 AutoContrast 0.6 0 | Invert 0.6 0 Equalize 1.0 0 | Color 0.6 4 Contrast 1.0 8
        Equalize 0.8 0 Equalize 0.6 0""",
    AutoAugmentPolicy.CIFAR10: """
        Invert 0.1 0 Contrast 0.2 6 | Rotate 0.7 2 TranslateX 0.3 9 | Sharpness 0.8 1 Sharpness 0.9 3
        ShearY 0.5 8 TranslateY 0.7 9 | AutoContrast 0.5 0 Equalize 0.9 0 | ShearY 0.2 7 Posterize 0.3 7
        Color 0.4 3 Brightness 0.6 7 | Sharpness 0.3 9 Brightness 0.7 9 | Equalize 0.6 0 Equalize 0.5 0
        Contrast 0.6 7 Sharpness 0.6 5 | Color 0.7 7 TranslateX 0.5 8 | Equalize 0.3 0 AutoContrast 0.4 0
        TranslateY 0.4 3 Sharpness 0.2 6 | Brightness 0.9 6 Color 0.2 8 | Solarize 0.5 2 Invert 0.0 0
        Equalize 0.2 0 AutoContrast 0.6 0 | Equalize 0.2 0 Equalize 0.6 0 | Color 0.9 9 Equalize 0.6 0
        AutoContrast 0.8 0 Solarize 0.2 8 | Brightness 0.1 3 Color 0.7 0 | Solarize 0.4 5 AutoContrast 0.9 0
        TranslateY 0.9 9 TranslateY 0.7 9 | AutoContrast 0.9 0 Solarize 0.8 3 | Equalize 0.8 0 Invert 0.1 0
        TranslateY 0.7 9 AutoContrast 0.9 0""",
    AutoAugmentPolicy.SVHN: """
        ShearX 0.9 4 Invert 0.2 0 | ShearY 0.9 8 Invert 0.7 0 | Equalize 0.6 0 Solarize 0.6 6
        Invert 0.9 0 Equalize 0.6 0 | Equalize 0.6 0 Rotate 0.9 3 | ShearX 0.9 4 AutoContrast 0.8 0
        ShearY 0.9 8 Invert 0.4 0 | ShearY 0.9 5 Solarize 0.2 6 | Invert 0.9 0 AutoContrast 0.8 0
        Equalize 0.6 0 Rotate 0.9 3 | ShearX 0.9 4 Solarize 0.3 3 | ShearY 0.8 8 Invert 0.7 0
        Equalize 0.9 0 TranslateY 0.6 6 | Invert 0.9 0 Equalize 0.6 0 | Contrast 0.3 3 Rotate 0.8 4
        Invert 0.8 0 TranslateY 0.0 2 | ShearY 0.7 6 Solarize 0.4 8 | Invert 0.6 0 Rotate 0.8 4
        ShearY 0.3 7 TranslateX 0.9 3 | ShearX 0.1 6 Invert 0.6 0 | Solarize 0.7 2 TranslateY 0.6 7
        ShearY 0.8 4 Invert 0.8 0 | ShearX 0.7 9 TranslateY 0.8 3 | ShearY 0.8 5 AutoContrast 0.7 0
        ShearX 0.7 2 Invert 0.1 0""",
}  # fmt: skip

_COLORS: dict[str, Callable[[float], Any]] = {
    "Brightness": color.AdjustBrightness,
    "Color": color.AdjustSaturation,
    "Contrast": color.AdjustContrast,
    "Sharpness": color.AdjustSharpness,
}
_PLAIN: dict[str, Callable[[], Any]] = {
    "AutoContrast": color.AutoContrast,
    "Equalize": color.Equalize,
    "Invert": color.Invert,
}
_SIGNED = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", *_COLORS}
_NARROW = {"shear": 0.3, "translate": 150 / 331, "rotate": 30.0, "color": 0.9, "bits": 4}
_WIDE = {"shear": 0.99, "translate": 32, "rotate": 135.0, "color": 0.99, "bits": 6}
_STEPS = ["Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color",
          "Contrast", "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"]  # fmt: skip


class _Augment(PyTensorOperation):
    """Base: steps by their names and strengths, which are shares of the largest ones in `_most`."""

    gives_arrays = True

    _most = _NARROW

    def _set(self, interpolation: Any, fill_value: Any) -> None:
        op = type(self).__name__
        checks.interpolation(op, interpolation, name="interpolation")
        self.interpolation = interpolation
        fill = tuple(int(value) for value in checks.fill(op, fill_value))
        self.fill_value: Any = fill if len(fill) > 1 else fill[0]

    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        if not im.is_pil(value):
            image = im.as_image(op, value)
            if image.ndim != 3 or image.shape[2] != 3:
                raise ValueError(
                    f"For '{op}', the image must be <H, W, 3>, but got shape {list(image.shape)}."
                )
        return self._augment(value)

    def _augment(self, image: Any) -> Any:
        raise NotImplementedError

    def _step(self, image: Any, name: str, share: float) -> Any:
        """The image after a step of strength `share`, of 0 to 1; of those with a sign, it is drawn."""
        if name == "Identity":
            return image
        if name in _PLAIN:
            return _PLAIN[name]()(image)
        if name == "Posterize":
            return color.Posterize(8 - round(self._most["bits"] * share))(image)
        if name == "Solarize":
            return color.Solarize((255 * (1 - share), 255))(image)
        sign = -1.0 if name in _SIGNED and row_rng().random() < 0.5 else 1.0
        if name in _COLORS:
            return _COLORS[name](1 + sign * share * self._most["color"])(image)
        if name == "Rotate":
            angle = sign * share * self._most["rotate"]
            fill = self.fill_value[::-1] if isinstance(self.fill_value, tuple) else self.fill_value
            fill = self.fill_value if im.is_pil(image) else fill
            return geometry.Rotate(angle, self.interpolation, fill_value=fill)(image)
        return self._move(image, name, sign * share)

    def _move(self, image: Any, name: str, share: float) -> Any:
        along = name[-1] == "X"
        moved, sheared = [0.0, 0.0], [0.0, 0.0]
        if name.startswith("Shear"):
            # An angle whose tangent is the share: Affine takes degrees.
            sheared[0 if along else 1] = -float(np.degrees(np.arctan(share * self._most["shear"])))
        else:
            width, height = image.size if im.is_pil(image) else image.shape[1::-1]
            extent, most = (width if along else height), self._most["translate"]
            moved[0 if along else 1] = share * (
                most if most <= 1 else min(most / max(extent, 1), 1.0)
            )
        affine = geometry.Affine(0, moved, 1.0, sheared, self.interpolation, self.fill_value)
        return affine(image)


class AutoAugment(_Augment):
    """One of the pairs of steps that a search found best for a set of images, at random."""

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        check_type("AutoAugment", "policy", policy, AutoAugmentPolicy)
        self._set(interpolation, fill_value)
        self.policy = policy
        words = _POLICIES[policy].replace("|", " ").split()
        steps = [
            (words[i], float(words[i + 1]), int(words[i + 2])) for i in range(0, len(words), 3)
        ]
        self._pairs = list(zip(steps[::2], steps[1::2], strict=True))

    def _augment(self, image: Any) -> Any:
        pair = self._pairs[int(row_rng().integers(len(self._pairs)))]
        for name, probability, magnitude in pair:
            if row_rng().random() < probability:
                image = self._step(image, name, magnitude / 9)
        return image


class RandAugment(_Augment):
    """`num_ops` random steps, all of strength `magnitude` of `num_magnitude_bins`."""

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        op = "RandAugment"
        self.num_ops = check_int(op, "num_ops", num_ops, 0, 16777216)
        self.num_magnitude_bins = check_int(op, "num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = check_int(op, "magnitude", magnitude, 0, num_magnitude_bins - 1)
        self._set(interpolation, fill_value)

    def _augment(self, image: Any) -> Any:
        for _ in range(self.num_ops):
            name = _STEPS[int(row_rng().integers(len(_STEPS)))]
            image = self._step(image, name, self.magnitude / (self.num_magnitude_bins - 1))
        return image


class TrivialAugmentWide(_Augment):
    """One random step of random strength, of up to `num_magnitude_bins`."""

    _most = _WIDE

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        op = "TrivialAugmentWide"
        self.num_magnitude_bins = check_int(op, "num_magnitude_bins", num_magnitude_bins, 2)
        self._set(interpolation, fill_value)

    def _augment(self, image: Any) -> Any:
        name = _STEPS[int(row_rng().integers(len(_STEPS)))]
        bin_number = int(row_rng().integers(self.num_magnitude_bins))
        return self._step(image, name, bin_number / (self.num_magnitude_bins - 1))


class UniformAugment(TensorOperation):
    """`num_ops` of the transforms, drawn; each of them is done or not, at random."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], num_ops: int = 2) -> None:
        op = "UniformAugment"
        check_type(op, "transforms", transforms, (list, tuple))
        for transform in transforms:
            if not callable(transform):
                raise ValueError(f"For '{op}', transforms must be callable, but got {transform!r}.")
        check_int(op, "num_ops", num_ops, 1)
        if num_ops > len(transforms):
            raise ValueError(
                f"For '{op}', num_ops must be at most the number of transforms, {len(transforms)}, "
                f"but got {num_ops}."
            )
        self.transforms, self.num_ops = list(transforms), num_ops

    def _apply(self, value: Any) -> Any:
        for number in row_rng().permutation(len(self.transforms))[: self.num_ops]:
            if row_rng().random() < 0.5:
                value = self.transforms[number](value)
        return value


class RandomSelectSubpolicy(TensorOperation):
    """One of the lists of (transform, probability), at random."""

    def __init__(self, policy: Sequence[Sequence[tuple[Callable[..., Any], float]]]) -> None:
        op = "RandomSelectSubpolicy"
        check_type(op, "policy", policy, (list, tuple))
        if not policy:
            raise ValueError(f"For '{op}', policy must not be empty.")
        for steps in policy:
            check_type(op, "policy", steps, (list, tuple))
            if not steps:
                raise ValueError(f"For '{op}', policy must hold no empty list, but got {policy!r}.")
            for step in steps:
                self._check(op, step)
        self.policy = [list(steps) for steps in policy]
        self.transforms = [transform for steps in self.policy for transform, _ in steps]

    @staticmethod
    def _check(op: str, step: Any) -> None:
        if not isinstance(step, (list, tuple)) or len(step) != 2:
            raise ValueError(
                f"For '{op}', a step must be (transform, probability), but got {step!r}."
            )
        if not callable(step[0]):
            raise TypeError(f"For '{op}', a transform must be callable, but got {step[0]!r}.")
        checks.number(op, "the probability", step[1], 0, 1)

    def _apply(self, value: Any) -> Any:
        for transform, probability in self.policy[int(row_rng().integers(len(self.policy)))]:
            if row_rng().random() < probability:
                value = transform(value)
        return value
