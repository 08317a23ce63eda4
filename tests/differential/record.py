"""Asks the reference package for the answers of calls, the listed and the wild ones, and keeps them:

    PYTHONPATH=tests PYTHON_OF_THE_REFERENCE tests/differential/record.py [--again | --tame] [FAMILY ...]

Calls that have an answer are not asked again without --again; with --tame the wild ones are left as they are. A process of its own makes the calls, so that one which kills
it, or hangs, is an answer too."""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
from typing import Any

from differential.answers import read_answers, write_answers
from differential.calllib import Call, calls_of, families, result_of
from differential.compare import shortened
from differential.wild import wild_calls

_SECONDS = 60  # for a call, the import of the package included


def answer_of(ms: Any, listed: Call) -> dict[str, Any]:
    """What the package does when it is called."""
    try:
        return {"value": result_of(ms, listed)}
    except ModuleNotFoundError as error:
        return {"absent": str(error)[:80]}
    except Exception as error:  # whatever it refuses by
        _settle(ms)
        missing = isinstance(error, AttributeError) and listed.name.split(".")[-1] in str(error)
        if missing:
            return {"absent": str(error)[:80]}
        answer: dict[str, Any] = {"raises": type(error).__name__}
        return {**answer, "no_kernel": True} if _NO_KERNEL.search(str(error)) else answer


def _settle(ms: Any) -> None:
    """Hears what else a call has left behind: its kernels run late, and the next call would be blamed."""
    for _ in range(3):
        try:
            (ms.Tensor([1.0]) + 1).asnumpy()
        except Exception:  # of the call before
            continue
        return


# How it says that an op has no kernel for a dtype on the CPU; ours may well have one.
_NO_KERNEL = re.compile(
    r"unsupported|not support|TypeId|unregistered|kernelmod|Unexpected Exception", re.I
)


def work(family: str, wanted: set[str]) -> None:
    """Answers calls on the file that the parent reads, each announced before it is made."""
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
