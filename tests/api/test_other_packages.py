"""Other packages in one process with this one, imported before it and after: values hold, and no symbol of ours is theirs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap

import pytest

OURS = """
    import hashlib
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, nn

    def train():
        ms.set_context(mode=ms.GRAPH_MODE)
        ms.set_seed(0)
        net = nn.SequentialCell(
            nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Dense(8 * 32 * 32, 100)
        )
        optimizer = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
        x = Tensor(np.random.default_rng(0).standard_normal((16, 3, 32, 32)).astype(np.float32))
        y = Tensor(np.arange(16, dtype=np.int32))
        for _ in range(5):
            step(x, y)
        bits = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
        return hashlib.sha256(bits).hexdigest()
"""
THEIRS = {
    "torch": """
        import torch
        a = torch.linspace(0, 1, 512 * 512).reshape(512, 512)
        image = torch.ones(2, 3, 64, 64)
        check = lambda: [
            float((a @ a).sum()),
            float(torch.nn.functional.conv2d(image, torch.ones(8, 3, 3, 3)).sum()),
        ]
        """,
    "jax": """
        import jax.numpy as jnp
        a = jnp.linspace(0, 1, 512 * 512).reshape(512, 512)
        check = lambda: [float((a @ a).sum())]
        """,
    "sklearn": """
        import numpy
        from sklearn.cluster import KMeans
        points = numpy.random.default_rng(0).normal(size=(2000, 8))
        check = lambda: [float(KMeans(5, n_init=1, random_state=0).fit(points).inertia_)]
        """,
    "cv2": """
        import cv2, numpy
        image = numpy.random.default_rng(0).integers(0, 255, (256, 256), numpy.uint8)
        check = lambda: [float(cv2.GaussianBlur(image, (5, 5), 1).sum())]
        """,
}
LOCAL = """
import ctypes
try:
    ctypes.CDLL(None).dnnl_sgemm
    raise SystemExit("the symbols of oneDNN are everybody's")
except AttributeError:
    pass
"""


def printed(*parts: str) -> list[str]:
    """The lines that a process of its own prints."""
    code = "\n".join(map(textwrap.dedent, parts))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", THEIRS)
def test_values_with_another_package(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}")
    theirs, both = THEIRS[name], "print(check(), train(), check())"
    (alone,), (bits,) = printed(theirs, "print(check())"), printed(OURS, "print(train())")
    expected = [f"{alone} {bits} {alone}"]
    assert printed(theirs, OURS, both) == expected
    assert printed(OURS, theirs, both) == expected
    assert printed(OURS, "before = train()", theirs, both, "assert train() == before") == expected


def test_libraries_are_not_for_everybody():
    assert printed("import mindspore", LOCAL) == []
