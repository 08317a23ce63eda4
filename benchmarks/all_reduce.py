"""Times the sum over processes of one host beside MPI's own: `python benchmarks/all_reduce.py [--ranks N]`.

The program starts itself under mpiexec. Each size is summed by a compiled graph of several AllReduce, and by MPI_Allreduce of the
library that brought the processes together, by turns; of the rounds the least is kept. The exit status says whether ours stay
within the bars: 0.4 of MPI's time at 64 MB, 1.5 microseconds at 4 KB, of two processes.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SIZES = (4 << 10, 64 << 10, 1 << 20, 64 << 20)
MOST_OF_MPI, MOST_OF_SMALL = 0.4, 1.5e-6


def start(options: argparse.Namespace) -> int:
    """Runs this file in several processes."""
    mpiexec = Path(sys.prefix) / "bin" / "mpiexec"
    root = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}
    return subprocess.run(
        [
            mpiexec,
            "--oversubscribe",
            "-n",
            str(options.ranks),
            sys.executable,
            __file__,
            "--inside",
        ],
        env={**os.environ, **root, "OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx"},
        check=False,
    ).returncode


def best(call: Callable[[], None], rounds: int) -> float:
    """The least time of a call."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def of_mpi(data: np.ndarray) -> Callable[[], None]:
    """MPI_Allreduce of Open MPI, called by address."""
    from mindspore.common import _mpi

    library = ctypes.CDLL(_mpi.library("openmpi"))
    out = np.empty_like(data)
    handles = ("ompi_mpi_float", "ompi_mpi_op_sum", "ompi_mpi_comm_world")
    floats, add, world = (ctypes.addressof(ctypes.c_char.in_dll(library, h)) for h in handles)
    pointers = [ctypes.c_void_p(a) for a in (data.ctypes.data, out.ctypes.data)]
    rest = [ctypes.c_int(data.size), *(ctypes.c_void_p(h) for h in (floats, add, world))]

    def call(kept: np.ndarray = out) -> None:
        library.MPI_Allreduce(*pointers, *rest)

    return call


def measure() -> bool:
    """Prints a row for each size; whether all are within the bars."""
    import mindspore as ms
    from mindspore import Tensor, nn, ops
    from mindspore.communication import get_group_size, get_rank, init

    init()
    ms.set_context(mode=ms.GRAPH_MODE)

    class Chain(nn.Cell):
        def __init__(self, length: int) -> None:
            super().__init__()
            self.length = length
            self.sum = ops.AllReduce()

        def construct(self, x: Tensor) -> Tensor:
            for _ in range(self.length):
                x = self.sum(x)
            return x

    within = True
    for size in SIZES:
        ours, mpi = by_turns(Chain, size)
        if get_group_size() == 2:
            within &= size != SIZES[-1] or ours <= MOST_OF_MPI * mpi
            within &= size != SIZES[0] or ours <= MOST_OF_SMALL
        if get_rank() == 0:
            row = f"{size >> 10:>8} KB  ours {ours * 1e6:10.1f} us  MPI {mpi * 1e6:10.1f} us"
            print(f"{row}  ratio {ours / mpi:.2f}", flush=True)
    return within


def by_turns(chain: Callable, size: int) -> tuple[float, float]:
    """Seconds of a sum of so many bytes, by us and by MPI."""
    from mindspore import Tensor

    data = np.zeros(size // 4, np.float32)
    length, calls, of_theirs = (64, 20, 300) if size < 1 << 20 else (2, 5, 5)
    net, x, theirs = chain(length), Tensor(data), of_mpi(data)
    net(x)
    ours = mpi = float("inf")
    for _ in range(5):
        ours = min(ours, best(lambda: net(x).asnumpy(), calls) / length)
        mpi = min(mpi, best(theirs, of_theirs))
    return ours, mpi


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        return start(options)
    return 0 if measure() else 1


if __name__ == "__main__":
    sys.exit(main())
