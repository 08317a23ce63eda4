"""The kept answers of the reference package and the reviewed differences, one line a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def _answers(family: str, wild: bool) -> Path:
    return _HERE / "answers" / f"{family}{'.wild' * wild}.jsonl"


def read_answers(family: str, wild: bool = False) -> dict[str, dict[str, Any]]:
    """By the text of a call: its "value", the exception that it "raises", or that it is "absent" or a "crash"."""
    path = _answers(family, wild)
    lines = path.read_text().splitlines() if path.exists() else []
    return {answer.pop("call"): answer for answer in map(json.loads, lines)}


def write_answers(family: str, answers: dict[str, dict[str, Any]], wild: bool) -> None:
    """Keeps answers, in the order of their calls."""
    path = _answers(family, wild)
    lines = [json.dumps({"call": key, **answer}) for key, answer in answers.items()]
    path.write_text("".join(f"{line}\n" for line in lines))


def read_accepted(family: str) -> dict[str, str]:
    """By the text of a call, or a name whose every call is meant, or `NAME takes more`: why ours differs."""
    path = _HERE / "accepted" / f"{family}.tsv"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))
