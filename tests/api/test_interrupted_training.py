"""Ctrl-C, wherever a training is: KeyboardInterrupt within a second, files whole, and the program goes on."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import mindspore as ms

PROGRAM = """
    import os, signal, sys, threading, time
    import numpy as np
    import mindspore as ms
    from mindspore import Model, Tensor, dataset as ds, nn, ops

    # A shell that runs the tests in the background has them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    place, mode, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    ms.set_context(mode=mode)
    path = os.path.join(folder, "a.ckpt")
    sent = []


    class Deep(nn.Cell):
        def __init__(self, layers):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(32, 32) for _ in range(layers)])

        def construct(self, x):
            for layer in self.layers:
                x = x + ops.tanh(layer(x))
            return x


    class Sleepy:
        def __len__(self):
            return 64

        def __getitem__(self, index):
            time.sleep(30)


    def model(net):
        return Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-4))


    class Sum(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = (ms.Parameter(Tensor(np.zeros(2048, np.float32)), n) for n in "ab")

        def construct(self, x, y):
            return self.a.sum() + self.b.sum()


    def in_one_sink():
        net = Sum()
        update = nn.SGD(net.trainable_params(), 1.0)
        try:
            Model(net, None, update).train(1, rows.repeat(10**6), dataset_sink_mode=True)
        finally:  # of a whole step
            done = {*net.a.asnumpy(), *net.b.asnumpy()}
            assert len(done) == 1 and min(done) < -8, done


    rows = ds.NumpySlicesDataset((np.ones((64, 32), np.float32),) * 2).batch(8)
    big = {f"v{i}": Tensor(np.ones(1 << 22, np.float32)) for i in range(8)}


    def save():
        while True:
            ms.save_checkpoint(big, path)


    work = {
        "compiling": lambda: model(Deep(2000)).train(1, rows),
        "stepping": lambda: model(Deep(100)).train(10**6, rows),
        "sinking": lambda: model(Deep(1)).train(10**6, rows, dataset_sink_mode=True),
        "in one sink": in_one_sink,
        "waiting": lambda: model(Deep(1)).train(1, ds.GeneratorDataset(Sleepy(), ["x", "y"]).batch(8)),
        "saving": save,
    }
    after = {"compiling": 0.7, "saving": 0.7}.get(place, 2.0)
    ms.save_checkpoint(big, path)

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(after, send).start()
    try:
        work[place]()
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0])
    assert len(ms.load_checkpoint(path)) == 8
    assert ms.jit(lambda x: x + 1)(Tensor([1.0])).asnumpy().tolist() == [2.0]
    model(Deep(1)).train(1, rows)
"""


@pytest.mark.serial
@pytest.mark.parametrize(
    ("place", "mode"),
    [
        ("compiling", ms.GRAPH_MODE),
        ("stepping", ms.GRAPH_MODE),
        ("stepping", ms.PYNATIVE_MODE),
        ("sinking", ms.GRAPH_MODE),
        ("in one sink", ms.GRAPH_MODE),
        ("in one sink", ms.PYNATIVE_MODE),
        ("waiting", ms.PYNATIVE_MODE),
        ("saving", ms.PYNATIVE_MODE),
    ],
)
def test_ctrl_c(tmp_path, place, mode):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), place, str(mode), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]
