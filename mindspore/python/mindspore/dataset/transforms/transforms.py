"""Operations on columns of any kind: casts, one-hot, padding, composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_key, row_rng
from mindspore.dataset.core.recorded import Recorded
from mindspore.dataset.core.validator_helpers import (
    array_of,
    check_int,
    check_probability,
    check_type,
)
from mindspore.dataset.transforms import native


def numpy_type(data_type: Any) -> np.dtype:
    """The NumPy type for a MindSpore type, a NumPy type or its name."""
    module = type(data_type).__module__ or ""
    if module.startswith("mindspore") or hasattr(data_type, "is_symbolic"):
        from mindspore.common import dtype as mstype

        return np.dtype(mstype.dtype_to_nptype(data_type))
    try:
        return np.dtype(data_type)
    except TypeError:
        raise TypeError(
            f"For 'TypeCast', data_type must be a type, but got {data_type!r}."
        ) from None


def not_random(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, marked as one that gives the same for the same."""
    function.random = False  # type: ignore[attr-defined]
    return function


class TensorOperation(Recorded):
    """Base of the operations that ship with the pipeline: callables on arrays."""

    gives_arrays = False  # of PIL images, too
    takes_bytes = False  # as they are; else they are a text
    _draws = False
    _direct: Any = None  # see native.run

    def __call__(self, *values: Any) -> Any:
        if self._direct is not None and len(values) == 1:
            made = self._direct(values[0], row_key() if self._draws else 0)
            if made is not NotImplemented:
                return made
        if self.gives_arrays:
            values = tuple([np.asarray(v) if hasattr(v, "getbands") else v for v in values])
        if len(values) == 1:
            return self._apply(self._taken(values[0]))
        return tuple([self._apply(self._taken(v)) for v in values])

    def _taken(self, value: Any) -> Any:
        """Numbers and lists as arrays; arrays, PIL images and what is encoded as they are."""
        given = isinstance(value, np.ndarray) or (self.takes_bytes and isinstance(value, bytes))
        if given or hasattr(value, "getbands"):
            return value
        return array_of(type(self).__name__, value)

    def _apply(self, value: Any) -> Any:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        # The engine's part is made again where it is needed.
        made = ("_chain", "_direct")
        return {name: value for name, value in self.__dict__.items() if name not in made}


class PyTensorOperation(TensorOperation):
    """Base of the operations that also take PIL images."""


def _unlike(op: str, value: Any, must: str) -> TypeError:
    """The refusal of an input of which a transform can make nothing."""
    kind = getattr(value, "dtype", None)
    got = type(value).__name__ if kind is None else f"an array of {kind}"
    return TypeError(f"For '{op}', the input must {must}, but got {got}.")


class TypeCast(TensorOperation):
    """Cast to a type."""

    def __init__(self, data_type: Any) -> None:
        self.data_type = numpy_type(data_type)

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        number = native.dtype_number(self.data_type)
        return None if number is None else ("TypeCast", [float(number)])

    def _apply(self, value: Any) -> Any:
        try:
            return np.asarray(value).astype(self.data_type)
        except (TypeError, ValueError, OverflowError):
            raise _unlike(
                type(self).__name__, value, f"hold what can be {self.data_type}"
            ) from None


class OneHot(TensorOperation):
    """Class numbers as vectors with a 1 at the number.

    `smoothing_rate` spreads part of it evenly.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        self.num_classes = check_int("OneHot", "num_classes", num_classes, 1)
        self.smoothing_rate = check_probability("OneHot", "smoothing_rate", smoothing_rate)

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        return "OneHot", [float(self.num_classes), self.smoothing_rate]

    def _apply(self, value: Any) -> Any:
        return native.run(self, value)


class Fill(TensorOperation):
    """An array of the same shape and type with one value."""

    def __init__(self, fill_value: Any) -> None:
        check_type("Fill", "fill_value", fill_value, (str, float, bool, int, bytes))
        self.fill_value = fill_value

    def _apply(self, value: Any) -> Any:
        if (value.dtype.kind in "US") != isinstance(self.fill_value, (str, bytes)):
            raise TypeError(
                f"For 'Fill', fill_value must fit {value.dtype}, but got {self.fill_value!r}."
            )
        if value.dtype.kind in "US":
            return np.full(value.shape, self.fill_value)
        return np.full_like(value, self.fill_value)


class Concatenate(TensorOperation):
    """Arrays one after the other, with `prepend` before and `append` after them; only axis 0."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        check_type("Concatenate", "axis", axis, int)
        if axis not in (0, -1):
            raise ValueError(f"For 'Concatenate', axis must be 0 or -1, but got {axis}.")
        self.axis = axis
        self.prepend, self.append = prepend, append

    def __call__(self, *values: Any) -> Any:
        arrays = [array_of("Concatenate", value) for value in values]
        ends = (self.prepend, self.append)
        before, after = ([] if end is None else [np.asarray(end)] for end in ends)
        parts = [*before, *arrays, *after]
        if not arrays or any(part.ndim == 0 for part in parts):
            shapes = [part.shape for part in parts]
            raise ValueError(
                f"For 'Concatenate', there must be arrays of at least one axis, but got shapes {shapes}."
            )
        dtype = arrays[0].dtype
        return np.concatenate([_of_type(part, dtype) for part in parts], axis=self.axis)


def _of_type(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array in a type that holds all that is in it; texts are as long as they are."""
    if array.dtype == dtype or (array.dtype.kind == dtype.kind and dtype.kind in "SU"):
        return array
    if not {array.dtype.kind, dtype.kind} & set("SU"):
        with np.errstate(invalid="ignore", over="ignore"):
            cast = array.astype(dtype)
        inexact = dtype.kind in "fcV" and array.dtype.kind in "fiubV"
        same = np.array_equal(cast, array)
        if same or (inexact and np.array_equal(_finite(cast), _finite(array))):
            return cast
    raise TypeError(
        f"For 'Concatenate', what is joined must be of one type, but got {array.dtype} beside {dtype}"
        ", which does not hold the same values."
    )


def _finite(array: np.ndarray) -> Any:
    return np.isfinite(array.astype(np.float64) if array.dtype.kind == "V" else array)


class Duplicate(TensorOperation):
    """The column twice."""

    takes_bytes = True

    def _apply(self, value: Any) -> Any:
        return value, value


class Relational(IntEnum):
    """Comparisons for Mask."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARE: dict[Relational, Callable[[Any, Any], Any]] = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}


class Mask(TensorOperation):
    """Where the comparison with a constant holds."""

    def __init__(self, operator: Relational, constant: Any, dtype: Any = np.bool_) -> None:
        check_type("Mask", "operator", operator, Relational)
        check_type("Mask", "constant", constant, (str, float, bool, int, bytes))
        self.operator, self.constant = operator, constant
        self.dtype = numpy_type(dtype)

    def _apply(self, value: Any) -> Any:
        try:
            return np.asarray(_COMPARE[self.operator](value, self.constant)).astype(self.dtype)
        except TypeError:
            raise _unlike("Mask", value, f"be comparable with {self.constant!r}") from None


class PadEnd(TensorOperation):
    """Pad, or cut, the end of every axis to `pad_shape` (None: leave the axis)."""

    def __init__(self, pad_shape: Sequence[int | None], pad_value: Any = None) -> None:
        check_type("PadEnd", "pad_shape", pad_shape, (list, tuple))
        for dim in pad_shape:
            if dim is not None:
                check_int("PadEnd", "pad_shape", dim, 1)
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def _apply(self, value: Any) -> Any:
        if value.ndim != len(self.pad_shape):
            raise ValueError(
                f"For 'PadEnd', the input must have rank {len(self.pad_shape)}, but got "
                f"{value.ndim}."
            )
        shape = [n if d is None else d for d, n in zip(self.pad_shape, value.shape, strict=True)]
        fill = (
            self.pad_value
            if self.pad_value is not None
            else ("" if value.dtype.kind in "US" else 0)
        )
        result = np.full(shape, fill, dtype=object if value.dtype.kind in "US" else value.dtype)
        window = tuple(slice(0, min(a, b)) for a, b in zip(value.shape, shape, strict=True))
        result[window] = value[window]
        return result.astype(value.dtype.kind) if result.dtype == object else result


class Slice(TensorOperation):
    """Part of an array: for each axis an int, a list of ints, a slice, None or ... (all)."""

    def __init__(self, *slices: Any) -> None:
        for part in slices:
            if isinstance(part, bool) or not isinstance(
                part, (int, list, tuple, slice, type(None), type(...))
            ):
                raise TypeError(
                    f"For 'Slice', slices must be int, list, slice, None or ..., but got {part!r}."
                )
        self.slices = slices or (...,)

    def _apply(self, value: Any) -> Any:
        for axis, part in enumerate(self.slices):
            if part is None or part is ...:
                continue
            if axis >= value.ndim:
                raise ValueError(
                    f"For 'Slice', the input must have rank {len(self.slices)}, but got "
                    f"{value.ndim}."
                )
            if isinstance(part, slice):
                value = value[(slice(None),) * axis + (part,)]
            else:
                value = np.take(value, [part] if isinstance(part, int) else list(part), axis=axis)
        return value


class Unique(TensorOperation):
    """The distinct elements, where each element is among them, and how often each occurs."""

    def _apply(self, value: Any) -> Any:
        flat = value.reshape(-1)
        try:
            _, first, inverse, counts = np.unique(
                flat, return_index=True, return_inverse=True, return_counts=True
            )
        except TypeError:
            raise _unlike("Unique", value, "hold what can be sorted") from None
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return flat[np.sort(first)], rank[inverse].astype(np.int32), counts[order].astype(np.int32)


class _Chain(Recorded):
    """Base of the operations made of others."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        op = type(self).__name__
        check_type(op, "transforms", transforms, (list, tuple))
        if not transforms:
            raise ValueError(f"For '{op}', transforms must not be empty.")
        for transform in transforms:
            if not callable(transform):
                raise TypeError(f"For '{op}', transforms must be callable, but got {transform!r}.")
        self.transforms = list(transforms)

    def _run(self, chain: Sequence[Callable[..., Any]], values: tuple[Any, ...]) -> Any:
        for transform in chain:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class Compose(_Chain):
    """All transforms in order."""

    @property
    def composed(self) -> list[Callable[..., Any]]:
        """See native.spec_of."""
        return self.transforms

    def __call__(self, *values: Any) -> Any:
        """The result; where a PIL image came by, a tuple of it, as MindSpore's is."""
        pictures = any(hasattr(value, "getbands") for value in values)
        for transform in self.transforms:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
            pictures = pictures or any(hasattr(value, "getbands") for value in values)
        return values if pictures or len(values) != 1 else values[0]


class RandomApply(_Chain):
    """All transforms in order, or none, at random."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self.prob = check_probability("RandomApply", "prob", prob)

    def __call__(self, *values: Any) -> Any:
        return self._run(self.transforms if row_rng().random() < self.prob else [], values)


class RandomChoice(_Chain):
    """One of the transforms, at random."""

    def __call__(self, *values: Any) -> Any:
        return self._run([self.transforms[int(row_rng().integers(len(self.transforms)))]], values)


class RandomOrder(_Chain):
    """All transforms, in random order."""

    def __call__(self, *values: Any) -> Any:
        return self._run(
            [self.transforms[i] for i in row_rng().permutation(len(self.transforms))], values
        )


class Plugin(TensorOperation):
    """A function of a library that was built against MindSpore's own C++ classes; raises RuntimeError,
    since they are not here.
    """

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None) -> None:
        check_type("Plugin", "lib_path", lib_path, str)
        check_type("Plugin", "func_name", func_name, str)
        check_type("Plugin", "user_args", user_args, (str, type(None)))
        raise RuntimeError(
            "For 'Plugin', the library must be built for this package, which has no C++ interface for "
            f"that: '{func_name}' of '{lib_path}' must be called by a function of Python, as through ctypes."
        )
