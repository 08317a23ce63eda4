"""The compiled versions of one function: by what they are found, how many are kept, and what is said when there are many."""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from mindspore._core import DType
from mindspore.compile.program.errors import RunsEagerly, Unsupported, calling_place, locate
from mindspore.compile.program.places import user_frame
from mindspore.compile.values import guards
from mindspore.compile.values.numbers import Numbers
from mindspore.compile.versions.entries import EagerEntry
from mindspore.compile.versions.remembered import FailedEntry
from mindspore.compile.versions.signature import argument_names

logger = logging.getLogger("mindspore.compile")
_MAX_ENTRIES = 64  # per function: older ones go
_MAX_VERSIONS = 8  # of equal argument types, for different facts
_WARN_ENTRIES = 16
_MAX_FAILURES = 3  # to compile for equal argument types: then calls run eagerly, whatever changes


class Recompiles(UserWarning):
    """A function is compiled again and again, since an argument keeps changing."""


class Cache:
    """The compiled versions of one function, by argument types."""

    # What is said of a call that runs eagerly.
    remedy = "jit(fullgraph=True), or set_context(jit_syntax_level=STRICT), makes this an error."

    def __init__(self, name: str, function: Callable | None = None):
        self.name = name
        # Without the object that a method is bound to, which holds this cache.
        self._function = getattr(function, "__func__", function)
        self._bound = hasattr(function, "__self__")
        self.entries: dict[tuple, list[Any]] = {}
        self.failed: dict[tuple, list[FailedEntry]] = {}
        self.compiled = 0
        self.warned: set[str] = set()
        self.numbers = Numbers()
        self.recorded: Any = None  # versions for calls whose gradient eager code records
        self.static = False  # sizes were declared open, but could not be kept so
        self._lock = threading.Lock()
        self._pending: dict[tuple, tuple[int, threading.Event]] = {}

    def __deepcopy__(self, memo: dict) -> Cache:
        """That of a copied function, which has compiled nothing yet."""
        copied = Cache(self.name)
        copied._function, copied._bound = self._function, self._bound
        return copied

    @property
    def names(self) -> list[str]:
        """The names of the function's arguments."""
        return argument_names(self._function)[int(self._bound) :]

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
            if older and len(older) + 1 == _MAX_VERSIONS:
                self._warn_versions(older[0])
            self.entries.pop(key, None)  # to the end: what was compiled last stays longest
            self.entries[key] = _with_new(older, entry)
            self.compiled += 1
            if len(self.entries) == _WARN_ENTRIES:
                self._warn_changing()
            while len(self.entries) > _MAX_ENTRIES:
                self.entries.pop(next(iter(self.entries)))
        return entry

    def _add_failure(self, key: tuple, entry: FailedEntry) -> FailedEntry:
        """Keeps a version that raises. It takes the place of none that does not."""
        if entry.error.lasts:
            with self._lock:
                self.failed[key] = [entry, *self.failed.get(key, ())][:_MAX_VERSIONS]
                while len(self.failed) > _MAX_ENTRIES:
                    self.failed.pop(next(iter(self.failed)))
        return entry

    def _warn_changing(self) -> None:
        """Says, once, which argument keeps changing and what can be done about it."""
        names = self.names
        where, value = _most_varied(list(self.entries), names)
        said = "changing"
        if said in self.warned:
            return
        self.warned.add(said)
        if _is_tensor(value):
            what = f"the shape of {where}, lately {list(value[1])}, keeps changing"
            remedy = (
                "Declare the sizes that change: input_signature of jit, or Cell.set_inputs, with "
                f"Tensor(shape={_opened(list(self.entries), where, names)}, dtype=mindspore.{str(value[0]).lower()})."
            )
        else:
            what = f"the value of {where}, lately {_value_text(value)}, keeps changing"
            remedy = "Pass it as a Tensor, if it decides neither a shape nor a branch."
        warn_user(
            f"{self.name} was compiled {self.compiled} times, since {what}. {remedy}",
            Recompiles,
        )

    def _warn_versions(self, last: Any) -> None:
        """Says, once, which attribute or variable keeps changing."""
        failed = last.guards.check()
        said = "versions"
        if failed < 0 or said in self.warned:
            return
        self.warned.add(said)
        warn_user(
            f"{self.name} was compiled {self.compiled + 1} times, since what it reads keeps changing: "
            f"{guards.describe(last.facts[failed])}. Make it a Parameter, or pass it as a Tensor, if it decides neither a "
            "shape nor a branch.",
            Recompiles,
        )

    @contextlib.contextmanager
    def alone(self, key: tuple) -> Iterator[None]:
        """Other threads that come here with this key wait."""
        while not self._begin(key):
            pass
        try:
            yield
        finally:
            self._end(key)

    def warn_break(self, reason: Unsupported) -> None:
        """Says, once for each line, that it runs eagerly between two graphs."""
        place = locate(reason, calling_place())
        line = str([(p.file, p.line) for p in place.__dict__["_ms_places"][:1]])
        if line in self.warned:
            return
        self.warned.add(line)
        warn_user(
            f"a line of {self.name} runs eagerly between two compiled parts, since {place}\n"
            "  The result is that of PYNATIVE_MODE; nothing is optimised over that line, and each run stops there. "
            "jit(fullgraph=True), or set_context(jit_syntax_level=STRICT), makes this an error.",
            RunsEagerly,
        )

    def warn_eager(self, reason: str) -> None:
        """Says, once for each reason, that a function is not compiled."""
        line = "".join(reason.splitlines()[:2])
        if line in self.warned:
            return
        self.warned.add(line)
        warn_user(
            f"{self.name} runs eagerly, as in PYNATIVE_MODE: correct, but without what compiling saves, since {reason}\n"
            f"  Only the cells and jit functions that it calls are compiled. {self.remedy}",
            RunsEagerly,
        )

    def give_up_open_sizes(self, reason: Exception) -> None:
        """From now on the function is compiled for every shape."""
        self.static = True
        text = str(reason).splitlines()[0] if str(reason) else type(reason).__name__
        warn_user(
            f"{self.name} has inputs with open sizes, but is compiled for every shape: {text}",
            Recompiles,
        )


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


def warn_user(text: str, category: type[Warning]) -> None:
    """A warning at the user's line that called into this package, from whatever stack this runs on."""
    frame = user_frame()
    if frame is None:
        warnings.warn(text, category, stacklevel=2)
        return
    space = frame.f_globals
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text, category, frame.f_code.co_filename, frame.f_lineno, space.get("__name__"), registry
    )


# ---- what changes ---------------------------------------------------------------------------------------------------------
def _arguments(key: tuple, names: list[str]) -> dict[str, Any]:
    """The parts of a key by the name of their argument."""
    args, kwargs = key[-2:]
    parts = {
        f"'{names[i]}'" if i < len(names) else f"argument {i}": k for i, k in enumerate(args[1:])
    }
    parts.update({f"'{name}'": k for name, k in kwargs[1:]})
    return parts


def _most_varied(keys: list[tuple], names: list[str]) -> tuple[str, Any]:
    """The argument with the most kinds among the keys, and its latest kind."""
    kinds: dict[str, dict[Any, None]] = {}
    for key in keys:
        if key[0] == "numbers":
            continue
        for name, part in _arguments(key, names).items():
            kinds.setdefault(name, {})[part] = None
    where = max(kinds, key=lambda name: len(kinds[name]), default="an argument")
    return where, next(reversed(kinds[where])) if where in kinds else None


def _opened(keys: list[tuple], where: str, names: list[str]) -> list:
    """The sizes of an argument, None where they differ between keys of the latest rank."""
    shapes = [_arguments(key, names).get(where) for key in keys if key[0] != "numbers"]
    sizes = [s[1] for s in shapes if _is_tensor(s)]
    sizes = [s for s in sizes if len(s) == len(sizes[-1])]
    return [column[0] if len(set(column)) == 1 else None for column in zip(*sizes)]


def _is_tensor(part: Any) -> TypeGuard[tuple]:
    return isinstance(part, tuple) and isinstance(part[0], DType)


def _value_text(part: Any) -> str:
    if not isinstance(part, tuple) or len(part) < 2:
        return repr(part)
    fields = isinstance(part[1], tuple) and isinstance(part[0], type)
    return f"<{part[0].__name__}>" if fields else repr(part[1])
