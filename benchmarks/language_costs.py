"""Times what compiled code costs besides its kernels: `python benchmarks/language_costs.py [figure ...]`.

A step of a loop that a tensor decides, without and with its gradient; the check of the facts that compiled code rests on; and the
memory that a version for one more shape takes. Each figure has a process of its own; the least of a few is kept. The exit status
tells whether every figure is within its bar.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import timeit
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fresh import reading

import mindspore as ms
from mindspore import Tensor, nn, ops

STEPS = 100_000
SHAPES = 200


@dataclass
class Figure:
    """What is measured, its unit, and the bar."""

    measure: Callable[[], float]
    unit: str
    bar: float


def countdown(x, rounds):
    """A loop whose body is as small as can be."""
    while rounds > 0:
        x = x * 0.5
        rounds = rounds - 1
    return x


def _step(function: Callable) -> float:
    """Microseconds of a step: many rounds less none."""
    ms.set_context(mode=ms.GRAPH_MODE)
    compiled, x = ms.jit(function), Tensor(1.0, ms.float32)

    def call(rounds: int) -> float:
        number = Tensor(rounds, ms.int32)
        start = time.process_time()
        compiled(x, number)
        return time.process_time() - start

    return (min(call(STEPS) for _ in range(5)) - min(call(0) for _ in range(5))) / STEPS * 1e6


def while_step() -> float:
    """A step of a loop."""
    return _step(countdown)


def while_gradient_step() -> float:
    """A step forward and backward."""
    return _step(lambda x, rounds: ms.grad(countdown)(x, rounds))


class Block(nn.Cell):
    """A cell that brings about 40 facts."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.norm = nn.Dense(4, 4), nn.Dense(4, 4), nn.LayerNorm((4,))
        self.scale = 2.0

    def construct(self, x):
        """Two dense layers, residual."""
        return self.b(ops.relu(self.a(self.norm(x)))) * self.scale + x


def guards() -> float:
    """Microseconds of a check of more than 2 000 facts when nothing has changed."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell([Block() for _ in range(55)])
    net(Tensor(np.ones((2, 4), np.float32)))
    ((entry,),) = net._compiled_versions.entries.values()
    return min(timeit.repeat(entry.guards.check, number=500, repeat=20)) / 500 * 1e6


def shape_memory() -> float:
    """MB that one more shape of an argument takes. Versions are bounded, and one warning names the argument."""
    ms.set_context(mode=ms.GRAPH_MODE)

    @ms.jit
    def function(image, scale):
        return ops.relu(ops.matmul(image, scale)).sum() + ops.softmax(image, -1).mean()

    scale = Tensor(np.ones((8, 8), np.float32))
    inputs = [Tensor(np.ones((i + 1, 8), np.float32)) for i in range(SHAPES + 1)]
    function(inputs.pop(), scale)
    before = _resident()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in inputs:
            function(x, scale)
    said = [str(w.message) for w in caught]
    if len(said) != 1 or "image" not in said[0]:
        raise AssertionError(f"one warning must name the argument, but got {said}")
    if len(function.cache.entries) >= SHAPES:
        raise AssertionError("versions must be bounded")
    return (_resident() - before) / SHAPES


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


FIGURES = {
    "while_step": Figure(while_step, "us", 1.0),
    "while_gradient_step": Figure(while_gradient_step, "us", 2.0),
    "guards_2000": Figure(guards, "us", 2.0),
    "shapes_200": Figure(shape_memory, "MB", 0.25),
}


def least(name: str, repeats: int) -> float:
    """The least reading over fresh processes."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    command = [sys.executable, __file__, "--measure", name]
    return min(reading(command, environment)[0] for _ in range(repeats))


def main() -> int:
    """Parses arguments and runs figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[[], *FIGURES], default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=FIGURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print("figure", FIGURES[options.measure].measure())
        return 0
    within = True
    for name in options.figures or FIGURES:
        figure, reading = FIGURES[name], least(name, options.repeats)
        print(f"{name:20} {reading:8.3f} {figure.unit}  bar {figure.bar:g}", flush=True)
        within &= reading <= figure.bar
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
