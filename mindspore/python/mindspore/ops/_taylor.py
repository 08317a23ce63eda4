"""Derivatives of any order along a curve: jet and derivative. A curve is a function of one number, and forward mode applied again
and again to it gives one derivative after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from mindspore._core import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._checked import checked
from mindspore.common._kinds import PositiveInt, Where
from mindspore.common._tree import flatten, refill
from mindspore.ops._custom import FLOATS
from mindspore.ops._grad import ones_like, zeros_like
from mindspore.ops._transforms import _forward
from mindspore.ops._vmap import apply, enter

# Each order takes as much as all before it.
Order: TypeAlias = Annotated[PositiveInt, Where(lambda n: n <= 32, "be at most 32")]


def _derivatives(fn: Any, along: Callable, at: Tensor, order: int) -> tuple[Any, list[list]]:
    """The value of `fn(*along(at))`, and for each tensor in it its derivatives by `at`, the value first."""
    held: list = []

    def value(point: list) -> list:
        held[:] = [apply(fn, along(point[0]))]
        return flatten(held[0])

    def one_more(call: Callable) -> Callable:
        def both(point: list) -> list:
            known, tangents = _forward(call, point, [ones_like(at)])
            return [*known, *tangents[len(tangents) - len(flatten(held[0])) :]]

        return both

    call: Callable = value
    for _ in range(order):
        call = one_more(call)
    found = call([at])
    count = len(flatten(held[0]))
    return held[0], [found[i::count] for i in range(count)]


def _points(name: str, primals: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    """The primals as a list of floating tensors."""
    points = [primals] if isinstance(primals, Tensor) else list(primals)
    if not points:
        raise ValueError(f"For '{name}', 'primals' must not be empty, but got ().")
    return [p if p.dtype in FLOATS else p.astype(mstype.float32) for p in points]


def _coefficients(points: list[Tensor], series: Any) -> list[list[Tensor]]:
    """For each primal its derivatives along the curve, from the first on."""
    from mindspore import ops

    given = list(series) if isinstance(series, tuple) else [series]
    if len(given) != len(points):
        raise ValueError(
            f"For 'jet', 'series' must have one Tensor for each of the {len(points)} primals, but got {len(given)}."
        )
    parts = []
    for i, (point, s) in enumerate(zip(points, given)):
        fits = isinstance(s, Tensor) and tuple(s.shape)[1:] == tuple(point.shape) and s.ndim > 0
        if not fits or s.shape[0] == 0 or s.shape[0] != given[0].shape[0]:
            got = tuple(s.shape) if isinstance(s, Tensor) else type(s).__name__
            raise ValueError(
                f"For 'jet', item {i} of 'series' must be a Tensor with derivatives of the shape {tuple(point.shape)} of "
                f"its primal along the first axis, as many as the others have, but got {got}."
            )
        parts.append(list(ops.unstack(s.astype(point.dtype), 0)))
    return parts


@checked
def jet(
    fn: Callable, primals: Tensor | tuple[Tensor, ...], series: Tensor | tuple[Tensor, ...]
) -> tuple:
    """The derivatives of `fn` along a curve of its inputs, which is given by its own derivatives.

    Args:
        fn: a function or Cell of tensors.
        primals: a Tensor or a tuple of Tensors: where the curve is. Integers count as float32.
        series: in the structure of `primals`: the derivatives of the curve, from the first on, along a new first axis.

    Returns:
        The value of `fn`, and in its structure its derivatives along the curve, as many as the curve has, along a new first axis.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> value, series = ops.jet(ops.exp, x, ops.stack([ops.ones_like(x), ops.zeros_like(x)]))
        >>> # both derivatives are exp(x)
    """
    from mindspore import ops

    if isinstance(primals, tuple) != isinstance(series, tuple):
        raise TypeError(
            "For 'jet', 'primals' and 'series' must be both Tensors or both tuples, but got "
            f"{type(primals).__name__} and {type(series).__name__}."
        )

    def body(primals: Any, series: Any) -> tuple:
        points = _points("jet", primals)
        parts = _coefficients(points, series)

        def along(t: Tensor) -> list:
            moved = []
            for point, derivatives in zip(points, parts):
                step = power = t.astype(point.dtype)
                for k, d in enumerate(derivatives, 1):
                    point = point + d * power / math.factorial(k)
                    power = power * step
                moved.append(point)
            return moved

        at = zeros_like(ops.reshape(points[0], (-1,))[0])
        value, found = _derivatives(fn, along, at, len(parts[0]))
        rest = refill(value, (ops.stack(leaf[1:]) for leaf in found))
        return refill(value, (leaf[0] for leaf in found)), rest

    return enter(fn, ("jet",), body, (primals, series))


@checked
def derivative(fn: Callable, primals: Tensor | tuple[Tensor, ...], order: Order) -> tuple:
    """The derivative of an order of `fn`, all elements of all inputs growing alike.

    Args:
        fn: a function or Cell of tensors.
        primals: a Tensor or a tuple of Tensors: the inputs. Integers count as float32.
        order: which derivative, from 1 on.

    Returns:
        The value of `fn`, and in its structure the derivative.

    Examples:
        >>> value, third = ops.derivative(ops.sin, Tensor([0.0, 1.0]), 3)  # third: -cos
    """
    from mindspore import ops

    def body(primals: Any) -> tuple:
        points = _points("derivative", primals)

        def along(t: Tensor) -> list:
            return [point + t.astype(point.dtype) for point in points]

        at = zeros_like(ops.reshape(points[0], (-1,))[0])
        value, found = _derivatives(fn, along, at, order)
        last = refill(value, (leaf[-1] for leaf in found))
        return refill(value, (leaf[0] for leaf in found)), last

    return enter(fn, ("derivative", order), body, (primals,))
