"""What compiled code does beside computing: printing, logging, raising, asserting, in program order and only where it is reached."""

import logging

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops
from mindspore.ops import operations as P

MODES = pytest.mark.parametrize(
    "mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"]
)


class Body(nn.Cell):
    def __init__(self, body, **attributes):
        super().__init__()
        self.body = body
        for name, value in attributes.items():
            setattr(self, name, value)

    def construct(self, *args):
        return self.body(self, *args)


@pytest.fixture(autouse=True)
def strict():
    """Everything here compiles whole."""
    context.set_context(jit_syntax_level=context.STRICT)
    yield
    context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)


def vector(*values):
    return Tensor(np.array(values, np.float32))


@MODES
def test_print_shows_values_in_order(mode, capsys):
    context.set_context(mode=mode)

    def body(self, x):
        print("start", x, sep="|")
        if x.sum() > 2:
            print(f"large: {x.sum()}", {"x": (x + 1).shape})
        for i in range(2):
            print(i, end=";")
        return x

    net = Body(body)
    for _ in range(2):
        net(vector(1, 2))
    net(vector(0, 1))
    once = "start|[1. 2.]\nlarge: 3.0 {'x': (2,)}\n0;1;"
    assert capsys.readouterr().out == once + once + "start|[0. 1.]\n0;1;"


@MODES
def test_print_in_a_loop_of_the_graph(mode, capsys):
    context.set_context(mode=mode)

    def body(self, n):
        while n > 0:
            # ruff: noqa: UP031, UP032 - all ways to write values of tensors
            print("at %s" % n, "{}".format(n * 2), str(n) + "!")
            n = n - 1
        return n

    Body(body)(Tensor(2, ms.int32))
    assert capsys.readouterr().out == "at 2 4 2!\nat 1 2 1!\n"


@MODES
def test_print_survives_gradients_and_runs_once(mode, capsys):
    context.set_context(mode=mode)

    def body(self, x):
        print("forward", x.sum())
        return (x * x * self.p).sum()

    net = Body(body, p=Parameter(vector(3), name="p"))
    gradient = ms.grad(net)(vector(1, 2))
    np.testing.assert_array_equal(gradient.asnumpy(), [6, 12])
    assert capsys.readouterr().out == "forward 3.0\n"


@MODES
def test_logging(mode, caplog):
    context.set_context(mode=mode)
    logger = logging.getLogger("test_effects")

    def body(self, x):
        logger.warning("sum is %s", x.sum())
        return x

    Body(body)(vector(1, 2))
    assert caplog.messages == ["sum is 3.0"]


@MODES
def test_raise_on_the_taken_branch_only(mode):
    context.set_context(mode=mode)

    def body(self, x):
        y = x * 2
        if x.sum() > 5:
            raise ValueError(f"the sum must be at most 5, but got {x.sum()}.")
        if x.sum() < 0:
            raise KeyError("negative")
        return y + 1

    net = Body(body)
    np.testing.assert_array_equal(net(vector(1, 2)).asnumpy(), [3, 5])
    with pytest.raises(ValueError, match=r"at most 5, but got 9\.0\."):
        net(vector(4, 5))
    with pytest.raises(KeyError, match="negative"):
        net(vector(-4, 1))
    np.testing.assert_array_equal(net(vector(1, 2)).asnumpy(), [3, 5])


@MODES
def test_raise_in_a_function_that_a_branch_calls(mode):
    context.set_context(mode=mode)

    def check(value):
        if value.ndim > 1:
            raise ValueError("a vector is needed")
        raise RuntimeError("never right")

    def body(self, x):
        if x.sum() > 5:
            check(x)
        return x

    net = Body(body)
    net(vector(1, 2))
    with pytest.raises(RuntimeError, match="never right"):
        net(vector(5, 6))


@MODES
def test_raise_in_a_loop_of_the_graph(mode):
    context.set_context(mode=mode)

    def body(self, n):
        total = n * 0
        while n > 0:
            if n == 3:
                raise RuntimeError("met " + str(n))
            total = total + n
            n = n - 1
        return total

    net = Body(body)
    assert net(Tensor(2, ms.int32)) == 3
    with pytest.raises(RuntimeError, match="met 3"):
        net(Tensor(5, ms.int32))


@MODES
def test_an_error_of_an_op_in_a_branch_is_raised_when_it_is_taken(mode):
    context.set_context(mode=mode)

    def body(self, x):
        if x.sum() > 5:
            x = ops.matmul(x.reshape(1, 2), x.reshape(1, 2)).reshape(2)
        return x + 1

    net = Body(body)
    np.testing.assert_array_equal(net(vector(1, 2)).asnumpy(), [2, 3])
    with pytest.raises(ValueError, match="inner sizes"):
        net(vector(4, 5))


@MODES
def test_assert_on_a_tensor(mode):
    context.set_context(mode=mode)

    def body(self, x):
        assert (x > 0).all(), f"must be positive, but got {x}"
        assert x.ndim == 1
        return x * 2

    net = Body(body)
    np.testing.assert_array_equal(net(vector(1, 2)).asnumpy(), [2, 4])
    with pytest.raises(AssertionError, match=r"must be positive, but got \[ 1. -1.\]"):
        net(vector(1, -1))


@MODES
def test_gradient_beside_a_raise(mode):
    context.set_context(mode=mode)

    def body(self, x):
        if x.sum() > 5:
            raise ValueError("large")
        return (x * x).sum()

    gradient = ms.grad(Body(body))
    np.testing.assert_array_equal(gradient(vector(1, 2)).asnumpy(), [2, 4])
    with pytest.raises(ValueError, match="large"):
        gradient(vector(4, 5))


@MODES
def test_both_ways_return_or_raise(mode):
    context.set_context(mode=mode)

    def body(self, x):
        if x.sum() > 5:
            return x
        raise ValueError("small")

    net = Body(body)
    np.testing.assert_array_equal(net(vector(4, 5)).asnumpy(), [4, 5])
    with pytest.raises(ValueError, match="small"):
        net(vector(1, 2))


@MODES
def test_summaries_reach_the_listeners(mode):
    from mindspore.ops import _effects

    context.set_context(mode=mode)
    scalar, tensor = P.ScalarSummary(), P.TensorSummary()

    def body(self, x):
        scalar("sum", x.sum())
        if x.sum() > 5:
            tensor("large", x)
        return x + 1

    got = []

    def listen(kind, name, value):
        got.append((kind, name, value.asnumpy().tolist()))

    _effects.summary_listeners.append(listen)
    try:
        net = Body(body)
        net(vector(1, 2))
        net(vector(4, 5))
    finally:
        _effects.summary_listeners.remove(listen)
    assert got == [
        ("scalar", "sum", 3.0),
        ("scalar", "sum", 9.0),
        ("tensor", "large", [4.0, 5.0]),
    ]


@pytest.mark.parametrize(
    "summary, name, shape, error",
    [
        (P.ScalarSummary, "n", (2,), ValueError),
        (P.ScalarSummary, "", (), ValueError),
        (P.ScalarSummary, 3, (), TypeError),
        (P.TensorSummary, "n", (), ValueError),
        (P.HistogramSummary, "n", (), ValueError),
        (P.ImageSummary, "n", (3, 4, 4), ValueError),
    ],
)
def test_bad_summaries(summary, name, shape, error):
    with pytest.raises(error, match=f"For '{summary.__name__}', '(name|value)' must"):
        summary()(name, ops.zeros(shape))


@MODES
def test_print_as_a_primitive(mode, capsys):
    context.set_context(mode=mode)

    def body(self, x):
        P.Print()("x is", x)
        return x

    Body(body)(vector(1, 2))
    assert capsys.readouterr().out == "x is [1. 2.]\n"
