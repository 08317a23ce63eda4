"""Plans of networks as they are in the field, without a hint, on a machine of eight hosts."""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import dry_run


class Block(nn.Cell):
    """Attention and a feed-forward network, with what goes around them."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.count = heads
        self.q, self.k, self.v, self.o = (nn.Dense(width, width) for _ in range(4))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))

    def heads(self, x: Tensor) -> Tensor:
        """[batch, heads, positions, width of a head]."""
        return x.reshape(x.shape[0], x.shape[1], self.count, -1).transpose(0, 2, 1, 3)

    def construct(self, x: Tensor) -> Tensor:
        """The block."""
        h = self.norm1(x)
        scores = ops.matmul(self.heads(self.q(h)), self.heads(self.k(h)).swapaxes(2, 3))
        mixed = ops.matmul(ops.softmax(scores, -1), self.heads(self.v(h)))
        x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Language(nn.Cell):
    """An embedding, blocks, and logits with their loss."""

    def __init__(self, width: int, heads: int, vocabulary: int, layers: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.blocks = nn.SequentialCell([Block(width, heads) for _ in range(layers)])
        self.head = nn.Dense(width, vocabulary, has_bias=False)

    def construct(self, ids: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        logits = self.head(self.blocks(self.table(ids)))
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def planned(network: nn.Cell, devices: int, mode: str) -> dict:
    """The plan of a training step with a batch of 64."""
    step = nn.TrainOneStepCell(network, nn.Adam(network.trainable_params(), 1e-4)).set_train()
    ids = Tensor(shape=(64, 256), dtype=ms.int32)
    return dry_run(step, ids, ids, devices=devices, mode=mode).data


@pytest.mark.parametrize(
    ("sizes", "devices", "most"),
    [
        ((1024, 16, 30522, 2), 8, 0.9),
        pytest.param((1024, 16, 30522, 24), 64, 0.8, marks=pytest.mark.slow),  # BERT-large
        pytest.param((1600, 25, 50257, 48), 8, 0.95, marks=pytest.mark.slow),  # GPT-2 1.5 B
        pytest.param((1600, 25, 50257, 48), 64, 0.95, marks=pytest.mark.slow),  # on six axes
    ],
)
def test_weights_are_cut_and_much_is_gained(sizes, devices, most):
    with no_init_parameters():
        network = Language(*sizes)
    found, data = (planned(network, devices, mode) for mode in ("auto", "data_parallel"))
    assert found["seconds"] < most * data["seconds"]
    assert found["memory"]["parameters"] < data["memory"]["parameters"] / 4
    layouts = {p["name"]: p["layout"] for p in found["parameters"]}
    for name in ("q", "k", "v", "up"):  # heads, and the inner width
        layout = layouts[f"blocks.0.{name}.weight"]
        assert layout.startswith(("[(d_", "[d_")), (name, layout)
    for name in ("table.embedding_table", "head.weight", "blocks.0.down.weight"):
        assert layouts[name] != "[-, -]", (name, layouts[name])
