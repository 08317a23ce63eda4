"""Matrix products with bias and activation as one launch, and packed weights in inference."""

import numpy as np
import pytest
from graph_text import final_text

import mindspore
from mindspore import Parameter, Tensor, _core, context, nn, ops
from mindspore import dtype as mstype

pytestmark = pytest.mark.fast_stage


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


class Layers(nn.Cell):
    """Two dense layers, the first with an activation."""

    def __init__(self, activation, width=128):
        super().__init__()
        self.first = nn.Dense(96, width, activation=activation)
        self.second = nn.Dense(width, 112)
        for p in self.get_parameters():
            if p.name.endswith("bias"):
                p.set_data(Tensor(np.linspace(-1, 1, p.shape[0], dtype=np.float32)))

    def construct(self, x):
        return self.second(self.first(x))


def images(*shape):
    return Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


def plain(net, *inputs):
    """The result without the fast stage."""
    context.set_context(enable_graph_kernel=False)
    try:
        return net(*inputs).asnumpy()
    finally:
        context.set_context(enable_graph_kernel=True)


ACTIVATIONS = ["relu", "relu6", "sigmoid", "tanh", "silu", "hswish"]
ACTIVATIONS += [nn.GELU(), nn.GELU(approximate=False)]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
@pytest.mark.parametrize("shape", [(20, 96), (200, 96), (3, 70, 96)])
def test_bias_and_activation_join_the_product(activation, shape):
    net = Layers(activation).set_train(False)
    x = images(*shape)
    text = final_text(lambda: net(x))
    assert text.count("MatMulBias(") == 2 and "Add(" not in text and "Fused" not in text
    np.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=2e-5, atol=2e-5)


@pytest.mark.host_device
def test_weights_of_few_rows_are_packed_and_kept_true():
    net = Layers("relu").set_train(False)
    x = images(16, 96)
    assert "y_shape=[128, 96]" in final_text(lambda: net(x))
    assert "y_shape" not in final_text(lambda: net(images(300, 96)))
    weight = net.first.weight
    for write in (
        lambda: weight.set_data(Tensor(weight.asnumpy() * 2)),
        lambda: ops.assign(weight, Tensor(weight.asnumpy() + 1)),
        lambda: weight.asnumpy().fill(0.25),
    ):
        before = net(x).asnumpy()
        write()
        after = net(x).asnumpy()
        assert np.abs(after - before).max() > 1e-3
        np.testing.assert_allclose(after, plain(net, x), rtol=2e-5, atol=2e-4)


def test_products_without_bias_are_packed():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(images(96, 128), name="w")

        def construct(self, x):
            return ops.matmul(x, self.w)

    net, x = Net(), images(16, 96)
    assert "MatMulPacked(" in final_text(lambda: net(x))
    np.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=2e-5, atol=2e-5)


def test_training_takes_bias_and_relu_and_changes_no_bits():
    def losses():
        mindspore.set_seed(2)
        net = Layers("relu")
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
        ).set_train()
        data = images(48, 96), images(48, 112)
        return step, data

    step, data = losses()
    text = final_text(lambda: step(*data))
    assert text.count("MatMulBias(") == 1 and 'activation="relu"' in text
    assert "y_shape" not in text
    joined = [float(step(*data)) for _ in range(4)]
    context.set_context(enable_graph_kernel=False)
    step, data = losses()
    step(*data)
    np.testing.assert_allclose(joined, [float(step(*data)) for _ in range(4)], rtol=1e-6)


def test_a_bias_of_rows_stays_an_addition():
    net = nn.Dense(96, 96, has_bias=False)
    rows = images(96)

    def run(x):
        return net(x) + rows.reshape(96, 1)

    run = mindspore.jit(run)
    x = images(96, 96)
    assert "MatMulBias" not in final_text(lambda: run(x))
    want = x.asnumpy() @ net.weight.asnumpy().T + rows.asnumpy()[:, None]
    np.testing.assert_allclose(run(x).asnumpy(), want, rtol=1e-4, atol=1e-4)


class Images(nn.Cell):
    """Convolutions with normalisation, bias and a shortcut, and a dense layer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(16, 32, 3), nn.Conv2d(32, 32, 1, has_bias=True)
        self.norm, self.relu, self.dense = nn.BatchNorm2d(32), nn.ReLU(), nn.Dense(32, 64)
        self.norm.gamma.set_data(images(32))
        self.norm.moving_mean.set_data(images(32))

    def construct(self, x):
        y = self.relu(self.norm(self.first(x)))
        return self.dense(self.relu(self.second(y) + y).mean((2, 3)))


class Block(nn.Cell):
    """A convolution with bias, what is given each channel after it, a shortcut and an activation."""

    def __init__(self, step, activation, group):
        super().__init__()
        self.conv = nn.Conv2d(16, 16, 3, has_bias=True, group=group, bias_init="normal")
        self.norm = nn.BatchNorm2d(16)
        for p in (self.norm.gamma, self.norm.beta, self.norm.moving_mean):
            p.set_data(images(16) * 0.5)
        self.norm.moving_variance.set_data(ops.abs(images(16)) + 0.5)
        self.scale = Parameter(images(16), name="scale")
        self.step, self.activation = step, nn.get_activation(activation)

    def construct(self, x):
        y = self.step(self, self.conv(x))
        return self.activation(y + x)


STEPS = {
    "norm": lambda net, y: net.norm(y),
    "two norms": lambda net, y: net.norm(net.norm(y)),
    "half": lambda net, y: net.norm(y * 0.5),
    "frozen": lambda net, y: (
        y * net.scale.reshape(1, -1, 1, 1) + net.norm.beta.reshape(1, 16, 1, 1)
    ),
    "norm and scale": lambda net, y: net.norm(y) * net.scale.reshape(16, 1, 1),
}


@pytest.mark.parametrize("group", [1, 16])
@pytest.mark.parametrize("activation", ["relu", "relu6", "hswish", "sigmoid"])
@pytest.mark.parametrize("step", STEPS)
def test_what_each_channel_is_given_folds_into_a_convolution(step, activation, group):
    net = Block(STEPS[step], activation, group).set_train(False)
    x = images(2, 16, 9, 7)
    text = final_text(lambda: net(x))
    joined = activation != "sigmoid"
    assert text.count("Conv2DBiasAdd(") == 1 and (f'activation="{activation}"' in text) == joined
    assert not any(op in text for op in ("BatchNorm", "Fused", "Mul(", " Add("))
    np.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=2e-5, atol=2e-5)
    net.conv.bias.set_data(net.conv.bias + 1)
    net.scale.set_data(net.scale * 2)
    np.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=2e-5, atol=4e-5)


def test_what_differs_between_pixels_or_calls_does_not_fold():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(16, 16, 3, has_bias=True)

        def construct(self, x, scale):
            return self.conv(x) * scale

    net, x = Net().set_train(False), images(2, 16, 9, 7)
    for scale in (images(16, 1, 1), images(1, 1, 9, 7)):
        text = final_text(lambda scale=scale: net(x, scale))
        assert "Conv2DBias(" in text and "Mul(" in text
        np.testing.assert_allclose(net(x, scale).asnumpy(), plain(net, x, scale), 2e-5, 2e-5)


def test_bfloat16_networks_fold_and_pack():
    net = Images().set_train(False)
    x = images(80, 16, 6, 6)
    want = net(x).asnumpy()
    net.to_float(mstype.bfloat16)
    text = final_text(lambda: net(x))
    if "Conv2DBias" in text:  # the processor computes with BFloat16
        assert text.count("Conv2DBias") == 2 and "MatMulPacked(" in text
        assert "BatchNorm" not in text and "Cast(" in text
    for _ in range(2):
        got = net(x).astype(mstype.float32).asnumpy()
        assert np.abs(got - want).max() < 3e-2 * np.abs(want).max()
        net.second.bias.set_data(net.second.bias + 1)
        context.set_context(enable_graph_kernel=False)
        want = net(x).astype(mstype.float32).asnumpy()
        context.set_context(enable_graph_kernel=True)


@pytest.mark.parametrize("dtype", [mstype.bfloat16, mstype.float16])
def test_cast_networks_keep_their_cast_weights(dtype):
    net = Layers("relu").set_train(False)
    x = images(160, 96)
    want = net(x).asnumpy()
    net.to_float(dtype)
    text = final_text(lambda: net(x))
    assert text.count("Cast(") <= 1  # of x, unless the addition takes it
    got = net(x).astype(mstype.float32).asnumpy()
    close = 3e-2 if dtype == mstype.bfloat16 else 4e-3
    assert np.abs(got - want).max() < close * np.abs(want).max()
    net.first.bias.set_data(net.first.bias + 1)
    changed = net(x).astype(mstype.float32).asnumpy()
    assert np.abs(changed - got).max() > 10 * close


@pytest.mark.host_device
def test_reading_results_packs_no_weight_again():
    net = Layers("relu").set_train(False)
    x = images(16, 96)
    for _ in range(3):
        net(x).asnumpy()
    _core.reset_profile()
    _core.set_profile(True)
    try:
        for _ in range(3):
            net(x).asnumpy()
        ran = {row[0] for row in _core.profile_rows()}
    finally:
        _core.set_profile(False)
    assert "MatMulBias" in ran and not {name for name in ran if name.startswith("Pack")}
