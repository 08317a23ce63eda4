"""Cases of the page on the language: sizes that are open, what happens beside computing, Python's own primitives and gradients."""

from __future__ import annotations

import logging

from caselib import matrix, scalar, section, two

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import PrimitiveWithInfer, prim_attr_register
from mindspore.ops import operations as P

log = logging.getLogger(__name__)


# ---- Sizes --------------------------------------------------------------------------------------------------------------
case = section("Dynamic sizes")


@case("`set_inputs`: one compile for any number of rows", matrix)
class AnyRows(nn.Cell):
    def __init__(self):
        super().__init__()
        self.set_inputs(Tensor(shape=[None, 4], dtype=ms.float32))

    def construct(self, x):
        return ops.softmax(x - x.mean(0), -1)


@case("sizes in the program", matrix)
class SizesInside(nn.Cell):
    def __init__(self):
        super().__init__()
        self.set_inputs(Tensor(shape=[None, None], dtype=ms.float32))

    def construct(self, x):
        rows, columns = x.shape
        return x.reshape(rows * columns) / rows, ops.ones((columns, rows), ms.float32)


@case("a loop over open sizes", matrix)
class RowsInALoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.set_inputs(Tensor(shape=[None, 4], dtype=ms.float32))

    def construct(self, x):
        i = Tensor(0, ms.int32)
        while i < 3:
            x = ops.tanh(x) * 2
            i = i + 1
        return x


# ---- Beside computing -------------------------------------------------------------------------------------------------------
case = section("Printing, logging, summaries")


@case("`print` and f-strings, in program order")
def printing(x):
    for i in range(2):
        print(f"round {i}: {x.sum()}")
        x = x * 2
    return x


@case("on the way that is taken", scalar)
def printing_in_a_branch(x):
    if x > 2:
        print("large", x)
        return x * 2
    return x


@case("`logging`")
def logging_values(x):
    log.info("the mean is %s", x.mean())
    return x


@case("summaries")
class Summaries(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scalar, self.tensor = P.ScalarSummary(), P.TensorSummary()

    def construct(self, x):
        self.scalar("sum", x.sum())
        self.tensor("values", x)
        return x * 2


@case("`raise` with values of tensors", scalar)
def raising_with_values(x):
    if x < 0:
        raise ValueError(f"a root of {x} is not real")
    return x.sqrt()


# ---- Primitives ---------------------------------------------------------------------------------------------------------
case = section("Primitives")


@case("made in the constructor, called in `construct`", matrix)
class Primitives(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul, self.cast = P.MatMul(transpose_b=True), P.Cast()

    def construct(self, x):
        return self.cast(self.matmul(x, x), ms.float64)


@case("made where they are called")
def primitive_in_place(x):
    return P.ReduceSum(keep_dims=True)(x, 0) * x


class Weighted(PrimitiveWithInfer):
    """x + k y, by NumPy."""

    @prim_attr_register
    def __init__(self, k=2):
        self.init_prim_io_names(inputs=["x", "y"], outputs=["z"])

    def infer_shape(self, x, y):
        return x

    def infer_dtype(self, x, y):
        return x

    def vm_impl(self, x, y):
        return Tensor(x.asnumpy() + self.k * y.asnumpy())

    def get_bprop(self):
        k = self.k

        def bprop(x, y, out, dout):
            return dout, dout * k

        return bprop


@case("`PrimitiveWithInfer`: its `vm_impl` runs when the graph comes to it", two)
class PythonPrimitive(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weighted = Weighted(5)

    def construct(self, x, y):
        z = self.weighted(x, y)
        if z.sum() > 0:
            z = self.weighted(z, y)
        return z * x


def cube(a):
    """Plain NumPy."""
    return a**3


@case("`ops.Custom`: a function of NumPy with a gradient")
class CustomFunction(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cube = ops.Custom(
            cube, lambda a: a, lambda a: a, bprop=lambda a, out, dout: (dout * 3 * a * a,)
        )

    def construct(self, x):
        return self.cube(x) * 2


# ---- Gradients of one's own ---------------------------------------------------------------------------------------------
case = section("Hooks and gradients of one's own")


@case("`bprop`", two)
class OwnGradient(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return dout * 10, out * dout


@case("`InsertGradientOf`")
class ScaledGradient(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = ops.InsertGradientOf(lambda d: d * 0.5)

    def construct(self, x):
        return self.scale(x) * x


@case("`HookBackward`")
class HookedValue(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hook = ops.HookBackward(lambda d: d[0] * 2)

    def construct(self, x):
        return self.hook(x * x)


@case("`register_hook` on a tensor")
def hook_on_a_tensor(x):
    y = x * x
    y.register_hook(lambda d: d * 3)
    return y * 2


@case("hooks of cells")
class HookedCell(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()
        self.layer.register_forward_pre_hook(lambda cell, inputs: (inputs[0] * 2,))
        self.layer.register_forward_hook(lambda cell, inputs, output: output + inputs[0])

    def construct(self, x):
        return self.layer(x)
