"""A recurrent network that learns to write: an LSTM guesses the next character, then makes text of its own.

The text is what scikit-learn says about its data sets.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn import datasets

import mindspore as ms
from mindspore import Tensor, nn

LENGTH, BATCH = 48, 32


class Writer(nn.Cell):
    """Characters as numbers -> scores of the character that follows each, and the state behind the last."""

    def __init__(self, letters: int, size: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, 32)
        self.lstm = nn.LSTM(32, size, batch_first=True)
        self.head = nn.Dense(size, letters)

    def construct(
        self, characters: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        features, state = self.lstm(self.embedding(characters), state)
        return self.head(features), state


class NextCharacter(nn.Cell):
    """The mean cross entropy of all guesses, in bits."""

    def __init__(self, writer: Writer) -> None:
        super().__init__()
        self.writer = writer
        self.loss = nn.CrossEntropyLoss()

    def construct(self, text: Tensor) -> Tensor:
        scores, _ = self.writer(text[:, :-1])
        nats = self.loss(scores.reshape(-1, scores.shape[-1]), text[:, 1:].reshape(-1))
        return nats / float(np.log(2))


def write(writer: Writer, alphabet: list[str], start: str, count: int) -> str:
    """Text that goes on from `start`, one drawn character after the other."""
    rng = np.random.default_rng(0)
    written = start
    scores, state = writer(Tensor([[alphabet.index(c) for c in start]], ms.int32))
    for _ in range(count):
        last = scores[0, -1].asnumpy().astype(np.float64) / 0.7  # below 1: rather the likely ones
        chances = np.exp(last - last.max())
        chosen = rng.choice(len(alphabet), p=chances / chances.sum())
        written += alphabet[chosen]
        scores, state = writer(Tensor([[chosen]], ms.int32), state)
    return written


def main() -> None:
    """Train on windows of the text; print a sample of the network's own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(3)

    names = ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud")
    words = [word for name in names for word in getattr(datasets, f"load_{name}")().DESCR.split()]
    text = " ".join(words)
    alphabet = sorted(set(text))
    numbers = np.array([alphabet.index(c) for c in text], np.int32)
    print(f"{len(text)} characters, {len(alphabet)} of them different")

    writer = Writer(len(alphabet))
    task = NextCharacter(writer)
    step = nn.TrainOneStepCell(task, nn.Adam(task.trainable_params(), learning_rate=0.005))
    step.set_train()
    rng = np.random.default_rng(3)
    bits = []
    for number in range(1, options.steps + 1):
        starts = rng.integers(0, len(numbers) - LENGTH, BATCH)
        window = Tensor(np.stack([numbers[s : s + LENGTH + 1] for s in starts]))
        bits.append(float(step(window)))
        if number % 100 == 0:
            print(f"step {number}: {np.mean(bits[-20:]):.2f} bits per character")

    writer.set_train(False)
    print("-" * 40, write(writer, alphabet, "The ", 160), "-" * 40, sep="\n")
    print(f"bits per character: {np.mean(bits[-20:]):.2f}")


if __name__ == "__main__":
    main()
