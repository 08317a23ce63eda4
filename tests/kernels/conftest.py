"""What all tests of kernels share."""

from __future__ import annotations

import pytest
import sweep


@pytest.fixture(autouse=True)
def _own_numbers() -> None:
    sweep.begin()
