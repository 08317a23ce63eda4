"""Gradients that the user wrote: Cell.bprop, InsertGradientOf, HookBackward and hooks, in both modes and to second order."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

X = Tensor(np.array([1, 2, 3], np.float32))
Y = Tensor(np.array([2, 2, 2], np.float32))


def close(actual, *expected):
    """The actual tensors, in order, have these values."""
    actual = actual if isinstance(actual, tuple) else (actual,)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        np.testing.assert_allclose(a.asnumpy(), np.broadcast_to(np.float32(e), a.shape), rtol=1e-6)


class Product(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return dout * 10, out * dout


class Inside(nn.Cell):
    """Another cell with its own gradient, in the middle."""

    def __init__(self):
        super().__init__()
        self.product = Product()
        self.w = Parameter(Tensor(np.ones(3, np.float32)), name="w")

    def construct(self, x, y):
        return self.product(x * self.w, y) * 2


def test_bprop_is_the_gradient(mode):
    close(ops.grad(Product(), (0, 1))(X, Y), 10, [2, 4, 6])
    close(ops.grad(Inside(), (0, 1))(X, Y), 20, [4, 8, 12])


def test_the_value_is_that_of_construct(mode):
    close(Product()(X, Y), [2, 4, 6])
    close(ops.value_and_grad(Product())(X, Y), [2, 4, 6], 10)


def test_keywords_come_by_position(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.product = Product()

        def construct(self, x, y):
            return self.product(x, y=y)

    close(ops.grad(Net(), (0, 1))(X, Y), 10, [2, 4, 6])


class Cube(nn.Cell):
    """Its gradient, 3 x^2, has an ordinary gradient."""

    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        return 3 * x * x * dout


class Sixfold(nn.Cell):
    """Of a value whose own rule says that the gradient of x^3 is x."""

    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        return x * dout


@pytest.mark.parametrize("order, expected", [(1, [3, 12, 27]), (2, [6, 12, 18]), (3, [6, 6, 6])])
def test_bprop_to_higher_orders(mode, order, expected):
    f = Cube()
    for _ in range(order):
        f = ops.grad(f)
    close(f(X), expected)


def test_the_value_keeps_its_rule_at_second_order(mode):
    net = Sixfold()

    def f(x):
        return net(x) * net(x)  # d = 2 x^3 x; dd = 2 (x x + x^3), by the rule of net

    close(ops.grad(f)(X), [2, 32, 162])
    close(ops.grad(ops.grad(f))(X), [2 * (1 + 1), 2 * (4 + 8), 2 * (9 + 27)])


def test_bprop_may_take_gradients_and_branch(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Product()

        def construct(self, x, y):
            return self.inner(x, y)

        def bprop(self, x, y, out, dout):
            if ops.reduce_sum(dout) > 100:
                return dout, dout
            return ops.grad(self.inner)(x, y) * dout, dout * 5

    close(ops.grad(Net(), (0, 1))(X, Y), 10, 5)


def test_bprop_inside_control_flow(mode):
    product = Product()

    @ms.jit
    def f(x, n):
        total = x * 0
        i = 0
        while i < n:
            if ops.reduce_sum(total) >= 0:
                total = total + product(x, x)
            i = i + 1
        return total

    close(ops.grad(f)(X, Tensor(3)), 3 * (10 + np.array([1, 4, 9])))


def test_tuples_in_and_out(mode):
    class Swap(nn.Cell):
        def construct(self, pair, names):
            return pair[0] * names["k"], pair[1]

        def bprop(self, pair, names, out, dout):
            return (dout[1] * 3, dout[0] * 4), {"k": dout[0] * 5}

    swap = Swap()

    def both(a, b, k):
        p, q = swap((a, b), {"k": k})
        return p + q

    def first(a, b, k):
        return swap((a, b), {"k": k})[0]

    close(ops.grad(both, (0, 1, 2))(X, Y, Y), 3, 4, 5)
    close(ops.grad(first, (0, 1, 2))(X, Y, Y), 0, 4, 5)


def test_arguments_that_are_no_tensors(mode):
    class Scale(nn.Cell):
        def construct(self, x, k, flag):
            return x * k

        def bprop(self, x, k, flag, out, dout):
            return dout * k * (10 if flag else 1), None, None

    scale = Scale()
    close(ops.grad(lambda x: scale(x, 2, True))(X), 20)


def test_integer_inputs_and_outputs(mode):
    class Net(nn.Cell):
        def construct(self, x, n):
            return x * n, n

        def bprop(self, x, n, out, dout):
            return dout[0] * 7 + dout[1], n

    net = Net()
    close(ops.grad(lambda x: net(x, Tensor([1, 2, 3]))[0])(X), 7)


def test_a_gradient_of_another_float_type_is_cast(mode):
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout.astype(ms.float16),)

    gradient = ops.grad(Net())(X)
    assert gradient.dtype == ms.float32
    close(gradient, 1)


class Weighted(nn.Cell):
    """A Parameter, and what bprop returns for it."""

    def __init__(self, weight_gradient):
        super().__init__()
        self.w = Parameter(Tensor(np.full(3, 3, np.float32)), name="w")
        self.weight_gradient = weight_gradient

    def construct(self, x):
        return x * self.w

    def bprop(self, x, out, dout):
        if self.weight_gradient:
            return (dout * 5,), {self.w: dout * x * 100}
        return (dout * 5,)


def test_parameters_of_a_cell_with_bprop(mode):
    for with_gradient, expected in ((False, 0), (True, [100, 200, 300])):
        net = Weighted(with_gradient)
        dx, (dw,) = ops.grad(net, 0, net.trainable_params())(X)
        close((dx, dw), 5, expected)


def wrong(gradients):
    """A cell whose bprop returns what `gradients(dout)` is."""

    class Wrong(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return gradients(dout)

    return Wrong()


@pytest.mark.parametrize(
    "gradients, error, says",
    [
        (lambda d: d, TypeError, "For 'Wrong.bprop', the gradients must be a tuple of 2"),
        (lambda d: (d,), ValueError, "For 'Wrong.bprop', the number of gradients must be 2"),
        (lambda d: (d, d, d), ValueError, "must be 2, one for each input, but got 3"),
        (lambda d: (d, ops.reduce_sum(d)), ValueError, "must have the shape (3,)"),
        (lambda d: (d, "d"), TypeError, "must be a Tensor or None, but got str"),
        (lambda d: ((d, d), {"z": d}), ValueError, "there is no Parameter 'z'"),
    ],
)
def test_wrong_gradients(mode, gradients, error, says):
    with pytest.raises(error) as caught:
        ops.grad(wrong(gradients))(X, Y)
    assert says in str(caught.value)


# ---- InsertGradientOf and HookBackward ------------------------------------------------------------------------------------
def test_insert_gradient_of(mode):
    halve = ops.InsertGradientOf(lambda dx: dx / 2)

    def f(x):
        z = halve(x * 2)
        return z * z

    close(ops.grad(f)(X), [4, 8, 12])
    close(ops.grad(ops.grad(f))(X), 2)
    close(f(X), [4, 16, 36])


def test_hook_backward_sees_all_gradients(mode):
    hook = ops.HookBackward(lambda d: (d[0] * 2, d[0] + d[1]))

    def f(x, y):
        a, b = hook(x * 2, y * 3)
        return a * b

    # da = 3 y = 6, db = 2 x
    close(ops.grad(f, (0, 1))(X, Y), 24, [24, 30, 36])
    same = ops.HookBackward(lambda d: None)
    close(ops.grad(lambda x: same(x) * 3)(X), 3)


def test_hooks_refuse_what_is_no_function():
    for make in (ops.InsertGradientOf, ops.HookBackward, X.register_hook):
        with pytest.raises(TypeError, match="must be a function, but got int"):
            make(3)
    with pytest.raises(TypeError, match="inputs must be Tensors, but got tuple"):
        ops.HookBackward(lambda d: d)((X, Y))


def test_a_hook_that_returns_too_few(mode):
    hook = ops.HookBackward(lambda d: d[0])
    with pytest.raises(TypeError, match="must return None or a tuple of 2 gradients"):
        ops.grad(lambda x, y: hook(x, y)[0])(X, Y)


# ---- Tensor.register_hook -------------------------------------------------------------------------------------------------
def test_hook_on_a_tensor(mode):
    def f(x):
        z = x * 2
        z.register_hook(lambda d: d * 10)
        return z * z + z

    close(ops.grad(f)(X), 20 * (np.array([4, 8, 12]) + 1))


def test_hook_on_an_argument_and_one_that_changes_nothing(mode):
    def f(x):
        x.register_hook(lambda d: d * 10)
        z = x * 1
        z.register_hook(lambda d: None)
        return z * x

    close(ops.grad(f)(X), [20, 40, 60])


def test_a_hook_taken_off(mode):
    def f(x):
        z = x * 2
        handle = z.register_hook(lambda d: d * 10)
        handle.remove()
        return z * z

    close(ops.grad(f)(X), [8, 16, 24])


def test_hook_on_a_parameter(mode):
    net = Inside()
    handle = net.w.register_hook(lambda d: d * 2)
    gradient = ops.grad(net, None, net.trainable_params())
    close(gradient(X, Y)[0], [40, 80, 120])
    handle.remove()
    close(gradient(X, Y)[0], [20, 40, 60])


# ---- hooks on cells ---------------------------------------------------------------------------------------------------------
class Affine(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.full(3, 3, np.float32)), name="w")

    def construct(self, x, y):
        return x * self.w + y


class Two(nn.Cell):
    def construct(self, x):
        return x * 2, x * 3


def test_forward_hooks(mode):
    net = Affine()
    handles = [
        net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] * 2, inputs[1])),
        net.register_forward_hook(lambda cell, inputs, output: output * 10 + inputs[0]),
    ]
    close(net(X, Y), [82, 144, 206])
    close(ops.grad(net, (0, 1))(X, Y), 62, 10)
    handles[0].remove()
    close(net(X, Y), [51, 82, 113])
    handles[1].remove()
    close(net(X, Y), [5, 8, 11])


def test_forward_hooks_with_keywords(mode):
    net = Affine()

    def double(cell, inputs, keywords):
        return inputs, {"y": keywords["y"] * 2}

    net.register_forward_pre_hook(double, with_kwargs=True)
    net.register_forward_hook(
        lambda c, inputs, keywords, out: out + keywords["y"], with_kwargs=True
    )
    close(net(X, y=Y), [11, 14, 17])


def test_hooks_run_in_order(mode):
    net = Two()
    net.register_forward_pre_hook(lambda cell, inputs: inputs[0] + 1)
    net.register_forward_pre_hook(lambda cell, inputs: inputs[0] * 2, prepend=True)
    close(net(X), [6, 10, 14], [9, 15, 21])


def test_backward_hooks(mode):
    net = Affine()
    handle = net.register_backward_hook(lambda cell, dx, dy: (dx[0] * 10, dx[1] + dy[0]))
    dx, dw = ops.grad(net, (0, 1), net.trainable_params())(X, Y)
    close(dx, 30, 2)
    close(dw[0], [1, 2, 3])
    handle.remove()
    close(ops.grad(net, (0, 1))(X, Y), 3, 1)


def test_backward_hooks_follow_each_other_and_read_the_cell(mode):
    net = Affine()
    net.register_backward_hook(lambda cell, dx, dy: (dx[0] * cell.w, dx[1]))
    net.register_backward_hook(lambda cell, dx, dy: (dx[0] + 1, dx[1]))
    close(ops.grad(net, (0, 1))(X, Y), 10, 1)


def test_backward_pre_hooks(mode):
    net = Two()
    net.register_backward_pre_hook(lambda cell, dy: (dy[0] * 10, dy[1] * 100))
    net.register_backward_hook(lambda cell, dx, dy: dx[0] + dy[1])
    close(ops.grad(net)(X), 420)


def test_backward_hooks_at_second_order(mode):
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

    net = Square()
    net.register_backward_hook(lambda cell, dx, dy: dx[0] * dx[0])
    close(ops.grad(net)(X), [4, 16, 36])
    # (2x)^2 has the gradient 8x, which goes through the hook in turn.
    close(ops.grad(ops.grad(net))(X), [64, 256, 576])


def test_a_backward_hook_that_returns_too_few(mode):
    net = Affine()
    net.register_backward_hook(lambda cell, dx, dy: dx[0])
    with pytest.raises(TypeError, match="For 'Affine', a hook must return None or a tuple of 2"):
        ops.grad(net)(X, Y)
    with pytest.raises(TypeError, match="a hook must be a function"):
        net.register_backward_hook(None)


def test_a_hook_of_a_parameterised_cell_trains(mode):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    plain = ops.grad(net, None, net.trainable_params())(Tensor(np.ones((2, 3), np.float32)))
    net[0].register_backward_hook(lambda cell, dx, dy: None)
    hooked = ops.grad(net, None, net.trainable_params())(Tensor(np.ones((2, 3), np.float32)))
    for a, b in zip(plain, hooked):
        assert (a.asnumpy() == b.asnumpy()).all()
