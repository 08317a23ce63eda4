"""Asks the reference package for the answers of calls, the listed and the wild ones, and keeps them:

    PYTHONPATH=tests PYTHON_OF_THE_REFERENCE tests/differential/record.py [--again | --tame] [FAMILY ...]

Calls that have an answer are not asked again without --again; with --tame the wild ones are left as they are. A process of its own makes the calls, so that one which kills
it, or hangs, is an answer too."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import resource
import subprocess
import sys
import threading
from typing import IO, Any

from differential.answers import read_answers, write_answers
from differential.calllib import Call, calls_of, families, result_of
from differential.compare import shortened
from differential.wild import wild_calls

_SECONDS = 20  # for a call
_START = 180  # for the import of the package, and the first call
_BYTES = 8 << 30  # that a process may have


def answer_of(ms: Any, listed: Call) -> dict[str, Any]:
    """What the package does when it is called. What raises is called again: its kernels run late, so that the first call may
    have met what an earlier one left behind."""
    answer = _answer(ms, listed)
    for _ in range(2):
        if "raises" in answer:
            answer = _answer(ms, listed)
    return answer


def _answer(ms: Any, listed: Call) -> dict[str, Any]:
    try:
        return {"value": result_of(ms, listed)}
    except ModuleNotFoundError as error:
        return {"absent": str(error)[:80]}
    except Exception as error:  # whatever it refuses by
        missing = isinstance(error, AttributeError) and listed.name.split(".")[-1] in str(error)
        if missing:
            return {"absent": str(error)[:80]}
        answer: dict[str, Any] = {"raises": type(error).__name__}
        return {**answer, "no_kernel": True} if _NO_KERNEL.search(str(error)) else answer


# How it says that an op has no kernel for a dtype on the CPU; ours may well have one.
_NO_KERNEL = re.compile(
    r"unsupported|not support|TypeId|unregistered|kernelmod|Unexpected Exception", re.I
)


def work(family: str, wanted: set[str]) -> None:
    """Answers calls on the file that the parent reads, each announced before it is made."""
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the package prints is no reply
    import mindspore as ms

    if hasattr(ms, "_core"):
        sys.exit(1)  # the package under test
    for listed in [*calls_of(family), *wild_calls(calls_of(family))]:
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
        before = len(answers)
        running = _listen(process, answers)
        process.kill()
        process.wait()
        if running is not None:
            answers[running] = {"crash": True}
        elif len(answers) == before < len(wanted):  # it may die of a call that it has answered
            raise RuntimeError(
                f"{family}: the process ended before its first call. PYTHONPATH must be tests alone: "
                "the package under test is not the reference."
            )
    return answers


def _listen(process: subprocess.Popen, answers: dict[str, dict[str, Any]]) -> str | None:
    """Takes answers until the process ends or is silent for long; the call that it was at, if any."""
    assert process.stdout
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
    reader.start()
    running = None
    with contextlib.suppress(queue.Empty):
        while line := lines.get(timeout=_START if running is None else _SECONDS):
            reply = json.loads(line)
            running = reply.get("begins")
            if "call" in reply:
                answers[reply.pop("call")] = reply
    return running


def _read(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def main() -> None:
    """Records what is asked for on the command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--work"]:
        work(arguments[1], set(json.load(sys.stdin)))
        return
    for family in [a for a in arguments if not a.startswith("-")] or families():
        listed = [c for c in calls_of(family) if c.ref is None]
        record(family, [c.key for c in listed], "--again" in arguments)
        if "--tame" not in arguments:
            record(family, [c.key for c in wild_calls(listed)], "--again" in arguments, wild=True)


def record(family: str, keys: list[str], again: bool, wild: bool = False) -> None:
    """Keeps the answers of calls; what is known of others is dropped."""
    kept = {} if again else read_answers(family, wild)
    fresh = ask(family, [key for key in keys if key not in kept])
    if wild:
        fresh = {
            key: {**a, "value": shortened(a["value"])} if "value" in a else a
            for key, a in fresh.items()
        }
    write_answers(family, {key: {**kept, **fresh}[key] for key in keys}, wild)
    print(f"{family}: {len(keys)} {'wild ' * wild}calls, {len(fresh)} of them asked")


if __name__ == "__main__":
    main()
