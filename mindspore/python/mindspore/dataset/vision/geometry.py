"""Image operations that turn, shear and move: all are one warp of the engine, with numbers that are
given or drawn.
"""

from __future__ import annotations

from typing import Any

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_probability, check_type
from mindspore.dataset.transforms import native
from mindspore.dataset.vision import checks
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import (
    BatchTensorOperation,
    ImageTensorOperation,
    Resize,
)
from mindspore.dataset.vision.utils import Inter


class _Turn(BatchTensorOperation):
    """Base of the rotations: the angle in degrees, counter-clockwise, between `low` and `high`."""

    def _set(
        self, degrees: tuple[float, float], resample: Any, expand: Any, center: Any, fill: Any
    ) -> None:
        op = type(self).__name__
        self.degrees = degrees
        self.resample = checks.interpolation(op, resample)
        check_type(op, "expand", expand, bool)
        self.expand = expand
        if center is not None and (not isinstance(center, (list, tuple)) or len(center) != 2):
            raise ValueError(f"For '{op}', center must be two numbers, but got {center!r}.")
        self.center = None if center is None else checks.numbers(op, "center", center, (2,))
        self.fill = checks.fill(op, fill)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        low, high = self.degrees
        center = [0.0, 0.0, 0.0] if self.center is None else [1.0, *self.center]
        numbers = [low, self.resample, float(self.expand), *center, *self.fill]
        return "Rotate", numbers, checks.draw(0, low, high), 1.0


class Rotate(_Turn):
    """The image turned counter-clockwise; with `expand` as large as that needs."""

    gives_arrays = True

    _by_pillow = False

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        angle = checks.number("Rotate", "degrees", degrees)
        self._set((angle, angle), resample, expand, center, fill_value)


class RandomRotation(_Turn):
    """The image turned by a random angle: within `degrees` = (least, most), or this far either way."""

    _draws = True

    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        angles = checks.around_zero("RandomRotation", "degrees", degrees)
        self._set(angles, resample, expand, center, fill_value)


class Affine(ImageTensorOperation):
    """The image turned clockwise, sheared and scaled around its middle, and moved by shares of its
    size.
    """

    gives_arrays = True

    _by_pillow = False

    def __init__(
        self,
        degrees: float,
        translate: Any,
        scale: float,
        shear: Any,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        op = "Affine"
        self.degrees = checks.number(op, "degrees", degrees)
        self.translate = checks.numbers(op, "translate", translate, (2,), -1, 1)
        self.scale = checks.number(op, "scale", scale, 0, above=True)
        check_type(op, "shear", shear, (*checks.Number, list, tuple))
        pair = shear if isinstance(shear, (list, tuple)) else (shear, 0)
        self.shear = checks.numbers(op, "shear", pair, (2,))
        self.resample = checks.interpolation(op, resample)
        self.fill = checks.fill(op, fill_value)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        moves = [*self.translate, self.scale, *self.shear]
        return "Affine", [self.degrees, *moves, self.resample, 0.0, *self.fill]


class RandomAffine(ImageTensorOperation):
    """Affine by random amounts; `translate` = (least, most along x[, least, most along y])."""

    _draws = True

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        op = "RandomAffine"
        moves = [0.0, 0.0] if translate is None else checks.numbers(
            op, "translate", translate, (2, 4), -1, 1
        )  # fmt: skip
        moves = [*moves, 0.0, 0.0][:4]
        scales = (1.0, 1.0) if scale is None else checks.span(op, "scale", scale, 0)
        if scales[1] == 0:
            raise ValueError(f"For '{op}', scale must be positive, but got {scale!r}.")
        self.spans = [
            checks.around_zero(op, "degrees", degrees),
            (min(moves[:2]), max(moves[:2])),
            (min(moves[2:]), max(moves[2:])),
            scales,
            *self._shears(shear),
        ]
        self.resample = checks.interpolation(op, resample)
        self.fill = checks.fill(op, fill_value)

    @staticmethod
    def _shears(shear: Any) -> list[tuple[float, float]]:
        op = "RandomAffine"
        if shear is None:
            return [(0.0, 0.0), (0.0, 0.0)]
        if isinstance(shear, (list, tuple)) and len(shear) == 4:
            return [checks.span(op, "shear", shear[:2]), checks.span(op, "shear", shear[2:])]
        if not isinstance(shear, (list, tuple)):
            checks.number(op, "shear", shear, 0, above=True)
        return [checks.around_zero(op, "shear", shear), (0.0, 0.0)]

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        numbers = [low for low, _ in self.spans]
        draws = [d for i, (low, high) in enumerate(self.spans) for d in checks.draw(i, low, high)]
        return "Affine", [*numbers, self.resample, 1.0, *self.fill], draws, 1.0


def _corners(op: str, name: str, points: Any) -> list[float]:
    check_type(op, name, points, (list, tuple))
    if len(points) != 4:
        raise TypeError(f"For '{op}', {name} must be four points, but got {points!r}.")
    return [c for point in points for c in checks.numbers(op, name, point, (2,))]


class Perspective(ImageTensorOperation):
    """The image as seen where `start_points` (x, y) appear at `end_points`."""

    def __init__(
        self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR
    ) -> None:
        op = "Perspective"
        self.start = _corners(op, "start_points", start_points)
        self.end = _corners(op, "end_points", end_points)
        self.interpolation = checks.interpolation(op, interpolation, name="interpolation")

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "Perspective", [self.interpolation, *self.start, *self.end]


class RandomPerspective(ImageTensorOperation):
    """The image with its corners moved inwards at random, with a probability."""

    _draws = True

    def __init__(
        self,
        distortion_scale: float = 0.5,
        prob: float = 0.5,
        interpolation: Inter = Inter.BICUBIC,
    ) -> None:
        op = "RandomPerspective"
        self.distortion = checks.number(op, "distortion_scale", distortion_scale, 0, 1)
        self.prob = check_probability(op, "prob", prob)
        self.interpolation = checks.interpolation(op, interpolation, name="interpolation")

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return "RandomPerspective", [self.distortion, self.interpolation], [], self.prob


class ResizedCrop(ImageTensorOperation):
    """A part of the image, resized."""

    gives_arrays = True

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: Any,
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        op = "ResizedCrop"
        from mindspore.dataset.vision.operations import Crop

        check_int(op, "top", top, 0)
        check_int(op, "left", left, 0)
        check_int(op, "height", height, 1)
        check_int(op, "width", width, 1)
        check_type(op, "interpolation", interpolation, Inter)
        size = im.size_pair(op, size)
        self.composed = Crop((top, left), (height, width)), Resize(size, interpolation)

    def _apply(self, value: Any) -> Any:
        for step in self.composed:
            value = step(value)
        return value


class RandomResize(ImageTensorOperation):
    """Resize with an interpolation that is drawn."""

    gives_arrays = True

    _draws = True

    def __init__(self, size: Any) -> None:
        im.size_pair("RandomResize", size)
        self.size = size

    def _apply(self, value: Any) -> Any:
        kinds = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
        return Resize(self.size, kinds[int(row_rng().integers(len(kinds)))])(value)
