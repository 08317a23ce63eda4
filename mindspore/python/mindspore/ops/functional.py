"""Functions, the spelling `from mindspore.ops import functional as F`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore._core import Tensor
from mindspore.common import dtype as mstype
from mindspore.ops import _bind, _python_ops
from mindspore.ops import function as _function
from mindspore.ops._grad import grad, value_and_grad
from mindspore.ops._taylor import derivative, jet
from mindspore.ops._transforms import jacfwd, jacrev, jvp, linearize, vjp
from mindspore.ops._vmap import vmap
from mindspore.ops.composite import clip_by_global_norm

if TYPE_CHECKING:
    from mindspore.ops._registry import *  # noqa: F403

globals().update(_bind.functions)
globals().update({name: getattr(_python_ops, name) for name in _python_ops.FUNCTIONS})
globals().update(_function.functions)


control_depend = _python_ops.ControlDepend()


def tensor_add(x, y):  # type: ignore[no-redef]
    """Sum, the name of the first releases."""
    return _bind.functions["add"](x, y)


_INTEGERS = mstype.int_type + mstype.uint_type


def switch_layer(index, layers):
    """The one of `layers`, functions or cells, that a tensor of one integer names; to be called."""
    if not isinstance(layers, (tuple, list)):
        raise TypeError(
            f"For 'switch_layer', 'layers' must be a tuple or list, but got {type(layers).__name__}."
        )
    if not isinstance(index, (int, Tensor)):
        raise TypeError(
            f"For 'switch_layer', 'index' must be an int or a Tensor, but got {type(index).__name__}."
        )
    if isinstance(index, Tensor):
        if index.size != 1 or index.dtype not in _INTEGERS:
            raise TypeError(
                f"For 'switch_layer', 'index' must be a Tensor of one integer, but got {index.dtype}{list(index.shape)}."
            )
        index = index.reshape(()) if index.is_symbolic else int(index)
    if not -len(layers) <= index < len(layers):
        raise IndexError(
            f"For 'switch_layer', 'index' must be in [-{len(layers)}, {len(layers)}), but got {index}."
        )
    return layers[index]


switch_layer._ms_parsed = True  # type: ignore[attr-defined]  # in a graph, a tensor can index what Python cannot

__all__ = [
    *_bind.functions,
    *_python_ops.FUNCTIONS,
    *_function.functions,
    "clip_by_global_norm",
    "control_depend",
    "derivative",
    "grad",
    "jacfwd",
    "jacrev",
    "jet",
    "jvp",
    "linearize",
    "switch_layer",
    "tensor_add",
    "value_and_grad",
    "vjp",
    "vmap",
]
