"""MINDIR files: networks out and in again with equal numbers, files of MindSpore 2.10, what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from mindirlib import Function, Images, Texts, floats, same, through

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.train._mindir import messages


@pytest.fixture(params=["graph", "pynative"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield request.param
    ms.set_context(mode=before)


def test_round_trip_of_images(tmp_path, mode):
    net, x = Images(), floats(2, 2, 8, 8)
    again = through(net, x, path=tmp_path / "net.mindir")
    same(again(x), net(x))
    assert list(again.parameters_dict()) == list(net.parameters_dict())
    assert os.listdir(tmp_path) == ["net.mindir"]


def test_round_trip_of_texts(tmp_path, mode):
    net, x = Texts(), Tensor(np.arange(12, dtype=np.int32).reshape(3, 4) % 10)
    same(through(net, x, path=tmp_path / "net.mindir")(x), net(x), rtol=1e-6, atol=1e-7)


def test_a_suffix_and_folders_are_added(tmp_path):
    ms.export(
        nn.Dense(3, 2), floats(1, 3), file_name=str(tmp_path / "a" / "b"), file_format="MINDIR"
    )
    assert nn.GraphCell(ms.load(str(tmp_path / "a" / "b.mindir")))(floats(1, 3)).shape == (1, 2)


M, N = floats(3, 4), floats(3, 4, seed=1)
OPS = {
    "arithmetic": lambda x, y: (x + y) * 2 - x / (ops.abs(y) + 1) + 1.5,
    "one of one": lambda x, y: ops.sigmoid(ops.tanh(ops.exp(x))) + ops.silu(ops.erf(ops.sqrt(ops.square(y)))),
    "compare": lambda x, y: ops.select(ops.logical_and(x > y, x > 0), x, y),
    "casts": lambda x, y: (x.astype(ms.float16), x.astype(ms.int32), (x > y).astype(ms.bfloat16).astype(ms.float32)),
    "sums": lambda x, y: (x.sum(1), x.mean((0, 1)), x.max(0), y.min(1, keepdims=True), (x > 0).all(1), x.prod(0)),
    "places": lambda x, y: (x.argmax(1), y.argmin(0)),
    "shapes": lambda x, y: (x.reshape(2, 6), x.T, x.expand_dims(0).squeeze(0), x[:, 1:3], x[1], ops.tile(y, (2, 1))),
    "joins": lambda x, y: (ops.concat((x, y), 1), ops.stack((x, y), 1)),
    "parts": lambda x, y: (ops.split(x, 2, 1), ops.unstack(y)),
    "gathers": lambda x, y: (x[Tensor([2, 0])], ops.gather_nd(y, Tensor([[0, 1]])), ops.gather_elements(x, 1, Tensor([[1], [0], [2]]))),
    "norms": lambda x, y: (ops.softmax(x), ops.log_softmax(y), ops.layer_norm(x, (4,), y[0], y[1])),
    "activations": lambda x, y: (ops.elu(x), ops.leaky_relu(x, 0.1), ops.gelu(y), ops.gelu(y, "tanh"), ops.hardswish(x), ops.mish(x), ops.softplus(y)),
    "products": lambda x, y: (ops.matmul(x, y.T), ops.matmul(x.expand_dims(0), y.expand_dims(-1).reshape(1, 4, 3))),
    "sorted": lambda x, y: ops.topk(x, 2),
    "sums of sums": lambda x, y: (ops.cumsum(x, 1), ops.cumprod(y, 0)),
    "made": lambda x, y: x + ops.zeros((3, 4), ms.float32) + ops.ones_like(y) + ops.full_like(x, 2.5),
    "nested": lambda x, y: (x + 1, (y, [x * y, (x - y,)])),
    "input": lambda x, y: x,
    "constant": lambda x, y: (Tensor(np.float32([1, 2])), x),
    "one hot": lambda x, y: ops.one_hot(x.argmax(1), 4, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32)),
    "padded": lambda x, y: ops.pad(x, (1, 1, 0, 2)),
    "twice": lambda x, y: (x + y, x + y),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_ops(tmp_path, name, mode):
    net = Function(OPS[name])
    loose = {"rtol": 1e-5, "atol": 1e-6} if name in ("activations",) else {}
    same(through(net, M, N, path=tmp_path / "net.mindir")(M, N), net(M, N), **loose)


def test_attention(tmp_path, mode):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x, hidden = floats(2, 5, 8), Tensor(np.triu(np.ones((5, 5), bool), 1))
    again = through(
        Function(lambda x, m: layer(x, src_mask=m)), x, hidden, path=tmp_path / "net.mindir"
    )
    same(again(x, hidden), layer.set_train(False)(x, src_mask=hidden), rtol=1e-5, atol=1e-6)


def test_recurrent_layers(tmp_path):
    for kind in (nn.GRU, nn.RNN):
        net, x = kind(4, 3, batch_first=True), floats(2, 5, 4)
        net.set_train(False)
        wrapped = Function(lambda x, net=net: net(x)[0])
        same(through(wrapped, x, path=tmp_path / "net.mindir")(x), net(x)[0], rtol=1e-5, atol=1e-6)


def test_it_trains_further(tmp_path, mode):
    net, x, y = Images(), floats(2, 2, 8, 8), floats(2, 3)
    again = through(net, x, path=tmp_path / "net.mindir")

    def loss(cell):
        error = lambda x: ((cell(x)[0] - y) ** 2).mean()
        return ms.value_and_grad(error, None, list(cell.trainable_params()))(x)

    assert [p.name for p in again.trainable_params()] == [p.name for p in net.trainable_params()]
    value, gradients = loss(again)
    assert any(gradient.asnumpy().any() for gradient in gradients)
    optimizer = nn.SGD(again.trainable_params(), 0.1)
    optimizer(gradients)
    assert loss(again)[0].asnumpy() < value.asnumpy()


def test_other_values_for_parameters(tmp_path):
    again = through(nn.Dense(3, 2), floats(1, 3), path=tmp_path / "net.mindir")
    zeros = {
        "bias": Tensor(np.float32([1, 2])),
        "weight": Parameter(Tensor(np.zeros((2, 3), np.float32))),
    }
    cell = nn.GraphCell(again.graph, params_init=zeros)
    np.testing.assert_array_equal(cell(floats(1, 3)).asnumpy(), [[1, 2]])
    with pytest.raises(ValueError, match="'weigth', which is no parameter of the graph"):
        nn.GraphCell(again.graph, params_init={"weigth": zeros["weight"]})
    with pytest.raises(ValueError, match=r"'bias' must be Float32\[2\], but got Float32\[3\]"):
        nn.GraphCell(again.graph, params_init={"bias": floats(3)})
    with pytest.raises(TypeError, match="must hold Parameters or Tensors"):
        nn.GraphCell(again.graph, params_init={"bias": 3})
    with pytest.raises(TypeError, match="must be what load returned, but got int"):
        nn.GraphCell(3)


def test_inputs_must_fit(tmp_path, mode):
    again = through(nn.Dense(3, 2), floats(1, 3), path=tmp_path / "net.mindir")
    with pytest.raises(ValueError, match=r"'x' must be Float32\[1, 3\], but got Float32\[2, 3\]"):
        again(floats(2, 3))
    with pytest.raises(ValueError, match="but got Int32"):
        again(Tensor(np.zeros((1, 3), np.int32)))
    with pytest.raises(ValueError, match="the number of inputs must be 1, but got 2"):
        again(floats(1, 3), floats(1, 3))


@pytest.mark.parametrize("name", ["images", "texts", "lenet", "windows"])
def test_files_of_mindspore(golden, name, mode):
    cell = nn.GraphCell(ms.load(str(golden / f"mindspore_2_10_{name}.mindir")))
    kept = np.load(golden / f"mindspore_2_10_{name}.npz")
    found = cell(Tensor(kept["x"]))
    wanted = tuple(Tensor(kept[f"y{i}"]) for i in range(len(kept.files) - 1))
    same(found, wanted if len(wanted) > 1 else wanted[0], rtol=1e-5, atol=1e-6)
    assert all("." in p.name and ":" not in p.name for p in cell.get_parameters())


class Counts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0, ms.int32), name="count")

    def construct(self, x):
        self.count += 1
        return x


REFUSED = {
    "updates": (Counts, "must change no Parameter, but changes 'count'"),
    "a dict": (lambda: Function(lambda x: {"x": x}), "must return a tensor, or tuples or lists of tensors, but returns dict"),
    "random": (lambda: nn.Dropout(p=0.5).set_train(), "the op '.*' has no counterpart in MINDIR files"),
    "an op": (lambda: Function(lambda x: ops.cholesky(ops.matmul(x, x.T))), "the op 'Cholesky' has no counterpart"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(tmp_path, name):
    make, says = REFUSED[name]
    with pytest.raises(ValueError, match=says):
        ms.export(make(), floats(2, 2), file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not os.listdir(tmp_path)


def test_a_refusal_names_the_line(tmp_path):
    with pytest.raises(ValueError, match=r"test_mindir\.py:") as caught:
        ms.export(
            Function(lambda x: ops.cholesky(x)),
            floats(2, 2),
            file_name=str(tmp_path / "net"),
            file_format="MINDIR",
        )
    assert "For 'export'" in str(caught.value)


def test_training_batch_norm_is_refused_with_a_hint(tmp_path):
    with pytest.raises(
        ValueError, match=r"but changes .*moving_mean.* Call net.set_train\(False\) first"
    ):
        ms.export(
            Images().set_train(),
            floats(2, 2, 8, 8),
            file_name=str(tmp_path / "n"),
            file_format="MINDIR",
        )


def test_arguments(tmp_path):
    net, x, name = nn.Dense(3, 2), floats(1, 3), str(tmp_path / "net")
    for file_format in ("AIR", "ONNX"):
        with pytest.raises(NotImplementedError, match=f"'{file_format}' is not available"):
            ms.export(net, x, file_name=name, file_format=file_format)
    with pytest.raises(ValueError, match="'file_format' must be one of"):
        ms.export(net, x, file_name=name, file_format="PB")
    with pytest.raises(NotImplementedError, match="'enc_key' is not available"):
        ms.export(net, x, file_name=name, file_format="MINDIR", enc_key=b"0" * 16)
    with pytest.raises(TypeError, match="there is no argument 'colour'"):
        ms.export(net, x, file_name=name, file_format="MINDIR", colour=1)
    with pytest.raises(TypeError, match="'net' must be a Cell, but got OpFunction"):
        ms.export(ops.relu, x, file_name=name, file_format="MINDIR")
    with pytest.raises(TypeError, match="the inputs must be Tensors, but got int"):
        ms.export(net, 3, file_name=name, file_format="MINDIR")
    with pytest.raises(NotImplementedError, match="'dec_key' is not available"):
        ms.load(name + ".mindir", dec_key=b"0" * 16)
    with pytest.raises(ValueError, match=r"must end in '\.mindir'"):
        ms.load(name)
    with pytest.raises(FileNotFoundError):
        ms.load(name + ".mindir")
    assert not os.listdir(tmp_path)


def test_numbers_that_no_float32_holds(tmp_path):
    x = Tensor(np.array([1 / 3, float(np.float32(1 / 3)), 0.5, -(1 / 3)]))
    for name, net in (
        ("shrink", nn.HShrink(1 / 3)),
        ("times", Function(lambda x: x * 0.1234567890123)),
    ):
        again = through(net, x, path=tmp_path / f"{name}.mindir")
        assert again(x).asnumpy().tobytes() == net(x).asnumpy().tobytes()


def test_two_numbers_that_differ_are_refused():
    assert messages.value_of(messages.attribute("a", 1 / 3)) == 1 / 3
    assert messages.value_of(messages.attribute("a", (1 / 3, 0.5))) == (1 / 3, 0.5)
    with pytest.raises(ValueError, match=r"a value is 0.5 and, as a Float64, 0.25"):
        messages.value_of({"type": messages.FLOAT, "f": 0.5, "d": 0.25})
