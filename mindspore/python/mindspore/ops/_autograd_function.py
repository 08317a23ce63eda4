"""_Function: an op of the user's with a gradient of its own, which may keep tensors from one for the other."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._custom import custom_call


class _Function:
    """Base of ops with a gradient of their own, for eager mode. A subclass has the static methods `forward(ctx, *args)` and
    `backward(ctx, *gradients)`, which gives one gradient, or None, for each argument; it is called by `apply`.
    """

    def __init__(self) -> None:
        self.saved_tensors: tuple[Tensor, ...] = ()
        self.needs_input_grad: tuple[bool, ...] = ()
        self.materialize_grads = True
        self.non_differentiable: tuple[Tensor, ...] = ()
        self.dirty_tensors: tuple[Tensor, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """What the op gives; a subclass says so."""
        raise NotImplementedError("For '_Function', a subclass must have 'forward'.")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """One gradient for each argument, from those of the results; a subclass says so."""
        raise NotImplementedError("For '_Function', a subclass must have 'backward'.")

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keeps tensors for `backward`, where they are `saved_tensors`."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says that no gradient flows through results."""
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Says that inputs were written to."""
        self.dirty_tensors = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients come as zeros; here they do."""
        self.materialize_grads = value

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """The result of `forward`, whose gradient is what `backward` gives."""
        if _core.is_tracing():
            raise NotImplementedError(
                f"For '{cls.__name__}.apply', the mode must be PYNATIVE_MODE: it keeps values in Python; in compiled code "
                "a Cell with a 'bprop' has a gradient of its own."
            )
        ctx = cls()
        ctx.needs_input_grad = tuple(isinstance(x, Tensor) for x in args)

        def forward(*inputs: Any) -> Any:
            result = cls.forward(ctx, *inputs)
            stopped = [id(x) for x in ctx.non_differentiable]
            if isinstance(result, tuple) and stopped:
                return tuple(_constant(x) if id(x) in stopped else x for x in result)
            return result

        def backward(*given: Any) -> tuple:
            tangent = given[-1]
            found = cls.backward(ctx, *(tangent if isinstance(tangent, tuple) else (tangent,)))
            found = found if isinstance(found, tuple) else (found,)
            if len(found) != len(args):
                raise ValueError(
                    f"For '{cls.__name__}', 'backward' must give {len(args)} gradients, one for each argument, but got "
                    f"{len(found)}."
                )
            return found

        return custom_call(cls.__name__, forward, backward, args)


def _constant(x: Tensor) -> Tensor:
    return _core.op("StopGradient")(x)
