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
from mindspore.model_zoo.bert import Bert
from mindspore.model_zoo.densenet import densenet, densenet121
from mindspore.model_zoo.gcn import graph_network
from mindspore.model_zoo.gpt import GPT
from mindspore.model_zoo.lenet import LeNet5
from mindspore.model_zoo.mobilenetv2 import MobileNetV2
from mindspore.model_zoo.resnet import resnet, resnet18, resnet20, resnet50
from mindspore.model_zoo.vgg import vgg16

ZOO = Path(ms.__file__).parent / "model_zoo"
DATA = os.environ.get("MS_TEST_DATA", "")
# Options that make a program short, and the accuracy that it reaches all the same.
SHORT = {
    "lenet": ("--batch 16 --rate 0.03 --epochs 3", 0.9),
    "resnet": ("--rows 160 --epochs 1 --batch 16", 0.0),
    "alexnet": ("--rows 40 --epochs 1 --batch 8", 0.0),
    "vgg": ("--rows 40 --epochs 1 --batch 8 --width 4 --hidden 16", 0.0),
    "mobilenetv2": ("--rows 40 --epochs 1 --batch 8 --width 0.1", 0.0),
    "densenet": ("--rows 40 --epochs 1 --batch 8", 0.0),
    "unet": ("--rows 80 --epochs 2 --batch 8 --width 4 --side 16 --depth 2", 0.1),
    "lstm": ("--rows 2000 --epochs 4 --words 10 --length 8 --width 8 --hidden 8 --rate 0.03", 0.8),
    "transformer": ("--rows 600 --epochs 4 --length 4 --width 16 --layers 1 --rate 0.01", 0.2),
    "bert": ("--rows 800 --epochs 8 --words 7 --width 16 --layers 1 --batch 16 --rate 0.005", 0.5),
    "gpt": ("--rows 600 --epochs 3 --words 6 --period 2 --width 16 --layers 1 --rate 0.02", 0.5),
    "wide_deep": ("--rows 4000 --epochs 2 --fields 4 --values 5 --hidden 16", 0.7),
    "deepfm": ("--rows 4000 --epochs 2 --fields 4 --values 5 --hidden 16", 0.7),
    "gcn": ("--rows 200 --epochs 20", 0.5),
    "gcn gat": ("--rows 200 --epochs 20 --net gat", 0.6),
    "ssd": ("--rows 300 --epochs 4 --batch 16 --side 32 --width 4 --rate 0.02", 0.3),
    "word2vec": ("--rows 1000 --epochs 4 --words 12 --topics 2 --width 4 --rate 0.05", 0.8),
    "dcgan": ("--rows 64 --epochs 2 --batch 16 --width 4", 0.0),
    "dqn": ("--walks 60 --steps 5 --batch 16 --hidden 16 --rate 0.01", 0.1),
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


@pytest.mark.parametrize(
    "module, options, says",
    [
        ("lenet.train", "--epochs 0", "argument --epochs: must be at least 1, but got 0"),
        ("dcgan.train", "--epochs -1", "argument --epochs: must be at least 1, but got -1"),
        ("gpt.train", "--batch 0", "argument --batch: must be at least 1, but got 0"),
        ("lenet.train", "--rows 1", "too few rows to train with and to evaluate with"),
        ("unet.train", "--side 8", "--side must be at least 16 and a multiple of 8"),
        ("word2vec.train", "--topics 1", "must make two topics that have words"),
        ("bert.train", "--words 3", "--words must be more than 3 marks, but is 3"),
        ("ssd.train", "--side 17", "--side must be a multiple of 16, but is 17"),
        ("dcgan.train", "--rows 8", "--rows 8 must be a batch of 32 at least"),
        ("deepfm.train", "--rows 1", "too few rows to train with and to evaluate with"),
    ],
)
def test_what_cannot_train_is_said(program, capsys, module, options, says):
    with pytest.raises(SystemExit) as ended:
        program(module, "--output", "out", *options.split())
    assert ended.value.code != 0 and says in str(ended.value.code) + capsys.readouterr().err
    assert not os.path.exists("out")


@pytest.mark.parametrize("mode", ["graph", "pynative"])
@pytest.mark.parametrize("name", SHORT)
def test_programs(program, tmp_path, name, mode):
    options, bound = SHORT[name][0].split(), SHORT[name][1]
    name = name.split()[0]
    before = sorted(ZOO.rglob("*.py"))
    trained, said = program(f"{name}.train", "--output", "out", "--mode", mode, *options)
    assert trained >= bound
    assert any("loss is" in line or "epoch time" in line for line in said)
    assert os.listdir(tmp_path) == ["out"]
    written = {"final.ckpt"} | ({"backup"} if name not in ("dcgan", "dqn") else set())
    assert written <= set(os.listdir("out"))
    checkpoint = ["--checkpoint", "out/final.ckpt", "--mode", mode]
    evaluated, _ = program(f"{name}.eval", *checkpoint, *options)
    assert evaluated == trained
    assert sorted(ZOO.rglob("*.py")) == before


@pytest.mark.parametrize(
    ("make", "parameters", "shape", "tolerance"),
    [
        (lambda: LeNet5(10), 61_684, (2, 1, 32, 32), 1e-3),
        (lambda: resnet20(10), 272_474, (2, 3, 32, 32), 1e-3),
        # Norms over the few places of the last maps turn 1e-7 of the input into 1.4 % of the third loss, in either mode; of the
        # deeper one, 2e-7 into 3 % of the gradient.
        (lambda: resnet18(1000), 11_689_512, (1, 3, 64, 64), 0.03),
        pytest.param(resnet50, 25_557_032, (4, 3, 64, 64), 0.1, marks=pytest.mark.slow),
    ],
)
def test_networks_learn(make, parameters, shape, tolerance):
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
    compiled, eager = losses[ms.GRAPH_MODE], losses[ms.PYNATIVE_MODE]
    np.testing.assert_allclose(compiled[0], eager[0], rtol=1e-4)
    np.testing.assert_allclose(compiled, eager, rtol=tolerance)


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (MobileNetV2, 3_504_872),
        (densenet121, 7_978_856),
        pytest.param(vgg16, 138_361_768, marks=pytest.mark.slow),
        pytest.param(GPT, 124_439_808, marks=pytest.mark.slow),
        pytest.param(Bert, 109_482_240, marks=pytest.mark.slow),
    ],
)
def test_networks_have_the_sizes_that_are_known_of_them(make, parameters):
    assert sum(int(p.size) for p in make().trainable_params()) == parameters


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("resnet", resnet),
        ("densenet", densenet),
        ("graph_network", lambda name: graph_network(name, 2, 2)),
    ],
)
def test_a_name_that_there_is_not(name, make):
    with pytest.raises(ValueError, match=f"For '{name}', 'name' must be one of"):
        make("resnet7")


@pytest.mark.parametrize("folder", sorted(p.parent.name for p in ZOO.glob("*/train.py")))
def test_every_network_is_whole(folder):
    files = {p.name for p in (ZOO / folder).iterdir()}
    assert {"README.md", "__init__.py", "config.py", "eval.py", "train.py"} <= files
    assert folder in {name.split()[0] for name in SHORT}
    text = (ZOO / folder / "README.md").read_text()
    assert f"python -m mindspore.model_zoo.{folder}.train --output" in text and "Measured" in text


@pytest.mark.slow
@pytest.mark.skipif(
    not os.path.isdir(os.path.join(DATA, "mnist")), reason="needs MS_TEST_DATA with MNIST's files"
)
def test_real_digits(program):
    accuracy, _ = program("lenet.train", "--output", "out", "--data", DATA)
    assert accuracy >= 0.97


def test_data_that_is_not_there_is_no_planted_rule(program, capsys):
    with pytest.raises(SystemExit) as ended:
        program("lenet.train", "--output", "out", "--data", "nowhere")
    assert ended.value.code != 0
    assert "must be a folder, but got 'nowhere'" in capsys.readouterr().err
