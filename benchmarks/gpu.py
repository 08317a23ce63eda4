"""Training steps on a GPU beside PyTorch, eager and compiled: `python benchmarks/gpu.py [NETWORK ...] [--small]`.

Each framework trains the same network from the same weights on the same batch, which lies on the device, in bfloat16 where its mixed
precision says so; the frameworks take turns, each in a process of its own. What is printed: the median of five runs of fifty steps, our time
over each peer's beside what it must be, how far losses are apart over the first hundred steps, what the first step took beyond a later one,
and of GPT the part of the chip's products. `--small` tries all of it with small networks, on what device there is."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from cases.gpu_plan import Plan

HERE = Path(__file__).parent
PEERS = ("torch", "torch_compile")
# Products of bfloat16 a second, by a part of the chip's name.
CHIPS = {"H200": 989e12, "H100": 989e12, "B200": 2250e12, "A100": 312e12}
# Batch, sizes and length of each, and the peer with what our time must be of its.
NETWORKS = {
    "lenet": (32, [1, 28, 28, 10], 0, ("torch", 0.3)),
    "resnet50": (256, [3, 224, 224, 1000], 0, ("torch_compile", 0.85)),
    "bert_base": (64, [30522, 768, 12, 12], 128, ("torch_compile", 0.9)),
    "gpt": (16, [50257, 768, 12, 12, 1024], 1024, ("torch_compile", 0.9)),
}
SMALL = {
    "lenet": (2, [1, 28, 28, 10], 0),
    "resnet50": (4, [3, 64, 64, 1000], 0),
    "bert_base": (2, [64, 32, 4, 2], 8),
    "gpt": (2, [64, 32, 4, 2, 8], 8),
}


def run(plan: Plan, framework: str) -> dict | None:
    """What a framework tells; None: it failed, which is said."""
    ours = framework == "mindspore"
    script = HERE / "cases" / ("gpu_ms.py" if ours else "gpu_torch.py")
    given = replace(plan, compiled=framework == "torch_compile").text()
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), given],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"  {framework} failed: {done.stderr.strip().splitlines()[-1][:300]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def products_of_gpt(plan: Plan) -> float:
    """Of a step: six for each weight and word, and attention's, of which half is hidden."""
    vocabulary, width, _, layers, length = plan.sizes
    weights = vocabulary * width + layers * 12 * width * width
    return plan.batch * length * (6 * weights + 6 * layers * width * length)


def compare(plan: Plan, wanted: tuple[str, float], chip: str) -> None:
    """All frameworks, one after the other."""
    print(f"{plan.name}, batch {plan.batch}")
    found = {name: run(plan, name) for name in (*PEERS, "mindspore")}
    for name, told in found.items():
        if told:
            print(
                f"  {name:14} {statistics.median(told['times']):9.3f} ms a step (of runs: "
                f"{min(told['times']):.3f} to {max(told['times']):.3f}); first step {told['first']:.2f} s more; "
                f"loss {told['losses'][0]:.4f} to {told['losses'][-1]:.4f}"
            )
    ours = found["mindspore"]
    if not ours:
        return
    time = statistics.median(ours["times"])
    for name in PEERS:
        if peer := found[name]:
            must = f" (must be {wanted[1]})" if name == wanted[0] else ""
            apart = max(abs(a - b) for a, b in zip(ours["losses"], peer["losses"], strict=True))
            print(
                f"  ours / {name}: {time / statistics.median(peer['times']):.3f}{must}; losses at most {apart:.4f} apart"
            )
    peak = next((rate for part, rate in CHIPS.items() if part in chip), 0.0)
    if plan.name == "gpt" and peak:
        part = products_of_gpt(plan) / (time * 1e-3) / peak
        print(f"  {part:.1%} of the chip's products (must be 45%)")


def machine() -> str:
    """The chip, its driver and clocks, as NVIDIA's tool says."""
    asked = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit"
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return "no NVIDIA GPU"
    return done.stdout.strip()


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", choices=[*NETWORKS, []], help=", ".join(NETWORKS))
    parser.add_argument("--small", action="store_true", help="small networks, on any device")
    parser.add_argument("--device", default="GPU", help="of our framework: GPU or CPU")
    chosen = parser.parse_args()
    chosen.small |= "MS_CUDA_DRIVER" in os.environ  # the stub, which is no GPU
    chip = machine()
    print(chip, flush=True)
    losses, runs, steps = (5, 2, 2) if chosen.small else (100, 5, 50)
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.networks or NETWORKS:
            batch, sizes, length, wanted = NETWORKS[name]
            if chosen.small:
                batch, sizes, length = SMALL[name]
            plan = Plan(name, folder, chosen.device, batch, sizes, length, losses, runs, steps)
            compare(plan, wanted, chip)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
