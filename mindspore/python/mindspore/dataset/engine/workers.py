"""Worker processes for the user's functions: they share no interpreter, so that these run at once.

Rows travel through pipes: nothing is left behind in /dev/shm, whatever ends a process.
"""

from __future__ import annotations

import io
import marshal
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import threading
import types
import weakref
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from mindspore.dataset import config

_FAREWELL = 1.0  # seconds that a worker has to end by itself
_ROWS_TOLD = 32  # of those that are made by one call
_REFUSALS = (pickle.PicklingError, AttributeError, TypeError)  # of what cannot be sent


def cores() -> int:
    """Processors that this process may use: workers beyond them only cost memory."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _started(context: Any, pipe: Any, function: Any, inherited: list[Any]) -> Any:
    """The process of a worker; a function that has no name in a module is sent with its code, where cloudpickle is there."""

    def start(sent: Any) -> Any:
        arguments = (pipe, sent, inherited)
        process = context.Process(target=_serve, args=arguments, daemon=True, name="dataset worker")
        process.start()
        return process

    try:
        return start(function)
    except _REFUSALS as error:
        refused, advice = error, "Define them in a module, install cloudpickle"
    try:
        return start(_WithItsCode(function))
    except ImportError:
        pass
    except _REFUSALS as error:
        refused, advice = error, "Let them make for themselves what they hold"
    raise RuntimeError(
        "For 'python_multiprocessing', the functions must be ones that pickle can hand to "
        f"another process, but {refused}. {advice}, or start processes by 'fork' "
        "(config.set_multiprocessing_start_method)."
    ) from refused


class _WithItsCode:
    """Goes through pickle as cloudpickle has it, but for code, which keeps its file: a mistake is shown at the user's line."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __reduce__(self) -> Any:
        import cloudpickle

        class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
            def reducer_override(self, value: Any) -> Any:
                if isinstance(value, types.CodeType):
                    return marshal.loads, (marshal.dumps(value),)
                return super().reducer_override(value)

        packed = io.BytesIO()
        Pickler(packed).dump(self._function)
        return pickle.loads, (packed.getvalue(),)


class Worker:
    """One process, and our end of its pipe."""

    def __init__(self, context: Any, function: Callable[..., Any], others: list[Worker]) -> None:
        self.pipe, theirs = context.Pipe()
        inherited = [self.pipe, *(worker.pipe for worker in others)]
        if context.get_start_method() != "fork":
            inherited = []  # a fresh interpreter has none of our ends
        try:
            self.process = _started(context, theirs, function, inherited)
        finally:
            theirs.close()
        self.busy = False
        self.closed = False
        self._limit = 0

    def limit(self, seconds: int) -> None:
        """How long the pipe waits for a process that takes or gives only a part of what is sent."""
        if seconds == self._limit:
            return
        self._limit = seconds
        with socket.socket(fileno=os.dup(self.pipe.fileno())) as end:
            time = struct.pack("ll", seconds, 0)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time)

    def end(self) -> None:
        """Ask it to end, and see to it."""
        self._hang_up()
        self.pipe.close()
        self.process.join(_FAREWELL)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        # No close(): at the end of the program multiprocessing joins it as well, perhaps just now.

    def _hang_up(self) -> None:
        """Ends what is said also where processes that were forked since hold copies of our end."""
        try:
            with socket.socket(fileno=os.dup(self.pipe.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the process is gone


class WorkerPool:
    """Calls a function in a process that is free; called by several threads at once."""

    def __init__(self, function: Any, count: int) -> None:
        self.function = function
        self.count = count
        self._op = getattr(function, "op", "map")
        self._begin()

    def _begin(self) -> None:
        self._workers: list[Worker] = []
        self._changed = threading.Condition()  # guards the list and who is busy
        self._pid = os.getpid()
        self._end = weakref.finalize(self, _end_all, self._workers, self._pid)

    def _here(self) -> threading.Condition:
        if self._pid != os.getpid():
            self._begin()  # after a fork, the workers of the parent are not ours
        return self._changed

    def start(self) -> None:
        """Start the processes that are missing."""
        with self._here():
            while len(self._workers) < self.count:
                self._new()

    def _new(self) -> Worker:
        context = multiprocessing.get_context(config.get_multiprocessing_start_method())
        worker = Worker(context, self.function, self._workers)
        self._workers.append(worker)
        return worker

    def _take(self) -> Worker:
        with self._here():
            while True:
                worker = next((w for w in self._workers if not w.busy), None)
                if worker is None and len(self._workers) < self.count:
                    worker = self._new()
                if worker is not None:
                    worker.busy = True
                    return worker
                self._changed.wait()

    def _give_back(self, worker: Worker, alive: bool) -> None:
        with self._changed:
            if not alive and worker in self._workers:
                self._workers.remove(worker)  # the next row starts another one
            alive = worker in self._workers
        if not alive:
            worker.process.kill()
            worker.end()
        with self._changed:
            worker.busy = False
            self._changed.notify_all()

    def __call__(self, *args: Any) -> Any:
        """function(*args) in another process."""
        while True:
            worker = self._take()
            alive = False
            try:
                good, result = self._ask(worker, args)
                alive = True
            except Exception:
                if not worker.closed:
                    raise
                continue  # close() ended it on the way
            finally:
                self._give_back(worker, alive)
            if not good:
                raise result
            return result

    def _ask(self, worker: Worker, args: Any) -> tuple[bool, Any]:
        where = _place(args[-1])
        pid = worker.process.pid
        limit = config.get_multiprocessing_timeout_interval()
        try:
            worker.limit(limit)
            worker.pipe.send(args)
            if not worker.pipe.poll(limit):
                raise BlockingIOError
            good, result = worker.pipe.recv()
        except BlockingIOError:
            raise RuntimeError(
                f"For '{self._op}', the worker process {pid} must answer within {limit} s "
                f"(config.set_multiprocessing_timeout_interval), but hung at {where}."
            ) from None
        except (EOFError, OSError):
            worker.process.join(_FAREWELL)
            raise RuntimeError(
                f"For '{self._op}', the worker process {pid} ended with exit code "
                f"{worker.process.exitcode} at {where}."
            ) from None
        return bool(good), result

    def close(self) -> None:
        """End the processes; the next call starts others, and rows under way are done by those."""
        with self._here():
            ended = list(self._workers)
            self._workers.clear()
            idle = [worker for worker in ended if not worker.busy]
            for worker in ended:
                worker.closed = True
                if worker.busy:
                    worker.process.kill()  # who waits for it takes care of the rest
        for worker in idle:
            worker.end()
        with self._changed:
            self._changed.wait_for(lambda: not any(w.busy for w in ended), _FAREWELL)


def _place(numbers: Any) -> str:
    """Where a call stands, of the rows or the batch that it makes."""
    if not isinstance(numbers, list):
        return f"batch {numbers}"
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    more = ", ..." if len(numbers) > _ROWS_TOLD else ""
    return f"one of the rows {', '.join(map(str, numbers[:_ROWS_TOLD]))}{more}"


def _end_all(workers: list[Worker], owner: int) -> None:
    if os.getpid() == owner:
        while workers:
            worker = workers.pop()
            if worker.busy:
                worker.process.kill()  # a thread waits at its pipe
            else:
                worker.end()


def _serve(pipe: Connection, function: Callable[..., Any], inherited: list[Connection]) -> None:
    """The life of a worker: calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends us
    for end in inherited:
        end.close()  # else the program's end of the pipe would live on in here
    while True:
        try:
            args = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = (True, function(*args))
        except BaseException as error:
            answer = (False, _portable(error, function, args))
        try:
            _send(pipe, answer, function)
        except OSError:
            return


def _send(pipe: Connection, answer: tuple[bool, Any], function: Any) -> None:
    try:
        pipe.send(answer)
    except _REFUSALS as error:
        text = (
            f"For '{getattr(function, 'op', 'map')}', what a function in a worker process returns "
            f"must be what pickle can hand to another process, but {error}."
        )
        pipe.send((False, RuntimeError(text)))


def _portable(error: BaseException, function: Any, args: Any) -> BaseException:
    """The exception itself if it survives a pipe, else one with its text."""
    if not isinstance(error, Exception):
        # SystemExit and the like would end the program.
        return RuntimeError(
            f"For '{getattr(function, 'op', 'map')}', a function in a worker process raised {type(error).__name__} "
            f"at {_place(args[-1])}: {error}"
        )
    cause = error.__cause__
    try:
        pickle.loads(pickle.dumps((error, cause)))
    except Exception:
        return RuntimeError(str(error))
    return _WithCause(error, cause) if cause is not None else error


class _WithCause(Exception):
    """Carries an exception and its cause, which pickle would leave behind."""

    def __init__(self, error: BaseException, cause: BaseException) -> None:
        super().__init__(error, cause)

    def __reduce__(self) -> Any:
        return _joined, self.args


def _joined(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error
