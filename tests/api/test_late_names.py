"""Names beside the functions that they stand for, in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit, ops


def _plus(x):
    return x + 1


def test_attributes_of_a_function_leave_what_it_does():
    marked = ops._add_attr(_plus, memory=1)
    assert marked(2) == 3
    assert jit(marked)(Tensor([1.0])).asnumpy() == [2.0]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_loops_that_a_tensor_ends_have_gradients(mode):
    ms.set_context(mode=mode)
    x = Tensor(np.array([1.0, 2.0], np.float32))

    def doubled(x):
        return ops.WhileLoop()(lambda v: v.sum() < 20, lambda v: v * 2, x).sum()

    np.testing.assert_array_equal(grad(doubled)(x).asnumpy(), [8.0, 8.0])
    assert ops.switch(x.sum() > 2, 1, 2) == 1


def test_what_a_primitive_is_told_is_kept():
    add = ops.Add()
    add.set_user_data("owner", 3)
    assert (add.get_user_data("owner"), add.get_user_data("other")) == (3, None)


def test_the_gradient_of_a_stopped_tensor_is_zero():
    def f(x):
        y = x * 2
        ops.stop_gradient_(y)
        return (y * x).sum()

    x = Tensor([1.0, 3.0])
    np.testing.assert_array_equal(grad(f)(x).asnumpy(), [2.0, 6.0])
    np.testing.assert_array_equal(jit(grad(f))(x).asnumpy(), [2.0, 6.0])
