"""Members of Cell that tools and older scripts read: what they say here is little, since nothing inside depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from mindspore import _core
from mindspore.common._checked import check_value
from mindspore.compile.values.compilable import VERSIONS


class shown:
    """A property that gives way to an attribute which a user's cell has under that name."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read
        self.__doc__ = read.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else self.read(owner)


class CellNames:
    """Facts that other implementations keep about a Cell."""

    T_destination = TypeVar("T_destination", bound=Mapping)
    IGNORE_LIST: ClassVar[list[str]] = []  # attributes that do not make cells differ
    global_cells: ClassVar[Any] = WeakKeyDictionary()
    total_instance_count = 0
    cls_name = ""  # of an object, the name of its class
    bprop_debug = False
    cell_init_args = ""
    compile_phase: str | None = None
    create_time = 0
    enable_backward_hook = False
    parallel_parameter_name_list: tuple[str, ...] = ()
    pipeline_segment: int | None = None

    @shown
    def compiled(self) -> bool:
        """Whether there is a compiled version."""
        return bool(getattr(self.__dict__.get(VERSIONS), "compiled", 0))

    @shown
    def compile_cache(self) -> set[str]:
        """The phases that were compiled."""
        return {self.phase} if CellNames.compiled.read(self) else set()  # type: ignore[attr-defined]

    @shown
    def exist_names(self) -> set[str]:
        """Names of parameters that were met: none is kept."""
        return set()

    @shown
    def exist_objs(self) -> set[Any]:
        """Objects that were met: none is kept."""
        return set()

    @shown
    def jit_config_dict(self) -> dict[str, Any]:
        """Settings of the compiler that were kept as text."""
        return {}

    @shown
    def phase_cache(self) -> dict[str, Any]:
        """Graphs by phase: the compiler keeps its own."""
        return {}

    @shown
    def parameter_layout_dict(self) -> dict[str, Any]:
        """Layouts of parameters on many devices."""
        return {}

    @shown
    def parallel_parameter_merge_net_dict(self) -> dict[str, Any]:
        """Parameters that devices share out."""
        return {}

    def cast_inputs(self, inputs: Any, dst_type: Any) -> tuple[Any, ...]:
        """Inputs whose floating tensors are of one type.

        Args:
            inputs: The inputs.
            dst_type: The type.
        """
        from mindspore.nn._cell_options import _convert

        return tuple(_convert(item, dst_type) for item in inputs)

    def run_construct(self, cast_inputs: tuple, kwargs: dict[str, Any]) -> Any:
        """The computation alone, without hooks.

        Args:
            cast_inputs: The inputs.
            kwargs: Inputs by name.
        """
        return self.construct(*cast_inputs, **kwargs)  # type: ignore[attr-defined]

    def check_names_and_refresh_name(self) -> None:
        """Name parameters that have no name of their own by their paths, and raise a ValueError where two have one name."""
        for path, param in self.parameters_and_names():  # type: ignore[attr-defined]
            if param.has_default_name:
                param.name = path
        self.check_names()  # type: ignore[attr-defined]

    def generate_scope(self) -> None:
        """Note in every cell inside where it is: 'Default/block-Block/dense-Dense'."""
        for path, cell in self.cells_and_names():  # type: ignore[attr-defined]
            if not path:
                continue
            above, _, name = path.rpartition(".")
            start = self.get_sub_cell(above).get_scope() or "Default"  # type: ignore[attr-defined]
            cell.__dict__["_scope"] = f"{start}/{name}-{type(cell).__name__}"

    def get_scope(self) -> str | None:
        """Where the cell is, as `generate_scope` noted; None before."""
        return self.__dict__.get("_scope")

    def get_func_graph_proto(self) -> None:
        """None: graphs are kept in a form of their own."""

    def get_mixed_precision_type(self) -> Any:
        """The float type that `to_float` chose, or None."""
        return self._compute_type  # type: ignore[attr-defined]

    def set_mixed_precision_type(self, mixed_type: Any, recursive: bool = True) -> None:
        """Compute the cell with a float type, as `to_float`.

        Args:
            mixed_type: The type.
            recursive: Whether the cells inside are meant, too.
        """
        check_value(bool, recursive, "recursive", type(self).__name__)
        if recursive:
            self.to_float(mixed_type)  # type: ignore[attr-defined]
        else:
            flags = {"fp16": _core.float16, "fp32": _core.float32, "bf16": _core.bfloat16}
            self.add_flags(**{flag: t == mixed_type for flag, t in flags.items()})  # type: ignore[attr-defined]

    def remove_redundant_parameters(self) -> None:
        """Accepted: no parameter is kept twice."""

    def update_cell_type(self, cell_type: str) -> None:
        """Set `cell_type`.

        Args:
            cell_type: 'quant' or 'second-order'.
        """
        self.cell_type = cell_type
