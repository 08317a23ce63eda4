"""What may come of wrong arguments: an exception of ours, or of Python's about the signature."""

from __future__ import annotations

import re

_PYTHONS_OWN = re.compile(
    r"[\w.<>]+\(\) (missing \d+ required|takes |got an unexpected keyword|got multiple values|got some positional|base must be )"
    r"|expected \d+ arguments?, got"
)
_OURS = re.compile(r"For '|The (MindRecord )?file '|Cannot (open|read|write) ")
_KINDS = (
    *(TypeError, ValueError, IndexError, KeyError, NotImplementedError, RuntimeError),
    BufferError,  # what an exporter of memory must raise
    OSError,  # of files
)


def judge(error: BaseException) -> str:
    """What is wrong with an exception; empty where nothing is."""
    text = str(error.args[0]) if error.args else ""
    ours = _OURS.match(text)
    if isinstance(error, MemoryError) and ours:
        return ""
    if isinstance(error, _KINDS) and (ours or _PYTHONS_OWN.match(text)):
        return ""
    return f"{type(error).__name__}: {text.splitlines()[0][:200] if text else '(no text)'}"
