"""How users say where tensors lie: `Layout`, and strategies, which are cuts for each dimension. Both become texts over the axes of
one mesh of all devices, such as "[dp, -, mp]", which is what the planner reads."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

Mesh = tuple[tuple[str, int], ...]  # (name, size) of each axis, the outermost first
Cuts = tuple[int, ...]
MOST_DEVICES = 1 << 20  # what lists of them have room for
_WHOLE = "None"
_INTERLEAVED = "interleaved_parallel"  # cuts no tensor: it asks for two halves of the work in turn


class Layout:
    """How tensors lie on devices, which are an array with names for its axes. `Layout((2, 4), ("dp", "mp"))("dp", "None")` cuts a
    matrix in two along its first dimension, and has four copies of each half.

    Args:
        device_matrix: The sizes of the array of devices.
        alias_name: The names of its axes.
        rank_list: The devices, if they are not all from 0 on.
    """

    def __init__(
        self,
        device_matrix: tuple[int, ...],
        alias_name: tuple[str, ...],
        rank_list: list[int] | None = None,
    ) -> None:
        _check_axes(device_matrix, alias_name)
        count = math.prod(device_matrix)
        if rank_list is None:
            rank_list = list(range(count))
        elif not isinstance(rank_list, list):
            raise TypeError(
                f"For 'Layout', 'rank_list' must be a list, but got {type(rank_list).__name__}."
            )
        elif any(type(rank) is not int for rank in rank_list):
            raise TypeError(f"For 'Layout', 'rank_list' must hold ints, but got {rank_list}.")
        elif min(rank_list, default=0) < 0 or not len(set(rank_list)) == len(rank_list) == count:
            raise ValueError(
                f"For 'Layout', 'rank_list' must be {count} different ranks, the product of 'device_matrix', but got {rank_list}."
            )
        self.device_matrix, self.alias_name = device_matrix, alias_name
        self.rank_list = list(rank_list)
        # For each dimension of the tensor the names that cut it; None: not called yet.
        self.axes: tuple[tuple[str, ...], ...] | None = None

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> Layout:
        """The layout of a tensor: for each dimension a name, a tuple of names, or "None" where it is whole."""
        axes = []
        used: list[str] = []
        for entry in tensor_map:
            names = entry if isinstance(entry, tuple) else (entry,)
            for name in names:
                if name != _WHOLE and name not in self.alias_name:
                    raise ValueError(
                        f"For 'Layout', each name must be 'None' or one of {self.alias_name}, but got {name!r}."
                    )
                if name in used:
                    raise ValueError(
                        f"For 'Layout', an axis must cut one dimension, but '{name}' stands twice in {tensor_map}."
                    )
                if name != _WHOLE:
                    used.append(name)
            axes.append(tuple(name for name in names if name != _WHOLE))
        result = Layout(self.device_matrix, self.alias_name, self.rank_list)
        result.axes = tuple(axes)
        return result

    @property
    def tensor_map(self) -> tuple[Any, ...] | None:
        """For each dimension the axis that cuts it, counted from the last, 0; -1: none; a tuple of several."""
        if self.axes is None:
            return None
        last = len(self.alias_name) - 1
        numbers = [tuple(last - self.alias_name.index(n) for n in names) for names in self.axes]
        return tuple(n if len(n) > 1 else n[0] if n else -1 for n in numbers)

    def to_dict(self) -> dict[str, Any]:
        """The layout as a dict."""
        if self.axes is None:
            raise ValueError(
                "For 'Layout.to_dict', the layout must have been called with the names of the dimensions, as in layout('dp', 'mp')."
            )
        return {
            "device_matrix": self.device_matrix,
            "tensor_map": self.tensor_map,
            "interleaved_parallel": _INTERLEAVED in self.alias_name,
            "alias_name": self.alias_name,
            "rank_list": self.rank_list,
        }

    @property
    def cuts(self) -> Cuts:
        """Into how many parts each dimension is cut."""
        return tuple(math.prod(self._size(n) for n in names) for names in self.axes or ())

    @property
    def devices(self) -> tuple[tuple[str, int], ...]:
        """The axes that are devices, by name and size."""
        return tuple(
            (name, size)
            for name, size in zip(self.alias_name, self.device_matrix)
            if name != _INTERLEAVED
        )

    def _size(self, name: str) -> int:
        return dict(self.devices).get(name, 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return self.device_matrix, self.alias_name, tuple(self.rank_list), self.axes

    def __repr__(self) -> str:
        at = "" if self.axes is None else str(tuple(n if n else _WHOLE for n in self.axes))
        return f"Layout({self.device_matrix}, {self.alias_name}){at}"


def _check_axes(sizes: Any, names: Any) -> None:
    for what, value, kind in (("device_matrix", sizes, int), ("alias_name", names, str)):
        if not isinstance(value, tuple):
            raise TypeError(
                f"For 'Layout', '{what}' must be a tuple, but got {type(value).__name__}."
            )
        for item in value:
            if type(item) is not kind:
                raise TypeError(
                    f"For 'Layout', '{what}' must hold values of {kind.__name__}, but got {type(item).__name__}."
                )
    if len(sizes) != len(names):
        raise ValueError(
            f"For 'Layout', 'device_matrix' and 'alias_name' must have one length, but got {sizes} and {names}."
        )
    if len(set(names)) != len(names) or not all(n.isidentifier() and n != _WHOLE for n in names):
        raise ValueError(
            f"For 'Layout', 'alias_name' must be different names, and not 'None', but got {names}."
        )
    if any(size < 1 for size in sizes):
        raise ValueError(
            f"For 'Layout', 'device_matrix' must be sizes of at least 1, but got {sizes}."
        )
    if math.prod(sizes) > MOST_DEVICES:
        raise ValueError(
            f"For 'Layout', the product of 'device_matrix' must be at most {MOST_DEVICES}, but got {math.prod(sizes):g}."
        )
    if _INTERLEAVED in names[:-1]:
        raise ValueError(
            f"For 'Layout', '{_INTERLEAVED}' must be the last name of 'alias_name', but got {names}."
        )


# ---- the mesh ---------------------------------------------------------------------------------------------------------------
def primes(number: int) -> list[int]:
    """Its prime factors, the smallest first."""
    found, factor = [], 2
    while factor * factor <= number:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return [*found, number] if number > 1 else found


_FEW, _MANY = 3, 6  # axes: so many are searched all together, and one after the other in seconds


def parts_of(
    sizes: Sequence[int], cuts: Collection[int] = (), coarse: bool = False
) -> list[list[int]]:
    """The sizes that axes are made of, of each the outermost first: its prime factors, or, where all together would be too many to be
    searched, about the fourth root of all devices; `coarse`: about the cube root, so that there are few.

    `cuts`: into how many parts something is to be cut, which must stay possible.
    """
    exact = [primes(size) for size in sizes]
    if sum(map(len, exact)) <= (_FEW if coarse else _MANY):
        return exact
    least = math.prod(sizes) ** (1 / 3 if coarse else 1 / 4) - 1e-9
    joined: list[list[int]] = []
    for factors in exact:
        parts: list[int] = []
        for factor in reversed(factors):
            if not parts or parts[0] >= least:
                parts.insert(0, factor)
            else:
                parts[0] *= factor
        joined.append(parts)
    flat = [part for parts in joined for part in parts]
    able = {math.prod(c) for n in range(len(flat) + 1) for c in itertools.combinations(flat, n)}
    return joined if able >= set(cuts) else exact


def mesh_of(devices: int, layouts: Sequence[Layout] = (), cuts: Collection[int] = ()) -> Mesh:
    """The devices as axes of prime sizes, of which every axis of these layouts is made. The names are those of the first layout. Without
    layouts, many devices as fewer axes, in which these cuts can be made."""
    if not layouts:
        return named_axes(parts_of([devices], cuts)[0], (("d", devices),))
    given = [layout.devices for layout in layouts]
    strides = sorted({stride for axes in given for stride in _strides(axes)} | {1, devices})
    for smaller, larger in itertools.pairwise(strides):
        if larger % smaller:
            raise ValueError(
                f"For 'Layout', the layouts of {devices} devices must cut them along common axes, but got "
                f"{' and '.join(str(tuple(size for _, size in axes)) for axes in given)}."
            )
    sizes: list[int] = []
    for smaller, larger in itertools.pairwise(strides):
        sizes = primes(larger // smaller) + sizes
    return named_axes(sizes, given[0])


def _strides(axes: Sequence[tuple[str, int]]) -> list[int]:
    """How far apart neighbours along each axis are, and the number of devices."""
    strides = [1]
    for _, size in reversed(axes):
        strides.append(strides[-1] * size)
    return strides


def named_axes(sizes: list[int], axes: Sequence[tuple[str, int]]) -> Mesh:
    """Names for axes that the given axes are made of: theirs, with a number where one is made of several, that is no name of another."""
    names: list[tuple[str, int]] = []
    taken = {name for name, _ in axes}
    rest = list(sizes)
    for name, size in axes:
        parts: list[int] = []
        while math.prod(parts) < size:
            parts.append(rest.pop(0))
        if len(parts) == 1:
            names.append((name, parts[0]))
            continue
        joint = "_"
        while any(f"{name}{joint}{i}" in taken for i in range(len(parts))):
            joint += "_"
        names += [(f"{name}{joint}{i}", part) for i, part in enumerate(parts)]
        taken |= {axis for axis, _ in names}
    return tuple(names)


def axes_along(mesh: Mesh, layout: Layout, name: str) -> list[str]:
    """The axes of the mesh that one of a layout is made of."""
    place = [n for n, _ in layout.devices].index(name)
    strides = _strides(layout.devices)[::-1]
    inner, outer = strides[place + 1], strides[place]
    along = []
    stride = math.prod(size for _, size in mesh)
    for axis, size in mesh:
        stride //= size
        if inner <= stride < outer:
            along.append((axis, size))
    if math.prod(size for _, size in along) * inner != outer:
        raise ValueError(
            f"For 'Layout', the axis '{name}' of {layout} must be one of the mesh {_shown(mesh)}, or several: make the layout before anything is compiled."
        )
    return [axis for axis, _ in along]


def _shown(mesh: Mesh) -> str:
    return " x ".join(f"{name}={size}" for name, size in mesh)


# ---- texts ------------------------------------------------------------------------------------------------------------------
def text_of(dims: Sequence[Sequence[str]]) -> str:
    """The text of the axes that cut each dimension."""
    parts = [
        "-" if not axes else axes[0] if len(axes) == 1 else f"({', '.join(axes)})" for axes in dims
    ]
    return f"[{', '.join(parts)}]"


def layout_text(owner: str, layout: Layout, mesh: Mesh, rank: int | None = None) -> str:
    """A layout in the axes of the mesh. `rank`: how many dimensions the tensor has."""
    devices = math.prod(size for _, size in mesh)
    if layout.axes is None:
        raise ValueError(
            f"For '{owner}', a layout must have been called with the names of the dimensions, but got {layout}."
        )
    if layout.rank_list != list(range(len(layout.rank_list))):
        raise ValueError(
            f"For '{owner}', the ranks of a layout must be 0, 1, 2 and so on, but 'rank_list' is {layout.rank_list}: "
            "other orders are not done here."
        )
    if math.prod(size for _, size in layout.devices) != devices:
        raise ValueError(
            f"For '{owner}', the product of 'device_matrix' must be {devices}, the number of devices, but got {layout}."
        )
    if rank is not None and len(layout.axes) != rank:
        raise ValueError(
            f"For '{owner}', a layout must have a name for each of the {rank} dimensions, but got {layout}."
        )
    dims = [
        [a for name in names if name != _INTERLEAVED for a in axes_along(mesh, layout, name)]
        for names in layout.axes
    ]
    return text_of(dims)


def choose_axes(owner: str, mesh: Mesh, used: set[str], cut: int) -> list[str]:
    """The first free axes of the mesh that together cut in so many parts."""
    free = [(name, size) for name, size in mesh if name not in used]
    for count in range(len(free) + 1):
        for chosen in itertools.combinations(free, count):
            if math.prod(size for _, size in chosen) == cut:
                return [name for name, _ in chosen]
    devices = math.prod(size for _, size in mesh)
    left = math.prod(size for _, size in free)
    raise ValueError(
        f"For '{owner}', a strategy must cut {devices} devices into equal parts, but {cut} parts cannot be made of {left} devices "
        f"that are left."
    )


def check_cuts(owner: str, cuts: Any, shape: Sequence[int], devices: int, what: str) -> Cuts:
    """Cuts of a tensor, which must be possible."""
    if len(cuts) != len(shape):
        raise ValueError(
            f"For '{owner}', the strategy of {what} must have an entry for each dimension of the shape {tuple(shape)}, but got {cuts}."
        )
    for cut, size in zip(cuts, shape):
        if cut < 1 or (size >= 0 and size % cut):
            raise ValueError(
                f"For '{owner}', the strategy of {what} must divide the shape {tuple(shape)}, but got {cuts}."
            )
    if devices % math.prod(cuts):
        raise ValueError(
            f"For '{owner}', the product of the strategy of {what} must divide {devices}, the number of devices, but got {cuts}."
        )
    return tuple(cuts)


def cuts_text(owner: str, cuts: Cuts, mesh: Mesh) -> str:
    """Cuts of one tensor alone."""
    used: set[str] = set()
    dims = []
    for cut in cuts:
        dims.append(choose_axes(owner, mesh, used, cut))
        used |= set(dims[-1])
    return text_of(dims)


def cuts_like(owner: str, cuts: Cuts, near: str | None, mesh: Mesh) -> str:
    """Cuts of one tensor, with the axes of another layout of it where they fit."""
    if near is None:
        return cuts_text(owner, cuts, mesh)
    sizes = dict(mesh)
    kept: list[list[str]] = []
    for cut, names in zip(cuts, axes_of_text(near)):
        fits = math.prod(sizes[n] for n in names)
        kept.append(names if cut % fits == 0 else [])
    used = {name for names in kept for name in names}
    for cut, names in zip(cuts, kept):
        more = choose_axes(owner, mesh, used, cut // math.prod(sizes[n] for n in names))
        used |= set(more)
        names += more
    return text_of(kept)


def axes_of_text(text: str) -> list[list[str]]:
    """The axes that cut each dimension, from a text that `text_of` made."""
    dims: list[list[str]] = []
    for part in re.findall(r"\([^)]*\)|[^,\s]+", text.strip("[]")):
        names = part.strip("()").split(",")
        dims.append([name.strip() for name in names if name.strip() != "-"])
    return dims


def rule_texts(owner: str, rule: dict, operands: Sequence[Cuts | None], mesh: Mesh) -> Texts:
    """The texts of operands and results of an op whose operands are cut so. None: nothing is said of an operand."""
    cut_of: dict[str, int] = {}
    for number, (cuts, dims) in enumerate(zip(operands, rule["operands"])):
        for cut, names in zip(cuts or (), dims):
            name = names[0] if names else None
            if name is None:
                if cut != 1:
                    raise ValueError(
                        f"For '{owner}', the strategy must not cut what has one element, but operand {number} is cut in {cuts}."
                    )
                continue
            before = cut_of.setdefault(name, cut)
            if before != cut:
                raise ValueError(
                    f"For '{owner}', dimensions that belong together must be cut alike, but got strategies {tuple(operands)} that cut one of "
                    f"them in {before} and in {cut} parts."
                )
    axes_of: dict[str, list[str]] = {}
    used: set[str] = set()
    for name, cut in cut_of.items():
        if cut > 1:
            factor = rule["factors"][name]
            if not factor["splits"]:
                raise ValueError(
                    f"For '{owner}', the strategy must leave dimensions whole that the op cannot cut, but got {tuple(operands)}."
                )
            axes_of[name] = choose_axes(owner, mesh, used, cut)
            used |= set(axes_of[name])

    def texts(sides: list, given: Iterator) -> list[str]:
        return [
            text_of([axes_of.get(names[0], []) if names else [] for names in dims])
            for dims, _ in zip(sides, given)
        ]

    return texts(rule["operands"], iter(operands)), texts(rule["results"], itertools.count())


Texts = tuple[list[str], list[str]]
__all__ = [
    "Layout",
    "Mesh",
    "check_cuts",
    "cuts_text",
    "layout_text",
    "mesh_of",
    "named_axes",
    "parts_of",
    "primes",
    "rule_texts",
    "text_of",
]
