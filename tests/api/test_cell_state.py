"""Buffers of cells, their state as a dictionary, their dtype, and what construct reads for parameters."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.nn.wrap.loss_scale import grad_scale


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 3)
        self.register_buffer("offset", Tensor([1.0, 2.0, 3.0]))
        self.register_buffer("passing", Tensor([0.0]), persistent=False)
        self.register_buffer("later", None)

    def construct(self, x):
        return self.dense(x) * 0 + self.offset


X = Tensor(np.ones((1, 2), np.float32))


def test_buffers_are_read_and_replaced(mode):
    net = Net()
    np.testing.assert_array_equal(net(X).asnumpy(), [[1, 2, 3]])
    net.offset = Tensor([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(net(X).asnumpy(), [[4, 5, 6]])
    net.load_state_dict({"offset": Tensor([7.0, 8.0, 9.0])}, strict=False)
    np.testing.assert_array_equal(net(X).asnumpy(), [[7, 8, 9]])
    assert net.get_buffer("offset") is net.offset
    assert [name for name, _ in net.named_buffers()] == ["offset", "passing"]
    del net.offset
    assert [name for name, _ in net.named_buffers()] == ["passing"]


def test_buffers_of_cells_inside():
    outer = nn.SequentialCell(Net(), Net())
    names = [name for name, _ in outer.named_buffers(prefix="net")]
    assert names == ["net.0.offset", "net.0.passing", "net.1.offset", "net.1.passing"]
    assert list(outer.buffers(recurse=False)) == []
    assert outer.get_buffer("1.offset") is outer[1].offset
    assert outer.get_sub_cell("1.dense") is outer[1].dense
    outer[1].offset = outer[0].offset
    assert len(list(outer.named_buffers())) == 3
    assert len(list(outer.named_buffers(remove_duplicate=False))) == 4


def test_state_goes_by_attributes():
    outer = nn.SequentialCell(Net(), nn.BatchNorm1d(3))
    state = outer.state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state) == [
        "0.offset",
        "0.dense.weight",
        "0.dense.bias",
        "1.moving_mean",
        "1.moving_variance",
        "1.gamma",
        "1.beta",
    ]
    assert next(iter(outer.state_dict(prefix="a."))) == "a.0.offset"
    other = nn.SequentialCell(Net(), nn.BatchNorm1d(3))
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    for path, value in other.state_dict().items():
        np.testing.assert_array_equal(value.asnumpy(), state[path].asnumpy())
        assert value is not state[path]


def test_what_is_missing_and_what_is_not_expected():
    net = Net()
    found = net.load_state_dict({"offset": Tensor([0.0, 0.0, 0.0]), "else": X}, strict=False)
    assert found.missing_keys == ["dense.weight", "dense.bias"]
    assert found.unexpected_keys == ["else"]
    with pytest.raises(RuntimeError, match="unexpected keys else; missing keys dense"):
        net.load_state_dict({"offset": Tensor([0.0, 0.0, 0.0]), "else": X})
    with pytest.raises(RuntimeError, match=r"shape \(2,\) for 'offset' of shape \(3,\)"):
        net.load_state_dict({"offset": Tensor([0.0, 0.0])}, strict=False)
    with pytest.raises(TypeError, match="'state_dict' must be a dictionary"):
        net.load_state_dict([1])


def test_extra_state_and_hooks():
    class Counting(nn.Cell):
        count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    cell = Counting()
    assert cell.state_dict() == {"_extra_state": {"count": 3}}
    cell.load_state_dict({"_extra_state": {"count": 5}})
    assert cell.count == 5
    said = []
    handles = [
        cell.register_state_dict_pre_hook(lambda c, prefix, keep: said.append(("before", prefix))),
        cell.register_state_dict_post_hook(lambda c, state, prefix, local: state.update(more=1)),
        cell.register_load_state_dict_pre_hook(lambda c, state, *rest: state.pop("more", None)),
        cell.register_load_state_dict_post_hook(lambda c, keys: said.append(tuple(keys))),
    ]
    state = cell.state_dict()
    assert state["more"] == 1
    cell.load_state_dict(state)
    assert said == [("before", ""), ([], [])]
    for handle in handles:
        handle.remove()
    assert "more" not in cell.state_dict()


def test_other_dtypes(mode):
    net = Net()
    net.register_buffer("number", Tensor([1], ms.int32))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    assert net.to(ms.float16) is net
    kinds = {name: value.dtype for name, value in net.state_dict().items()}
    assert kinds.pop("number") == ms.int32
    assert set(kinds.values()) == {ms.float16}
    assert optimizer.parameters[0].dtype == ms.float16
    assert net(X.astype(ms.float16)).dtype == ms.float16
    net.to(Tensor(1.0))
    assert net.dense.weight.dtype == ms.float32
    assert net(X).dtype == ms.float32
    assert net.to("CPU") is net.to_empty() is net
    with pytest.raises(TypeError, match="must be floating or complex"):
        net.to(dtype=ms.int32)
    with pytest.raises(TypeError, match="'dtype' must be"):
        net.to(3)


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("", X, KeyError, "not be empty"),
        ("a.b", X, KeyError, "have a dot"),
        ("dense", X, KeyError, "not be an attribute already"),
        (3, X, TypeError, "'name' must be a str"),
        ("new", 3.0, TypeError, "'tensor' must be a Tensor or None"),
    ],
)
def test_buffers_that_are_refused(name, value, error, text):
    with pytest.raises(error, match=text):
        Net().register_buffer(name, value)


def test_a_buffer_stays_one():
    with pytest.raises(TypeError, match="the attribute 'offset' is a buffer"):
        Net().offset = 3
    with pytest.raises(AttributeError, match="no buffer 'x'"):
        Net().get_buffer("x")
    with pytest.raises(AttributeError, match="is not a Cell"):
        Net().get_sub_cell("offset")


def test_what_construct_reads_for_parameters(mode):
    net = nn.SequentialCell(nn.Dense(2, 1, "ones", "ones"), nn.Dense(1, 1, "ones", "zeros"))
    assert net(X).asnumpy() == 3
    net.register_parameter_forward_hook([{"params": [net[0].bias], "hook": lambda p: p * 10}])
    assert net(X).asnumpy() == 12
    net.register_parameter_forward_hook(lambda p: p * 2)
    assert net(X).asnumpy() == 28
    gradient = ms.grad(lambda x: net(x).sum(), None, net[1].weight)(X)
    assert gradient.asnumpy() == 28
    with pytest.raises(ValueError, match="must be 'params' and 'hook'"):
        net.register_parameter_forward_hook([{"params": []}])


def test_scopes_and_names():
    net = nn.SequentialCell(nn.SequentialCell(nn.ReLU()))
    assert net.get_scope() is None
    net.generate_scope()
    assert net[0][0].get_scope() == "Default/0-SequentialCell/0-ReLU"
    half, number = net.cast_inputs((X, Tensor([1])), ms.float16)
    assert half.dtype == ms.float16
    assert number.dtype == ms.int64
    assert net.run_construct((X,), {}).shape == (1, 2)


@pytest.mark.parametrize("kind", ["PipelineCell", "GradAccumulationCell", "MicroBatchInterleaved"])
def test_parts_of_a_batch(kind, mode):
    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor([[2.0]]), name="weight")

        def construct(self, x, y):
            return ops.square(ops.matmul(x, self.weight) - y).mean()

    x, y = (Tensor(np.arange(4, dtype=np.float32).reshape(4, 1) + i) for i in range(2))
    net = Loss()
    parts = getattr(nn, kind)(net, 2)
    halves = net(x[:2], y[:2]) + net(x[2:], y[2:])
    np.testing.assert_allclose(parts(x, y).asnumpy(), halves.asnumpy(), rtol=1e-6)
    step = nn.TrainOneStepCell(parts, nn.SGD(net.trainable_params(), 0.01))
    before = net.weight.asnumpy().copy()
    step(x, y)
    assert net.weight.asnumpy() != before
    with pytest.raises(ValueError, match="a multiple of 3"):
        getattr(nn, kind)(net, 3)(x, y)


def test_gradients_without_their_scale(mode):
    grads = (Tensor([2.0, 4.0]), Tensor([6.0], ms.float16))
    plain = nn.PipelineGradReducer([Parameter(Tensor(1.0), name=n) for n in "ab"], 2.0)(grads)
    mapped = ops.HyperMap()(ops.partial(grad_scale, Tensor(2.0)), grads)
    for found in (plain, mapped):
        np.testing.assert_array_equal(found[0].asnumpy(), [1, 2])
        assert found[1].asnumpy() == 3
        assert found[1].dtype == ms.float16


def test_parameters_that_are_loaded_next():
    with nn.no_init_parameters():
        net = nn.Dense(2, 3)
    assert not net.weight.asnumpy().any()

    @nn.no_init_parameters()
    def make():
        return nn.Dense(2, 3)

    assert not make().weight.asnumpy().any()
    assert nn.Dense(2, 3).weight.asnumpy().any()
