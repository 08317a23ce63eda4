"""Streams and events of public scripts, on one queue of work for each device. Work is done in the order in which it is given,
whatever its stream, which is an order that every script allows: what a stream waits for is done before, so that waiting for an event
has nothing to do, and events only say when. A stream is a number to compare; more than one queue would make kernels overlap, which
those of the host, on all its cores, gain nothing from."""

from __future__ import annotations

import itertools
import time
from types import TracebackType
from typing import Any

from mindspore import _core, context

_numbers = itertools.count(1)


class Stream:
    """A queue of work.

    Args:
        priority: accepted; the order of the work is that in which it is given.
    """

    def __init__(self, priority: int = 0, **kwargs: Any):
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(
                f"For 'Stream', 'priority' must be an int, but got {type(priority).__name__}."
            )
        if unknown := kwargs.keys() - {"stream", "stream_id", "device_id"}:
            raise TypeError(
                "For 'Stream', keywords must be among 'priority', 'stream', 'stream_id' and 'device_id', "
                f"but got {min(unknown)!r}."
            )
        self.id = kwargs.get("stream_id", next(_numbers) if kwargs.get("stream") is None else 0)
        self._device: str | None = _core.device()
        self.device_id = context.get_context("device_id")

    @property
    def device_name(self) -> str:
        """Whose queue it is."""
        return self._device or _core.device()

    def synchronize(self) -> None:
        """Waits until its work is done."""
        _core.synchronize(self.device_name)

    def query(self) -> bool:
        """Whether its work is done; it is when this returns."""
        self.synchronize()
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """An event that happens when the work given so far is done."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Lets work given from now on wait for an event."""
        if not isinstance(event, Event):
            raise TypeError(
                f"For 'Stream.wait_event', 'event' must be an Event, but got {type(event).__name__}."
            )

    def wait_stream(self, stream: Stream) -> None:
        """Lets work given from now on wait for the work of another stream."""
        _check_stream("Stream.wait_stream", stream)

    def stream_id(self) -> int:
        """The number of the stream."""
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device_name, self.id) == (
            other.device_name,
            other.id,
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


class Event:
    """A moment: when the work given before it was done.

    Args:
        enable_timing: whether `elapsed_time` is to be asked.
        blocking: accepted.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False):
        for name, value in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"For 'Event', '{name}' must be a bool, but got {type(value).__name__}."
                )
        self.enable_timing, self.blocking = enable_timing, blocking
        self.time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Happens when the work given so far is done."""
        if stream is None:
            _core.synchronize()
        else:
            _check_stream("Event.record", stream).synchronize()
        self.time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Lets a stream wait for it."""
        if stream is not None:
            _check_stream("Event.wait", stream)

    def synchronize(self) -> None:
        """Waits until it has happened."""

    def query(self) -> bool:
        """Whether it has happened."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another one."""
        if not isinstance(end_event, Event):
            raise TypeError(
                f"For 'Event.elapsed_time', 'end_event' must be an Event, but got {type(end_event).__name__}."
            )
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError(
                "For 'Event.elapsed_time', both events must be made with enable_timing=True."
            )
        if self.time is None or end_event.time is None:
            raise RuntimeError("For 'Event.elapsed_time', both events must have been recorded.")
        return (end_event.time - self.time) * 1e3


def _check_stream(function: str, stream: Any) -> Stream:
    if not isinstance(stream, Stream):
        raise TypeError(
            f"For '{function}', the stream must be a Stream, but got {type(stream).__name__}."
        )
    return stream


def _of_each_device(number: int) -> Stream:
    """A stream that every device has: it is that of the device that is set."""
    stream = Stream(stream_id=number)
    stream._device = None
    return stream


_default, _communication = _of_each_device(0), _of_each_device(1)
_current = _default


def default_stream() -> Stream:
    """The stream of a device that is used unless another one is set."""
    return _default


def communication_stream() -> Stream:
    """The stream that collectives use."""
    return _communication


def current_stream() -> Stream:
    """The stream that is set."""
    return _current


def set_cur_stream(stream: Stream) -> None:
    """Sets the stream for work given from now on."""
    global _current
    _current = _check_stream("set_cur_stream", stream)


class StreamCtx:
    """`with StreamCtx(stream):` sets a stream meanwhile; None changes nothing."""

    def __init__(self, ctx_stream: Stream | None):
        if ctx_stream is not None:
            _check_stream("StreamCtx", ctx_stream)
        self.stream = ctx_stream
        self._before: list[Stream] = []  # one for each `with` that is open

    def __enter__(self) -> None:
        self._before.append(current_stream())
        set_cur_stream(self.stream or current_stream())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        set_cur_stream(self._before.pop())
