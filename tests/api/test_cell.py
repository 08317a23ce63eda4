"""Cell: names of parameters and cells, attributes, containers, state, hooks, copies."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn


def dense(rows=1, columns=1):
    return nn.Dense(rows, columns, has_bias=False)


def names(cell):
    return [(path, param.name) for path, param in cell.parameters_and_names()]


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="foo")
        self.d = nn.Dense(2, 2)

    def construct(self, x):
        return self.d(x) * self.w


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.items = nn.CellList([dense(), dense()])
        self.chain = nn.SequentialCell([dense(), nn.ReLU()])
        self.chain.append(dense())
        self.weights = ParameterTuple(self.inner.trainable_params())

    def construct(self, x):
        return self.inner(x)


class Add(nn.Cell):
    def construct(self, x, y=1.0):
        return x + y


def test_names_follow_attributes():
    assert names(Inner()) == [("w", "foo"), ("d.weight", "d.weight"), ("d.bias", "d.bias")]
    assert names(Outer()) == [
        ("inner.w", "inner.w"),
        ("inner.d.weight", "inner.d.weight"),
        ("inner.d.bias", "inner.d.bias"),
        ("items.0.weight", "items.0.weight"),
        ("items.1.weight", "items.1.weight"),
        ("chain.0.weight", "chain.0.weight"),
        ("chain.2.weight", "chain.2.weight"),
    ]


def test_shared_cell_is_named_by_its_last_attribute():
    net = Inner()
    net.e = net.d
    assert names(net)[1:] == [("d.weight", "e.weight"), ("d.bias", "e.bias")]
    assert list(net.name_cells()) == ["d"]
    assert [path for path, _ in net.cells_and_names()] == ["", "d"]


def test_auto_prefix_off():
    class Plain(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.d = dense()

    assert names(Plain()) == [("d.weight", "weight")]


def test_lists_rename_what_they_take():
    net = Outer()
    net.items.append(dense())
    assert [name for _, name in names(net.items)] == [
        "items.0.weight",
        "items.1.weight",
        "items.2.weight",
    ]
    net.items.insert(0, dense(1, 2))
    assert net.items[0].weight.shape == (2, 1)
    assert [name for _, name in names(net.items)][-1] == "items.3.weight"
    del net.items[0]
    assert [name for _, name in names(net.items)][-1] == "items.2.weight"
    net.chain[0] = dense(3, 3)
    assert names(net.chain)[0] == ("0.weight", "chain.0.weight")
    kept = net.items[1:]
    assert [name for _, name in names(kept)] == ["items.1.weight", "items.2.weight"]
    assert len(kept) == 2 and kept[-1] is net.items[2]


def test_sequential_forms(mode):
    x = Tensor(np.array([[-1.0, 2.0]], np.float32))
    relu, tanh = nn.ReLU(), nn.Tanh()
    expected = np.tanh(np.maximum(x.asnumpy(), 0))
    forms = [
        nn.SequentialCell(relu, tanh),
        nn.SequentialCell([relu, tanh]),
        nn.SequentialCell(OrderedDict([("a", relu), ("b", tanh)])),
    ]
    for form in forms:
        np.testing.assert_allclose(form(x).asnumpy(), expected, rtol=1e-6)
    assert len(forms[0]) == 2 and forms[0][1] is tanh
    np.testing.assert_allclose(forms[0][:1](x).asnumpy(), np.maximum(x.asnumpy(), 0))


def test_cell_list_in_construct(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([nn.ReLU(), nn.Sigmoid()])
            self.named = nn.CellDict({"neg": nn.ReLU()})

        def construct(self, x):
            for block in self.blocks:
                x = block(x)
            return self.named["neg"](x) + self.blocks[0](x)

    x = np.array([-1.0, 2.0], np.float32)
    y = 2 / (1 + np.exp(-np.maximum(x, 0)))
    np.testing.assert_allclose(Net()(Tensor(x)).asnumpy(), y, rtol=1e-6)


def test_assigning_to_a_parameter():
    net = Inner()
    first = net.w
    net.w = Tensor([5.0, 6.0])
    assert net.w is first and first.asnumpy().tolist() == [5.0, 6.0]
    net.w = Parameter(Tensor([1.0]), name="bar")
    assert net.w is not first and names(net)[0] == ("w", "bar")
    net.w = None
    assert net.w is None and names(net)[0][0] == "d.weight"
    with pytest.raises(TypeError, match="'w' is a Parameter"):
        net.w = 3.0
    with pytest.raises(TypeError, match="'d' is a cell"):
        net.d = 3
    del net.d
    with pytest.raises(AttributeError, match="The 'Inner' object has no attribute 'd'"):
        net.d


def test_plain_attribute_becomes_parameter_and_cell():
    net = Inner()
    net.x = 3
    net.x = Parameter(1.0)
    assert ("x", "x") in names(net)
    net.x = dense()
    assert "x" in net.name_cells() and ("x", "x") not in names(net)


def test_insertion_refusals():
    net = Inner()
    param = Parameter(1.0)
    for call, error in [
        (lambda: net.insert_param_to_cell("x.y", param), KeyError),
        (lambda: net.insert_param_to_cell("", param), KeyError),
        (lambda: net.insert_param_to_cell(3, param), TypeError),
        (lambda: net.insert_param_to_cell("d", param), KeyError),
        (lambda: net.insert_param_to_cell("z", 3), TypeError),
        (lambda: net.insert_child_to_cell("z", 3), TypeError),
        (lambda: net.insert_child_to_cell("training", dense()), KeyError),
    ]:
        with pytest.raises(error, match="For 'Inner'"):
            call()
    net.insert_param_to_cell("extra", param)
    net.insert_child_to_cell("more", dense())
    assert param.name == "extra" and "more" in net.name_cells()


def test_missing_super_init():
    class NoInit(nn.Cell):
        def __init__(self):
            self.w = Parameter(1.0)

    with pytest.raises(AttributeError, match="super"):
        NoInit()


def test_duplicate_names_are_found():
    net = Inner()
    net.other = Parameter(1.0, name="foo")
    with pytest.raises(ValueError, match="'foo' for both 'w' and 'other'"):
        net.check_names()


def test_train_flags_and_grad():
    net = Outer()
    assert not net.training and net.get_flags() == {}
    assert net.set_train() is net
    assert net.inner.d.training and net.phase == "train"
    net.set_train(False)
    assert not net.inner.d.training and net.phase == "predict"
    net.add_flags(flash=3)
    assert net.flash == 3 and net.get_flags()["flash"] == 3
    assert net.set_grad().requires_grad and not net.inner.requires_grad
    assert [p.name for p in net.untrainable_params()] == []
    net.inner.w.requires_grad = False
    assert [p.name for p in net.untrainable_params()] == ["inner.w"]
    assert "inner.w" in net.parameters_dict()
    visited = []
    net.apply(lambda cell: visited.append(type(cell).__name__))
    assert visited[-1] == "Outer" and visited[0] == "Dense"


def test_training_is_read_at_each_call(mode):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1.0 if self.training else x - 1.0

    net, x = Net(), Tensor([1.0])
    assert net(x).asnumpy() == 0
    net.set_train()
    assert net(x).asnumpy() == 2
    net.set_train(False)
    assert net(x).asnumpy() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: Add()(),
        lambda x: Add()(x, x, x),
        lambda x: Add()(x, z=x),
    ],
)
def test_wrong_arguments_name_the_cell(call, mode):
    with pytest.raises(TypeError, match="Add"):
        call(Tensor([1.0]))


def test_type_errors_inside_construct_stay(pynative):
    class Net(nn.Cell):
        def construct(self, x):
            return x + len(3)

    with pytest.raises(TypeError, match="has no len"):
        Net()(Tensor([1.0]))


def test_no_construct(mode):
    with pytest.raises(AttributeError, match="'construct' must be defined"):
        nn.Cell()(Tensor([1.0]))


def test_forward_hooks(pynative):
    net = Add()
    seen = []

    def before(cell, inputs):
        seen.append("before")
        return (inputs[0] * 2.0,)

    def after(cell, inputs, output):
        seen.append("after")
        return output + 10.0

    handles = [net.register_forward_pre_hook(before), net.register_forward_hook(after)]
    assert net(Tensor([3.0])).asnumpy() == 17
    assert seen == ["before", "after"]
    for handle in handles:
        handle.remove()
    assert net(Tensor([3.0])).asnumpy() == 4
    with pytest.raises(TypeError, match="must be a function"):
        net.register_forward_hook(3)


def test_to_float(mode):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU())
    assert net.to_float(ms.float16) is net
    y = net(Tensor(np.ones((2, 3), np.float32)))
    assert y.dtype == ms.float16
    assert net[0].weight.dtype == ms.float32 and net[0].weight is net.trainable_params()[0]
    with pytest.raises(ValueError, match="'dst_type' must be one of"):
        net.to_float(ms.int32)


def test_deepcopy_and_pickle(pynative):
    net = Outer()
    other = copy.deepcopy(net)
    assert names(other) == names(net)
    assert other.inner.w is not net.inner.w and other.inner._params["w"] is other.inner.w
    other.inner.w.set_data(Tensor([9.0, 9.0]))
    assert net.inner.w.asnumpy().tolist() == [1.0, 2.0]
    param = pickle.loads(pickle.dumps(net.inner.w))
    assert isinstance(param, Parameter) and param.name == "inner.w"
    assert param.asnumpy().tolist() == [1.0, 2.0]


def test_repr():
    assert repr(nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())) == (
        "SequentialCell(\n"
        "  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n"
        "  (1): ReLU()\n"
        ")"
    )
    text = repr(nn.Dense(2, 3, activation="relu"))
    assert text == (
        "Dense(\n"
        "  input_channels=2, output_channels=3, has_bias=True, activation=ReLU()\n"
        "  (activation): ReLU()\n"
        ")"
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.SequentialCell(3), TypeError, "must be a Cell, a list"),
        (lambda: nn.SequentialCell([3]), TypeError, "every element must be a Cell"),
        (lambda: nn.CellList([3]), TypeError, "every element must be a Cell"),
        (lambda: nn.CellList(nn.ReLU()), TypeError, "come as a list"),
        (lambda: nn.CellList([nn.ReLU()])[1], IndexError, r"\[-1, 1\)"),
        (lambda: nn.CellList([nn.ReLU()])["a"], TypeError, "int or a slice"),
        (lambda: nn.CellList([nn.ReLU()]).insert(5, nn.ReLU()), IndexError, "'index' must be"),
        (lambda: nn.CellList([nn.ReLU()])(1), NotImplementedError, "one by one"),
        (lambda: nn.SequentialCell().append(3), TypeError, "every element must be a Cell"),
        (lambda: nn.CellDict({"a.b": nn.ReLU()}), KeyError, "no dot"),
    ],
)
def test_container_refusals(call, error, text, pynative):
    with pytest.raises(error, match=text):
        call()


def test_parameter_values():
    assert Parameter(1).dtype == ms.int32 and Parameter(1.0).dtype == ms.float32
    assert Parameter([1.0, 2.0]).dtype == ms.float32
    assert Parameter(np.ones(2, np.float64)).dtype == ms.float64
    source = Tensor([1.0, 2.0])
    param = Parameter(source, name="w")
    assert repr(param) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)"
    assert param.set_data(Tensor([3, 4])) is param
    assert param.asnumpy().tolist() == [3.0, 4.0] and source.asnumpy().tolist() == [1.0, 2.0]
    assert param.dtype == ms.float32 and param.data is param and param.init_data() is param
    before = param.value()
    param.set_data(Tensor([0.0, 0.0]))
    assert before.asnumpy().tolist() == [3.0, 4.0] and not isinstance(before, Parameter)
    other = param.clone("ones")
    assert other.name == "w" and other.asnumpy().tolist() == [1.0, 1.0]
    param.default_input = Tensor([6.0, 6.0])
    assert param.asnumpy().tolist() == [6.0, 6.0]
    param.data = Tensor([7.0, 7.0])
    assert param.clone().asnumpy().tolist() == [7.0, 7.0]


def test_parameter_tuple():
    params = ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="b")])
    clones = params.clone("m", "zeros")
    assert [p.name for p in clones] == ["m.a", "m.b"] and clones[1].asnumpy() == 0
    with pytest.raises(ValueError, match="must differ"):
        ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="a")])
    with pytest.raises(TypeError, match="must be a Parameter"):
        ParameterTuple([1])
    with pytest.raises(TypeError, match="'prefix' must be a str"):
        params.clone(3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Parameter("s"), TypeError, "'default_input' must be"),
        (lambda: Parameter(1.0, name=3), ValueError, "'name' must be a str"),
        (lambda: Parameter(1.0, name="x" * 2000), ValueError, "at most 1024"),
        (lambda: Parameter(1.0, requires_grad=1), TypeError, "'requires_grad' must be a bool"),
        (lambda: Parameter([1.0, 2.0]).set_data(Tensor([1.0])), ValueError, "shape"),
        (lambda: Parameter([1, 2]).set_data(Tensor([1.5, 2.0])), TypeError, "dtype"),
        (lambda: Parameter(1.0).set_data("x"), TypeError, "must be"),
    ],
)
def test_parameter_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_hooks_run_in_graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Add()
    net.register_forward_hook(lambda cell, inputs, output: output + 10.0)
    assert net(Tensor([3.0])).asnumpy() == 14
    ms.set_context(mode=before)


@pytest.mark.parametrize("how", ["value", "data", "set_data"])
def test_parameters_are_read_and_written_in_construct(how, mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor([1.0, 2.0]), name="p")

        def construct(self, x):
            if how == "value":
                before = self.p.value()
                ms.ops.assign(self.p, self.p + x)
                return before * 1.0
            if how == "set_data":
                self.p.set_data(self.p + x)
            return self.p.data * 1.0

    net, x = Net(), Tensor([1.0, 1.0])
    first, second = net(x).asnumpy().tolist(), net(x).asnumpy().tolist()
    net.p.set_data(Tensor([10.0, 20.0]))
    third = net(x).asnumpy().tolist()
    expected = {
        "value": ([1, 2], [2, 3], [10, 20]),
        "data": ([1, 2], [1, 2], [10, 20]),
        "set_data": ([2, 3], [3, 4], [11, 21]),
    }[how]
    assert (first, second, third) == expected
