"""Tensors, Parameters, element types, initializers and the seed."""

import sys

from mindspore.common import dtype
from mindspore.common.api import jit, ms_function, mutable
from mindspore.common.dtype import *
from mindspore.common import initializer  # the module, as the public API has it
from mindspore.common._generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    set_rng_state,
)
from mindspore.common.jit_config import JitConfig
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.seed import get_seed, set_seed
from mindspore.common.tensor import Tensor, from_numpy, is_tensor, swap_tensors, tensor


def __getattr__(name: str):
    if name in ("COOTensor", "CSRTensor", "RowTensor", "SparseTensor"):
        from mindspore.ops import _sparse  # which ops are made of

        return getattr(_sparse, name)
    if name in ("jit_class", "lazy_inline", "no_inline", "recompute"):
        return getattr(sys.modules["mindspore"], name)  # which stands above
    raise AttributeError(f"module 'mindspore.common' has no attribute '{name}'")


__all__ = [
    "Generator",
    "JitConfig",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "default_generator",
    "dtype",
    "from_numpy",
    "get_rng_state",
    "get_seed",
    "initial_seed",
    "initializer",
    "is_tensor",
    "jit",
    "manual_seed",
    "ms_function",
    "mutable",
    "set_rng_state",
    "set_seed",
    "swap_tensors",
    "tensor",
]
__all__ += dtype.__all__
