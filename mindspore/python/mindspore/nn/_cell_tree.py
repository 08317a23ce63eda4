"""The tree that a Cell is the root of: the cells and parameters inside, their paths of attributes and names.

`construct` may ask for them: these methods run as they are while a cell is compiled, like those of nn/cell.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter

if TYPE_CHECKING:
    from mindspore.nn.cell import Cell


class CellTree:
    """The methods of Cell that go through the cells and parameters inside."""

    _cells: OrderedDict[str, Any]
    _params: OrderedDict[str, Any]
    _param_prefix: str

    def cells_and_names(
        self: Any, cells: set[int] | None = None, name_prefix: str = ""
    ) -> Iterator[tuple[str, Cell]]:
        """This cell and all cells inside it, each once, with their paths of attributes."""
        seen = set() if cells is None else cells
        if id(self) in seen:
            return
        seen.add(id(self))
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                path = f"{name_prefix}.{name}" if name_prefix else name
                yield from cell.cells_and_names(seen, path)

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The cells directly inside this one, each once, by attribute."""
        seen: set[int] = set()
        found = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells(self) -> Any:
        """The cells directly inside this one."""
        return self.name_cells().values()

    def parameters_and_names(
        self: Any, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with their paths of attributes.

        Args:
            name_prefix: Goes in front of the paths.
            expand: Whether those of the cells inside are included.
        """
        seen: set[int] = set()
        owners = self.cells_and_names(name_prefix=name_prefix) if expand else ((name_prefix, self),)
        for path, cell in owners:
            for name, param in cell._params.items():
                if param is not None and id(param) not in seen:
                    seen.add(id(param))
                    yield (f"{path}.{name}" if path else name), param

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that gradients are computed for."""
        return [param for param in self.get_parameters(expand=recurse) if param.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that no gradients are computed for."""
        return [param for param in self.get_parameters(expand=recurse) if not param.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by name."""
        return OrderedDict((param.name, param) for param in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """The parameters that are equal on all devices, by name; None when there is none."""
        shared = OrderedDict(
            (param.name, param)
            for param in self.get_parameters(expand=recurse)
            if not param.layerwise_parallel
        )
        return shared or None

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name the parameters by their paths of attributes, with `prefix` in front."""
        for name, param in self.parameters_and_names(expand=recurse):
            param.name = prefix + name

    def check_names(self) -> None:
        """Raise a ValueError when two parameters have the same name."""
        owners: dict[str, str] = {}
        for path, param in self.parameters_and_names():
            if param.name in owners:
                raise ValueError(
                    f"For '{type(self).__name__}', the names of parameters must differ, but got "
                    f"'{param.name}' for both '{owners[param.name]}' and '{path}'. "
                    "Give each Parameter a name of its own."
                )
            owners[param.name] = path

    def update_cell_prefix(self) -> None:
        """Note in every cell inside its path of attributes."""
        for name, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = name

    @property
    def param_prefix(self) -> str:
        """The path of attributes that `update_cell_prefix` noted."""
        return self._param_prefix

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Parameters by their old selves: values are made at once, so nothing changes."""
        del auto_parallel_mode
        return {param: param for param in self.get_parameters()}

    def apply(self: Any, fn: Callable[[Cell], Any]) -> Cell:
        """Call `fn` with every cell inside, and then with this one."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self
