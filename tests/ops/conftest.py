"""Makes the engine importable and loads all rows before tests are collected."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

for _path in sorted((HERE / "rows").glob("*.py")):
    _spec = importlib.util.spec_from_file_location(f"rows_{_path.stem}", _path)
    assert _spec and _spec.loader
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
