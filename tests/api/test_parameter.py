"""Parameters: values of other shapes, and settings that are checked."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Parameter, Tensor, nn


def test_a_value_of_another_shape_needs_slice_shape():
    p = Parameter(Tensor([1.0, 2.0]), name="p")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = p

        def construct(self):
            return self.p * 2

    net = Net()
    assert net().shape == (2,)
    with pytest.raises(ValueError, match="the shape of 'data' must be that of the Parameter"):
        p.set_data(Tensor([1.0]))
    p.set_data(Tensor([[3.0, 4.0, 5.0]]), slice_shape=True)
    np.testing.assert_array_equal(net().asnumpy(), [[6.0, 8.0, 10.0]])


def test_groups_that_are_sent_together():
    p = Parameter(Tensor([1.0]), name="p")
    p.comm_fusion = 3
    assert p.comm_fusion == 3
    with pytest.raises(ValueError, match="'comm_fusion' must not be negative, but got -1"):
        p.comm_fusion = -1
    with pytest.raises(TypeError, match="'comm_fusion' must be an int, but got str"):
        p.comm_fusion = "x"
