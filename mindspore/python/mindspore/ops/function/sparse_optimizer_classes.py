"""Optimizer updates of the rows that a gradient names. Those called Fused add up the gradients of a row that is named more than
once; the others take it that none is."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import NotNegative, NotPositive, Positive
from mindspore.ops._bind import bound, raw
from mindspore.ops._steps import followed_leader
from mindspore.ops.function.math_func import where
from mindspore.ops.function.optimizer_classes import Scalar, _root, proximal

_assign, _gather, _reshape = raw("Assign"), raw("Gather"), raw("Reshape")
_sqrt, _abs, _sign, _square = bound.sqrt, bound.abs, bound.sign, bound.square


def _named(name: str, var: Tensor, grad: Tensor, indices: Tensor) -> None:
    wanted = (*indices.shape, *var.shape[1:])
    if indices.ndim != 1 or tuple(grad.shape) != wanted:
        raise ValueError(
            f"For '{name}', 'indices' must have 1 dimension and 'grad' a row for each of them, shape {wanted}, but got "
            f"{tuple(indices.shape)} and {tuple(grad.shape)}."
        )


def _summed(var: Tensor, grad: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of all rows, and which of them it names."""
    if grad.dtype is not var.dtype:
        grad = raw("Cast")(grad, dtype=var.dtype)
    full = raw("UnsortedSegmentSum")(grad, indices, num_segments=var.shape[0])
    ones = raw("Ones")(shape=indices.shape, dtype=_core.int32)
    counts = raw("UnsortedSegmentSum")(ones, indices, num_segments=var.shape[0])
    there = bound.greater(counts, 0)
    return full, _reshape(there, shape=(-1,) + (1,) * (var.ndim - 1))


def _written(there: Tensor | None, *pairs: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """Parameters with the new values of the rows that are named, or of all."""
    values = [made if there is None else where(there, made, old) for old, made in pairs]
    return tuple(_assign(old, made) for (old, _), made in zip(pairs, values))


# ---- one gradient for each row --------------------------------------------------------------------
def _adagrad(
    var: Tensor,
    accum: Tensor,
    grad: Tensor,
    indices: Tensor,
    lr: float = 0.0,
    epsilon: float = 0.0,
    use_locking: bool = False,
    update_slots: bool = True,
) -> tuple[Tensor, Tensor]:
    """Adagrad (Duchi et al., 2011)."""
    del use_locking
    _named("SparseApplyAdagrad", var, grad, indices)
    full, there = _summed(var, grad, indices)
    squares = accum + _square(full) if update_slots else accum
    step = full * lr / _sqrt(squares + epsilon)
    made = _written(there, (var, var - step), (accum, squares))
    return made[0], made[1]


def _adadelta(
    var: Tensor,
    accum: Tensor,
    accum_updated: Tensor,
    lr: Scalar,
    rho: Scalar,
    grad: Tensor,
    indices: Tensor,
    epsilon: float = 0.0,
    use_locking: bool = False,
) -> tuple[Tensor, ...]:
    """Adadelta (Zeiler, 2012)."""
    del use_locking
    _named("SparseApplyAdadelta", var, grad, indices)
    full, there = _summed(var, grad, indices)
    rest = 1.0 - rho
    squares = accum * rho + _square(full) * rest
    ratio = _sqrt(accum_updated + epsilon) / _sqrt(squares + epsilon)
    step = ratio * full
    steps = accum_updated * rho + _square(step) * rest
    return _written(
        there,
        (var, var - step * lr),
        (accum, squares),
        (accum_updated, steps),
    )


def _rms_prop(
    var: Tensor,
    ms: Tensor,
    mom: Tensor,
    lr: Scalar,
    grad: Tensor,
    indices: Tensor,
    rho: float = 0.0,
    momentum: float = 0.0,
    epsilon: float = 0.0,
    use_locking: bool = False,
) -> tuple[Tensor, ...]:
    """Root mean square propagation with momentum."""
    del use_locking
    _named("SparseApplyRMSProp", var, grad, indices)
    full, there = _summed(var, grad, indices)
    squares = ms * rho + _square(full) * (1 - rho)
    slope = full * lr / _sqrt(squares + epsilon)
    moved = mom * momentum + slope
    return _written(there, (var, var - moved), (ms, squares), (mom, moved))


def _ftrl(
    var: Tensor,
    accum: Tensor,
    linear: Tensor,
    grad: Tensor,
    indices: Tensor,
    lr: Positive = 1.0,
    l1: NotNegative = 0.0,
    l2: NotNegative = 0.0,
    l2_shrinkage: float = 0.0,
    lr_power: NotPositive = -0.5,
    use_locking: bool = False,
) -> tuple[Tensor, ...]:
    """Follow the regularised leader."""
    del use_locking
    _named("SparseApplyFtrl", var, grad, indices)
    full, there = _summed(var, grad, indices)
    made = followed_leader(var, accum, linear, full, lr, l1, l2, l2_shrinkage, lr_power)
    return _written(there, *zip((var, accum, linear), made))


def _proximal_adagrad(
    var: Tensor,
    accum: Tensor,
    lr: Scalar,
    l1: Scalar,
    l2: Scalar,
    grad: Tensor,
    indices: Tensor,
    use_locking: bool = False,
) -> tuple[Tensor, Tensor]:
    """Adagrad with an l1 and an l2 penalty."""
    del use_locking
    _named("SparseApplyProximalAdagrad", var, grad, indices)
    full, there = _summed(var, grad, indices)
    squares = accum + _square(full)
    rate = lr / _sqrt(squares)
    step = proximal(var - full * rate, rate, l1, l2)
    made = _written(there, (var, step), (accum, squares))
    return made[0], made[1]


# ---- Adam -----------------------------------------------------------------------------------------
def _adam(lazy: bool) -> Any:
    def update(
        var: Tensor,
        m: Tensor,
        v: Tensor,
        beta1_power: Scalar,
        beta2_power: Scalar,
        lr: Scalar,
        beta1: Scalar,
        beta2: Scalar,
        epsilon: Scalar,
        gradient: Tensor,
        indices: Tensor,
        use_locking: bool = False,
        use_nesterov: bool = False,
    ) -> tuple[Tensor, ...]:
        """Adam (Kingma and Ba, 2015). The lazy one leaves rows alone that the gradient does not name; else their moments fall and
        move them."""
        del use_locking
        _named("FusedSparseAdam", var, gradient, indices)
        full, there = _summed(var, gradient, indices)
        first = m * beta1 + full * (1.0 - beta1)
        second = v * beta2 + _square(full) * (1.0 - beta2)
        rate = lr * _root(1.0 - beta2_power) / (1.0 - beta1_power)
        ahead = first
        if use_nesterov:
            ahead = first * beta1 + full * (1.0 - beta1)
        step = rate * ahead / (_sqrt(second) + epsilon)
        return _written(there if lazy else None, (var, var - step), (m, first), (v, second))

    return update


FACES = {
    "SparseApplyAdagrad(lr, update_slots=True, use_locking=False)(var, accum, grad, indices)": _adagrad,
    "SparseApplyAdagradV2(lr, epsilon, use_locking=False, update_slots=True)(var, accum, grad, indices)": _adagrad,
    "SparseApplyAdadelta(epsilon, use_locking=False)(var, accum, accum_updated, lr, rho, grad, indices)": _adadelta,
    "SparseApplyRMSProp(rho, momentum, epsilon, use_locking=False)(var, ms, mom, lr, grad, indices)": _rms_prop,
    "SparseApplyFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices)": _ftrl,
    "SparseApplyFtrlV2(lr, l1, l2, l2_shrinkage, lr_power, use_locking=False)(var, accum, linear, grad, indices)": _ftrl,
    "FusedSparseFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices)": _ftrl,
    "SparseApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices)": _proximal_adagrad,
    "FusedSparseProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices)": _proximal_adagrad,
    "FusedSparseAdam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, "
    "epsilon, gradient, indices)": _adam(False),
    "FusedSparseLazyAdam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, "
    "epsilon, gradient, indices)": _adam(True),
}
__all__: list[str] = []
