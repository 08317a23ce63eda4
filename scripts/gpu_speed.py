"""How fast the GPU's kernels are: bytes a second of what is bound by memory, operations a second of products and convolutions; training steps with
and without recordings. Of scripts/dev gpu speed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

import mindspore as ms
from mindspore import Tensor, _devices, nn, ops

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


def measure_convolutions(dtype) -> None:
    batch, size, channels = (2, 8, 8) if SMALL else (64, 56, 64)
    x = Tensor(np.random.randn(batch, size, size, channels).astype(np.float32)).astype(dtype)
    w = Tensor(np.random.randn(channels, 3, 3, channels).astype(np.float32)).astype(dtype)
    convolve = ops.Conv2D(channels, 3, pad_mode="same", data_format="NHWC")
    gradient = ms.jit(ms.grad(lambda x, w: convolve(x, w).sum(), (0, 1)))
    forward = ms.jit(lambda x, w: convolve(x, w))
    work = 2e-9 * batch * size * size * channels * channels * 9
    for name, call, times in (("convolution", forward, 1), ("its gradients", gradient, 2)):
        took = milliseconds(lambda call=call: call(x, w))
        print(
            f"{name:16} {dtype!s:10} {took:9.3f} ms {times * work / took:8.1f} TFLOP/s", flush=True
        )
    pool = ms.jit(lambda x: ops.MaxPool(3, 2, "same", data_format="NHWC")(x))
    took = milliseconds(lambda: pool(x))
    moved = 1.25 * x.size * (2 if dtype == ms.bfloat16 else 4) / 1e9
    print(f"{'max pooling':16} {dtype!s:10} {took:9.3f} ms {moved / took * 1e3:8.1f} GB/s")


def measure_step() -> None:
    """LeNet, batch 32: bound by launches."""
    net = nn.SequentialCell(
        *(nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2)),
        *(nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()),
        *(nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)),
    )
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    update = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, update.parameters)

    @ms.jit
    def step(x, y):
        value, grads = gradient(x, y)
        update(grads)
        return value

    batch = 1 if SMALL else 32
    x = Tensor(np.random.randn(batch, 1, 32, 32).astype(np.float32)) + 0
    y = Tensor(np.arange(batch, dtype=np.int32) % 10) + 0
    ways = {"as one launch": (True, True), "in a row": (True, False), "by kernels": (False, False)}
    for way in (*ways, *ways):
        for setting, on in zip(("records", "branches"), ways[way], strict=True):
            _devices.tell(setting, on)
        step(x, y), step(x, y)
        took = milliseconds(lambda: step(x, y))
        found = _devices.facts("GPU")
        print(
            f"LeNet step {way:14} {took:9.3f} ms; loss {float(step(x, y).asnumpy()):.4f}, "
            f"replayed {found['replayed']}, recorded {found['recorded']}, not {found['not_recorded']}",
            flush=True,
        )


def main() -> None:
    ms.set_context(device_target="GPU", mode=ms.GRAPH_MODE)
    measure_step()
    for dtype in (ms.float32, ms.bfloat16):
        measure(dtype)
        measure_convolutions(dtype)


if __name__ == "__main__":
    main()
