"""Ops that cut a tensor into pieces return a tuple, be it of one piece."""

import numpy as np
import pytest

from mindspore import Tensor, jit, ops

X = Tensor(np.ones((1, 2), np.float32))


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: ops.unstack(x),
        lambda x: ops.unbind(x),
        lambda x: x.unbind(),
        lambda x: ops.Unstack()(x),
        lambda x: ops.Split(0, 1)(x),
        lambda x: ops.split(x, 1),
        lambda x: ops.chunk(x, 1),
    ],
)
def test_one_piece_is_a_tuple(cut):
    for made in (cut(X), jit(lambda x: cut(x))(X)):
        assert isinstance(made, tuple) and len(made) == 1
