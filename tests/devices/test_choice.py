"""Which device runs: chosen for eager code and for what is compiled, changed at any time, refused where it is absent."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, nn


@pytest.fixture
def null_device():
    """A device that computes nothing: small results are zeros."""
    if "Null" not in _core.backends():
        _core.add_null_device()
    yield "Null"
    context.set_context(device_target="CPU")


@pytest.mark.host_device
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_the_device_that_is_set_runs(mode, null_device):
    context.set_context(mode=mode)
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dense(3, 2))
    step = ms.value_and_grad(lambda x: (net(x) * net(x)).sum(), None, net.trainable_params())
    x = Tensor(np.ones((4, 2), np.float32))

    def loss():
        return float(step(x)[0].asnumpy())

    value = loss()
    assert value > 0
    for _ in range(2):
        context.set_context(device_target=null_device)
        assert context.get_context("device_target") == "Null"
        assert loss() == 0
        context.set_context(device_target="CPU")
        assert loss() == value


def test_random_numbers_and_operators(null_device):
    from mindspore import ops

    x = Tensor(np.ones((2, 2), np.float32))
    context.set_device(null_device)
    assert (x + x).asnumpy().sum() == 0 and ops.standard_normal((3,)).asnumpy().sum() == 0
    context.set_device("CPU")
    assert (x + x).asnumpy().sum() == 8 and ops.standard_normal((3,)).asnumpy().any()


def test_threads_follow(null_device):
    import threading

    x, found = Tensor(np.ones(3, np.float32)), []
    work = lambda: found.append(float((x + 1).asnumpy().sum()))
    for device in ("CPU", null_device, "CPU"):
        context.set_context(device_target=device)
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert found == [6, 6, 0, 0, 6, 6]


@pytest.mark.host_device
def test_absent_devices_are_refused():
    with pytest.raises(ValueError, match=r"'GPU' is not available.*\['CPU'.*MS_DEVICE_FALLBACK=1"):
        context.set_context(device_target="GPU")
    with pytest.raises(ValueError, match=r"must be one of \['CPU'.*'Gpu'"):
        context.set_device("Gpu")
    with pytest.raises(TypeError, match="must be a str"):
        context.set_context(device_target=0)
    assert context.get_context("device_target") == "CPU"


def test_falling_back():
    program = (
        "import warnings; warnings.simplefilter('always')\n"
        "import mindspore as ms\n"
        "for _ in range(3): ms.set_context(device_target='Ascend')\n"
        "print(ms.get_context('device_target'), ms.Tensor([1.0]) + 1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MS_DEVICE_FALLBACK": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["CPU", "[2.]"]
    assert done.stderr.count("'CPU' is used instead") == 1
    with pytest.warns(RuntimeWarning, match="'GPU' is not available"):
        context.set_context(device_fallback=True, device_target="GPU")
    context.set_context(device_fallback=False)
    assert context.get_context("device_target") == "CPU"


def test_a_device_that_is_absent_is_named():
    for ask in (lambda: Tensor([1.0]).to("GPU"), lambda: ms.runtime.memory_stats("GPU")):
        with pytest.raises(ValueError, match="'GPU' is not available"):
            ask()
    with pytest.raises(TypeError, match="'dtype' must be a dtype"):
        Tensor([1.0]).to("nothing")
    assert ms.runtime.memory_stats("cpu").keys() == ms.runtime.memory_stats().keys()


def test_it_may_fall_back(monkeypatch):
    monkeypatch.setenv("MS_DEVICE_FALLBACK", "1")
    context._warn_of_fallback.cache_clear()
    with pytest.warns(RuntimeWarning, match="'GPU' is not available"):
        assert Tensor([1.0]).to("GPU").device == "CPU"
    with pytest.warns(RuntimeWarning, match="'Ascend' is not available"):
        assert ms.runtime.memory_stats("Ascend")


def test_settings_change_together_or_not_at_all():
    mode = context.get_context("mode")
    other = context.GRAPH_MODE if mode == context.PYNATIVE_MODE else context.PYNATIVE_MODE
    with pytest.raises(ValueError, match="'Nope'"):
        context.set_context(mode=other, device_fallback=True, device_target="Nope")
    assert context.get_context("mode") == mode and not context.get_context("device_fallback")


@pytest.mark.parametrize("value, error", [(-1, ValueError), ("a", TypeError), (1.5, TypeError)])
def test_device_ids_that_are_none(value, error):
    with pytest.raises(error, match="'device_id' must"):
        ms.set_device("CPU", value)


def test_the_module_for_builds_is_there():
    assert ms.sysconfig.get_lib()
