"""Primitives that look at values while a program runs: status of floats, checks, functions of the host."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

P = ops.operations
MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


@pytest.fixture(params=MODES, autouse=True)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


class Scaled(nn.Cell):
    """What old training loops with a loss scale do."""

    def __init__(self):
        super().__init__()
        self.alloc, self.get = P.NPUAllocFloatStatus(), P.NPUGetFloatStatus()
        self.clear, self.status = P.NPUClearFloatStatus(), P.FloatStatus()
        self.reduce = ops.ReduceSum(keep_dims=False)

    def construct(self, x):
        init = ops.depend(self.alloc(), x)
        init = ops.depend(init, self.clear(init))
        y = ops.exp(x)
        init = ops.depend(init, self.get(init))
        return y, self.reduce(init, (0,)), self.status(y)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64])
def test_overflow(dtype):
    for value, found in ((1.0, 0.0), (1e4, 1.0), (float("nan"), 1.0)):
        _, noted, status = Scaled()(Tensor([0.0, value], dtype))
        assert float(noted) == 0 and status.shape == (1,) and status.dtype == ms.float32
        assert float(status[0]) == found


def test_status_refuses():
    with pytest.raises(TypeError, match="For 'FloatStatus', the dtype of 'x' must be a float"):
        P.FloatStatus()(Tensor([1], ms.int32))
    with pytest.raises(ValueError, match=r"'input_x' must have shape \(8,\)"):
        P.NPUGetFloatStatus()(Tensor([1.0]))


class Checked(nn.Cell):
    def construct(self, x, y):
        P.Assert(2)(x.sum() > 0, [x, y])
        return P.CheckNumerics()(x / y)


def test_checks():
    net = Checked()
    np.testing.assert_array_equal(net(Tensor([2.0]), Tensor([4.0])).asnumpy(), [0.5])
    with pytest.raises(RuntimeError, match="all elements must be finite, but got inf"):
        net(Tensor([2.0]), Tensor([0.0])).asnumpy()
    with pytest.raises(RuntimeError, match="For 'Assert', the condition must hold"):
        net(Tensor([-2.0]), Tensor([1.0])).asnumpy()


def test_function_of_the_host():
    calls = []

    def both(x, y):
        calls.append(x.shape)
        return x + y, (x * y).sum()

    op = P.PyFunc(both, [ms.float32] * 2, [(2,)] * 2, [ms.float32] * 2, [(2,), ()])

    class Net(nn.Cell):
        def construct(self, x, y):
            total, product = op(x * 2, y)
            return total + product

    net = Net()
    for _ in range(2):
        got = net(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).asnumpy()
        np.testing.assert_array_equal(got, [27.0, 30.0])
    assert calls == [(2,), (2,)]
    with pytest.raises(TypeError, match="no bprop"):
        ms.grad(lambda x, y: net(x, y).sum())(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
