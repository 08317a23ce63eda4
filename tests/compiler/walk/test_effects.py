"""What compiled code does beside computing: printing, logging, raising, asserting, in program order and only where it is reached."""

import gc
import logging

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops
from mindspore.common import _recorded
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


def heard(run):
    """What summary ops record while somebody listens to `run()`: (kind, name, value), and what a SummaryRecord would take then."""
    told = []

    def listen(kind, name, value):
        told.append((kind, name, value.asnumpy().tolist()))

    _recorded.listen(listen)
    start = _recorded.now()
    try:
        run()
    finally:
        _recorded.leave(listen)
    return told, [(k, n, v.asnumpy().tolist()) for k, n, _, v in _recorded.since(start)]


@MODES
def test_summaries_of_a_branch(mode):
    context.set_context(mode=mode)
    scalar, tensor = P.ScalarSummary(), P.TensorSummary()

    def body(self, x):
        scalar("sum", x.sum())
        if x.sum() > 5:
            tensor("large", x)
        return x + 1

    net = Body(body)
    told, kept = heard(lambda: net(vector(1, 2)))
    assert told + kept == [("scalar", "sum", 3.0)]
    told, kept = heard(lambda: [net(vector(4, 5)), net(vector(6, 7)), net(vector(1, 1))])
    large = ("tensor", "large", [6.0, 7.0])
    if mode == ms.GRAPH_MODE:  # the last ones
        assert (told, kept) == ([], [large, ("scalar", "sum", 2.0)])
    else:
        assert told[-2:] == [large, ("scalar", "sum", 2.0)] and not kept
    net(vector(8, 9))
    assert heard(lambda: None) == ([], [])  # nobody listened


@MODES
def test_summaries_of_loops_and_gradients(mode):
    context.set_context(mode=mode)
    scalar, histogram = P.ScalarSummary(), P.HistogramSummary()

    def body(self, x):
        while x.sum() < 100:
            scalar("sum", x.sum())
            x = x * 2
        histogram("x", x)
        return (x * x).sum()

    gradient, found = ms.grad(Body(body)), []
    plain = gradient(vector(1, 2)).asnumpy()
    told, kept = heard(lambda: found.append(gradient(vector(1, 2)).asnumpy()))
    np.testing.assert_array_equal(found[0], plain)
    assert (told + kept)[-2:] == [("scalar", "sum", 96.0), ("histogram", "x", [64.0, 128.0])]


@MODES
def test_summaries_of_vmap_and_of_gradients_of_ones_own(mode):
    context.set_context(mode=mode)
    scalar = P.ScalarSummary()

    class Own(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            scalar("dout", dout.sum())
            return (dout * 2,)

    def item(x):
        scalar("item", x)
        return x * 2

    own = Own()
    told, kept = heard(lambda: ms.grad(lambda x: own(x).sum())(vector(1, 2)))
    assert told + kept == [("scalar", "dout", 2.0)]
    told, kept = heard(lambda: ms.jit(ms.vmap(item))(vector(1, 2)))
    assert (told, kept) == ([("scalar", "item", 1.0), ("scalar", "item", 2.0)], [])


def test_summaries_of_other_shapes_keep_their_order():
    context.set_context(mode=ms.GRAPH_MODE)
    tensor = P.TensorSummary()

    def body(self, x):
        tensor("x", x)
        return x

    net = Body(body)
    for rows in ((1, 2), (3,), (4, 5), (6, 7, 8), (9, 9, 9, 9), (1,)):
        told, kept = heard(lambda rows=rows: [net(vector(0, 0)), net(vector(*rows))])
        # Of sizes that one version serves, Python is told.
        assert (kept or told)[-1] == ("tensor", "x", list(rows)), rows


def test_summaries_call_no_python_and_cost_nothing_unheard(tmp_path):
    context.set_context(mode=ms.GRAPH_MODE, save_graphs=3)
    scalar = P.ScalarSummary()

    def body(self, x):
        y = x.exp() + 1
        scalar("mean", y.mean())
        return y * 2

    net, texts = Body(body), []
    for name, run in (("unheard", lambda f: f()), ("heard", heard)):
        context.set_context(save_graphs_path=str(tmp_path / name))
        run(lambda: net(vector(1, 2)))
        texts.append(sorted((tmp_path / name).rglob("*.ir"))[-1].read_text())
    context.set_context(save_graphs=0)
    assert not any("HostCall" in text for text in texts)
    assert ["summary." in text for text in texts] == [False, True]


def test_what_is_kept_goes_with_the_code_that_keeps_it():
    context.set_context(mode=ms.GRAPH_MODE)
    tensor = P.TensorSummary()

    def use():
        net = Body(lambda self, x: tensor("kept for a while", x))
        heard(lambda: net(vector(1, 2)))
        assert is_kept()

    def is_kept():
        gc.collect()
        return any(name == "kept for a while" for _, name, _, _ in _recorded._kept)

    use()
    assert not is_kept()


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
