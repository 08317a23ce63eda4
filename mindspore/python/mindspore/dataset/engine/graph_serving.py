"""Graphs in another process: a server that holds one, and what asks it.

A message is a head of plain values and the bytes of arrays behind it, as those of the cache. Nothing that comes through a socket is run, and
nobody is asked who he is: a server is for the machines of one training, on the address that it is told.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.engine.cache_server import receive, send

_PROTOCOL = 1
_MOST_ASKED = 1 << 28  # bytes
_LOOK = 0.1  # seconds between two looks at whether all are done
_PATIENCE = 60.0  # seconds for which a client waits for its server to begin
_HELLO = 10.0
_ERRORS = {kind.__name__: kind for kind in (ValueError, TypeError, RuntimeError, MemoryError)}

Ask = Callable[[str, list[Any], list[np.ndarray]], list[np.ndarray] | dict[str, Any]]


def _packed(arrays: Sequence[np.ndarray]) -> tuple[list[Any], list[np.ndarray]]:
    solid = [np.ascontiguousarray(array) for array in arrays]
    heads = [[array.dtype.str, array.shape] for array in solid]
    return heads, [array.reshape(-1).view(np.uint8) for array in solid]


def _unpacked(heads: list[Any], content: bytearray) -> list[np.ndarray]:
    arrays, start = [], 0
    for code, shape in heads:
        kind = np.dtype(code)
        if kind.kind not in "biufSU":
            raise ValueError(f"arrays must be of numbers or text, but got {code}")
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(content, kind, count, start) if count else np.zeros(0, kind)
        arrays.append(array.reshape(shape))
        start += array.nbytes
    return arrays


def _tell_if_lost(end: socket.socket) -> None:
    """Lets the system ask a silent machine at the other end whether it is there: about two minutes until it is given up."""
    settings = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in settings.items():
            if hasattr(socket, name):  # not on every system
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class GraphServer:
    """Answers what clients ask, until all of them have come and gone."""

    def __init__(self, op: str, host: str, port: int, clients: int, stops: bool, ask: Ask) -> None:
        self.op, self.place, self.most, self.stops, self.ask = op, (host, port), clients, stops, ask
        self._known: set[str] = set()
        self._open = 0
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Returns when as many clients as were expected have come and none is left, or never if it is not to stop."""
        try:
            listener = socket.create_server(self.place)
        except OSError as error:
            raise RuntimeError(
                f"For '{self.op}', hostname and port of a server must be an address of this machine that nobody uses, "
                f"but got {self.place[0]}:{self.place[1]} ({error.strerror or error})."
            ) from None
        with listener:
            listener.settimeout(_LOOK)
            while not self._done():
                try:
                    end, _ = listener.accept()
                except TimeoutError:
                    continue
                except OSError:  # who asked is gone, or there are no more files for now
                    time.sleep(_LOOK)
                    continue
                _tell_if_lost(end)
                threading.Thread(target=self._talk, args=(end,), daemon=True).start()

    def _done(self) -> bool:
        with self._lock:
            return self.stops and len(self._known) >= self.most and not self._open

    def _talk(self, end: socket.socket) -> None:
        welcome = False
        try:
            with end:
                end.settimeout(_HELLO)
                welcome = self._greeted(end)
                end.settimeout(None)
                while welcome:
                    head, content = receive(end, _MOST_ASKED)
                    self._answer(end, head, content)
        except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError):
            pass  # it is gone, or it was no client
        finally:
            if welcome:
                with self._lock:
                    self._open -= 1

    def _greeted(self, end: socket.socket) -> bool:
        head, _ = receive(end, 0)
        name, problem = str(head["client"]), None
        with self._lock:
            if head["version"] != _PROTOCOL:
                problem = f"the server must speak version {head['version']}, but speaks {_PROTOCOL}"
            elif head["class"] != self.op:
                problem = f"the server must serve a {head['class']}, but serves a {self.op}"
            elif name not in self._known and len(self._known) >= self.most:
                problem = f"the server must expect another client, but all {self.most} have come (num_client)"
            else:
                self._known.add(name)
                self._open += 1
        send(end, {} if problem is None else {"error": problem})
        return problem is None

    def _answer(self, end: socket.socket, head: dict[str, Any], content: bytearray) -> None:
        try:
            result = self.ask(head["ask"], head["plain"], _unpacked(head["arrays"], content))
        except tuple(_ERRORS.values()) as error:
            send(end, {"error": str(error), "kind": type(error).__name__})
            return
        if isinstance(result, dict):
            send(end, {"plain": result})
        else:
            heads, parts = _packed(result)
            send(end, {"arrays": heads}, parts)


class GraphClient:
    """Asks a server; a connection for each thread and process, made when it first asks."""

    def __init__(self, op: str, host: str, port: int) -> None:
        self.op, self.place, self.name = op, (host, port), uuid.uuid4().hex
        self._local = threading.local()
        self._first = self._connected(_PATIENCE)  # is there as long as this client

    def __getstate__(self) -> dict[str, Any]:
        return {"op": self.op, "place": self.place, "name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()

    def _connected(self, patience: float) -> socket.socket:
        until = time.monotonic() + patience
        while True:
            try:
                end = socket.create_connection(self.place, timeout=_HELLO)
                break
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    self._lost("nobody answers there")
                time.sleep(_LOOK)
            except OSError as error:
                self._lost(error.strerror or str(error))
        try:
            hello = {"version": _PROTOCOL, "class": self.op, "client": self.name}
            send(end, hello)
            answer, _ = receive(end, 0)
        except (OSError, EOFError, ValueError):
            end.close()
            self._lost("what answers there is none")
        if "error" in answer:
            end.close()
            raise RuntimeError(f"For '{self.op}', {answer['error']}.")
        end.settimeout(None)
        self._local.held = os.getpid(), end
        return end

    def _lost(self, reason: str) -> None:
        raise RuntimeError(
            f"For '{self.op}', hostname and port of a client must be those of a server of graphs, "
            f"but got {self.place[0]}:{self.place[1]} ({reason})."
        ) from None

    def __call__(
        self, what: str, plain: list[Any], arrays: list[np.ndarray]
    ) -> list[np.ndarray] | dict[str, Any]:
        """What the server answers."""
        process, end = getattr(self._local, "held", (0, None))
        if end is None or process != os.getpid():
            end = self._connected(0)
        heads, parts = _packed(arrays)
        try:
            send(end, {"ask": what, "plain": plain, "arrays": heads}, parts)
            head, content = receive(end)
        except (
            BaseException
        ) as error:  # an answer that comes later is not to be taken for the next one's
            end.close()
            self._local.held = 0, None
            if not isinstance(error, (OSError, EOFError)):
                raise
            self._lost("it has ended")
        if "error" in head:
            raise _ERRORS.get(head["kind"], RuntimeError)(head["error"])
        if "plain" in head:
            return dict(head["plain"])
        return _unpacked(head["arrays"], content)
