"""Bijectors of single numbers: each states its mathematics."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mindspore import ops
from mindspore._core import Tensor
from mindspore.nn.probability._parametric import NOT_NEGATIVE, POSITIVE, Given, Rule
from mindspore.nn.probability.bijector._bijector import Bijector

_POSITIVE_NUMBERS = (0.0, math.inf)


class _Stated(Bijector):
    """A bijector of given parameters, which keep their rules."""

    LINEAR: ClassVar[bool] = False

    def __init__(self, given: dict[str, Given], rules: dict[str, Rule], name: str):
        super().__init__(self.LINEAR, name=name, param={**given, "name": name, "param_dict": given})
        for parameter, value in given.items():
            self._add_parameter(value, parameter, rules.get(parameter))
            setattr(self, f"_{parameter}", self.default_parameters[-1])

    def _parameters_for(self, value: Tensor) -> list[Tensor]:
        for name, given in zip(self.parameter_names, self.default_parameters):
            if given is None:
                raise TypeError(f"For '{self._name}', '{name}' must be given, but got None.")
        return super()._parameters_for(value)


class PowerTransform(_Stated):
    """`(1 + c x)^(1 / c)`, and `exp(x)` where c is 0.

    Args:
        power: The number c, not negative.
        name: How messages call it.
    """

    def __init__(self, power: Given = 0.0, name: str = "PowerTransform"):
        super().__init__({"power": power}, {"power": NOT_NEGATIVE}, name)

    @property
    def power(self) -> Tensor:
        """The number c."""
        return self.default_parameters[0]

    def image(self) -> tuple[Any, Any] | None:
        """The positive numbers."""
        return _POSITIVE_NUMBERS

    def _split(self, value: Tensor) -> tuple[Tensor, Tensor]:
        """Where c is 0; and c, but 1 there."""
        (power,) = self._parameters_for(value)
        return power == 0, ops.where(power == 0, 1.0, power)

    def _forward(self, x: Tensor) -> Tensor:
        none, c = self._split(x)
        return ops.where(none, ops.exp(x), ops.exp(ops.log1p(x * c) / c))

    def _inverse(self, y: Tensor) -> Tensor:
        none, c = self._split(y)
        return ops.where(none, ops.log(y), ops.expm1(ops.log(y) * c) / c)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        none, c = self._split(x)
        return ops.where(none, x, (1.0 / c - 1.0) * ops.log1p(x * c))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        (power,) = self._parameters_for(y)
        return (power - 1.0) * ops.log(y)


class Exp(PowerTransform):
    """`exp(x)`.

    Args:
        name: How messages call it.
    """

    def __init__(self, name: str = "Exp"):
        super().__init__(0.0, name)

    def extend_repr(self) -> str:
        """What it is."""
        return "exp"

    def _forward(self, x: Tensor) -> Tensor:
        return ops.exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return ops.log(y)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return x

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -ops.log(y)


class ScalarAffine(_Stated):
    """`scale * x + shift`.

    Args:
        scale: The factor.
        shift: What is added.
        name: How messages call it.
    """

    LINEAR = True

    def __init__(self, scale: Given = 1.0, shift: Given = 0.0, name: str = "ScalarAffine"):
        super().__init__({"scale": scale, "shift": shift}, {}, name)

    @property
    def scale(self) -> Tensor:
        """The factor."""
        return self.default_parameters[0]

    @property
    def shift(self) -> Tensor:
        """What is added."""
        return self.default_parameters[1]

    def decreases(self) -> Any:
        """Where the factor is below 0."""
        return self.default_parameters[0] < 0

    def _forward(self, x: Tensor) -> Tensor:
        scale, shift = self._parameters_for(x)
        return scale * x + shift

    def _inverse(self, y: Tensor) -> Tensor:
        scale, shift = self._parameters_for(y)
        return (y - shift) / scale

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(self._parameters_for(x)[0]))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -ops.log(ops.abs(self._parameters_for(y)[0]))


class Softplus(_Stated):
    """`log(1 + exp(k x)) / k`.

    Args:
        sharpness: The number k.
        name: How messages call it.
    """

    def __init__(self, sharpness: Given = 1.0, name: str = "Softplus"):
        super().__init__({"sharpness": sharpness}, {}, name)

    @property
    def sharpness(self) -> Tensor:
        """The number k."""
        return self.default_parameters[0]

    def image(self) -> tuple[Any, Any] | None:
        """The positive numbers."""
        return _POSITIVE_NUMBERS

    def _forward(self, x: Tensor) -> Tensor:
        (k,) = self._parameters_for(x)
        return ops.softplus(k * x) / k

    def _inverse(self, y: Tensor) -> Tensor:
        (k,) = self._parameters_for(y)
        return y + ops.log(-ops.expm1(-k * y)) / k

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        (k,) = self._parameters_for(x)
        return -ops.softplus(-k * x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        (k,) = self._parameters_for(y)
        return -ops.log(-ops.expm1(-k * y))


class GumbelCDF(_Stated):
    """`exp(-exp(-(x - loc) / scale))`, the probability of less than x in a Gumbel distribution.

    Args:
        loc: The most likely value of the distribution.
        scale: Its scale, greater than 0.
        name: How messages call it.
    """

    def __init__(self, loc: Given = 0.0, scale: Given = 1.0, name: str = "GumbelCDF"):
        super().__init__({"loc": loc, "scale": scale}, {"scale": POSITIVE}, name)

    @property
    def loc(self) -> Tensor:
        """The most likely value of the distribution."""
        return self.default_parameters[0]

    @property
    def scale(self) -> Tensor:
        """The scale of the distribution."""
        return self.default_parameters[1]

    def image(self) -> tuple[Any, Any] | None:
        """The numbers between 0 and 1."""
        return 0.0, 1.0

    def _forward(self, x: Tensor) -> Tensor:
        loc, scale = self._parameters_for(x)
        return ops.exp(-ops.exp((loc - x) / scale))

    def _inverse(self, y: Tensor) -> Tensor:
        loc, scale = self._parameters_for(y)
        return loc - scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        loc, scale = self._parameters_for(x)
        z = (x - loc) / scale
        return -z - ops.exp(-z) - ops.log(scale)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        _, scale = self._parameters_for(y)
        log = ops.log(y)
        return ops.log(scale) - ops.log(-log) - log


class Invert(Bijector):
    """The inverse of another bijector.

    Args:
        bijector: The other one.
        name: How messages call it.
    """

    def __init__(self, bijector: Bijector, name: str = ""):
        name = name or f"Invert{bijector.name}"
        super().__init__(
            bijector.is_constant_jacobian,
            bijector.is_injective,
            name,
            bijector.dtype,
            {"bijector": bijector, "name": name},
        )
        self._bijector = bijector

    @property
    def bijector(self) -> Bijector:
        """The other bijector."""
        return self._bijector

    def image(self) -> tuple[Any, Any] | None:
        """The values of the other bijector."""
        return self._bijector.domain()

    def domain(self) -> tuple[Any, Any] | None:
        """The results of the other bijector."""
        return self._bijector.image()

    def decreases(self) -> Any:
        """Where the other one does."""
        return self._bijector.decreases()

    def _forward(self, x: Tensor) -> Tensor:
        return self._bijector.inverse(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return self._bijector.forward_log_jacobian(y)
