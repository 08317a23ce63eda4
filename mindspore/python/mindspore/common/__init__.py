"""Tensors, Parameters, element types, initializers and the seed."""

from mindspore.common import dtype
from mindspore.common.api import jit, ms_function, mutable
from mindspore.common.dtype import *
from mindspore.common import initializer  # the module, as the public API has it
from mindspore.common._generator import *
from mindspore.common._generator import __all__ as _generator_names
from mindspore.common.jit_config import JitConfig
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.seed import get_seed, set_seed
from mindspore.common.tensor import Tensor, from_numpy, is_tensor, tensor

__all__ = [
    *_generator_names,
    "JitConfig",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "dtype",
    "from_numpy",
    "get_seed",
    "initializer",
    "is_tensor",
    "jit",
    "ms_function",
    "mutable",
    "set_seed",
    "tensor",
]
__all__ += dtype.__all__
