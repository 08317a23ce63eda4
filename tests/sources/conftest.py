"""Each test begins with the settings of datasets as they were."""

from __future__ import annotations

import pytest

import mindspore.dataset as ds


@pytest.fixture(autouse=True)
def settings():
    """Puts the settings back."""
    before = dict(ds.config._settings)
    yield
    ds.config._settings.update(before)
