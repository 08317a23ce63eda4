"""Steps of a training that cannot be compiled, or not whole, in GRAPH_MODE: the network runs once in each, as in PYNATIVE_MODE."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import dataset as ds
from mindspore import nn
from mindspore.parallel.auto_parallel import AutoParallel
from mindspore.train import Model

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4)).astype(np.float32)
Y = (np.arange(24) % 3).astype(np.int32)


class Net(nn.Cell):
    """Counts its calls; chance and statistics tell of them, too."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Dense(4, 8), nn.BatchNorm1d(8)
        self.drop, self.last = nn.Dropout(p=0.5), nn.Dense(8, 3)
        self.calls, self.seen = 0, []

    def construct(self, x):
        return self.last(self.drop(self.norm(self.first(x))))


class Counts(Net):
    def construct(self, x):
        self.calls = self.calls + 1
        return super().construct(x)


class Looks(Net):
    def construct(self, x):
        y = self.norm(self.first(x))
        return self.last(self.drop(y)) + float(y.asnumpy().mean())


class Notes(nn.TrainOneStepCell):
    def construct(self, *inputs):
        loss = self.network(*inputs)
        self.network.notes.append(float(loss))
        self.optimizer(self.grad_no_sens(self.network, self.weights)(*inputs))
        return loss


class ByName(nn.TrainOneStepCell):
    def construct(self, data, label):
        self.network.notes.append(float(self.network(data, label=label)))
        self.optimizer(self.grad_no_sens(self.network, self.weights)(data, label))
        return 0.0


def hooked():
    net = Net()
    net.first.register_forward_hook(lambda cell, inputs, output: net.seen.append(1))
    return net


STEPS = {
    "a count": (Counts, nn.TrainOneStepCell),
    "a look at a value": (Looks, nn.TrainOneStepCell),
    "a hook": (hooked, nn.TrainOneStepCell),
    "notes of the step": (Net, Notes),
    "both": (Counts, Notes),
    "arguments by name": (Net, ByName),
}


@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize("case", STEPS)
def test_the_network_runs_once_in_a_step(case, sink):
    make, step = STEPS[case]
    found = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(1)
        net = make()
        network = nn.WithLossCell(net, nn.CrossEntropyLoss())
        network.notes = []
        model = Model(step(network, nn.SGD(net.trainable_params(), 0.01)))
        data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)
        model.train(1, data, dataset_sink_mode=sink)
        values = {p.name: p.asnumpy().tobytes() for p in net.get_parameters()}
        found.append((net.calls, net.seen, network.notes, values))
    assert found[0] == found[1]


class Chooses(Counts):
    def construct(self, x):
        if x.sum() > 0:
            x = -x
        return super().construct(x)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
@pytest.mark.parametrize("make", [Counts, Chooses])
def test_what_a_network_does_beside_computing_is_done_at_each_call(mode, make, level):
    net = make()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    model = Model(net, nn.CrossEntropyLoss(), optimizer, amp_level=level)
    model.train(2, ds.NumpySlicesDataset({"x": X, "y": Y}).batch(4))
    assert net.calls == 12
    around = ms.amp.auto_mixed_precision(make(), level)
    for _ in range(3):
        around(ms.Tensor(X[:4]))
    assert around.calls == 3


def test_a_network_in_auto_parallel_does_what_it_does_at_each_call(mode):
    net = Counts()
    around = AutoParallel(net)
    for _ in range(3):
        around(ms.Tensor(X[:4]))
    assert net.calls == 3
