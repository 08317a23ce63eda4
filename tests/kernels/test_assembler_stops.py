"""The thread that makes machine code: whatever was submitted is settled, however late it came."""

from __future__ import annotations

import threading

import pytest

from mindspore import _assembler


class Code:
    text, phases = "", 1

    def __init__(self) -> None:
        self.failed = ""

    def fail(self, why: str) -> None:
        self.failed = why


@pytest.fixture
def assembler(monkeypatch):
    monkeypatch.setattr(_assembler.tuning, "save", lambda: None)
    return _assembler.Assembler()


def test_what_comes_while_it_stops_is_settled(assembler):
    """A code whose submission began before the stop, and goes on after it."""
    begun, stopping = threading.Event(), threading.Event()

    class Late(type(assembler._jobs)):
        def append(self, code):
            begun.set()
            stopping.wait(1)  # long enough for a stop that waits for nobody
            super().append(code)

    assembler._jobs = Late()
    assembler._run = lambda: None
    code = Code()
    submits = threading.Thread(target=assembler.submit, args=(code,))
    submits.start()
    begun.wait()
    assembler.stop()
    stopping.set()
    submits.join()
    assert code.failed == "the program is ending"


def test_what_waits_is_settled_though_the_stop_is_interrupted(assembler):
    class Interrupted:
        def join(self, timeout):
            raise KeyboardInterrupt

    code = Code()
    assembler._thread = Interrupted()
    assembler.submit(code)
    with pytest.raises(KeyboardInterrupt):
        assembler.stop()
    assert code.failed == "the program is ending"
