"""What needs an NVIDIA GPU, in parts that fit into little time on one: scripts/dev gpu [PART ...] [--limit MINUTES].

Without parts: all that have not been seen on this tree's kernels. Each part's output is kept as build/gpu/PART.txt, with what it ran on, and
whether it passed, in its first lines. --stub runs the parts on the stub of NVIDIA's libraries, to try them without a GPU: that is not kept."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "gpu"
PYTEST = ["-m", "pytest", "-n", "0", "-p", "no:cacheprovider"]
# By importance: what each runs. Rows are cut, so that a part ends within a few minutes.
PARTS = {
    "device": [*PYTEST, "tests/devices/test_cuda.py", "tests/devices/test_cuda_texts.py"],
    "convolutions": [*PYTEST, "tests/devices/test_cuda_dnn.py"],
    "steps": [
        *PYTEST,
        *(f"tests/devices/test_cuda_{what}.py" for what in ("graphs", "recurrent", "sink")),
    ],
    "ranks": [*PYTEST, "tests/devices/test_cuda_ranks.py"],  # of two GPUs or more
    "speed": ["scripts/gpu_speed.py"],
    "peers": ["benchmarks/gpu.py"],  # beside PyTorch, where that is installed
    "rows": [*PYTEST, "tests/ops/test_ops.py", "-k", "test_eager"],
    "graphs": [*PYTEST, "tests/ops/test_ops.py", "-k", "test_graph"],
    "networks": [*PYTEST, "tests/networks", "-m", "not slow"],
    "programs": ["tests/fuzz", "--count", "200"],
    "language": [*PYTEST, "tests/language", "tests/views"],
}


def facts(environment: dict[str, str]) -> str:
    """What the device says of itself; empty where there is none."""
    program = (
        "import mindspore as ms; ms.set_device('GPU'); from mindspore import _devices; "
        "print(', '.join(f'{k} {v}' for k, v in _devices.facts('GPU').items()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=ROOT
    )
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
    return done.stdout.strip()


def run(part: str, device: str, environment: dict[str, str], seconds: float, keep: bool) -> bool:
    """Runs a part, no longer than it may, and keeps what it said."""
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, *PARTS[part]],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
        )
        text, state = done.stdout, "passed" if done.returncode == 0 else "FAILED"
    except subprocess.TimeoutExpired as over:
        raw = over.stdout or b""
        text = raw if isinstance(raw, str) else raw.decode(errors="replace")
        state = "NOT FINISHED"
    took = time.monotonic() - begin
    day = datetime.datetime.now().strftime("%Y-%m-%d %H:%M")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    head = f"{part}: {state} in {took:.0f} s, {day}, commit {commit}\non {device}\n"
    print(head, end="", flush=True)
    if keep:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{part}.txt").write_text(head + "\n" + text)
    if state == "FAILED" or not keep:
        print("\n".join(text.splitlines()[-15:]))
    return state == "passed"


def seen(part: str) -> str:
    """What is known of a part."""
    path = RESULTS / f"{part}.txt"
    return path.read_text().splitlines()[0] if path.is_file() else f"{part}: never seen on a GPU"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/dev gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help=", ".join(PARTS))
    parser.add_argument("--limit", type=float, default=9, help="minutes for all of it, at most 9")
    parser.add_argument("--stub", action="store_true", help="on the stub of NVIDIA's libraries")
    chosen = parser.parse_args()
    environment = {**os.environ, "MS_TEST_DEVICE": "GPU", "PYTHONPATH": "mindspore/python:tests"}
    if chosen.stub:
        environment["MS_CUDA_STUB"] = "1"
        environment["MS_CUDA_DRIVER"] = str(ROOT / "build" / "dev" / "libms_cuda_stub.so")
    device = facts(environment)
    end = time.monotonic() + 60 * min(chosen.limit, 9)
    passed = bool(device)
    if device:
        for part in chosen.parts or [p for p in PARTS if ": passed" not in seen(p)]:
            left = end - time.monotonic()
            if left < 5:
                print(f"{part}: there is no time left")
                passed = False
                continue
            passed &= run(part, device, environment, left, not chosen.stub)
    print("\n".join(seen(part) for part in PARTS))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
