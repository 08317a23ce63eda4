"""How fast the GPU's kernels are: bytes a second of what is bound by memory, operations a second of products. Of scripts/dev gpu speed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops

SMALL = bool(os.environ.get("MS_CUDA_DRIVER"))  # the stub, which is no GPU
SIZE = 64 if SMALL else 8192


def milliseconds(call: Callable[[], object]) -> float:
    """Of one call, the median of five runs of twenty that are waited for together."""
    runs, count = [], 2 if SMALL else 20
    call()
    ms.runtime.synchronize()
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        ms.runtime.synchronize()
        runs.append((time.perf_counter() - begin) / count * 1e3)
    return sorted(runs)[2]


@ms.jit
def chain(x, y):
    return ops.sigmoid(ops.tanh(x * 1.5 + y) * x + ops.exp(-y * y)) * y


def measure(dtype) -> None:
    x = Tensor(np.random.randn(SIZE, SIZE).astype(np.float32)).astype(dtype)
    y = x * 0.5
    item = 2 if dtype == ms.bfloat16 else 4
    gigabytes = SIZE * SIZE * item / 1e9
    weight, bias = ops.ones((SIZE,), dtype), ops.zeros((SIZE,), dtype)
    cases: dict[str, tuple[Callable[[], object], float]] = {
        "chain of 9": (lambda: chain(x, y), 3 * gigabytes),
        "add": (lambda: x + y, 3 * gigabytes),
        "softmax": (lambda: ops.softmax(x), 2 * gigabytes),
        "layer norm": (lambda: ops.layer_norm(x, (SIZE,), weight, bias), 2 * gigabytes),
        "sum of rows": (lambda: x.sum(1), gigabytes),
        "sum of columns": (lambda: x.sum(0), gigabytes),
        "sum of all": (lambda: x.sum(), gigabytes),
        "transposed": (lambda: ops.transpose(x, (1, 0)) + 0, 2 * gigabytes),
    }
    for name, (call, moved) in cases.items():
        took = milliseconds(call)
        print(f"{name:16} {dtype!s:10} {took:9.3f} ms {moved / took * 1e3:8.1f} GB/s", flush=True)
    took = milliseconds(lambda: ops.matmul(x, y))
    print(f"{'product':16} {dtype!s:10} {took:9.3f} ms {2e-9 * SIZE**3 / took:8.1f} TFLOP/s")


def main() -> None:
    ms.set_context(device_target="GPU", mode=ms.GRAPH_MODE)
    for dtype in (ms.float32, ms.bfloat16):
        measure(dtype)


if __name__ == "__main__":
    main()
