"""`explain` shows how the compiler divides a network, `dry_run` what that would take on a machine that is not here. Both plan and run
nothing, so that Parameters need no memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

from mindspore import context
from mindspore.common import _planning
from mindspore.common._layouts import MOST_DEVICES
from mindspore.common._links import Axis, Link
from mindspore.common._tree import flatten
from mindspore.compile.versions import planned
from mindspore.nn import Cell
from mindspore.parallel import _topology
from mindspore.parallel.auto_parallel import AutoParallel

_MODES = {
    "auto": "auto",
    "dynamic_programming": "auto",
    "recursive_programming": "recursive",
    "sharding_propagation": "propagation",
    "semi_auto": "semi_auto",
    "data_parallel": "data",
}


class Explanation:
    """A plan to look at: `print` shows its table by source line, `data` has the numbers."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text, self.data = text, data

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def json(self) -> str:
        """The numbers as JSON text."""
        return json.dumps(self.data, indent=1)


def explain(
    network: Cell | Callable,
    *inputs: Any,
    devices: int | None = None,
    mode: str | None = None,
    topology: Any = None,
    stages: int | None = None,
) -> Explanation:
    """How the compiler divides a call of a network: by source line the ops, the layouts of what they read and make, the collectives with
    their bytes and modelled time, what lies on a device, and which other ways were rejected.

    Args:
        network: A Cell, as nn.TrainOneStepCell, or a function.
        inputs: What it is called with; of tensors only shape and dtype count, which are those of the whole batch.
        devices: How many processes; None: those of the context.
        mode: "auto" or "dynamic_programming", the exact search; "recursive_programming"; "sharding_propagation"; "semi_auto";
            "data_parallel". None: that of the context, or "auto".
        topology: The machine: "fabric", "pcie4", "cpu", "measured", a file or a dict, see dry_run; None: "cpu".
        stages: Into how many stages of a pipeline the network is cut; None: as the context says. What each holds and takes, the schedule
            with its idle time, and the critical path are shown, too.
    """
    machine = "cpu" if topology is None else topology
    return _planned("explain", network, inputs, devices, mode, machine, stages)


def dry_run(
    network: Cell | Callable,
    *inputs: Any,
    devices: int = 8,
    topology: Any = "fabric",
    mode: str | None = None,
    stages: int | None = None,
) -> Explanation:
    """What a step would take on a machine that is not here: time by part, the longest chain of what waits for each other, and what lies
    on each device.

    Args:
        network, inputs, mode, stages: As for explain.
        devices: How many devices the machine has.
        topology: "fabric": hosts of 8 devices with links of their own, and cards of 200 Gb/s between hosts; "pcie4": devices on PCIe;
            "cpu": processes of one host; "measured": as this process computes, and as collectives take of the processes that have come
            together, which all must call this; a JSON file or dict: {"axes": [["host", 4, 2e-5, 4e-11], ["device", 8, 6e-6, 5e-12]], "device":
            {"flops": 1.5e14, "bytes": 1.5e12, "launch": 4e-6, "memory": 34359738368}}, of each axis the seconds for a message and a byte.
    """
    return _planned("dry_run", network, inputs, devices, mode, topology, stages)


def _planned(
    owner: str,
    network: Any,
    inputs: tuple,
    devices: int | None,
    mode: str | None,
    topology: Any,
    stages: int | None,
) -> Explanation:
    if isinstance(network, AutoParallel):
        with network.settings():
            return _planned(owner, network.network, inputs, devices, mode, topology, stages)
    if not callable(network):
        raise TypeError(
            f"For '{owner}', 'network' must be a Cell or a function, but got {type(network).__name__}."
        )
    for leaf in flatten(inputs):
        if any(size < 0 for size in leaf.shape):
            raise ValueError(
                f"For '{owner}', 'inputs' must have sizes that are known, but got a Tensor of shape {tuple(leaf.shape)}."
            )
    count = _planning.devices() if devices is None else devices
    if type(count) is not int or not 1 <= count <= MOST_DEVICES:
        raise ValueError(
            f"For '{owner}', 'devices' must be an int of at least 1 and at most {MOST_DEVICES}, but got {count!r:.100}."
        )
    if mode is not None and (not isinstance(mode, str) or mode not in _MODES):
        raise (ValueError if isinstance(mode, str) else TypeError)(
            f"For '{owner}', 'mode' must be one of {list(_MODES)}, but got {mode!r:.100}."
        )
    parts = _planning.stages() if stages is None else stages
    if type(parts) is not int or parts < 1 or count % parts:
        raise ValueError(
            f"For '{owner}', 'stages' must be an int that divides 'devices', {count}, but got {parts!r:.100}."
        )
    machine = _topology.read(owner, topology, count, parts)
    fine = _topology.in_stages(count, machine, parts)
    made = _one(network, inputs, mode, parts, *fine)
    data, searched = made.data, _mode(mode) == "auto"
    if data["exact"] or not searched or not (data["limited"] or _planning.memory_limit()):
        return made
    # Less is left undone on fewer axes, which cut less finely, and at a price of memory.
    coarse = _topology.in_stages(count, machine, parts, coarse=True)
    if coarse[0] == fine[0]:
        return made
    with contextlib.suppress(ValueError):  # what the program pins may need the finer axes
        other = _one(network, inputs, mode, parts, *coarse)
        return min(made, other, key=lambda plan: plan.data["seconds"])
    return made


def _mode(mode: str | None) -> str:
    return _MODES[mode or "auto"] if mode is not None or not context.planned() else _planning.mode()


def _one(
    network: Any,
    inputs: tuple,
    mode: str | None,
    stages: int,
    axes: tuple[Axis, ...],
    device: dict[str, Any],
    link: Link,
) -> Explanation:
    """The plan over these axes, in each of so many stages."""
    planning = _planning.Planning(whole=True, apart=True)
    planning.axes, planning.device, planning.link = axes, device, link
    planning.mesh = tuple((name, size) for name, size, _, _ in axes)
    planning.stages, planning.mode = stages, _mode(mode)
    found = planned.plan(network, inputs, {}, planning)
    data = json.loads(found["json"])
    data["axes"] = [list(axis) for axis in axes]
    data["computed_again"] = list(planning.again)
    lack = _lack(data["memory"], device.get("memory", 0))
    data["warnings"] += [lack] if lack else []
    text = "\n".join(filter(None, (planning.said_of_again(), lack, found["text"])))
    return Explanation(text, data)


def _lack(held: dict[str, int], memory: int) -> str:
    """That a device of the machine has no room for what it is to hold; "": it has, or nobody knows what it has."""
    needed = held["parameters"] + held["activations"]
    if not 0 < memory < needed:
        return ""
    return f"a device holds {needed} bytes, but one of 'topology' has {memory}: set_context(max_device_memory=...) asks for a plan that fits"


__all__ = ["Explanation", "dry_run", "explain"]
