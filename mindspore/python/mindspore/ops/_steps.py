"""Steps of optimizers that have no op of their own, each written once for all optimizers that take it. They run as they are while an
update is compiled, which makes one kernel of each. Half precision is computed in float32 and rounded where it is kept."""

from __future__ import annotations

import math
from typing import Any

from mindspore._core import Tensor
from mindspore.common._dtypes import wide
from mindspore.ops._bind import bound, raw

_assign, _sum, _mean, _select = raw("Assign"), raw("ReduceSum"), raw("ReduceMean"), raw("Select")


def keep(parameter: Any, value: Tensor, touched: Tensor | None = None) -> None:
    """Gives a Parameter a value of its shape, in its own dtype; only where it is `touched`, where that is given."""
    if touched is not None:
        value = _select(touched, value, wide(parameter))
    _assign(parameter, value if value.dtype == parameter.dtype else value.astype(parameter.dtype))


def touched_by(gradients: Any, flags: tuple) -> tuple:
    """Of each gradient whose flag is set, where it is anything but -0: see nn.EmbeddingLookup."""
    pairs = zip(gradients, flags)
    return tuple(bound.logical_or(g != 0, 1.0 / g > 0) if flag else None for g, flag in pairs)


def moved(average: Any, value: Tensor, factor: Any) -> Tensor:
    """A moving average after one more value."""
    return wide(average) * factor + value * (1.0 - factor)


def rest_of(beta: float, step: Tensor) -> Tensor:
    """1 - beta ** step, as exact for a factor close to 1 as for others."""
    logarithm = math.log(beta) if beta > 0 else -math.inf
    return bound.neg(bound.expm1(step * logarithm))


def amsgrad(
    w: Any,
    m: Any,
    v: Any,
    most: Any,
    gradient: Tensor,
    rate: Any,
    beta1: Any,
    beta2: Any,
    eps: Any,
    stay: Any = None,
) -> None:
    """Adam that divides by the largest mean of squares so far; `rate` and `eps` have the bias correction in them.
    The weights are multiplied by `stay` first, where it is given."""
    g = wide(gradient)
    mean, square = moved(m, g, beta1), moved(v, g * g, beta2)
    largest = bound.maximum(wide(most), square)
    old = wide(w) if stay is None else wide(w) * stay
    keep(w, old - rate * mean / (bound.sqrt(largest) + eps))
    keep(m, mean)
    keep(v, square)
    keep(most, largest)


def lazy_adam(
    w: Any,
    m: Any,
    v: Any,
    gradient: Tensor,
    rate: Any,
    touched: Any,
    beta1: Any,
    beta2: Any,
    eps: Any,
    nesterov: bool,
) -> None:
    """Adam that leaves alone what is not touched; `rate` has the bias correction in it."""
    g = wide(gradient)
    mean, square = moved(m, g, beta1), moved(v, g * g, beta2)
    ahead = moved(mean, g, beta1) if nesterov else mean
    keep(w, wide(w) - rate * ahead / (bound.sqrt(square) + eps), touched)
    keep(m, mean, touched)
    keep(v, square, touched)


def followed_leader(
    w: Tensor,
    squares: Tensor,
    linear: Tensor,
    gradient: Tensor,
    rate: Any,
    l1: float,
    l2: float,
    shrinkage: float,
    power: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Follow the regularised leader (McMahan et al., 2013): the new values of all three."""
    shrunk = gradient + w * (2 * shrinkage) if shrinkage else gradient
    total = squares + bound.square(gradient)

    def raised(x: Tensor) -> Tensor:
        return bound.sqrt(x) if power == -0.5 else bound.pow(x, -power)

    slope = linear + shrunk - (raised(total) - raised(squares)) / rate * w
    best = (bound.sign(slope) * l1 - slope) / (raised(total) / rate + 2 * l2)
    made = _select(bound.greater(bound.abs(slope), l1), best, bound.zeros_like(best))
    return made, total, slope


def ftrl(
    w: Any,
    squares: Any,
    linear: Any,
    gradient: Tensor,
    rate: Any,
    touched: Any,
    l1: float,
    l2: float,
    power: float,
) -> None:
    """What ApplyFtrl does, but that it leaves alone what is not touched."""
    before = wide(w), wide(squares), wide(linear)
    made = followed_leader(*before, wide(gradient), rate, l1, l2, 0.0, power)
    for state, value in zip((w, squares, linear), made):
        keep(state, value, touched)


def infinity(
    w: Any, m: Any, v: Any, gradient: Tensor, rate: Any, beta1: Any, beta2: Any, eps: Any
) -> None:
    """Adamax whose `eps` is part of the norm; `rate` has the bias correction in it."""
    g = wide(gradient)
    mean = moved(m, g, beta1)
    norm = bound.maximum(wide(v) * beta2, bound.abs(g) + eps)
    keep(w, wide(w) - rate * mean / norm)
    keep(m, mean)
    keep(v, norm)


def nesterov_adam(
    w: Any,
    m: Any,
    v: Any,
    gradient: Tensor,
    of_gradient: Any,
    of_mean: Any,
    left2: Any,
    beta1: Any,
    beta2: Any,
    eps: Any,
) -> None:
    """NAdam; the two rates are those of the gradient and of its mean."""
    g = wide(gradient)
    mean, square = moved(m, g, beta1), moved(v, g * g, beta2)
    keep(
        w,
        wide(w) - (of_gradient * g + of_mean * mean) / (bound.sqrt(square / left2) + eps),
    )
    keep(m, mean)
    keep(v, square)


def rectified_adam(
    w: Any,
    m: Any,
    v: Any,
    gradient: Tensor,
    rate: Any,
    scale: Any,
    certain: Any,
    beta1: Any,
    beta2: Any,
    eps: Any,
) -> None:
    """RAdam: divided by the root of squares, times `scale`, once their variance is `certain`."""
    g = wide(gradient)
    mean, square = moved(m, g, beta1), moved(v, g * g, beta2)
    adaptive = scale / (bound.sqrt(square) + eps)
    factor = _select(certain, adaptive, bound.ones_like(adaptive))
    keep(w, wide(w) - rate * mean * factor)
    keep(m, mean)
    keep(v, square)


def mean_square(
    w: Any,
    mean: Any,
    square: Any,
    moment: Any,
    gradient: Tensor,
    rate: Any,
    alpha: Any,
    eps: Any,
    momentum: Any,
    centered: bool,
) -> None:
    """RMSprop whose `eps` is added to the root, and whose rate multiplies the velocity."""
    g = wide(gradient)
    squares = moved(square, g * g, alpha)
    variance = squares
    if centered:
        average = moved(mean, g, alpha)
        variance = squares - average * average
        keep(mean, average)
    step = g / (bound.sqrt(variance) + eps)
    if momentum > 0:
        step = wide(moment) * momentum + step
        keep(moment, step)
    keep(w, wide(w) - rate * step)
    keep(square, squares)


def averaged(w: Any, mean: Any, gradient: Tensor, eta: Any, mu: Any, lambd: Any) -> None:
    """ASGD: a step of the size `eta` from weights that shrink by `lambd`, and their average."""
    new = wide(w) * (1.0 - lambd * eta) - wide(gradient) * eta
    old = wide(mean)
    keep(mean, old + (new - old) * mu)
    keep(w, new)


def resilient(
    w: Any,
    before: Any,
    size: Any,
    gradient: Tensor,
    rate: Any,
    first: Any,
    factors: tuple,
    sizes: tuple,
) -> None:
    """Rprop: steps that grow while the gradient keeps its sign, and shrink when it turns; the `first` are `rate`."""
    g = wide(gradient)
    agree = bound.sign(g * wide(before))
    old = wide(size)
    old = _select(first, bound.ones_like(old) * rate, old)
    grown = old * _select(agree > 0, bound.ones_like(g) * factors[1], bound.ones_like(g))
    step = bound.maximum(
        bound.minimum(_select(agree < 0, old * factors[0], grown), sizes[1]), sizes[0]
    )
    g = _select(agree < 0, bound.zeros_like(g), g)
    keep(w, wide(w) - bound.sign(g) * step)
    keep(before, g)
    keep(size, step)


def proximal_adagrad(
    w: Any, squares: Any, gradient: Tensor, rate: Any, touched: Any, l1: float, l2: float
) -> None:
    """Adagrad's step, then the weights that are best for an L1 and an L2 penalty near there. Leaves alone what is not touched."""
    g = wide(gradient)
    total = wide(squares) + g * g
    own = rate / bound.sqrt(total)
    near = wide(w) - g * own
    if l1 > 0:
        near = bound.sign(near) * bound.maximum(bound.abs(near) - own * l1, 0.0)
    keep(w, near / (own * l2 + 1.0), touched)
    keep(squares, total, touched)


def norm_of(x: Tensor) -> Tensor:
    """The Euclidean norm of all elements."""
    x = wide(x)
    return bound.sqrt(_sum(x * x, axis=(), keep_dims=False))


def root_mean_square(x: Tensor) -> Tensor:
    """The root of the mean of squares."""
    return bound.sqrt(_mean(x * x, axis=(), keep_dims=False))


def by_layer(
    w: Any,
    m: Any,
    v: Any,
    gradient: Tensor,
    rate: Any,
    decay: Any,
    lefts: tuple,
    beta1: float,
    beta2: float,
    eps: float,
) -> None:
    """LAMB: Adam's step with decay in it, as long as the weights are."""
    g, old = wide(gradient), wide(w)
    mean, square = moved(m, g, beta1), moved(v, g * g, beta2)
    step = (mean / lefts[0]) / (bound.sqrt(square / lefts[1]) + eps) + old * decay
    weights, length = norm_of(old), norm_of(step)
    both = bound.logical_and(weights > 0.0, length > 0.0)
    ratio = _select(both, weights / length, bound.ones_like(weights))
    keep(w, old - rate * ratio * step)
    keep(m, mean)
    keep(v, square)


def factored(
    w: Any,
    states: tuple,
    gradient: Tensor,
    rate: Any,
    decay: Any,
    beta2: Any,
    settings: tuple,
) -> None:
    """Adafactor: Adam whose mean of squares is the product of those of rows and of columns, where there are both."""
    mean, rows, columns, squares = states
    eps, clip, beta1, scales = settings
    g, old = wide(gradient), wide(w)
    update = g * g + eps[0]
    if w.ndim >= 2:
        by_row = moved(rows, _mean(update, axis=-1, keep_dims=False), beta2)
        by_column = moved(columns, _mean(update, axis=-2, keep_dims=False), beta2)
        row = bound.rsqrt(by_row / _mean(by_row, axis=-1, keep_dims=True))
        step = bound.expand_dims(row, -1) * bound.expand_dims(bound.rsqrt(by_column), -2) * g
        keep(rows, by_row)
        keep(columns, by_column)
    else:
        square = moved(squares, update, beta2)
        keep(squares, square)
        step = bound.rsqrt(square) * g
    step = step / bound.maximum(root_mean_square(step) / clip, 1.0)
    if scales:
        rate = rate * bound.maximum(root_mean_square(old), eps[1])
    step = step * rate
    if beta1 is not None:
        step = moved(mean, step, beta1)
        keep(mean, step)
    keep(w, old - step - old * (decay * rate))


def next_sizes(
    eta: Any, mu: Any, rate: Any, step: Tensor, lambd: float, alpha: float, t0: float
) -> None:
    """What ASGD takes at its next step: how far it goes, and how much of the way its average follows."""
    keep(eta, rate / bound.pow(step * (rate * lambd) + 1.0, alpha))
    keep(mu, 1.0 / bound.maximum(step - t0, 1.0))
