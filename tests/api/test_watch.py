"""Processes that watch each other: what each is told when another dies, stops, raises, leaves, or calls something else."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from mindspore import _core
from mindspore.common import _watch

# A rank: joins, does what its word says, then waits in a collective, as an engine would.
RANK = """
import os, signal, sys, time
from mindspore import _core
from mindspore.common import _watch

rank, size, address, deed, phase = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]

def do():
    if deed == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if deed == "stop": os.kill(os.getpid(), signal.SIGSTOP)
    if deed == "exit": sys.exit(3)
    if deed == "raise": raise ValueError("the data is bad\\nthe rest of it")
    if deed == "crash": os.abort()
    if deed == "other": collective(number, "Broadcast Float32[2]", "other.py:7")

def collective(number, what, place):
    _core.watch.enter(0, number, what, place)
    if phase == "late": print("inside", flush=True)
    if deed and phase == "collective" and number == 1:
        time.sleep(1)
        do()
    while True:
        _core.watch.check()
        time.sleep(0.001)

_watch.join(rank, size, address)
print("joined", flush=True)
if deed and phase == "start": do()
_core.watch.enter(0, 0, "Barrier", "net.py:3")
_core.watch.exit()
number = 1
if deed and phase == "compute": do()
if deed and phase == "late":  # all have joined
    sys.stdin.readline()
    do()
collective(1, "AllReduce sum Float32[2]", "net.py:14")
"""


def start(
    rank: int, size: int, address: str, deed: str, phase: str, silence: float = 60
) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", RANK, str(rank), str(size), address, deed, phase],
        env={**os.environ, "MS_COMM_TIMEOUT": str(silence), "MS_TOPO_TIMEOUT": "60"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}/word"


def end(ranks: list[subprocess.Popen]) -> None:
    for rank in ranks:
        rank.kill()
        rank.wait()
        rank.stdout.close()
        rank.stderr.close()


SAYS = {
    "kill": "died without a farewell",
    "crash": "died without a farewell",
    "stop": "silent for 4 s",
    "exit": "has ended its program",
    "raise": "ended with an exception: ValueError: the data is bad",
    "other": "in Broadcast Float32[2] at other.py:7",
}


def others_are_told(guilty: int, deed: str, phase: str) -> None:
    address, silence = free_address(), 4 if deed == "stop" else 60
    ranks = [start(r, 3, address, "", phase, silence) for r in range(3) if r != guilty]
    if guilty:  # what it does at its start, it does where the others are
        for rank in ranks:
            assert rank.stdout.readline() == "joined\n"
    ranks.insert(guilty, start(guilty, 3, address, deed, phase, silence))
    try:
        if phase == "late":
            for rank in ranks:
                assert rank.stdout.readline() == "joined\n"
            for rank in ranks[:guilty] + ranks[guilty + 1 :]:
                assert rank.stdout.readline() == "inside\n"
            ranks[guilty].stdin.close()
        for number, rank in enumerate(ranks):
            if number != guilty:
                _, said = rank.communicate(timeout=120)
                assert rank.returncode == 1
                assert f"RuntimeError: rank {guilty} " in said or deed == "other"
                assert SAYS[deed] in said, said
                assert f"This is rank {number}, in AllReduce sum Float32[2] at net.py:14" in said
    finally:
        end(ranks)


@pytest.mark.parametrize("phase", ["start", "compute", "collective"])
@pytest.mark.parametrize("deed", ["kill", "crash", "stop", "exit", "raise"])
def test_what_ends_a_rank_is_told_to_all_others(deed, phase):
    others_are_told(2, deed, phase)


@pytest.mark.parametrize("deed", ["kill", "stop", "exit", "raise"])
def test_what_ends_rank_0_is_told_to_all_others(deed):
    others_are_told(0, deed, "late")


def test_another_collective_is_told_to_all():
    others_are_told(1, "other", "compute")


@pytest.mark.parametrize("odd, says", [(-1, ""), (5, "call 6 of"), (200, "call 201 of")])
def test_calls_that_nobody_compares_are_compared_afterwards(odd, says):
    """Those of a device: nobody waits for them, and each rank goes on."""
    calls = f"""
for number in range(300):
    kind = "Broadcast" if rank == 1 and number == {odd} else "AllReduce"
    _core.watch.enter(0, number, kind + " Float32[2]", "net.py:14", unchecked=True)
    _core.watch.exit()
last = time.monotonic() + {3 if odd < 0 else 60}
while time.monotonic() < last:
    _core.watch.check()
    time.sleep(0.001)
"""
    code = RANK[: RANK.index("_core.watch.enter(0, 0")] + calls
    address = free_address()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(rank), "3", address, "", ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(3)
    ]
    try:
        for rank in ranks:
            _, said = rank.communicate(timeout=90)
            assert rank.returncode == (odd >= 0), said
            assert odd < 0 or ("have called different collectives" in said and says in said), said
    finally:
        end(ranks)


def test_all_end_well_where_all_say_farewell():
    code = RANK.replace('collective(1, "All', "sys.exit() #").replace(
        "_core.watch.exit()", "time.sleep(0.5); _core.watch.exit()"
    )
    address = free_address()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(r), "2", address, "", ""], stderr=subprocess.PIPE
        )
        for r in range(2)
    ]
    assert [(rank.communicate(timeout=60)[1], rank.returncode) for rank in ranks] == [(b"", 0)] * 2


def test_the_exception_of_a_program_is_shown_by_the_hook_that_was_there():
    code = (
        "import sys; sys.excepthook = lambda *e: print('mine', e[0].__name__)\n"
        "from mindspore.common import _watch\n"
        "_watch.join(0, 1, _watch.listen())\n"
        "raise KeyError('k')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("mine KeyError\n", "", 1)


def test_ctrl_c_ends_the_waiting_for_rank_0():
    # Who starts the tests in the background may have them ignore Ctrl-C, which is inherited.
    listen = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = RANK.replace("_watch.join", f"{listen}; print('waits', flush=True); _watch.join", 1)
    rank = subprocess.Popen(
        [sys.executable, "-c", code, "1", "2", free_address(), "", ""],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    rank.stdout.readline()
    rank.send_signal(signal.SIGINT)
    _, said = rank.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said


LEAST = {"MS_COMM_TIMEOUT": "at least 1", "MS_TOPO_TIMEOUT": "above 0"}


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf"])
@pytest.mark.parametrize("name", LEAST)
def test_times_in_the_environment_are_checked(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(ValueError, match=f"{name}, {LEAST[name]}, but got '{text}'"):
        _watch.join(0, 1, "127.0.0.1:1")


def test_less_silence_than_two_signs_of_life_are_apart(monkeypatch):
    monkeypatch.setenv("MS_COMM_TIMEOUT", "0.9")
    with pytest.raises(ValueError, match=r"MS_COMM_TIMEOUT, at least 1, but got '0\.9'"):
        _watch.join(0, 1, "127.0.0.1:1")


def test_who_has_not_joined_cannot_enter():
    with pytest.raises(RuntimeError, match="has not joined"):
        _core.watch.enter(0, 0, "Barrier", "")
    _watch.leave()
    assert not _core.watch.joined()


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"like 127.*but got 'nowhere'"):
        _watch.join(0, 1, "nowhere")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "error, line",
    [
        (ValueError("a\nb"), "ValueError: a"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Unprintable(), "Unprintable"),
    ],
)
def test_an_exception_is_told_by_its_first_line(error, line):
    assert _watch._line(type(error), error) == line
