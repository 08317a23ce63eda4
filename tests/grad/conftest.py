"""Fixtures of the tests of gradients: each runs in both modes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import mindspore as ms

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    """Runs a test in both modes."""
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)
