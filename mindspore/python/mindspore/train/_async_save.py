"""Checkpoints written in the background, one at a time; errors show at the next save or at exit."""

from __future__ import annotations

import atexit
import os
import threading
import traceback
from collections.abc import Callable

from mindspore import _exit, log


class _Writer:
    """Runs one write in a thread. The thread is no daemon: the interpreter waits for it at exit."""

    def __init__(self) -> None:
        self._turn = threading.Lock()  # held by who starts a write
        self._state = threading.Lock()  # of what follows
        self._thread: threading.Thread | None = None
        self._path = ""  # which it writes
        self._then: list[Callable[[], None]] = []
        self._failure: BaseException | None = None

    def run(self, path: str, write: Callable[[], None]) -> None:
        """Write now, after the write in the background, if any. Raises what that one has left."""
        with self._turn:
            earlier = self._finish()
        try:
            write()
        except BaseException as error:
            if earlier is not None:
                raise error from _late(earlier)
            raise
        if earlier is not None:
            raise _late(earlier, f" '{path}' is written.")

    def submit(self, path: str, write: Callable[[], None]) -> None:
        """Start a write after the one before it has ended. Raises what that one has left."""
        with self._turn:
            earlier = self._finish()
            self._path = path
            thread = threading.Thread(
                target=self._write, args=(write,), name="mindspore-checkpoint"
            )
            try:
                with self._state:  # which the thread takes at its end
                    thread.start()
                    self._thread = thread
            except RuntimeError:  # an interpreter that ends starts no threads
                self._write(write)
        if earlier is not None:
            raise _late(earlier, f" '{path}' is being written.")

    def when_written(self, call: Callable[[], None]) -> None:
        """Call after the last write, if that succeeds: at once where it has."""
        with self._state:
            if self._thread is not None:
                self._then.append(call)
                return
            failed = self._failure is not None
        if not failed:
            call()

    def settle(self, path: str) -> None:
        """Before a file is read: what is being written to it is in it."""
        if os.path.realpath(path) != os.path.realpath(self._path):
            return
        thread = self._thread
        if thread is not None:
            thread.join()
        if self._failure is not None:
            log.warning(f"'{path}' has its old content. {_late(self._failure)}")

    def running(self) -> bool:
        """Whether a write is under way in this process."""
        return self._thread is not None

    def report_at_exit(self) -> None:
        """The last chance to show an error: on stderr, and in the exit status."""
        error = self._finish()
        if error is not None:
            _exit.report(_late(error))

    def _write(self, write: Callable[[], None]) -> None:
        calls: list[Callable[[], None]] = [write]
        del write
        failure: BaseException | None = None
        while calls:
            try:
                while calls:
                    calls.pop(0)()
            except BaseException as error:
                traceback.clear_frames(error.__traceback__)  # they hold what was to be written
                failure = error
            with self._state:
                calls, self._then = self._then, []
                if failure is not None or not calls:
                    self._thread, self._failure = None, failure
                    return

    def _finish(self) -> BaseException | None:
        """Wait for the write under way; what it raised."""
        thread = self._thread
        if thread is not None:
            thread.join()
        error, self._failure = self._failure, None
        return error


def _late(error: BaseException, of_this: str = "") -> BaseException:
    """The error as it is shown in a place that has nothing to do with it, and what becomes of that."""
    text = f"For 'save_checkpoint', an earlier save in the background failed: {error}{of_this}"
    try:
        late = type(error)(text)
    except TypeError:
        late = RuntimeError(text)
    late.__cause__ = error
    if isinstance(error, OSError) and isinstance(late, OSError):
        late.errno = error.errno
    return late


writer = _Writer()
atexit.register(lambda: writer.report_at_exit())


def _forget() -> None:
    """In a child process: what its parent writes is none of its business."""
    writer.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_forget)
