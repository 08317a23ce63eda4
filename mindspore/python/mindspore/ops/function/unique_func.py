"""Different elements and runs of equal ones; what is in one list and not in another; positions and coordinates. Where shapes depend on
values, the tensors must be concrete."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import INTEGERS, require_same_dtype
from mindspore.common._kinds import Ints, Real
from mindspore.common._size import require_memory, require_rank
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _axis, _ints
from mindspore.ops.function.creation_func import tril_indices, triu_indices
from mindspore.ops.function.index_func import _concrete, nonzero, unique
from mindspore.ops.function.math_func import where

_gather, _reshape, _cast = raw("Gather"), raw("Reshape"), raw("Cast")


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """One element, or slice of an axis, of each run of equal ones; on demand which run each belongs to, and their lengths."""
    values, inverse, counts = _runs("unique_consecutive", input, dim)
    found = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return found if len(found) > 1 else values


def _runs(name: str, input: Tensor, dim: int | None) -> tuple[Tensor, Tensor, Tensor]:
    axis = 0 if dim is None else _axis(name, dim, input.ndim)
    x = _reshape(input, shape=(-1,)) if dim is None else input
    array = np.moveaxis(_concrete(name, x), axis, 0)
    array = array.reshape(len(array), math.prod(array.shape[1:]))
    starts = np.ones(len(array), bool)
    if len(array) > 1:
        starts[1:] = (array[1:] != array[:-1]).any(axis=1)
    first = np.flatnonzero(starts)
    inverse = (np.cumsum(starts) - 1).astype(np.int64)
    shape = tuple(input.shape) if dim is None else (len(array),)
    counts = np.diff(np.append(first, len(array))).astype(np.int64)
    values = _gather(x, Tensor(first.astype(np.int64)), axis=axis)
    return values, Tensor(inverse.reshape(shape)), Tensor(counts)


def _unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """One element of each run of equal ones, which run each belongs to, and their lengths; what is not asked for is empty."""
    values, inverse, counts = _runs("UniqueConsecutive", x, dim)
    nothing = Tensor(np.zeros(0, np.int64))
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


def unique_with_pad(x: Tensor, pad_num: int | Real) -> tuple[Tensor, Tensor]:
    """The different elements of a vector in order of appearance, filled up to its length, and which of them each element is."""
    if x.ndim != 1:
        raise ValueError(f"For 'unique_with_pad', 'x' must have 1 dimension, but got {x.ndim}.")
    values, index = unique(x)
    rest = x.shape[0] - values.shape[0]
    return raw("Pad")(values, paddings=(0, rest), value=pad_num), index


def argwhere(input: Tensor) -> Tensor:
    """Coordinates of the elements that are not zero, one row each."""
    return nonzero(input)


def _list_diff(x: Tensor, y: Tensor, out_idx: DType = _core.int32) -> tuple[Tensor, Tensor]:
    """The elements of a vector that are not in another one, and where they are."""
    require_same_dtype("ListDiff", x, y)
    left, right = _concrete("ListDiff", x), _concrete("ListDiff", y)
    places = np.flatnonzero(~np.isin(left, right)).astype(np.int64)
    return _gather(x, Tensor(places), axis=0), Tensor(places, out_idx)


def tail(sequence: Sequence[Any]) -> Any:
    """All but the first item."""
    return sequence[1:]


# ---- positions ------------------------------------------------------------------------------------
def _unravel_index(indices: Tensor, dims: Tensor) -> Tensor:
    """Positions counted through all elements of a shape as coordinates, one row for each axis."""
    require_rank("UnravelIndex", "dims", dims, 1)
    _require_integers("UnravelIndex", {"indices": indices, "dims": dims})
    places, shape = _concrete("UnravelIndex", indices), _concrete("UnravelIndex", dims)
    _require_below("UnravelIndex", "indices", indices, math.prod(shape.tolist()))
    return Tensor(np.stack(np.unravel_index(places, shape)).astype(places.dtype))


def _require_integers(name: str, given: dict[str, Tensor]) -> None:
    for argument, x in given.items():
        if x.dtype not in INTEGERS:
            raise TypeError(
                f"For '{name}', the dtype of '{argument}' must be an integer, but got {x.dtype}."
            )


def _require_below(name: str, argument: str, x: Tensor, end: int) -> None:
    """Refuses numbers out of [0, end). Those that a compiled function works on are left to its kernels."""
    if x.is_symbolic:
        return
    numbers = x.asnumpy()
    wrong = numbers[(numbers < 0) | (numbers >= end)]
    if wrong.size:
        raise IndexError(f"For '{name}', '{argument}' must be in [0, {end}), but got {wrong[0]}.")


def _invert_permutation(input_x: Ints | Tensor) -> tuple[int, ...]:
    """Where each number from 0 on is in a permutation."""
    places = _ints("InvertPermutation", input_x)
    if sorted(places) != list(range(len(places))):
        raise ValueError(
            f"For 'InvertPermutation', 'input_x' must have each number below {len(places)} once, but got {places}."
        )
    inverse = [0] * len(places)
    for i, place in enumerate(places):
        inverse[place] = i
    return tuple(inverse)


def _tril_indices(row: int, col: int, offset: int = 0, dtype: Any = _core.int32) -> Tensor:
    """Coordinates of the lower triangle of a matrix."""
    return tril_indices(row, col, offset, dtype=dtype)


def _triu_indices(row: int, col: int, offset: int = 0, dtype: Any = _core.int32) -> Tensor:
    """Coordinates of the upper triangle of a matrix."""
    return triu_indices(row, col, offset, dtype=dtype)


def _equal_count(x: Tensor, y: Tensor) -> Tensor:
    """How many elements of two tensors are equal."""
    return _reshape(bound.reduce_sum(_cast(bound.equal(x, y), dtype=x.dtype)), shape=(1,))


def _square_sum_all(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The sums of squares of two tensors."""
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError(
            f"For 'SquareSumAll', 'x' and 'y' must have the same shape, but got {tuple(x.shape)} and {tuple(y.shape)}."
        )
    return bound.reduce_sum(bound.square(x)), bound.reduce_sum(bound.square(y))


def _confusion_matrix(
    labels: Tensor,
    predictions: Tensor,
    weights: Tensor | None = None,
    num_classes: int = 0,
    dtype: str = "int32",
) -> Tensor:
    """How often each class was taken for each: row label, column prediction."""
    kind = _core.dtype_of(getattr(_core, dtype)) if isinstance(dtype, str) else dtype
    if weights is None:
        weights = raw("Ones")(shape=labels.shape, dtype=kind)
    sides = {"labels": labels, "predictions": predictions}
    for argument, classes in sides.items():
        _require_below("ConfusionMatrix", argument, classes, num_classes)
    at = raw("Stack")([_cast(x, dtype=_core.int64) for x in sides.values()], axis=-1)
    return raw("ScatterNd")(at, _cast(weights, dtype=kind), shape=(num_classes, num_classes))


def _compare_and_bitpack(x: Tensor, threshold: Tensor) -> Tensor:
    """Eight truths of `x > threshold` as the bits of a byte, the first one highest."""
    if x.ndim == 0 or x.shape[-1] % 8:
        raise ValueError(
            f"For 'CompareAndBitpack', the last size of 'x' must be a multiple of 8, but got shape {tuple(x.shape)}."
        )
    bits = _cast(bound.greater(x, threshold), dtype=_core.int32)
    bits = _reshape(bits, shape=(*x.shape[:-1], x.shape[-1] // 8, 8))
    powers = Tensor(np.array([128, 64, 32, 16, 8, 4, 2, 1], np.int32))
    return _cast(bound.reduce_sum(bits * powers, -1), dtype=_core.uint8)


def _accidental_hits(
    true_classes: Tensor, sampled_candidates: Tensor, num_true: int = 1
) -> tuple[Tensor, Tensor, Tensor]:
    """Where sampled classes are among the true ones: the row of each, the place of the sample, and a weight that rules it out."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"For 'ComputeAccidentalHits', 'true_classes' must have shape [batch, {num_true}], but got "
            f"{tuple(true_classes.shape)}."
        )
    if sampled_candidates.ndim != 1:
        raise ValueError(
            "For 'ComputeAccidentalHits', 'sampled_candidates' must have 1 dimension, but got shape "
            f"{tuple(sampled_candidates.shape)}."
        )
    true = _concrete("ComputeAccidentalHits", true_classes)
    sampled = _concrete("ComputeAccidentalHits", sampled_candidates)
    rows, _, places = np.nonzero(true[:, :, None] == sampled[None, None, :])
    weights = np.full(len(rows), np.finfo(np.float32).min, np.float32)
    index = true.dtype if true.dtype in (np.int32, np.int64) else np.int32
    return Tensor(rows.astype(np.int32)), Tensor(places.astype(index)), Tensor(weights)


def _no_repeat_ngram(state_seq: Tensor, log_probs: Tensor, ngram_size: int = 1) -> Tensor:
    """Log probabilities in which what would repeat a sequence of `ngram_size` tokens is ruled out."""
    if not state_seq.ndim or not log_probs.ndim:
        raise ValueError("For 'NoRepeatNGram', the inputs must have dimensions, but got a scalar.")
    length = state_seq.shape[-1]
    if not 0 < ngram_size <= length:
        raise ValueError(
            f"For 'NoRepeatNGram', 'ngram_size' must be in [1, {length}], but got {ngram_size}."
        )
    size, classes = ngram_size - 1, log_probs.shape[-1]
    tokens = state_seq[..., size:]
    found = bound.logical_and(bound.greater_equal(tokens, 0), bound.less(tokens, classes))
    for i in range(size):  # of each beginning, whether it goes on as the last tokens do
        last = state_seq[..., length - size + i : length - size + i + 1]
        found = bound.logical_and(found, bound.equal(state_seq[..., i : i + length - size], last))
    places = where(found, tokens, 0)
    hits = bound.zeros((*state_seq.shape[:-1], classes), dtype=_core.int32)
    hits = raw("TensorScatterElements")(
        hits, places, _cast(found, dtype=_core.int32), axis=-1, reduction="add"
    )
    banned = bound.greater(hits, 0)
    return where(banned, float(np.finfo(np.float32).min), log_probs)


def _edit_distance(
    hypothesis_indices: Tensor,
    hypothesis_values: Tensor,
    hypothesis_shape: Tensor,
    truth_indices: Tensor,
    truth_values: Tensor,
    truth_shape: Tensor,
    normalize: bool = True,
) -> Tensor:
    """Levenshtein distances of sequences, whose items are given by coordinates in a tensor of two or more axes."""
    hypothesis = (hypothesis_indices, hypothesis_values, hypothesis_shape)
    truth_parts = (truth_indices, truth_values, truth_shape)
    _require_coordinates("hypothesis", *hypothesis)
    _require_coordinates("truth", *truth_parts)
    if hypothesis_shape.shape != truth_shape.shape:
        raise ValueError(
            "For 'EditDistance', 'hypothesis_shape' and 'truth_shape' must have as many items, but got shapes "
            f"{hypothesis_shape.shape} and {truth_shape.shape}."
        )
    arrays = [_concrete("EditDistance", t) for t in (*hypothesis, *truth_parts)]
    shape = np.maximum(arrays[2], arrays[5])[:-1]
    if shape.size and shape.min() < 0:
        raise ValueError(
            f"For 'EditDistance', sizes must not be negative, but got {shape.tolist()}."
        )
    require_memory("EditDistance", math.prod(shape.tolist()), 4)
    result = np.zeros(shape, np.float32)
    sides = [_sequences(*arrays[:2]), _sequences(*arrays[3:5])]
    for place in np.ndindex(*shape):
        guess, right = (side.get(place, []) for side in sides)
        distance = _levenshtein(guess, right)
        if normalize:
            distance = distance / len(right) if right else (np.inf if guess else 0.0)
        result[place] = distance
    return Tensor(result)


def _require_coordinates(side: str, indices: Tensor, values: Tensor, shape: Tensor) -> None:
    """Coordinates [n, d] of values [n] in a tensor whose d sizes are given."""
    _require_integers("EditDistance", {f"{side}_indices": indices, f"{side}_shape": shape})
    if shape.ndim != 1 or values.ndim != 1 or indices.shape != (values.size, shape.size):
        raise ValueError(
            f"For 'EditDistance', '{side}_indices' must be [n, d], '{side}_values' [n] and '{side}_shape' [d], but got "
            f"shapes {indices.shape}, {values.shape} and {shape.shape}."
        )


def _sequences(indices: np.ndarray, values: np.ndarray) -> dict[tuple, list]:
    found: dict[tuple, list] = {}
    for at, value in zip(indices.tolist(), values.tolist()):
        found.setdefault(tuple(at[:-1]), []).append(value)
    return found


def _levenshtein(x: list, y: list) -> float:
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        corner, row[0] = row[0], i
        for j, b in enumerate(y, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (a != b))
    return float(row[-1])


FACES = {
    "UniqueConsecutive(return_inverse=False, return_counts=False, dim=None)(x)": _unique_consecutive,
    "UniqueWithPad()(x, pad_num)": "unique_with_pad",
    "ListDiff(out_idx=None)(x, y)": _list_diff,
    "UnravelIndex()(indices, dims)": _unravel_index,
    "InvertPermutation()(input_x)": _invert_permutation,
    "TrilIndices(row, col, offset=0, dtype=None)()": _tril_indices,
    "TriuIndices(row, col, offset=0, dtype=None)()": _triu_indices,
    "EqualCount()(x, y)": _equal_count,
    "SquareSumAll()(x, y)": _square_sum_all,
    "ConfusionMatrix(num_classes, dtype='int32')(labels, predictions, weights=None)": _confusion_matrix,
    "CompareAndBitpack()(x, threshold)": _compare_and_bitpack,
    "ComputeAccidentalHits(num_true=1)(true_classes, sampled_candidates)": _accidental_hits,
    "NoRepeatNGram(ngram_size=1)(state_seq, log_probs)": _no_repeat_ngram,
    "EditDistance(normalize=True)(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, "
    "truth_values, truth_shape)": _edit_distance,
}
METHODS = ("argwhere", "unique_consecutive", "unique_with_pad")
__all__ = ["argwhere", "tail", "unique_consecutive", "unique_with_pad"]
