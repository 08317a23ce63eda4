"""mindspore.run_check(): what works on this machine, and what to do where something does not."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Callable

import numpy as np

from .version import __version__


def _check_product() -> str:
    """A matrix product equals NumPy's."""
    from mindspore import Tensor, ops

    generator = np.random.RandomState(0)
    x, y = (generator.rand(64, 64).astype(np.float32) for _ in range(2))
    found = ops.matmul(Tensor(x), Tensor(y)).asnumpy()
    error = float(np.abs(found - x @ y).max())
    if error > 1e-3:
        raise ArithmeticError(f"the product of two 64 x 64 matrices is off by {error:.2g}")
    return f"largest error {error:.1e}"


def _train_steps(mode: int) -> list[float]:
    """Losses of three training steps of a small network in one mode."""
    import mindspore
    from mindspore import Tensor, nn

    mindspore.set_context(mode=mode)
    mindspore.set_seed(0)
    generator = np.random.RandomState(0)
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dense(256, 10)
    )
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    images = Tensor(generator.rand(8, 1, 8, 8).astype(np.float32))
    labels = Tensor(generator.randint(0, 10, 8).astype(np.int32))
    return [float(step(images, labels).asnumpy()) for _ in range(3)]


def _check_modes() -> str:
    """Graph mode and PyNative mode train alike."""
    import mindspore

    before = mindspore.get_context("mode")
    try:
        graph = _train_steps(mindspore.GRAPH_MODE)
        eager = _train_steps(mindspore.PYNATIVE_MODE)
    finally:
        mindspore.set_context(mode=before)
    if not np.allclose(graph, eager, rtol=1e-4):
        raise ArithmeticError(f"losses differ: {graph} in graph mode, {eager} in PyNative mode")
    if not graph[-1] < graph[0]:
        raise ArithmeticError(f"the loss does not fall: {graph}")
    return f"three steps, loss {graph[0]:.4f} to {graph[-1]:.4f} in both"


_CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("matrix product", _check_product),
    ("training in GRAPH_MODE and PYNATIVE_MODE", _check_modes),
)


def _describe_machine() -> list[str]:
    """The lines that a bug report needs."""
    import mindspore
    from mindspore import _core

    device = mindspore.get_context("device_target")
    return [
        f"MindSpore version: {__version__}",
        f"device: {device} ({platform.machine()}), {_core.num_threads()} threads",
        f"Python {platform.python_version()}, NumPy {np.__version__}",
    ]


def run_check() -> bool:
    """
    Check that MindSpore works on this machine, and print what was found.

    A matrix product is compared with NumPy, then a small network is trained in graph mode and in
    PyNative mode and the losses are compared. The current mode is left as it was.

    Returns:
        bool, True when every check passed.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import mindspore
        >>> mindspore.run_check()  # doctest: +SKIP
    """
    print(*_describe_machine(), sep="\n")
    passed = True
    for name, check in _CHECKS:
        try:
            print(f"  ok      {name}: {check()}")
        except Exception as error:
            passed = False
            print(f"  FAILED  {name}: {type(error).__name__}: {error}")
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"          at {place.filename}:{place.lineno}")
    if passed:
        print("The checks passed: MindSpore is installed and works on this machine.")
    else:
        print(
            "MindSpore does not work as it should on this machine. Install it anew in an empty "
            f"virtual environment ({sys.executable} -m venv ...); if that does not help, report "
            "the lines above."
        )
    return passed
