"""Loss scaling and mixed precision."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore.train import DynamicLossScaleManager, FixedLossScaleManager, Model


def net():
    ms.set_seed(2)
    return nn.SequentialCell(nn.Dense(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dense(3, 2))


X = Tensor(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_auto_mixed_precision(mode, level, dtype):
    exact = net().set_train(False)(X).asnumpy()
    mixed = amp.auto_mixed_precision(net(), level, dtype).set_train(False)
    result = mixed(X)
    assert result.dtype == ms.float32
    tolerance = {ms.float16: 5e-3, ms.bfloat16: 5e-2}[dtype]
    np.testing.assert_allclose(result.asnumpy(), exact, atol=tolerance)
    if level != "O0":
        assert (result.asnumpy() != exact).any()
    names = [p.name for p in mixed.get_parameters()]
    assert names == [p.name for p in net().get_parameters()]
    assert all(p.dtype == ms.float32 for p in mixed.get_parameters())


def test_custom_mixed_precision(pynative):
    mixed = amp.custom_mixed_precision(net(), white_list=[nn.Dense])
    assert mixed(X).dtype == ms.float32
    mixed = amp.custom_mixed_precision(net(), black_list=amp.get_black_list())
    assert mixed(X).dtype == ms.float32
    with pytest.raises(ValueError, match="but not both"):
        amp.custom_mixed_precision(net())
    with pytest.raises(TypeError, match="must hold classes"):
        amp.custom_mixed_precision(net(), white_list=["Dense"])


def test_wrapped_cells_keep_their_attributes(pynative):
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(4, 2)

        def construct(self, x):
            return self.fc(x) + self.fc.bias

    mixed = amp.auto_mixed_precision(Two(), "O1")
    assert mixed.fc.weight.shape == (2, 4)
    assert mixed(X).dtype == ms.float32


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: amp.auto_mixed_precision(5), TypeError, "'network' must be a Cell"),
        (lambda: amp.auto_mixed_precision(net(), "O7"), ValueError, "'amp_level' must be one of"),
        (lambda: amp.auto_mixed_precision(net(), "O2", ms.int8), ValueError, "float16 or bfloat16"),
        (lambda: FixedLossScaleManager(0.5), ValueError, "at least 1"),
        (lambda: FixedLossScaleManager("8"), TypeError, "must be int or float"),
        (lambda: FixedLossScaleManager(8, 1), TypeError, "must be a bool"),
        (lambda: DynamicLossScaleManager(0), ValueError, "at least 1"),
        (lambda: DynamicLossScaleManager(8, 2.0), TypeError, "'scale_factor' must be int"),
        (lambda: DynamicLossScaleManager(8, 2, 0), ValueError, "'scale_window' must be positive"),
        (lambda: amp.StaticLossScaler(0.1), ValueError, "at least 1"),
        (lambda: amp.DynamicLossScaler(8, "2", 1), TypeError, "must be an int"),
        (lambda: amp.build_train_network(net(), 5), TypeError, "'optimizer' must be"),
    ],
)
def test_wrong_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_managers():
    fixed = FixedLossScaleManager(16, True)
    assert fixed.get_loss_scale() == 16 and isinstance(
        fixed.get_update_cell(), nn.FixedLossScaleUpdateCell
    )
    assert FixedLossScaleManager(16, False).get_update_cell() is None
    dynamic = DynamicLossScaleManager(16, 2, 3)
    assert isinstance(dynamic.get_update_cell(), nn.DynamicLossScaleUpdateCell)
    dynamic.update_loss_scale(True)
    assert dynamic.get_loss_scale() == 8
    for _ in range(3):
        dynamic.update_loss_scale(False)
    assert dynamic.get_loss_scale() == 16
    with pytest.raises(RuntimeError, match="in a row overflowed"):
        for _ in range(2000):
            dynamic.update_loss_scale(True)


def test_all_finite(mode):
    good, bad = Tensor([1.0, 2.0]), Tensor([1.0, np.inf])
    assert bool(amp.all_finite((good, good)).asnumpy())
    assert not bool(amp.all_finite((good, (good, bad))).asnumpy())
    assert not bool(amp.all_finite([Tensor([np.nan])]).asnumpy())


def test_scalers(pynative):
    static = amp.StaticLossScaler(1024)
    assert static.scale(Tensor([2.0])).asnumpy().tolist() == [2048]
    assert static.unscale((Tensor([2048.0]),))[0].asnumpy().tolist() == [2]
    assert static.adjust(Tensor(False)) is False
    dynamic = amp.DynamicLossScaler(8, 2, 2)
    dynamic.adjust(Tensor(False))
    assert float(dynamic.scale_value.asnumpy()) == 4
    for expected in (4, 8, 8, 16):
        dynamic.adjust(Tensor(True))
        assert float(dynamic.scale_value.asnumpy()) == expected


def test_a_training_loop_with_a_scaler(mode):
    network = nn.Dense(4, 1)
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    scaler = amp.DynamicLossScaler(1024, 2, 1000)

    def forward(x, y):
        return scaler.scale(((network(x) - y) ** 2).mean())

    grad_fn = ops.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        loss, grads = grad_fn(x, y)
        grads = scaler.unscale(grads)
        finite = amp.all_finite(grads)
        if finite:
            optimizer(grads)
        scaler.adjust(finite)
        return scaler.unscale(loss)

    y = Tensor(np.ones((5, 1), np.float32))
    losses = [float(step(X, y).asnumpy()) for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
def test_no_loss_scale_where_none_is_asked_for(mode, level):
    network = net()
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    step = amp.build_train_network(
        network, optimizer, nn.MSELoss(), level=level, loss_scale_manager=None
    )
    loss = step(X, Tensor(np.ones((5, 2), np.float32)))
    assert isinstance(step, nn.TrainOneStepCell) and isinstance(loss, Tensor)
    scaled = amp.build_train_network(net(), optimizer, nn.MSELoss(), level="O2")
    assert isinstance(scaled, nn.TrainOneStepWithLossScaleCell)


@pytest.fixture
def said(monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(ms.log, "warning", lines.append)
    return lines


def few_steps(loss_fn, rate=0.1, **options):
    network = nn.Dense(4, 1)
    optimizer = nn.SGD(network.trainable_params(), rate)
    model = Model(network, loss_fn, optimizer, **options)
    rows = (np.ones((8, 4), np.float32), np.ones((8, 1), np.float32))
    model.train(2, ms.dataset.NumpySlicesDataset(rows).batch(2))
    return network


def test_skipped_steps_are_told(mode, said):
    options = {"amp_level": "O2", "loss_scale_manager": DynamicLossScaleManager(2**17, 2, 100)}
    few_steps(nn.MSELoss(), rate=0.01, **options)
    assert said[0].startswith(
        "epoch: 1 step: 1, gradients overflow with loss scale 131072; the ste"
    )
    assert len(said) == 2 and "of 8 steps changed no parameter" in said[1]


def test_what_is_wrong_at_every_step_is_said_once(mode, said):
    broken = few_steps(lambda x, y: (x - y).mean() * float("inf"), rate=0.1)
    assert not np.isfinite(broken.weight.asnumpy()).all()
    (line,) = said
    assert line.startswith("epoch: 1 step: 1, the loss is ")
    assert "parameter 'weight' is not finite" in line
    said.clear()
    scale = DynamicLossScaleManager(2, 2, 100)
    few_steps(lambda x, y: (x - y).mean() * float("inf"), loss_scale_manager=scale)
    assert [line.split(", ", 1)[1][:40] for line in said[:2]] == [
        "gradients overflow with loss scale 2; th",
        "gradients overflow though the loss scale",
    ]
    assert said[2] == "8 of 8 steps changed no parameter, as their gradients overflowed."


def test_old_paths():
    from mindspore.train import amp as train_amp

    assert train_amp.auto_mixed_precision is amp.auto_mixed_precision
    assert ms.build_train_network is amp.build_train_network
