"""What becomes of PIL images where Pillow does otherwise than the engine does on arrays.

Each form is found by the name of the engine's transform and takes its numbers.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.vision import image as im

_RESAMPLING = {0: "NEAREST", 1: "LANCZOS", 2: "BILINEAR", 3: "BICUBIC"}


def _module(name: str) -> Any:
    """A module of Pillow; a clear error where it is missing."""
    im.pil_module(name)
    return importlib.import_module(f"PIL.{name}")


def _filter(op: str, number: float) -> Any:
    name = _RESAMPLING.get(int(number))
    if name is None or name == "LANCZOS":
        raise ValueError(
            f"For '{op}', interpolation of PIL images must be NEAREST, BILINEAR or BICUBIC, but "
            f"got number {int(number)}."
        )
    module = _module("Image")
    return getattr(getattr(module, "Resampling", module), name)


def _fill(op: str, image: Any, numbers: list[float]) -> Any:
    """A color of as many bands as the image has; a fourth one is full."""
    values = [int(number) for number in numbers]
    bands = len(image.getbands())
    if bands == 1:
        return values[0]
    if bands == 2 and len(values) == 3:
        raise ValueError(
            f"For '{op}', fill_value must be one number for an image of 2 channels, but got three."
        )
    return (*(values * 3)[: min(bands, 3)], *[255] * (bands - 3))


def _rotate(image: Any, n: list[float]) -> Any:
    center = (n[4], n[5]) if n[3] else None
    return image.rotate(
        n[0], _filter("Rotate", n[1]), bool(n[2]), center, fillcolor=_fill("Rotate", image, n[6:])
    )


def _affine(image: Any, n: list[float]) -> Any:
    """Turned clockwise, sheared, scaled and moved around the middle."""
    turn, shear_x, shear_y = (math.radians(degrees) for degrees in (n[0], n[4], n[5]))
    scale = n[3]
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -c * math.tan(shear_x) + math.cos(turn)
    right, down = n[1] * image.width, n[2] * image.height
    if n[7]:
        right, down = round(right), round(down)
    x, y = image.width * 0.5 + 0.5, image.height * 0.5 + 0.5
    # Pillow asks where a pixel comes from.
    inverse = [d / scale, -b / scale, -c / scale, a / scale]
    matrix = [
        inverse[0], inverse[1], x - inverse[0] * (x + right) - inverse[1] * (y + down),
        inverse[2], inverse[3], y - inverse[2] * (x + right) - inverse[3] * (y + down),
    ]  # fmt: skip
    method = _module("Image").Transform.AFFINE
    return image.transform(
        image.size, method, matrix, _filter("Affine", n[6]), fillcolor=_fill("Affine", image, n[8:])
    )


def _perspective(image: Any, n: list[float]) -> Any:
    start, end = np.reshape(n[1:9], (4, 2)), np.reshape(n[9:17], (4, 2))
    rows, values = [], []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    try:
        matrix = np.linalg.solve(np.array(rows, float), np.array(values, float))
    except np.linalg.LinAlgError:
        raise ValueError(
            "For 'Perspective', no three of the points may lie on a line, but they do."
        ) from None
    method = _module("Image").Transform.PERSPECTIVE
    return image.transform(image.size, method, matrix.tolist(), _filter("Perspective", n[0]))


def _random_perspective(image: Any, n: list[float]) -> Any:
    right, bottom = image.width - 1, image.height - 1
    if not right or not bottom:
        return image  # a line has no corners to move
    points: list[float] = [0, 0, right, 0, right, bottom, 0, bottom]
    ends: list[float] = []
    for corner in range(4):
        x = int(row_rng().integers(int(n[0] * (image.width // 2)) + 1))
        y = int(row_rng().integers(int(n[0] * (image.height // 2)) + 1))
        ends += [right - x if corner in (1, 2) else x, bottom - y if corner >= 2 else y]
    return _perspective(image, [n[1], *points, *ends])


def _solarize(image: Any, n: list[float]) -> Any:
    low, high = min(n), max(n)
    if low == high:
        high = 255
    return image.point([255 - i if low <= i <= high else i for i in range(256)] * _bands(image))


def _bands(image: Any) -> int:
    return len(image.getbands())


def _hue(image: Any, n: list[float]) -> Any:
    if image.mode in ("L", "1", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    turned = (np.asarray(hue).astype(np.int32) + int(n[0] * 255)) % 256
    module = _module("Image")
    turned_image = module.fromarray(turned.astype(np.uint8), "L")
    return module.merge("HSV", (turned_image, saturation, value)).convert(image.mode)


def _gamma(image: Any, n: list[float]) -> Any:
    table = [int(min(max((255 + 1 - 1e-3) * n[1] * (i / 255) ** n[0], 0), 255)) for i in range(256)]
    changed = image.convert("RGB").point(table * 3).convert(image.mode)
    if "A" in image.getbands():
        changed.putalpha(image.getchannel("A"))
    return changed


def _contrast(image: Any, n: list[float]) -> Any:
    ignore = [int(value) for value in n[1:]]
    return _module("ImageOps").autocontrast(image, n[0], ignore or None)


def _enhancer(name: str) -> Callable[[Any, list[float]], Any]:
    return lambda image, n: getattr(_module("ImageEnhance"), name)(image).enhance(n[0])


def _color_adjust(image: Any, n: list[float]) -> Any:
    """Brightness, contrast, saturation and hue in random order, as the engine draws them."""
    names = ("AdjustBrightness", "AdjustContrast", "AdjustSaturation", "AdjustHue")
    for step in row_rng().permutation(4):
        low, high = n[2 * step : 2 * step + 2]
        neutral = 0.0 if step == 3 else 1.0
        if (low, high) != (neutral, neutral):
            image = FORMS[names[step]](image, [float(row_rng().uniform(low, high))])
    return image


def gray(image: Any, channels: int) -> Any:
    """Gray of what the image shows, whatever its mode, in so many channels."""
    shown = image.convert("L")
    return shown if channels == 1 else _module("Image").merge("RGB", [shown] * 3)


def done(op: str, form: Callable[[Any, list[float]], Any], image: Any, numbers: list[float]) -> Any:
    """What a form gives; where Pillow refuses the image's mode, it is told for which operation."""
    image.load()  # a file that is damaged is no wrong mode
    try:
        return form(image, numbers)
    except (OSError, ValueError, NotImplementedError) as error:
        if str(error).startswith("For '"):
            raise
        raise ValueError(
            f"For '{op}', a PIL image must be of a mode that Pillow can do this with, such as RGB "
            f"or L, but got mode '{image.mode}' ({error})."
        ) from error


FORMS: dict[str, Callable[[Any, list[float]], Any]] = {
    "Rotate": _rotate,
    "Affine": _affine,
    "Perspective": _perspective,
    "RandomPerspective": _random_perspective,
    "Posterize": lambda image, n: _module("ImageOps").posterize(image, int(n[0])),
    "Solarize": _solarize,
    "Invert": lambda image, n: _module("ImageOps").invert(image),
    "Equalize": lambda image, n: _module("ImageOps").equalize(image),
    "AutoContrast": _contrast,
    "AdjustSharpness": _enhancer("Sharpness"),
    "AdjustBrightness": _enhancer("Brightness"),
    "AdjustContrast": _enhancer("Contrast"),
    "AdjustSaturation": _enhancer("Color"),
    "AdjustHue": _hue,
    "AdjustGamma": _gamma,
    "RandomColorAdjust": _color_adjust,
}
