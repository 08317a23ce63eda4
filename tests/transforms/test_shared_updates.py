"""Parameters that a function under vmap updates: once for all items, whether they are computed together or one after the other."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn


class Doubling(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(Tensor(np.ones(2, np.float32)), name="p")

    def construct(self, x):
        self.p = self.p * 2
        return x * self.p.sum()

    def added(self, x):
        self.p = self.p + x
        return x * self.p.sum()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("way", ["cell", "function"])
def test_a_parameter_that_items_share_is_updated_once(mode, way):
    ms.set_context(mode=mode)
    x = Tensor(np.arange(3, dtype=np.float32))
    net = Doubling()
    function = net if way == "cell" else lambda v: net(v)
    gradient = ms.grad(lambda x: (ms.vmap(function)(x) * net.p.sum()).sum(), 0, [net.p])
    of_x, of_p = gradient(x)
    np.testing.assert_array_equal(net.p.asnumpy(), [2, 2])
    np.testing.assert_array_equal(of_x.asnumpy(), [16, 16, 16])
    np.testing.assert_array_equal(of_p[0].asnumpy(), [48, 48])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_an_update_that_depends_on_the_item_is_refused(mode):
    ms.set_context(mode=mode)
    x = Tensor(np.arange(3, dtype=np.float32))
    net = Doubling()
    for function in (ms.vmap(net.added), ms.grad(lambda x: ms.vmap(net.added)(x).sum())):
        with pytest.raises(ValueError, match="must be the same for all items"):
            function(x)
