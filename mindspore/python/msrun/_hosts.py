"""One job on several machines, without ssh: each machine runs `msrun`. Those of the others come to that of the master and wait.
Where mpiexec would call ssh, it calls `_agent.py`, which hands the command to the master, and the master to the machine."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import socket
import subprocess
import time
from typing import Any

from msrun import _names
from msrun._agent import by_path
from msrun._arguments import DEFAULT_PORT, Refused

_GREETING = "msrun 2"
_LONGEST = 1 << 20  # bytes of a message


class Gone(Exception):
    """The other side has ended."""


def _notice_loss(connection: socket.socket) -> None:
    """Ends a connection within a minute from when the other machine answers no more: it may be off."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 6)):
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 45_000)


class Lines:
    """A connection over which messages go, one a line."""

    def __init__(self, connection: socket.socket, address: str = ""):
        self.connection, self.address = connection, address
        self.read = b""
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            _notice_loss(connection)

    def fileno(self) -> int:
        """For selectors."""
        return self.connection.fileno()

    def send(self, **message: Any) -> None:
        """Sends a message; one that does not go is noticed when the next is waited for."""
        with contextlib.suppress(OSError):
            self.connection.settimeout(10)
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        self.connection.setblocking(False)

    def receive(self) -> list[dict[str, Any]]:
        """The messages that have come; Gone where no more can come."""
        ended = False
        while not ended:
            try:
                more = self.connection.recv(1 << 16)
            except BlockingIOError:
                break
            except OSError:
                more = b""
            ended = not more
            self.read += more
        *lines, self.read = self.read.split(b"\n")
        try:
            messages = [json.loads(line) for line in lines]
        except ValueError:
            raise Gone from None
        if not all(isinstance(m, dict) for m in messages) or len(self.read) > _LONGEST:
            raise Gone
        if ended and not messages:
            raise Gone
        return messages

    def close(self) -> None:
        """Ends the connection."""
        self.connection.close()


def listen(args: argparse.Namespace) -> socket.socket | None:
    """The port where other machines come; None where this is another machine than that of rank 0."""
    address, port = args.master_addr, args.master_port or DEFAULT_PORT
    listening = socket.socket(socket.getaddrinfo(address, port)[0][0])
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if args.node_rank <= 0:
            listening.bind((address, port))
            listening.listen(1024)
            return listening
    except OSError as error:
        if args.node_rank == 0:
            listening.close()
            raise Refused(
                f"the machine with --node_rank 0 cannot listen at {address}:{port}: {error.strerror}. --master_addr must be an "
                "address of it, and no other job may use the --master_port."
            ) from None
    listening.close()
    return None


class Master:
    """The side of the machine where rank 0 runs."""

    def __init__(self, args: argparse.Namespace, listening: socket.socket):
        self.args, self.listening = args, listening
        self.selector = selectors.DefaultSelector()
        self.machines: list[Lines] = []
        self.workers: dict[Lines, int] = {}
        self.ranks: dict[Lines, int] = {}
        self.calls: dict[Lines, _names.Called] = {}
        self.given: dict[Lines, str] = {}  # other names that they take
        self.agents: list[Lines] = []
        self.agents_at: socket.socket | None = None
        self.failed: int | None = None  # the status of a process on another machine
        self._watch(listening, "machine")

    def _watch(self, what: Any, role: str) -> None:
        self.selector.register(what, selectors.EVENT_READ, role)

    def gather(self) -> str:
        """Waits until all processes have a machine; the machines as mpiexec takes them."""
        args, end = self.args, None
        if args.cluster_time_out > 0:
            end = time.monotonic() + args.cluster_time_out
        while (there := self._there()) < args.worker_num:
            self.attend(0.2)
            if end and time.monotonic() > end:
                raise Refused(
                    f"machines for {args.worker_num} processes must come within {args.cluster_time_out} s, but those for {there} "
                    "came: start msrun on each machine, with the same --worker_num, --master_addr and --master_port."
                )
        self.machines.sort(key=lambda m: self.ranks[m] if self.ranks[m] >= 0 else 1 << 30)
        counts = {args.master_addr: args.local_worker_num}
        for machine in self.machines:
            counts[machine.address] = counts.get(machine.address, 0) + self.workers[machine]
        return ",".join(f"{address}:{count}" for address, count in counts.items())

    def tell_apart(self) -> None:
        """Gives machines names of their own, where several call themselves alike; refuses where it may not."""
        here = _names.machine()
        others = {m.address: m for m in reversed(self.machines) if self.calls[m].machine != here}
        others.pop(self.args.master_addr, None)
        addresses = [self.args.master_addr, *others]
        names = [socket.gethostname(), *(self.calls[m].name for m in others.values())]
        for address, name, other in zip(addresses, names, _names.apart(names)):
            if other == name:
                continue
            if not self.calls[others[address]].may_change:
                alike = [a for a, n in zip(addresses, names) if n == name]
                raise Refused(
                    f"the machines {' and '.join(alike)} all call themselves {name!r}, and Open MPI tells machines apart by their names: "
                    "give each a name of its own (hostnamectl set-hostname, docker run --hostname), let msrun do it, which root may, or "
                    "use MPICH (MS_MPIEXEC)."
                )
            for machine in self.machines:
                if machine.address == address:
                    self.given[machine] = other

    def _there(self) -> int:
        return self.args.local_worker_num + sum(self.workers[m] for m in self.machines)

    def begin(self, scratch: str, environment: dict[str, str]) -> str:
        """Lets the machines know the job; where agents find this process."""
        for machine in self.machines:
            machine.send(job=environment, name=self.given.get(machine))
        path = os.path.join(scratch, "agents")
        self.agents_at = socket.socket(socket.AF_UNIX)
        by_path(self.agents_at.bind, path)
        self.agents_at.listen(128)
        self._watch(self.agents_at, "agent")
        return path

    def attend(self, seconds: float) -> None:
        """Does what has come to do, waiting for it so long."""
        for key, _ in self.selector.select(seconds):
            if isinstance(key.fileobj, socket.socket):
                with contextlib.suppress(OSError):
                    connection, peer = key.fileobj.accept()
                    self._watch(Lines(connection, peer[0] if peer else ""), key.data)
                continue
            lines: Any = key.fileobj
            try:
                for message in lines.receive():
                    self._hear(key.data, lines, message)
            except Gone:
                self._lose(lines)

    def _hear(self, role: str, lines: Lines, message: dict[str, Any]) -> None:
        if role == "agent":
            self._send_out(lines, message)
        elif lines not in self.machines:
            why = self._why_not(message)
            lines.send(**({"refused": why} if why else {"welcome": True}))
            if why:
                raise Gone
            self.machines.append(lines)
            self.workers[lines], self.ranks[lines] = message["workers"], message["node_rank"]
            self.calls[lines] = _names.Called(*message["called"])
        elif "failed" in message:
            self.failed = int(message["failed"])
            lines.send(heard=True)
        elif "ended" in message:
            for agent in self.agents:
                if id(agent) == message["ended"]:
                    agent.send(status=message["status"])

    def _why_not(self, message: dict[str, Any]) -> str:
        if message.get("greeting") != _GREETING:
            return "what came is not of an msrun of this version"
        if message.get("worker_num") != self.args.worker_num:
            return f"--worker_num must be {self.args.worker_num}, as on the master, but got {message.get('worker_num')}"
        if len(message.get("called") or ()) != len(_names.Called._fields):
            return "what came is not of an msrun of this version"
        rank, workers = message.get("node_rank"), message.get("workers")
        if not isinstance(rank, int) or not isinstance(workers, int) or workers < 1:
            return "what came is not of an msrun of this version"
        if rank == 0 or (rank >= 0 and rank in self.ranks.values()):
            return f"there is a machine with --node_rank {rank} already"
        if self._there() + workers > self.args.worker_num:
            return f"{self._there()} of {self.args.worker_num} processes have a machine, and {workers} more are too many"
        return ""

    def _send_out(self, agent: Lines, message: dict[str, Any]) -> None:
        self.agents.append(agent)
        for machine in self.machines:
            if machine.address == message["host"]:
                machine.send(run=id(agent), command=message["command"])
                return
        agent.send(status=255)

    def _lose(self, lines: Lines) -> None:
        self.selector.unregister(lines)
        lines.close()
        if lines in self.machines:
            self.machines.remove(lines)
            if self.agents_at:  # the job runs, or it was to
                self.failed = self.failed or 1
        if lines in self.agents:
            self.agents.remove(lines)

    def finish(self, status: int, restarts: int) -> None:
        """Tells all machines that the job has ended; where it starts again, how often it may, so that they come again."""
        self.listening.close()  # first: who comes again must not come to this one
        for machine in self.machines:
            machine.send(status=status, restarts=restarts)
            machine.close()


class Follower:
    """The side of another machine: does what the master says."""

    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.lines = self._join()
        self.restarts = 0  # what the master says when the job has failed and starts again
        self.heard = False  # whether the master knows of a process that failed here
        self.running: dict[int, subprocess.Popen] = {}
        self.name: str | None = None  # that this machine's processes are to see in place of its own

    def _join(self) -> Lines:
        args = self.args
        where = (args.master_addr, args.master_port or DEFAULT_PORT)
        end = time.monotonic() + args.cluster_time_out if args.cluster_time_out > 0 else None
        while True:
            try:
                lines = Lines(socket.create_connection(where, 5), where[0])
                break
            except OSError as error:
                if end and time.monotonic() > end:
                    raise Refused(
                        f"the msrun of the master must listen at {where[0]}:{where[1]} within {args.cluster_time_out} s, but: "
                        f"{error.strerror or error}."
                    ) from None
                time.sleep(0.2)
        lines.send(
            greeting=_GREETING,
            worker_num=args.worker_num,
            workers=args.local_worker_num,
            node_rank=args.node_rank,
            called=_names.called(),
        )
        return lines

    def job(self) -> dict[str, str]:
        """Waits for the job; its environment."""
        while True:
            for message in self._messages(0.5):
                if "refused" in message:
                    raise Refused(f"the master refuses: {message['refused']}.")
                if "job" in message:
                    self.name = message.get("name")
                    return message["job"]
                if "status" in message:
                    raise Refused("the job of the master has ended before it began.")

    def _messages(self, seconds: float) -> list[dict[str, Any]]:
        with selectors.DefaultSelector() as selector:
            selector.register(self.lines, selectors.EVENT_READ)
            selector.select(seconds)
        try:
            return self.lines.receive()
        except Gone:
            raise Refused("the msrun of the master has ended.") from None

    def attend(self, seconds: float, environment: dict[str, str], log: Any) -> int | None:
        """Does what the master says; the status of the job once it has ended."""
        for message in self._messages(seconds):
            if "status" in message:
                self.restarts = int(message.get("restarts", 0))
                return int(message["status"])
            self.heard = self.heard or "heard" in message
            if "run" in message:
                self.running[message["run"]] = subprocess.Popen(
                    ["sh", "-c", message["command"]],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=(lambda name=self.name: _names.take(name)) if self.name else None,
                )
        for number, process in list(self.running.items()):
            if process.poll() is not None:
                self.lines.send(ended=number, status=abs(process.returncode))
                del self.running[number]
        return None
