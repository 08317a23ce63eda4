"""For all tests: graphs are verified after every pass; each test leaves the settings that many change as they were; what needs
the fast stage is skipped where MS_FUSION=0 turns it off. With MS_TEST_DEVICE=Fenced all run on the fenced device, and what touches its memory fails;
with MS_TEST_DEVICE=GPU on a GPU, or on the stub of its driver, and what that refuses fails.
With MS_TEST_REHEARSAL=2x2:7 all graphs are cut at random over a mesh of threads."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("MS_VERIFY", "1")  # read by the core when the first graph is compiled

import cuda_device
import fenced_device

from mindspore import _core, context, dataset

DEVICE = fenced_device.WANTED


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """After pytest has set its handler of faults, which knows nothing of the fence."""
    fenced_device.use_what_is_wanted()
    if wanted := os.environ.get("MS_TEST_REHEARSAL"):
        mesh, seed = wanted.split(":")
        _core.set_rehearsal([int(size) for size in mesh.split("x")], int(seed))


class _Raises:
    """`pytest.raises` that waits: a device finds some of what is wrong after the call."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.context = _raises(*arguments, **options)

    def __enter__(self) -> Any:
        return self.context.__enter__()

    def __exit__(self, *error: Any) -> Any:
        if error[0] is None:
            try:
                _core.synchronize()
            except Exception as late:
                error = type(late), late, late.__traceback__
        return self.context.__exit__(*error)


_raises = pytest.raises
if context.HOST != DEVICE:
    pytest.raises = lambda *a, **k: _Raises(*a, **k) if len(a) < 2 else _raises(*a, **k)


@pytest.fixture(autouse=True)
def _nobody_touches_the_device() -> Iterator[None]:
    yield
    fenced_device.check()


@pytest.fixture(autouse=True)
def _devices_stay_in_their_process(monkeypatch: pytest.MonkeyPatch) -> None:
    if context.HOST != DEVICE:
        monkeypatch.setattr(os, "fork", lambda: pytest.skip("a child has no device"))


@pytest.fixture(autouse=True)
def _settings_as_before() -> Iterator[None]:
    before = {
        name: context.get_context(name)
        for name in (
            *("mode", "enable_graph_kernel", "device_target"),
            *("save_graphs", "save_graphs_path"),
        )
    }
    yield
    context.set_context(**before)


@pytest.fixture(autouse=True)
def _data_settings_as_before() -> Iterator[None]:
    settings = dataset.config._settings
    before = dict(settings)
    yield
    settings.update(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if context.HOST != DEVICE:
        skip = pytest.mark.skip(reason="about the host's device")
        for item in items:
            if "host_device" in item.keywords or "kernels" in item.path.parts:
                item.add_marker(skip)
    if cuda_device.NAME == DEVICE:
        skip = pytest.mark.skip(reason="made by passes only where a device has a kernel for it")
        for item in items:
            if (
                getattr(item, "callspec", None)
                and item.callspec.id.split("-")[0] in cuda_device.UNMADE
            ):
                item.add_marker(skip)
    if os.environ.get("MS_FUSION") != "0":
        return
    skip = pytest.mark.skip(reason="needs the fast stage, which is off")
    for item in items:
        if "fast_stage" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def machines() -> Iterator[list[str]]:
    """Two namespaces with a cable between them: 10.77.0.1 and 10.77.0.2."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
        pytest.skip("only root can make machines of namespaces")

    def ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    word = secrets.token_hex(3)
    names, cables = [f"ms{word}{i}" for i in "ab"], [f"v{word}{i}" for i in "ab"]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for number, (name, cable) in enumerate(zip(names, cables)):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"10.77.0.{number + 1}/24", "dev", cable)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", cable, "up")
    except subprocess.CalledProcessError as error:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        pytest.skip(f"namespaces cannot be made here: {error.stderr!r}")
    yield names
    for name in names:
        ip("netns", "delete", name)
