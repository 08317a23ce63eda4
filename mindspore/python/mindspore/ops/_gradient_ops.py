"""Primitives that concern gradients, and ops.Custom: a primitive made of a Python function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common import dtype as mstype
from mindspore.ops._custom import custom_call, hook_gradient, invoke
from mindspore.ops.primitive import Primitive, PrimitiveWithInfer


class InsertGradientOf(Primitive):
    """The identity, whose gradient is what `f` makes of the gradient.

    Args:
        f: a function of one gradient.

    Examples:
        >>> halve = ops.InsertGradientOf(lambda dx: dx / 2)
        >>> ops.grad(lambda x: halve(x) * 3)(Tensor(1.0))
    """

    def __init__(self, f: Callable):
        if not callable(f):
            raise TypeError(
                f"For 'InsertGradientOf', 'f' must be a function, but got {type(f).__name__}."
            )
        super().__init__("InsertGradientOf")
        self.add_prim_attr("f", f)

    def __call__(self, x: Any) -> Any:
        def backward(value: Any, out: Any, dout: Any) -> Any:
            return (invoke(self.f, dout),)

        return custom_call(self.name, lambda value: value, backward, (x,))


class HookBackward(Primitive):
    """The identity of one or more tensors, whose gradients go through a hook.

    Args:
        hook_fn: called with the tuple of gradients; what it returns, unless None, replaces them.
        cell_id: accepted.
    """

    def __init__(self, hook_fn: Callable, cell_id: str = ""):
        if not callable(hook_fn):
            raise TypeError(
                f"For 'HookBackward', 'hook_fn' must be a function, but got {type(hook_fn).__name__}."
            )
        super().__init__("HookBackward")
        self.add_prim_attr("cell_id", cell_id)
        self.hook_fn = hook_fn

    def __call__(self, *inputs: Tensor) -> Any:
        for x in inputs:
            if not isinstance(x, Tensor):
                raise TypeError(
                    f"For 'HookBackward', the inputs must be Tensors, but got {type(x).__name__}."
                )
        made = hook_gradient(self.name, self.hook_fn, inputs)
        return made[0] if len(inputs) == 1 else made


class Custom(PrimitiveWithInfer):
    """A primitive that a Python function of NumPy arrays computes.

    Args:
        func: gets the arrays of the inputs and returns one array or a tuple of them.
        out_shape: the shape of the result, a list of shapes, or a function of the inputs' shapes.
        out_dtype: its dtype, a list of them, or a function of the inputs' dtypes.
        func_type: must be "pyfunc".
        bprop: bprop(*inputs, out, dout) returns the gradients of the inputs.
        reg_info: accepted.
    """

    def __init__(
        self,
        func: Callable,
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "pyfunc",
        bprop: Callable | None = None,
        reg_info: Any = None,
    ):
        del reg_info
        if func_type != "pyfunc":
            raise ValueError(
                f"For 'Custom', 'func_type' must be 'pyfunc' on this device, but got {func_type!r}."
            )
        for name, value, needed in (
            ("func", func, callable(func)),
            ("out_shape", out_shape, callable(out_shape) or isinstance(out_shape, (tuple, list))),
            ("out_dtype", out_dtype, out_dtype is not None),
            ("bprop", bprop, bprop is None or callable(bprop)),
        ):
            if not needed:
                kind = "a shape, dtype or function" if name.startswith("out") else "a function"
                raise TypeError(
                    f"For 'Custom', '{name}' must be {kind}, but got {type(value).__name__}."
                )
        super().__init__(f"Custom.{getattr(func, '__name__', type(func).__name__)}")
        self.func, self.out_shape, self.out_dtype, self.bprop = func, out_shape, out_dtype, bprop

    def infer_shape(self, *shapes: Any) -> Any:
        """What `out_shape` says."""
        return self.out_shape(*shapes) if callable(self.out_shape) else self.out_shape

    def infer_dtype(self, *dtypes: Any) -> Any:
        """What `out_dtype` says."""
        fixed = isinstance(self.out_dtype, (mstype.Type, tuple, list))
        return self.out_dtype if fixed else self.out_dtype(*dtypes)

    def vm_impl(self, *inputs: Any) -> Any:
        """The function on arrays."""
        arrays = [x.asnumpy() if isinstance(x, Tensor) else x for x in inputs]
        result = self.func(*arrays)
        made = result if isinstance(result, (tuple, list)) else (result,)
        return [Tensor(np.asarray(array)) for array in made]

    def get_bprop(self) -> Callable | None:
        """The gradient it was given."""
        return self.bprop
