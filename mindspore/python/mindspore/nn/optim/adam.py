"""Adam and its relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Float, PositiveFloat, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops import operations as P
from mindspore.ops._each import chosen, each, of_each, scaled, steps
from mindspore.ops._steps import amsgrad, lazy_adam, rest_of, touched_by

# The factor of a moving average.
Beta: TypeAlias = Annotated[Float, within(0.0, 1.0, "none")]


def _power(name: str, shape: tuple[int, ...]) -> Parameter:
    """A factor to the power of the number of steps."""
    return Parameter(initializer("ones", shape, mstype.float32), name=name)


class Adam(Optimizer):
    """Steps by the mean of gradients over the root of the mean of their squares (Kingma, Ba, 2015).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        beta1: The factor of the mean of gradients, in (0, 1).
        beta2: The factor of the mean of squares, in (0, 1).
        eps: Added to the root.
        use_locking: Accepted; updates never race.
        use_nesterov: Whether to look one step ahead.
        weight_decay: As for Optimizer.
        loss_scale: As for Optimizer.
        use_amsgrad: Whether the largest mean of squares so far is used (Reddi et al., 2018).
    """

    _power_shape: tuple[int, ...] = ()  # as checkpoints have it
    _may_be_lazy = False

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: Beta = 0.9,
        beta2: Beta = 0.999,
        eps: PositiveFloat = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        unknown = [key for key in kwargs if key not in ("use_lazy", "use_offload")]
        if unknown:
            raise TypeError(
                f"For '{self.cls_name}', the keywords must be those of its signature, but got {unknown}."
            )
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.use_nesterov = use_nesterov
        self.use_amsgrad = use_amsgrad
        self.beta1_power = _power("beta1_power", self._power_shape)
        self.beta2_power = _power("beta2_power", self._power_shape)
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        if use_amsgrad:
            self.vhat = self.parameters.clone(prefix="vhat", init="zeros")
        self.lazy = any(self.sparse) and (self._may_be_lazy or bool(kwargs.get("use_lazy")))
        self.opt = P.Adam(use_locking, use_nesterov)
        self.assign = P.Assign()

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        touched = touched_by(gradients, self.sparse) if self.lazy else ()
        gradients = self._prepare(gradients)
        lr = self.get_lr()
        self._next_step()
        beta1_power = self.beta1_power * self.beta1
        beta2_power = self.beta2_power * self.beta2
        self.assign(self.beta1_power, beta1_power)
        self.assign(self.beta2_power, beta2_power)
        if self.lazy:
            step = self.global_step.reshape(()).astype(mstype.float32)
            corrected = ops.sqrt(rest_of(self.beta2, step)) / rest_of(self.beta1, step)
            rates = scaled(of_each(lr, self.param_length), corrected)
            rows = (self.parameters, self.moment1, self.moment2, gradients, rates, touched)
            steps(lazy_adam, rows, self.beta1, self.beta2, self.eps, self.use_nesterov)
        elif self.use_amsgrad:
            corrected = ops.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
            columns = (self.parameters, self.moment1, self.moment2, self.vhat, gradients)
            rates = scaled(of_each(lr, self.param_length), corrected)
            steps(amsgrad, (*columns, rates), self.beta1, self.beta2, self.eps)
        else:
            each(
                self.opt,
                self.param_length,
                self.parameters,
                self.moment1,
                self.moment2,
                beta1_power,
                beta2_power,
                lr,
                self.beta1,
                self.beta2,
                self.eps,
                gradients,
            )
        return True


class _PlainAdam(Adam):
    """Adam without the choices that came later.

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        beta1: The factor of the mean of gradients, in (0, 1).
        beta2: The factor of the mean of squares, in (0, 1).
        eps: Added to the root.
        use_locking: Accepted; updates never race.
        use_nesterov: Whether to look one step ahead.
        weight_decay: As for Optimizer.
        loss_scale: As for Optimizer.
    """

    _power_shape = (1,)

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: Beta = 0.9,
        beta2: Beta = 0.999,
        eps: PositiveFloat = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params,
            learning_rate,
            beta1,
            beta2,
            eps,
            use_locking,
            use_nesterov,
            weight_decay,
            loss_scale,
        )


class LazyAdam(_PlainAdam):
    """Adam for embeddings: rows of a sparse nn.EmbeddingLookup that a step did not look up stay as they are, and so do their moments."""

    _may_be_lazy = True


class AdamOffload(_PlainAdam):
    """Adam whose states lie in the host's memory, as those of all optimizers do here."""


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, its weight decay apart from the gradient.

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        beta1: The factor of the mean of gradients, in (0, 1).
        beta2: The factor of the mean of squares, in (0, 1).
        eps: Added to the root.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: Beta = 0.9,
        beta2: Beta = 0.999,
        eps: PositiveFloat = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.moments1 = self.parameters.clone(prefix="adam_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="adam_v", init="zeros")
        self.opt = P.AdamWeightDecay()

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self.gradients_centralization(self._as_weights(gradients))
        decays = self._current_decay()
        lr = self.get_lr()
        self._next_step()
        each(
            self.opt,
            self.param_length,
            self.parameters,
            self.moments1,
            self.moments2,
            lr,
            self.beta1,
            self.beta2,
            self.eps,
            chosen(self.decay_flags, decays, 0.0),
            gradients,
        )
        return True


class AdaMax(Optimizer):
    """Adam with the infinity norm of past gradients (Kingma and Ba, 2015).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: As for Optimizer.
        beta1: The factor of the mean of gradients, in (0, 1).
        beta2: The factor of the norm, in (0, 1).
        eps: Added to the norm.
        weight_decay: As for Optimizer.
        loss_scale: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: Beta = 0.9,
        beta2: Beta = 0.999,
        eps: PositiveFloat = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.beta1_power = _power("beta1_power", (1,))
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        self.opt = P.ApplyAdaMax()
        self.assign = P.Assign()

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self._prepare(gradients)
        lr = self.get_lr()
        self._next_step()
        beta1_power = self.beta1_power * self.beta1
        self.assign(self.beta1_power, beta1_power)
        each(
            self.opt,
            self.param_length,
            self.parameters,
            self.moment1,
            self.moment2,
            beta1_power,
            lr,
            self.beta1,
            self.beta2,
            self.eps,
            gradients,
        )
        return True


__all__ = ["AdaMax", "Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam"]
