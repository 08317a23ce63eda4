"""Work in a forked child, so that a crash of a program ends the child only."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import fenced_device


class Crash(Exception):
    """The child ended before it gave its result."""


def in_child(work: Callable[[], Any]) -> Any:
    """The result of `work`, which a child computes; Crash when it dies, with what killed it."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            fenced_device.use_what_is_wanted()
            result = work()
            if fenced_device.WANTED == fenced_device.NAME:  # a parent's has not come along
                fenced_device.check()
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(result, pipe)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        raise Crash(signal.Signals(os.WTERMSIG(status)).name)
    if os.WEXITSTATUS(status) or not data:
        raise Crash(f"exit status {os.WEXITSTATUS(status)}")
    return pickle.loads(data)
