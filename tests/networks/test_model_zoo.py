"""The networks of the zoo, and their programs in a short form."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.model_zoo.lenet import LeNet5
from mindspore.model_zoo.resnet import resnet, resnet18, resnet20, resnet50

ZOO = Path(ms.__file__).parent / "model_zoo"
DATA = os.environ.get("MS_TEST_DATA", "")
# Options that make a program short, and the accuracy that it reaches all the same.
SHORT = {
    "lenet": (["--batch", "16", "--rate", "0.03", "--epochs", "3"], 0.9),
    "resnet": (["--rows", "160", "--epochs", "1", "--batch", "16"], 0.0),
}


@pytest.fixture
def program(monkeypatch, tmp_path, capsys):
    """Runs a program of the zoo in an empty folder; the accuracy that it tells at the end."""
    before = ms.get_context("mode")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MS_TEST_DATA", raising=False)

    def run(module, *arguments):
        monkeypatch.setattr(sys, "argv", [module, *arguments])
        runpy.run_module(f"mindspore.model_zoo.{module}", run_name="__main__")
        said = capsys.readouterr().out.splitlines()
        assert said[-1].startswith("accuracy: ")
        return float(said[-1].split()[1]), said

    yield run
    ms.set_context(mode=before)


@pytest.mark.parametrize("mode", ["graph", "pynative"])
@pytest.mark.parametrize("name", SHORT)
def test_programs(program, tmp_path, name, mode):
    options, bound = SHORT[name]
    before = sorted(ZOO.rglob("*.py"))
    trained, said = program(f"{name}.train", "--output", "out", "--mode", mode, *options)
    assert trained >= bound
    assert any("loss is" in line or "epoch time" in line for line in said)
    assert os.listdir(tmp_path) == ["out"]
    assert {"backup", "final.ckpt"} < set(os.listdir("out"))
    checkpoint = ["--checkpoint", "out/final.ckpt", "--mode", mode]
    evaluated, _ = program(f"{name}.eval", *checkpoint, *options)
    assert evaluated == trained
    assert sorted(ZOO.rglob("*.py")) == before


@pytest.mark.parametrize(
    ("make", "parameters", "shape"),
    [
        (lambda: LeNet5(10), 61_684, (2, 1, 32, 32)),
        (lambda: resnet20(10), 272_474, (2, 3, 32, 32)),
        (lambda: resnet18(1000), 11_689_512, (1, 3, 64, 64)),
        pytest.param(lambda: resnet50(1000), 25_557_032, (1, 3, 64, 64), marks=pytest.mark.slow),
    ],
)
def test_networks_learn(make, parameters, shape):
    ms.set_seed(1)
    net = make()
    assert sum(int(p.size) for p in net.trainable_params()) == parameters
    losses = {}
    start = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    x = Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    y = Tensor(np.arange(shape[0], dtype=np.int32))
    before = ms.get_context("mode")
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for p in net.get_parameters():
            p.set_data(Tensor(start[p.name]))
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.002)
        )
        step.set_train()
        losses[mode] = [float(step(x, y)) for _ in range(3)]
        assert losses[mode][-1] < losses[mode][0]
    ms.set_context(mode=before)
    np.testing.assert_allclose(losses[ms.GRAPH_MODE], losses[ms.PYNATIVE_MODE], rtol=1e-3)


def test_a_name_that_there_is_not():
    assert type(resnet("resnet20")).__name__ == "ResNet"
    with pytest.raises(ValueError, match="For 'resnet', 'name' must be one of"):
        resnet("resnet7")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.path.isdir(os.path.join(DATA, "mnist")), reason="needs MS_TEST_DATA with MNIST's files"
)
def test_real_digits(program):
    accuracy, _ = program("lenet.train", "--output", "out", "--data", DATA)
    assert accuracy >= 0.97
