"""Training that can be stopped at any time: run it again, and it goes on where its last checkpoint was made.

    python examples/resume.py --folder run --epochs 3    # three epochs
    python examples/resume.py --folder run --epochs 6    # three more; the weights are those of six in one run

A checkpoint holds all that the next step depends on: weights, the state of the optimizer and the epoch. It is written beside
its place and renamed, so that whatever stops the program leaves the old one or the new one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import mindspore as ms
from mindspore import Tensor, nn

BATCH = 64


def batches(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The batches of an epoch, in an order that the epoch alone decides."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(epoch).permutation(len(images))
    for at in range(0, len(order), BATCH):
        chosen = order[at : at + BATCH]
        yield (
            Tensor((images[chosen] / 16).astype(np.float32)),
            Tensor(labels[chosen].astype(np.int32)),
        )


def main() -> None:
    """Go on from the checkpoint in the folder, if there is one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--epochs", type=int, default=6, help="how many in all")
    parser.add_argument("--folder", type=Path, default=Path("run"))
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(5)

    net = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.003)
    task = nn.WithLossCell(net, nn.CrossEntropyLoss())
    step = nn.TrainOneStepCell(task, optimizer).set_train()  # holds the network and the optimizer

    checkpoint = options.folder / "training.ckpt"
    done = 0
    if checkpoint.exists():
        values = ms.load_checkpoint(str(checkpoint))
        done = int(values.pop("epoch"))
        not_loaded, _ = ms.load_param_into_net(step, values)
        assert not not_loaded, not_loaded
        print(f"going on after epoch {done}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for epoch in range(done + 1, options.epochs + 1):
        losses = [float(step(image, label)) for image, label in batches(epoch)]
        ms.save_checkpoint(step, str(checkpoint), append_dict={"epoch": epoch})
        print(f"epoch {epoch}: mean loss {np.mean(losses):.4f}")

    net.set_train(False)
    right = np.concatenate([(net(x).argmax(1) == y).asnumpy() for x, y in batches(0)])
    print(f"accuracy: {right.mean():.3f}")


if __name__ == "__main__":
    main()
