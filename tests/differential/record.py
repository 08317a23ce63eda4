"""Asks the reference package for the answers of calls, and keeps them:

    PYTHONPATH=tests PYTHON_OF_THE_REFERENCE tests/differential/record.py [--again] [FAMILY ...]

Calls that have an answer are not asked again without --again. A process of its own makes the calls, so that one which kills
it, or hangs, is an answer too."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from typing import Any

from differential.answers import read_answers, write_answers
from differential.calllib import Call, calls_of, families, result_of

_SECONDS = 60  # for a call, the import of the package included


def answer_of(ms: Any, listed: Call) -> dict[str, Any]:
    """What the package does when it is called."""
    try:
        return {"value": result_of(ms, listed)}
    except ModuleNotFoundError as error:
        return {"absent": str(error)[:80]}
    except Exception as error:  # whatever it refuses by
        missing = isinstance(error, AttributeError) and listed.name.split(".")[-1] in str(error)
        return {"absent": str(error)[:80]} if missing else {"raises": type(error).__name__}


def work(family: str, wanted: set[str]) -> None:
    """Answers calls on the file that the parent reads, each announced before it is made."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the package prints is no reply
    import mindspore as ms

    ms.set_context(pynative_synchronize=True)  # an error belongs to the call that makes it
    for listed in calls_of(family):
        if listed.key in wanted:
            print(json.dumps({"begins": listed.key}), file=replies)
            print(json.dumps({"call": listed.key, **answer_of(ms, listed)}), file=replies)


def ask(family: str, wanted: list[str]) -> dict[str, dict[str, Any]]:
    """The answers of calls; the process is started anew behind a call that ends it."""
    answers: dict[str, dict[str, Any]] = {}
    while missing := [key for key in wanted if key not in answers]:
        command = [sys.executable, __file__, "--work", family]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin
        process.stdin.write(json.dumps(missing))
        process.stdin.close()
        running = _listen(process, answers)
        process.kill()
        process.wait()
        if running is not None:
            answers[running] = {"crash": True}
        elif len(answers) < len(wanted):
            raise RuntimeError(f"{family}: the process ended before its first call.")
    return answers


def _listen(process: subprocess.Popen, answers: dict[str, dict[str, Any]]) -> str | None:
    running = None
    assert process.stdout
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while ready.select(_SECONDS):
            line = process.stdout.readline()
            if not line:
                break
            reply = json.loads(line)
            running = reply.pop("begins", None)
            if "call" in reply:
                answers[reply.pop("call")] = reply
    return running


def main() -> None:
    """Records what is asked for on the command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--work"]:
        work(arguments[1], set(json.load(sys.stdin)))
        return
    again = "--again" in arguments
    for family in [a for a in arguments if not a.startswith("-")] or families():
        listed = [c for c in calls_of(family) if c.ref is None]
        kept = {} if again else read_answers(family)
        fresh = ask(family, [c.key for c in listed if c.key not in kept])
        write_answers(family, {c.key: {**kept, **fresh}[c.key] for c in listed})
        print(f"{family}: {len(listed)} calls, {len(fresh)} of them asked")


if __name__ == "__main__":
    main()
