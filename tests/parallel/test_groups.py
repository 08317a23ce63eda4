"""Groups that come and go."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


def test_groups_come_and_go():
    ranks.passes("groups.py", 2)
