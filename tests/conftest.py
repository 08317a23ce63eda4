"""For all tests: graphs are verified after every pass; each test leaves mode and fast stage as they were; what needs the latter is
skipped where MS_FUSION=0 turns it off."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("MS_VERIFY", "1")  # read by the core when the first graph is compiled

from mindspore import context


@pytest.fixture(autouse=True)
def _settings_as_before() -> Iterator[None]:
    before = {name: context.get_context(name) for name in ("mode", "enable_graph_kernel")}
    yield
    context.set_context(**before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("MS_FUSION") != "0":
        return
    skip = pytest.mark.skip(reason="needs the fast stage, which is off")
    for item in items:
        if "fast_stage" in item.keywords:
            item.add_marker(skip)
