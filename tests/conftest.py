"""For all tests: each leaves the mode as it was, and what needs the fast stage is skipped where MS_FUSION=0 turns that off."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from mindspore import context


@pytest.fixture(autouse=True)
def _mode_as_before() -> Iterator[None]:
    before = context.get_context("mode")
    yield
    context.set_context(mode=before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("MS_FUSION") != "0":
        return
    skip = pytest.mark.skip(reason="needs the fast stage, which is off")
    for item in items:
        if "fast_stage" in item.keywords:
            item.add_marker(skip)
