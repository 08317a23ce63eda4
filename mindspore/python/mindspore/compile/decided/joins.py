"""Two values of one name, from the two arms of a branch, as one. Tensors of one type become an output of both graphs; numbers
that differ, a weak 0-d tensor; structures are joined item by item; whatever else differs becomes a Choice."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.exits import VALUE
from mindspore.compile.decided.heap import Outward
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.structure import (
    Recipe,
    attributes_of,
    gathered,
    is_container,
    rebuild,
    set_contents,
)
from mindspore.compile.values.values import (
    NUMBERS,
    Choice,
    Undefined,
    are_equal,
    are_one_type,
    as_scalar,
    common_type,
    dtype_of,
    index_among,
    is_scalar,
    is_weak,
    placeholder,
    same_number,
    same_type,
    told_apart,
)


class Join:
    """`pairs` are the outputs of the two graphs, made when their graph is the current one."""

    def __init__(self, fork: Any, arms: list):
        self.arms = arms
        self.fork, self.trace, self.tracer = fork, fork.trace, fork.tracer
        self.pairs: list[tuple[Callable[[], Tensor], Callable[[], Tensor]]] = []
        self.partners: tuple[dict, dict] = ({}, {})  # containers that were joined, by id
        self.met: dict[tuple, Recipe] = {}  # tensors that were joined, by id
        self.sources: list[tuple[Recipe, tuple]] = []  # and the objects their values may be
        self.outward = Outward(self.tracer, fork.heap)
        self.keep: list = []

    # ---- both arms have a value ---------------------------------------------------------------------------------------
    def add(self, a: Any, b: Any) -> Recipe:
        """The value after the branch, where the first arm has `a` and the second `b`."""
        if a is b:
            return lambda outputs: a
        if isinstance(a, Tensor) or isinstance(b, Tensor):
            return self._tensors(a, b)
        if isinstance(a, NUMBERS) and type(a) is type(b):
            if same_number(a, b):
                return lambda outputs: a
            return self._scalars(a, b)
        if isinstance(a, tuple) and type(a) is type(b) and len(a) == len(b):
            items = gathered([self.add(x, y) for x, y in zip(a, b)])
            return lambda outputs: rebuild(a, items(outputs))
        if self._are_alike(a, b):
            return self._containers(a, b)
        if type(a) is type(b) and not is_container(a) and are_equal(a, b):
            return lambda outputs: a
        if isinstance(a, Undefined) and isinstance(b, Undefined):
            return lambda outputs: a
        return self._choice(a, b)

    def either(self, a: Any, b: Any, has: Sequence[bool]) -> Recipe:
        """The value after the branch, where the arms, or one of them alone, have one."""
        if has[0] and has[1]:
            return self.add(a, b)
        return self.only(a, 0) if has[0] else self.only(b, 1)

    def _tensors(self, a: Any, b: Any) -> Recipe:
        if same_type(a, b):
            return self._one_of(a, b)
        if is_scalar(a) and is_scalar(b) and are_one_type(a, b):
            return self._scalars(a, b)
        return self._choice(a, b)

    def _one_of(self, a: Tensor, b: Tensor) -> Recipe:
        """Either object; what is one object in both arms remains one."""
        key = (id(a), id(b))
        if key not in self.met:
            self.keep.append((a, b))
            self.met[key] = self._noted(self._leaf(lambda: a, lambda: b), a, b)
        return self.met[key]

    def _noted(self, recipe: Recipe, *ways: Tensor) -> Recipe:
        """A recipe whose value is one of these objects."""
        self.sources.append((recipe, ways))
        return recipe

    def _scalars(self, a: Any, b: Any) -> Recipe:
        dtype, weak = common_type(a, b)
        recipe = self._leaf(
            lambda: as_scalar(self.trace, a, dtype, weak),
            lambda: as_scalar(self.trace, b, dtype, weak),
        )
        if isinstance(a, Tensor) or isinstance(b, Tensor):
            objects = (v for v in (a, b) if isinstance(v, Tensor) and not is_weak(v))
            return self._noted(recipe, *objects)
        choice = Choice(self.fork.index(), [a, b])

        def number(outputs: list) -> Tensor:
            value = recipe(outputs)
            self.tracer.numbers[_core.value_id(value)] = choice
            return value

        return number

    def _leaf(self, a: Callable[[], Tensor], b: Callable[[], Tensor]) -> Recipe:
        self.pairs.append((a, b))
        at = len(self.pairs) - 1
        return lambda outputs: outputs[at]

    def _are_alike(self, a: Any, b: Any) -> bool:
        """Containers or objects that the arms made, of the same form."""
        if type(a) is not type(b) or isinstance(a, set):
            return False
        x, y = self._container(a), self._container(b)
        if x is None or y is None or x in self.fork.heap or y in self.fork.heap:
            return False
        if x is not a and type(a).__basicsize__ != _Plain.__basicsize__:
            return False  # it holds more than its attributes
        return len(x) == len(y) and (not isinstance(x, dict) or _keys(x) == _keys(y))

    def _container(self, value: Any) -> Any:
        if is_container(value):
            return value
        return None if isinstance(value, NestedFunction) else attributes_of(self.tracer, value)

    def _containers(self, a: Any, b: Any) -> Recipe:
        """The first arm's object, with joined contents."""
        first, second = self.partners
        if id(a) in first or id(b) in second:
            if first.get(id(a)) is not b:
                raise Unsupported(
                    "the branches of a condition on a tensor share their lists differently"
                )
            return lambda outputs: a
        first[id(a)], second[id(b)] = b, a
        self.keep.append((a, b))
        x, y = self._container(a), self._container(b)
        if isinstance(x, dict):
            contents = gathered({key: self.add(x[key], y[key]) for key in x})
        else:
            contents = gathered([self.add(p, q) for p, q in zip(x, y)])

        def filled(outputs: list) -> Any:
            set_contents(x, contents(outputs))
            return a

        return filled

    # ---- contents of what both arms could change ------------------------------------------------------------------------
    def contents(self, container: Any, x: Any, y: Any) -> Recipe:
        """The contents of one object in which the arms left these."""
        if isinstance(container, TensorCells):
            return self._tensor_contents(container, x, y)
        if isinstance(container, dict):
            return self._dict_contents(container, x, y)
        if isinstance(container, set) and set(_keys(x)) != set(_keys(y)):
            raise Unsupported(
                "a set is changed differently in the branches of a condition on a tensor"
            )
        if len(x) != len(y):
            raise Unsupported(
                f"a list has {len(x)} items after one branch of a condition on a tensor and {len(y)} after the other"
            )
        if isinstance(container, set):
            return lambda outputs: x
        return gathered([self.add(p, q) for p, q in zip(x, y)])

    def _tensor_contents(self, cells: TensorCells, x: dict, y: dict) -> Recipe:
        before = self.fork.heap.before[id(cells)][1]
        recipes = {}
        for key in {**x, **y}:
            start = before.get(key, cells.original(key))
            if self.trace.sees(start):  # else it was made in an arm
                recipes[key] = self._value(x.get(key, start), y.get(key, start))
        return gathered(recipes)

    def _value(self, a: Tensor, b: Tensor) -> Recipe:
        """What a changed tensor stands for: a value, not an object."""
        if _core.same_value(a, b):
            return lambda outputs: a
        return self._leaf(lambda: a, lambda: b)

    def _dict_contents(self, container: dict, x: dict, y: dict) -> Recipe:
        if _keys(x) != _keys(y) and id(container) not in self.fork.variables:
            raise Unsupported(
                f"a dict or object has the keys {list(x)} after one branch of a condition on a tensor and {list(y)} "
                "after the other"
            )
        missing = Undefined(
            f"it is assigned in only one branch of a condition on a tensor{self.fork.place}"
        )
        recipes = {}
        for name in {**x, **y}:
            a, b = x.get(name, missing), y.get(name, missing)
            has = [name != VALUE or v is not missing for v in (a, b)]
            recipes[name] = self.either(a, b, has)
        return gathered(recipes)

    # ---- one arm has a value --------------------------------------------------------------------------------------------
    def only(self, value: Any, side: int) -> Recipe:
        """A value that one arm alone has: its tensors leave the arm, with zeros from the other one."""
        leaf = functools.partial(self._leaf_of, side)
        return self.outward.recipe(value, leaf) or (lambda outputs: value)

    def _leaf_of(self, side: int, value: Tensor) -> Recipe | None:
        if not value.is_symbolic or self.trace.sees(value):
            return None
        if (id(value), side) not in self.met:
            self.keep.append(value)
            pair = (lambda: value, lambda: placeholder(self.trace, value))
            recipe = self._leaf(*(pair if side == 0 else reversed(pair)))
            self.met[id(value), side] = self._noted(recipe, value)
        return self.met[id(value), side]

    def finish(self, outputs: list) -> None:
        """Puts the outputs into the objects that one arm made, and notes which tensors may be one object."""
        if self.sources:
            joined = [(recipe(outputs), ways) for recipe, ways in self.sources]
            self.tracer.aliases.note_joined(joined)
        self.outward.put(outputs)

    # ---- choices ----------------------------------------------------------------------------------------------------
    def _choice(self, a: Any, b: Any) -> Recipe:
        if not isinstance(a, Choice) and not isinstance(b, Choice):
            index = self.fork.index()
            options = gathered([self.only(a, 0), self.only(b, 1)])
            return lambda outputs: Choice(index, options(outputs))
        xs = a.options if isinstance(a, Choice) else [a]
        ys = b.options if isinstance(b, Choice) else [b]
        recipes: list[Recipe] = []
        to_a, to_b, free = [], [-1] * len(ys), list(range(len(ys)))
        for x in xs:
            partner = next((j for j in free if self._fits(x, ys[j])), None)
            to_a.append(len(recipes))
            if partner is None:
                recipes.append(self.only(x, 0))
            else:
                free.remove(partner)
                to_b[partner] = len(recipes)
                recipes.append(self.add(x, ys[partner]))
        for j in free:
            to_b[j] = len(recipes)
            recipes.append(self.only(ys[j], 1))
        index = self._leaf(lambda: index_among(a, to_a), lambda: index_among(b, to_b))
        options = gathered(recipes)
        return lambda outputs: Choice(index(outputs), options(outputs))

    def _fits(self, x: Any, y: Any) -> bool:
        """Whether two options can be one without a Choice inside."""
        if x is y or (isinstance(x, Undefined) and isinstance(y, Undefined)):
            return True
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            return same_type(x, y)
        if is_scalar(x) and is_scalar(y) and is_weak(x) and is_weak(y):
            return dtype_of(x) is dtype_of(y)
        if type(x) is not type(y) or is_container(x) or isinstance(x, Choice):
            return False
        if isinstance(x, tuple):
            return len(x) == len(y) and all(map(self._fits, x, y))
        return are_equal(x, y)


class _Plain:
    """An object that is its attributes."""


def _keys(values: Any) -> list:
    return [told_apart(v) for v in values]
