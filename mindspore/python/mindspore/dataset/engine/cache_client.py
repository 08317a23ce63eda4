"""DatasetCache: rows that are kept in a process of their own, for several epochs, pipelines and programs of one user.

images = ds.ImageFolderDataset(path, decode=True, cache=ds.DatasetCache(session_id=7, size=2048))
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mindspore.dataset import config
from mindspore.dataset.core.recorded import Recorded
from mindspore.dataset.core.validator_helpers import INT32_MAX, UINT32_MAX, check_int, check_type
from mindspore.dataset.engine import cache_server
from mindspore.dataset.engine.cache_rows import decoded, encoded
from mindspore.dataset.engine.values import Row

_OP = "DatasetCache"
_HOST, _PORT, _CONNECTIONS = "127.0.0.1", 50052, 12
_START = 20.0  # seconds that a server has to begin
_LONGEST = 90  # bytes of the path of a socket


class CacheStat(NamedTuple):
    """What a cache holds: bytes of a row on average, rows on the disk, rows in memory."""

    avg_cache_sz: int
    num_disk_cached: int
    num_mem_cached: int


class DatasetCache(Recorded):
    """A cache of rows, which sources and map() take as `cache`. The first row starts its process; a minute after the last
    program has gone (`MS_CACHE_LINGER` seconds) the rows are forgotten and the process ends.

    Args:
        session_id: Pipelines with the same number share memory, and rows where they are the same pipelines.
        size: MB of memory for rows; 0: up to four fifths of what the machine has.
        spilling: Whether rows that memory has no room for go into a file. Without, they are made anew in each epoch.
        hostname: Only this machine, '127.0.0.1'.
        port: Which server: those of several numbers know nothing of each other. Default: 50052.
        num_connections: The most connections of this program. Default: 12.
        prefetch_size: Kept for programs of MindSpore; config.set_prefetch_size says how many rows are made ahead.
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        self.session_id = check_int(_OP, "session_id", session_id, 1, UINT32_MAX)
        self.size = check_int(_OP, "size", size, 0)
        check_type(_OP, "spilling", spilling, bool)
        self.spilling = spilling
        if hostname is not None:
            check_type(_OP, "hostname", hostname, str)
            if hostname != _HOST:
                raise RuntimeError(
                    f"For '{_OP}', hostname must be '{_HOST}', this machine, but got {hostname!r}."
                )
        self.hostname = _HOST
        self.port = _PORT if port is None else check_int(_OP, "port", port, 1025, 65535)
        number = _CONNECTIONS if num_connections is None else num_connections
        self.num_connections = check_int(_OP, "num_connections", number, 1)
        if prefetch_size is not None:
            check_int(_OP, "prefetch_size", prefetch_size, 1, INT32_MAX)
        self.prefetch_size = prefetch_size
        self._connections = _Connections(self)
        self._used: set[str] = set()  # names of the rows of pipelines

    def get_stat(self) -> CacheStat:
        """How much there is of the pipelines that this object was given to."""
        if not self._used:
            raise RuntimeError(
                f"For '{_OP}', get_stat must be called when a pipeline has used the cache, but none has yet."
            )
        told = [self._connections.ask({"ask": "stat", "rows": name})[0] for name in self._used]
        rows = sum(one["memory"] + one["disk"] for one in told)
        size = sum(one["bytes"] for one in told)
        disk, memory = sum(one["disk"] for one in told), sum(one["memory"] for one in told)
        return CacheStat(size // max(rows, 1), disk, memory)

    def _rows(self, name: str) -> CachedRows:
        return CachedRows(self, name)


class CachedRows:
    """The rows of one pipeline in a cache, by number."""

    def __init__(self, cache: DatasetCache, name: str) -> None:
        self._cache, self._name = cache, name

    def _ask(self, ask: str, parts: Sequence[Any] = (), **more: Any) -> Any:
        self._cache._used.add(self._name)
        head = {"ask": ask, "rows": self._name, **more}
        return self._cache._connections.ask(head, parts)

    def get(self, numbers: Sequence[int]) -> list[Row | None]:
        """The rows that are there, None for others."""
        head, content = self._ask("get", numbers=[int(n) for n in numbers])
        found: list[Row | None] = []
        view, place = memoryview(content), 0
        for size in head["sizes"]:
            found.append(None if size < 0 else decoded(view[place : place + size]))
            place += max(size, 0)
        return found

    def put(self, numbers: Sequence[int], rows: Sequence[Row]) -> None:
        """Keeps rows, where there is room."""
        contents = [encoded(row) for row in rows]
        sizes = [sum(len(part) for part in content) for content in contents]
        parts = [part for content in contents for part in content if len(part)]
        self._ask("put", parts, numbers=[int(n) for n in numbers], sizes=sizes)

    def whole(self, count: int) -> None:
        """An epoch has so many rows, and they all were put."""
        self._ask("whole", count=count)

    def count(self) -> int | None:
        """How many rows an epoch has, where all are there."""
        head, _ = self._ask("stat")
        return None if head["count"] is None else int(head["count"])


class _Connections:
    """The connections of a cache object: as many as threads ask at once, made when they are needed."""

    def __init__(self, cache: DatasetCache) -> None:
        self._greeting = {
            "version": cache_server.PROTOCOL, "session": cache.session_id, "size": cache.size, "spilling": cache.spilling,
        }  # fmt: skip
        self._port, self._most = cache.port, cache.num_connections
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._free: list[socket.socket] = []
        self._out = 0
        self._server = 0  # its process
        self._pid = os.getpid()
        self._end = weakref.finalize(self, _close_all, self._free)

    def ask(self, head: dict[str, Any], parts: Sequence[Any] = ()) -> tuple[Any, bytearray]:
        """The answer of the server."""
        if self._pid != os.getpid():
            self._begin()  # after a fork, the connections of the parent are not ours
        with self._connection() as end:
            try:
                cache_server.send(end, head, parts)
                answer = cache_server.receive(end)
            except TimeoutError:
                raise RuntimeError(
                    f"For '{_OP}', the server (process {self._server}) of session {self._greeting['session']} must answer within "
                    f"{end.gettimeout():.0f} s, but did not."
                ) from None
            except (OSError, EOFError):
                raise self._dead() from None
        self._check(answer[0])
        return answer

    def _check(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            raise RuntimeError(f"For '{_OP}', {answer['error']}.")

    def _dead(self) -> RuntimeError:
        with self._changed:
            _close_all(self._free)
            server, self._server = self._server, 0
        return RuntimeError(
            f"For '{_OP}', the server (process {server}) of session {self._greeting['session']} must stay alive, but is gone, "
            "and its rows with it. The next epoch starts another one."
        )

    @contextlib.contextmanager
    def _connection(self) -> Iterator[socket.socket]:
        with self._changed:
            while not self._free and self._out >= self._most:
                self._changed.wait()
            end = self._free.pop() if self._free else None
            self._out += 1
        good = False
        try:
            if end is None:
                end = self._made()
            yield end
            good = True
        finally:
            # After a failure nobody knows what is still under way on it.
            if end is not None and not good:
                end.close()
            with self._changed:
                self._out -= 1
                if end is not None and good:
                    self._free.append(end)
                self._changed.notify()

    def _made(self) -> socket.socket:
        path = os.path.join(_folder(), f"{self._port}.socket")
        found = self._greeted(path)
        if found is not None:
            return found
        with open(f"{path}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of several that find none, one starts it
            found = self._greeted(path) or self._started(path)
        return found

    def _greeted(self, path: str) -> socket.socket | None:
        """A connection to the server that is there, if one is."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.settimeout(config.get_multiprocessing_timeout_interval())
        try:
            end.connect(path)
            folder = os.environ.get("MS_SPILL_PATH") or tempfile.gettempdir()
            cache_server.send(end, {**self._greeting, "folder": folder})
            answer, _ = cache_server.receive(end)
        except (OSError, EOFError):
            end.close()
            return None
        if "error" in answer:
            end.close()
        self._check(answer)
        if self._server not in (0, answer["pid"]):
            end.close()
            raise self._dead()
        self._server = answer["pid"]
        return end

    def _started(self, path: str) -> socket.socket:
        linger = _linger()
        with tempfile.TemporaryFile() as said:
            process = _spawned([cache_server.__file__, path, str(linger)], said)
            end = time.monotonic() + _START
            while time.monotonic() < end:
                found = self._greeted(path)
                if found is not None:
                    _reap(process)
                    return found
                if process.poll() is not None:
                    break
                time.sleep(0.01)
            process.kill()
            process.wait()
            said.seek(0)
            text = said.read().decode(errors="replace").strip().split("\n")[-1]
        raise RuntimeError(
            f"For '{_OP}', a server must start, but {text or f'did not within {_START:.0f} s'}."
        )


def _spawned(arguments: list[str], said: Any) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise RuntimeError(f"For '{_OP}', sys.executable must name the interpreter, but is empty.")
    nothing = subprocess.DEVNULL
    # A session of its own: Ctrl-C in the program is none of its business. Nor is our folder.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", *arguments], stdin=nothing, stdout=nothing, stderr=said, cwd="/", start_new_session=True,
    )  # fmt: skip


def _reap(process: subprocess.Popen[bytes]) -> None:
    """It outlives us as it pleases; where it ends first, it leaves no zombie."""
    threading.Thread(target=process.wait, daemon=True, name="cache server").start()


def _linger() -> float:
    given = os.environ.get("MS_CACHE_LINGER", "60")
    try:
        seconds = float(given)
        if not 0 <= seconds < 1e9:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"For '{_OP}', MS_CACHE_LINGER must be a number of seconds, but got {given!r}."
        ) from None
    return seconds


def _folder() -> str:
    """The user's own folder for sockets; nobody else may look into it."""
    place = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    name = f"mindspore-cache-{os.getuid()}"
    if len(os.fsencode(place)) + len(name) > _LONGEST:
        place = "/tmp"
    path = os.path.join(place, name)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        found = os.lstat(path)
    except OSError as error:
        raise RuntimeError(
            f"For '{_OP}', the folder '{place}' must take a folder for the server's socket, but {error.strerror}."
        ) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RuntimeError(
            f"For '{_OP}', '{path}' must be a folder that this user alone may enter, but is not."
        )
    return path


def _close_all(ends: list[socket.socket]) -> None:
    while ends:
        ends.pop().close()


__all__ = ["CacheStat", "DatasetCache"]
