"""Machines that call themselves alike, as copies of one image do. Open MPI tells machines apart by their names, and takes the processes of
two such for processes of one; so those of the second are given a name that only they see, where the system allows it."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

_CLONE_NEWUTS = 0x04000000


class Called(NamedTuple):
    """What a machine says of itself."""

    name: str
    machine: str  # what tells it from others
    may_change: bool  # whether its processes may see another name


def called() -> Called:
    """What this one says."""
    return Called(socket.gethostname(), machine(), _may_take())


def machine() -> str:
    """What tells this machine from others, whatever it calls itself: its start, and its network, of which containers have their own."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.stat('/proc/self/ns/net').st_ino}"
    except OSError:
        return ""


def take(name: str) -> None:
    """From now on this process and its children see another name of the machine; OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = name.encode()
    if libc.unshare(_CLONE_NEWUTS) or libc.sethostname(given, len(given)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _may_take() -> bool:
    """Whether processes that are started here may be given another name."""
    try:
        subprocess.run(["true"], preexec_fn=lambda: take(socket.gethostname()), check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def apart(names: Sequence[str]) -> list[str]:
    """The same names, but for those that came before: these get a number."""
    used = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        number, other = 2, name
        while other in seen or (other != name and other in used):
            other = f"{name[:50]}-{number}"
            number += 1
        seen.add(other)
        result.append(other)
    return result
