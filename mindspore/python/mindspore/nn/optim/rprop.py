"""Resilient backpropagation: only the signs of gradients count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import Float
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, compiled, opt_init_args_register
from mindspore.ops._each import of_each, steps
from mindspore.ops._steps import resilient


class Rprop(Optimizer):
    """Steps that grow where the gradient keeps its sign and shrink where it turns (Riedmiller and Braun, 1993).

    Args:
        params: Parameters or groups, as for Optimizer.
        learning_rate: The first steps.
        etas: By what steps shrink, in (0, 1), and grow, above 1.
        step_sizes: The shortest and the longest step.
        weight_decay: As for Optimizer.
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[Float, Float] = (0.5, 1.2),
        step_sizes: tuple[Float, Float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_steps(self.cls_name, etas, step_sizes)
        self.etas = etas
        self.step_sizes = step_sizes
        self.prev = self.parameters.clone(prefix="prev", init="zeros")
        self.step_size = self.parameters.clone(prefix="step_size", init="zeros")

    @compiled
    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Update the parameters."""
        gradients = self._prepare(gradients)
        first = self.global_step.reshape(()) == 0
        rates = of_each(self.get_lr(), self.param_length)
        self._next_step()
        columns = (self.parameters, self.prev, self.step_size, gradients, rates)
        steps(resilient, columns, first, self.etas, self.step_sizes)
        return True


def check_steps(owner: str, etas: Any, step_sizes: Any) -> None:
    """Raise a ValueError unless steps shrink and grow, between bounds."""
    if not 0 < etas[0] < 1 < etas[1]:
        raise ValueError(
            f"For '{owner}', 'etas' must be a number in (0, 1) and one above 1, but got {etas}."
        )
    if step_sizes[0] > step_sizes[1]:
        raise ValueError(
            f"For '{owner}', 'step_sizes' must be the shortest step and the longest, "
            f"but got {step_sizes}."
        )


__all__ = ["Rprop"]
