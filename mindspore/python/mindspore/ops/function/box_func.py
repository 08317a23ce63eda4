"""Boxes: how much they share, how they are written as offsets from others, which of them stay.

Corners are (x1, y1, x2, y2). Where corners are pixels, as in all but the suppression, a box is x2 - x1 + 1 wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Float, Real
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _number, _one_int
from mindspore.ops.function.cast_func import _in_float32, is_floating_point
from mindspore.ops.function.index_func import _concrete
from mindspore.ops.function.math_func import clamp, where
from mindspore.ops.primitive import PythonPrimitive

_cast, _stack, _gather, _sort = (raw(n) for n in ("Cast", "Stack", "Gather", "Sort"))
_kept = raw("UnsuppressedBoxes")

Four = Sequence[Real]


def _boxes(name: str, argument: str, boxes: Tensor, columns: int = 4) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != columns:
        raise ValueError(
            f"For '{name}', '{argument}' must have shape (n, {columns}), but got {boxes.shape}."
        )
    if not is_floating_point(boxes):
        raise TypeError(
            f"For '{name}', '{argument}' must be of a floating dtype, but got {boxes.dtype}."
        )


def _two_lists(name: str, x: tuple[str, Tensor], y: tuple[str, Tensor], alike: bool) -> None:
    for argument, boxes in (x, y):
        _boxes(name, argument, boxes)
    if alike and x[1].shape != y[1].shape:
        raise ValueError(
            f"For '{name}', '{x[0]}' and '{y[0]}' must have one shape, but got {x[1].shape} and {y[1].shape}."
        )
    if x[1].dtype != y[1].dtype:
        raise TypeError(
            f"For '{name}', '{x[0]}' and '{y[0]}' must have one dtype, but got {x[1].dtype} and {y[1].dtype}."
        )


def _sizes(boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Widths and heights of boxes of pixels."""
    return boxes[:, 2] - boxes[:, 0] + 1.0, boxes[:, 3] - boxes[:, 1] + 1.0


# ---- shares --------------------------------------------------------------------------------------
def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: Literal["iou", "iof"] = "iou") -> Tensor:
    """What each of `gt_boxes` [m, 4] shares with each of `anchor_boxes` [n, 4]: [m, n].

    Of their union; with 'iof' of the box in `gt_boxes`."""
    _two_lists("iou", ("anchor_boxes", anchor_boxes), ("gt_boxes", gt_boxes), False)
    anchors, truths = _in_float32(anchor_boxes), _in_float32(gt_boxes)
    common = None
    for low, high in ((0, 2), (1, 3)):
        first = bound.maximum(truths[:, low].expand_dims(1), anchors[:, low].expand_dims(0))
        last = bound.minimum(truths[:, high].expand_dims(1), anchors[:, high].expand_dims(0))
        extent = bound.maximum(last - first + 1.0, 0.0)
        common = extent if common is None else common * extent
    (aw, ah), (tw, th) = _sizes(anchors), _sizes(truths)
    whole = (tw * th).expand_dims(1)
    if mode == "iou":
        whole = whole + (aw * ah).expand_dims(0) - common
    return _cast(common / whole, dtype=anchor_boxes.dtype)


class IOU(PythonPrimitive):
    """What boxes share with others; see `iou`.

    Args:
        mode: 'iou' or 'iof'.
    """

    def __init__(self, mode: Literal["iou", "iof"] = "iou") -> None:
        super().__init__(mode)

    def __call__(self, anchor_boxes: Tensor, gt_boxes: Tensor) -> Tensor:
        return iou(anchor_boxes, gt_boxes, self.mode)


def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Whether boxes [n, 4] lie in an image of (height, width, ratio), which is `ratio` times as large."""
    _boxes("check_valid", "bboxes", bboxes)
    if tuple(img_metas.shape) != (3,):
        raise ValueError(
            f"For 'check_valid', 'img_metas' must have shape (3,), but got {img_metas.shape}."
        )
    bboxes, metas = _in_float32(bboxes), _in_float32(img_metas)
    height, width = metas[0] * metas[2] - 1.0, metas[1] * metas[2] - 1.0
    tests = (
        bound.ge(bboxes[:, 0], 0.0),
        bound.ge(bboxes[:, 1], 0.0),
        bound.le(bboxes[:, 2], width),
        bound.le(bboxes[:, 3], height),
    )
    valid = tests[0]
    for test in tests[1:]:
        valid = bound.logical_and(valid, test)
    return valid


class CheckValid(PythonPrimitive):
    """Whether boxes lie in an image; see `check_valid`."""

    def __call__(self, bboxes: Tensor, img_metas: Tensor) -> Tensor:
        return check_valid(bboxes, img_metas)


# ---- offsets -------------------------------------------------------------------------------------
def _row(name: str, argument: str, values: Four, dtype: Any) -> Tensor:
    if len(values) != 4:
        raise ValueError(f"For '{name}', '{argument}' must have 4 items, but got {values}.")
    return Tensor([[float(v) for v in values]], dtype)


def _middle(boxes: Tensor) -> tuple[Tensor, Tensor]:
    return (boxes[:, 0] + boxes[:, 2]) * 0.5, (boxes[:, 1] + boxes[:, 3]) * 0.5


def bounding_box_encode(
    anchor_box: Tensor,
    groundtruth_box: Tensor,
    means: tuple[Real, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[Real, ...] = (1.0, 1.0, 1.0, 1.0),
) -> Tensor:
    """Boxes [n, 4] as offsets from others: of the middle in widths and heights, of the sizes as logarithms, normalised."""
    name = "bounding_box_encode"
    _two_lists(name, ("anchor_box", anchor_box), ("groundtruth_box", groundtruth_box), True)
    anchors, truths = _in_float32(anchor_box), _in_float32(groundtruth_box)
    (aw, ah), (tw, th) = _sizes(anchors), _sizes(truths)
    (ax, ay), (tx, ty) = _middle(anchors), _middle(truths)
    offsets = ((tx - ax) / aw, (ty - ay) / ah, bound.log(tw / aw), bound.log(th / ah))
    deltas = _stack(list(offsets), axis=1) - _row(name, "means", means, anchors.dtype)
    return _cast(deltas / _row(name, "stds", stds, anchors.dtype), dtype=anchor_box.dtype)


def bounding_box_decode(
    anchor_box: Tensor,
    deltas: Tensor,
    max_shape: tuple[int, ...],
    means: tuple[Real, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[Real, ...] = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: Real = 0.016,
) -> Tensor:
    """Boxes [n, 4] from their offsets, as `bounding_box_encode` writes them, cut to (height, width) of `max_shape`.

    A size is at most 1 / `wh_ratio_clip` times that of the other box, and at least `wh_ratio_clip` times."""
    name = "bounding_box_decode"
    _two_lists(name, ("anchor_box", anchor_box), ("deltas", deltas), True)
    if len(max_shape) != 2:
        raise ValueError(f"For '{name}', 'max_shape' must have 2 items, but got {max_shape}.")
    if not wh_ratio_clip > 0:
        raise ValueError(
            f"For '{name}', 'wh_ratio_clip' must be positive, but got {wh_ratio_clip}."
        )
    anchors, moves = _in_float32(anchor_box), _in_float32(deltas)
    moves = moves * _row(name, "stds", stds, moves.dtype) + _row(name, "means", means, moves.dtype)
    most = abs(math.log(wh_ratio_clip))
    (aw, ah), (ax, ay) = _sizes(anchors), _middle(anchors)
    corners = {}
    for axis, size, middle, limit in ((0, aw, ax, max_shape[1]), (1, ah, ay, max_shape[0])):
        center = middle + size * moves[:, axis]
        half = size * bound.exp(clamp(moves[:, axis + 2], -most, most)) * 0.5
        corners[axis] = clamp(center - half + 0.5, 0.0, float(limit))
        corners[axis + 2] = clamp(center + half - 0.5, 0.0, float(limit))
    return _cast(_stack([corners[i] for i in range(4)], axis=1), dtype=anchor_box.dtype)


class BoundingBoxEncode(PythonPrimitive):
    """Boxes as offsets from others; see `bounding_box_encode`.

    Args:
        means: What is subtracted from each of the four offsets.
        stds: What they are then divided by.
    """

    def __init__(
        self,
        means: tuple[Real, ...] = (0.0, 0.0, 0.0, 0.0),
        stds: tuple[Real, ...] = (1.0, 1.0, 1.0, 1.0),
    ) -> None:
        super().__init__(means, stds)

    def __call__(self, anchor_box: Tensor, groundtruth_box: Tensor) -> Tensor:
        return bounding_box_encode(anchor_box, groundtruth_box, self.means, self.stds)


class BoundingBoxDecode(PythonPrimitive):
    """Boxes from their offsets; see `bounding_box_decode`.

    Args:
        max_shape: Height and width that boxes are cut to.
        means: What was subtracted from each of the four offsets.
        stds: What they were divided by.
        wh_ratio_clip: The least share of the other box's size.
    """

    def __init__(
        self,
        max_shape: tuple[int, ...],
        means: tuple[Real, ...] = (0.0, 0.0, 0.0, 0.0),
        stds: tuple[Real, ...] = (1.0, 1.0, 1.0, 1.0),
        wh_ratio_clip: Float = 0.016,
    ) -> None:
        super().__init__(max_shape, means, stds, wh_ratio_clip)

    def __call__(self, anchor_box: Tensor, deltas: Tensor) -> Tensor:
        how = (self.max_shape, self.means, self.stds, self.wh_ratio_clip)
        return bounding_box_decode(anchor_box, deltas, *how)


# ---- suppression ---------------------------------------------------------------------------------
class NMSWithMask(PythonPrimitive):
    """Boxes with scores [n, 5] from the best score on, the numbers 0 ... n - 1, and which of the boxes stay: those that share
    no more than a part of their union with any better one that stays.

    Args:
        iou_threshold: That part.
    """

    def __init__(self, iou_threshold: Float = 0.5) -> None:
        super().__init__(iou_threshold)

    def __call__(self, bboxes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        _boxes("NMSWithMask", "bboxes", bboxes, 5)
        order = _best_first(bboxes[:, 4])
        ordered = _gather(bboxes, order, axis=0)
        stays = _kept(_in_float32(ordered)[:, :4], iou_threshold=self.iou_threshold)
        return ordered, Tensor(np.arange(bboxes.shape[0]), _core.int32), stays


def _best_first(scores: Tensor) -> Tensor:
    """Positions along the last axis from the largest number on; of equal ones the first; nan comes last."""
    known = bound.eq(scores, scores)
    return _sort(where(known, scores, -math.inf), axis=-1, descending=True)[1]


def _upright(boxes: Tensor) -> Tensor:
    """Boxes [..., 4] whose first corner is the one with the smaller numbers."""
    low, high = boxes[..., :2], boxes[..., 2:]
    return raw("Concat")([bound.minimum(low, high), bound.maximum(low, high)], axis=-1)


def _threshold(name: str, argument: str, value: Any, least: float, most: float) -> float:
    number = value.asnumpy().item() if isinstance(value, Tensor) and value.size == 1 else value
    number = _number(name, number)
    if not least <= number <= most:
        raise ValueError(
            f"For '{name}', '{argument}' must be in [{least}, {most}], but got {number}."
        )
    return float(number)


def _count(name: str, argument: str, value: Any) -> int:
    count = _one_int(name, argument, value)
    if count < 0:
        raise ValueError(f"For '{name}', '{argument}' must not be negative, but got {count}.")
    return count


def _scores_of(name: str, scores: Tensor, count: int) -> None:
    if tuple(scores.shape) != (count,):
        raise ValueError(
            f"For '{name}', 'scores' must have shape ({count},), but got {scores.shape}."
        )


class NonMaxSuppressionV3(PythonPrimitive):
    """Which of boxes [n, 4] stay, best scores first, at most `max_output_size`: those with scores above `score_threshold` that
    share no more than `iou_threshold` of their union with any better one that stays. Scores and boxes must be concrete."""

    def __call__(
        self,
        boxes: Tensor,
        scores: Tensor,
        max_output_size: Tensor | int,
        iou_threshold: Tensor | Real,
        score_threshold: Tensor | Real,
    ) -> Tensor:
        name = "NonMaxSuppressionV3"
        _boxes(name, "boxes", boxes)
        _scores_of(name, scores, boxes.shape[0])
        most = max(_one_int(name, "max_output_size", max_output_size), 0)
        share = _threshold(name, "iou_threshold", iou_threshold, 0.0, 1.0)
        least = _threshold(name, "score_threshold", score_threshold, -math.inf, math.inf)
        order = _best_first(scores)
        ordered = _upright(_in_float32(_gather(boxes, order, axis=0)))
        stays = _concrete(name, _kept(ordered, iou_threshold=share))
        places = order.asnumpy()
        stays = stays & (scores.asnumpy()[places] > least)
        return Tensor(places[stays][:most].astype(np.int32))


class NonMaxSuppressionWithOverlaps(PythonPrimitive):
    """Which of n boxes stay, best scores first, at most `max_output_size`: those with scores above `score_threshold` whose
    overlap [n, n] with any better one that stays is below `overlap_threshold`. All must be concrete."""

    def __call__(
        self,
        overlaps: Tensor,
        scores: Tensor,
        max_output_size: Tensor | int,
        overlap_threshold: Tensor | Real,
        score_threshold: Tensor | Real,
    ) -> Tensor:
        name = "NonMaxSuppressionWithOverlaps"
        if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
            raise ValueError(
                f"For '{name}', 'overlaps' must have shape (n, n), but got {overlaps.shape}."
            )
        _scores_of(name, scores, overlaps.shape[0])
        most = _count(name, "max_output_size", max_output_size)
        share = _threshold(name, "overlap_threshold", overlap_threshold, -math.inf, math.inf)
        least = _threshold(name, "score_threshold", score_threshold, -math.inf, math.inf)
        values, matrix = _concrete(name, scores), _concrete(name, overlaps)
        gone = ~(values > least)
        chosen: list[int] = []
        for place in np.argsort(-values, kind="stable"):
            if len(chosen) >= most:
                break
            if not gone[place]:
                chosen.append(place)
                gone |= matrix[:, place] >= share
        return Tensor(np.array(chosen, np.int32))


class CombinedNonMaxSuppression(PythonPrimitive):
    """Suppression in each class of each image by itself, and the best boxes of all classes together.

    Returns boxes [batch, m, 4], scores and classes [batch, m], with zeros at the end, and how many there are of each image.

    Args:
        pad_per_class: Whether there are no more rows than all classes together may have.
        clip_boxes: Whether corners are cut to [0, 1].
    """

    def __init__(self, pad_per_class: bool = False, clip_boxes: bool = True) -> None:
        super().__init__(pad_per_class, clip_boxes)

    def __call__(
        self,
        boxes: Tensor,
        scores: Tensor,
        max_output_size_per_class: Tensor | int,
        max_total_size: Tensor | int,
        iou_threshold: Tensor | Real,
        score_threshold: Tensor | Real,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        name = self.name
        batch, count, classes, own = self._sizes(boxes, scores)
        per_class = _count(name, "max_output_size_per_class", max_output_size_per_class)
        total = _count(name, "max_total_size", max_total_size)
        share = _threshold(name, "iou_threshold", iou_threshold, 0.0, 1.0)
        least = _threshold(name, "score_threshold", score_threshold, -math.inf, math.inf)
        rows = min(total, per_class * classes) if self.pad_per_class else total
        by_class = raw("Transpose")(scores, perm=(0, 2, 1))
        good = bound.gt(by_class, least)
        order = _best_first(where(good, by_class, -math.inf))
        values = raw("GatherD")(by_class, order, dim=2)
        corners = raw("Transpose")(boxes, perm=(0, 2, 1, 3))
        if own == 1:
            corners = bound.broadcast_to(corners, (batch, classes, count, 4))
        corners = _gather(corners, order, axis=2, batch_dims=2)
        stays = bound.logical_and(
            _kept(_upright(corners), iou_threshold=share), bound.gt(values, least)
        )
        before = raw("CumSum")(_cast(stays, dtype=_core.int32), axis=2)
        stays = bound.logical_and(stays, bound.le(before, per_class))
        return self._best(values, corners, stays, rows)

    def _sizes(self, boxes: Tensor, scores: Tensor) -> tuple[int, int, int, int]:
        """Images, boxes, classes, and how many classes have boxes of their own: one for all, or each."""
        if scores.ndim != 3 or boxes.ndim != 4:
            raise ValueError(
                f"For '{self.name}', 'boxes' must have 4 dimensions and 'scores' 3, but got shapes "
                f"{boxes.shape} and {scores.shape}."
            )
        batch, count, classes = scores.shape
        if boxes.shape not in ((batch, count, 1, 4), (batch, count, classes, 4)):
            raise ValueError(
                f"For '{self.name}', 'boxes' must have shape {(batch, count)} and (1, 4) or {(classes, 4)} "
                f"behind it, but got {boxes.shape}."
            )
        return batch, count, classes, boxes.shape[2]

    def _best(self, values: Tensor, corners: Tensor, stays: Tensor, rows: int) -> tuple:
        """The best of all classes, from [batch, classes, boxes]."""
        batch, classes, count = values.shape
        flat = raw("Reshape")(where(stays, values, -math.inf), shape=(batch, classes * count))
        taken = min(rows, classes * count)
        order = raw("Slice")(_best_first(flat), begin=(0, 0), size=(batch, taken))
        real = raw("GatherD")(raw("Reshape")(stays, shape=flat.shape), order, dim=1)
        boxes = _gather(
            raw("Reshape")(corners, shape=(batch, classes * count, 4)), order, axis=1, batch_dims=1
        )
        boxes = clamp(boxes, 0.0, 1.0) if self.clip_boxes else boxes
        kinds = _cast(bound.floor_divide(order, count), dtype=_core.float32)
        found = (
            where(real.expand_dims(2), boxes, 0.0),
            where(real, raw("GatherD")(flat, order, dim=1), 0.0),
            where(real, kinds, 0.0),
        )
        padded = [
            raw("Pad")(x, paddings=(0, 0, 0, rows - taken) + (0, 0) * (x.ndim - 2)) for x in found
        ]
        return (*padded, raw("ReduceSum")(_cast(real, dtype=_core.int32), axis=(1,)))


CLASSES = {
    c.__name__: c
    for c in (
        IOU,
        BoundingBoxDecode,
        BoundingBoxEncode,
        CheckValid,
        CombinedNonMaxSuppression,
        NMSWithMask,
        NonMaxSuppressionV3,
        NonMaxSuppressionWithOverlaps,
    )
}
__all__ = ["bounding_box_decode", "bounding_box_encode", "check_valid", "iou"]
