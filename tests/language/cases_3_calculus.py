"""Cases of the page on the language: gradients and `ops.composite` inside of compiled functions."""

from __future__ import annotations

from caselib import indexed, scalar, section, two

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import functional as F
from mindspore.ops import operations as P


def cubic(x):
    """The function that the cases differentiate."""
    return (x * x * x).sum()


class Dense(nn.Cell):
    """A network of one weight."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0, 4.0]), name="w")

    def construct(self, x):
        return (x * self.w).sum()


# ---- Gradients ----------------------------------------------------------------------------------------------------------
case = section("Gradients")


@case("`grad` inside")
def gradient_inside(x):
    return ms.grad(cubic)(x) * 2


@case("`value_and_grad`")
def value_and_gradient(x):
    value, gradient = ms.value_and_grad(cubic)(x)
    return value * gradient


@case("of several arguments", two)
def gradients_of_both(x, y):
    a, b = ms.grad(lambda u, v: (u * v * v).sum(), grad_position=(0, 1))(x, y)
    return a + b


@case("second order")
def second_order(x):
    return ms.grad(lambda u: ms.grad(cubic)(u).sum())(x)


@case("through a loop", scalar)
def gradient_through_a_loop(x):
    def grow(u):
        while u < 100:
            u = u * u + 1
        return u

    return ms.grad(grow)(x)


@case("through recursion and branches", indexed, gradient=False)
def gradient_through_recursion(x, n):
    def power(u, k):
        if k < 1:
            return u
        return power(u, k - 1) * u

    return ms.grad(lambda u: power(u, n).sum())(x)


@case("of Parameters", gradient=False)
class GradientOfParameters(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Dense()
        self.gradient = ops.GradOperation(get_by_list=True)
        self.weights = ms.ParameterTuple(self.net.trainable_params())

    def construct(self, x):
        return self.gradient(self.net, self.weights)(x)


@case("`stop_gradient`")
def stopped(x):
    return ms.grad(lambda u: (u * ops.stop_gradient(u)).sum())(x)


@case("`jvp` and `vjp`", two, gradient=False)
def forward_and_reverse(x, y):
    _, tangent = ms.jvp(lambda u: u * u, x, y)
    _, back = ms.vjp(lambda u: u * u * u, x)
    return tangent, back(y)


@case("`jacfwd` and `jacrev`", gradient=False)
def jacobians(x):
    return ms.jacfwd(lambda u: u * u)(x), ms.jacrev(lambda u: u * u.sum())(x)


@case("`vmap`", two)
def batched(x, y):
    return ms.vmap(lambda u, v: u * v + v, in_axes=(0, None))(x, y)


@case("`vmap` of a gradient")
def batched_gradient(x):
    return ms.vmap(ms.grad(lambda u: u * u * u))(x)


@case("`bprop` of a cell")
class Doubled(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        return (dout * x,)


@case("`InsertGradientOf`")
def inserted(x):
    clip = P.InsertGradientOf(lambda g: ops.clip_by_value(g, -1.0, 1.0))
    return clip(x) * x


@case("`recompute`")
class Recomputed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = nn.SequentialCell(nn.Tanh(), nn.Sigmoid())
        self.block.recompute()

    def construct(self, x):
        return self.block(x) * x


# ---- composite ----------------------------------------------------------------------------------------------------------
case = section("`ops.composite`")

double = ops.MultitypeFuncGraph("double")


@double.register("Tensor")
def _double_tensor(x):
    return x * 2


@double.register("Number")
def _double_number(x):
    return x + 1


@ops.constexpr
def twice(n):
    """Runs while compiling."""
    return n * 2


@case("`MultitypeFuncGraph`")
def multitype(x):
    return double(x) + double(3)


@case("`HyperMap` and `Map`")
def hyper_map(x):
    a, b = ops.HyperMap()(double, (x, x * 3))
    (c,) = ops.Map()(double, (x,))
    return a + b + c


@case("`clip_by_value`")
def clipped(x):
    return ops.clip_by_value(x, -1.0, 2.0)


@case("`clip_by_global_norm`", gradient=False)
def clipped_by_norm(x):
    return ops.clip_by_global_norm([x, x * 2], 1.0)


@case("`constexpr`")
def constants(x):
    return x * twice(x.shape[0])


@case("`switch_layer`", indexed)
class Switched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = [nn.ReLU(), nn.Tanh(), nn.Sigmoid()]

    def construct(self, x, n):
        return F.switch_layer(n, self.layers)(x)


@case("`mutable`")
def mutable_values(x):
    items = ms.mutable([x, x * 2])
    return items[0] + items[1]


@case("gradients of a `mutable` structure", two)
def gradients_of_a_structure(x, y):
    pair = ms.mutable({"a": x, "b": [y]})
    found = ms.grad(lambda p: (p["a"] * p["b"][0] * p["a"]).sum())(pair)
    return found["a"] + found["b"][0]


@case("`ops.depend`", two)
def depends(x, y):
    return ops.depend(x, y) * 2
