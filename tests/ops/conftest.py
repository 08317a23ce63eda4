"""Makes the engine importable and loads all rows before tests are collected."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

for _path in sorted((HERE / "rows").glob("*.py")):
    importlib.import_module(f"rows.{_path.stem}")
