"""The machinery of all bijectors: parameters in the dtype of the value, how a bijector is called, which results it may have."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import rounded, wide
from mindspore.nn.probability._parametric import FLOATS, Parametric, cast, tensor_of

_CALLED = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")


class Bijector(Parametric):
    """What all bijectors have: invertible functions of numbers, with the logarithms of their derivatives.

    A bijector of one's own is a subclass that states `_forward`, `_inverse`, `_forward_log_jacobian` and `_inverse_log_jacobian`, as
    far as they are needed; one of the latter two follows from the other. Called with a distribution, a bijector makes a
    TransformedDistribution.

    Args:
        is_constant_jacobian: Whether the derivative is the same everywhere.
        is_injective: Whether no two values have the same result.
        name: How messages call it.
        dtype: The dtype of the parameters; Float32 by default. They are used in that of the value.
        param: The arguments that it was made with; `parameters` shows them.
    """

    def __init__(
        self,
        is_constant_jacobian: bool = False,
        is_injective: bool = True,
        name: str | None = None,
        dtype: DType | None = None,
        param: dict[str, Any] | None = None,
    ):
        if name is None:
            raise TypeError("For 'Bijector', 'name' must be a str, but got None.")
        super().__init__(name, dtype or _core.float32)
        self._constant, self._injective, self._dtype = is_constant_jacobian, is_injective, dtype
        self._made_with = {k: v for k, v in (param or {}).items() if k not in ("self", "__class__")}

    @property
    def dtype(self) -> DType | None:
        """The dtype that was given."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that the bijector was made with."""
        return self._made_with

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative is the same everywhere."""
        return self._constant

    @property
    def is_injective(self) -> bool:
        """Whether no two values have the same result."""
        return self._injective

    def image(self) -> tuple[Any, Any] | None:
        """Between which numbers all results lie; None for all numbers."""
        return None

    def domain(self) -> tuple[Any, Any] | None:
        """Between which numbers all values lie; None for all numbers."""
        return None

    def decreases(self) -> Any:
        """Where larger values have smaller results; None for nowhere."""
        return None

    # ---- values ---------------------------------------------------------------------------------------------------------
    def _check_value_dtype(self, value: Any) -> Tensor:
        """The value, which must be a Tensor of a float type."""
        value = tensor_of(self._name, "value", value)
        if value.dtype not in FLOATS:
            raise TypeError(
                f"For '{self._name}', 'value' must be a Tensor of a float type, but got {value.dtype}."
            )
        return value

    def cast_param_by_value(self, value: Tensor, para: Tensor) -> Tensor:
        """A parameter in the dtype of a value."""
        return cast(para, value.dtype)

    def _parameters_for(self, value: Tensor) -> list[Tensor]:
        return [cast(x, value.dtype) for x in self.default_parameters if x is not None]

    # ---- functions ------------------------------------------------------------------------------------------------------
    def _found(self, name: str, value: Tensor, args: tuple, kwargs: dict[str, Any]) -> Tensor:
        if not hasattr(self, f"_{name}"):
            raise NotImplementedError(
                f"For '{self._name}', '{name}' must be stated by the bijector, but it is not."
            )
        value = self._check_value_dtype(value)
        return rounded(getattr(self, f"_{name}")(wide(value), *args, **kwargs), value)

    def forward(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The function."""
        return self._found("forward", value, args, kwargs)

    def inverse(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The inverse of the function."""
        return self._found("inverse", value, args, kwargs)

    def forward_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the size of the derivative of the function."""
        return self._found("forward_log_jacobian", value, args, kwargs)

    def inverse_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the size of the derivative of the inverse."""
        if not hasattr(self, "_inverse_log_jacobian"):
            return -self.forward_log_jacobian(self.inverse(value, *args, **kwargs), *args, **kwargs)
        return self._found("inverse_log_jacobian", value, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of the name given first; of a distribution what the bijector makes of it."""
        family = importlib.import_module("mindspore.nn.probability.distribution")
        if args and isinstance(args[0], family.Distribution):
            return family.TransformedDistribution(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Tensor:
        """The function of that name."""
        if name not in _CALLED:
            raise NotImplementedError(
                f"For '{self._name}', the function must be one of {', '.join(_CALLED)}, but got '{name}'."
            )
        return getattr(self, name)(*args, **kwargs)
