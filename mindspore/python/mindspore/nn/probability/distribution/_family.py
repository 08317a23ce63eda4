"""Families: distributions that state their parameters and, as functions of these, their mathematics; nothing else."""

from __future__ import annotations

from typing import Any, ClassVar

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import wide
from mindspore.nn.probability._parametric import FLOATS, Rule, cast
from mindspore.nn.probability.distribution._distribution import Distribution
from mindspore.ops._bind import raw
from mindspore.ops.function.random_func import Seed

_uniform, _normal = raw("UniformReal"), raw("StandardNormal")
_gamma, _poisson = raw("StandardGamma"), raw("StandardPoisson")
_TINY = 2.0**-25  # half the distance of uniform numbers: 0 is moved by so much
NOTHING: dict[str, Any] = {}


class Family(Distribution):
    """A distribution with declared parameters. Its `_log_prob`, `_mean` and so on take all of them, in one dtype and shape;
    `_kl_loss` those of the other distribution and then its own; `_sample` the shape of the result first."""

    PARAMETERS: ClassVar[dict[str, Rule | None]]
    CONTINUOUS: ClassVar[bool] = True
    KEYWORDS: ClassVar[dict[str, str]] = NOTHING  # other names of parameters in calls

    def __init__(self, arguments: dict[str, Any], seed: Seed, dtype: DType, name: str):
        if self.CONTINUOUS and dtype not in FLOATS:
            raise TypeError(f"For '{name}', 'dtype' must be a float type, but got {dtype}.")
        given = {n: arguments[n] for n in self.PARAMETERS}
        made_with = {**given, "seed": seed, "dtype": dtype, "name": name, "param_dict": given}
        Distribution.__init__(self, seed, dtype, name, made_with)  # whatever stands between
        for parameter, rule in self.PARAMETERS.items():
            self._add_parameter(given[parameter], parameter, rule)
        self._refuse()
        self._shape_of_parameters()  # refuses those that do not broadcast

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        for name in cls.PARAMETERS:
            if not hasattr(cls, name):
                setattr(cls, name, _parameter(name))

    def _refuse(self) -> None:
        """Refuses parameters that do not fit each other."""

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape that the parameters have together; None while one of them is not given."""
        return self._shape_of_parameters()

    # ---- the parameters of a call -------------------------------------------------------------------------------------
    def _own(self, args: tuple, kwargs: dict[str, Any], suffixes: tuple[str, ...] = ("",)) -> tuple:
        """The parameters of a call, given by position or by name."""
        names = self.parameter_names
        if len(args) > len(names):
            raise TypeError(
                f"For '{self._name}', the parameters must be {', '.join(names)}, but got {len(args)} of them."
            )
        given = [*args, *[None] * (len(names) - len(args))]
        for called, value in kwargs.items():
            place = self._place(called, suffixes)
            if place is None or place < len(args):
                raise TypeError(
                    f"For '{self._name}', the parameters must be {', '.join(names)}, but got '{called}'"
                    f"{' twice' if place is not None else ''}."
                )
            given[place] = value
        found = self._check_param_type(*given)
        return found if isinstance(found, tuple) else (found,)

    def _place(self, called: str, suffixes: tuple[str, ...]) -> int | None:
        """Which parameter a name means."""
        for suffix in suffixes:
            name = called.removesuffix(suffix) if suffix else called
            name = self.KEYWORDS.get(name, name)
            if called.endswith(suffix) and name in self.parameter_names:
                return self.parameter_names.index(name)
        return None

    def _two(self, dist: str, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, tuple]:
        """The parameters of another distribution, which must all be given, and one's own."""
        if dist != type(self).__name__:
            raise ValueError(
                f"For '{self._name}', 'dist' must be '{type(self).__name__}', but got {dist!r}."
            )
        count = len(self.parameter_names)
        other = {k: v for k, v in kwargs.items() if k.endswith("_b")}
        own = {k: v for k, v in kwargs.items() if not k.endswith("_b")}
        if len(args[:count]) + len(other) < count:
            raise TypeError(
                f"For '{self._name}', the parameters of the other distribution must be given, but got {len(args) + len(other)} "
                f"of {count}."
            )
        return self._own(args[:count], other, ("_b",)), self._own(args[count:], own, ("", "_a"))

    # ---- calls of what is stated ----------------------------------------------------------------------------------------
    def _at(self, name: str, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        value = cast(self._check_value(value, "value"), self.parameter_type)
        own = map(wide, self._own(args, kwargs))
        return self._back(super()._at(name, wide(value), *own))

    def _of(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._back(self._found(name, *map(wide, self._own(args, kwargs))))

    def _back(self, result: Tensor) -> Tensor:
        """A float that was computed from `wide` parameters, in the dtype that these have."""
        return cast(result, self.parameter_type) if result.dtype in FLOATS else result

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The Kullback-Leibler divergence from another distribution of the same family, whose parameters come first."""
        other, own = self._two(dist, args, kwargs)
        return self._back(self._found("kl_loss", *map(wide, (*other, *own))))

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The cross entropy with another distribution of the same family, whose parameters come first."""
        other, own = self._two(dist, args, kwargs)
        kept = [*map(wide, own)]
        divergence = self._found("kl_loss", *map(wide, other), *kept)
        return self._back(self._found("entropy", *kept) + divergence)

    def sample(self, shape: tuple = (), *args: Any, **kwargs: Any) -> Tensor:
        """Samples: `shape` of them for each distribution in the batch."""
        if not isinstance(shape, tuple):
            raise TypeError(
                f"For '{self._name}', 'shape' must be a tuple, but got {type(shape).__name__}."
            )
        own = [*map(wide, self._own(args, kwargs))]
        drawn = self._found("sample", (*shape, *self._batch(*own)), *own)
        return cast(drawn, self._dtype)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple:
        """The parameters of a call, in one shape."""
        return self._own(args, kwargs)

    def _batch(self, *own: Tensor) -> tuple[int, ...]:
        """The shape of one sample of each distribution."""
        return own[0].shape

    # ---- draws, in the dtype of the parameters ----------------------------------------------------------------------------
    def _uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Uniform numbers of (0, 1), in which 0 and 1 are not."""
        drawn = _uniform(shape=shape, seed=self._stream) * (1 - 2 * _TINY) + _TINY
        if self.parameter_type in (_core.float16, _core.bfloat16):  # their largest numbers below 1
            least = 2.0**-11 if self.parameter_type is _core.float16 else 2.0**-8
            drawn = ops.clamp(drawn, least / 2, 1 - least)
        return cast(drawn, self.parameter_type)

    def _standard_normal(self, shape: tuple[int, ...]) -> Tensor:
        return cast(_normal(shape=shape, seed=self._stream), self.parameter_type)

    def _standard_gamma(self, shape: tuple[int, ...], concentration: Tensor) -> Tensor:
        return self._each(_gamma, shape, concentration)

    def _poisson_counts(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return self._each(_poisson, shape, rate)

    def _each(self, op: Any, shape: tuple[int, ...], parameter: Tensor) -> Tensor:
        """A draw for each element of a parameter."""
        wide = _core.float64 if self.parameter_type is _core.float64 else _core.float32
        drawn = op(ops.broadcast_to(cast(parameter, wide), shape), seed=self._stream)
        return cast(drawn, self.parameter_type)


def _parameter(name: str) -> property:
    def get(self: Family) -> Tensor | None:
        return getattr(self, f"{name}_value")

    return property(get, doc=f"The parameter `{name}`, as it was given.")
