"""The versions of one function: how they are found, how many are kept, and who makes them."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

from mindspore.compile.program.recent import put
from mindspore.compile.values import guards
from mindspore.compile.versions.entries import EagerEntry, FailedEntry, Version
from mindspore.compile.versions.notices import Notices
from mindspore.compile.versions.varied import Numbers

logger = logging.getLogger("mindspore.compile")
_MAX_ENTRIES = 64  # per function: older ones go
_MAX_VERSIONS = 8  # of equal argument types, for different facts
_WARN_ENTRIES = 16
_MAX_FAILURES = 3  # to compile for equal argument types: then calls run eagerly, whatever changes


class Cache:
    """The compiled versions of one function, by argument types."""

    def __init__(self, name: str, function: Callable | None = None):
        self.name, self.notices = name, Notices(name, function)
        self.entries: dict[tuple, list[Version]] = {}
        self.failed: dict[tuple, list[FailedEntry]] = {}
        self.compiled = 0
        self.numbers = Numbers()
        self.recorded: Any = None  # versions for calls whose gradient eager code records
        self.static = False  # sizes were declared open, but could not be kept so
        self._lock = threading.Lock()
        self._pending: dict[tuple, tuple[int, threading.Event]] = {}

    def __deepcopy__(self, memo: dict) -> Cache:
        """That of a copied function, which has compiled nothing yet."""
        copied = Cache(self.name)
        copied.notices = Notices.of(self.notices)
        return copied

    def find(self, key: tuple, inputs: list | None = None) -> Any:
        """A version whose guards hold; `inputs` are asked for where sizes are open."""
        for entry in self.entries.get(key, ()):
            if entry.fits(inputs):
                return entry
        return self.failure(key) if self.failed else None

    def failure(self, key: tuple) -> Any:
        """A version that raises, if its guards hold."""
        return next((entry for entry in self.failed.get(key, ()) if entry.fits(None)), None)

    def clear(self) -> None:
        """Forgets all versions."""
        self.entries.clear()
        self.failed.clear()
        self.recorded = None

    def get(self, key: tuple, inputs: list | None, make: Callable[[], Any]) -> Any:
        """A version that fits, made where there is none. One thread makes it; others that need the same one wait."""
        entry = self.find(key, inputs)
        while entry is None:
            if self._begin(key):
                try:
                    entry = self.find(key, inputs) or self._add(key, make())
                finally:
                    self._end(key)
            else:
                entry = self.find(key, inputs)
        return entry

    def _begin(self, key: tuple) -> bool:
        """True: the caller makes the version. False: another thread did, meanwhile."""
        with self._lock:
            pending = self._pending.get(key)
            if pending is None:
                self._pending[key] = (threading.get_ident(), threading.Event())
                _making.depth += 1
                return True
        if _making.depth > 0:
            # Two threads that each make what the other waits for would wait for ever.
            _making.depth += 1
            return True
        pending[1].wait()
        return False

    def _end(self, key: tuple) -> None:
        _making.depth -= 1
        with self._lock:
            pending = self._pending.get(key)
            if pending is not None and pending[0] == threading.get_ident():
                del self._pending[key]
                pending[1].set()

    def _add(self, key: tuple, entry: Any) -> Any:
        """Keeps a new version; says why the others did not fit, when logging is on."""
        if isinstance(entry, FailedEntry):
            return self._add_failure(key, entry)
        with self._lock:
            older = self.entries.get(key, [])
            if older and logger.isEnabledFor(logging.INFO):
                failed = older[-1].guards.check()
                if failed >= 0:
                    logger.info(
                        "recompiling %s: %s", self.name, guards.describe(older[-1].facts[failed])
                    )
            elif self.entries:
                logger.info("recompiling %s: new argument types %s", self.name, key)
            self.compiled += 1
            if older and len(older) + 1 == _MAX_VERSIONS:
                self.notices.facts_change(older[0], self.compiled)
            put(self.entries, key, _with_new(older, entry), _MAX_ENTRIES)
            if len(self.entries) == _WARN_ENTRIES:
                self.notices.arguments_change(list(self.entries), self.compiled)
        return entry

    def _add_failure(self, key: tuple, entry: FailedEntry) -> FailedEntry:
        """Keeps a version that raises. It takes the place of none that does not."""
        if entry.error.lasts:
            with self._lock:
                failures = [entry, *self.failed.get(key, ())][:_MAX_VERSIONS]
                put(self.failed, key, failures, _MAX_ENTRIES)
        return entry

    @contextlib.contextmanager
    def alone(self, key: tuple) -> Iterator[None]:
        """Other threads that come here with this key wait."""
        while not self._begin(key):
            pass
        try:
            yield
        finally:
            self._end(key)

    def give_up_open_sizes(self, reason: Exception) -> None:
        """From now on the function is compiled for every shape."""
        self.static = True
        self.notices.open_sizes_fail(reason)


def _with_new(older: list, entry: Any) -> list:
    """The versions for equal argument types, the newest first. What failed to be compiled several times, as its lists or counters
    changed, is not tried again: the last version fits always."""
    failures = [e for e in older if isinstance(e, EagerEntry)]
    if not isinstance(entry, EagerEntry) or len(failures) < _MAX_FAILURES:
        return [entry, *older][:_MAX_VERSIONS]
    return [*(e for e in older if e not in failures), EagerEntry([])]


class _Making(threading.local):
    depth = 0  # versions that this thread is making


_making = _Making()


@contextlib.contextmanager
def making() -> Iterator[None]:
    """Says that this thread is part of making a version: it waits for no other one."""
    _making.depth += 1
    try:
        yield
    finally:
        _making.depth -= 1
