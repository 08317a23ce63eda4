"""Layers against PyTorch in both modes, and the refusals of their constructors."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn

F = torch.nn.functional


def data(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def check(layer, expected, *inputs, tol=2e-5):
    """The layer's output equals what PyTorch gave."""
    output = layer(*(Tensor(x) if isinstance(x, np.ndarray) else x for x in inputs))
    np.testing.assert_allclose(output.asnumpy(), expected.detach().numpy(), rtol=tol, atol=tol)


def weights(layer):
    """The parameters as torch tensors."""
    return {name: torch.tensor(p.asnumpy()) for name, p in layer.parameters_dict().items()}


@pytest.mark.parametrize("shape", [(2, 4), (2, 5, 4), (4,)])
def test_dense(shape, mode):
    layer, x = nn.Dense(4, 3), data(*shape)
    w = weights(layer)
    check(layer, F.linear(torch.tensor(x), w["weight"], w["bias"]), x)
    layer = nn.Dense(4, 3, has_bias=False, activation="relu")
    check(layer, F.relu(F.linear(torch.tensor(x), weights(layer)["weight"])), x)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
def test_conv2d(group, stride, dilation, mode):
    x = data(2, 4, 9, 8)
    layer = nn.Conv2d(4, 6, 3, stride, "pad", 1, dilation, group, has_bias=True)
    w = weights(layer)
    expected = F.conv2d(torch.tensor(x), w["weight"], w["bias"], stride, 1, dilation, group)
    check(layer, expected, x)
    layer = nn.Conv2d(4, 6, (3, 2), stride, "valid", 0, dilation, group)
    expected = F.conv2d(torch.tensor(x), weights(layer)["weight"], None, stride, 0, dilation, group)
    check(layer, expected, x)


def test_conv2d_same_pads_more_at_the_end(mode):
    x = data(1, 2, 7, 8)
    layer = nn.Conv2d(2, 3, 3, 2, "same")
    padded = F.pad(torch.tensor(x), (0, 1, 1, 1))
    check(layer, F.conv2d(padded, weights(layer)["weight"], stride=2), x)


def test_conv2d_one_sided_padding(mode):
    x = data(1, 2, 5, 6)
    layer = nn.Conv2d(2, 3, 3, 1, "pad", (1, 2, 0, 3))
    padded = F.pad(torch.tensor(x), (0, 3, 1, 2))
    check(layer, F.conv2d(padded, weights(layer)["weight"]), x)


def test_conv1d(mode):
    x = data(2, 4, 9)
    layer = nn.Conv1d(4, 6, 3, 2, "pad", 1, has_bias=True)
    w = weights(layer)
    assert w["weight"].shape == (6, 4, 1, 3)
    check(layer, F.conv1d(torch.tensor(x), w["weight"][:, :, 0], w["bias"], 2, 1), x)


@pytest.mark.parametrize("extra", [0, 1])
def test_conv2d_transpose(extra, mode):
    x = data(2, 4, 5, 6)
    layer = nn.Conv2dTranspose(4, 6, 3, 2, "pad", 1, extra, group=2, has_bias=True)
    w = weights(layer)
    expected = F.conv_transpose2d(torch.tensor(x), w["weight"], w["bias"], 2, 1, extra, 2)
    check(layer, expected, x)
    assert nn.Conv2dTranspose(4, 6, 3, 2)(Tensor(x)).shape == (2, 6, 10, 12)
    assert nn.Conv2dTranspose(4, 6, 5, 2, "valid")(Tensor(x)).shape == (2, 6, 13, 15)


def test_conv1d_transpose(mode):
    x = data(2, 4, 9)
    layer = nn.Conv1dTranspose(4, 6, 3, 2, "pad", 1)
    w = weights(layer)["weight"][:, :, 0]
    check(layer, F.conv_transpose1d(torch.tensor(x), w, None, 2, 1), x)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (nn.BatchNorm2d, (3, 4, 5, 6)),
        (nn.BatchNorm1d, (5, 4)),
        (nn.BatchNorm1d, (5, 4, 3)),
        (nn.BatchNorm3d, (2, 4, 2, 3, 3)),
    ],
)
def test_batch_norm(make, shape, mode):
    layer, x = make(4, momentum=0.7), data(*shape)
    mean, var = torch.zeros(4), torch.ones(4)
    layer.set_train()
    n = x.size // 4
    for _ in range(2):
        old = var.clone()
        expected = F.batch_norm(torch.tensor(x), mean, var, training=True, momentum=0.3)
        check(layer, expected, x)
        assert old is not var
    params = {name.split(".")[-1]: p.asnumpy() for name, p in layer.parameters_and_names()}
    np.testing.assert_allclose(params["moving_mean"], mean.numpy(), rtol=1e-4, atol=1e-5)
    # The unbiased variance is what both keep.
    np.testing.assert_allclose(params["moving_variance"], var.numpy(), rtol=1e-4 + 0 / n, atol=1e-5)
    layer.set_train(False)
    check(layer, F.batch_norm(torch.tensor(x), mean, var), x, tol=1e-4)


def test_batch_norm_statistics_by_choice(mode):
    x = data(3, 4, 5, 5)
    layer = nn.BatchNorm2d(4, use_batch_statistics=True)
    check(layer, F.batch_norm(torch.tensor(x), None, None, training=True), x)
    layer = nn.BatchNorm2d(4, use_batch_statistics=False).set_train()
    check(layer, F.batch_norm(torch.tensor(x), torch.zeros(4), torch.ones(4)), x)


def test_layer_norm(mode):
    x = data(2, 3, 4, 5)
    layer = nn.LayerNorm((5,), epsilon=1e-5)
    check(layer, F.layer_norm(torch.tensor(x), (5,)), x)
    layer = nn.LayerNorm((4, 5), 2, 2, epsilon=1e-5)
    check(layer, F.layer_norm(torch.tensor(x), (4, 5)), x)


def test_group_and_instance_norm(mode):
    x = data(2, 4, 5, 6)
    check(nn.GroupNorm(2, 4), F.group_norm(torch.tensor(x), 2), x)
    check(nn.InstanceNorm2d(4), F.instance_norm(torch.tensor(x)), x)
    check(nn.InstanceNorm1d(4), F.instance_norm(torch.tensor(x[..., 0])), x[..., 0])


def test_dropout(mode):
    x = Tensor(np.ones((100, 100), np.float32))
    layer = nn.Dropout(p=0.3)
    assert layer(x).asnumpy().sum() == 10000
    layer.set_train()
    y = layer(x).asnumpy()
    kept = y != 0
    assert abs(kept.mean() - 0.7) < 0.03
    np.testing.assert_allclose(y[kept], 1 / 0.7, rtol=1e-6)
    old = nn.Dropout(0.9)
    old.set_train()
    assert abs((old(x).asnumpy() != 0).mean() - 0.9) < 0.03


ACTIVATIONS = [
    (nn.ReLU(), F.relu),
    (nn.ReLU6(), F.relu6),
    (nn.LeakyReLU(0.1), lambda x: F.leaky_relu(x, 0.1)),
    (nn.LeakyReLU(2.0), lambda x: F.leaky_relu(x, 2.0)),
    (nn.Sigmoid(), torch.sigmoid),
    (nn.Tanh(), torch.tanh),
    (nn.GELU(), lambda x: F.gelu(x, approximate="tanh")),
    (nn.GELU(False), F.gelu),
    (nn.HSwish(), F.hardswish),
    (nn.HSigmoid(), F.hardsigmoid),
    (nn.SiLU(), F.silu),
    (nn.ELU(), F.elu),
    (nn.ELU(2.0), lambda x: F.elu(x, 2.0)),
    (nn.SeLU(), F.selu),
    (nn.Softmax(), lambda x: F.softmax(x, -1)),
    (nn.Softmax(1), lambda x: F.softmax(x, 1)),
    (nn.LogSoftmax(), lambda x: F.log_softmax(x, -1)),
    (nn.Softplus(), F.softplus),
    (nn.LogSigmoid(), F.logsigmoid),
    (nn.Mish(), F.mish),
    (nn.Softsign(), F.softsign),
    (nn.Hardtanh(-0.5, 0.7), lambda x: F.hardtanh(x, -0.5, 0.7)),
    (nn.PReLU(4, [0.1, 0.2, 0.3, 0.4]), lambda x: F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4]))),
]


@pytest.mark.parametrize(
    ("layer", "reference"), ACTIVATIONS, ids=lambda item: getattr(item, "cls_name", "")
)
def test_activations(layer, reference, mode):
    x = data(2, 4, 3, 5) * 3
    check(layer, reference(torch.tensor(x)), x)


def test_get_activation():
    assert isinstance(nn.get_activation("relu"), nn.ReLU)
    assert nn.get_activation(None) is None
    with pytest.raises(KeyError, match="'name' must be one of"):
        nn.get_activation("nope")


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad"), [(3, 2, 1), ((3, 2), (2, 1), (1, 0)), (2, 2, 0)]
)
def test_max_pool_padded(kernel, stride, pad, ceil, mode):
    x = data(2, 3, 9, 8)
    layer = nn.MaxPool2d(kernel, stride, "pad", pad, ceil_mode=ceil)
    check(layer, F.max_pool2d(torch.tensor(x), kernel, stride, pad, ceil_mode=ceil), x)


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("include", [False, True])
def test_avg_pool_padded(include, ceil, mode):
    x = data(2, 3, 9, 8)
    layer = nn.AvgPool2d(3, 2, "pad", 1, ceil, include)
    check(layer, F.avg_pool2d(torch.tensor(x), 3, 2, 1, ceil, include), x)


def test_pools(mode):
    x = data(2, 3, 7, 8)
    t = torch.tensor(x)
    check(nn.MaxPool2d(2), F.max_pool2d(t, 2, 1), x)
    check(nn.AvgPool2d(3, 2), F.avg_pool2d(t, 3, 2), x)
    check(nn.MaxPool2d(3, 2, "same"), F.max_pool2d(F.pad(t, (0, 1, 1, 1), value=-9), 3, 2), x)
    check(
        nn.AvgPool2d(3, 2, "pad", 1, divisor_override=5),
        F.avg_pool2d(t, 3, 2, 1, divisor_override=5),
        x,
    )
    check(nn.MaxPool2d(2, 2), F.max_pool2d(t[0], 2, 2), x[0])
    check(nn.MaxPool1d(3, 2), F.max_pool1d(t[:, :, 0], 3, 2), x[:, :, 0])
    check(nn.AvgPool1d(3, 2), F.avg_pool1d(t[:, :, 0], 3, 2), x[:, :, 0])
    for size in (1, 3, (2, None), (4, 5), (7, 8)):
        check(nn.AdaptiveAvgPool2d(size), F.adaptive_avg_pool2d(t, size), x)


def test_shapes_and_tables(mode):
    x = data(2, 3, 4, 5)
    t = torch.tensor(x)
    check(nn.Flatten(), t.flatten(1), x)
    check(nn.Flatten(0, 2), t.flatten(0, 2), x)
    check(nn.Identity(3, a=4), t, x)
    check(nn.Pad(((0, 0), (1, 2), (0, 0), (3, 0))), F.pad(t, (3, 0, 0, 0, 1, 2)), x)
    check(nn.Pad(((0, 0), (0, 0), (1, 1), (2, 2)), "REFLECT"), F.pad(t, (2, 2, 1, 1), "reflect"), x)
    check(nn.Norm(1, True), t.norm(dim=1, keepdim=True), x)
    check(nn.ClipByNorm(), t * 2 / t.norm(), x, Tensor(2.0))
    check(nn.MatMul(True), t[0, 0].T @ t[0, 0], x[0, 0], x[0, 0])
    ids = Tensor([[1, 2], [4, 0]], ms.int32)
    for one_hot in (False, True):
        table = nn.Embedding(5, 3, one_hot, padding_idx=2)
        rows = table.embedding_table.asnumpy()
        assert (rows[2] == 0).all()
        np.testing.assert_allclose(table(ids).asnumpy(), rows[ids.asnumpy()], rtol=1e-6)
    assert nn.OneHot(depth=3)(Tensor([2, 0], ms.int32)).asnumpy().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert nn.Range(1, 8, 3)().asnumpy().tolist() == [1, 4, 7]


def torch_rnn(layer, kind, *args, **kwargs):
    """The PyTorch network with the layer's weights."""
    net = getattr(torch.nn, kind)(*args, **kwargs)
    net.load_state_dict(weights(layer))
    return net


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_rnn_steps(kind, mode):
    layer = getattr(nn, kind + "Cell")(3, 4)
    reference = torch_rnn(layer, kind + "Cell", 3, 4)
    x, h, c = data(2, 3), data(2, 4), data(4, 2).T.copy()
    if kind == "LSTM":
        outputs = layer(Tensor(x), (Tensor(h), Tensor(c)))
        expected = reference(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    else:
        outputs = [layer(Tensor(x), Tensor(h))]
        expected = [reference(torch.tensor(x), torch.tensor(h))]
    for output, wanted in zip(outputs, expected):
        np.testing.assert_allclose(output.asnumpy(), wanted.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_rnn_sequences(kind, mode):
    layer = getattr(nn, kind)(3, 4, 2, bidirectional=True, batch_first=True)
    reference = torch_rnn(layer, kind, 3, 4, 2, bidirectional=True, batch_first=True)
    x = data(2, 5, 3)
    output, state = layer(Tensor(x))
    wanted, last = reference(torch.tensor(x))
    np.testing.assert_allclose(output.asnumpy(), wanted.detach().numpy(), atol=1e-5)
    pairs = zip(state, last) if kind == "LSTM" else [(state, last)]
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours.asnumpy(), theirs.detach().numpy(), atol=1e-5)


def test_lstm_lengths(mode):
    layer = nn.LSTM(3, 4, bidirectional=True)
    reference = torch_rnn(layer, "LSTM", 3, 4, bidirectional=True)
    x, lengths = data(5, 2, 3), [5, 3]
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.tensor(x), lengths)
    wanted, (h, _) = reference(packed)
    wanted, _ = torch.nn.utils.rnn.pad_packed_sequence(wanted)
    output, (h_n, _) = layer(Tensor(x), None, Tensor(lengths, ms.int32))
    np.testing.assert_allclose(output.asnumpy(), wanted.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(h_n.asnumpy(), h.detach().numpy(), atol=1e-5)


def test_combined(mode):
    x = data(2, 4, 6, 6)
    layer = nn.Conv2dBnAct(4, 3, 3, has_bn=True, activation="relu")
    assert [p.name for p in layer.trainable_params()] == [
        "conv.weight",
        "batchnorm.gamma",
        "batchnorm.beta",
    ]
    conv = F.conv2d(torch.tensor(x), weights(layer)["conv.weight"], padding=1)
    check(layer, F.relu(conv / (1 + 1e-5) ** 0.5), x)
    layer = nn.DenseBnAct(4, 3, activation="tanh")
    w = weights(layer)
    check(
        layer,
        torch.tanh(F.linear(torch.tensor(x[0, 0, :3, :4]), w["dense.weight"])),
        x[0, 0, :3, :4],
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Conv2d(0, 1, 3), ValueError, "'in_channels' must be a positive int"),
        (lambda: nn.Conv2d(True, 1, 3), TypeError, "'in_channels' must be an int"),
        (lambda: nn.Conv2d(3, 4, 0), ValueError, "'kernel_size'"),
        (lambda: nn.Conv2d(3, 4, "a"), TypeError, "'kernel_size'"),
        (lambda: nn.Conv2d(3, 4, (3, 3, 3)), ValueError, "tuple of 2 ints"),
        (lambda: nn.Conv2d(3, 4, 3, stride=0), ValueError, "'stride'"),
        (lambda: nn.Conv2d(3, 4, 3, pad_mode="foo"), ValueError, "'pad_mode' must be one of"),
        (lambda: nn.Conv2d(3, 4, 3, padding=1), ValueError, "'padding' must be 0 unless"),
        (lambda: nn.Conv2d(3, 4, 3, pad_mode="pad", padding=-1), ValueError, "'padding'"),
        (lambda: nn.Conv2d(3, 4, 3, group=2), ValueError, "divisible by 'group'"),
        (lambda: nn.Conv2d(3, 4, 3, dilation=0), ValueError, "'dilation'"),
        (lambda: nn.Conv2d(3, 4, 3, has_bias=1), TypeError, "'has_bias' must be a bool"),
        (lambda: nn.Conv2d(3, 4, 3, data_format="x"), ValueError, "'data_format'"),
        (lambda: nn.Conv2dTranspose(3, 4, 3, output_padding=1), ValueError, "'output_padding'"),
        (lambda: nn.Dense(0, 1), ValueError, "'in_channels' must be a positive int"),
        (lambda: nn.Dense(2, 3, has_bias=3), TypeError, "'has_bias' must be a bool"),
        (lambda: nn.Dense(2, 3, Tensor(np.ones((2, 3)))), ValueError, "'weight_init'"),
        (lambda: nn.Dense(2, 3, activation=3), TypeError, "'activation' must be"),
        (lambda: nn.Dense(2, 3, activation="foo"), KeyError, "'name' must be one of"),
        (lambda: nn.BatchNorm2d(0), ValueError, "'num_features'"),
        (lambda: nn.BatchNorm2d(2, momentum=2.0), ValueError, r"\[0, 1\]"),
        (lambda: nn.BatchNorm2d(2, use_batch_statistics=1), TypeError, "bool or None"),
        (lambda: nn.BatchNorm2d(2)(Tensor(data(2, 2))), ValueError, "must have 4 dimensions"),
        (lambda: nn.LayerNorm(3), TypeError, "'normalized_shape'"),
        (lambda: nn.LayerNorm(()), ValueError, "must not be empty"),
        (lambda: nn.GroupNorm(3, 4), ValueError, "divisible by 'num_groups'"),
        (lambda: nn.Dropout(p=1.0), ValueError, r"\[0, 1\)"),
        (lambda: nn.Dropout(keep_prob=0.0), ValueError, r"\(0, 1\]"),
        (lambda: nn.Dropout(keep_prob=1), TypeError, "'keep_prob' must be a float"),
        (lambda: nn.Dropout(p="a"), TypeError, "'p' must be"),
        (lambda: nn.MaxPool2d(0), ValueError, "'kernel_size'"),
        (lambda: nn.MaxPool2d(2.0), TypeError, "'kernel_size'"),
        (lambda: nn.MaxPool2d(2, 0), ValueError, "'stride'"),
        (lambda: nn.MaxPool2d(2, 2, "foo"), ValueError, "'pad_mode' must be one of"),
        (lambda: nn.MaxPool2d(2, 2, padding=1), ValueError, "unless 'pad_mode' is 'pad'"),
        (lambda: nn.MaxPool2d(2, 2, "pad", 2), ValueError, "at most half"),
        (lambda: nn.Embedding(0, 3), ValueError, "'vocab_size'"),
        (lambda: nn.Embedding(3, 3, padding_idx=5), ValueError, "'padding_idx'"),
        (lambda: nn.PReLU(0), ValueError, "'channel'"),
        (lambda: nn.PReLU(2, "a"), TypeError, "'w' must be"),
        (lambda: nn.PReLU(2, [0.1]), ValueError, "the shape of 'w'"),
        (lambda: nn.Softmax("a"), TypeError, "'axis' must be"),
        (lambda: nn.Pad([[1, 1]]), TypeError, "'paddings' must be tuple"),
        (lambda: nn.Pad(((1, 1),), "FOO"), ValueError, "'mode' must be one of"),
        (lambda: nn.Flatten(2, 1)(Tensor(data(2, 3, 4))), ValueError, "must not come after"),
        (lambda: nn.Flatten(1)(Tensor(data(3))), ValueError, "dimensions of the input"),
        (
            lambda: nn.LSTMCell(3, 4)(Tensor(data(2, 5)), (Tensor(data(2, 4)),) * 2),
            ValueError,
            "'input_size' 3",
        ),
    ],
)
def test_refusals(call, error, text, pynative):
    with pytest.raises(error, match=text):
        call()


def test_default_parameters():
    conv = nn.Conv2d(4, 6, 3, has_bias=True)
    assert np.abs(conv.weight.asnumpy()).max() <= 1 / 6 + 1e-6  # sqrt(1 / fan_in), fan_in = 36
    assert np.abs(conv.bias.asnumpy()).max() <= 1 / 6 + 1e-6
    norm = nn.BatchNorm2d(3)
    assert [(p.name, p.requires_grad) for p in norm.get_parameters()] == [
        ("mean", False),
        ("variance", False),
        ("gamma", True),
        ("beta", True),
    ]
    assert [p.name for p in nn.LSTM(2, 3, 2, bidirectional=True).get_parameters()][:4] == [
        "weight_ih_l0",
        "weight_ih_l0_reverse",
        "weight_ih_l1",
        "weight_ih_l1_reverse",
    ]


@pytest.mark.parametrize("mode", ["same", "valid"])
def test_means_of_windows_without_padding(mode):
    """What MindSpore 2.10 gives: a divisor counts with every pad_mode, what 'same' adds in volumes alone."""
    x = Tensor(np.arange(288, dtype=np.float32).reshape(1, 2, 4, 6, 6))
    plain = nn.AvgPool3d(3, 2, pad_mode=mode, count_include_pad=False)(x).asnumpy()
    sums = nn.AvgPool3d(3, 2, pad_mode=mode, divisor_override=1)(x).asnumpy()
    whole = nn.AvgPool3d(3, 2, pad_mode=mode)(x).asnumpy()
    np.testing.assert_allclose(whole, sums / 27, rtol=1e-6)
    ones = nn.AvgPool3d(3, 2, pad_mode=mode, divisor_override=1)(Tensor(np.ones_like(x.asnumpy())))
    np.testing.assert_allclose(plain, sums / ones.asnumpy(), rtol=1e-6)
    images = x[0]
    means = nn.AvgPool2d(3, 2, pad_mode=mode)(images).asnumpy()
    same = nn.AvgPool2d(3, 2, pad_mode=mode, count_include_pad=False)(images).asnumpy()
    np.testing.assert_array_equal(means, same)
    sums = nn.AvgPool2d(3, 2, pad_mode=mode, divisor_override=1)(images).asnumpy()
    np.testing.assert_allclose(means[:, :, 0, 0], sums[:, :, 0, 0] / 9, rtol=1e-6)
    divided = nn.AvgPool2d(3, 2, pad_mode=mode, divisor_override=5)(images).asnumpy()
    np.testing.assert_allclose(divided, sums / 5, rtol=1e-6)
