"""All ops: functions (`ops.relu`), Primitive classes (`ops.ReLU`) and transforms of functions (`ops.grad`)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mindspore.common._refused import refused
from mindspore.ops import _bind, _python_ops
from mindspore.ops.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    _primexpr,
    constexpr,
    prim_arg_register,
    prim_attr_register,
)

if TYPE_CHECKING:  # the names that the next lines make, for editors and type checkers
    from mindspore.ops._registry import *

globals().update(_bind.functions)
globals().update({name: getattr(_python_ops, name) for name in _python_ops.FUNCTIONS})

from mindspore.ops import function as _function  # noqa: E402  compositions need the bound functions above

globals().update(_function.functions)
globals().update(_bind.classes)
globals().update(_python_ops.CLASSES)

from mindspore.ops import composite, operations  # noqa: E402
from mindspore.ops import functional  # noqa: E402
from mindspore.ops._collectives import ReduceOp  # noqa: E402
from mindspore.ops._custom import recompute  # noqa: E402
from mindspore.ops._gradient_ops import Custom, HookBackward, InsertGradientOf  # noqa: E402
from mindspore.ops._grad import get_grad  # noqa: E402
from mindspore.ops._taylor import derivative, jet  # noqa: E402
from mindspore.ops._transforms import linearize  # noqa: E402
from mindspore.ops._transforms import jacfwd, jacrev, jvp, vjp  # noqa: E402
from mindspore.ops._vmap import vmap  # noqa: E402
from mindspore._core import Tensor  # noqa: E402  # as networks name it by `P.Tensor`
from mindspore.ops.functional import switch_layer  # noqa: E402
from mindspore.ops.composite import (  # noqa: E402
    _ones_like_for_grad,
    zip_operation,
    GradOperation,
    HyperMap,
    Map,
    MultitypeFuncGraph,
    clip_by_global_norm,
    grad,
    value_and_grad,
)

# What is at home in modules that know this one.
_LATER = {
    "P2POp": "communication.comm_func",
    "Reshard": "parallel.function",
    "reshard": "parallel.function",
    "tensor_operator_registry": "_compat.pieces",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        return refused(__name__)(name)
    value = globals()[name] = getattr(importlib.import_module(f"mindspore.{_LATER[name]}"), name)
    return value


__all__ = sorted(
    {
        *_bind.functions,
        *_python_ops.FUNCTIONS,
        *_function.functions,
        *_bind.classes,
        *_python_ops.CLASSES,
        "Custom",
        "GradOperation",
        "HookBackward",
        "HyperMap",
        "InsertGradientOf",
        "Map",
        "MultitypeFuncGraph",
        "Primitive",
        "PrimitiveWithCheck",
        "PrimitiveWithInfer",
        "ReduceOp",
        "clip_by_global_norm",
        "composite",
        "constexpr",
        "derivative",
        "functional",
        "get_grad",
        "grad",
        "jacfwd",
        "jacrev",
        "jet",
        "jvp",
        "linearize",
        "operations",
        "prim_arg_register",
        "prim_attr_register",
        "recompute",
        "switch_layer",
        "value_and_grad",
        "vjp",
        "vmap",
        "zip_operation",
    }
)
