"""What a compilation in an auto-parallel mode is told: the mesh, the place of this process in it, what the user has pinned, and how
its arguments lie. Off in all other modes, and in a group of one process."""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from mindspore import _core, context, log
from mindspore.common import _groups, _layouts, _links, _plan_files
from mindspore.common._layouts import Layout, Mesh

_MODES = {
    "dynamic_programming": "auto",
    "recursive_programming": "recursive",
    "sharding_propagation": "propagation",
}
_FULL, _PARTS = "full_batch", "data_parallel"
# Layouts that users made, of which the mesh is to have the axes; forgotten with the settings of parallel training.
_seen: list[Layout] = []
_cuts: set[int] = set()  # into how many parts users have things cut
_pinned = 0  # grows with the pins of Parameters


def on() -> bool:
    """Whether compiled functions are divided among processes."""
    return context.planned() and devices() > 1


def devices() -> int:
    """How many processes compute together."""
    return int(context.get_auto_parallel_context("device_num"))


def rank() -> int:
    """The number of this one."""
    return int(context.get_auto_parallel_context("global_rank"))


def stages() -> int:
    """Into how many stages of a pipeline a network is cut; 1: none."""
    return int(context.get_auto_parallel_context("pipeline_stages"))


def devices_of_stage() -> int:
    """How many processes compute one stage together."""
    count, wanted = devices(), stages()
    if count % wanted:
        raise ValueError(
            f"For 'set_auto_parallel_context', 'pipeline_stages' must divide the number of processes, {count}, but got {wanted}."
        )
    return count // wanted


def data_place() -> tuple[int, int]:
    """The number of this process among those that are given different rows, and how many these are: those of a stage."""
    if not on():
        return _groups.world_rank(), _groups.world_size()
    return rank() % devices_of_stage(), devices_of_stage()


def mesh() -> Mesh:
    """The processes of a stage as axes; of all, where there are no stages."""
    return mesh_for(devices_of_stage())


def mesh_for(count: int) -> Mesh:
    """So many devices as axes, of which those of the user's layouts are made."""
    return _layouts.mesh_of(count, seen_layouts(count), seen_cuts(count))


def seen_layouts(count: int) -> list[Layout]:
    """Those of the user for so many devices."""
    return [layout for layout in _seen if _devices_of(layout) == count]


def seen_cuts(count: int) -> set[int]:
    """Into how many parts the user has things cut, where so many devices can do it."""
    return {cut for cut in _cuts if count % cut == 0}


def _devices_of(layout: Layout) -> int:
    return math.prod(size for _, size in layout.devices)


def see(layout: Layout) -> None:
    """Takes notice of a layout that something is pinned to: the mesh gets its axes. While a function is compiled it must do with
    those there are."""
    if not _core.is_tracing() and all(layout.devices != other.devices for other in _seen):
        _seen.append(layout)


def see_cuts(cuts: Sequence[int]) -> None:
    """Takes notice of cuts, alike."""
    if not _core.is_tracing():
        _cuts.update(cuts)


def forget() -> None:
    """Forgets the layouts of the user."""
    _seen.clear()
    _cuts.clear()


context.at_reset(forget)


# ---- pins -------------------------------------------------------------------------------------------------------------------
def pin_parameter(owner: str, parameter: Any, pin: Any) -> None:
    """Says how a Parameter is to lie: a Layout, or how often each of its dimensions is cut."""
    global _pinned
    before = pin_of(parameter)
    if before is not None and before != pin:
        raise ValueError(
            f"For '{owner}', the Parameter '{parameter.name}' must have one layout, but got {before} and {pin}."
        )
    if isinstance(pin, Layout):
        see(pin)
    else:
        see_cuts(pin)
    parameter._shard_pin = pin
    _pinned += 1


def pin_of(parameter: Any) -> Any:
    """What a Parameter is pinned to; None: nothing."""
    return getattr(parameter, "_shard_pin", None)


def pin_text(owner: str, pin: Any, shape: Sequence[int], axes: Mesh) -> str:
    """The text of a pin of a tensor of this shape."""
    if isinstance(pin, Layout):
        return _layouts.layout_text(owner, pin, axes, len(shape))
    cuts = _layouts.check_cuts(owner, pin, shape, math.prod(size for _, size in axes), f"'{owner}'")
    return _layouts.cuts_text(owner, cuts, axes)


def parameter_pins(parameters: Sequence[Any], axes: Mesh) -> dict[str, str]:
    """The texts of pinned Parameters among these, by name: what the program pins comes before what files and settings say."""
    sizes = tuple((axis[0], axis[1]) for axis in axes)
    pins = _plan_files.optimizer_pins(parameters, sizes)
    pins |= _plan_files.loaded_pins(parameters, sizes)
    return pins | {
        p.name: pin_text(f"Parameter '{p.name}'", pin_of(p), p.shape, sizes)
        for p in parameters
        if pin_of(p) is not None
    }


def stage_marks(parameters: Sequence[Any]) -> dict[str, int]:
    """The stages of marked Parameters among these, by name."""
    marks = {p.name: p.pipeline_stage_mark for p in parameters}
    return {name: mark for name, mark in marks.items() if mark is not None}


def schedule() -> str:
    """The schedule of a pipeline that the settings ask for: "gpipe" or "1f1b"; "": the best one."""
    named = context.get_auto_parallel_context("pipeline_scheduler")
    if named not in ("1f1b", "gpipe"):
        raise NotImplementedError(
            f"For 'pipeline_config', 'pipeline_scheduler' must be '1f1b' or 'gpipe' in this build, but got '{named}'."
        )
    if context.get_auto_parallel_context("pipeline_interleave"):
        raise NotImplementedError(
            "For 'pipeline_config', 'pipeline_interleave' must be False: schedules that interleave are not done in this build."
        )
    asked = "pipeline_scheduler" in context.get_auto_parallel_context("pipeline_config")
    return str(named) if asked or named == "gpipe" else ""


# ---- one compilation ----------------------------------------------------------------------------------------------------------
class Planning:
    """The settings of one compilation. `whole`: its arguments are the same in all processes. `apart`: it is planned for processes
    that are not these, and whoever asks for that says which."""

    def __init__(self, whole: bool = False, apart: bool = False) -> None:
        self.mesh: Mesh = () if apart else mesh()
        # With what links take, and what one device does in a second; what is not said: as on a host.
        self.axes: tuple[_links.Axis, ...] = ()
        self.device: dict[str, float] = {}
        self.link: Sequence[float] = (2e-5, 1e-10)  # between stages, for each message and byte
        self.stages = stages()
        self.stage, self.rank = (0, 0) if apart else divmod(rank(), devices_of_stage())
        self.mode = mode()
        self.again = (0, 0)  # of so many blocks of the network, how many are computed again
        self.data: Any = _FULL if whole else data()
        self.inputs: dict[int, str] = {}

    def given(self, number: int, shape: Sequence[Any]) -> list[Any]:
        """The whole shape of an argument of which this process has a part of this shape, or all."""
        pin = self._pin_of(number, len(shape))
        if pin is None:
            return list(shape)
        cuts, text = pin
        self.inputs[number] = text
        return [size * cut for size, cut in zip(shape, cuts)]

    def _pin_of(self, number: int, ndim: int) -> tuple[Sequence[int], str] | None:
        if self.data == _FULL or ndim == 0:
            return None
        if self.data == _PARTS:
            dims = [[axis[0] for axis in self.mesh]] + [[] for _ in range(ndim - 1)]
            count = math.prod(axis[1] for axis in self.mesh)
            return (count, *[1] * (ndim - 1)), _layouts.text_of(dims)
        if number >= len(self.data):
            return None
        owner, pin = "dataset_strategy", self.data[number]
        cuts = pin.cuts if isinstance(pin, Layout) else pin
        if len(cuts) != ndim:
            raise ValueError(
                f"For '{owner}', the strategy of argument {number} must have an entry for each of its {ndim} dimensions, but got {pin}."
            )
        if isinstance(pin, Layout):
            return cuts, _layouts.layout_text(owner, pin, self.mesh, ndim)
        return cuts, _layouts.cuts_text(owner, cuts, self.mesh)

    def written(self, graph: Any) -> None:
        """What is asked for of the plan is written, and what it has to say is said once, by the first process."""
        _plan_files.write(graph, self.mesh, self.rank, self.stage)
        again = [self.said_of_again()] if self.again[0] else []
        for text in again + graph.layouts["warnings"] if self.rank == self.stage == 0 else ():
            log.warn_once(f"plan {text}", text)

    def said_of_again(self) -> str:
        """That blocks are computed again; "": none is."""
        if not self.again[0]:
            return ""
        return (
            f"so that it fits the memory of a device, {self.again[0]} of {self.again[1]} blocks of the network are computed again in the "
            "backward pass"
        )

    @contextlib.contextmanager
    def told(self, parameters: Sequence[Any], lightest: bool = False) -> Iterator[None]:
        """The core knows the settings, for what this thread compiles inside. `lightest`: any plan will do that a device has room for."""
        _core.set_parallel(
            self.axes or _links.axes_with_links(self.mesh, _links.UNKNOWN),
            self.rank,
            mode=self.mode,
            inputs=self.inputs,
            parameters=parameter_pins(parameters, self.mesh),
            memory_limit=memory_limit(),
            device=self.device,
            pipeline=self._pipeline(parameters),
            lightest=lightest,
        )
        try:
            yield
        finally:
            _core.set_parallel(None)

    def _pipeline(self, parameters: Sequence[Any]) -> dict[str, Any]:
        if self.stages == 1:
            return {}
        return {
            "stages": self.stages,
            "stage": self.stage,
            "marks": stage_marks(parameters),
            "schedule": schedule(),
            "link": list(self.link),
        }


class _Tracing(threading.local):
    mesh: Mesh | None = None
    stages = 1


_tracing = _Tracing()


def traced_mesh() -> Mesh | None:
    """The axes over which the function is divided that this thread traces; None: it is not."""
    return _tracing.mesh


def traced_stages() -> int:
    """Into how many stages the function is cut that this thread traces."""
    return _tracing.stages


@contextlib.contextmanager
def tracing(planning: Planning | None) -> Iterator[None]:
    """A function is traced for these settings."""
    before = _tracing.mesh, _tracing.stages
    if planning is not None:
        _tracing.mesh = tuple((axis[0], axis[1]) for axis in planning.mesh)
        _tracing.stages = planning.stages
    try:
        yield
    finally:
        _tracing.mesh, _tracing.stages = before


def current(whole: bool = False) -> Planning | None:
    """The settings of a compilation that begins now, in all processes; None: it is not divided."""
    if context.planned():
        _groups.require_joined(context.get_auto_parallel_context("parallel_mode"))
    if not on():
        return None
    together = _groups.world_size() == devices()
    if together:
        _require_alike()
    planning = Planning(whole)
    if together:
        made = _links.machine()
        planning.axes = _links.axes_with_links(planning.mesh, made)
        planning.device = made.device
        planning.link = made.inner if made.host >= devices() else made.outer
    return planning


# What all processes must have set alike. Files may have other names, as each may write its own.
_ALIKE = (
    "parallel_mode",
    "search_mode",
    "pipeline_stages",
    "pipeline_config",
    "pipeline_scheduler",
    "dataset_strategy",
    "full_batch",
    "enable_parallel_optimizer",
    "parallel_optimizer_config",
)


def _require_alike() -> None:
    """An error, in all processes, where they would plan with other settings: some would wait for others who are not to come."""
    mine = {name: repr(context.get_auto_parallel_context(name)) for name in _ALIKE}
    mine["max_device_memory"] = repr(context.get_context("max_device_memory"))
    all_ranks = [json.loads(text) for text in _core.gather_texts(json.dumps(mine))]
    for name, first in all_ranks[0].items():
        others = [(rank, had[name]) for rank, had in enumerate(all_ranks) if had[name] != first]
        if others:
            setter = "set_context" if name == "max_device_memory" else "set_auto_parallel_context"
            rank, other = others[0]
            raise ValueError(
                f"For '{setter}', '{name}' must be the same in all processes that a function is divided among, but it is {first} in rank 0 "
                f"and {other} in rank {rank}."
            )


def key() -> tuple:
    """What compiled code depends on."""
    if not on():
        return ()
    axes = mesh() if devices() % stages() == 0 else None  # an error, once all have come to plan
    return axes, rank(), mode(), data(), _pinned, memory_limit(), _read()


_READ = (
    "enable_parallel_optimizer",
    "parallel_optimizer_config",
    "strategy_ckpt_load_file",
    "operator_strategy",
    "pipeline_stages",
    "pipeline_config",
    "pipeline_scheduler",
)


def _read() -> str:
    """What else of the settings a plan reads."""
    return repr([context.get_auto_parallel_context(name) for name in _READ])


def mode() -> str:
    """What the planner is to do."""
    if context.get_auto_parallel_context("parallel_mode") == "semi_auto_parallel":
        return "semi_auto"
    named = context.get_auto_parallel_context("search_mode")
    return _MODES[named or context.get_auto_parallel_context("auto_parallel_search_mode")]


def data() -> Any:
    """How processes are given arguments: "full_batch", all of them the whole; "data_parallel", each its rows; or cuts for each."""
    if context.get_auto_parallel_context("full_batch"):
        return _FULL
    strategy = context.get_auto_parallel_context("dataset_strategy")
    return _PARTS if strategy == _FULL else strategy  # full_batch=False came later


def gives_parts() -> bool:
    """Whether each process is given its own rows of a batch."""
    return on() and data() == _PARTS


def memory_limit() -> int:
    """Bytes that a device may hold; 0: no limit."""
    return context.memory_limit()


def require_compiled(owner: str) -> None:
    """An error where eager code would train each process for itself."""
    if on() and not _core.is_tracing():
        named = context.get_auto_parallel_context("parallel_mode")
        raise RuntimeError(
            f"For '{owner}', the step must be compiled in the parallel mode '{named}': set_context(mode=GRAPH_MODE), or put mindspore.jit "
            "around the step. In PYNATIVE_MODE nothing is divided among processes; 'data_parallel' works there."
        )


# ---- Parameters that lie in slices ----------------------------------------------------------------------------------------------
def slice_of(parameter: Any) -> dict[str, Any] | None:
    """How the slice lies that this process has of a Parameter; None: it has all."""
    found: dict[str, Any] | None = _core.slice_layout(parameter)
    return found


def layout_of(parameter: Any) -> Layout | None:
    """The layout of a Parameter that lies in slices."""
    held = slice_of(parameter)
    if held is None:
        return None
    axes = [tuple(axis[:2]) for axis in held["mesh"]]
    names = tuple(name for name, _ in axes)
    layout = Layout(tuple(size for _, size in axes), names)
    dims = _layouts.axes_of_text(held["layout"])
    return layout(*(tuple(dim) if len(dim) > 1 else dim[0] if dim else "None" for dim in dims))


def holders(held: dict[str, Any]) -> list[int]:
    """The processes that have slices of a Parameter: those of its stage, or all."""
    count = math.prod(axis[1] for axis in held["mesh"])
    if held["stage"] < 0:
        return list(range(count))
    each = count // held["mesh"][0][1]
    return list(range(held["stage"] * each, (held["stage"] + 1) * each))


def local_value(parameter: Any) -> Any:
    """What this process has of a Parameter."""
    return parameter.value() if slice_of(parameter) is None else _core.local_value(parameter)


def whole_value(parameter: Any) -> Any:
    """All of a Parameter. Where it lies in slices, all processes must ask, in one order."""
    return parameter if slice_of(parameter) is None else _core.gather_parameter(parameter)


def set_local_value(parameter: Any, value: Any) -> None:
    """Gives this process another value of what it has of a Parameter."""
    if slice_of(parameter) is None:
        parameter.set_data(value)
    else:
        _core.set_local_value(parameter, value)


def set_whole_value(parameter: Any, value: Any) -> None:
    """Gives a Parameter another value, of which each process takes its slice."""
    held = slice_of(parameter)
    if held is None:
        parameter.set_data(value)
    else:
        if held["held"]:  # another stage of the pipeline may have it
            piece = _core.slice_tensor(value, held["layout"], held["mesh"], held["rank"])
            _core.set_local_value(parameter, piece)


def any_sliced(network: Any) -> bool:
    """Whether Parameters of a Cell lie in slices."""
    return any(slice_of(parameter) is not None for parameter in network.get_parameters())


def whole_entries(network: Any) -> list[dict[str, Any]]:
    """All Parameters of a Cell, whole, as save_checkpoint takes them; all processes ask together."""
    found = {parameter.name: parameter for parameter in network.get_parameters()}
    return [{"name": name, "data": whole_value(p)} for name, p in found.items()]
