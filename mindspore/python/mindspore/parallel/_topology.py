"""Machines that a plan is made for: how many devices, what one of them does in a second, and how fast the links between them are."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore.common import _layouts, _planning

Axis = tuple[str, int, float, float]  # name, size, seconds for each message, seconds for each byte


class Link(NamedTuple):
    """What a collective between neighbours takes."""

    alpha: float  # seconds for each message
    beta: float  # seconds for each byte


FABRIC = Link(6e-6, 1 / 200e9)  # between devices of one host with links of their own
PCIE4 = Link(1.2e-5, 1 / 22e9)
ROCE = Link(2.2e-5, 1 / 22e9)  # a card of 200 Gb/s for each device
MEMORY = Link(3e-6, 1 / 8e9)  # processes of one host, through its memory

# One accelerator with tensor cores in half precision, and a few cores of a host.
_ACCELERATOR = {"flops": 1.5e14, "bytes": 1.5e12, "launch": 4e-6, "memory": 32 << 30}
_HOST = {"flops": 1e11, "bytes": 2e10, "launch": 2e-6, "memory": 0}


class Topology(NamedTuple):
    """A kind of machine."""

    inner: Link  # within a host
    outer: Link  # between hosts
    host: int  # devices of a host
    device: dict[str, Any]


PRESETS: dict[str, Topology] = {
    "fabric": Topology(FABRIC, ROCE, 8, _ACCELERATOR),
    "pcie4": Topology(PCIE4, ROCE, 8, _ACCELERATOR),
    "cpu": Topology(MEMORY, ROCE, 1 << 20, _HOST),
}


def in_stages(
    devices: int, topology: Any, stages: int
) -> tuple[tuple[Axis, ...], dict[str, Any], Link]:
    """The axes of the devices of one of so many stages of a pipeline, what one device does, and the link between stages, which are
    the outermost axes of the machine."""
    if isinstance(topology, str) and topology in PRESETS:
        preset = PRESETS[topology]
        axes, device = _of_preset(devices // stages, preset)
        return axes, device, preset.inner if devices <= preset.host else preset.outer
    axes, device = axes_of(devices, topology)
    link, rest = Link(0, 0), stages
    while rest > 1 and rest % axes[0][1] == 0:
        link, rest, axes = Link(*axes[0][2:]), rest // axes[0][1], axes[1:]
    if rest > 1:
        raise ValueError(
            f"For 'topology', the outermost axes must have the {stages} stages of a pipeline, but the sizes are {[a[1] for a in axes]}."
        )
    return axes, device, link


def axes_of(devices: int, topology: Any) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    """The axes of so many devices, of prime sizes, and what one device does.

    Args:
        devices: How many there are.
        topology: The name of a preset, a file, or a dict with "axes", [name, size, seconds for each message, seconds for each byte] of
            each from the outermost on, and perhaps "device" with "flops", "bytes", "launch" and "memory".
    """
    if isinstance(topology, str) and topology in PRESETS:
        return _of_preset(devices, PRESETS[topology])
    given = _read(topology) if isinstance(topology, (str, os.PathLike)) else topology
    if not isinstance(given, dict) or not isinstance(given.get("axes"), (list, tuple)):
        raise TypeError(
            f"For 'topology', the value must be one of {list(PRESETS)}, a file, or a dict with 'axes', but got {given!r:.100}."
        )
    axes: list[Axis] = []
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
        axes += _split(name, size, Link(float(alpha), float(beta)))
    count = math.prod(axis[1] for axis in axes)
    if count != devices:
        raise ValueError(
            f"For 'topology', the sizes of the axes must multiply to {devices}, the number of devices, but got {count}."
        )
    return tuple(axes), {**_HOST, **dict(given.get("device", {}))}


def _read(path: Any) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise ValueError(
            f"For 'topology', the value must be one of {list(PRESETS)} or a file, but there is no '{path}'."
        ) from None
    except ValueError as error:
        raise ValueError(f"For 'topology', the file '{path}' must be JSON text: {error}.") from None


def _of_preset(devices: int, preset: Topology) -> tuple[tuple[Axis, ...], dict[str, Any]]:
    inner = math.gcd(devices, preset.host) if devices > preset.host else devices
    strides = 1
    axes: list[Axis] = []
    for name, size in reversed(_planning.mesh_for(devices)):
        strides *= size
        link = preset.inner if strides <= inner else preset.outer
        axes.insert(0, (name, size, link.alpha, link.beta))
    return tuple(axes), dict(preset.device)


def _split(name: str, size: int, link: Link) -> Sequence[Axis]:
    parts = _layouts.primes(size)
    numbered = len(parts) > 1
    return [
        (f"{name}_{i}" if numbered else name, part, link.alpha, link.beta)
        for i, part in enumerate(parts)
    ]


__all__ = ["PRESETS", "axes_of", "in_stages"]
