"""Other names of functions, as tables: what first releases call what, and functions that write into their first argument, which are
the methods of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._core import Tensor
from mindspore.common._generator import drawing_from
from mindspore.ops._bind import functions as declared
from mindspore.ops._python_ops import add_flags
from mindspore.ops.function import (
    join_func,
    linalg_func,
    loss_func,
    math_func,
    pool_func,
    random_func,
    reduce_func,
)

_SAME: dict[str, Callable] = {
    "floordiv": declared["floor_divide"],
    "floormod": declared["floor_mod"],
    "tensor_muls": declared["mul"],
    "pows": declared["pow"],
    "isnan_ext": declared["isnan"],
    "float_power_ext": math_func.float_power,
    "mse_loss_ext": loss_func.mse_loss,
    "diff_ext": reduce_func.diff,
    "_add_attr": add_flags,
    "row_stack": join_func.vstack,
    "baddbmm_ext": linalg_func.baddbmm,
    "adaptive_avg_pool2d_ext": pool_func.adaptive_avg_pool2d,
    "reshape_": declared["reshape"],
}
_METHODS = {
    "bernoulli_": "bernoulli_",
    "clamp_": "clamp_",
    "erfinv_": "erfinv_",
    "exponential_": "exponential_",
    "inplace_sigmoid": "sigmoid_",
    "normal_": "normal_",
    "put_": "put_",
    "random_": "random_",
    "tanh_": "tanh_",
    "uniform_": "uniform_",
    "zero_": "zero_",
}


def _writing(name: str, method: str) -> Callable:
    def write(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return getattr(input, method)(*args, **kwargs)

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"The method `{method}` of a tensor."
    return write


def bernoulli_ext(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that each element is, and 0 otherwise."""
    with drawing_from(generator):
        return random_func.bernoulli(input, input)


globals().update(_SAME, **{name: _writing(name, method) for name, method in _METHODS.items()})

__all__ = [*_SAME, *_METHODS, "bernoulli_ext"]
