"""Distances between the surfaces of two segmentations: the largest, the mean, and the root of the mean square."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from mindspore.common._checked import check_value
from mindspore.common._kinds import Finite, Real, within
from mindspore.nn.metrics.metric import Metric, rearrange_inputs

DistanceMetric: TypeAlias = Literal["euclidean", "chessboard", "taxicab"]


def _surface(mask: np.ndarray) -> np.ndarray:
    """The points of a mask that have a neighbour outside of it, or lie at the border of the image."""
    inside = np.pad(mask, 1)
    kept = mask.copy()
    whole = tuple(slice(1, -1) for _ in range(mask.ndim))
    for axis in range(mask.ndim):
        for shift in (slice(None, -2), slice(2, None)):
            place = (*whole[:axis], shift, *whole[axis + 1 :])
            kept &= inside[place]
    return mask & ~kept


def _distances_to(surface: np.ndarray, metric: str) -> np.ndarray:
    """For each point how far it is from the nearest of a surface: axis by axis, since all three distances split so."""
    far = np.inf
    found = np.where(surface, 0.0, far)
    for axis in range(surface.ndim):
        lines = np.moveaxis(found, axis, 0)
        steps = np.arange(len(lines), dtype=np.float64).reshape(-1, *[1] * (surface.ndim - 1))
        nearest = np.full_like(lines, far)
        for place, line in enumerate(lines):
            along = np.abs(steps - place)
            if metric == "chessboard":
                way = np.maximum(along, line)
            else:
                way = line + (along**2 if metric == "euclidean" else along)
            np.minimum(nearest, way, out=nearest)
        found = np.moveaxis(nearest, 0, axis)
    return np.sqrt(found) if metric == "euclidean" else found


class _Surfaces(Metric):
    """The surfaces of one label in a prediction and a target, and the distances between them."""

    def __init__(self, distance_metric: DistanceMetric) -> None:
        super().__init__()
        self.distance_metric = distance_metric
        self.clear()

    def clear(self) -> None:
        """Forget the segmentations."""
        self._surfaces: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take a prediction, a target of the same shape, and the label whose surfaces are compared."""
        owner = f"{type(self).__name__}.update"
        if len(inputs) != 3:
            raise ValueError(
                f"For '{owner}', there must be 3 inputs: a prediction, a target and a label, but got {len(inputs)}."
            )
        y_pred, y = self._take(inputs[:2], 2)
        if y_pred.shape != y.shape or not y.size:
            raise ValueError(
                f"For '{owner}', prediction and target must have one shape and elements, but got {y_pred.shape} and {y.shape}."
            )
        label = check_value(Real, inputs[2], "label", owner)
        masks = y_pred == label, y == label
        if not (masks[0].any() or masks[1].any()):
            raise ValueError(
                f"For '{owner}', the label must be in the prediction or the target, but got {label}."
            )
        self._surfaces = tuple(_surface(mask) for mask in masks)

    def _distances(self, reverse: bool = False) -> np.ndarray:
        """From the points of the prediction's surface to the target's, or the other way."""
        self._require(self._surfaces)
        start, end = self._surfaces[::-1] if reverse else self._surfaces
        if not end.any() or not start.any():
            return np.array([np.inf])
        found = _distances_to(end, self.distance_metric)[start]
        return found if self.distance_metric == "euclidean" else found.astype(np.int32)


class HausdorffDistance(_Surfaces):
    """The largest distance from a surface to the nearest point of the other.

    Args:
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.
        percentile: Of the distances, the percentile that is taken in place of the largest.
        directed: Whether only the distances from the prediction count.
        crop: Accepted; what lies outside of both segmentations changes nothing.
    """

    def __init__(
        self,
        distance_metric: DistanceMetric = "euclidean",
        percentile: Annotated[Finite, within(0, 100, "both")] | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        super().__init__(distance_metric)
        self.percentile = percentile
        self.directed = directed
        self.crop = crop

    def eval(self) -> Any:
        """The distance."""
        ways = (False,) if self.directed else (False, True)
        return max(self._largest(self._distances(way)) for way in ways)

    def _largest(self, distances: np.ndarray) -> Any:
        if np.isinf(distances).all():
            return np.inf
        if self.percentile is None:
            return distances.max()
        return np.percentile(distances, self.percentile)


class _Mean(_Surfaces):
    """A mean over the points of surfaces.

    Args:
        symmetric: Whether the distances from the target to the prediction count, too.
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.
    """

    def __init__(
        self, symmetric: bool = False, distance_metric: DistanceMetric = "euclidean"
    ) -> None:
        super().__init__(distance_metric)
        self.symmetric = symmetric

    def _mean(self, power: int) -> Any:
        """The mean power of distances; of both ways, the mean of both means."""
        ways = (False, True) if self.symmetric else (False,)
        return np.mean([(self._distances(way).astype(np.float64) ** power).mean() for way in ways])


class MeanSurfaceDistance(_Mean):
    """The mean distance from the surface of the prediction to that of the target.

    Args:
        symmetric: Whether the distances from the target to the prediction count, too.
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.
    """

    def eval(self) -> Any:
        """The mean."""
        return self._mean(1)


class RootMeanSquareDistance(_Mean):
    """The root of the mean squared distance from the surface of the prediction to that of the target.

    Args:
        symmetric: Whether the distances from the target to the prediction count, too.
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.
    """

    def eval(self) -> Any:
        """The root."""
        return np.sqrt(self._mean(2))
