"""Containers of cells: SequentialCell calls them in order, CellList and CellDict only hold them.

Cells are keyed by their position as text, as attribute paths need it ("layer.0.weight"). A cell
that comes later gets the prefix that the parameters already there have. Taking a slice makes a new
container over the same cells and leaves their parameters' names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._checked import check_value
from mindspore.common._dtypes import INTEGERS
from mindspore.common._kinds import described
from mindspore.nn.cell import Cell


def _check_cell(cell: Any, owner: str) -> Cell:
    if not isinstance(cell, Cell):
        raise TypeError(
            f"For '{owner}', every element must be a Cell, but got {type(cell).__name__}."
        )
    return cell


def _position(index: Any, size: int, owner: str) -> int:
    """The index counted from the start."""
    if isinstance(index, Tensor) and index.size == 1 and index.dtype in INTEGERS:
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(
            f"For '{owner}', an index must be an int or a slice, but got {type(index).__name__}."
        )
    if not -size <= index < size:
        raise IndexError(f"For '{owner}', an index must be in [-{size}, {size}), but got {index}.")
    return index % size


class _Container(Cell):
    """What all containers share."""

    def _prefix(self) -> str:
        """What the names of the parameters inside have in front of their paths in here."""
        for path, parameter in self.parameters_and_names():
            if parameter.name.endswith(path):
                return parameter.name[: len(parameter.name) - len(path)]
        return ""


class _Ordered(_Container):
    """What SequentialCell and CellList share."""

    def _refill(self, cells: list[tuple[str, Cell]], rename: bool = False) -> None:
        """Hold exactly these cells."""
        prefix = self._prefix()
        for name in self._cells:
            self.__dict__.pop(name, None)
        self._cells.clear()
        for name, cell in cells:
            self._store_cell(name, cell)
            if rename:
                self._name_parameters(prefix + name, cell)
        self._changed()

    def _name_parameters(self, path: str, cell: Cell) -> None:
        if self._auto_prefix:
            cell.update_parameters_name(path + ".")

    def _changed(self) -> None:
        _core.bump_epoch()

    def _slice(self, index: slice) -> Any:
        other = type(self)()
        kept = list(self._cells.items())[index]
        other._refill([(str(i), cell) for i, (_, cell) in enumerate(kept)])
        return other

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._slice(index)
        return list(self._cells.values())[_position(index, len(self), self.cls_name)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        _check_cell(cell, self.cls_name)
        name = list(self._cells)[_position(index, len(self), self.cls_name)]
        self._name_parameters(self._prefix() + name, cell)
        self._store_cell(name, cell)
        self._changed()

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._cells)
        if isinstance(index, slice):
            gone = set(names[index])
        else:
            gone = {names[_position(index, len(self), self.cls_name)]}
        kept = [(name, cell) for name, cell in self._cells.items() if name not in gone]
        numbered = all(name.isdigit() for name in names)
        if numbered:
            kept = [(str(i), cell) for i, (_, cell) in enumerate(kept)]
        self._refill(kept, rename=numbered)

    def set_grad(self, requires_grad: bool = True) -> Any:
        """Set it for every cell inside as well."""
        self.requires_grad = requires_grad
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return self


class SequentialCell(_Ordered):
    """Cells that are called one after the other.

    Args:
        args: Cells, or one list of cells, or one OrderedDict of cells by name.

    Examples:
        >>> net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU())
        >>> len(net)
        2
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.cell_list: tuple[Cell, ...] = ()
        items = args
        if len(args) == 1:
            if isinstance(args[0], (list, tuple)):
                items = tuple(args[0])
            elif isinstance(args[0], Mapping):
                pairs = [(str(k), _check_cell(v, self.cls_name)) for k, v in args[0].items()]
                self._refill(pairs, rename=True)
                return
            elif not isinstance(args[0], Cell):
                raise TypeError(
                    f"For '{self.cls_name}', the argument must be a Cell, a list or an OrderedDict "
                    f"of cells, but got {type(args[0]).__name__}."
                )
        cells = [_check_cell(cell, self.cls_name) for cell in items]
        self._refill([(str(i), cell) for i, cell in enumerate(cells)], rename=True)

    def _changed(self) -> None:
        self.__dict__["cell_list"] = tuple(self._cells.values())
        _core.bump_epoch()

    def append(self, cell: Cell) -> SequentialCell:
        """Add a cell at the end."""
        _check_cell(cell, self.cls_name)
        name = str(len(self))
        self._name_parameters(self._prefix() + name, cell)
        self._store_cell(name, cell)
        self._changed()
        return self

    def construct(self, input_data: Any) -> Any:
        """The last cell's output."""
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Ordered):
    """A list of cells whose parameters belong to the network. It is not called itself.

    Args:
        args: One list of cells, or nothing.
        auto_prefix: Whether parameters get the position of their cell in front of their names.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.extend(args[0])
        elif args:
            self.extend(list(args))

    def append(self, cell: Cell) -> CellList:
        """Add a cell at the end."""
        _check_cell(cell, self.cls_name)
        name = str(len(self))
        self._name_parameters(self._prefix() + name, cell)
        self._store_cell(name, cell)
        self._changed()
        return self

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add several cells at the end."""
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(
                f"For '{self.cls_name}', new cells must come as a list, "
                f"but got {type(cells).__name__}."
            )
        for cell in list(cells):
            self.append(cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell in front of position `index`; those after it move up by one."""
        size = len(self)
        if not isinstance(index, int) or not -size <= index <= size:
            raise IndexError(
                f"For '{self.cls_name}', 'index' must be in [-{size}, {size}], but got {index}."
            )
        cells = list(self._cells.values())
        cells.insert(index, _check_cell(cell, self.cls_name))
        self._refill([(str(i), c) for i, c in enumerate(cells)], rename=True)

    def __iadd__(self, cells: Iterable[Cell]) -> CellList:
        return self.extend(cells)

    def construct(self, *inputs: Any) -> Any:
        """Not defined: a CellList is iterated over."""
        raise NotImplementedError(
            f"For '{self.cls_name}', its cells must be called one by one, "
            "but got a call of the list itself."
        )


class CellDict(_Container):
    """A dictionary of cells whose parameters belong to the network. It is not called itself.

    Args:
        args: One mapping, or one iterable of (key, cell), or nothing.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def update(self, cells: Any) -> None:
        """Add the cells of a mapping or of an iterable of (key, cell)."""
        pairs = cells.items() if isinstance(cells, (Mapping, CellDict)) else cells
        for pair in list(check_value(Iterable, pairs, "cells", f"{self.cls_name}.update")):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(
                    f"For '{self.cls_name}.update', 'cells' must hold pairs of a key and a Cell, "
                    f"but got {described(pair)}."
                )
            self[pair[0]] = pair[1]

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"For '{self.cls_name}', a key must be a str, but got {type(key).__name__}."
            )
        if not key or "." in key or hasattr(type(self), key):
            raise KeyError(
                f"For '{self.cls_name}', a key must not be empty, have no dot and be "
                f"no attribute of a cell, but got {key!r}."
            )
        _check_cell(cell, self.cls_name)
        if self._auto_prefix:
            cell.update_parameters_name(self._prefix() + key + ".")
        self._store_cell(key, cell)
        _core.bump_epoch()

    def __delitem__(self, key: str) -> None:
        del self._cells[key]
        del self.__dict__[key]
        _core.bump_epoch()

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cells))

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """The keys."""
        return self._cells.keys()

    def values(self) -> Any:
        """The cells."""
        return self._cells.values()

    def items(self) -> Any:
        """The keys with their cells."""
        return self._cells.items()

    def clear(self) -> None:
        """Remove all cells."""
        for key in list(self._cells):
            del self[key]

    def pop(self, key: str) -> Cell:
        """Remove a cell and return it."""
        cell = self[key]
        del self[key]
        return cell

    def construct(self, *inputs: Any) -> Any:
        """Not defined: a CellDict is read from."""
        raise NotImplementedError(
            f"For '{self.cls_name}', its cells must be called one by one, "
            "but got a call of the dictionary itself."
        )


__all__ = ["CellDict", "CellList", "SequentialCell"]
