"""Programs that the compiler cuts over processes do what one process does."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [2, 4])
def test_training_in_slices(count: int) -> None:
    ranks.passes("cut.py", count)
