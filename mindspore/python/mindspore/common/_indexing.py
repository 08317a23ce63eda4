"""Tensor indexing with NumPy's rules as compositions of ops. Keys of ints, slices, None and
Ellipsis become one strided slice; integer tensors and lists gather from what that slice leaves;
masks of truth values must be concrete, since the size of the result depends on them. Only shapes
are looked at, so symbolic tensors work too."""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor
from mindspore.common import _late
from mindspore.common._dtypes import of_dtype
from mindspore.common._size import as_int, broadcast_shapes, is_int, range_length, slice_bounds

_op = _core.op
_strided_slice, _slice_assign = _op("StridedSlice"), _op("StridedSliceAssign")
_gather, _gather_nd, _scatter_update = _op("Gather"), _op("GatherNd"), _op("TensorScatterUpdate")
_reshape, _transpose, _broadcast = _op("Reshape"), _op("Transpose"), _op("BroadcastTo")
_stack, _select, _less, _cast = _op("Stack"), _op("Select"), _op("Less"), _op("Cast")

_INDEX_TYPES = (_core.int32, _core.int64)
_OTHER_INTEGERS = (_core.int8, _core.int16, _core.uint8, _core.uint16, _core.uint32, _core.uint64)
_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@dataclass
class _Positions:
    """An index array: a tensor, or a NumPy array, checked and wrapped when its axis is known."""

    array: Any
    covered: tuple[int, ...] = ()  # first array of a mask: the sizes that the mask covers
    wrapped: bool = False  # known to be in [0, size)


@dataclass
class _Plan:
    """A key, resolved against a tensor: a strided slice, then positions along some of its axes."""

    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    strides: list[int] = field(default_factory=list)
    masks: list[int] = field(default_factory=lambda: [0] * 5)
    shape: list[int] = field(default_factory=list)  # of the slice
    trivial: bool = True  # the slice is the whole tensor
    arrays: list[_Positions] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)  # of the slice, one for each array
    places: list[tuple[int, int]] = field(default_factory=list)  # of each position in key and slice

    def attributes(self) -> dict[str, Any]:
        """The attributes of StridedSlice and its relatives."""
        return {
            "begin": self.begin,
            "end": self.end,
            "strides": self.strides,
            **dict(zip(_MASKS, self.masks)),
        }

    def add(self, begin: int, end: int, step: int, *masks: int) -> None:
        """One more entry of the key."""
        for mask in masks:
            self.masks[mask] |= 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(step)

    def place(self) -> int:
        """Where the axes of the arrays go: in their place, or first if other entries part them."""
        numbers = [number for number, _ in self.places]
        adjacent = all(b == a + 1 for a, b in itertools.pairwise(numbers))
        return self.places[0][1] if adjacent else 0


def _refuse(key: Any) -> None:
    raise IndexError(
        "For 'Tensor.__getitem__', an index must be an int, a slice, None, an Ellipsis, an integer "
        "or bool tensor, "
        f"or a list of ints or bools, but got {type(key).__name__}."
    )


def _unknown(text: str) -> None:
    """Refuses to compile: the result has a shape that only values tell."""
    raise _late.compiler.Unsupported(text, IndexError(text))


def _whole(value: Any) -> Any:
    """A bound of a slice as an int or None."""
    if value is None:
        return None
    if isinstance(value, Tensor) and value.is_symbolic:
        _unknown(
            "For 'Tensor.__getitem__', the bounds of a slice must be known while compiling, "
            "but got a tensor that is not. "
            "Use ops.gather with a range of positions instead."
        )
    try:
        if isinstance(value, SymbolicInt):
            return value
        return operator.index(value.item() if isinstance(value, Tensor) else value)
    except TypeError:
        raise IndexError(
            "For 'Tensor.__getitem__', the bounds of a slice must be ints or None, "
            f"but got {type(value).__name__}."
        ) from None


def _concrete_mask(mask: Any) -> np.ndarray:
    if isinstance(mask, Tensor):
        if mask.is_symbolic:
            _unknown(
                "For 'Tensor.__getitem__', a bool tensor as an index must be known while "
                "compiling, since the shape of the "
                "result depends on it, "
                "but got one that is not. Use ops.where or ops.masked_fill instead."
            )
        return mask.asnumpy()
    return np.asarray(mask)


def _is_truth(item: Any) -> bool:
    if isinstance(item, Tensor):
        return item.dtype is _core.bool
    return isinstance(item, (bool, np.bool_)) or (
        isinstance(item, np.ndarray) and item.dtype == bool
    )


def _as_array(item: Any) -> Any:
    """Sequences as NumPy arrays; tensors as they are."""
    if isinstance(item, (list, tuple, range)):
        if any(isinstance(i, Tensor) for i in item):
            return _stack([i if isinstance(i, Tensor) else Tensor(i) for i in item])
        try:
            array = np.array(item)
        except ValueError:
            array = np.empty(0, object)
        return array.astype(np.int64) if array.size == 0 and array.dtype != object else array
    return item


def _expand_key(key: Any) -> list[Any]:
    """The entries of a key, with sequences as arrays and masks as the positions they select."""
    entries: list[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        item = _as_array(item)
        if _is_truth(item):
            mask = _concrete_mask(item)
            if mask.ndim == 0:
                entries.append(bool(mask))
                continue
            for number, positions in enumerate(np.nonzero(mask)):
                entries.append(_Positions(positions, mask.shape if number == 0 else ()))
        elif isinstance(item, (Tensor, np.ndarray)):
            entries.append(_Positions(item))
        elif item is None or item is Ellipsis or isinstance(item, slice) or is_int(item):
            entries.append(item)
        else:
            _refuse(item)
    return entries


def _resolve_positions(positions: _Positions, size: int, axis: int) -> _Positions:
    """The array as a tensor; NumPy's values are checked here, those of tensors by the kernel."""
    array = positions.array
    if isinstance(array, Tensor):
        if array.dtype in _INDEX_TYPES:
            return positions
        if array.dtype in _OTHER_INTEGERS:
            return _Positions(_cast(array, dtype=_core.int64))
        raise IndexError(
            "For 'Tensor.__getitem__', a tensor as an index must be of ints or bools, "
            f"but got {array.dtype}."
        )
    if array.dtype.kind not in "iu":
        _refuse(array)
    if array.size and not (-size <= array.min() and array.max() < size):
        bad = array.min() if array.min() < -size else array.max()
        raise IndexError(
            f"For 'Tensor.__getitem__', the indices into axis {axis} must be in [{-size}, {size}), "
            f"but got {bad}."
        )
    return _Positions(
        Tensor(np.where(array < 0, array + size, array).astype(np.int64)), wrapped=True
    )


def _is_placeless(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, bool)


def _resolve(x: Tensor, key: Any) -> _Plan:
    entries = _expand_key(key)
    named = sum(1 for e in entries if not _is_placeless(e))
    ellipses = sum(1 for e in entries if e is Ellipsis)
    if ellipses > 1:
        raise IndexError(
            f"For 'Tensor.__getitem__', a key must have at most one Ellipsis, but got {ellipses}."
        )
    if named > x.ndim:
        raise IndexError(
            f"For 'Tensor.__getitem__', a tensor of {x.ndim} dimensions takes at most that many "
            "indices, "
            f"but got {named}."
        )
    if not ellipses:
        entries.append(Ellipsis)
    plan = _Plan()
    advanced = any(isinstance(e, _Positions) for e in entries)
    axis = 0
    for number, entry in enumerate(entries):
        if entry is Ellipsis:
            count = x.ndim - named
            plan.add(0, 0, 1, 2)
            plan.shape.extend(x.shape[axis : axis + count])
            axis += count
        elif _is_placeless(entry):
            if entry is False:
                raise IndexError(
                    "For 'Tensor.__getitem__', an index must not be False, but got False."
                )
            plan.add(0, 0, 1, 3)
            plan.shape.append(1)
            plan.trivial = False
        else:
            if advanced and not isinstance(entry, slice):  # beside arrays, an int is a position too
                plan.places.append((number, len(plan.shape)))
            _resolve_entry(x, plan, entry, axis)
            axis += 1
    return plan


def _resolve_entry(x: Tensor, plan: _Plan, entry: Any, axis: int) -> None:
    """An int, a slice or an array, which takes one axis of the tensor."""
    size = x.shape[axis]
    if is_int(entry):
        if not -size <= entry < size:
            raise IndexError(
                f"For 'Tensor.__getitem__', the index into axis {axis} must be in [{-size}, "
                f"{size}), but got {entry}."
            )
        plan.add(as_int(entry) % size if entry < 0 else as_int(entry), 0, 1, 4)
        plan.trivial = False
    elif isinstance(entry, slice):
        begin, end, step = _whole(entry.start), _whole(entry.stop), _whole(entry.step)
        if step == 0:
            raise ValueError(
                "For 'Tensor.__getitem__', the step of a slice must not be zero, but got 0."
            )
        first, last, stride = slice_bounds(slice(begin, end, step), size)
        whole = (begin is None or first == 0) and (end is None or last == size) and stride == 1
        open_ends = [i for i, bound in enumerate((begin, end)) if bound is None]
        plan.add(
            0 if begin is None else begin,
            0 if end is None else end,
            1 if step is None else step,
            *open_ends,
        )
        plan.shape.append(range_length(first, last, stride))
        plan.trivial = plan.trivial and whole
    else:
        covered = tuple(x.shape[axis : axis + len(entry.covered)])
        if entry.covered and entry.covered != covered:
            raise IndexError(
                "For 'Tensor.__getitem__', a mask must have the shape of what it covers, "
                f"{covered}, "
                f"but got {entry.covered}."
            )
        plan.axes.append(len(plan.shape))
        plan.arrays.append(_resolve_positions(entry, size, axis))
        plan.add(0, 0, 1, 0, 1)
        plan.shape.append(size)


def _joint_positions(plan: _Plan) -> tuple[tuple[int, ...], Tensor]:
    """The common shape of the arrays, and their coordinates along a last axis: [..., arrays]."""
    shapes = [tuple(p.array.shape) for p in plan.arrays]
    try:
        shape = broadcast_shapes("Tensor.__getitem__", *shapes)
    except ValueError:
        raise IndexError(
            "For 'Tensor.__getitem__', the shapes of the index arrays must broadcast, "
            f"but got {', '.join(map(str, shapes))}."
        ) from None
    columns = []
    for positions, axis in zip(plan.arrays, plan.axes):
        array = positions.array
        if array.dtype is not _core.int64:
            array = _cast(array, dtype=_core.int64)
        if not positions.wrapped:
            array = _select(_less(array, Tensor(0, _core.int64)), array + plan.shape[axis], array)
        columns.append(_broadcast(array, shape=shape))
    return shape, _stack(columns, axis=-1)


def _front(plan: _Plan) -> list[int]:
    """The axes of the slice with the indexed ones first."""
    return plan.axes + [i for i in range(len(plan.shape)) if i not in plan.axes]


def _result_order(plan: _Plan, joint: int) -> list[int]:
    """Result axes as positions in [joint axes..., remaining axes...]."""
    rest = len(plan.shape) - len(plan.axes)
    behind = list(range(joint, joint + rest))
    place = plan.place()
    return behind[:place] + list(range(joint)) + behind[place:]


def _permuted(x: Tensor, order: list[int]) -> Tensor:
    return x if order == list(range(len(order))) else _transpose(x, perm=order)


def _inverse(order: list[int]) -> list[int]:
    return [order.index(i) for i in range(len(order))]


def _take(y: Tensor, plan: _Plan) -> Tensor:
    if len(plan.arrays) == 1:
        axis, place, array = plan.axes[0], plan.place(), plan.arrays[0].array
        result = _gather(y, array, axis=axis)
        order = list(range(result.ndim))
        others = order[:axis] + order[axis + array.ndim :]
        return _permuted(result, others[:place] + order[axis : axis + array.ndim] + others[place:])
    shape, positions = _joint_positions(plan)
    result = _gather_nd(_permuted(y, _front(plan)), positions)
    return _permuted(result, _result_order(plan, len(shape)))


_MAX_KEPT = 4096
_row = _core.make_function("Gather", "getitem", ["x", "index"], {"axis": 0})
_row_numbers: dict[int, Tensor] = {}  # small ints as tensors
_slicers: dict[tuple, Any] = {}  # functions of keys that were seen before, by shape and key


def _hashable(key: Any) -> tuple | None:
    """A key of plain ints, slices of ints, None and Ellipsis as something to look up."""
    parts: list[Any] = []
    for item in key if type(key) is tuple else (key,):
        if type(item) is slice:
            bounds = (item.start, item.stop, item.step)
            if any(b is not None and type(b) is not int for b in bounds):
                return None
            parts.append(bounds)
        elif type(item) is int or item is None or item is Ellipsis:
            parts.append(item)
        else:
            return None
    return tuple(parts)


def _getrow(x: Tensor, key: int) -> Tensor:
    """`x[key]` of a concrete tensor. As a tensor, the position is no attribute of the op: one prepared
    kernel serves all positions."""
    number = _row_numbers.get(key)
    if number is None:
        number = Tensor(key, _core.int64)
        if len(_row_numbers) < _MAX_KEPT:
            _row_numbers[key] = number
    return _row(x, number)._show_row(x, key)


def getitem(x: Tensor, key: Any) -> Tensor:
    """`x[key]`."""
    if type(key) is int and x.ndim and not x.is_symbolic:
        size = len(x)
        if -size <= key < size:
            return _getrow(x, key)
    elif type(key) is Tensor and x.ndim and key.dtype in _INDEX_TYPES:
        return _row(x, key)
    simple = _hashable(key)
    if simple is not None:
        known = (tuple(x.shape), simple)
        slicer = _slicers.get(known)
        if slicer is None:
            plan = _resolve(x, key)
            slicer = _core.make_function("StridedSlice", "getitem", ["x"], plan.attributes())
            if len(_slicers) >= _MAX_KEPT:
                _slicers.clear()
            _slicers[known] = slicer
        return slicer(x)
    plan = _resolve(x, key)
    y = x if plan.trivial else _strided_slice(x, **plan.attributes())
    return _take(y, plan) if plan.arrays else y


# ---- the value of a tensor after an assignment ------------------------------------------------
def _value_tensor(x: Tensor, value: Any) -> Tensor:
    if value is None:
        raise TypeError("For 'Tensor.__setitem__', the value must be numbers, but got None.")
    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            value = _stack([v if isinstance(v, Tensor) else _numbers(x, v) for v in value])
        else:
            value = _numbers(x, value)
    return value if value.dtype is x.dtype else _cast(value, dtype=x.dtype)


def _numbers(x: Tensor, value: Any) -> Tensor:
    return of_dtype("Tensor.__setitem__", value, x.dtype)


def _spread(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The value in the shape of what it replaces; leading axes of size one go, as in NumPy."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = _reshape(value, shape=value.shape[1:])
    fits = value.ndim <= len(shape) and all(
        a in (1, b) for a, b in zip(value.shape[::-1], shape[::-1])
    )
    if not fits:
        raise ValueError(
            "For 'Tensor.__setitem__', the value must broadcast to the shape of the slice, "
            f"{shape}, "
            f"but got shape {tuple(value.shape)}."
        )
    return value if tuple(value.shape) == shape else _broadcast(value, shape=shape)


def _put(y: Tensor, plan: _Plan, value: Tensor) -> Tensor:
    """`y` with the value at the positions of the plan's arrays."""
    shape, positions = _joint_positions(plan)
    front = _front(plan)
    rest = [plan.shape[i] for i in front[len(plan.axes) :]]
    order = _result_order(plan, len(shape))
    joined = [*shape, *rest]
    value = _spread(value, tuple(joined[i] for i in order))
    if math.prod(joined) == 0:
        return y
    updates = _permuted(value, _inverse(order))
    return _permuted(_scatter_update(_permuted(y, front), positions, updates), _inverse(front))


def _put_masked(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Where a mask covers leading axes and the value has none of them, no position is needed."""
    shape = tuple(mask.shape)
    if shape != tuple(x.shape[: len(shape)]):
        raise IndexError(
            "For 'Tensor.__setitem__', a mask must have the shape of what it covers, "
            f"{tuple(x.shape[: len(shape)])}, "
            f"but got {shape}."
        )
    spread = _broadcast(_reshape(mask, shape=shape + (1,) * (x.ndim - len(shape))), shape=x.shape)
    return _select(spread, _broadcast(value, shape=x.shape), x)


def index_update(x: Tensor, index: Any, value: Any) -> Tensor:
    """The value of `x` after `x[index] = value`, as a new tensor."""
    x = _core.unstopped(x)  # what stays of the base that it may show keeps its gradient
    value = _value_tensor(x, value)
    if isinstance(index, (list, np.ndarray)) and np.asarray(_as_array(index)).dtype == bool:
        index = Tensor(np.asarray(index))
    if isinstance(index, Tensor) and _is_truth(index) and 0 < index.ndim <= x.ndim:
        inner = tuple(x.shape[index.ndim :])
        if value.ndim <= len(inner) or value.size == 1:
            value = _spread(value, inner) if value.size != 1 else _reshape(value, shape=())
            return _put_masked(x, index, value)
    plan = _resolve(x, index)
    y: Any = x if plan.trivial else _strided_slice(x, **plan.attributes()) if plan.arrays else None
    new = _put(y, plan, value) if plan.arrays else _spread(value, tuple(plan.shape))
    return new if plan.trivial else _slice_assign(x, new, **plan.attributes())
