"""The watch that the processes of a job keep over each other, as a program joins and leaves it. What a rank is told of the others
is raised in its collectives; the end of its program is told to the others here."""

from __future__ import annotations

import atexit
import math
import os
import sys
from types import TracebackType

from mindspore import _core, _devices, context

# In seconds: of silence, until a rank is taken for lost, and for all ranks to come.
_TIMEOUT, _TIMEOUT_DEFAULT = "MS_COMM_TIMEOUT", 60.0
_JOIN, _JOIN_DEFAULT = "MS_TOPO_TIMEOUT", 600.0
_hooked = False
somebody_is_lost = False  # of the other ranks, when this process ended


def listen(host: str = "127.0.0.1") -> str:
    """Opens a port for the ranks to come to, in rank 0; its address, for all to join."""
    return _core.watch.listen(host)


def join(rank: int, size: int, address: str) -> None:
    """Joins the other ranks at the address; rank 0 listens there."""
    # Less may pass between two signs of life.
    silence = _seconds(_TIMEOUT, _TIMEOUT_DEFAULT, at_least=1)
    patience = _seconds(_JOIN, _JOIN_DEFAULT)
    _core.watch.join(rank, size, address, silence, patience)
    _hear_of_the_end()


def leave() -> None:
    """Says farewell to the other ranks; nothing where this process has not joined them."""
    global somebody_is_lost
    if _core.watch.joined():
        # What others still take part in ends while somebody watches.
        for device in _devices.opened():
            context.report_late_errors(device, os.getpid())
        try:
            _core.watch.check()
        except RuntimeError:
            somebody_is_lost = True
    _core.watch.leave()


def _seconds(name: str, default: float, at_least: float = 0) -> float:
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < 1e9) or seconds < at_least:
        least = f"at least {at_least}" if at_least else "above 0"
        raise ValueError(f"The environment must give seconds in {name}, {least}, but got {text!r}.")
    return seconds


def _hear_of_the_end() -> None:
    global _hooked
    if _hooked:
        return
    _hooked = True
    atexit.register(leave)
    before = sys.excepthook

    def tell(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        _core.watch.raised(_line(kind, error))  # first: who prints may take long, or wait
        before(kind, error, traceback)

    sys.excepthook = tell


def _line(kind: type[BaseException], error: BaseException) -> str:
    """The first line of what is said of an exception, and where it was raised in the program."""
    try:
        text = str(error)
    except Exception:  # of a class of the user's
        text = ""
    first = text.partition("\n")[0]
    return f"{kind.__name__}: {first}" if first else kind.__name__
