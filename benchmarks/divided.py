"""How well the planner knows this machine, and what dividing a network costs: `python benchmarks/divided.py [model] [tensor]`.

`model`: of five small networks each Parameter of a few lies whole, in rows or in columns, in all combinations, on two processes of one
thread. Each plan is modelled and measured, and the one that the search finds alone: how far the model is off, and how far the plan that it
takes for the best is from the best there is.

`tensor`: two processes of one thread train a Transformer together whose Parameters are cut, beside two that train one each alone, in turns:
the share of their rate that is left. Bars: the model within 25 %, its best plan within 10 % of the best, 0.85 of the rate. The last lines
say each figure beside its bar. Another program on the machine spoils both: the load is shown, and --rounds takes the quietest of several.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

RANKS, WARM, STEPS = 2, 4, 15
SAME = 1e-3  # of modelled seconds: no other plan
MOST_OFF, MOST_WORSE, LEAST_RATE = 0.25, 0.10, 0.85
NETS = ("mlp", "deep", "convolutions", "attention", "table")
KINDS = {"whole": None, "rows": 0, "columns": 1}


def case(name: str) -> tuple[Any, tuple[np.ndarray, ...], list[str]]:
    """A network with its loss inside, its data, and the Parameters that are laid in all ways."""
    import mindspore as ms
    from mindspore import nn, ops

    draw = np.random.RandomState(0)

    class Error(nn.Cell):
        def __init__(self, net: Any) -> None:
            super().__init__()
            self.net = net

        def construct(self, *data: Any) -> Any:
            return ((self.net(*data[:-1]) - data[-1]) ** 2).mean()

    def floats(*shape: int) -> np.ndarray:
        return draw.randn(*shape).astype(np.float32)

    if name == "mlp":
        net = nn.SequentialCell(nn.Dense(512, 2048), nn.ReLU(), nn.Dense(2048, 512))
        return Error(net), (floats(256, 512), floats(256, 512)), ["0.weight", "2.weight"]
    if name == "deep":
        layers = [nn.SequentialCell(nn.Dense(768, 768), nn.Tanh()) for _ in range(4)]
        return (
            Error(nn.SequentialCell(layers)), (floats(128, 768), floats(128, 768)), ["0.0.weight", "1.0.weight"],
        )  # fmt: skip
    if name == "convolutions":
        net = nn.SequentialCell(
            nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(),
            nn.Dense(32 * 256, 128),
        )  # fmt: skip
        return Error(net), (floats(16, 16, 16, 16), floats(16, 128)), ["2.weight", "5.weight"]
    if name == "table":

        class Table(nn.Cell):
            def __init__(self) -> None:
                super().__init__()
                self.rows, self.head = nn.Embedding(20000, 128), nn.Dense(128 * 8, 256)

            def construct(self, ids: Any) -> Any:
                return self.head(self.rows(ids).reshape(ids.shape[0], -1))

        ids = draw.randint(0, 20000, (512, 8)).astype(np.int32)
        return Error(Table()), (ids, floats(512, 256)), ["rows.embedding_table", "head.weight"]

    assert name == "attention"
    ms.set_seed(0)

    class Attention(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Dense(256, 256) for _ in range(4))
            self.up, self.down = nn.Dense(256, 1024), nn.Dense(1024, 256)

        def construct(self, x: Any) -> Any:
            def heads(y: Any) -> Any:
                return y.reshape(y.shape[0], y.shape[1], 8, 32).transpose(0, 2, 1, 3)

            scores = ops.matmul(heads(self.q(x)), heads(self.k(x)).swapaxes(2, 3)) / 32**0.5
            mixed = ops.matmul(ops.softmax(scores, -1), heads(self.v(x)))
            x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
            return x + self.down(ops.relu(self.up(x)))

    return (
        Error(Attention()),
        (floats(8, 64, 256), floats(8, 64, 256)),
        ["up.weight", "down.weight"],
    )


def transformer() -> tuple[Any, tuple[np.ndarray, ...]]:
    """Three layers of a width at which products take most of the time."""
    from mindspore import nn, ops

    class Layer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Dense(512, 512) for _ in range(4))
            self.up, self.down = nn.Dense(512, 2048), nn.Dense(2048, 512)
            self.norm1, self.norm2 = nn.LayerNorm((512,)), nn.LayerNorm((512,))

        def construct(self, x: Any) -> Any:
            def heads(y: Any) -> Any:
                return y.reshape(y.shape[0], y.shape[1], 8, 64).transpose(0, 2, 1, 3)

            h = self.norm1(x)
            scores = ops.matmul(heads(self.q(h)), heads(self.k(h)).swapaxes(2, 3)) / 8
            mixed = ops.matmul(ops.softmax(scores, -1), heads(self.v(h)))
            x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
            return x + self.down(ops.gelu(self.up(self.norm2(x))))

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.SequentialCell([Layer() for _ in range(3)])

        def construct(self, x: Any, y: Any) -> Any:
            return ((self.layers(x) - y) ** 2).mean()

    draw = np.random.RandomState(0)
    return Net(), tuple(draw.randn(8, 128, 512).astype(np.float32) for _ in range(2))


def timed(net: Any, data: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """The median seconds of a training step of the process that is slower, and what the plan says; 0: there is none."""
    from mindspore import Tensor, nn
    from mindspore.common import _planning
    from mindspore.communication import get_group_size
    from mindspore.train import _together

    said = [0.0]
    before = _planning.Planning.written

    def written(self: Any, graph: Any) -> None:
        said[0] = graph.layouts["seconds"]
        before(self, graph)

    _planning.Planning.written = written  # type: ignore[method-assign]
    try:
        optimizer = nn.SGD(net.trainable_params(), 0.001)
        step = nn.TrainOneStepCell(net, optimizer).set_train()
        inputs = [Tensor(x) for x in data]
        times = []
        for _ in range(WARM + STEPS):
            begin = time.perf_counter()
            step(*inputs).asnumpy()
            times.append(time.perf_counter() - begin)
    finally:
        _planning.Planning.written = before  # type: ignore[method-assign]
    own = statistics.median(times[WARM:])
    return max(_together.gather_objects(own)) if get_group_size() > 1 else own, said[0]


def pin(net: Any, ways: dict[str, int | None]) -> None:
    """Lays Parameters whole, or cut along a dimension."""
    from mindspore.common import _planning

    for parameter in net.get_parameters():
        for name, dim in ways.items():
            if parameter.name.endswith(name):
                cuts = tuple(RANKS if d == dim else 1 for d in range(parameter.ndim))
                _planning.pin_parameter("benchmark", parameter, cuts)


def inside(what: str, name: str) -> None:
    """What one of the processes does."""
    import mindspore as ms
    from mindspore.communication import get_rank, init

    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    divided = {
        "parallel_mode": "auto_parallel",
        "search_mode": "dynamic_programming",
        "full_batch": True,
    }
    if what == "alone":
        print("found", get_rank(), json.dumps(timed(*transformer())[0]), flush=True)
        return
    ms.set_auto_parallel_context(**divided)
    if what == "tensor":
        net, data = transformer()
        ways = {f"{n}.weight": 0 for n in "qkv"} | {"o.weight": 1, "up.weight": 0, "down.weight": 1}
        pin(net, ways)
        print("found", get_rank(), json.dumps(timed(net, data)), flush=True)
        return
    timed(*case(name)[:2])  # what comes first has memory to be given, and is slower
    found = {"search": timed(*case(name)[:2])}
    for kinds in itertools.product(KINDS, KINDS):
        net, data, names = case(name)
        pin(net, {n: KINDS[kind] for n, kind in zip(names, kinds)})
        found[" ".join(kinds)] = timed(net, data)
    if get_rank() == 0:
        print("found", 0, json.dumps(found), flush=True)


def run(what: str, name: str = "-") -> list[Any]:
    """What the processes have found."""
    root = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}
    env = {**os.environ, **root, "OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx"}
    mpiexec = [str(Path(sys.prefix) / "bin" / "mpiexec"), "-n", str(RANKS)]
    command = [*mpiexec, sys.executable, __file__, "--inside", what, name]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    return [json.loads(line[2]) for line in lines if line and line[0] == "found"]


def verdict(figure: str, within: bool) -> tuple[str, bool]:
    """A figure beside its bar, in one line."""
    return f"{'holds' if within else 'MISSED'}: {figure}", within


def model(rounds: int) -> list[tuple[str, bool]]:
    """The plans of all networks."""
    offs, behind = {}, {}
    for name in NETS:
        rows: dict[str, list[list[float]]] = {}
        for _ in range(rounds):
            for plan, figures in run("model", name)[0].items():
                rows.setdefault(plan, []).append(figures)
        # What was measured beside what was modelled in the same run: each measures the machine anew.
        best = {plan: min(figures) for plan, figures in rows.items()}
        took = {plan: figures[0] for plan, figures in best.items()}
        said = {plan: figures[1] for plan, figures in best.items()}
        off = {plan: said[plan] / took[plan] - 1 for plan in rows}
        # Which one is modelled as the best: by what all runs say; of those that are one plan, or modelled alike, the quickest.
        means = {plan: statistics.mean(f[1] for f in figures) for plan, figures in rows.items()}
        equal = [plan for plan in rows if means[plan] <= min(means.values()) * (1 + SAME)]
        chosen = min(equal, key=lambda p: took[p])
        offs[name], behind[name] = off["search"], took[chosen] / min(took.values()) - 1
        middle = statistics.median(abs(o) for o in off.values())
        print(f"{name}: the plan of the search {took['search'] * 1e3:.2f} ms, modelled {off['search']:+.0%}; of {len(rows)} plans half are "
              f"within {middle:.0%}; best modelled '{chosen}' is {behind[name]:.0%} over the best", flush=True)  # fmt: skip
        for plan in rows:
            print(
                f"    {plan:16} {took[plan] * 1e3:8.2f} ms  modelled {said[plan] * 1e3:8.2f} ms {off[plan]:+.0%}"
            )
    worst = max(offs, key=lambda n: abs(offs[n]))
    last = max(behind, key=lambda n: behind[n])
    return [
        verdict(
            f"a step is modelled within {abs(offs[worst]):.0%} of the measured one on all of {len(offs)} networks ({worst} "
            f"{offs[worst]:+.0%}); the bar is {MOST_OFF:.0%}",
            abs(offs[worst]) <= MOST_OFF,
        ),
        verdict(
            f"the best modelled plan takes at most {behind[last]:.0%} more than the best measured one ({last}); the bar is "
            f"{MOST_WORSE:.0%}",
            behind[last] <= MOST_WORSE,
        ),
    ]


def tensor(rounds: int) -> list[tuple[str, bool]]:
    """A Transformer on two processes, and one on each."""
    together, alone = [], []
    for _ in range(rounds):
        together.append(max(run("tensor")))
        alone.append(max(run("alone")))
        print(
            f"transformer: cut over {RANKS} processes {together[-1][0] * 1e3:.1f} ms, alone {alone[-1] * 1e3:.1f} ms each",
            flush=True,
        )
    took, said = min(together)
    rate = min(alone) / (RANKS * took)
    return [
        verdict(
            f"a Transformer that is cut over {RANKS} processes trains at {rate:.2f} of the rate of {RANKS} alone; the bar is "
            f"{LEAST_RATE}",
            rate >= LEAST_RATE,
        ),
        verdict(
            f"its step of {took * 1e3:.1f} ms is modelled as {said * 1e3:.1f} ms, {said / took - 1:+.0%}; the bar is {MOST_OFF:.0%}",
            abs(said / took - 1) <= MOST_OFF,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["model", "tensor"])
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if options.inside:
        inside(*options.inside)
        return 0
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    done = [d for what in options.what for d in {"model": model, "tensor": tensor}[what](options.rounds)]  # fmt: skip
    print(f"load {os.getloadavg()[0]:.1f}")
    for line, _ in done:
        print(line)
    return 0 if all(within for _, within in done) else 1


if __name__ == "__main__":
    sys.exit(main())
