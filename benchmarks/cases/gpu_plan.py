"""What gpu.py has a framework do: a network, its sizes, how often, and what all frameworks begin with."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Plan:
    """One run of one framework."""

    name: str
    folder: str
    device: str
    batch: int
    sizes: list[
        int
    ]  # of images: channels, height, width, classes; of text: as the network takes them
    length: int  # of rows of text; 0: images
    losses: int
    runs: int
    steps: int  # of a run
    compiled: bool = False

    @property
    def images(self) -> bool:
        """Whether the network names images."""
        return self.length == 0

    @property
    def rate(self) -> float:
        """Of learning."""
        return 0.01 if self.images else 1e-4

    @property
    def weights_file(self) -> Path:
        """What the first framework leaves for the others."""
        return Path(self.folder, f"{self.name}.npz")

    def weights(self) -> list[np.ndarray]:
        """In the order of the network's parameters."""
        with np.load(self.weights_file) as arrays:
            return [arrays[f"arr_{i}"] for i in range(len(arrays.files))]

    def inputs(self) -> list[np.ndarray]:
        """The one batch that all steps see."""
        random = np.random.default_rng(0)
        if self.images:
            *shape, classes = self.sizes
            images = random.normal(size=(self.batch, *shape)).astype(np.float32)
            return [images, random.integers(0, classes, self.batch).astype(np.int32)]
        shape = [self.batch, self.length]
        words = random.integers(0, self.sizes[0], shape).astype(np.int32)
        targets = random.integers(0, self.sizes[0], shape).astype(np.int32)
        if self.name != "bert_base":
            return [words, targets]
        segments = random.integers(0, 2, shape).astype(np.int32)
        return [words, segments, np.ones(shape, np.float32), targets]

    def text(self) -> str:
        """For a process that does it."""
        return json.dumps(asdict(self))

    @staticmethod
    def given() -> Plan:
        """That of this process."""
        return Plan(**json.loads(sys.argv[1]))


def tell(
    step: Callable[[], Any], number: Callable[[Any], float], wait: Callable[[], None], plan: Plan
) -> None:
    """Prints the losses of the first steps, what the first took beyond a later one, and milliseconds of a step in each run."""
    clock = time.perf_counter
    begin = clock()
    losses = [number(step())]
    first = clock() - begin
    losses += [number(step()) for _ in range(plan.losses - 1)]
    times = []
    for _ in range(plan.runs):
        wait()
        begin = clock()
        for _ in range(plan.steps):
            step()
        wait()
        times.append((clock() - begin) / plan.steps * 1e3)
    print(json.dumps({"losses": losses, "first": first - min(times) / 1e3, "times": times}))
