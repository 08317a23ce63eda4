"""The kept answers of the reference package and the reviewed differences, one line a call."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_OF_KERNELS = ("RuntimeError", "NotImplementedError")


def _answers(family: str, wild: bool) -> Path:
    return _HERE / "answers" / f"{family}{'.wild.jsonl.gz' if wild else '.jsonl'}"


def read_answers(family: str, wild: bool = False) -> dict[str, dict[str, Any]]:
    """By the text of a call: its "value", the exception that it "raises", or that it is "absent" or a "crash"."""
    path = _answers(family, wild)
    kept = path.read_bytes() if path.exists() else b""
    lines = (gzip.decompress(kept) if wild else kept).decode().splitlines()
    return {answer.pop("call"): answer for answer in map(json.loads, lines)}


def has_wild(family: str) -> bool:
    """Whether the reference was asked for wild calls that are made of a family's."""
    return _answers(family, True).exists()


def of_kernels(answer: dict[str, Any]) -> bool:
    """Whether it may be that only the kernels of the reference cannot do what was asked."""
    return answer.get("no_kernel", False) or answer.get("raises") in _OF_KERNELS


def write_answers(family: str, answers: dict[str, dict[str, Any]], wild: bool) -> None:
    """Keeps answers, in the order of their calls; of wild ones there are many, so these are packed."""
    lines = [json.dumps({"call": key, **answer}) for key, answer in answers.items()]
    kept = "".join(f"{line}\n" for line in lines).encode()
    _answers(family, wild).write_bytes(gzip.compress(kept, mtime=0) if wild else kept)


def read_accepted(family: str) -> dict[str, str]:
    """By the text of a call, or a name whose every call is meant, or what check.py calls taking more: why ours
    differs."""
    path = _HERE / "accepted" / f"{family}.tsv"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))
