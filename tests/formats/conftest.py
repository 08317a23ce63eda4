"""Fixtures of the tests of file formats."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def golden() -> Path:
    """The folder of files that other versions wrote."""
    return Path(__file__).parent / "golden"
