"""Which parts of an image matter to a network: how its score falls when they are covered."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common._checked import check_value
from mindspore.common._kinds import Count, Finite, Ints, PositiveInt, described
from mindspore.common.tensor import Tensor
from mindspore.nn.metrics.metric import Metric


class OcclusionSensitivity(Metric):
    """How much the score of a class falls when a block around each element of the image is covered.

    Args:
        pad_val: What covers the block.
        margin: Elements that are covered in front of one, and as many from it on; one number, or one for each axis.
        n_batch: Covered images that the network takes at once.
        b_box: The first and the last element of each axis that is looked at; a negative first one for all.
    """

    def __init__(
        self,
        pad_val: Finite = 0.0,
        margin: Count | list[Count] = 2,
        n_batch: PositiveInt = 128,
        b_box: Ints | None = None,
    ) -> None:
        super().__init__()
        self.pad_val = pad_val
        self.margin = margin
        self.n_batch = n_batch
        self.b_box = b_box
        self.clear()

    def clear(self) -> None:
        """Forget the image."""
        self._falls: Any = None

    def update(self, *inputs: Any) -> None:
        """Take a network, an image as a batch of one, and the class whose score is looked at."""
        if len(inputs) != 3:
            raise ValueError(
                "For 'OcclusionSensitivity.update', there must be 3 inputs: a network, an image and a class, "
                f"but got {len(inputs)}."
            )
        model = check_value(Callable, inputs[0], "model", "OcclusionSensitivity.update")
        image, label = (self._convert_data(item) for item in inputs[1:])
        if image.ndim < 2 or len(image) != 1 or label.size != 1:
            raise RuntimeError(
                "For 'OcclusionSensitivity.update', there must be one image, as a batch of one, and one class, "
                f"but got shapes {image.shape} and {label.shape}."
            )
        scores = functools.partial(self._scores, model, int(label.reshape(-1)[0]))
        ranges = self._ranges(image.shape[1:])
        places = itertools.product(*ranges)
        found = []
        while batch := [self._covered(image[0], p) for p in itertools.islice(places, self.n_batch)]:
            found.append(scores(np.stack(batch).astype(image.dtype)))
        falls = scores(image)[0] - np.concatenate(found)
        self._falls = falls.reshape([len(r) for r in ranges] + list(falls.shape[1:]))

    def _scores(self, model: Callable, column: int, batch: np.ndarray) -> np.ndarray:
        """The scores of a class."""
        found = model(Tensor(batch))
        if not isinstance(found, Tensor) or found.ndim < 2 or not 0 <= column < found.shape[1]:
            raise ValueError(
                f"For 'OcclusionSensitivity.update', the network must give a score of class {column} for each image, "
                f"but got {described(found)}."
            )
        return found.asnumpy()[:, column]

    def _ranges(self, shape: tuple[int, ...]) -> list[range]:
        """The elements of each axis that are looked at."""
        if self.b_box is None:
            return [range(size) for size in shape]
        box: list[Any] = list(self.b_box) if isinstance(self.b_box, (tuple, list)) else [self.b_box]
        if len(box) != 2 * len(shape):
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' must have a first and a last element for each of {len(shape)} axes, "
                f"but got {box}."
            )
        ranges = []
        for size, first, last in zip(shape, box[::2], box[1::2]):
            if first > last:
                raise ValueError(
                    f"For 'OcclusionSensitivity', in 'b_box' no first element must be behind the last, but got {box}."
                )
            ranges.append(range(size) if first < 0 else range(first, min(last, size - 1) + 1))
        return ranges

    def _covered(self, image: np.ndarray, place: tuple[int, ...]) -> np.ndarray:
        """The image with the block around an element covered."""
        margins = self.margin if isinstance(self.margin, list) else [self.margin] * image.ndim
        block = tuple(slice(max(i - m, 0), i + m) for i, m in zip(place, margins))
        result = image.copy()
        result[block] = self.pad_val
        return result

    def eval(self) -> Any:
        """The falls of the score of the last image."""
        self._require(self._falls is not None)
        return self._falls
