"""Weights of PyTorch under the names that they have here."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, train


class Ours(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, pad_mode="valid", has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.act = nn.PReLU(4)
        self.words = nn.Embedding(7, 4)
        self.rnn = nn.LSTM(4, 3, batch_first=True)
        self.norm = nn.LayerNorm((3,), epsilon=1e-5)
        self.head = nn.SequentialCell(nn.Dense(3, 5), nn.ReLU(), nn.Dense(5, 2))

    def construct(self, images, texts):
        seen = self.act(self.bn(self.conv(images))).mean((2, 3))
        read, _ = self.rnn(self.words(texts) + seen.expand_dims(1))
        return self.head(self.norm(read[:, -1]))


def test_weights_of_torch(tmp_path):
    torch = pytest.importorskip("torch")
    to_file = pytest.importorskip("safetensors.torch").save_file

    class Theirs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(2, 4, 3)
            self.bn = torch.nn.BatchNorm2d(4)
            self.act = torch.nn.PReLU(4)
            self.words = torch.nn.Embedding(7, 4)
            self.rnn = torch.nn.LSTM(4, 3, batch_first=True)
            self.norm = torch.nn.LayerNorm(3)
            self.head = torch.nn.Sequential(
                torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)
            )

        def forward(self, images, texts):
            seen = self.act(self.bn(self.conv(images))).mean((2, 3))
            read, _ = self.rnn(self.words(texts) + seen[:, None])
            return self.head(self.norm(read[:, -1]))

    torch.manual_seed(1)
    theirs = Theirs()
    rng = np.random.default_rng(0)
    images = rng.normal(size=(3, 2, 6, 6)).astype(np.float32)
    texts = rng.integers(0, 7, size=(3, 4))
    theirs(torch.tensor(images), torch.tensor(texts))  # moves the statistics
    theirs.eval()
    path = str(tmp_path / "net.safetensors")
    to_file(theirs.state_dict(), path)

    net = Ours().set_train(False)
    names = train.name_map(net)
    values = ms.load_checkpoint(path, format="safetensors")
    assert set(values) - set(names) == {"bn.num_batches_tracked"}
    mine = {names[name]: value for name, value in values.items() if name in names}
    assert ms.load_param_into_net(net, mine, strict_load=True) == ([], [])
    wanted = theirs(torch.tensor(images), torch.tensor(texts)).detach().numpy()
    found = net(Tensor(images), Tensor(texts.astype(np.int32))).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_names():
    names = train.name_map(Ours())
    assert names["bn.running_var"] == "bn.moving_variance"
    assert names["bn.weight"] == "bn.gamma" and names["norm.bias"] == "norm.beta"
    assert names["words.weight"] == "words.embedding_table"
    assert names["head.0.weight"] == "head.0.weight"
    assert names["rnn.weight_ih_l0"] == "rnn.weight_ih_l0"
    assert names["act.weight"].startswith("act.")
    assert len(names) == len(list(Ours().get_parameters()))


def test_what_is_no_network():
    with pytest.raises(TypeError, match="For 'name_map', 'net' must be a Cell, but got dict"):
        train.name_map({})
