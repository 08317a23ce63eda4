"""Methods that write to the tensor that they are called on."""

from __future__ import annotations

import numpy as np
import pytest
from viewlib import MODES, check, grid

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn

CASES = {
    "add_": (lambda t: t.add_(2), lambda a: a + 2),
    "add_ alpha": (lambda t: t.add_(t, alpha=3), lambda a: a * 4),
    "sub_": (lambda t: t.sub_(Tensor([1.0, 2.0, 3.0])), lambda a: a - [1, 2, 3]),
    "mul_": (lambda t: t.mul_(2.5), lambda a: a * 2.5),
    "div_": (lambda t: t.div_(4), lambda a: a / 4),
    "floor_divide_": (lambda t: t.floor_divide_(2), lambda a: a // 2),
    "remainder_": (lambda t: t.remainder_(2), lambda a: a % 2),
    "exp_": (lambda t: t.exp_(), np.exp),
    "log_": (lambda t: t.log_(), np.log),
    "tanh_": (lambda t: t.tanh_(), np.tanh),
    "sigmoid_": (lambda t: t.sigmoid_(), lambda a: 1 / (1 + np.exp(-a))),
    "floor_": (lambda t: t.floor_(), np.floor),
    "sign_": (lambda t: t.sign_(), np.sign),
    "clamp_": (lambda t: t.clamp_(1, 3), lambda a: np.clip(a, 1, 3)),
    "copy_": (lambda t: t.copy_(Tensor([7, 8, 9])), lambda a: np.broadcast_to([7, 8, 9], a.shape)),
    "fill_": (lambda t: t.fill_(3), lambda a: np.full_like(a, 3)),
    "zero_": (lambda t: t.zero_(), np.zeros_like),
    "masked_fill_": (lambda t: t.masked_fill_(t > 2, -1.0), lambda a: np.where(a > 2, -1, a)),
    "fill_diagonal_": (lambda t: t.fill_diagonal_(9.0), lambda a: np.where(np.eye(*a.shape), 9, a)),
    "index_fill_": (
        lambda t: t.index_fill_(0, Tensor([1]), 4.0),
        lambda a: np.stack([a[0], a[1] * 0 + 4]),
    ),
    "index_copy_": (
        lambda t: t.index_copy_(1, Tensor([0, 2]), Tensor([[9.0, 8.0], [7.0, 6.0]])),
        lambda a: np.array([[9, a[0, 1], 8], [7, a[1, 1], 6]]),
    ),
    "index_put_": (
        lambda t: t.index_put_((Tensor([0, 1]), Tensor([2, 0])), Tensor(5.0)),
        lambda a: _put(a, False),
    ),
    "index_put_ added": (
        lambda t: t.index_put_(
            (Tensor([0, 0]), Tensor([2, 2])), Tensor([5.0, 6.0]), accumulate=True
        ),
        lambda a: _put(a, True),
    ),
    "put_": (
        lambda t: t.put_(Tensor([0, -1]), Tensor([7.0, 8.0])),
        lambda a: np.array([[7, *a[0, 1:]], [*a[1, :2], 8]]),
    ),
    "masked_scatter_": (
        lambda t: t.masked_scatter_(t > 2, Tensor([9.0, 8.0, 7.0, 6.0, 5.0, 4.0])),
        lambda a: _masked(a),
    ),
    "addmm_": (
        lambda t: t.addmm_(Tensor(grid(2, 2)), Tensor(grid(2, 3))),
        lambda a: a + grid(2, 2) @ grid(2, 3),
    ),
    "scatter_": (
        lambda t: t.scatter_(1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])),
        lambda a: _put(a, False, (5, 6)),
    ),
    "index_add_": (
        lambda t: t.index_add_(0, Tensor([1, 1]), Tensor(grid(2, 3))),
        lambda a: np.stack([a[0], a[1] + grid(2, 3).sum(0)]),
    ),
}


def _put(a, added, values=(5, 5)):
    a = a.copy()
    if added:
        a[0, 2] += 11
    else:
        a[0, 2], a[1, 0] = values
    return a


def _masked(a):
    a = a.copy()
    a[a > 2] = [9, 8, 7, 6, 5, 4][: int((a > 2).sum())]
    return a


@pytest.mark.parametrize("name", CASES)
def test_on_tensors_and_views(name):
    ours, numpys = CASES[name]

    def program(a):
        v = a[1:, :3]
        same = ours(v)
        return v, same, a * 1

    def numpy(a):
        v = a[1:, :3]
        v[...] = numpys(v)
        return v, v, a * 1

    check(program, grid(3, 4) / 2 + 0.5, numpy=numpy)


@pytest.mark.parametrize("mode", MODES)
def test_they_return_the_tensor(mode):
    context.set_context(mode=MODES[mode])
    t = Tensor(grid(3))
    assert t.add_(1) is t and t.mul_(2).zero_() is t
    p = Parameter(grid(3), name="p")
    assert p.add_(1) is p
    assert p.asnumpy().tolist() == [1, 2, 3]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(grid(2, 2), name="p")

        def construct(self, x):
            self.p.add_(x)
            self.p[0].zero_()
            return self.p * 1

    net = Net()
    for n in (1, 2):
        assert net(Tensor(1.0)).asnumpy().tolist() == [[0, 0], [2 + n, 3 + n]]
        assert net.p.asnumpy().tolist() == [[0, 0], [2 + n, 3 + n]]


@pytest.mark.parametrize("mode", MODES)
def test_random_numbers(mode):
    context.set_context(mode=MODES[mode])
    a = Tensor(np.zeros((2, 2000), np.float32))
    v = a[0]
    v.normal_(3, 2)
    assert abs(v.asnumpy().mean() - 3) < 0.3 and abs(a.asnumpy()[0].std() - 2) < 0.3
    v.uniform_(2, 4)
    assert 2 <= a.asnumpy()[0].min() and a.asnumpy()[0].max() < 4
    v.exponential_(2)
    assert abs(a.asnumpy()[0].mean() - 0.5) < 0.1
    v.bernoulli_(0.25)
    assert abs(a.asnumpy()[0].mean() - 0.25) < 0.1
    v.random_(5)
    assert set(a.asnumpy()[0]) == {0, 1, 2, 3, 4}
    assert (a.asnumpy()[1] == 0).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda t: t.add_(1.5), TypeError, "'Tensor.add_'.*Int32.*Float32"),
        (lambda t: t.div_(2), TypeError, "'Tensor.div_'.*Int32"),
        (
            lambda t: t.add_(Tensor(np.ones((2, 3), np.int32))),
            ValueError,
            r"'Tensor.add_'.*\(3,\).*\(2, 3\)",
        ),
        (lambda t: t.copy_(Tensor(np.ones(2, np.int32))), ValueError, r"'Tensor.copy_'.*\(3,\)"),
        (lambda t: t.copy_(3), TypeError, "'src' must be a Tensor"),
        (lambda t: t.fill_(Tensor([1, 2])), ValueError, "fill_"),
        (lambda t: t.fill_("a"), TypeError, "fill_"),
        (lambda t: t.fill_diagonal_(1), ValueError, "fill_diagonal_"),
        (lambda t: t.index_copy_(3, Tensor([0]), Tensor([1])), ValueError, "'dim' must be in"),
    ],
)
def test_what_they_refuse(mode, change, error, says):
    context.set_context(mode=MODES[mode])
    t = Tensor(np.arange(3, dtype=np.int32))
    function = ms.jit(change) if mode == "graph" else change
    with pytest.raises(error, match=says):
        function(t)
    assert t.asnumpy().tolist() == [0, 1, 2]
