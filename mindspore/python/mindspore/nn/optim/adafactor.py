"""Adafactor: Adam whose mean of squares takes little memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import NotNegative, Positive, PositiveFloat, within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import of_each, steps
from mindspore.ops._steps import factored


class AdaFactor(Optimizer):
    """Steps divided by means of squares, of which matrices keep those of rows and columns alone (Shazeer and Stern, 2018).

    Args:
        params: Parameters or groups of them.
        learning_rate: A number, or None where steps follow `relative_step`.
        eps: Added to squares, and the least root mean square of weights that scales a step.
        clip_threshold: The largest root mean square of a step.
        decay_rate: The power of the step's number in the factor of the mean of squares.
        beta1: The factor of the mean of steps, in (0, 1); None for no mean.
        weight_decay: A number; it is part of the step, not of the gradient, and of all parameters' steps.
        scale_parameter: Whether steps are as long as the weights are.
        relative_step: Whether steps grow shorter with their number.
        warmup_init: Whether such steps begin short.
        compression: Whether means are kept in float16.
        loss_scale: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: NotNegative | Tensor | None = None,
        eps: tuple[Positive, Positive] = (1e-30, 1e-3),
        clip_threshold: Positive = 1.0,
        decay_rate: Annotated[float, within(0.0, 1.0, "right")] = 0.8,
        beta1: Annotated[PositiveFloat, within(0.0, 1.0, "none")] | None = 0.9,
        weight_decay: NotNegative = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        owner = type(self).__name__
        if learning_rate is not None and relative_step:
            raise ValueError(
                f"For '{owner}', 'relative_step' must be False where there is a learning rate, "
                f"but got True and {learning_rate}."
            )
        if warmup_init and not relative_step:
            raise ValueError(
                f"For '{owner}', 'relative_step' must be True where 'warmup_init' is, but got False."
            )
        super().__init__(
            0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale
        )
        self.eps = eps
        self.clip_threshold = clip_threshold
        self.decay_rate = decay_rate
        self.beta1 = beta1
        self.scale_parameter = scale_parameter
        self.relative_step = relative_step
        self.warmup_init = warmup_init
        self.compress = compression
        self._make_states()
        self.afactor_step = Parameter(initializer(0, (1,), mstype.float32), name="afactor_step")

    def _make_states(self) -> None:
        """Means of gradients, of squares by row and by column, or of all squares where there are no rows."""
        shapes = [tuple(p.shape) for p in self.parameters]
        self.exp_avg = self._zeros("exp_avg.", shapes)
        self.exp_avg_sq_row = self._zeros(
            "exp_avg_sq_row_", [s[:-1] if len(s) > 1 else (1,) for s in shapes]
        )
        self.exp_avg_sq_col = self._zeros(
            "exp_avg_sq_col_", [s[:-2] + s[-1:] if len(s) > 1 else (1,) for s in shapes]
        )
        self.exp_avg_sq = self._zeros("exp_avg_sq_", [(1,) if len(s) > 1 else s for s in shapes])

    def _zeros(self, prefix: str, shapes: list) -> ParameterTuple:
        return ParameterTuple(
            Parameter(
                initializer("zeros", shape, mstype.float16 if self.compress else p.dtype),
                name=prefix + p.name,
            )
            for p, shape in zip(self.parameters, shapes)
        )

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self.scale_grad(self._as_weights(gradients))
        gradients = self.gradients_centralization(gradients)
        rate = self.get_lr()
        self._next_step()
        step = self.afactor_step.reshape(()) + 1.0
        ops.assign(self.afactor_step, step.reshape((1,)))
        if self.relative_step:
            most = step * 1e-6 if self.warmup_init else 1e-2
            rate = ops.minimum(ops.rsqrt(step), most)
        states = tuple(zip(self.exp_avg, self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq))
        rates = of_each(rate, self.param_length)
        decays = of_each(self._current_decay(), self.param_length)
        settings = (self.eps, self.clip_threshold, self.beta1, self.scale_parameter)
        beta2 = 1.0 - ops.pow(step, -self.decay_rate)
        steps(factored, (self.parameters, states, gradients, rates, decays), beta2, settings)
        return True


__all__ = ["AdaFactor"]
