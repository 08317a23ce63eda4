"""Checkpoints written in the background, one at a time; errors show at the next save or at exit."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from mindspore import log


class _Writer:
    """Runs one write in a thread. The thread is no daemon: the interpreter waits for it at exit."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._pid = os.getpid()

    def submit(self, write: Callable[[], None]) -> None:
        """Start a write after the one before it has ended; raises what that one raised."""
        self.wait()
        self._thread = threading.Thread(
            target=self._run, args=(write,), name="mindspore-checkpoint"
        )
        self._pid = os.getpid()
        self._thread.start()

    def _run(self, write: Callable[[], None]) -> None:
        try:
            write()
        except BaseException as error:  # handed over to the thread that waits
            self._error = error

    def wait(self) -> None:
        """Wait for the running write, if any; raises what it raised."""
        if self._thread is not None and self._pid == os.getpid():
            self._thread.join()
        self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def running(self) -> bool:
        """Whether a write is under way in this process."""
        thread = self._thread
        return thread is not None and self._pid == os.getpid() and thread.is_alive()

    def report_at_exit(self) -> None:
        """The last chance to show an error."""
        try:
            self.wait()
        except BaseException as error:
            log.error(f"The last checkpoint was not written: {error}")


writer = _Writer()
atexit.register(writer.report_at_exit)
