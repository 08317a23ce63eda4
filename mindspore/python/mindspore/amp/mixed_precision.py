"""Mixed precision by cells: listed ones compute in a short float type, parameters stay float32."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindspore import nn
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor

LEVELS = ("O0", "O1", "O2", "O3", "auto")

# Cells that gain from short floats and lose no accuracy by them, and cells that must not be cast.
_SHORT = ["Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose",
          "Dense", "LSTMCell", "RNNCell", "GRUCell"]  # fmt: skip
_LONG = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm"]


def _present(names: Iterable[str]) -> list[type]:
    return [getattr(nn, name) for name in names if hasattr(nn, name)]


def get_white_list() -> list[type]:
    """Cells that level O1 runs in a short float type."""
    return _present(_SHORT)


def get_black_list() -> list[type]:
    """Cells that level O2 keeps in float32."""
    return _present(_LONG)


_MIXED = (mstype.float16, mstype.bfloat16, mstype.float32)


def _to_dtype(value: Any, dtype: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype in _MIXED:
        return value.astype(dtype)
    if isinstance(value, (tuple, list)):
        return tuple([_to_dtype(item, dtype) for item in value])
    return value


class _OutputTo(nn.Cell):
    """A cell whose results come in another dtype. Attributes are those of the cell inside."""

    def __init__(self, backbone: nn.Cell, dtype: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._output_dtype = dtype

    def construct(self, *inputs: Any, **kwargs: Any) -> Any:
        return _to_dtype(self._backbone(*inputs, **kwargs), self._output_dtype)

    def __getattr__(self, name: str) -> Any:
        backbone = self.__dict__.get("_backbone")
        if backbone is None or name.startswith("__"):
            raise AttributeError(name)
        return getattr(backbone, name)


def _replace(network: nn.Cell, matches: Any, change: Any) -> None:
    """Puts change(cell) in the place of every cell that matches; those inside it are left alone."""
    for name, child in list(network.name_cells().items()):
        if isinstance(child, _OutputTo):
            continue
        if not matches(child):
            _replace(child, matches, change)
            continue
        changed = change(child)
        if changed is not child:
            _put(network, name, child, changed)


def _put(network: nn.Cell, name: str, old: nn.Cell, new: nn.Cell) -> None:
    network._cells[name] = new
    if network.__dict__.get(name) is old:
        network.__dict__[name] = new
    listed = network.__dict__.get("cell_list")
    if isinstance(listed, (tuple, list)):
        network.__dict__["cell_list"] = type(listed)(new if c is old else c for c in listed)


def _cast_listed(network: nn.Cell, white: tuple[type, ...], dtype: Any) -> nn.Cell:
    def change(cell: nn.Cell) -> nn.Cell:
        cell.to_float(dtype)
        return _OutputTo(cell, mstype.float32)

    if isinstance(network, white):
        return change(network)
    _replace(network, lambda cell: isinstance(cell, white), change)
    return network


def _cast_all_but(network: nn.Cell, black: tuple[type, ...], dtype: Any) -> nn.Cell:
    def change(cell: nn.Cell) -> nn.Cell:
        return _OutputTo(cell.to_float(mstype.float32), dtype)

    network.to_float(dtype)
    if black:
        _replace(network, lambda cell: isinstance(cell, black), change)
        if isinstance(network, black):
            network.to_float(mstype.float32)
    return _OutputTo(network, mstype.float32)


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: Any = mstype.float16) -> Any:
    """The network in mixed precision.

    O0: unchanged. O1 and auto: the cells of the white list. O2: all cells but normalization.
    O3: all cells. The result is float32 in every case.
    """
    op = "auto_mixed_precision"
    if not isinstance(network, nn.Cell):
        raise TypeError(f"For '{op}', 'network' must be a Cell, but got {type(network).__name__}.")
    if not isinstance(amp_level, str) or amp_level not in LEVELS:
        raise ValueError(
            f"For '{op}', 'amp_level' must be one of {list(LEVELS)}, but got {amp_level!r}."
        )
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"For '{op}', 'dtype' must be float16 or bfloat16, but got {dtype}.")
    if amp_level == "O0":
        return network
    if amp_level in ("O1", "auto"):
        return _cast_listed(network, tuple(get_white_list()), dtype)
    return _cast_all_but(network, tuple(get_black_list()) if amp_level == "O2" else (), dtype)


def custom_mixed_precision(
    network: Any, *, white_list: Any = None, black_list: Any = None, dtype: Any = mstype.float16
) -> Any:
    """The network in mixed precision by a list of cell classes: those to cast, or those not to."""
    op = "custom_mixed_precision"
    if not isinstance(network, nn.Cell):
        raise TypeError(f"For '{op}', 'network' must be a Cell, but got {type(network).__name__}.")
    if (white_list is None) == (black_list is None):
        raise ValueError(
            f"For '{op}', either white_list or black_list must be given, but not both."
        )
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"For '{op}', 'dtype' must be float16 or bfloat16, but got {dtype}.")
    given = white_list if white_list is not None else black_list
    if not isinstance(given, list) or not all(isinstance(item, type) for item in given):
        raise TypeError(f"For '{op}', the list must hold classes, but got {given!r}.")
    cells = tuple(item for item in given if issubclass(item, nn.Cell))
    if white_list is not None:
        return _cast_listed(network, cells, dtype)
    return _cast_all_but(network, cells, dtype)
