"""The arguments of `msrun`: those that its documentation names. What cannot mean anything here is refused, or said once."""

from __future__ import annotations

import argparse
import json
import socket
import sys
from typing import Any

DEFAULT_PORT = 8118
_EACH = 8  # processes of a machine


class Refused(Exception):
    """What the user must change, in words."""


def _truth(text: str) -> bool:
    if text not in ("True", "False", "true", "false"):
        raise argparse.ArgumentTypeError(f"must be True or False, but got {text!r}")
    return text in ("True", "true")


def _cores(text: str) -> bool | dict[str, list[str]]:
    """True, False, or {"device0": ["0-3"]}, the cores of each process."""
    if text in ("True", "False", "true", "false"):
        return _truth(text)
    try:
        read = json.loads(text.replace("'", '"'))
    except ValueError:
        read = None
    if not isinstance(read, dict) or not all(isinstance(ranges, list) for ranges in read.values()):
        raise argparse.ArgumentTypeError(
            f'must be True, False or like {{"device0": ["0-3"]}}, but got {text!r}'
        )
    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="msrun",
        description="Starts a script in many processes.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--worker_num", type=int, default=None, help="processes of the job, on all machines; else 8"
    )
    add("--local_worker_num", type=int, default=None, help="processes on this machine; else 8")
    add("--master_addr", default="127.0.0.1", help="the machine of rank 0, by name or address")
    add(
        "--master_port",
        type=int,
        default=None,
        help=f"a port of that machine for the ranks to watch each other; without one, a free one from {DEFAULT_PORT} on",
    )
    add("--node_rank", type=int, default=-1, help="which of several machines this is, from 0")
    add("--log_dir", default="", help="the folder of worker_N.log and scheduler.log; else this one")
    add(
        "--join",
        type=_truth,
        default=False,
        help="True: waits, shows what the processes say, returns their status; False: starts them and ends",
    )
    add(
        "--cluster_time_out",
        type=int,
        default=600,
        help="seconds for all processes to come; negative: without end",
    )
    add(
        "--max_restarts",
        type=int,
        default=0,
        help="how often a job of which a process failed or was killed is started again; the script takes up its last checkpoint",
    )
    add("--bind_core", type=_cores, default=False, help="gives each process cores of its own")
    add("--bind_numa", type=_cores, default=False, help="said to do nothing: bind_core does it")
    add("--sim_level", type=int, default=-1, help="refused: runs without devices")
    add("--sim_rank_id", type=int, default=-1, help="refused, as sim_level is")
    add("--rank_table_file", default="", help="said to do nothing: about other devices")
    add(
        "--worker_log_name",
        default="",
        help="a name before _N.log instead of worker; {ip} and {hostname} stand for this machine's",
    )
    add(
        "--tail_worker_log",
        default="-1",
        help="with --join True, the ranks that are shown, such as 0,2; -1: all",
    )
    add("script", help="a Python script, or another program")
    add("arguments", nargs=argparse.REMAINDER, help="of the script")
    return parser


def parse(arguments: list[str]) -> argparse.Namespace:
    """What a command line says, checked."""
    args = _parser().parse_args(arguments)
    _count(args)
    _check(args)
    args.tailed = _tailed(args)
    return args


def _count(args: Any) -> None:
    """How many processes there are, in all and here, where one of the two is not said: no machine can come to a job whose first
    one has an address that only it knows."""
    several = args.node_rank > 0 or args.master_addr not in ("127.0.0.1", "localhost", "::1")
    said = args.worker_num is not None, args.local_worker_num is not None
    if said == (True, False):
        args.local_worker_num = min(args.worker_num, _EACH) if several else args.worker_num
    elif said == (False, True):
        args.worker_num = max(args.local_worker_num, _EACH) if several else args.local_worker_num
    elif said == (False, False):
        args.worker_num = args.local_worker_num = _EACH


def _check(args: Any) -> None:
    if args.worker_num < 1:
        raise Refused(f"--worker_num must be at least 1, but got {args.worker_num}.")
    if not 1 <= args.local_worker_num <= args.worker_num:
        raise Refused(
            f"--local_worker_num must be in [1, {args.worker_num}], which is --worker_num, but got {args.local_worker_num}."
        )
    if args.node_rank < -1:
        raise Refused(f"--node_rank must not be negative, but got {args.node_rank}.")
    if args.node_rank > 0 and args.local_worker_num == args.worker_num:
        raise Refused(
            f"--node_rank must be 0, the only machine, where --local_worker_num is --worker_num, but got {args.node_rank}."
        )
    if args.master_port is not None and not 1024 <= args.master_port <= 65535:
        raise Refused(f"--master_port must be in [1024, 65535], but got {args.master_port}.")
    if args.cluster_time_out == 0:
        raise Refused("--cluster_time_out must not be 0.")
    if args.max_restarts < 0:
        raise Refused(f"--max_restarts must not be negative, but got {args.max_restarts}.")
    for name in ("sim_level", "sim_rank_id"):
        if getattr(args, name) != -1:
            raise Refused(f"--{name} must be left out: there are no devices to simulate.")
    try:
        socket.getaddrinfo(args.master_addr, None)
    except OSError as error:
        raise Refused(
            f"--master_addr must be an address or the name of a machine, but got {args.master_addr!r}: {error.args[-1]}."
        ) from None
    if args.rank_table_file:
        _say("--rank_table_file has no effect: processes on CPUs need none.")
    if args.bind_numa:
        _say("--bind_numa has no effect: --bind_core gives each process cores that lie together.")


def _tailed(args: Any) -> list[int]:
    """The ranks whose logs are shown."""
    if args.tail_worker_log.strip() == "-1":
        return list(range(args.local_worker_num))
    parts = args.tail_worker_log.split(",")
    if not all(p.strip().isdigit() and int(p) < args.local_worker_num for p in parts):
        raise Refused(
            f"--tail_worker_log must be -1 or ranks below {args.local_worker_num}, such as 0,1, but got {args.tail_worker_log!r}."
        )
    return sorted({int(p) for p in parts})


def _say(text: str) -> None:
    print(f"msrun: {text}", file=sys.stderr)
