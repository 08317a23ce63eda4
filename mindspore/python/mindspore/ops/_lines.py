"""The threads that send and receive while the program goes on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future


class Lines:
    """What is sent to a process under one tag, or received from it, goes in the order in which it is given, and waits for nothing
    else: each such line has a thread for as long as it has something to do, which the end of the program waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[tuple, deque[tuple[Callable, Future]]] = {}

    def later(self, line: tuple, work: Callable) -> Future:
        """Does some work in its turn."""
        future: Future = Future()
        with self._lock:
            queue = self._waiting.get(line)
            if queue is None:
                self._waiting[line] = deque([(work, future)])
                name = f"mindspore-{line[0]}"
                threading.Thread(target=self._work, args=(line,), name=name).start()
            else:
                queue.append((work, future))
        return future

    def at_once(self, line: tuple, work: Callable) -> None:
        """Does some work in this thread, or in its turn where the line has some."""
        with self._lock:
            busy = line in self._waiting
        self.later(line, work).result() if busy else work()

    def _work(self, line: tuple) -> None:
        queue = self._waiting[line]
        while True:
            work, future = queue[0]
            try:
                result = work()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            with self._lock:
                queue.popleft()
                if not queue:
                    del self._waiting[line]
                    return


LINES = Lines()
