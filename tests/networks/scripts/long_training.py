"""Trains a small network for many steps in one way, and prints what grew: `long_training.py WAY STEPS`."""

import gc
import json
import os
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, Tensor, nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, LossMonitor, ModelCheckpoint, TimeMonitor

WAY, STEPS = sys.argv[1], int(sys.argv[2])
BATCHES = 20  # in an epoch
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(BATCHES * 8, 6).astype(np.float32)
Y = (X @ RANDOM.randn(6, 2)).astype(np.float32)


def resident():
    """Kilobytes that are not files: what this process alone holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        _, pages, shared, *_ = map(int, file.read().split())
    return (pages - shared) * os.sysconf("SC_PAGE_SIZE") // 1024


def count(what):
    return len(os.listdir(f"/proc/self/{what}"))


class Watch:
    """Looks at the process at a fifth of the steps, when all caches are full, and at the end."""

    def __init__(self):
        self.seen, self.losses = [], []

    def at(self, step, loss):
        if step in (1, STEPS):
            self.losses.append(float(loss))
        if step in (STEPS // 5, STEPS):
            self.seen.append((resident(), count("task"), count("fd")))

    def report(self):
        (before, *first), (after, *last) = self.seen
        return {
            "kilobytes_a_step": (after - before) / (STEPS - STEPS // 5),
            "threads": [first[0], last[0]],
            "files": [first[1], last[1]],
            "loss": self.losses,
        }


class Steps(Callback):
    """Tells the watch of each step of a Model."""

    def __init__(self, watch, model, data):
        super().__init__()
        self.watch, self.model, self.data = watch, model, data

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        result = params.net_outputs  # with a loss scale: the loss, whether it overflowed, the scale
        loss = result[0] if isinstance(result, tuple) else result
        self.watch.at(params.cur_step_num, loss.asnumpy())
        if WAY == "evaluation" and params.cur_step_num % BATCHES == 0:
            self.model.eval(self.data)


def network():
    net = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 2))
    return net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.02, 0.9)


def by_hand(watch):
    net, loss, optimizer = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    batches = [(Tensor(x), Tensor(y)) for x, y in zip(np.split(X, BATCHES), np.split(Y, BATCHES))]
    wrong = Tensor(np.ones((8, 5), np.float32))
    for number in range(1, STEPS + 1):
        if WAY == "exceptions" and number % 3 == 0:
            try:
                step(wrong, batches[0][1])
            except ValueError:
                pass
        watch.at(number, step(*batches[number % BATCHES]).asnumpy())


def by_model(watch):
    net, loss, optimizer = network()
    level = "O2" if WAY == "amp" else "O0"
    model = Model(net, loss, optimizer, metrics={"mse"}, amp_level=level)
    data = NumpySlicesDataset((X, Y), ["x", "y"], shuffle=True).batch(8)
    callbacks = [Steps(watch, model, data)]
    if WAY == "callbacks":
        sys.stdout = open(os.devnull, "w")
        config = ms.train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=2)
        callbacks += [LossMonitor(10), TimeMonitor(), ModelCheckpoint("net", "saved", config)]
    epochs = STEPS // BATCHES
    model.train(
        epochs,
        data,
        callbacks=callbacks,
        dataset_sink_mode=WAY == "sink",
        sink_size=1 if WAY == "sink" else -1,
    )
    sys.stdout = sys.__stdout__


if __name__ == "__main__":
    ms.set_context(mode=ms.PYNATIVE_MODE if WAY == "pynative" else ms.GRAPH_MODE)
    ms.set_seed(1)
    watching = Watch()
    (by_hand if WAY in ("graph", "pynative", "exceptions") else by_model)(watching)
    print(json.dumps(watching.report()))
