"""What a value is made of, for all that looks into values or makes them again. Each kind says it once, by `register`: Python's own kinds
here, a class of the compiler's in its own file. What is of no such kind is a leaf; objects that the trace made hold their attributes."""

from __future__ import annotations

import copy
import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.common._mutable import MUTABLE, like
from mindspore.compile.program.errors import Unsupported

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


def _nothing(value: Any) -> tuple:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """How the values of one kind hold others."""

    # What a value holds, in one order.
    parts: Callable[[Any], Any] = _nothing
    # One like it of other parts, in a list; None: it is one object, and cannot be made again.
    rebuild: Callable[[Any, list], Any] | None = None
    # Its parts can change in place: what it is decides who sees that. `rebuild` makes another object.
    changes: bool = False
    # Python's own code sees the parts in it.
    is_open: bool = False
    # Its parts go one by one where it goes: round loops, through calls of graphs, into patterns of types.
    is_data: bool = False
    # A value of the type that the program believes it to be; None: it is what it seems.
    sample: Callable[[Any], Any] | None = None
    # How a subclass does it, where it does it in another way.
    derived: Structure | None = None


LEAF = Structure()
Recipe = Callable[[list], Any]  # from the outputs of a call to a value
_KINDS: dict[type, Structure] = {}
_BARE: set[type] = set()  # the kinds that hold nothing


def register(kind: type, structure: Structure) -> None:
    """Says how values of a class, and of classes derived from it, hold others."""
    _KINDS[kind] = structure
    if structure.parts is _nothing:
        _BARE.add(kind)
    _inherited.cache_clear()


@functools.lru_cache(1024)
def _inherited(kind: type) -> Structure:
    for base in kind.__mro__:
        if base in _KINDS:
            return _KINDS[base].derived or _KINDS[base]
    return LEAF


def structure_of(value: Any) -> Structure:
    """How a value holds others, wherever it comes from."""
    kind: Any = type(value)
    return _KINDS.get(kind) or _inherited(kind)


# ---- what branches may change -------------------------------------------------------------------------------------------
def is_container(value: Any) -> bool:
    """What can change in place by itself: a dict, list, set or deque."""
    return structure_of(value).changes


def contents_of(container: Any) -> Any:
    """A copy of what it holds."""
    if isinstance(container, dict):
        return dict(container)
    return set(container) if isinstance(container, set) else list(container)


def set_contents(container: Any, contents: Any) -> None:
    """Puts other contents into the same object."""
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(contents)
    else:
        container.extend(contents)


def same_contents(a: Any, b: Any) -> bool:
    """Whether nothing changed, by identity of the items."""
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k is n and v is w for (k, v), (n, w) in zip(a.items(), b.items()))
    if isinstance(a, set):
        return set(map(id, a)) == set(map(id, b))
    return all(x is y for x, y in zip(a, b))


def placed(contents: Any, recipe: Callable[[Any], Recipe | None]) -> Recipe | None:
    """What `recipe` says of each value in the contents of a container, as one for all; None where it says so of each of them."""
    values = contents.values() if isinstance(contents, dict) else contents
    recipes = [recipe(v) for v in values]
    if not any(recipes):
        return None
    if not isinstance(contents, dict):
        return lambda outputs: filled(contents, recipes, outputs)
    return lambda outputs: dict(zip(contents, filled(contents.values(), recipes, outputs)))


def gathered(recipes: dict | list) -> Recipe:
    """One recipe for contents, from those for their values."""
    if isinstance(recipes, dict):
        return lambda outputs: {key: recipe(outputs) for key, recipe in recipes.items()}
    return lambda outputs: [recipe(outputs) for recipe in recipes]


def filled(values: Any, recipes: list[Recipe | None], outputs: list) -> list:
    """The values; those that have a recipe are made by it."""
    return [v if recipe is None else recipe(outputs) for v, recipe in zip(values, recipes)]


def attributes_of(tracer: Tracer, value: Any) -> dict | None:
    """The attributes of an object that the trace made."""
    return state_of(value) if id(value) in tracer.made else None


def state_of(value: Any) -> dict | None:
    """The attributes of an object, whatever its class makes of them."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None


def reachable(tracer: Tracer, roots: list) -> Iterator:
    """What values lead to, these included, each object once; leaves are left out."""
    pending, seen = list(roots), set()
    made = tracer.made
    while pending:
        value = pending.pop()
        if type(value) in _BARE or id(value) in seen:
            continue
        seen.add(id(value))
        structure = structure_of(value)
        is_made = id(value) in made
        if structure.parts is _nothing and not is_made:
            continue
        yield value
        pending += structure.parts(value)
        if is_made:
            own = attributes_of(tracer, value)
            pending += () if own is None else (own,)


# ---- what goes part by part ---------------------------------------------------------------------------------------------
def children(value: Any) -> list | None:
    """The parts of what goes part by part, or None for a leaf."""
    structure = structure_of(value)
    return list(structure.parts(value)) if structure.is_data else None


def rebuild(value: Any, items: list) -> Any:
    """One like `value`, of other parts."""
    made = structure_of(value).rebuild
    assert made is not None
    return made(value, items)


def nodes(value: Any) -> Iterator:
    """What goes part by part, its parts, and so on to the leaves, left to right; what can change, once."""
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        yield value
        structure = structure_of(value)
        if structure.is_data and id(value) not in seen:
            if structure.changes:
                seen.add(id(value))
            pending += reversed(list(structure.parts(value)))


def leaves_of(value: Any) -> list:
    """The tensors of a value, left to right; each as often as it is there, as `replace_leaves` meets them."""
    found: list = []
    _add_leaves(value, found, ())
    return found


def _add_leaves(value: Any, found: list, around: tuple) -> None:
    if isinstance(value, Tensor):
        found.append(value)
        return
    structure = structure_of(value)
    if structure.is_data:
        if structure.changes:
            if id(value) in around:
                return
            around = (*around, id(value))
        for part in structure.parts(value):
            _add_leaves(part, found, around)


def replace_leaves(
    value: Any, replace: Callable[[Tensor], Any], around: tuple[int, ...] = ()
) -> Any:
    """The value with other tensors; nothing that can change is shared with it."""
    if isinstance(value, Tensor):
        return replace(value)
    structure = structure_of(value)
    if not structure.is_data:
        return value
    around = _inside(value, structure, around)
    return rebuild(value, [replace_leaves(p, replace, around) for p in structure.parts(value)])


def _inside(value: Any, structure: Structure, around: tuple[int, ...]) -> tuple[int, ...]:
    """The ids of what a part of `value` is inside of; refuses what is inside of itself, where it would have to be made again."""
    if not structure.changes:
        return around
    if id(value) in around:
        raise Unsupported(f"a {type(value).__name__} that holds itself would have to be made again")
    return (*around, id(value))


def shares(value: Any) -> bool:
    """Whether something that can change is in several places of a value, or in itself."""
    found = [id(v) for v in nodes(value) if is_container(v)]
    return len(set(found)) < len(found)


# ---- what Python sees ---------------------------------------------------------------------------------------------------
def find(value: Any, test: Callable[[Any], Any], around: tuple[int, ...] = ()) -> Any:
    """The first of what Python's code can find in a value, which may be it, of which `test` is true; NOT_FOUND where there is none."""
    structure = structure_of(value)
    if not structure.is_open:
        return value if test(value) else NOT_FOUND
    if structure.changes:
        if id(value) in around:
            return NOT_FOUND
        around = (*around, id(value))
    for part in structure.parts(value):
        part = find(part, test, around)
        if part is not NOT_FOUND:
            return part
    return NOT_FOUND


NOT_FOUND = object()


def holds(value: Any, test: Callable[[Any], Any]) -> bool:
    """Whether `test` is true of what Python's code can find in a value, or of the value."""
    return find(value, test) is not NOT_FOUND


def first(value: Any, kind: type) -> Any:
    """The first of a kind that Python's code can find in a value, which may be it; None where there is none."""
    part = find(value, lambda v: isinstance(v, kind))
    return None if part is NOT_FOUND else part


def exchanged(value: Any, old: Any, new: Any, around: tuple[int, ...] = ()) -> Any:
    """The value with another one in place of the object `old`; what does not hold that stays what it is."""
    if value is old:
        return new
    structure = structure_of(value)
    if not structure.is_open:
        return value
    around = _inside(value, structure, around)
    parts = list(structure.parts(value))
    return renewed(value, parts, [exchanged(p, old, new, around) for p in parts])


def renewed(value: Any, parts: Any, items: list) -> Any:
    """The value where the items are its parts, else one of these items."""
    if all(a is b for a, b in zip(parts, items)):
        return value
    return rebuild(value, items)


def maker(
    value: Any, make_leaf: Callable[[Any], Callable[[Any], Any] | None]
) -> Callable[[Any], Any]:
    """A function of something that makes `value` again: of a part, what `make_leaf` gives; for None, of the part's own parts. What
    can change is made anew even so, as it is now."""
    return _maker(value, make_leaf, ()) or (lambda got: value)


def _maker(value: Any, make_leaf: Callable, around: tuple) -> Callable[[Any], Any] | None:
    made = make_leaf(value)
    if made is not None:
        return made
    structure = structure_of(value)
    if structure.rebuild is None:
        return None
    parts = list(structure.parts(value))
    around = _inside(value, structure, around)
    makers = [_maker(part, make_leaf, around) for part in parts]
    if not structure.changes and not any(makers):
        return None
    remade = structure.rebuild
    return lambda got: remade(
        value, [part if make is None else make(got) for part, make in zip(parts, makers)]
    )


# ---- Python's own kinds -------------------------------------------------------------------------------------------------
def _tuple_like(value: Any, items: list) -> Any:
    return value._make(items) if hasattr(value, "_fields") else like(value, tuple(items))


def _dict_like(value: Any, items: list) -> Any:
    return like(value, dict(zip(value, items)))


def bounds_of(value: Any) -> tuple:
    """Of a slice or range."""
    return value.start, value.stop, value.step


def _call_parts(value: functools.partial) -> list:
    return [value.func, *value.args, *value.keywords.values()]


def _call_like(value: functools.partial, items: list) -> functools.partial:
    function, *args = items
    count = len(value.args)
    return functools.partial(function, *args[:count], **dict(zip(value.keywords, args[count:])))


def _method_like(value: types.MethodType, items: list) -> Any:
    owner, function = items
    if isinstance(owner, Tensor):
        return getattr(owner, value.__name__)
    return types.MethodType(function, owner)


def _owner_of(value: Any) -> tuple:
    owner = value.__self__
    return () if isinstance(owner, types.ModuleType | None) else (owner,)


def _builtin_like(value: Any, items: list) -> Any:
    return getattr(items[0], value.__name__) if items else value


def _refilled(value: Any, items: list) -> Any:
    fresh = copy.copy(value)
    set_contents(fresh, items)
    return fresh


def _register_python() -> None:
    kind: type
    for kind in (bool, int, float, complex, str, bytes, type(None), type, type(Ellipsis), range):
        register(kind, LEAF)
    for kind in (types.FunctionType, types.ModuleType):
        register(kind, LEAF)
    a_tuple = Structure(tuple.__iter__, _tuple_like, is_open=True, is_data=True)
    a_list = Structure(list.__iter__, like, changes=True, is_open=True, is_data=True)
    # One of a class of its own may be more than its items.
    of_a_class = Structure(lambda v: v.values(), _dict_like, changes=True, is_open=True)
    a_dict = Structure(
        dict.values, _dict_like, changes=True, is_open=True, is_data=True, derived=of_a_class
    )
    for kinds in ((tuple, list, dict), MUTABLE):
        for kind, structure in zip(kinds, (a_tuple, a_list, a_dict)):
            register(kind, structure)
    for kind in (set, deque):
        register(kind, Structure(list, _refilled, changes=True, is_open=True))
    register(frozenset, Structure(list, lambda v, items: type(v)(items), is_open=True))
    register(slice, Structure(bounds_of, lambda v, items: slice(*items), is_open=True))
    register(functools.partial, Structure(_call_parts, _call_like))
    register(types.MethodType, Structure(lambda v: (v.__self__, v.__func__), _method_like))
    register(types.BuiltinMethodType, Structure(_owner_of, _builtin_like))


_register_python()
