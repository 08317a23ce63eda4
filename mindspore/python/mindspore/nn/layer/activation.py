"""Activation layers, and `get_activation`, which finds one by name."""

from __future__ import annotations

from typing import Annotated

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._checked import checked
from mindspore.common._kinds import Finite, Float, PositiveInt, Real, Where
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P

_SOME = Where(len, "not be empty")


class ReLU(Cell):
    """max(x, 0)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x above zero, alpha * x below.

    Args:
        alpha: The slope below zero.
    """

    def __init__(self, alpha: Finite = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.leaky_relu(x, self.alpha)


class Sigmoid(Cell):
    """1 / (1 + exp(-x))."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.sigmoid(x)


class Tanh(Cell):
    """The hyperbolic tangent."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.tanh(x)


class GELU(Cell):
    """x times the normal distribution function of x (Hendrycks and Gimpel, 2016).

    Args:
        approximate: Whether the approximation by tanh is used.
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.gelu(x, "tanh" if self.approximate else "none")


class HSwish(Cell):
    """x * relu6(x + 3) / 6 (Howard et al., 2019)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.hardswish(x)


class HSigmoid(Cell):
    """relu6(x + 3) / 6 (Howard et al., 2019)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.hardsigmoid(x)


class SiLU(Cell):
    """x * sigmoid(x)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.silu(x)


class ELU(Cell):
    """x above zero, alpha * (exp(x) - 1) below (Clevert et al., 2015).

    Args:
        alpha: The value that is approached, negated, far below zero.
    """

    def __init__(self, alpha: Finite = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.elu(x, self.alpha)


class SeLU(Cell):
    """The self-normalising exponential linear unit (Klambauer et al., 2017)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.selu(x)


class PReLU(Cell):
    """x above zero, w * x below, with a trained w.

    Args:
        channel: 1, or the number of channels, each with a slope of its own.
        w: The slope at the start: a number, a list or a Tensor of `channel` numbers.
    """

    def __init__(self, channel: PositiveInt = 1, w: Float | list[float] | Tensor = 0.25) -> None:
        super().__init__()
        if isinstance(w, float):
            start = initializer(w, (channel,))
        else:
            start = Tensor(w, mstype.float32) if isinstance(w, list) else w
            if tuple(start.shape) != (channel,):
                raise ValueError(
                    f"For '{self.cls_name}', the shape of 'w' must be ({channel},), "
                    f"but got {tuple(start.shape)}."
                )
        self.w = Parameter(start, name="a")
        self.prelu = P.PReLU()

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return self.prelu(x, self.w.astype(x.dtype))


class Softmax(Cell):
    """exp(x) divided by its sum along an axis.

    Args:
        axis: The axis, or a tuple of axes.
    """

    def __init__(self, axis: int | Annotated[tuple[int, ...], _SOME] = -1) -> None:
        super().__init__()
        self.softmax = P.Softmax(axis)

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return self.softmax(x)


class LogSoftmax(Cell):
    """The logarithm of softmax.

    Args:
        axis: The axis.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.log_softmax = P.LogSoftmax(axis)

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return self.log_softmax(x)


class Softplus(Cell):
    """log(1 + exp(x))."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.softplus(x)


class LogSigmoid(Cell):
    """log(1 / (1 + exp(-x)))."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.logsigmoid(x)


class Mish(Cell):
    """x * tanh(softplus(x)) (Misra, 2019)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.mish(x)


class Softsign(Cell):
    """x / (1 + |x|)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.softsign(x)


class Hardtanh(Cell):
    """x, cut at two bounds.

    Args:
        min_val: The lower bound.
        max_val: The upper bound.
    """

    def __init__(self, min_val: Finite = -1.0, max_val: Finite = 1.0) -> None:
        super().__init__()
        self.min_val = min_val
        self.max_val = max_val
        if not min_val < max_val:
            raise ValueError(
                f"For '{self.cls_name}', 'min_val' must be below 'max_val', "
                f"but got {min_val} and {max_val}."
            )

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.hardtanh(x, self.min_val, self.max_val)


class FastGelu(Cell):
    """x / (1 + exp(-1.702 * |x|)) * exp(0.851 * (x - |x|)), close to GELU."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.fast_gelu(x)


class CELU(Cell):
    """x above zero, alpha * (exp(x / alpha) - 1) below (Barron, 2017).

    Args:
        alpha: The value that is approached, negated, far below zero.
    """

    def __init__(self, alpha: Finite = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.celu(x, self.alpha)


class HShrink(Cell):
    """x where it is further from zero than lambd, zero elsewhere.

    Args:
        lambd: The threshold.
    """

    def __init__(self, lambd: Finite = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.hardshrink(x, self.lambd)


class SoftShrink(Cell):
    """x moved towards zero by lambd, zero where it is nearer than that.

    Args:
        lambd: The threshold.
    """

    def __init__(self, lambd: Finite = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.softshrink(x, self.lambd)


class Tanhshrink(Cell):
    """x - tanh(x)."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return x - ops.tanh(x)


class Threshold(Cell):
    """x where it is above a threshold, a value elsewhere.

    Args:
        threshold: The threshold.
        value: The value.
    """

    def __init__(self, threshold: Finite, value: Finite) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.threshold(x, self.threshold, self.value)


class Softmin(Cell):
    """Softmax of -x.

    Args:
        axis: The axis.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.softmax(-x, self.axis)


class GLU(Cell):
    """The first half of x times the sigmoid of the second (Dauphin et al., 2017).

    Args:
        axis: The axis that is halved.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.glu(x, self.axis)


class RReLU(Cell):
    """x above zero, below it x times a slope that is drawn anew for each element.

    Args:
        lower: The least slope.
        upper: The largest slope.
    """

    def __init__(self, lower: Real = 1.0 / 8, upper: Real = 1.0 / 3) -> None:
        super().__init__()
        if lower > upper:
            raise ValueError(
                f"For '{self.cls_name}', 'lower' must be at most 'upper', but got {lower} and {upper}."
            )
        self.lower = lower
        self.upper = upper

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return ops.rrelu(x, self.lower, self.upper)


class Softmax2d(Cell):
    """Softmax over the channels of [C, H, W] or [N, C, H, W]."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        if x.ndim not in (3, 4):
            raise ValueError(
                f"For '{self.cls_name}', the input must have 3 or 4 dimensions, "
                f"but got the shape {x.shape}."
            )
        return ops.softmax(x, -3)


_ACTIVATIONS = {
    "elu": ELU,
    "fast_gelu": FastGelu,
    "gelu": GELU,
    "hardtanh": Hardtanh,
    "hshrink": HShrink,
    "hsigmoid": HSigmoid,
    "hswish": HSwish,
    "leakyrelu": LeakyReLU,
    "logsigmoid": LogSigmoid,
    "logsoftmax": LogSoftmax,
    "mish": Mish,
    "prelu": PReLU,
    "relu": ReLU,
    "relu6": ReLU6,
    "sigmoid": Sigmoid,
    "silu": SiLU,
    "softmax": Softmax,
    "softmax2d": Softmax2d,
    "softmin": Softmin,
    "softplus": Softplus,
    "softshrink": SoftShrink,
    "softsign": Softsign,
    "swish": SiLU,
    "tanh": Tanh,
    "tanhshrink": Tanhshrink,
}


@checked
def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """A new activation layer by its name in lower case; None where the name is None.

    Args:
        name: The name, as 'relu' or 'leakyrelu'.
        prim_name: Who asks, for the error message.
    """
    if name is None:
        return None
    if name not in _ACTIVATIONS:
        known = ", ".join(repr(item) for item in _ACTIVATIONS)
        owner = prim_name or "get_activation"
        raise KeyError(f"For '{owner}', 'name' must be one of {known}, but got {name!r}.")
    return _ACTIVATIONS[name]()


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "FastGelu",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "get_activation",
]
