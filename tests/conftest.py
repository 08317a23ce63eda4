"""For all tests: what needs the fast stage is skipped where MS_FUSION=0 turns that off."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("MS_FUSION") != "0":
        return
    skip = pytest.mark.skip(reason="needs the fast stage, which is off")
    for item in items:
        if "fast_stage" in item.keywords:
            item.add_marker(skip)
