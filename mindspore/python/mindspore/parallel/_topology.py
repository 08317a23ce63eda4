"""Machines that a plan is made for: how many devices, what one of them does in a second, and how fast the links between them are."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
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


def in_stages(
    devices: int, topology: Any, stages: int, coarse: bool = False
) -> tuple[tuple[Axis, ...], dict[str, Any], Link]:
    """The axes of the devices of one of so many stages of a pipeline, what one device does, and the link between stages, which are
    the outermost axes of the machine."""
    if stages == 1:
        return (*axes_of(devices, topology, coarse), Link(0, 0))
    machine = _machine_of(topology)
    if machine is not None:
        axes, device = _of_machine(devices // stages, machine, coarse)
        return axes, device, machine.inner if devices <= machine.host else machine.outer
    axes, device = axes_of(devices, topology)
    link, rest = Link(0, 0), stages
    while rest > 1 and rest % axes[0][1] == 0:
        link, rest, axes = Link(*axes[0][2:]), rest // axes[0][1], axes[1:]
    if rest > 1:
        raise ValueError(
            f"For 'topology', the outermost axes must have the {stages} stages of a pipeline, but the sizes are {[a[1] for a in axes]}."
        )
    return axes, device, link


def _machine_of(topology: Any) -> Machine | None:
    """That of a name; None: the topology says its axes itself."""
    if not isinstance(topology, str):
        return None
    return _links.machine() if topology == MEASURED else PRESETS.get(topology)


def axes_of(
    devices: int, topology: Any, coarse: bool = False
) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    """The axes of so many devices, and what one device does. The sizes of axes are prime numbers while there are few; `coarse`: larger
    ones, so that all are chosen together.

    Args:
        devices: How many there are.
        topology: The name of a preset, "measured", a file, or a dict with "axes", [name, size, seconds for each message, seconds for each byte] of
            each from the outermost on, and perhaps "device" with "flops", "bytes", "launch" and "memory".
    """
    machine = _machine_of(topology)
    if machine is not None:
        return _of_machine(devices, machine, coarse)
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
        links.append(Link(float(alpha), float(beta)))
    count = math.prod(size for _, size in axes)
    if count != devices:
        raise ValueError(
            f"For 'topology', the sizes of the axes must multiply to {devices}, the number of devices, but got {count}."
        )
    return _with_links(axes, links, axes, coarse), {**HOST, **dict(given.get("device", {}))}


def _with_links(
    groups: Sequence[tuple[str, int]],
    links: Sequence[Link],
    named: Sequence[tuple[str, int]],
    coarse: bool,
) -> tuple[Axis, ...]:
    """The axes that groups of devices are made of, each with the link of its group, and a name of those."""
    count = math.prod(size for _, size in groups)
    parts = _layouts.parts_of([size for _, size in groups], _planning.seen_cuts(count), coarse)
    sizes = [part for group in parts for part in group]
    axes = _layouts.named_axes(sizes, named)
    each = [link for group, link in zip(parts, links) for _ in group]
    return tuple((*axis, *link) for axis, link in zip(axes, each, strict=True))


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


def _of_machine(
    devices: int, machine: Machine, coarse: bool
) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    inner = math.gcd(devices, machine.host) if devices > machine.host else devices
    if _planning.seen_layouts(devices):
        mesh = _planning.mesh_for(devices)
        return _links.axes_with_links(mesh, machine._replace(host=inner)), dict(machine.device)
    groups = (("", devices // inner), ("", inner))
    axes = _with_links(groups, (machine.outer, machine.inner), (("d", devices),), coarse)
    return axes, dict(machine.device)


__all__ = ["PRESETS", "axes_of", "in_stages"]
