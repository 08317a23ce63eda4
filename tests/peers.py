"""PyTorch, for tests that compare with it: a file that imports it from here is skipped where it is not installed."""

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: scripts/dev peers")
