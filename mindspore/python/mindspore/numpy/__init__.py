"""NumPy's functions on Tensors, in both modes: `import mindspore.numpy as mnp`."""

from mindspore.numpy import array_creations, array_ops, dtypes, logic_ops, math_ops, utils
from mindspore.numpy.array_creations import *
from mindspore.numpy.array_ops import *
from mindspore.numpy.dtypes import *
from mindspore.numpy.logic_ops import *
from mindspore.numpy.math_ops import *
from mindspore.ops import chunk, clamp

max, min, round = math_ops.amax, math_ops.amin, math_ops.around

__all__ = ["chunk", "clamp", "max", "min", "round"]
__all__ += (
    dtypes.__all__
    + array_creations.__all__
    + array_ops.__all__
    + logic_ops.__all__
    + math_ops.__all__
)
