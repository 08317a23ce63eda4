"""Whole small programs in the spelling of the first releases, and the same in that of 2.x.

Every program trains for a few steps in both modes; its loss falls, and both modes agree.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore
import mindspore.common.dtype as mstype
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import mindspore.ops.operations as P
from mindspore import Parameter, ParameterTuple, Tensor, context, ms_function, ops
from mindspore.common.initializer import Normal, TruncatedNormal, initializer
from mindspore.nn.learning_rate_schedule import LearningRateSchedule
from mindspore.train.callback import (
    Callback,
    CheckpointConfig,
    LossMonitor,
    ModelCheckpoint,
    TimeMonitor,
)
from mindspore.train.model import Model
from mindspore.train.serialization import load_checkpoint, load_param_into_net


# ---- the data of all programs: which of four corners is bright? ----
def corners(count: int = 64):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, count)
    images = rng.standard_normal((count, 1, 8, 8)) * 0.3
    for image, label in zip(images, labels):
        row, column = 4 * (label // 2), 4 * (label % 2)
        image[0, row : row + 4, column : column + 4] += 1
    return images.astype(np.float32), labels.astype(np.int32)


def dataset(batch: int = 16):
    data = ds.NumpySlicesDataset(corners(), ["image", "label"], shuffle=False)
    return data.batch(batch, drop_remainder=True)


def falls(losses) -> None:
    assert np.all(np.isfinite(losses))
    assert np.mean(losses[-4:]) < 0.7 * np.mean(losses[:4]), losses


# ---- 0.x and 1.x ----
def weight_variable(factor=0.05):
    return TruncatedNormal(factor)


class OldLeNet(nn.Cell):
    """As the first tutorials wrote it: primitives, shapes that are called, initializers."""

    def __init__(self):
        super(OldLeNet, self).__init__()  # noqa: UP008  the old spelling is the point
        self.batch_size = 16
        self.conv1 = nn.Conv2d(
            1, 4, kernel_size=3, stride=1, padding=0, weight_init=weight_variable(0.3),
            has_bias=False, pad_mode="valid",
        )  # fmt: skip
        self.fc1 = nn.Dense(36, 16, weight_variable(0.3), weight_variable())
        self.weight = Parameter(initializer(Normal(0.3), [16, 4], mstype.float32), name="weight")
        self.bias = Parameter(Tensor(np.zeros(4).astype(np.float32)), name="bias")
        self.relu = P.ReLU()
        self.max_pool2d = P.MaxPool(kernel_size=2, strides=2)
        self.reshape = P.Reshape()
        self.matmul = P.MatMul()
        self.add = P.TensorAdd()
        self.cast = P.Cast()
        self.shape = P.Shape()

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.reshape(x, (x.shape()[0], -1))
        x = self.relu(self.fc1(x))
        x = self.cast(x, mstype.float32)
        return self.add(self.matmul(x, self.weight), self.bias)


class Losses(Callback):
    def __init__(self):
        super().__init__()
        self.values = []

    def step_end(self, run_context):
        self.values.append(float(run_context.original_args().net_outputs.asnumpy()))


def test_model_train_with_monitors_and_checkpoints(mode, tmp_path, capsys):
    context.set_context(mode=mode, device_target="CPU")
    mindspore.set_seed(1)
    network = OldLeNet()
    net_loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    net_opt = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    model = Model(network, net_loss, net_opt, metrics={"Accuracy": nn.Accuracy()})
    config_ck = CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=2)
    ckpoint_cb = ModelCheckpoint(
        prefix="checkpoint_lenet", directory=str(tmp_path), config=config_ck
    )
    seen = Losses()
    callbacks = [ckpoint_cb, LossMonitor(per_print_times=4), TimeMonitor(4), seen]
    model.train(5, dataset(), callbacks=callbacks, dataset_sink_mode=False)
    falls(seen.values)
    assert "loss is" in capsys.readouterr().out
    files = sorted(p.name for p in tmp_path.glob("*.ckpt"))
    assert files == ["checkpoint_lenet-4_4.ckpt", "checkpoint_lenet-5_4.ckpt"]

    acc = model.eval(dataset(), dataset_sink_mode=False)
    assert acc["Accuracy"] > 0.8
    fresh = OldLeNet()
    load_param_into_net(fresh, load_checkpoint(str(tmp_path / files[-1])))
    images = Tensor(corners()[0][:16])
    scores = Model(fresh).predict(images)
    np.testing.assert_array_equal(scores.asnumpy(), model.predict(images).asnumpy())


class OldWithLossCell(nn.Cell):
    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, x, label):
        out = self._backbone(x)
        return self._loss_fn(out, label)


class OldLoss(nn.Cell):
    """Cross entropy out of primitives."""

    def __init__(self):
        super().__init__()
        self.one_hot = P.OneHot()
        self.on_value = Tensor(1.0, mstype.float32)
        self.off_value = Tensor(0.0, mstype.float32)
        self.cross_entropy = P.SoftmaxCrossEntropyWithLogits()
        self.mean = P.ReduceMean(False)

    def construct(self, logits, label):
        label = self.one_hot(label, F.shape(logits)[1], self.on_value, self.off_value)
        loss, _ = self.cross_entropy(logits, label)
        return self.mean(loss, (-1,))


GRADIENT_CLIP_TYPE = 1
GRADIENT_CLIP_VALUE = 1.0
clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip_grad(clip_type, clip_value, grad):
    if clip_type not in (0, 1):
        return grad
    dt = F.dtype(grad)
    if clip_type == 0:
        low = F.cast(F.tuple_to_array((-clip_value,)), dt)
        high = F.cast(F.tuple_to_array((clip_value,)), dt)
        new_grad = C.clip_by_value(grad, low, high)
    else:
        new_grad = nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((clip_value,)), dt))
    return new_grad


class OldTrainOneStepCell(nn.Cell):
    """A user's own training step: sensitivity, clipping, the optimizer's update as a dependency."""

    def __init__(self, network, optimizer, clip_type, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.network.add_flags(defer_inline=True)
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.hyper_map = C.HyperMap()
        self.clip_type = clip_type
        self.sens = sens

    def construct(self, data, label):
        weights = self.weights
        loss = self.network(data, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, weights)(data, label, sens)
        grads = self.hyper_map(F.partial(clip_grad, self.clip_type, GRADIENT_CLIP_VALUE), grads)
        return F.depend(loss, self.optimizer(grads))


@pytest.mark.parametrize("clip_type", [0, 1, 2])
def test_a_training_step_of_ones_own(mode, clip_type):
    context.set_context(mode=mode)
    mindspore.set_seed(2)
    network = OldLeNet()
    optimizer = nn.Adam(filter(lambda p: p.requires_grad, network.get_parameters()), 0.01)
    step = OldTrainOneStepCell(OldWithLossCell(network, OldLoss()), optimizer, clip_type)
    step.set_train()
    losses = []
    for _ in range(6):
        for item in dataset().create_dict_iterator():
            losses.append(float(step(item["image"], item["label"]).asnumpy()))
    falls(losses)


def test_a_user_subclass_of_train_one_step_cell(mode):
    context.set_context(mode=mode)

    class Step(nn.TrainOneStepCell):
        def __init__(self, network, optimizer, sens=1.0):
            super().__init__(network, optimizer, sens)
            self.calls = Parameter(Tensor(0, mstype.int32), name="calls", requires_grad=False)
            self.assign_add = P.AssignAdd()

        def construct(self, data, label):
            loss = self.network(data, label)
            sens = F.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad(self.network, self.weights)(data, label, sens)
            loss = F.depend(loss, self.optimizer(grads))
            self.assign_add(self.calls, 1)
            return loss

    mindspore.set_seed(3)
    net = nn.WithLossCell(OldLeNet(), nn.SoftmaxCrossEntropyWithLogits(True, "mean"))
    step = Step(net, nn.SGD(net.trainable_params(), 0.1, momentum=0.9))
    model = Model(step)
    seen = Losses()
    model.train(6, dataset(), callbacks=[seen], dataset_sink_mode=False)
    falls(seen.values)
    assert int(step.calls.asnumpy()) == 24


class WarmUp(LearningRateSchedule):
    """A schedule of one's own: up to the rate in `warmup` steps, then down with a cosine."""

    def __init__(self, rate, warmup, total):
        super().__init__()
        self.rate, self.warmup, self.total = rate, warmup, total
        self.cos = P.Cos()
        self.minimum = P.Minimum()
        self.one = Tensor(np.array([1.0]).astype(np.float32))

    def construct(self, global_step):
        step = F.cast(global_step, mstype.float32)
        part = self.minimum((step + 1.0) / self.warmup, self.one)
        return part * self.rate * 0.5 * (1.0 + self.cos(step / self.total * 3.14159))


@pytest.mark.parametrize(
    "rate",
    [
        lambda: WarmUp(0.2, 4, 20),
        lambda: nn.WarmUpLR(0.1, 4),
        lambda: nn.ExponentialDecayLR(0.1, 0.9, 5),
        lambda: nn.dynamic_lr.cosine_decay_lr(0.01, 0.1, 24, 4, 6),
        lambda: Tensor(np.linspace(0.1, 0.01, 24).astype(np.float32)),
    ],
    ids=["own", "warm up", "exponential", "list", "tensor"],
)
def test_learning_rate_schedules(mode, rate):
    context.set_context(mode=mode)
    mindspore.set_seed(4)
    net = OldLeNet()
    opt = nn.Momentum(
        [{"params": [net.weight], "weight_decay": 0.01}, {"params": [net.bias]},
         {"params": net.conv1.trainable_params() + net.fc1.trainable_params()}],
        learning_rate=rate(), momentum=0.9,
    )  # fmt: skip
    step = nn.TrainOneStepCell(nn.WithLossCell(net, OldLoss()), opt).set_train()
    losses = []
    for _ in range(6):
        for image, label in dataset().create_tuple_iterator():
            losses.append(float(step(image, label).asnumpy()))
    falls(losses)


@ms_function
def tensor_add_func(x, y):
    z = F.tensor_add(x, y)
    if z.size() > 3:
        z = z * 2
    return z


def test_ms_function_and_values_that_are_called(mode):
    context.set_context(mode=mode)
    x = Tensor(np.ones([2, 3]).astype(np.float32))
    assert x.shape() == (2, 3) == x.shape and x.size() == 6 and x.dtype() == mstype.float32
    np.testing.assert_array_equal(tensor_add_func(x, x).asnumpy(), np.full((2, 3), 4))
    grad_all = C.GradOperation(get_all=True)
    dx, dy = grad_all(tensor_add_func)(x, x)
    np.testing.assert_array_equal(dx.asnumpy(), np.full((2, 3), 2))
    np.testing.assert_array_equal(dy.asnumpy(), np.full((2, 3), 2))


def test_gradients_of_all_inputs_with_labels(mode):
    """An integer input has the gradient 0; values of one-hot vectors have one of their own."""
    context.set_context(mode=mode)
    net = OldWithLossCell(OldLeNet(), OldLoss())
    images, labels = (Tensor(column[:16]) for column in corners())
    grads = C.GradOperation(get_all=True)(net)(images, labels)
    assert grads[0].shape == images.shape and np.abs(grads[0].asnumpy()).max() > 0
    assert grads[1].dtype == mstype.int32 and not grads[1].asnumpy().any()

    def one_hot(on, off):
        return P.OneHot()(labels, 4, on, off)

    on, off = Tensor(1.0, mstype.float32), Tensor(0.0, mstype.float32)
    grads = C.GradOperation(get_all=True)(one_hot)(on, off)
    assert [float(g) for g in grads] == [16, 48]


def test_numbers_are_assigned_in_the_dtype_of_the_parameter(mode):
    context.set_context(mode=mode)

    class Count(nn.Cell):
        def __init__(self, dtype):
            super().__init__()
            self.value = Parameter(Tensor(1, dtype), name="value", requires_grad=False)

        def construct(self):
            P.AssignAdd()(self.value, 2)
            P.AssignSub()(self.value, 1)
            P.Assign()(self.value, self.value * 3)
            return self.value

    for dtype in (mstype.int8, mstype.int32, mstype.int64, mstype.float16, mstype.float32):
        net = Count(dtype)
        assert [float(net()) for _ in range(2)] == [6, 21]
        assert net.value.dtype == dtype


# ---- 2.x ----
class NewLeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 4, 3, pad_mode="valid"),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
            nn.Flatten(),
            nn.Dense(36, 16),
        )
        self.head = nn.Dense(16, 4)

    def construct(self, x):
        return self.head(ops.relu(self.body(x)))


def train_2x(model, optimizer, wrap=lambda f: f):
    """The training loop of the 2.x tutorials."""
    loss_fn = nn.CrossEntropyLoss()

    def forward_fn(data, label):
        logits = model(data)
        return loss_fn(logits, label), logits

    grad_fn = mindspore.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def train_step(data, label):
        (loss, _), grads = grad_fn(data, label)
        grads = ops.clip_by_global_norm(grads, 5.0)
        optimizer(grads)
        return loss

    train_step = wrap(train_step)
    model.set_train()
    losses = []
    for _ in range(6):
        for data, label in dataset():
            losses.append(float(train_step(data, label).asnumpy()))
    return losses


@pytest.mark.parametrize("wrap", [lambda f: f, mindspore.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("kind", ["adam", "adamw", "sgd"])
def test_functional_training(mode, wrap, kind):
    mindspore.set_context(mode=mode)
    mindspore.set_seed(5)
    model = NewLeNet()
    weights = model.trainable_params()
    optimizer = {
        "adam": lambda: nn.Adam(weights, learning_rate=0.01),
        "adamw": lambda: nn.AdamWeightDecay(weights, learning_rate=0.01),
        "sgd": lambda: nn.SGD(weights, learning_rate=0.1, momentum=0.9),
    }[kind]()
    falls(train_2x(model, optimizer, wrap))

    model.set_train(False)
    right = 0
    for data, label in dataset().create_tuple_iterator():
        right += float((model(data).argmax(1) == label).asnumpy().sum())
    assert right / 64 > 0.8


def test_mixed_precision_with_a_loss_scaler(mode):
    mindspore.set_context(mode=mode)
    mindspore.set_seed(6)
    model = mindspore.amp.auto_mixed_precision(NewLeNet(), "O2")
    optimizer = nn.Adam(model.trainable_params(), 0.01)
    scaler = mindspore.amp.DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=50)
    loss_fn = nn.CrossEntropyLoss()

    def forward_fn(data, label):
        return scaler.scale(loss_fn(model(data).astype(mindspore.float32), label))

    grad_fn = mindspore.value_and_grad(forward_fn, None, optimizer.parameters)
    losses = []
    for _ in range(6):
        for data, label in dataset():
            loss, grads = grad_fn(data, label)
            if mindspore.amp.all_finite(grads):
                optimizer(scaler.unscale(grads))
            losses.append(float(scaler.unscale(loss).asnumpy()))
    falls(losses)


def test_both_modes_give_the_same_curve():
    curves = []
    for value in (mindspore.PYNATIVE_MODE, mindspore.GRAPH_MODE):
        mindspore.set_context(mode=value)
        mindspore.set_seed(7)
        model = NewLeNet()
        curves.append(train_2x(model, nn.Adam(model.trainable_params(), 0.01)))
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-5)
