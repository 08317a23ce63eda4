"""Machines that a plan is made for: how many devices, what one of them does in a second, and how fast the links between them are."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore import _core, _paths, _settings
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
# What is in these the model of costs can count with.
_SECONDS, _RATES = (0, 1e3), (1e6, 1e30)
_LIMITS = {"flops": _RATES, "bytes": _RATES, "launch": _SECONDS}
MEASURED = "measured"  # this machine, as the processes find it that have come together


class Grid(NamedTuple):
    """A machine that says its axes itself, the outermost first, and what one device does."""

    axes: list[tuple[str, int]]
    links: list[Link]
    device: dict[str, float]


def in_stages(
    devices: int, machine: Machine | Grid, stages: int, coarse: bool = False
) -> tuple[tuple[Axis, ...], dict[str, Any], Link]:
    """The axes of the devices of one of so many stages of a pipeline, what one device does, and the link between stages, which are
    the outermost axes of the machine. The sizes of axes are prime numbers while there are few; `coarse`: larger ones, so that all are
    chosen together."""
    if isinstance(machine, Machine):
        axes, device = _of_machine(devices // stages, machine, coarse)
        return axes, device, machine.inner if devices <= machine.host else machine.outer
    named, link = _without_stages(machine, stages)
    return _with_links(named, machine.links, named, coarse), machine.device, link


def _without_stages(grid: Grid, stages: int) -> tuple[list[tuple[str, int]], Link]:
    """What is left of the axes for each stage, and the link along which most stages follow one another."""
    along = _stages_along([size for _, size in grid.axes], stages)
    links = [link for link, here in zip(grid.links, along) if here > 1]
    left = [(name, size // here) for (name, size), here in zip(grid.axes, along)]
    return left, links[-1] if links else Link(0, 0)


def _stages_along(sizes: Sequence[int], stages: int) -> list[int]:
    """Into how many stages each axis is cut: the outermost ones wholly. The product is less where they cannot be cut into so many."""
    along, rest = [], stages
    for size in sizes:
        here = math.gcd(rest, size)
        if here not in (rest, size):
            rest = here = 1
        along.append(here)
        rest //= here
    return along


# ---- what users give ----------------------------------------------------------------------------------------------------------
def read(owner: str, topology: Any, devices: int, stages: int) -> Machine | Grid:
    """The machine of so many devices, for so many stages, that is meant by the name of a preset, "measured", a file, or a dict with "axes", [name, size, seconds for each message,
    seconds for each byte] of each from the outermost on, and perhaps "device" with "flops", "bytes", "launch" and "memory"."""
    if topology == MEASURED and isinstance(topology, str):
        return _links.machine()
    if isinstance(topology, str) and topology in PRESETS:
        return PRESETS[topology]
    given = _from_file(owner, topology) if isinstance(topology, (str, os.PathLike)) else topology
    if not isinstance(given, dict) or not isinstance(given.get("axes"), (list, tuple)):
        raise TypeError(
            f"For '{owner}', 'topology' must be one of {[*PRESETS, MEASURED]}, a file, or a dict with 'axes', but got {given!r:.100}."
        )
    unknown = sorted(repr(key) for key in given if key not in ("axes", "device"))
    if unknown:
        raise ValueError(
            f"For '{owner}', 'topology' must have 'axes' and 'device' alone, but got {', '.join(unknown):.100}."
        )
    axes, links = _checked_axes(owner, given["axes"])
    sizes = [size for _, size in axes]
    if math.prod(sizes) != devices:
        raise ValueError(
            f"For '{owner}', the sizes of the axes of 'topology' must multiply to {devices}, the number of devices, but got {sizes}."
        )
    if math.prod(_stages_along(sizes, stages)) != stages:
        raise ValueError(
            f"For '{owner}', the outermost axes of 'topology' must have the {stages} stages of a pipeline, but the sizes are {sizes}."
        )
    return Grid(axes, links, _checked_device(owner, given.get("device", {})))


def _from_file(owner: str, path: Any) -> Any:
    name = _paths.checked(owner, "topology", path)
    try:
        with open(name, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise ValueError(
            f"For '{owner}', 'topology' must be one of {[*PRESETS, MEASURED]} or a file, but there is no '{name}'."
        ) from None
    except OSError as error:
        raise ValueError(
            f"For '{owner}', 'topology' must be a file that can be read, but '{name}' cannot: {error.strerror}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"For '{owner}', 'topology' must be a file of JSON text, but '{name}' is not: {error}."
        ) from None


def _checked_axes(owner: str, axes: Sequence[Any]) -> tuple[list[tuple[str, int]], list[Link]]:
    if len(axes) > _core.MOST_AXES:
        raise ValueError(
            f"For '{owner}', 'topology' must have at most {_core.MOST_AXES} axes, but got {len(axes)}."
        )
    for axis in axes:
        if not isinstance(axis, (list, tuple)) or len(axis) != 4:
            raise ValueError(
                f"For '{owner}', each of 'axes' in 'topology' must be a name, a size, and seconds for each message and byte, but got "
                f"{axis!r:.100}."
            )
        name, size, *seconds = axis
        if not isinstance(name, str) or type(size) is not int or size < 1:
            raise ValueError(
                f"For '{owner}', an axis of 'topology' must have a name and a size of at least 1, but got {axis!r:.100}."
            )
        for what, value in zip(("a message", "a byte"), seconds):
            _require_number(owner, f"the seconds for {what} along axis '{name}'", value, *_SECONDS)
    names = [name for name, *_ in axes]
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        raise ValueError(
            f"For '{owner}', the axes of 'topology' must have different names, which are identifiers, but got {names}."
        )
    return [(a[0], a[1]) for a in axes], [Link(float(a[2]), float(a[3])) for a in axes]


def _checked_device(owner: str, device: Any) -> dict[str, float]:
    if not isinstance(device, dict):
        raise TypeError(
            f"For '{owner}', 'device' in 'topology' must be a dict, but got {type(device).__name__}."
        )
    for name, value in device.items():
        if name not in HOST:
            raise ValueError(
                f"For '{owner}', 'device' in 'topology' must be described by {list(HOST)}, but got {name!r}."
            )
        if name != "memory":
            _require_number(owner, f"'{name}' of the device", value, *_LIMITS[name])
    return {**HOST, **device, "memory": _bytes(owner, device.get("memory", HOST["memory"]))}


def _bytes(owner: str, memory: Any) -> int:
    """Bytes, or a text as set_context(max_device_memory="32GB") takes it."""
    if isinstance(memory, str) and _settings.bytes_of(memory):
        return _settings.bytes_of(memory)
    if type(memory) is not int or memory < 0:
        raise (ValueError if isinstance(memory, (int, str)) else TypeError)(
            f"For '{owner}', 'memory' of the device in 'topology' must be a number of bytes, or a text as '32GB', but got {memory!r:.100}."
        )
    return memory


def _require_number(owner: str, what: str, value: Any, least: float, most: float) -> None:
    if type(value) not in (int, float):
        raise TypeError(
            f"For '{owner}', {what} in 'topology' must be a number, but got {type(value).__name__}."
        )
    if not least <= value <= most:
        raise ValueError(
            f"For '{owner}', {what} in 'topology' must be in [{least:g}, {most:g}], but got {value!r:.100}."
        )


# ---- axes ---------------------------------------------------------------------------------------------------------------------
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


__all__ = ["PRESETS", "Grid", "in_stages", "read"]
