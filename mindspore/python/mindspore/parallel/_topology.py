"""Machines that a plan is made for: how many devices, what one of them does in a second, and how fast the links between them are."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from mindspore.common import _layouts, _links, _planning
from mindspore.common._links import HOST, MEMORY, Axis, Link, Machine

FABRIC = Link(6e-6, 1 / 200e9)  # between devices of one host with links of their own
PCIE4 = Link(1.2e-5, 1 / 22e9)
ROCE = Link(2.2e-5, 1 / 22e9)  # a card of 200 Gb/s for each device

# One accelerator with tensor cores in half precision.
_ACCELERATOR = {"flops": 1.5e14, "bytes": 1.5e12, "launch": 4e-6, "memory": 32 << 30}


PRESETS: dict[str, Machine] = {
    "fabric": Machine(FABRIC, ROCE, 8, _ACCELERATOR),
    "pcie4": Machine(PCIE4, ROCE, 8, _ACCELERATOR),
    "cpu": Machine(MEMORY, ROCE, 1 << 20, HOST),
}
MEASURED = "measured"  # this machine, as the processes find it that have come together


def axes_of(devices: int, topology: Any) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    """The axes of so many devices, of prime sizes, and what one device does.

    Args:
        devices: How many there are.
        topology: The name of a preset, "measured", a file, or a dict with "axes", [name, size, seconds for each message, seconds for each byte] of
            each from the outermost on, and perhaps "device" with "flops", "bytes", "launch" and "memory".
    """
    if isinstance(topology, str) and topology in PRESETS:
        return _of_machine(devices, PRESETS[topology])
    if topology == MEASURED:
        return _of_machine(devices, _links.machine())
    given = _read(topology) if isinstance(topology, (str, os.PathLike)) else topology
    if not isinstance(given, dict) or not isinstance(given.get("axes"), (list, tuple)):
        raise TypeError(
            f"For 'topology', the value must be one of {[*PRESETS, MEASURED]}, a file, or a dict with 'axes', but got {given!r:.100}."
        )
    axes: list[tuple[str, int]] = []
    links: list[Link] = []
    for axis in given["axes"]:
        if not isinstance(axis, (list, tuple)) or len(axis) != 4:
            raise ValueError(
                f"For 'topology', each of 'axes' must be a name, a size, and seconds for each message and byte, but got {axis!r}."
            )
        name, size, alpha, beta = axis
        if not isinstance(name, str) or type(size) is not int or size < 1:
            raise ValueError(
                f"For 'topology', an axis must have a name and a size of at least 1, but got {axis!r}."
            )
        axes.append((name, size))
        links += [Link(float(alpha), float(beta))] * len(_layouts.primes(size))
    count = math.prod(size for _, size in axes)
    if count != devices:
        raise ValueError(
            f"For 'topology', the sizes of the axes must multiply to {devices}, the number of devices, but got {count}."
        )
    parts = _layouts.named_axes([p for _, size in axes for p in _layouts.primes(size)], axes)
    return tuple((*part, *link) for part, link in zip(parts, links, strict=True)), {
        **HOST,
        **dict(given.get("device", {})),
    }


def _read(path: Any) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise ValueError(
            f"For 'topology', the value must be one of {[*PRESETS, MEASURED]} or a file, but there is no '{path}'."
        ) from None
    except ValueError as error:
        raise ValueError(f"For 'topology', the file '{path}' must be JSON text: {error}.") from None


def _of_machine(devices: int, machine: Machine) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    inner = math.gcd(devices, machine.host) if devices > machine.host else devices
    axes = _links.axes_with_links(_planning.mesh_for(devices), machine._replace(host=inner))
    return axes, dict(machine.device)


__all__ = ["PRESETS", "axes_of"]
