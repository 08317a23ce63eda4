"""Initial values of parameters.

An `Initializer` fills a NumPy array; `initializer(...)` turns one into a Tensor at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common._checked import check_methods, checked
from mindspore.common._draws import (
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    _calculate_gain,
    _draw_normal,
    _draw_truncated,
    _draw_uniform,
    _rng,
)
from mindspore.common._kinds import Ints, Real
from mindspore.common._size import require_memory
from mindspore.common._undrawn import zeros_undrawn
from mindspore.common.tensor import Tensor

_INITIALIZERS: dict[str, type[Initializer]] = {}


def _register(*names: str) -> Callable[[type[Initializer]], type[Initializer]]:
    """Class decorator: makes the class known to `initializer` by its own name and by `names`."""

    def wrap(cls: type[Initializer]) -> type[Initializer]:
        for name in (cls.__name__, *names):
            _INITIALIZERS[name.lower()] = cls
        return cls

    return wrap


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Write `num`, an array or a number, into `arr` in place."""
    if arr.shape == ():
        arr = arr.reshape(1)
        arr[:] = num
        return arr.reshape(())
    arr[...] = np.asarray(num, dtype=arr.dtype).reshape(arr.shape) if np.ndim(num) else num
    return arr


class Initializer:
    """Base of all initializers: a subclass fills an array in `_initialize`."""

    def __init_subclass__(cls) -> None:
        check_methods(cls, ("__init__",))

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def _initialize(self, arr: np.ndarray) -> Any:
        """Fill `arr` in place."""
        raise NotImplementedError(
            f"For '{type(self).__name__}', '_initialize' must be defined to fill an array."
        )

    def __call__(self, arr: np.ndarray) -> Any:
        return self._initialize(arr)

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self._kwargs.items())
        return f"{type(self).__name__}({settings})"


@_register("zeros")
class Zero(Initializer):
    """All zeros."""

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, 0)


@_register("ones")
class One(Initializer):
    """All ones."""

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, 1)


@_register()
class Constant(Initializer):
    """One value everywhere.

    Args:
        value: A number.
    """

    def __init__(self, value: Real | np.ndarray) -> None:
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, self.value)


@_register()
class Normal(Initializer):
    """Normal numbers.

    Args:
        sigma: The standard deviation.
        mean: The mean.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = sigma
        self.mean = mean

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _draw_normal(self.mean, self.sigma, arr.shape))


@_register()
class Uniform(Initializer):
    """Uniform numbers in [-scale, scale).

    Args:
        scale: The bound.
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _draw_uniform(-self.scale, self.scale, arr.shape))


@_register("truncated_normal", "trunc_normal")
class TruncatedNormal(Initializer):
    """Normal numbers within [a, b].

    Args:
        sigma: The standard deviation before the cut.
        mean: The mean before the cut.
        a: The lower bound.
        b: The upper bound.
    """

    def __init__(
        self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0
    ) -> None:
        if not a < b:
            raise ValueError(f"For 'TruncatedNormal', 'a' must be below 'b', but got {a} and {b}.")
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma = sigma
        self.mean = mean
        self.a = a
        self.b = b

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _draw_truncated(self.mean, self.sigma, self.a, self.b, arr.shape))


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """Uniform numbers that keep the variance of inputs and gradients (Glorot and Bengio, 2010).

    Args:
        gain: A factor on the bound sqrt(6 / (fan_in + fan_out)).
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        bound = self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, _draw_uniform(-bound, bound, arr.shape))


@_register("xavier_normal")
class XavierNormal(Initializer):
    """Normal numbers that keep the variance of inputs and gradients (Glorot and Bengio, 2010).

    Args:
        gain: A factor on the standard deviation sqrt(2 / (fan_in + fan_out)).
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        sigma = self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, _draw_normal(0.0, sigma, arr.shape))


class _He(Initializer):
    """What HeUniform and HeNormal share."""

    def __init__(
        self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
    ) -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = negative_slope
        self.mode = mode
        self.nonlinearity = nonlinearity

    def _sigma(self, shape: tuple[int, ...]) -> float:
        gain = _calculate_gain(self.nonlinearity, self.negative_slope)
        return gain / math.sqrt(_calculate_correct_fan(shape, self.mode))


@_register("he_uniform")
class HeUniform(_He):
    """Uniform numbers that keep the variance through rectifiers (He et al., 2015).

    Args:
        negative_slope: The slope of 'leaky_relu' below zero.
        mode: 'fan_in' keeps the variance forward, 'fan_out' backward.
        nonlinearity: 'leaky_relu', 'relu' or another name that a gain is known for.
    """

    def _initialize(self, arr: np.ndarray) -> None:
        bound = math.sqrt(3.0) * self._sigma(arr.shape)
        _assignment(arr, _draw_uniform(-bound, bound, arr.shape))


@_register("he_normal")
class HeNormal(_He):
    """Normal numbers that keep the variance through rectifiers (He et al., 2015).

    Args:
        negative_slope: The slope of 'leaky_relu' below zero.
        mode: 'fan_in' keeps the variance forward, 'fan_out' backward.
        nonlinearity: 'leaky_relu', 'relu' or another name that a gain is known for.
    """

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _draw_normal(0.0, self._sigma(arr.shape), arr.shape))


@_register("variance_scaling")
class VarianceScaling(Initializer):
    """Numbers of the variance scale / n, n being a fan of the shape.

    Args:
        scale: The factor.
        mode: 'fan_in', 'fan_out' or 'fan_avg'.
        distribution: 'uniform', 'truncated_normal' or 'untruncated_normal'.
    """

    # The standard deviation of a standard normal cut at -2 and 2.
    _CUT = 0.87962566103423978

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal"
    ) -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if not scale > 0.0:
            raise ValueError(f"For 'VarianceScaling', 'scale' must be above 0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                "For 'VarianceScaling', 'mode' must be one of 'fan_in', 'fan_out', 'fan_avg', "
                f"but got '{mode}'."
            )
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "For 'VarianceScaling', 'distribution' must be one of 'uniform', "
                f"'truncated_normal', 'untruncated_normal', but got '{distribution}'."
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def _initialize(self, arr: np.ndarray) -> None:
        fan_in, fan_out = _calculate_fan_in_and_fan_out(arr.shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "truncated_normal":
            sigma = math.sqrt(variance) / self._CUT
            values = _draw_truncated(0.0, sigma, -2.0 * sigma, 2.0 * sigma, arr.shape)
        elif self.distribution == "untruncated_normal":
            values = _draw_normal(0.0, math.sqrt(variance), arr.shape)
        else:
            bound = math.sqrt(3.0 * variance)
            values = _draw_uniform(-bound, bound, arr.shape)
        _assignment(arr, values)


@_register()
class Identity(Initializer):
    """The identity matrix, or its rectangular counterpart."""

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(
                f"For 'Identity', the shape must have 2 dimensions, but got {arr.shape}."
            )
        _assignment(arr, np.eye(*arr.shape))


@_register()
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times a gain (Saxe et al., 2013).

    Args:
        gain: The factor.
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(
                f"For 'Orthogonal', the shape must have 2 or more dimensions, but got {arr.shape}."
            )
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        tall = _rng().standard_normal((max(rows, columns), min(rows, columns)))
        basis, upper = np.linalg.qr(tall)
        basis *= np.sign(np.diag(upper))  # without this the matrix is not uniformly distributed
        _assignment(arr, self.gain * (basis if rows >= columns else basis.T))


@_register()
class Sparse(Initializer):
    """Normal numbers with a share of zeros in each column (Martens, 2010).

    Args:
        sparsity: The share of zeros.
        sigma: The standard deviation of the others.
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity = sparsity
        self.sigma = sigma

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(
                f"For 'Sparse', the shape must have 2 dimensions, but got {arr.shape}."
            )
        rows, columns = arr.shape
        values = _draw_normal(0.0, self.sigma, arr.shape)
        zeros = math.ceil(self.sparsity * rows)
        for column in range(columns):
            values[_rng().permutation(rows)[:zeros], column] = 0
        _assignment(arr, values)


@_register()
class Dirac(Initializer):
    """A convolution weight that passes as many channels through as it can.

    Args:
        groups: The groups of the convolution.
    """

    def __init__(self, groups: int = 1) -> None:
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
            raise ValueError(f"For 'Dirac', 'groups' must be a positive int, but got {groups!r}.")
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr: np.ndarray) -> None:
        if not 3 <= arr.ndim <= 5:
            raise ValueError(
                f"For 'Dirac', the shape must have 3, 4 or 5 dimensions, but got {arr.shape}."
            )
        if arr.shape[0] % self.groups:
            raise ValueError(
                f"For 'Dirac', the first dimension must be divisible by 'groups' {self.groups}, "
                f"but got {arr.shape[0]}."
            )
        values = np.zeros(arr.shape, arr.dtype)
        centre = tuple(size // 2 for size in arr.shape[2:])
        per_group = arr.shape[0] // self.groups
        for group in range(self.groups):
            for channel in range(min(per_group, arr.shape[1])):
                place = (group * per_group + channel, channel, *centre)
                values[place] = 1
        _assignment(arr, values)


def _init_random_normal(mean: float, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    """Normal numbers from the global generator."""
    return _draw_normal(mean, sigma, shape)


def _init_random_uniform(a: float, b: float, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform numbers from the global generator."""
    return _draw_uniform(a, b, shape)


def _check_shape(shape: Ints | None) -> tuple[int, ...]:
    if shape is None:
        return ()
    items = (shape,) if isinstance(shape, int) else tuple(shape)
    if min(items, default=1) <= 0:
        raise ValueError(
            f"For 'initializer', the sizes in 'shape' must be positive, but got {shape}."
        )
    require_memory("initializer", math.prod(items), 8)
    return items


def _make(init: Any) -> Initializer:
    """The Initializer that a name, a number or an Initializer stands for."""
    if isinstance(init, Initializer):
        return init
    if isinstance(init, str):
        cls = _INITIALIZERS.get(init.lower())
        if cls is None:
            known = ", ".join(sorted(repr(name) for name in _INITIALIZERS))
            raise ValueError(f"For 'initializer', 'init' must be one of {known}, but got '{init}'.")
        return cls()
    return Constant(init)


@checked
def initializer(
    init: Tensor | str | float | Initializer,
    shape: Ints | None = None,
    dtype: mstype.Type = mstype.float32,
) -> Tensor:
    """A Tensor with initial values.

    Args:
        init: The name of an initializer ('normal', 'xavier_uniform', ...), an Initializer, a
            number, or a Tensor, which is returned with the dtype asked for.
        shape: The shape; for a Tensor it may be left out.
        dtype: The dtype.

    Examples:
        >>> from mindspore.common.initializer import initializer, Normal
        >>> initializer(Normal(0.02), [4, 3]).shape
        (4, 3)
    """
    if isinstance(init, Tensor):
        if shape is not None and _check_shape(shape) != tuple(init.shape):
            raise ValueError(
                f"For 'initializer', 'shape' must be that of the tensor 'init', "
                f"{tuple(init.shape)}, but got {shape}."
            )
        return init if init.dtype == dtype else init.astype(dtype)
    extents = _check_shape(shape)
    undrawn = zeros_undrawn(extents, dtype)
    if undrawn is not None:
        return undrawn
    exact = dtype in (mstype.int32, mstype.int64, mstype.float64)
    values = np.zeros(extents, np.float64 if exact else np.float32)
    if values.shape == ():
        values = values.reshape(1)
        _make(init)(values)
        return Tensor(values.reshape(()), dtype)
    _make(init)(values)
    return Tensor(values, dtype)


__all__ = [
    "Constant",
    "Dirac",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "Normal",
    "One",
    "Orthogonal",
    "Sparse",
    "TruncatedNormal",
    "Uniform",
    "VarianceScaling",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]
