"""The fenced device for a test, and the host's again after it."""

from __future__ import annotations

from collections.abc import Iterator

import fenced_device
import pytest

from mindspore import context


@pytest.fixture
def fenced() -> Iterator[str]:
    if fenced_device.library() is None:
        pytest.skip("needs the fenced device: scripts/dev build _core ms_fenced")
    name = fenced_device.load()
    context.set_context(device_target=name)
    yield name
    context.set_context(device_target=context.HOST)


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request: pytest.FixtureRequest) -> int:
    context.set_context(mode=request.param)
    return request.param
