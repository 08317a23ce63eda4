"""Open sizes with bounds: Symbol in the description of an input."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import mindspore as ms
from mindspore import Symbol, Tensor, context, jit, nn
from mindspore.common import _symbol


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Total(nn.Cell):
    def construct(self, x, y):
        return x.sum() + y.sum()


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def described() -> Total:
    size, odd = Symbol(max=32, min=2, unique=True), Symbol(divisor=8, remainder=1)
    net = Total()
    net.set_inputs(
        Tensor(shape=(None, size, odd), dtype=ms.float32), Tensor(shape=(size,), dtype=ms.float32)
    )
    return net


def test_sizes_within_the_bounds_share_one_compile():
    net = described()
    assert net(ones(2, 3, 9), ones(3)) == 57
    assert net(ones(1, 4, 17), ones(4)) == 72
    assert net(ones(5, 32, 1), ones(32)) == 192


@pytest.mark.parametrize(
    "x, y, text",
    [
        ((2, 3, 9), (4,), "dimension 0 of 'y' must be 3, as the other sizes of its Symbol are"),
        ((2, 3, 8), (3,), "dimension 2 of 'x' must be a multiple of 8, plus 1"),
        ((2, 33, 9), (33,), "dimension 1 of 'x' must be at most 32"),
        ((2, 1, 9), (1,), "dimension 1 of 'x' must be at least 2"),
    ],
)
def test_others_are_refused(x, y, text):
    with pytest.raises(ValueError, match=text):
        described()(ones(*x), ones(*y))


def test_the_signature_of_a_function():
    double = jit(
        lambda x: x * 2, input_signature=Tensor(shape=(Symbol(divisor=4),), dtype=ms.float32)
    )
    assert double(ones(8)).shape == (8,)
    with pytest.raises(ValueError, match="must be a multiple of 4, as declared, but got 6"):
        double(ones(6))


def test_what_a_description_tells():
    even = Symbol(divisor=2)
    x = Tensor(shape=(None, 3, even), dtype=ms.float32)
    assert x.shape == (-1, 3, -1)
    assert x.symbolic_shape == [None, 3, {"divisor": 2, "remainder": 0}]
    assert ones(2).symbolic_shape is None
    assert str(Symbol(max=9, min=2)) == "{'max': 9, 'min': 2}"
    assert Symbol(max=2, min=5).to_dict() == {"min": 5}
    assert Symbol(unique=True).to_dict().keys() == {"id"}


def test_descriptions_are_forgotten_with_their_tensors():
    gc.collect()
    before = len(_symbol._described)
    x = Tensor(shape=(Symbol(),), dtype=ms.float32)
    assert len(_symbol._described) == before + 1
    del x
    gc.collect()
    assert len(_symbol._described) == before


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({"max": 2.5}, TypeError, "'max' must be an int, but got float"),
        ({"min": 0}, ValueError, "'min' must be at least 1, but got 0"),
        ({"divisor": 0}, ValueError, "'divisor' must be at least 1, but got 0"),
        ({"divisor": 2, "remainder": 3}, ValueError, r"'remainder' must be in \[0, 2\), but got 3"),
        ({"unique": 1}, TypeError, "'unique' must be a bool, but got int"),
    ],
)
def test_wrong_bounds(arguments, error, text):
    with pytest.raises(error, match=f"For 'Symbol', {text}"):
        Symbol(**arguments)
