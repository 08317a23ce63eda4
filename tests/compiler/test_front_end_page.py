"""The example of docs/front_end.md gives the graph that the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "front_end.md"


def test_the_graph_of_the_page(tmp_path: Path) -> None:
    text = PAGE.read_text()
    program, shown = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("python", "text")
    )  # type: ignore[index]
    (tmp_path / "gate.py").write_text(program)
    environment = {**os.environ, "MS_DUMP": "passes", "MS_DUMP_PATH": str(tmp_path)}
    subprocess.run([sys.executable, "gate.py"], cwd=tmp_path, env=environment, check=True)
    made = (next(tmp_path.rglob("000_Parse.ir"))).read_text()
    assert re.sub(r"basic\.py:\d+", "basic.py", made).split() == shown.split()
