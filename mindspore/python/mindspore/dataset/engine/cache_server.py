"""The process that keeps rows of datasets for the pipelines of one user, in memory and, where that is full, in a file.

It is started by its path, by whoever needs it first, and uses the standard library alone: so it is there in a moment and small. What
it says to clients, and they to it, goes through a socket in a folder of the user's; `send` and `receive` below are used by both ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any

PROTOCOL = 1
_HEAD = struct.Struct("<IQ")
_MOST_HEAD = 1 << 26
_LOOK = 0.25  # seconds between two looks at whether anybody is left
_SHARE = 0.8  # of the memory that there is, for sessions without a size


def send(end: socket.socket, head: dict[str, Any], parts: Sequence[Any] = ()) -> None:
    """One message: a head of plain values, and bytes behind it."""
    text = json.dumps(head).encode()
    end.sendall(_HEAD.pack(len(text), sum(len(part) for part in parts)) + text)
    for part in parts:
        end.sendall(part)


def receive(end: socket.socket, most: int = (1 << 64) - 1) -> tuple[dict[str, Any], bytearray]:
    """The next message, with up to so many bytes; EOFError where the other end is closed, or says what is no message."""
    length, size = _HEAD.unpack(_taken(end, _HEAD.size))
    if length > _MOST_HEAD or size > most:
        raise EOFError
    head = json.loads(bytes(_taken(end, length)))
    return head, _taken(end, size)


def _taken(end: socket.socket, size: int) -> bytearray:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        count = end.recv_into(view[filled:])
        if count == 0:
            raise EOFError
        filled += count
    return buffer


def _memory() -> int:
    """Bytes of memory that the machine, or the container, has."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ):
        with contextlib.suppress(OSError, ValueError), open(path) as stream:
            found.append(int(stream.read()))
    return min(found)


class Refused(Exception):
    """What a client is told in place of an answer."""


class Rows:
    """The rows of one pipeline, by number: as bytes, or as the place in the file of the session."""

    def __init__(self) -> None:
        self.places: dict[int, bytes | tuple[int, int]] = {}
        self.count: int | None = None  # of an epoch, where all of it is there
        self.in_memory = self.on_disk = self.bytes = 0


class Session:
    """What belongs to one session: rows of several pipelines under one bound."""

    def __init__(self, number: int, size: int, spilling: bool, folder: str) -> None:
        self.number, self.size, self.spilling, self.folder = number, size, spilling, folder
        self.limit = size << 20 if size else int(_memory() * _SHARE)
        self.used = 0
        self.users = 0
        self.left_at = time.monotonic()
        self.rows: dict[str, Rows] = {}
        self.lock = threading.Lock()
        self._file: Any = None
        self._end = 0

    def put(self, rows: Rows, number: int, content: bytes) -> bool:
        """Whether the row is kept now."""
        with self.lock:
            if number in rows.places:
                return True
            if self.used + len(content) <= self.limit:
                rows.places[number] = content
                self.used += len(content)
                rows.in_memory += 1
            elif self.spilling:
                rows.places[number] = self._spilled(content)
                rows.on_disk += 1
            else:
                return False
            rows.bytes += len(content)
            return True

    def _spilled(self, content: bytes) -> tuple[int, int]:
        place, view = self._end, memoryview(content)
        try:
            if self._file is None:
                # It has no name: whatever ends this process, nothing is left of it.
                self._file = tempfile.TemporaryFile(dir=self.folder)
            while view:
                written = os.pwrite(self._file.fileno(), view, place + len(content) - len(view))
                view = view[written:]
        except OSError as error:
            raise Refused(
                f"the folder '{self.folder}' must take the rows that memory has no room for, but {error.strerror}"
            ) from None
        self._end = place + len(content)
        return place, len(content)

    def get(self, rows: Rows, number: int) -> bytes | None:
        """A row, if it is there."""
        place = rows.places.get(number)
        if not isinstance(place, tuple):
            return place
        offset, size = place
        parts = []
        while size:
            part = os.pread(self._file.fileno(), size, offset)
            if not part:
                raise Refused("the file of rows is shorter than it was")
            parts.append(part)
            offset, size = offset + len(part), size - len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Lets go of everything."""
        if self._file is not None:
            self._file.close()


class Server:
    """All sessions, and who uses them."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.connections = 0
        self.lock = threading.Lock()

    def serve(self, end: socket.socket) -> None:
        """The life of a connection; `connections` was counted by who took it."""
        session = None
        try:
            with end:
                session = self._greeted(end)
                while session is not None:
                    head, content = receive(end)
                    send(end, *self._answer(session, head, content))
        except (OSError, EOFError, ValueError):
            pass  # whoever it was is gone
        finally:
            with self.lock:
                self.connections -= 1
                if session is not None:
                    session.users -= 1
                    session.left_at = time.monotonic()

    def _greeted(self, end: socket.socket) -> Session | None:
        head, _ = receive(end)
        if head.get("version") != PROTOCOL:
            send(
                end,
                {
                    "error": f"the server must speak version {head.get('version')}, but speaks {PROTOCOL}"
                },
            )
            return None
        number, size, spilling = head["session"], head["size"], head["spilling"]
        with self.lock:
            session = self.sessions.get(number)
            if session is None:
                session = Session(number, size, spilling, head["folder"])
                self.sessions[number] = session
            session.users += 1
        if (session.size, session.spilling) != (size, spilling):
            text = (
                f"session {number} must be used as it was begun, with size={session.size} and spilling={session.spilling}, "
                f"but got size={size} and spilling={spilling}"
            )
            send(end, {"error": text})
        else:
            send(end, {"pid": os.getpid()})
        return session

    def _answer(
        self, session: Session, head: dict[str, Any], content: bytearray
    ) -> tuple[dict[str, Any], list[bytes]]:
        with session.lock:
            rows = session.rows.setdefault(head["rows"], Rows())
        try:
            if head["ask"] == "get":
                found = [session.get(rows, number) for number in head["numbers"]]
                sizes = [-1 if row is None else len(row) for row in found]
                return {"sizes": sizes}, [row for row in found if row is not None]
            if head["ask"] == "put":
                kept, start = 0, 0
                for number, size in zip(head["numbers"], head["sizes"]):
                    kept += session.put(rows, number, bytes(content[start : start + size]))
                    start += size
                return {"kept": kept}, []
            if head["ask"] == "whole":  # an epoch has so many rows
                with session.lock:
                    if all(number in rows.places for number in range(head["count"])):
                        rows.count = head["count"]
            return {
                "count": rows.count,
                "memory": rows.in_memory,
                "disk": rows.on_disk,
                "bytes": rows.bytes,
            }, []
        except Refused as error:
            return {"error": str(error)}, []
        except MemoryError:
            return {"error": "the server must have memory for a row, but has none left"}, []

    def sweep(self, linger: float) -> bool:
        """Forgets sessions that nobody has used for so many seconds; whether anything is left to wait for."""
        with self.lock:
            now = time.monotonic()
            for number, session in list(self.sessions.items()):
                if session.users == 0 and now - session.left_at > linger:
                    self.sessions.pop(number).close()
            return bool(self.sessions or self.connections)


def _owner(end: socket.socket) -> int:
    """The user at the other end."""
    _, uid, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(uid)


def _take(listener: socket.socket, server: Server) -> bool:
    """Takes one connection, if one comes in a moment."""
    try:
        end, _ = listener.accept()
    except (TimeoutError, BlockingIOError):
        return False
    except OSError:
        time.sleep(_LOOK)  # too many files: those that are there go on
        return False
    end.settimeout(None)
    if _owner(end) != os.getuid():
        end.close()
        return False
    with server.lock:
        server.connections += 1
    threading.Thread(target=server.serve, args=(end,), daemon=True).start()
    return True


def main(path: str, linger: float) -> None:
    """Serves until nobody has had a connection for `linger` seconds and all sessions are forgotten."""
    server = Server()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # of a server that was killed: who starts us holds the lock
        listener.bind(path)
        listener.listen(64)
        listener.settimeout(_LOOK)
        begun = time.monotonic()
        while True:
            if _take(listener, server) or server.sweep(linger) or time.monotonic() - begun < linger:
                continue
            with open(f"{path}.lock", "a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue  # somebody is about to connect
                if _take(listener, server):
                    continue
                os.unlink(path)
                return


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
