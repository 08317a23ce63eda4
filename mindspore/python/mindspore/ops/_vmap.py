"""vmap: a function of one item applied to all of them. Compiled code has an op for it, which a pass expands. Eager code
compiles the whole transform; while a gradient is being recorded, and where the function cannot be compiled, it makes one
call for each item."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._boundary import boundary
from mindspore.common._tree import flatten, refill


class _State(threading.local):
    eager = False  # a transform that could not be compiled is running


_state = _State()


def runs_as_written() -> bool:
    """Whether a transform that is met now is part of what is traced, recorded, or run eagerly."""
    return _core.is_tracing() or _core.is_recording() or _state.eager


def enter(fn: Any, key: tuple, body: Callable, args: tuple) -> Any:
    """Runs `body`, a transform of `fn`, on `args`: compiled where possible."""
    if runs_as_written():
        return body(*args)

    def eager(*given: Any) -> Any:
        _state.eager = True
        try:
            return body(*given)
        finally:
            _state.eager = False

    return _late.compiler.run_transform(fn, key, body, args, eager)


def apply(fn: Any, args: Any) -> Any:
    """Calls the user's function."""
    if _core.is_tracing():
        return _late.compiler.call_in_trace(fn, tuple(args), {})
    return fn(*args)


def name_of(fn: Any) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def over_items(
    call: Callable, tensors: list, axes: list, size: int, places: Callable, members: Sequence = ()
) -> Any:
    """The value of `call` for `size` items along `axes` (None: shared). `places(value)`: the axis of the items in each tensor
    of the result, or None where it is the same for all."""
    from mindspore import ops

    if not _core.is_tracing():
        return _by_items(call, tensors, axes, size, places, list(members))
    moved = [t if a in (0, None) else ops.moveaxis(t, a, 0) for t, a in zip(tensors, axes)]
    out: list = []

    def differs(value: Any) -> list:
        out.extend(places(value))
        return [a is not None for a in out]

    batched = [a is not None for a in axes]
    value, leaves = _late.compiler.vmap_in_trace(
        lambda xs: call(xs), moved, batched, size, differs, list(members)
    )
    items = (x if a in (0, None) else ops.moveaxis(x, 0, a % x.ndim) for x, a in zip(leaves, out))
    return refill(value, items)


def _by_items(
    call: Callable, tensors: list, axes: list, size: int, places: Callable, members: list
) -> Any:
    """One call for each item."""
    from mindspore import ops

    parts = [[t] * size if a is None else ops.unbind(t, a % t.ndim) for t, a in zip(tensors, axes)]
    values = _values(call, [[p[i] for p in parts] for i in range(size)], members)
    out = places(values[0])
    leaves = [
        _shared(group, i) if a is None else ops.stack(group, a)
        for i, (group, a) in enumerate(zip(zip(*map(flatten, values)), out))
    ]
    return refill(values[0], leaves)


def _shared(results: tuple, index: int) -> Tensor:
    """The result that all items have."""
    if not all(_same_bits(results[0], r) for r in results[1:]):
        raise ValueError(
            "For 'vmap', a result whose 'out_axes' is None must be the same for all items, but got "
            f"result {index}, which depends on the item."
        )
    return results[0]


def _same_bits(a: Tensor, b: Tensor) -> bool:
    return a.asnumpy().tobytes() == b.asnumpy().tobytes()


def _values(call: Callable, items: list, members: list) -> list:
    """The value for each item. Parameters that all items share are updated once, as if the calls were one."""
    if members:
        return [call(item, i) for i, item in enumerate(items)]
    before = _core.Snapshot(parameters_of(call))
    values = [call(items[0])]
    before.keep_changed()
    updated = before.values()
    for item in items[1:]:
        with before:
            values.append(call(item))
            again = before.values()
        for old, new in zip(updated, again):
            if not _same_bits(old, new):
                raise ValueError(
                    "For 'vmap', the new value of a Parameter that all items share must be the same for all items, but got "
                    "one that depends on the item."
                )
    return values


_MAX_SEEN = 100_000


def parameters_of(function: Any) -> list:
    """The Parameters that a function may read: those of the Cells and functions that it refers to, and theirs."""
    found: dict[int, Any] = {}
    pending, seen = [function], set[int]()
    while pending and len(seen) < _MAX_SEEN:
        value = pending.pop()
        if id(value) in seen or isinstance(value, (type, types.ModuleType, str, bytes)):
            continue
        seen.add(id(value))
        if isinstance(value, _late.parameter_class):
            found[id(value)] = value
        elif isinstance(value, _late.cell_class):
            found.update((id(p), p) for p in value.get_parameters())
            pending.extend(v for v in vars(value).values() if callable(v))
        elif not isinstance(value, Tensor):
            pending.extend(_referred(value))
    return list(found.values())


def _referred(value: Any) -> list:
    """What a function, a method, a container or an object refers to."""
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, types.FunctionType):
        if (value.__module__ or "").split(".")[0] == "mindspore" and not value.__closure__:
            return []
        cells = [c.cell_contents for c in value.__closure__ or () if _is_full(c)]
        names = [n for n in _names(value.__code__) if n in value.__globals__]
        return [*cells, *(value.__globals__[n] for n in names), *(value.__defaults__ or ())]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    return list(vars(value).values()) if hasattr(value, "__dict__") else []


def _is_full(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _names(code: types.CodeType) -> set[str]:
    """The globals that a function and those inside of it name."""
    inner = (_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*inner)


def _axes_of(name: str, axes: Any, value: Any, result: list) -> list:
    """The axis for each leaf of a structure of arguments or results; one axis may stand for a whole sub-structure."""
    if isinstance(axes, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(axes):
            got = len(value) if isinstance(value, (tuple, list)) else type(value).__name__
            raise ValueError(
                f"For 'vmap', '{name}' must have the structure of what it describes, {len(axes)} items here, but got {got}."
            )
        for a, v in zip(axes, value):
            _axes_of(name, a, v, result)
        return result
    if axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise TypeError(
            f"For 'vmap', '{name}' must be an int, None, or a tuple or list of them, but got {type(axes).__name__}."
        )
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for v in value:
            _axes_of(name, axes, v, result)
        return result
    if isinstance(value, Tensor):
        result.append(axes)
    elif axes is not None:
        raise TypeError(
            f"For 'vmap', what '{name}' gives the axis {axes} must be a Tensor, but got {type(value).__name__}."
        )
    return result


def _all_none(axes: Any) -> bool:
    if isinstance(axes, (tuple, list)):
        return all(map(_all_none, axes))
    return axes is None


def _as_tensors(value: Any) -> Any:
    """Numbers among the results become tensors."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(map(_as_tensors, value))
    if isinstance(value, dict):
        return {k: _as_tensors(v) for k, v in value.items()}
    if isinstance(value, (bool, int, float)):
        return Tensor(value)
    if not isinstance(value, Tensor):
        if _core.is_tracing():
            _late.compiler.require_plain(value, "what a function under vmap returns")
        raise TypeError(
            f"For 'vmap', the function must return tensors or numbers, but got {type(value).__name__}."
        )
    return value


class BatchedFunction:
    """What `vmap` returns."""

    is_transform = True

    def __init__(self, fn: Any, in_axes: Any, out_axes: Any):
        self.cells = None if callable(fn) and not _is_cells(fn) else _cells(fn)
        self.fn = fn if self.cells is None else self.cells[0]
        self.in_axes, self.out_axes = in_axes, out_axes
        cells = () if self.cells is None else tuple(self.cells)
        self._transform_key = ("vmap", repr(in_axes), repr(out_axes), cells)
        self.__name__ = f"vmap({name_of(self.fn)})"

    @boundary
    def __call__(self, *args: Any) -> Any:
        axes: list = []
        if isinstance(self.in_axes, (tuple, list)):
            if len(self.in_axes) != len(args):
                raise ValueError(
                    f"For 'vmap', 'in_axes' must have one item for each of the {len(args)} arguments, but got "
                    f"{len(self.in_axes)}."
                )
            _axes_of("in_axes", self.in_axes, args, axes)
        else:
            for a in args:
                _axes_of("in_axes", self.in_axes, a, axes)
        size = self._size(flatten(args), axes)
        return enter(self.fn, self._transform_key, lambda *a: self._body(size, axes, *a), args)

    def _size(self, tensors: list, axes: list) -> int:
        sizes = [] if self.cells is None else [len(self.cells)]
        for t, a in zip(tensors, axes):
            if a is None:
                continue
            if not -t.ndim <= a < t.ndim:
                raise ValueError(
                    f"For 'vmap', the axes in 'in_axes' must be in [-{t.ndim}, {t.ndim}) for an argument of shape "
                    f"{tuple(t.shape)}, but got {a}."
                )
            sizes.append(t.shape[a])
            if sizes[-1] != sizes[0]:
                what = "the number of cells" if self.cells is not None else "the first size"
                raise ValueError(
                    f"For 'vmap', the mapped axes must all have one size, but got {sizes[-1]} beside {sizes[0]}, {what}."
                )
        if not sizes:
            raise ValueError(
                "For 'vmap', at least one argument must be mapped, but got None for all of 'in_axes'."
            )
        if sizes[0] == 0:
            raise ValueError("For 'vmap', the mapped axes must not be empty, but got size 0.")
        return sizes[0]

    def _body(self, size: int, axes: list, *args: Any) -> Any:
        def call(leaves: list, member: int = 0) -> Any:
            fn = self.fn if self.cells is None else self.cells[member]
            return _as_tensors(apply(fn, refill(args, leaves)))

        members: list = []
        if self.cells is not None:
            members = [list(group) for group in zip(*(c.get_parameters() for c in self.cells))]
            if not members:
                members = [[]] if not _core.is_tracing() else []
        return over_items(call, flatten(args), axes, size, self._places, members)

    def _places(self, value: Any) -> list:
        places = _axes_of("out_axes", self.out_axes, value, [])
        for t, a in zip(flatten(value), places):
            rank = t.ndim + 1
            if a is not None and not -rank <= a < rank:
                raise ValueError(
                    f"For 'vmap', the axes in 'out_axes' must be in [-{rank}, {rank}) for a result of {rank} dimensions, "
                    f"but got {a}."
                )
        return places


def _is_cells(fn: Any) -> bool:
    kinds = {kind.__name__ for kind in type(fn).__mro__ if kind.__module__.startswith("mindspore.")}
    return isinstance(fn, (list, tuple)) or "CellList" in kinds


def _cells(fn: Any) -> list:
    """The cells of an ensemble: alike but for the values of their Parameters."""
    cells = list(fn) if _is_cells(fn) else []
    if not cells or not all(isinstance(c, _late.cell_class) for c in cells):
        raise TypeError(
            f"For 'vmap', 'fn' must be a function, a Cell or a CellList, but got {type(fn).__name__}."
        )
    if len(cells) == 1:
        raise ValueError("For 'vmap', a CellList must hold at least 2 cells, but got 1.")
    first = [(p.dtype, tuple(p.shape)) for p in cells[0].get_parameters()]
    for c in cells[1:]:
        other = [(p.dtype, tuple(p.shape)) for p in c.get_parameters()]
        if type(c) is not type(cells[0]) or other != first:
            raise ValueError(
                "For 'vmap', the cells of a CellList must be of one type with Parameters of the same shapes, but got "
                f"{type(cells[0]).__name__} with {first} and {type(c).__name__} with {other}."
            )
    return cells


def vmap(fn: Any, in_axes: Any = 0, out_axes: Any = 0) -> BatchedFunction:
    """The function that applies `fn` to all items of a batch at once.

    Args:
        fn: a function or Cell of tensors; or a CellList, whose n-th cell gets the n-th item (an ensemble).
        in_axes: the axis of the items in the arguments: an int, None for arguments that all items share, or a tuple or list of
            these, nested as the arguments are.
        out_axes: the axis of the items in the results, likewise; None for results that are the same for all items.

    Returns:
        A function of the same arguments, each with one more axis where it is mapped. Random numbers are drawn for each item.
    """
    batched = BatchedFunction(fn, in_axes, out_axes)
    for name, axes, alone in (
        ("in_axes", in_axes, batched.cells is None),
        ("out_axes", out_axes, True),
    ):
        _check_axes(name, axes)
        if alone and _all_none(axes):
            raise ValueError(f"For 'vmap', '{name}' must not be None throughout, but got {axes!r}.")
    return batched


def _check_axes(name: str, axes: Any) -> None:
    if isinstance(axes, (tuple, list)):
        for a in axes:
            _check_axes(name, a)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise TypeError(
            f"For 'vmap', '{name}' must be an int, None, or a tuple or list of them, but got {type(axes).__name__}."
        )
