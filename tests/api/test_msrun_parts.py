"""Parts of msrun by themselves: what can be met only when something fails at a certain moment."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from msrunlib import TREE

import msrun._hosts
import msrun._job
import msrun._rank


def test_the_first_failure_is_told_in_one_go(tmp_path, monkeypatch):
    told = tmp_path / "failed"
    linked = os.link

    def link(aside: str, path: str) -> None:
        assert not told.exists()  # as long as it has not all of its text
        assert Path(aside).read_text() == "3 7\n"
        linked(aside, path)

    monkeypatch.setattr(os, "link", link)
    msrun._rank._tell(str(told), "3 7\n")
    monkeypatch.undo()
    msrun._rank._tell(str(told), "4 8\n")
    assert told.read_text() == "3 7\n"
    assert os.listdir(tmp_path) == ["failed"]


# A job whose launcher cannot be started, in the background; and one that gets a signal as soon as its folder is there.
BROKEN = """
import argparse, os, signal, sys
sys.path.insert(0, {tree!r})
import msrun._job as j

class Job(j._Job):
    def __init__(self):
        self.mpiexec, self.logs, self.word = argparse.Namespace(family="mpich"), j.Path({logs!r}), ""
    def work(self, log):
        raise ValueError("no such launcher")

made = j.Surroundings
def surroundings(family):
    found = made(family)
    if "signal" in sys.argv:
        os.kill(os.getpid(), signal.SIGTERM)
    return found

j.Surroundings = surroundings
if "signal" in sys.argv:
    sys.exit(Job().run())
j._mpiexec.find, j._log_folder, j._job = lambda: None, lambda args: j.Path({logs!r}), lambda *_: Job()
j.run(argparse.Namespace(join=False, local_worker_num=1))
os.wait()
"""


def broken(folder: Path, *arguments: str) -> int:
    (folder / "scratch").mkdir()
    text = BROKEN.format(tree=TREE, logs=str(folder))
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments],
        env={**os.environ, "TMPDIR": str(folder / "scratch")},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode


def test_what_goes_wrong_in_the_background_is_in_the_log(tmp_path):
    broken(tmp_path)
    assert "ValueError: no such launcher" in (tmp_path / "scheduler.log").read_text()


def test_a_signal_at_the_start_leaves_no_folder(tmp_path):
    assert broken(tmp_path, "signal") == 128 + signal.SIGTERM
    assert not os.listdir(tmp_path / "scratch")


def test_a_machine_that_is_off_is_noticed():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        lines = msrun._hosts.Lines(socket.create_connection(listening.getsockname()))
        try:
            assert lines.connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            idle = lines.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
            assert 0 < idle <= 60
        finally:
            lines.close()


@pytest.mark.parametrize("workers", [0, -3])
def test_a_machine_brings_a_process_at_least(workers):
    args = argparse.Namespace(worker_num=4, local_worker_num=2)
    master = msrun._hosts.Master(args, socket.socket())
    greeting = {"greeting": msrun._hosts._GREETING, "worker_num": 4, "node_rank": 1}
    greeting["called"] = msrun._names.called()
    assert master._why_not({**greeting, "workers": 2}) == ""
    assert "not of an msrun" in master._why_not({**greeting, "workers": workers})
    master.selector.close()
    master.listening.close()
