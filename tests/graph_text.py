"""The graph that is left of a function after all passes, as canonical text."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore import _core


@contextmanager
def dumps() -> Iterator[Path]:
    """Verify after each pass, and write the graph after each pass into the directory."""
    with tempfile.TemporaryDirectory() as directory:
        wanted = {"MS_DUMP": "passes", "MS_DUMP_PATH": directory}
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield Path(directory)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def final_text(run: Callable[[], Any]) -> str:
    """What the last pass of the last compilation left; comments and names of inputs taken away."""
    _core.clear_compiled()  # an equal program was compiled before, perhaps
    with dumps() as directory:
        run()
        files = sorted(directory.glob("*.ir"))
        assert files, "nothing was compiled"
        lines = [line.partition("  #")[0] for line in files[-1].read_text().splitlines()]
    return renamed("\n".join(lines))


def renamed(text: str) -> str:
    """Inputs of the main graph called a0, a1, ...: two functions may name them differently."""
    header = text.split("->")[0]
    names = re.findall(r"([^\s(,]+): [A-Z]\w+\[", header)
    for position, name in enumerate(names):
        text = re.sub(rf"(?<![\w.%]){re.escape(name)}(?![\w.=])", f"a{position}", text)
    return text


def compiled_text(function: Callable, *args: Any) -> str:
    """The text of a function compiled for these arguments."""
    return final_text(lambda: ms.jit(function)(*args))


def op_counts(text: str) -> Counter[str]:
    """How often each op is applied, constants left out."""
    found = re.findall(r"^  (?:.*? = )?([A-Z]\w*)\(", text, re.MULTILINE)
    return Counter(op for op in found if op != "Constant")
