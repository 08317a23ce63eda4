"""MultitypeFuncGraph, HyperMap, Map, clipping, constexpr, mutable and depend, in both modes."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
import mindspore.ops.composite as C
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import mutable
from mindspore.ops import _primexpr, constexpr, functional

X = Tensor(np.array([1, 2, 3], np.float32))
Y = Tensor(np.array([2, 2, 2], np.float32))

add = C.MultitypeFuncGraph("add")


@add.register("Number", "Number")
def _add_numbers(a, b):
    return a + b


@add.register("Tensor", "Tensor")
def _add_tensors(a, b):
    return a + b * 10


@add.register("Tensor", "Number")
def _scale(a, b):
    return a * b


kind = C.MultitypeFuncGraph("kind")
for _name in ("Int32", "Float32", "Int64", "Bool", "String", "List", "Tuple", "Dictionary", "None"):

    @kind.register(_name)
    def _kind(a, name=_name):
        return name


@kind.register(ms.common.dtype.tensor_type)
def _tensor_kind(a):
    return "Tensor"


@kind.register("Function")
def _function_kind(a):
    return "Function"


def values(result):
    """Nested lists and tuples of numbers."""
    if isinstance(result, (tuple, list)):
        return type(result)(map(values, result))
    if isinstance(result, dict):
        return {key: values(item) for key, item in result.items()}
    return result.asnumpy().tolist() if isinstance(result, Tensor) else result


def test_dispatch(mode):
    assert add(1, 2.5) == 3.5 and add(True, 2) == 3
    assert values(add(X, Y)) == [21, 22, 23]
    assert values(add(Parameter(X, name="p"), 3)) == [3, 6, 9]
    assert values(ms.jit(lambda a, b: add(add(a, b), 2))(X, Y)) == [42, 44, 46]


def test_kinds():
    for value, name in (
        (3, "Int64"),
        (2.0, "Float32"),
        (True, "Bool"),
        ("s", "String"),
        ([1], "List"),
        ((1,), "Tuple"),
        ({"a": 1}, "Dictionary"),
        (None, "None"),
        (abs, "Function"),
        (X, "Tensor"),
    ):
        assert kind(value) == name


def test_dispatch_refuses(mode):
    with pytest.raises(TypeError, match=r"'add' must have a function .* got \(str, str\)"):
        add("a", "b")
    with pytest.raises(TypeError, match=r"got \(int, int, int\)"):
        add(1, 2, 3)
    with pytest.raises(ValueError, match="must be known names, but got 'Foo'"):
        add.register("Foo")
    with pytest.raises(TypeError, match="'name' must be a str"):
        C.MultitypeFuncGraph(3)


@pytest.mark.parametrize("reverse", [False, True])
def test_hyper_map(mode, reverse):
    each = C.HyperMap(add, reverse)
    tree = each((X, 1, [2, {"k": X}]), (Y, 2, [3, {"k": Y}]))
    assert values(tree) == ([21, 22, 23], 3, [5, {"k": [21, 22, 23]}])
    assert each((), ()) == () and each(1, 2) == 3

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.each = C.HyperMap()

        def construct(self, a, b):
            halves = self.each(ops.partial(add, 4), (1, (2, 3)))
            return self.each(add, (a, b), (b, a)), halves

    assert values(Net()(X, Y)) == (([21, 22, 23], [12, 22, 32]), (5, (6, 7)))


def test_the_gradient_of_a_hyper_map(mode):
    each = C.HyperMap(add)

    def f(a, b):
        p, q = each((a, b), (b, a))
        return p * q

    # p = a + 10 b, q = b + 10 a
    assert values(ops.grad(f)(X, Y)) == [12 + 210, 22 + 220, 32 + 230]


def test_hyper_map_refuses(mode):
    each = C.HyperMap(add)
    for trees in (((1, 2), (3,)), ({"a": 1}, {"b": 1})):
        with pytest.raises(ValueError, match="For 'HyperMap', the structures must match"):
            each(*trees)
    with pytest.raises(TypeError, match="For 'HyperMap', the structures must match"):
        each((1, 2), 3)
    with pytest.raises(TypeError, match="'ops' must be a function"):
        C.HyperMap(3)
    with pytest.raises(TypeError, match="something to map over"):
        each()
    with pytest.raises(TypeError, match="first argument must be a function"):
        C.HyperMap()((1, 2))


def test_map(mode):
    each = C.Map(lambda a, b: (a, b))
    assert each(((1,), 2), ((3,), 4)) == (((1,), (3,)), (2, 4))
    assert C.Map()(add, [1, 2], [3, 4]) == [4, 6]
    with pytest.raises(TypeError, match="For 'Map', the structures must match"):
        each(1, 2)


def test_tail_and_zip(mode):
    assert C.tail((1, 2, 3)) == (2, 3)
    assert C.zip_operation((1, 2), (3, 4)) == ((1, 3), (2, 4))
    with pytest.raises(TypeError, match="For 'tail'"):
        C.tail(3)
    with pytest.raises(ValueError, match="equally long"):
        C.zip_operation((1,), (2, 3))


def test_clip_by_value(mode):
    assert values(C.clip_by_value(X, 1.5, Tensor(2.5))) == [1.5, 2, 2.5]
    assert values(C.clip_by_value((X, Y), None, 2.5)) == ([1, 2, 2.5], [2, 2, 2])
    with pytest.raises(ValueError, match="For 'clip_by_value'"):
        C.clip_by_value(X)


def test_clip_by_global_norm(mode):
    norm = np.sqrt(14 + 12).astype(np.float32)
    for clip in (1, 1.0, Tensor(1.0)):
        clipped = C.clip_by_global_norm((X, Y), clip)
        np.testing.assert_allclose(clipped[0].asnumpy(), X.asnumpy() / norm, rtol=1e-6)
        np.testing.assert_allclose(clipped[1].asnumpy(), Y.asnumpy() / norm, rtol=1e-6)
    assert values(C.clip_by_global_norm([X, Y], 100.0)) == [[1, 2, 3], [2, 2, 2]]
    assert values(C.clip_by_global_norm(X, 100.0)) == [1, 2, 3]
    assert C.clip_by_global_norm((), 1.0) == ()


@pytest.mark.parametrize(
    "arguments, says",
    [
        ((X, -1.0), "'clip_norm' must be greater than 0, but got -1.0"),
        ((X, "a"), "'clip_norm' must be a number or a Tensor, but got str"),
        ((X, True), "'clip_norm' must be a number or a Tensor, but got bool"),
        ((X, X), "'clip_norm' must have one element"),
        ((X, 1.0, 2.0), "'use_norm' must be None, but got float"),
        (("ab", 1.0), "'x' must be a Tensor, or a tuple or list of Tensors, but got str"),
    ],
)
def test_clip_by_global_norm_refuses(arguments, says):
    with pytest.raises((TypeError, ValueError), match=says):
        C.clip_by_global_norm(*arguments)


calls = []


@constexpr
def count(a, b):
    calls.append((a, b))
    return a + b


@_primexpr
def either(a, b):
    return a + b


def test_constexpr_runs_while_compiling():
    calls.clear()
    f = ms.jit(lambda x: x + count(1, 2))
    assert values(f(X)) == values(f(X)) == [4, 5, 6]
    assert calls == [(1, 2)]
    with pytest.raises(TypeError, match="'count' is a constexpr"):
        ms.jit(lambda x: count(x, 2), fullgraph=True)(X)
    with pytest.raises(TypeError, match="For 'constexpr', 'fn' must be a function"):
        constexpr(3)


def test_primexpr_is_compiled_on_tensors(mode):
    f = ms.jit(lambda x: either(x, either(1, 2)), fullgraph=True)
    assert values(f(X)) == [4, 5, 6]


def test_mutable():
    for value in (3, 1.5, True, X):
        assert mutable(value) is value
    for value in ((1, [X]), [X], {"a": 1}):
        assert isinstance(mutable(value), type(value))
    assert mutable({"a": 1}) == {"a": 1}
    assert mutable((1, 2), True) == (1, 2)
    for arguments in (("a",), (None,), (("a",),), (3, True), ((1,), 3)):
        with pytest.raises(TypeError, match="For 'mutable'"):
            mutable(*arguments)


def test_classes_of_users(mode):
    @ms.jit_class
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    assert values(ms.jit(lambda x: Scale(3)(x))(X)) == [3, 6, 9]
    for wrong in (3, nn.Dense):
        with pytest.raises(TypeError, match="For 'jit_class'"):
            ms.jit_class(wrong)


def test_order_of_effects(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor(np.ones(3, np.float32)), name="p")
            self.control = ops.ControlDepend()

        def construct(self, x):
            written = ops.assign(self.p, x)
            read = ops.depend(x * 2, written) + self.p
            self.control(written, read)
            functional.control_depend(read, written)
            return ops.Depend()((read, x), None)

    net = Net()
    assert values(net(Y)) == ([6, 6, 6], [2, 2, 2])
    assert values(net.p) == [2, 2, 2]


def test_assignments_are_seen_by_gradients(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor(np.ones(3, np.float32)), name="p")

        def construct(self, x):
            ops.assign_add(self.p, x * 2)
            y = self.p * x
            ops.assign_sub(self.p, x)
            ops.assign(self.p, self.p * y)
            return self.p

    # p = (1 + x) (1 + 2x) x
    x = X.asnumpy()
    expected = 1 + 6 * x + 6 * x * x
    assert values(ops.grad(Net())(X)) == expected.tolist()


def test_stop_gradient_of_a_structure(mode):
    def f(a, b):
        stopped = ops.stop_gradient({"a": a, "rest": (b, 3, None)})
        return stopped["a"] * stopped["rest"][0] * a

    assert values(ops.grad(f, (0, 1))(X, Y)) == ([2, 4, 6], [0, 0, 0])


def test_a_sparse_tensor_is_a_leaf(mode):
    scaled = C.MultitypeFuncGraph("scaled")

    @scaled.register("Tensor", "RowTensor")
    def rows(scale, gradient):
        return ms.RowTensor(gradient.indices, gradient.values * scale, gradient.dense_shape)

    @scaled.register("Tensor", "Tensor")
    def whole(scale, gradient):
        return gradient * scale

    class Scaled(nn.Cell):
        def construct(self, indices, values, x):
            gradients = (ms.RowTensor(indices, values, (4, 2)), x)
            first, second = C.HyperMap()(functional.partial(scaled, Tensor(2.0)), gradients)
            return first.values, second

    rows_now, x = Scaled()(Tensor([0], ms.int32), Tensor([[1.0, 3.0]]), Tensor(1.0))
    assert rows_now.asnumpy().tolist() == [[2.0, 6.0]] and x.item() == 2.0
