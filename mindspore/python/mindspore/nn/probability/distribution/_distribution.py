"""The machinery of all distributions: which function follows from which, what holds outside of the support, how a distribution is
called. A subclass states some functions under their names with an underscore (`_log_prob`, `_mean`); the others follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.nn.probability._parametric import FLOATS, Parametric, Rule, cast, spread, tensor_of
from mindspore.ops.function.random_func import Seed

_DTYPES = (
    *FLOATS,
    *(_core.int8, _core.int16, _core.int32, _core.int64),
    *(_core.uint8, _core.uint16, _core.uint32, _core.uint64),
)
Way: TypeAlias = tuple[str, Callable[[Tensor], Tensor] | None]


def _complement(x: Tensor) -> Tensor:
    return 1.0 - x


def _complement_of_exp(x: Tensor) -> Tensor:
    return -ops.expm1(x)


def _log_of_complement(x: Tensor) -> Tensor:
    return ops.log1p(-x)


def _log_of_complement_of_exp(x: Tensor) -> Tensor:
    """log(1 - exp(x)), each half of the numbers below 0 by what is exact there."""
    near = x > -math.log(2)
    return ops.where(
        near,
        ops.log(-ops.expm1(ops.where(near, x, -1.0))),
        ops.log1p(-ops.exp(ops.where(near, -1.0, x))),
    )


# What each function follows from if it is not stated: the first of these that is.
_FOLLOWS: dict[str, tuple[Way, ...]] = {
    "prob": (("log_prob", ops.exp),),
    "log_prob": (("prob", ops.log),),
    "cdf": (
        ("log_cdf", ops.exp),
        ("survival_function", _complement),
        ("log_survival", _complement_of_exp),
    ),
    "log_cdf": (
        ("cdf", ops.log),
        ("survival_function", _log_of_complement),
        ("log_survival", _log_of_complement_of_exp),
    ),
    "survival_function": (
        ("log_survival", ops.exp),
        ("cdf", _complement),
        ("log_cdf", _complement_of_exp),
    ),
    "log_survival": (
        ("survival_function", ops.log),
        ("cdf", _log_of_complement),
        ("log_cdf", _log_of_complement_of_exp),
    ),
    "sd": (("var", ops.sqrt),),
    "var": (("sd", ops.square),),
    **dict.fromkeys(("mean", "mode", "entropy", "kl_loss", "sample"), ()),
}
# The values below and above the support.
_BESIDE = {
    "prob": (0.0, 0.0),
    "log_prob": (-math.inf, -math.inf),
    "cdf": (0.0, 1.0),
    "log_cdf": (-math.inf, 0.0),
    "survival_function": (1.0, 0.0),
    "log_survival": (0.0, -math.inf),
}
_CALLED = (*_FOLLOWS, "cross_entropy", "get_dist_args", "get_dist_type")


class Distribution(Parametric):
    """What all distributions have. A distribution of one's own is a subclass that states at least one function.

    `_add_parameter(value, name)` in `__init__` takes a parameter; `_check_param_type(*args)` in a function gives the parameters of
    a call, of `__init__` where the call has none. `prob` follows from `_log_prob` and the other way round, `cdf`,
    `log_cdf`, `survival_function` and `log_survival` from any one of them, `sd` from `_var` and the other way round,
    `cross_entropy` from `_entropy` and `_kl_loss`.

    Args:
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples.
        name: How messages call the distribution.
        param: The arguments that it was made with; `parameters` shows them.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> normal = msd.Normal(0.0, 1.0)
        >>> print(normal.log_prob(Tensor([0.0, 1.0])))
        [-0.9189385 -1.4189385]
        >>> print(normal("cdf", Tensor([0.0])))
        [0.5]
    """

    _ways: ClassVar[dict[str, Way]] = {}
    _open: ClassVar[bool] = False  # whether the ends of the support are outside of it

    def __init__(self, seed: Seed, dtype: DType, name: str, param: dict[str, Any]):
        if dtype not in _DTYPES:
            raise TypeError(f"For '{name}', 'dtype' must be a type of numbers, but got {dtype}.")
        super().__init__(name, dtype if dtype in FLOATS else _core.float32)
        self._dtype, self._seed = dtype, seed or 0
        self._stream = 0 if seed is None else seed + 1
        self._made_with = {k: v for k, v in param.items() if k not in ("self", "__class__")}

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls._ways = {}
        for name, others in _FOLLOWS.items():
            for stated, then in ((name, None), *others):
                if hasattr(cls, f"_{stated}"):
                    cls._ways[name] = (f"_{stated}", then)
                    break

    # ---- properties ---------------------------------------------------------------------------------------------------
    @property
    def dtype(self) -> DType:
        """The dtype of the samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed of the samples."""
        return self._seed

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that the distribution was made with."""
        return self._made_with

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of one sample of each distribution in the batch."""
        return self.batch_shape

    # ---- parameters and values ----------------------------------------------------------------------------------------
    def _check_value(self, value: Any, name: str) -> Tensor:
        """The value, which must be a Tensor."""
        return tensor_of(self._name, name, value)

    def _check_param_type(self, *args: Tensor | None) -> Any:
        """The parameters of a call: those given, else those of `__init__`, in their dtype and in one shape. One comes alone."""
        found = []
        for name, given, default in zip(self.parameter_names, args, self.default_parameters):
            value = default if given is None else given
            if value is None:
                raise TypeError(
                    f"For '{self._name}', '{name}' must be given to the distribution or to the call, but got None."
                )
            found.append(cast(tensor_of(self._name, name, value), self.parameter_type))
        shaped = spread(self._name, found)
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    def _support(self, *parameters: Any) -> tuple[Any, Any] | None:
        """The least and the largest value; None for all numbers."""
        return None

    # ---- how a function is found ----------------------------------------------------------------------------------------
    def _found(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The result of a function that is stated, or of one that it follows from."""
        if name not in self._ways:
            raise NotImplementedError(
                f"For '{self._name}', '{name}' must be stated by the distribution, but it is not."
            )
        stated, then = self._ways[name]
        result = getattr(self, stated)(*args, **kwargs)
        return result if then is None else then(result)

    def _at(self, name: str, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """A function of values: where these are outside of the support, what holds there, with a gradient of 0."""
        value = self._check_value(value, "value")
        support = self._support(*args)
        if support is None:
            return self._found(name, value, *args, **kwargs)
        low, high = support
        under, over = _BESIDE[name]
        missing = ops.isnan(value)
        below = value <= low if self._open else value < low
        above = value >= high if self._open else value > high
        beside = ops.logical_or(missing, ops.logical_or(below, above))
        inside = low + 1.0 if isinstance(high, float) and math.isinf(high) else (low + high) / 2
        result = self._found(name, ops.where(beside, inside, value), *args, **kwargs)
        result = ops.where(below, under, ops.where(above, over, result))
        return ops.where(missing, value, result)

    def _of(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """A function of the parameters alone."""
        return self._found(name, *args, **kwargs)

    # ---- functions of values --------------------------------------------------------------------------------------------
    def prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The density at values, or their probability where the distribution is discrete."""
        return self._at("prob", value, *args, **kwargs)

    def log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `prob`."""
        return self._at("log_prob", value, *args, **kwargs)

    def cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of a sample that is at most as large."""
        return self._at("cdf", value, *args, **kwargs)

    def log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return self._at("log_cdf", value, *args, **kwargs)

    def survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of a sample that is larger."""
        return self._at("survival_function", value, *args, **kwargs)

    def log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `survival_function`."""
        return self._at("log_survival", value, *args, **kwargs)

    # ---- functions of the parameters ------------------------------------------------------------------------------------
    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The mean."""
        return self._of("mean", *args, **kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation."""
        return self._of("sd", *args, **kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance."""
        return self._of("var", *args, **kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """The most likely value."""
        return self._of("mode", *args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The entropy, by the natural logarithm."""
        return self._of("entropy", *args, **kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The Kullback-Leibler divergence from another distribution of the kind `dist`, whose parameters come first."""
        return self._found("kl_loss", dist, *args, **kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The cross entropy with another distribution, given as to `kl_loss`."""
        if hasattr(self, "_cross_entropy"):
            return self._cross_entropy(dist, *args, **kwargs)
        return self._found("entropy") + self._found("kl_loss", dist, *args, **kwargs)

    def sample(self, *args: Any, **kwargs: Any) -> Tensor:
        """Samples: `shape`, a tuple, of them for each distribution in the batch."""
        return self._of("sample", *args, **kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> Any:
        """The parameters of a call."""
        if hasattr(self, "_get_dist_args"):
            return self._get_dist_args(*args, **kwargs)
        raise NotImplementedError(
            f"For '{self._name}', 'get_dist_args' must be stated by the distribution, but it is not."
        )

    def get_dist_type(self) -> str:
        """The kind of the distribution, as `kl_loss` takes it."""
        return type(self).__name__

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function of that name."""
        if name not in _CALLED:
            raise NotImplementedError(
                f"For '{self._name}', the function must be one of {', '.join(_CALLED)}, but got '{name}'."
            )
        return getattr(self, name)(*args, **kwargs)


__all__ = ["Distribution", "Rule"]
