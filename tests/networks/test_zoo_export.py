"""The networks of the zoo as MINDIR files: out and in again, with equal numbers."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.model_zoo import (
    alexnet,
    bert,
    dcgan,
    deepfm,
    densenet,
    dqn,
    gcn,
    gpt,
    lenet,
    lstm,
    mobilenetv2,
    resnet,
    ssd,
    transformer,
    unet,
    vgg,
    wide_deep,
    word2vec,
)

RNG = np.random.default_rng(0)


def real(*shape):
    return Tensor(RNG.normal(size=shape).astype(np.float32))


def words(count, *shape):
    return Tensor(RNG.integers(0, count, size=shape).astype(np.int32))


def neighbours(count):
    some = np.eye(count) + (RNG.random((count, count)) > 0.5)
    return Tensor(some.clip(0, 1).astype(np.float32))


# What makes each network, and its inputs; small, for only the ops matter.
NETWORKS = {
    "lenet": (lambda: lenet.LeNet5(10), lambda: [real(2, 1, 32, 32)]),
    "alexnet": (lambda: alexnet.AlexNet(10, small=True), lambda: [real(1, 3, 32, 32)]),
    "vgg": (lambda: vgg.vgg16(10, 4, 16, side=32), lambda: [real(2, 3, 32, 32)]),
    "resnet18": (lambda: resnet.resnet18(10), lambda: [real(1, 3, 32, 32)]),
    "resnet20": (lambda: resnet.resnet20(10), lambda: [real(1, 3, 32, 32)]),
    "mobilenetv2": (
        lambda: mobilenetv2.MobileNetV2(10, 0.25, small=True),
        lambda: [real(2, 3, 32, 32)],
    ),
    "densenet": (lambda: densenet.densenet40(10), lambda: [real(1, 3, 32, 32)]),
    "unet": (lambda: unet.UNet(width=4, depth=2), lambda: [real(2, 1, 16, 16)]),
    "ssd": (lambda: ssd.SSDTiny(3, width=4), lambda: [real(2, 1, 32, 32)]),
    "lstm": (lambda: lstm.SentimentNet(10, 8, 8), lambda: [words(10, 3, 6)]),
    "transformer": (
        lambda: transformer.Seq2Seq(10, 6, 16, 4, 2),
        lambda: [words(10, 2, 6), words(10, 2, 5)],
    ),
    "bert": (
        lambda: bert.BertPreTraining(bert.Bert(20, 8, 16, 4, 2)),
        lambda: [words(20, 2, 8), words(2, 2, 8)],
    ),
    "gpt": (lambda: gpt.GPT(20, 8, 16, 4, 2), lambda: [words(20, 2, 8)]),
    "wide_deep": (lambda: wide_deep.WideDeep(4, 20, 4, 16), lambda: [words(20, 3, 4)]),
    "deepfm": (lambda: deepfm.DeepFM(4, 20, 4, 16), lambda: [words(20, 3, 4)]),
    "gcn": (lambda: gcn.GCN(5, 3), lambda: [real(6, 5), neighbours(6)]),
    "gat": (lambda: gcn.GAT(5, 3), lambda: [real(6, 5), neighbours(6)]),
    "word2vec": (lambda: word2vec.SkipGram(20, 4), lambda: [words(20, 3), words(20, 3, 5)]),
    "generator": (lambda: dcgan.Generator(4, 4), lambda: [real(2, 4)]),
    "discriminator": (lambda: dcgan.Discriminator(4), lambda: [real(2, 1, 16, 16)]),
    "dqn": (lambda: dqn.QNetwork(4, 3, 8), lambda: [real(2, 4)]),
}
# Attention, GELU and recurrent layers go into the file as several ops.
LOOSE = {"transformer", "bert", "gpt", "lstm", "gat"}


def arrays(value):
    return [t.asnumpy() for t in (value if isinstance(value, (tuple, list)) else [value])]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_come_back(tmp_path, name):
    make, inputs = NETWORKS[name]
    ms.set_seed(1)
    net, given = make().set_train(False), inputs()
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    try:
        ms.export(net, *given, file_name=str(tmp_path / name), file_format="MINDIR")
        again = nn.GraphCell(ms.load(str(tmp_path / f"{name}.mindir")))
        found, wanted = arrays(again(*given)), arrays(net(*given))
    finally:
        ms.set_context(mode=before)
    assert {p.name for p in again.get_parameters()} <= {p.name for p in net.get_parameters()}
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        if name in LOOSE:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(a, b)
