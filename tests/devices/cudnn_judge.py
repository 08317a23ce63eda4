"""cuDNN itself, asked what it thinks of graphs for a chip that is not there: since 9.8 it makes plans from a description of a device alone, compiles
their kernels, and says which engine it took. Graphs are those that the stub has seen (cuda_stub/dnn_record.cc)."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mindspore import _devices

TENSOR_CORE, DOWN_CONVERT, BY_CHANCE = 0, 1, 4  # NUMERICAL_NOTE_*
# Numbers of cudnn_graph.h.
_ENGINE, _CONFIG, _HEURISTICS, _PLAN, _DEVICE = 2, 3, 4, 5, 38
_MODE, _INT64, _NOTE, _DESCRIPTOR, _CHAR = 8, 3, 11, 15, 24
_TYPES = {2: ctypes.c_bool, 3: ctypes.c_int64, 4: ctypes.c_float, 5: ctypes.c_double}

# What differs between the chips, and what is alike.
_CHIPS: dict[str, dict[str, Any]] = {
    "sm_75": {"deviceVer": 750, "multiProcessorCount": 40, "maxSharedMemoryPerBlockOptin": 65536},
    "sm_80": {"deviceVer": 800, "multiProcessorCount": 108, "maxSharedMemoryPerBlockOptin": 166912},
    "sm_90": {"deviceVer": 900, "multiProcessorCount": 132, "maxSharedMemoryPerBlockOptin": 232448},
    "sm_100": {
        "deviceVer": 1000,
        "multiProcessorCount": 148,
        "maxSharedMemoryPerBlockOptin": 232448,
    },
}
CHIPS = tuple(_CHIPS)[1:]  # those that take all that is asked
_ALIKE: dict[str, Any] = {
    "version": 1,
    "cudaDeviceId": 0,
    "driverVer": 13000,
    "maxGridSize": [2**31 - 1, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64],
    "regsPerBlock": 65536,
    "smCountOrigin": 0,
    "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152,
    "oversizedSharedMemoryPerBlock": 0,
    "reservedSharedMemoryPerBlock": 1024,
    "maxRegistersPerSM": 65536,
    "maxCtasPerSM": 32,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048,
    "pciDeviceId": 0,
    "isTccDriver": 0,
    "supportCoopLaunch": 1,
    "smClockRateKHz": 1980000,
    "memClockRateKHz": 3201000,
    "memoryBusWidth": 6144,
    "l2CacheSize": 62914560,
    "totalGlobalMem": 80 << 30,
    "deviceName": "a chip that is not there",
}


class Refused(Exception):
    """What cuDNN says."""


class Engine(NamedTuple):
    number: int
    notes: list[int]
    workspace: int


def _find(name: str) -> Path | None:
    found = [folder / name for folder in map(Path, _devices.vendor_folders())]
    return next((path for path in found if path.is_file()), None)


@functools.cache
def _library() -> ctypes.CDLL | None:
    """cuDNN, with what its parts look for: NVIDIA's compiler, and something in the driver's place."""
    cudnn, compiler = _find("libcudnn.so.9"), _find("libnvrtc.so.13")
    if not cudnn or not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        driver = f"{folder}/libcuda.so.1"
        source = str(Path(__file__).with_name("no_driver.c"))
        command = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"]
        subprocess.run([*command, driver, source], check=True)
        ctypes.CDLL(driver, ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(compiler), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(cudnn), ctypes.RTLD_GLOBAL)


class Judge:
    def __init__(self, chip: str) -> None:
        library = _library()
        assert library
        self._cudnn = library
        text = json.dumps({**_ALIKE, **_CHIPS[chip]}).encode() + b"\0"
        self._device = self._made(_DEVICE)
        values = ctypes.create_string_buffer(text, len(text))
        self._check(self._set(self._device, 2702, _CHAR, len(text), values), "a chip")
        self._check(self._finalize(self._device), "a chip")

    def engine(self, graph: dict, allows: Callable[[list[int]], bool] = lambda _: True) -> Engine:
        """The first engine that may run and makes a plan of the graph."""
        built, said = self._build(graph, {}), ["no engine"]
        for mode in (3, 2):  # the usual one, then what is left
            for config in self._ranked(built, mode, said):
                engine = self._made(_ENGINE)
                handles = (ctypes.c_void_p * 1)(engine)
                notes, number = (ctypes.c_int * 32)(), (ctypes.c_int64 * 1)()
                self._get(config, 300, _DESCRIPTOR, 1, handles)
                count = self._get(engine, 1303, _NOTE, 32, notes)
                self._get(engine, 1301, _INT64, 1, number)
                if not allows(notes[:count]):
                    continue
                plan = self._made(_PLAN)
                self._put(plan, 401, _DESCRIPTOR, [config])
                self._put(plan, 407, _DESCRIPTOR, [self._device])
                if self._finalize(plan):
                    said.append(f"engine {number[0]}: {self._error()}")
                    continue
                workspace = (ctypes.c_int64 * 1)()
                self._get(plan, 402, _INT64, 1, workspace)
                return Engine(number[0], notes[:count], workspace[0])
        raise Refused(said[-1])

    def _ranked(self, graph: int, mode: int, said: list[str]) -> Iterable[int]:
        heuristics = self._made(_HEURISTICS)
        self._put(heuristics, 201, _DESCRIPTOR, [graph])
        self._put(heuristics, 200, _MODE, [mode])
        self._put(heuristics, 204, _DESCRIPTOR, [self._device])
        if self._finalize(heuristics):
            said.append(self._error())
            return []
        count = self._get(heuristics, 202, _DESCRIPTOR, 0, None)
        configs = (ctypes.c_void_p * max(count, 1))(*(self._made(_CONFIG) for _ in range(count)))
        got = self._get(heuristics, 202, _DESCRIPTOR, count, configs) if count else 0
        return [configs[i] or 0 for i in range(got)]

    def _build(self, given: dict, known: dict[str, int]) -> int:
        # A tensor is one descriptor, however often the text has it.
        text = json.dumps(given)
        if text not in known:
            made = self._made(given["kind"])
            for attribute, kind, values in given["set"]:
                if kind == _DESCRIPTOR:
                    values = [self._build(value, known) for value in values]
                self._put(made, attribute, kind, values)
            self._check(self._finalize(made), f"kind {given['kind']}")
            known[text] = made
        return known[text]

    def _made(self, kind: int) -> int:
        made = ctypes.c_void_p()
        self._check(
            self._cudnn.cudnnBackendCreateDescriptor(kind, ctypes.byref(made)), f"kind {kind}"
        )
        return made.value or 0

    def _put(self, to: int, attribute: int, kind: int, values: list) -> None:
        element = ctypes.c_void_p if kind == _DESCRIPTOR else _TYPES.get(kind, ctypes.c_int)
        array = (element * len(values))(*values)
        self._check(self._set(to, attribute, kind, len(values), array), f"attribute {attribute}")

    def _finalize(self, made: int) -> int:
        return self._cudnn.cudnnBackendFinalize(ctypes.c_void_p(made))

    def _set(self, to: int, attribute: int, kind: int, count: int, values: Any) -> int:
        return self._cudnn.cudnnBackendSetAttribute(
            ctypes.c_void_p(to), attribute, kind, ctypes.c_int64(count), values
        )

    def _get(self, of: int, attribute: int, kind: int, most: int, to: Any) -> int:
        count = ctypes.c_int64()
        result = self._cudnn.cudnnBackendGetAttribute(
            ctypes.c_void_p(of), attribute, kind, ctypes.c_int64(most), ctypes.byref(count), to
        )
        self._check(result, f"attribute {attribute}")
        return count.value

    def _error(self) -> str:
        text = ctypes.create_string_buffer(1 << 12)
        self._cudnn.cudnnGetLastErrorString(text, ctypes.c_size_t(len(text)))
        return text.value.decode(errors="replace")

    def _check(self, result: int, what: str) -> None:
        if result:
            raise Refused(f"{what}: status {result}, {self._error()}")


def is_there() -> bool:
    """Whether cuDNN and NVIDIA's compiler are installed, and cuDNN's parts can be found."""
    return _find("libcudnn.so.9") is not None and _find("libnvrtc.so.13") is not None


# Which engines may run, as the settings of the context say.
POLICIES: dict[str, Callable[[list[int]], bool]] = {
    "any": lambda notes: True,
    "exact": lambda notes: TENSOR_CORE not in notes and DOWN_CONVERT not in notes,
    "deterministic": lambda notes: BY_CHANCE not in notes,
    "exact, deterministic": lambda notes: not {TENSOR_CORE, DOWN_CONVERT, BY_CHANCE} & {*notes},
}


def main(path: str, chip: str, *policies: str) -> None:
    """Prints, for each graph of a file, the engine that each policy gets, or what cuDNN says."""
    judge = Judge(chip)
    for line in sorted(set(Path(path).read_text().splitlines())):
        graph = json.loads(line)
        answers: dict[str, Any] = {"graph": graph}
        for name in policies:
            try:
                answers[name] = judge.engine(graph, POLICIES[name])
            except Refused as refused:
                answers[name] = str(refused)
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # cuDNN's own end wants a driver
