"""Primitives that users define: inference, vm_impl, gradients, names of registered ops, and ops.Custom, in both modes."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from mindspore.ops._grad_experimental.grad_base import bprop_getters

X = Tensor(np.array([1, 2, 3], np.float32))
Y = Tensor(np.array([2, 2, 2], np.float32))
M = Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))


class Weighted(PrimitiveWithInfer):
    """x + k y, by NumPy."""

    @prim_attr_register
    def __init__(self, k=2):
        self.init_prim_io_names(inputs=["x", "y"], outputs=["z"])

    def infer_shape(self, x, y):
        assert isinstance(x, list)
        return x

    def infer_dtype(self, x, y):
        assert x == ms.dtype.TensorType(ms.float32) and x.element_type() == ms.float32
        return x

    def vm_impl(self, x, y):
        return Tensor(x.asnumpy() + self.k * y.asnumpy())

    def get_bprop(self):
        k = self.k

        def bprop(x, y, out, dout):
            return dout * x, dout * k

        return bprop


class Net(nn.Cell):
    """Uses one twice, once where a tensor decides."""

    def __init__(self):
        super().__init__()
        self.weighted = Weighted(5)
        self.times = Primitive("Mul")

    def construct(self, x, y):
        z = self.weighted(x, y)
        if z.sum() > 0:
            z = self.weighted(z, y)
        return self.times(z, x)


def values(result):
    """Nested lists."""
    if isinstance(result, tuple):
        return tuple(map(values, result))
    return result.asnumpy().tolist()


def test_vm_impl(mode):
    assert values(Net()(X, Y)) == [21, 44, 69]
    assert values(Net()(Y, Y)) == [44, 44, 44]


def test_the_gradient_is_bprop_to_any_order(mode):
    # z2 = bprop(z2 in z, y): dz = dout z1; dx = dz x + ...
    assert values(ops.grad(Net(), (0, 1))(X, Y)) == ([32, 70, 140], [60, 130, 210])
    first = ops.grad(Weighted(5), (0, 1))
    assert values(first(X, Y)) == ([1, 2, 3], [5, 5, 5])
    # The gradient of x is x again, by its own rule: d (1 x) = 1.
    assert values(ops.grad(ops.grad(Weighted(5)))(X, Y)) == [1, 1, 1]


def test_bprop_by_registration(mode):
    class Twice(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self):
            pass

        def __infer__(self, x):
            return {"shape": x["shape"], "dtype": x["dtype"], "value": None}

        def vm_impl(self, x):
            return Tensor(x.asnumpy() * 2)

    twice = Twice()
    with pytest.raises(
        TypeError, match="For 'Twice', a gradient is asked for, but it has no bprop"
    ):
        ops.grad(lambda x: twice(x))(X)

    @bprop_getters.register(Twice)
    def get_bprop(self):
        return lambda x, out, dout: (dout * 7,)

    assert values(ops.grad(lambda x: twice(x))(X)) == [7, 7, 7]
    for wrong, error in ((ops.MatMul, ValueError), ("MatMul", ValueError), (3, TypeError)):
        with pytest.raises(error, match=r"bprop_getters\.register"):
            bprop_getters.register(wrong)


def test_the_op_of_the_same_name(mode):
    class MatMul(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self, transpose_a=False, transpose_b=False):
            self.init_prim_io_names(inputs=["x1", "x2"], outputs=["output"])

    class Mine(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self, transpose_b=True):
            super().__init__("MatMul")

    plain, mine = MatMul(), Mine()
    assert values(plain(M, M)) == [[2, 3], [6, 11]]
    assert values(mine(M, M)) == values(MatMul(transpose_b=True)(M, M)) == [[1, 3], [3, 13]]
    assert values(ops.grad(lambda a: plain(a, M))(M)) == [[1, 5], [1, 5]]
    assert values(Primitive("ReLU")(X - 2)) == [0, 0, 1]


def test_attributes(mode):
    weighted = Weighted(k=7)
    assert weighted.k == 7 and weighted.name == "Weighted"
    assert weighted.add_prim_attr("depth", 3) is weighted
    assert weighted.depth == 3 and weighted.attrs["depth"] == 3
    weighted.del_prim_attr("depth")
    assert not hasattr(weighted, "depth") and "depth" not in weighted.get_attr_dict()
    assert repr(weighted) == "Prim[Weighted]<k=7>"


def test_an_attribute_that_the_op_declares_takes_effect(mode):
    class Sum(nn.Cell):
        def __init__(self):
            super().__init__()
            self.sum = ops.ReduceSum()

        def construct(self, x):
            return self.sum(x, 0)

    net = Sum()
    assert net(X).shape == ()
    net.sum.add_prim_attr("keep_dims", True)
    assert net(X).shape == (1,)
    assert net.sum.keep_dims is True


def test_settings_of_devices_are_accepted(mode):
    add = ops.Add().set_device("CPU").set_stage(0).shard(((1,), (1,))).place("MS_WORKER", 0)
    add = add.recompute().set_prim_instance_name("add").add_attr("a", 2)
    assert values(add(X, Y)) == [3, 4, 5] and add.a == 2


def test_infer_value(mode):
    class Nine(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self):
            pass

        def infer_value(self, x, n):
            return None if n is None else Tensor([9.0 * n])

    nine = Nine()
    assert values(ms.jit(lambda x: nine(x, 2) + x)(X)) == [19, 20, 21]


def test_checks(mode):
    class ReLU(PrimitiveWithCheck):
        @prim_attr_register
        def __init__(self):
            pass

        def check_shape(self, x):
            if len(x) != 1:
                raise ValueError("one dimension, please")

    assert values(ReLU()(X - 2)) == [0, 0, 1]
    with pytest.raises(ValueError, match="one dimension, please"):
        ReLU()(M)


@pytest.mark.parametrize(
    "shape, dtype, result, says",
    [
        ([2], ms.float32, lambda x: x, r"vm_impl must return Float32\[2\], as inference says"),
        ([3], ms.float16, lambda x: x, r"must return Float16\[3\].*but got Float32\[3\]"),
        ([3], ms.float32, lambda x: (x, x), "must return 1 tensors, but got 2"),
        ([3], 3, lambda x: x, "infer_dtype must return dtypes, but got int"),
    ],
)
def test_results_that_are_not_what_was_inferred(mode, shape, dtype, result, says):
    class Wrong(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self):
            pass

        def infer_shape(self, x):
            return shape

        def infer_dtype(self, x):
            return dtype

        def vm_impl(self, x):
            return result(x)

    wrong = Wrong()
    with pytest.raises((TypeError, ValueError), match=says):
        ms.jit(lambda x: wrong(x))(X)


def test_nothing_that_computes(mode):
    class Empty(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self):
            pass

    with pytest.raises(
        TypeError, match="For 'Empty', there must be an op of this name or a method"
    ):
        Empty()(X)
    with pytest.raises(TypeError, match="For 'NoSuchOp', there must be an op of this name"):
        Primitive("NoSuchOp")(X)
    with pytest.raises(TypeError, match="'name' must be a str"):
        Primitive(3)


def test_types_that_are_not_told_run_eagerly(mode):
    class Untold(Primitive):
        def __init__(self):
            super().__init__("Untold")

        def vm_impl(self, x):
            return x * 2

    class Cell(nn.Cell):
        def __init__(self):
            super().__init__()
            self.untold = Untold()

        def construct(self, x):
            return self.untold(x) + 1

    with pytest.warns(UserWarning) if mode == ms.GRAPH_MODE else _nothing():
        assert values(Cell()(X)) == [3, 5, 7]


class _nothing:
    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


def test_custom(mode):
    def add(a, b):
        return a + b

    def both(a):
        return a + 1, a * 2

    def bprop(a, b, out, dout):
        return dout * 2, dout * b

    same = ops.Custom(add, lambda a, b: a, lambda a, b: a, bprop=bprop)
    fixed = ops.Custom(add, (3,), ms.float32, "pyfunc")
    pair = ops.Custom(both, lambda a: (a, a), lambda a: (a, a))

    class Net(nn.Cell):
        def construct(self, x, y):
            p, q = pair(same(x, y))
            return fixed(p, q)

    assert values(Net()(X, Y)) == [10, 13, 16]
    assert values(ops.grad(lambda x, y: same(x, y), (0, 1))(X, Y)) == ([2, 2, 2], [2, 2, 2])
    with pytest.raises(TypeError, match=r"For .Custom\.both., a gradient is asked for"):
        ops.grad(lambda x: pair(x)[0])(X)


@pytest.mark.parametrize(
    "arguments, says",
    [
        ((3, (3,), ms.float32), "'func' must be a function, but got int"),
        ((abs, None, ms.float32), "'out_shape' must be a shape"),
        ((abs, (3,), None), "'out_dtype' must be a shape, dtype or function, but got NoneType"),
        ((abs, (3,), ms.float32, "aot"), "'func_type' must be 'pyfunc'"),
        ((abs, (3,), ms.float32, "pyfunc", 3), "'bprop' must be a function"),
    ],
)
def test_custom_refuses(arguments, says):
    with pytest.raises((TypeError, ValueError), match=says):
        ops.Custom(*arguments)
