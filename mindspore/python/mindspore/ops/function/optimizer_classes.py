"""Optimizer updates as primitives: compositions that give Parameters new values. Numbers come as scalars or tensors."""

from __future__ import annotations

from typing import Any, TypeAlias

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Real
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.math_func import where

_assign, _cast = raw("Assign"), raw("Cast")
_sqrt, _abs, _sign, _square = bound.sqrt, bound.abs, bound.sign, bound.square
Scalar: TypeAlias = Tensor | Real


def _below(x: Tensor, size: Any) -> Tensor:
    """`x` moved towards 0 by a size, and 0 where that is farther."""
    return _sign(x) * bound.maximum(_abs(x) - size, 0.0)


def proximal(x: Tensor, rate: Any, l1: Any, l2: Any) -> Tensor:
    """What an l1 and an l2 penalty, which if negative is none, leave of a value after a step of some length."""
    l1 = bound.maximum(l1, 0.0) if isinstance(l1, Tensor) else max(l1, 0.0)
    return _below(x, rate * l1) / (rate * l2 + 1.0)


def _adagrad_da(
    var: Tensor,
    gradient_accumulator: Tensor,
    gradient_squared_accumulator: Tensor,
    grad: Tensor,
    lr: Scalar,
    l1: Scalar,
    l2: Scalar,
    global_step: Scalar,
    use_locking: bool = False,
) -> Tensor:
    """Dual averaging with step sizes of its own for each element (Duchi et al., 2011)."""
    del use_locking
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + _square(grad)
    step = _cast(global_step, dtype=var.dtype) if isinstance(global_step, Tensor) else global_step
    slope = _below(total, l1 * step)
    divisor = l2 * step * lr + _sqrt(squares)
    made = _assign(var, -(lr * slope / divisor))
    _assign(gradient_accumulator, total)
    _assign(gradient_squared_accumulator, squares)
    return made


def _amsgrad(
    var: Tensor,
    m: Tensor,
    v: Tensor,
    vhat: Tensor,
    beta1_power: Scalar,
    beta2_power: Scalar,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    epsilon: Scalar,
    grad: Tensor,
) -> tuple[Tensor, ...]:
    """Adam whose second moment never falls (Reddi et al., 2018)."""
    first = m + (grad - m) * (1.0 - beta1)
    second = v + (_square(grad) - v) * (1.0 - beta2)
    largest = bound.maximum(vhat, second)
    rate = lr * _root(1.0 - beta2_power) / (1.0 - beta1_power)
    step = rate * first / (_sqrt(largest) + epsilon)
    return (
        _assign(var, var - step),
        _assign(m, first),
        _assign(v, second),
        _assign(vhat, largest),
    )


def _root(x: Any) -> Any:
    return _sqrt(x) if isinstance(x, Tensor) else x**0.5


def _amsgrad_fixed(
    var: Tensor,
    m: Tensor,
    v: Tensor,
    vhat: Tensor,
    beta1_power: Scalar,
    beta2_power: Scalar,
    lr: Scalar,
    grad: Tensor,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    use_locking: bool = False,
) -> tuple[Tensor, ...]:
    """Adam whose second moment never falls."""
    del use_locking
    return _amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)


def _add_sign(
    var: Tensor,
    m: Tensor,
    lr: Scalar,
    alpha: Scalar,
    sign_decay: Scalar,
    beta: Scalar,
    grad: Tensor,
) -> tuple[Tensor, Tensor]:
    """A step of the gradient times `alpha`, more where its sign is that of its running mean, and less where not (Bello et al., 2017)."""
    mean = beta * m + (1.0 - beta) * grad
    agreed = sign_decay * _sign(grad) * _sign(mean)
    step = (agreed + alpha) * lr * grad
    return _assign(var, var - step), _assign(m, mean)


def _power_sign(
    var: Tensor,
    m: Tensor,
    lr: Scalar,
    logbase: Scalar,
    sign_decay: Scalar,
    beta: Scalar,
    grad: Tensor,
) -> tuple[Tensor, Tensor]:
    """A step of the gradient times a power that tells whether its sign is that of its running mean."""
    mean = beta * m + (1.0 - beta) * grad
    agreed = sign_decay * _sign(grad) * _sign(mean)
    step = bound.exp(logbase * agreed) * lr * grad
    return _assign(var, var - step), _assign(m, mean)


def _keras_momentum(
    var: Tensor,
    accum: Tensor,
    lr: Scalar,
    grad: Tensor,
    momentum: Scalar,
    use_locking: bool = False,
    use_nesterov: bool = False,
) -> tuple[Tensor, Tensor]:
    """A step of what is left of the last one and of the gradient."""
    del use_locking
    moved = accum * momentum - lr * grad
    ahead = moved * momentum - lr * grad if use_nesterov else moved
    return _assign(var, var + ahead), _assign(accum, moved)


def _proximal_adagrad(
    var: Tensor,
    accum: Tensor,
    lr: Scalar,
    l1: Scalar,
    l2: Scalar,
    grad: Tensor,
    use_locking: bool = False,
) -> tuple[Tensor, Tensor]:
    """Adagrad with an l1 and an l2 penalty."""
    del use_locking
    squares = accum + _square(grad)
    rate = lr / _sqrt(squares)
    made = proximal(var - grad * rate, rate, l1, l2)
    return _assign(var, made), _assign(accum, squares)


def _proximal_descent(var: Tensor, alpha: Scalar, l1: Scalar, l2: Scalar, delta: Tensor) -> Tensor:
    """Gradient descent with an l1 and an l2 penalty."""
    return _assign(var, proximal(var - alpha * delta, alpha, l1, l2))


def _adam_step(
    m: Tensor,
    v: Tensor,
    beta1_power: Scalar,
    beta2_power: Scalar,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    epsilon: Scalar,
    gradient: Tensor,
    use_locking: bool = False,
    use_nesterov: bool = False,
) -> Tensor:
    """The step of Adam, which is not taken; the moments are updated."""
    del use_locking
    first = m * beta1 + gradient * (1.0 - beta1)
    second = v * beta2 + _square(gradient) * (1.0 - beta2)
    rate = lr * _root(1.0 - beta2_power) / (1.0 - beta1_power)
    ahead = first
    if use_nesterov:
        ahead = first * beta1 + gradient * (1.0 - beta1)
    step = -(rate * ahead / (_sqrt(second) + epsilon))
    m.copy_(first)  # plain tensors, too
    v.copy_(second)
    return step


def _cast_adam(
    var: Tensor,
    m: Tensor,
    v: Tensor,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    epsilon: Scalar,
    decay: Scalar,
    gradient: Tensor,
    global_norm: Scalar,
    use_locking: bool = False,
) -> tuple[Tensor, ...]:
    """Adam without the correction of its moments, with decay, of a gradient in Float16 over a norm of all of them."""
    del use_locking
    gradient = _cast(gradient, dtype=_core.float32) / global_norm
    first = m * beta1 + gradient * (1.0 - beta1)
    second = v * beta2 + _square(gradient) * (1.0 - beta2)
    wide = _cast(var, dtype=_core.float32)
    step = first / (_sqrt(second) + epsilon) + wide * decay
    made = _cast(wide - step * lr, dtype=var.dtype)
    return _assign(var, made), _assign(m, first), _assign(v, second)


def _scaled_momentum(
    weight_decay: Scalar,
    loss_scale: Scalar,
    variable: Tensor,
    accumulation: Tensor,
    learning_rate: Scalar,
    gradient: Tensor,
    momentum: Scalar,
) -> tuple[Tensor, Tensor]:
    """Momentum of a gradient times a loss scale, with decay."""
    gradient = _cast(gradient, dtype=variable.dtype) * loss_scale
    gradient = gradient + variable * weight_decay
    moved = accumulation * momentum + gradient
    made = variable - moved * learning_rate
    return _assign(variable, made), _assign(accumulation, moved)


def _lars(
    weight: Tensor,
    gradient: Tensor,
    norm_weight: Tensor,
    norm_gradient: Tensor,
    weight_decay: Scalar,
    learning_rate: Scalar,
    epsilon: float = 1e-5,
    hyperpara: float = 0.001,
    use_clip: bool = False,
) -> Tensor:
    """The gradient with decay, scaled by the ratio of the norms of weight and gradient, whose squares are given (You et al., 2017)."""
    size, slope = _sqrt(norm_weight), _sqrt(norm_gradient)
    divisor = slope + weight_decay * size + epsilon
    ratio = size * hyperpara / divisor
    if use_clip:
        ratio = bound.minimum(ratio / learning_rate, 1.0)
    known = bound.logical_and(bound.greater(size, 0), bound.greater(slope, 0))
    ratio = where(known, ratio, 1.0)
    return (gradient + weight * weight_decay) * ratio


FACES = {
    "ApplyAdagradDA(use_locking=False)(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, "
    "global_step)": _adagrad_da,
    "ApplyAdamWithAmsgrad(beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False)(var, m, v, vhat, beta1_power, "
    "beta2_power, lr, grad)": _amsgrad_fixed,
    "ApplyAdamWithAmsgradV2(use_locking@_=False)(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, "
    "epsilon, grad)": _amsgrad,
    "ApplyAddSign()(var, m, lr, alpha, sign_decay, beta, grad)": _add_sign,
    "ApplyPowerSign()(var, m, lr, logbase, sign_decay, beta, grad)": _power_sign,
    "ApplyKerasMomentum(use_locking=False, use_nesterov=False)(var, accum, lr, grad, momentum)": _keras_momentum,
    "ApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad)": _proximal_adagrad,
    "ApplyProximalGradientDescent()(var, alpha, l1, l2, delta)": _proximal_descent,
    "AdamNoUpdateParam(use_locking=False, use_nesterov=False)(m, v, beta1_power, beta2_power, lr, beta1, beta2, "
    "epsilon, gradient)": _adam_step,
    "FusedCastAdamWeightDecay(use_locking=False)(var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm)": (
        _cast_adam
    ),
    "FusedWeightScaleApplyMomentum()(weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, "
    "momentum)": _scaled_momentum,
    "LARSUpdate(epsilon=1e-05, hyperpara=0.001, use_clip=False)(weight, gradient, norm_weight, norm_gradient, "
    "weight_decay, learning_rate)": _lars,
}
__all__: list[str] = []
