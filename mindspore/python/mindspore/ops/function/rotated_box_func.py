"""What turned boxes share, and boxes drawn at random around others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import PositiveInt, Real, Where
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.cast_func import _in_float32, is_floating_point
from mindspore.ops.function.index_func import _concrete
from mindspore.ops.function.math_func import where
from mindspore.ops.primitive import PythonPrimitive

_cast, _stack, _concat = raw("Cast"), raw("Stack"), raw("Concat")

_NEAR = 1e-5  # of a box's size: what rounding may move a corner by


class _Turned:
    """Boxes [..., 5] of middles, sizes and angles in degrees; or of two corners and an angle."""

    def __init__(self, boxes: Tensor, of_corners: bool):
        a, b, c, d, angle = (boxes[..., i] for i in range(5))
        if of_corners:
            a, b, c, d = (a + c) * 0.5, (b + d) * 0.5, c - a, d - b
        self.x, self.y, self.width, self.height = a, b, c, d
        angle = angle * (math.pi / 180)
        self.cos, self.sin = bound.cos(angle), bound.sin(angle)
        self.area = c * d

    def corners(self) -> tuple[Tensor, Tensor]:
        """x and y of the corners [..., 4], one after the other around the box."""
        xs, ys = [], []
        for right, up in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
            along, across = self.width * (0.5 * right), self.height * (0.5 * up)
            xs.append(self.x + along * self.cos - across * self.sin)
            ys.append(self.y + along * self.sin + across * self.cos)
        return _stack(xs, axis=-1), _stack(ys, axis=-1)

    def holds(self, x: Tensor, y: Tensor, tolerance: float) -> Tensor:
        """Whether points [..., k] are inside."""
        x, y = x - self.x.expand_dims(-1), y - self.y.expand_dims(-1)
        cos, sin = self.cos.expand_dims(-1), self.sin.expand_dims(-1)
        sides = ((x * cos + y * sin, self.width), (y * cos - x * sin, self.height))
        inside = None
        for distance, size in sides:
            limit = (size * (0.5 + _NEAR) + tolerance).expand_dims(-1)
            here = bound.le(bound.abs(distance), limit)
            inside = here if inside is None else bound.logical_and(inside, here)
        assert inside is not None
        return inside


def _crossings(
    a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor], tolerance: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Where the sides of two polygons [..., 4] meet: x, y [..., 16], and which of them are real."""

    def sides(p: tuple[Tensor, Tensor], axis: int) -> list[Tensor]:
        found = []
        for c in p:
            following = _concat([c[..., 1:], c[..., :1]], axis=-1)
            found += [c.expand_dims(axis), (following - c).expand_dims(axis)]
        return found

    ax, adx, ay, ady = sides(a, -1)
    bx, bdx, by, bdy = sides(b, -2)
    cross = adx * bdy - ady * bdx
    parallel = bound.le(bound.abs(cross), 1e-12)
    cross = where(parallel, 1.0, cross)
    t = ((bx - ax) * bdy - (by - ay) * bdx) / cross
    u = ((bx - ax) * ady - (by - ay) * adx) / cross
    real = bound.logical_not(parallel)
    for share in (t, u):
        inside = bound.le(bound.abs(share - 0.5), 0.5 + _NEAR + tolerance)
        real = bound.logical_and(real, inside)
    t = where(real, t, 0.0)
    shape = (*real.shape[:-2], 16)
    return tuple(raw("Reshape")(v, shape=shape) for v in (ax + t * adx, ay + t * ady, real))  # type: ignore[return-value]


def _polygon_area(x: Tensor, y: Tensor, real: Tensor) -> Tensor:
    """The area of the convex polygons whose corners are some of the points [..., k], in any order."""
    share = _cast(real, dtype=x.dtype)
    count = bound.maximum(share.sum(-1, keepdims=True), 1.0)
    x = x - (x * share).sum(-1, keepdims=True) / count
    y = y - (y * share).sum(-1, keepdims=True) / count
    angle = where(real, bound.atan2(y, x), 10.0)  # the others come last
    order = raw("Sort")(angle, axis=-1)[1]
    x, y, real = (raw("GatherD")(v, order, dim=-1) for v in (x, y, real))
    x, y = (where(real, v, v[..., :1]) for v in (x, y))  # they end where the first begins
    after_x, after_y = (_concat([v[..., 1:], v[..., :1]], axis=-1) for v in (x, y))
    area = bound.abs((x * after_y - y * after_x).sum(-1)) * 0.5
    return where(real[..., 0], area, 0.0)


def rotated_iou(
    boxes: Tensor,
    query_boxes: Tensor,
    trans: bool = False,
    mode: int = 0,
    is_cross: bool = True,
    v_threshold: Real = 0.0,
    e_threshold: Real = 0.0,
) -> Tensor:
    """What turned boxes [B, N, 5] share with others [B, K, 5]: [B, N, K]; one with one, [B, N], where `is_cross` is false.

    A box is (x, y, width, height, degrees), with `trans` (x1, y1, x2, y2, degrees). Mode 0 is the share of the union, 1 that of
    the first box. The thresholds are how far outside corners and crossings still count."""
    for argument, given in (("boxes", boxes), ("query_boxes", query_boxes)):
        if given.ndim != 3 or given.shape[2] != 5 or not is_floating_point(given):
            raise ValueError(
                f"For 'rotated_iou', '{argument}' must be floating of shape (B, n, 5), but got {given.dtype} of shape {given.shape}."
            )
    alike = boxes.shape[0] == query_boxes.shape[0]
    if not alike or (not is_cross and boxes.shape != query_boxes.shape):
        raise ValueError(
            f"For 'rotated_iou', {'the first sizes' if is_cross else 'the shapes'} must be equal, "
            f"but got shapes {boxes.shape} and {query_boxes.shape}."
        )
    first, second = _in_float32(boxes), _in_float32(query_boxes)
    if is_cross:
        grid = (boxes.shape[0], boxes.shape[1], query_boxes.shape[1], 5)
        first = bound.broadcast_to(first.expand_dims(2), grid)
        second = bound.broadcast_to(second.expand_dims(1), grid)
    a, b = _Turned(first, trans), _Turned(second, trans)
    ours, theirs = a.corners(), b.corners()
    x, y, real = _crossings(ours, theirs, float(e_threshold))
    common = _polygon_area(
        _concat([ours[0], theirs[0], x], axis=-1),
        _concat([ours[1], theirs[1], y], axis=-1),
        _concat(
            [b.holds(*ours, float(v_threshold)), a.holds(*theirs, float(v_threshold)), real],
            axis=-1,
        ),
    )
    whole = a.area if mode == 1 else a.area + b.area - common
    some = bound.gt(whole, 0.0)
    return _cast(where(some, common / where(some, whole, 1.0), 0.0), dtype=boxes.dtype)


# ---- boxes at random -----------------------------------------------------------------------------
Range = Annotated[
    Sequence[Real],
    Where(lambda r: len(r) == 2 and 0 < r[0] < r[1], "be two positive numbers, the smaller first"),
]


class SampleDistortedBoundingBoxV2(PythonPrimitive):
    """A part of an image drawn at random so that it covers enough of one of some boxes: where it begins, (y, x, 0), its size,
    (height, width, -1), and its corners [1, 1, 4], (y1, x1, y2, x2) in shares of the image. All must be concrete.

    Args:
        seed: Picks a stream of random numbers; 0 is the global one, unless `seed2` is given.
        seed2: Likewise, beside the seed.
        aspect_ratio_range: The least and the largest width per height.
        area_range: The least and the largest share of the image.
        max_attempts: How many parts are drawn until one fits; after that, it is the whole image.
        use_image_if_no_bounding_boxes: Whether the whole image stands in for boxes where there are none.
    """

    def __init__(
        self,
        seed: int = 0,
        seed2: int = 0,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Annotated[Range, Where(lambda r: r[1] <= 1, "be at most 1")] = (0.05, 1.0),
        max_attempts: Annotated[PositiveInt, Where(lambda n: n < 1 << 20, "be below 2^20")] = 100,
        use_image_if_no_bounding_boxes: bool = False,
    ) -> None:
        super().__init__(
            seed,
            seed2,
            aspect_ratio_range,
            area_range,
            max_attempts,
            use_image_if_no_bounding_boxes,
        )

    def __call__(
        self, image_size: Tensor, bounding_boxes: Tensor, min_object_covered: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        height, width = self._image(image_size)
        boxes = self._boxes(bounding_boxes)
        if min_object_covered.size != 1:
            raise ValueError(
                f"For '{self.name}', 'min_object_covered' must have one element, but got shape {min_object_covered.shape}."
            )
        (covered,) = _concrete(self.name, min_object_covered).reshape(-1)
        if not 0 <= covered <= 1:
            raise ValueError(
                f"For '{self.name}', 'min_object_covered' must be in [0, 1], but got {covered}."
            )
        drawn = raw("UniformReal")(
            shape=(self.max_attempts, 4), seed=abs(self.seed), seed2=abs(self.seed2)
        )
        part: tuple[int, ...] = (0, 0, height, width)
        for numbers in _concrete(self.name, drawn).astype(np.float64):
            found = self._part(height, width, numbers)
            if found is not None and _covers(found, boxes * ((height, width) * 2), covered):
                part = found
                break
        top, left, bottom, right = part
        corners = [[[top / height, left / width, bottom / height, right / width]]]
        last = -1 if image_size.dtype != _core.uint8 else 255
        return (
            Tensor([top, left, 0], image_size.dtype),
            Tensor([bottom - top, right - left, last], image_size.dtype),
            Tensor(corners, _core.float32),
        )

    def _image(self, image_size: Tensor) -> tuple[int, int]:
        if tuple(image_size.shape) != (3,):
            raise ValueError(
                f"For '{self.name}', 'image_size' must have shape (3,), but got {image_size.shape}."
            )
        sizes = _concrete(self.name, image_size)
        if not (sizes[:2] > 0).all():
            raise ValueError(f"For '{self.name}', 'image_size' must be positive, but got {sizes}.")
        return int(sizes[0]), int(sizes[1])

    def _boxes(self, bounding_boxes: Tensor) -> np.ndarray:
        if bounding_boxes.ndim != 3 or bounding_boxes.shape[2] != 4:
            raise ValueError(
                f"For '{self.name}', 'bounding_boxes' must have shape (batch, n, 4), but got {bounding_boxes.shape}."
            )
        boxes = _concrete(self.name, bounding_boxes).reshape(-1, 4)
        if len(boxes) == 0:
            if not self.use_image_if_no_bounding_boxes:
                raise ValueError(
                    f"For '{self.name}', there must be boxes unless 'use_image_if_no_bounding_boxes' is True, "
                    f"but got shape {bounding_boxes.shape}."
                )
            boxes = np.array([[0.0, 0.0, 1.0, 1.0]])
        if not ((boxes >= 0) & (boxes <= 1)).all() or not (boxes[:, :2] < boxes[:, 2:]).all():
            raise ValueError(
                f"For '{self.name}', 'bounding_boxes' must be in [0, 1], first corners first, but got {boxes.tolist()}."
            )
        return boxes

    def _part(self, height: int, width: int, numbers: np.ndarray) -> tuple[int, ...] | None:
        """One part of the image; None where it does not fit into it or is too large or small."""
        low, high = self.aspect_ratio_range
        ratio = low + (high - low) * numbers[0]
        least, most = (share * height * width for share in self.area_range)
        shortest = math.sqrt(least / ratio)
        longest = min(math.sqrt(most / ratio), width / ratio, height)
        if longest < shortest:
            return None
        rows = round(shortest + (longest - shortest) * numbers[1])
        columns = round(rows * ratio)
        if not (1 <= rows <= height and 1 <= columns <= width and least <= rows * columns <= most):
            return None
        top = int((height - rows + 1) * numbers[2])
        left = int((width - columns + 1) * numbers[3])
        return top, left, top + rows, left + columns


def _covers(part: tuple[int, ...], boxes: Any, share: float) -> bool:
    """Whether a part of an image covers so much of any box."""
    top, left, bottom, right = part
    rows = np.minimum(bottom, boxes[:, 2]) - np.maximum(top, boxes[:, 0])
    columns = np.minimum(right, boxes[:, 3]) - np.maximum(left, boxes[:, 1])
    common = np.maximum(rows, 0) * np.maximum(columns, 0)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return bool((common >= share * area).any())


CLASSES = {"SampleDistortedBoundingBoxV2": SampleDistortedBoundingBoxV2}
__all__ = ["rotated_iou"]
