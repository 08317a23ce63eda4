"""NumPy arrays that come from outside and are written to: at every call, as in eager code, since the call then runs eagerly."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

pytestmark = pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")


def stored(log):
    log[0] += 1


def a_slice(log):
    log[1:][:] += 1


def filled(log):
    log.fill(log[0] + 1)


def given_to_numpy(log):
    np.add(log, 1, out=log)


@pytest.mark.parametrize("write", [stored, a_slice, filled, given_to_numpy])
@pytest.mark.parametrize("held", ["global", "attribute", "dict", "argument"])
def test_each_call_writes(write, held):
    log = np.zeros(3)
    holder = {"log": log}

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.log = log

        def construct(self, x, given=None):
            write(
                {"global": log, "attribute": self.log, "dict": holder["log"], "argument": given}[
                    held
                ]
            )
            return x * 2

    net = Net()
    ms.set_context(mode=ms.GRAPH_MODE)
    expected = np.zeros(3)
    for _ in range(3):
        write(expected)
        net(ops.ones(2), log) if held == "argument" else net(ops.ones(2))
        np.testing.assert_array_equal(log, expected)


def test_arrays_that_share_memory_with_a_tensor():
    array = np.ones(3, np.float32)
    weight = Tensor.from_numpy(array)

    @ms.jit
    def product(x):
        result = x * weight
        array[:] = 0
        return result.sum()

    for _ in range(3):
        array[:] = 1
        assert float(product(Tensor([1.0, 2.0, 3.0]))) == 6
        assert not array.any()


def test_in_one_graph_it_is_refused():
    log = np.zeros(3)

    @ms.jit(fullgraph=True)
    def f(x):
        log[0] = 5
        return x * 2

    with pytest.raises(
        TypeError, match=r"(?s)cannot change a ndarray that was made outside.*log\[0\] = 5"
    ):
        f(ops.ones(2))


def test_arrays_made_inside_are_written_while_compiling():
    @ms.jit(fullgraph=True)
    def f(x):
        scale = np.zeros(3, np.float32)
        scale[0] = 2
        scale += 1
        return x * Tensor(scale)

    np.testing.assert_array_equal(f(ops.ones(3)).asnumpy(), [3, 1, 1])
