"""dataset_sink_mode on the device GPU: steps run ahead of the host, which looks at what they returned once in a while."""

from __future__ import annotations

import pytest
from test_cuda import on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

TRAINING = """
from mindspore import dataset as ds, train
ms.set_context(mode=0)
STEPS = 40
def rows(wrong):
    for i in range(STEPS):
        yield f32(4, 6, seed=i) * (np.inf if i in wrong else 1), np.full(4, i % 3, np.int32)
class Seen(train.Callback):
    def __init__(self):
        self.losses, self.steps = [], []
    def on_train_step_end(self, run_context):
        found = run_context.original_args()
        self.losses.append(float(found.net_outputs.asnumpy()))
        self.steps.append(found.cur_step_num)
class Net(nn.Cell):  # whose loss alone is nan, of rows that are
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
        self.loss = nn.CrossEntropyLoss()
    def construct(self, x, y):
        return self.loss(self.layers(ops.clamp(x, -3, 3)), y) + ops.stop_gradient((x * 0).sum())
def trained(wrong=(), size=STEPS):
    ms.set_seed(5)
    net = Net()
    model = train.Model(net, None, nn.Momentum(net.trainable_params(), 0.05, 0.9))
    data = ds.GeneratorDataset(lambda: rows(wrong), ["x", "y"], shuffle=False)
    seen = Seen()
    model.train(2, data, callbacks=seen, dataset_sink_mode=True, sink_size=size)
    return seen.losses, seen.steps, [p.asnumpy() for p in net.trainable_params()]
"""


@on_the_stub
def test_the_host_does_not_wait_for_each_step():
    """The numbers are those of the host; values come back once in a while, not for each of the steps."""
    run(
        TRAINING
        + """
right = trained()
ms.set_context(device_target="GPU")
with Counted() as found:
    losses, steps, weights = trained()
assert steps == right[1] == [STEPS, 2 * STEPS]
np.testing.assert_allclose(losses, right[0], rtol=1e-4)
for w, r in zip(weights, right[2]):
    np.testing.assert_allclose(w, r, rtol=1e-4, atol=1e-6)
assert found["fetches"] < STEPS, found.found  # were two for each of 80 steps
"""
    )


@on_the_stub
def test_callbacks_see_the_steps_that_they_asked_for():
    run(
        TRAINING
        + """
right = trained(size=10)
ms.set_context(device_target="GPU")
losses, steps, _ = trained(size=10)
assert steps == right[1] == list(range(10, 2 * STEPS + 1, 10))
np.testing.assert_allclose(losses, right[0], rtol=1e-4)
"""
    )


def test_a_loss_that_is_no_number_is_told_of_with_its_step():
    """Though the device was further when the host looked, and though something else ends the run."""
    text = run(
        TRAINING
        + """
ms.set_context(device_target="GPU")
losses, steps, _ = trained(wrong=(17,))
assert steps == [STEPS, 2 * STEPS] and np.isfinite(losses).all(), (losses, steps)
""",
        says=True,
    )
    assert text.count("the loss is nan") == 1 and "epoch: 1 step: 18" in text, text
    text = run(
        TRAINING
        + """
ms.set_context(device_target="GPU")
class Rows:
    def __len__(self):
        return STEPS
    def __getitem__(self, i):
        if i == 22:
            raise KeyError("no such row")
        return list(rows((17,)))[i]
net = Net()
model = train.Model(net, None, nn.Momentum(net.trainable_params(), 0.05, 0.9))
model.train(1, ds.GeneratorDataset(Rows(), ["x", "y"], shuffle=False), dataset_sink_mode=True)
""",
        fails=True,
    )
    assert "epoch: 1 step: 18" in text and "no such row" in text, text


@pytest.mark.parametrize("size", [-1, 4])
def test_what_is_wrong_in_a_step_is_raised(size):
    text = run(
        TRAINING
        + f"SIZE = {size}"
        + """
ms.set_context(device_target="GPU")
class Lookup(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = ms.Parameter(Tensor(f32(7, 3)), name="table")
    def construct(self, i):
        return ops.gather(self.table, i, 0)
data = ds.GeneratorDataset([(np.array([i % 7 if i != 23 else 9], np.int32), np.zeros(1, np.int32)) for i in range(40)], ["x", "y"], shuffle=False)
net = Lookup()
model = train.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1))
try:
    model.train(1, data, dataset_sink_mode=True, sink_size=SIZE)
finally:
    assert np.isfinite(net.table.asnumpy()).all()
""",
        fails=True,
    )
    assert (
        "IndexError: For 'Gather', the indices must be in [-7, 7), but got 9 at position 0" in text
    )
    assert "was not computed" not in text, text  # a loss that is missing is not the reason
