"""Sums of products that are named by letters, and products of matrices along named axes."""

from __future__ import annotations

import math
import operator
import string
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from mindspore._core import Tensor
from mindspore.common._kinds import Ints
from mindspore.common._size import broadcast_shapes
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _axis, diagonal

_reshape, _transpose, _sum = raw("Reshape"), raw("Transpose"), raw("ReduceSum")
_product = raw("BatchMatMul")
_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # in the order of implicit results

# Axes are named by a letter, or by a number: those behind an ellipsis, counted from the last.
Label = Any


class _Sketch(NamedTuple):
    """A tensor that a plan will make: the plan, its place among all, its shape."""

    plan: _Plan
    place: int
    shape: tuple

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def then(self, call: Callable, shape: Iterable, *others: _Sketch) -> _Sketch:
        """What a call makes of this one and others."""
        return self.plan.add(call, tuple(shape), (self, *others))


class _Plan:
    """What becomes of operands of given shapes, call by call; every tensor is used once."""

    def __init__(self, shapes: tuple):
        self.operands = [_Sketch(self, i, shape) for i, shape in enumerate(shapes)]
        self.steps: list[tuple[Callable, tuple]] = []

    def add(self, call: Callable, shape: tuple, inputs: Sequence[_Sketch]) -> _Sketch:
        self.steps.append((call, tuple(x.place for x in inputs)))
        return _Sketch(self, len(self.operands) + len(self.steps) - 1, shape)

    def __call__(self, operands: Sequence[Tensor]) -> Tensor:
        values = dict(enumerate(operands))
        for made, (call, places) in enumerate(self.steps, len(operands)):
            values[made] = call(*[values.pop(i) for i in places])
        (result,) = values.values()
        return result


class _Equation:
    """The labels of operands and of the result."""

    def __init__(self, text: str, operands: Sequence[_Sketch]):
        text = text.replace(" ", "")
        left, arrow, right = text.partition("->")
        parts = left.split(",")
        if len(parts) != len(operands):
            raise ValueError(
                f"For 'einsum', the equation must name as many operands as there are, but got {text!r} for "
                f"{len(operands)}."
            )
        self.text = text
        self.operands = [self._labels(p, x.ndim) for p, x in zip(parts, operands)]
        hidden = max((sum(isinstance(n, int) for n in names) for names in self.operands), default=0)
        named = [n for names in self.operands for n in names if isinstance(n, str)]
        if arrow:
            self.result = self._labels(right, None, hidden)
            if len({*self.result}) < len(self.result) or not {*self.result} <= {
                *named,
                *range(hidden),
            }:
                raise self._error("the result must name axes of the operands, each once")
        else:
            once = sorted({n for n in named if named.count(n) == 1})
            self.result = [*reversed(range(hidden)), *once]

    def _error(self, must: str) -> ValueError:
        return ValueError(f"For 'einsum', {must}, but got {self.text!r}.")

    def _labels(self, part: str, rank: int | None, hidden: int = 0) -> list[Label]:
        before, dots, behind = part.partition("...")
        if not {*before, *behind} <= {*_LETTERS}:
            raise self._error("axes must be named by letters")
        count = len(before) + len(behind)
        if rank is not None:
            hidden = rank - count
            if hidden < 0 or (hidden > 0 and not dots):
                raise self._error(f"an operand of {rank} dimensions must have as many names")
        return [*before, *(reversed(range(hidden)) if dots else ()), *behind]


class _Named:
    """A tensor whose axes have labels, each once."""

    def __init__(self, x: _Sketch, labels: list[Label]):
        while len({*labels}) < len(labels):
            twice = next(n for n in labels if labels.count(n) > 1)
            first = labels.index(twice)
            second = labels.index(twice, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ValueError(
                    f"For 'einsum', axes named {twice!r} must have the same size, but got {x.shape[first]} and "
                    f"{x.shape[second]}."
                )
            call = partial(diagonal, offset=0, dim1=first, dim2=second)
            shape = (n for i, n in enumerate(x.shape) if i not in (first, second))
            x = x.then(call, (*shape, x.shape[first]))
            labels = [n for i, n in enumerate(labels) if i not in (first, second)] + [twice]
        self.x, self.labels = x, labels

    def size(self, label: Label) -> int:
        return self.x.shape[self.labels.index(label)] if label in self.labels else 1

    def summed(self, kept: set) -> _Named:
        """Without the axes that nobody names."""
        gone = [i for i, n in enumerate(self.labels) if n not in kept]
        if not gone:
            return self
        left = (n for i, n in enumerate(self.x.shape) if i not in gone)
        x = self.x.then(partial(_sum, axis=gone, keep_dims=False), left)
        return _Named(x, [n for n in self.labels if n in kept])

    def ordered(self, labels: list[Label]) -> _Sketch:
        """The tensor with axes in that order; those that it lacks have size 1."""
        order = [self.labels.index(n) for n in labels if n in self.labels]
        x = self.x
        if order != sorted(order):
            x = x.then(partial(_transpose, perm=order), (x.shape[i] for i in order))
        return _reshaped(x, tuple(self.size(n) for n in labels))


def _reshaped(x: _Sketch, shape: tuple) -> _Sketch:
    return x if x.shape == shape else x.then(partial(_reshape, shape=shape), shape)


def _check_sizes(operands: list[_Named]) -> None:
    sizes: dict[Label, int] = {}
    for named in operands:
        for n in named.labels:
            if isinstance(n, int):
                continue
            if sizes.setdefault(n, named.size(n)) != named.size(n):
                raise ValueError(
                    f"For 'einsum', axes named {n!r} must have the same size, but got {sizes[n]} and {named.size(n)}."
                )


def _contracted(a: _Named, b: _Named, kept: set) -> _Named:
    """The product of two, summed over all that is not kept: one product of matrices, or of elements."""
    a, b = a.summed(kept | {*b.labels}), b.summed(kept | {*a.labels})
    both = [n for n in a.labels if n in b.labels]
    # An axis of size 1 that is broadcast takes no part in a product of matrices.
    even = [n for n in both if a.size(n) == b.size(n)]
    inner = [n for n in even if n not in kept]
    batch = [n for n in both if n not in inner]
    rows, columns = ([n for n in x.labels if n not in both] for x in (a, b))
    result = [*batch, *rows, *columns]
    if not inner and (not rows or not columns):
        first, second = a.ordered(result), b.ordered(result)
        whole = broadcast_shapes("einsum", first.shape, second.shape)
        return _Named(first.then(operator.mul, whole, second), result).summed(kept)
    shape = broadcast_shapes("einsum", *(tuple(x.size(n) for n in batch) for x in (a, b)))
    sides = []
    for x, order in ((a, [rows, inner]), (b, [inner, columns])):
        sizes = [math.prod(x.size(n) for n in names) for names in order]
        whole = x.ordered([*batch, *order[0], *order[1]])
        sides.append(_reshaped(whole, (*(x.size(n) for n in batch), *sizes)))
    first, second = sides
    product = first.then(_product, (*shape, first.shape[-2], second.shape[-1]), second)
    ends = [x.size(n) for x, names in ((a, rows), (b, columns)) for n in names]
    return _Named(_reshaped(product, (*shape, *ends)), result).summed(kept)


def _cheapest(operands: list[_Named], kept: list[set]) -> tuple[int, int]:
    """The pair whose product is the smallest."""

    def cost(pair: tuple[int, int]) -> int:
        a, b = (operands[i] for i in pair)
        return math.prod(max(a.size(n), b.size(n)) for n in {*a.labels, *b.labels} & kept_by[pair])

    count = len(operands)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    kept_by = {
        (i, j): set().union(*(k for at, k in enumerate(kept) if at not in (i, j))) for i, j in pairs
    }
    return min(pairs, key=cost)


def _listed(arguments: tuple) -> tuple[str, list[Tensor]]:
    """Operands followed by lists of numbers for their axes, as an equation."""

    def text(labels: Sequence) -> str:
        letters = []
        for n in labels:
            if n is not Ellipsis and not (isinstance(n, int) and 0 <= n < len(_LETTERS)):
                raise ValueError(
                    f"For 'einsum', axes must be numbers from 0 to {len(_LETTERS) - 1}, but got {n!r}."
                )
            letters.append("..." if n is Ellipsis else _LETTERS[n])
        return "".join(letters)

    pairs = len(arguments) // 2
    operands, names = list(arguments[: 2 * pairs : 2]), arguments[1 : 2 * pairs : 2]
    for x, labels in zip(operands, names):
        if not isinstance(x, Tensor) or not isinstance(labels, (list, tuple)):
            raise TypeError(
                "For 'einsum', without an equation each Tensor must be followed by a list of its axes."
            )
    equation = ",".join(map(text, names))
    if len(arguments) % 2:
        equation += "->" + text(arguments[-1])
    return equation, operands


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Products of elements at positions that letters name, summed over those that the result does not name: "ij,jk->ik" is the
    product of matrices. Without `->` the result names what the operands name once, in alphabetical order; `...` stands for
    axes without a name, which broadcast. Instead of an equation, numbers may name the axes: `einsum(x, [0, 1], y, [1, 2], [0, 2])`."""
    if not isinstance(equation, (str, Tensor)):
        raise TypeError(
            "For 'einsum', 'equation' must be a str, or a Tensor with a list of its axes behind it, but got "
            f"{type(equation).__name__}."
        )
    if isinstance(equation, Tensor):
        equation, given = _listed((equation, *operands))
    else:
        given = (
            list(operands[0])
            if len(operands) == 1 and isinstance(operands[0], (list, tuple))
            else list(operands)
        )
    if wrong := [type(x).__name__ for x in given if not isinstance(x, Tensor)]:
        raise TypeError(f"For 'einsum', the operands must be Tensors, but got {wrong[0]}.")
    if not given:
        raise TypeError("For 'einsum', the operands must be Tensors, but got none.")
    shapes = tuple(tuple(x.shape) for x in given)
    fixed = all(type(n) is int for shape in shapes for n in shape)
    return (_planned if fixed else _planned.__wrapped__)(equation, shapes)(given)


@lru_cache(maxsize=1024)
def _planned(equation: str, shapes: tuple) -> _Plan:
    """How the result is made of operands of these shapes."""
    plan = _Plan(shapes)
    parsed = _Equation(equation, plan.operands)
    left = [_Named(x, labels) for x, labels in zip(plan.operands, parsed.operands)]
    _check_sizes(left)
    while len(left) > 1:
        named = [{*x.labels} for x in left]
        wanted = {*parsed.result}
        i, j = _cheapest(left, [*named, wanted])
        kept = wanted.union(*(n for at, n in enumerate(named) if at not in (i, j)))
        second, first = left.pop(j), left.pop(i)
        left.append(_contracted(first, second, kept))
    last = left[0].summed({*parsed.result}).ordered(parsed.result)
    if len(shapes) == 1:  # never the operand itself
        last.then(raw("Identity"), last.shape)
    return plan


def einsum_ext(equation: Any, *operands: Any) -> Tensor:
    """As `einsum`."""
    return einsum(equation, *operands)


def batch_dot(x1: Tensor, x2: Tensor, axes: Ints | None = None) -> Tensor:
    """For each item of a batch, the sum of products along one axis of either: by default the last of x1 and the last but one of
    x2."""
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[0] != x2.shape[0]:
        raise ValueError(
            "For 'batch_dot', the inputs must have at least 2 dimensions and as many items, but got shapes "
            f"{x1.shape} and {x2.shape}."
        )
    if axes is None:
        axes = (x1.ndim - 1, 1 if x2.ndim == 2 else x2.ndim - 2)
    pair = (axes, axes) if isinstance(axes, int) else tuple(axes)
    if len(pair) != 2:
        raise ValueError(f"For 'batch_dot', 'axes' must be a number or two, but got {axes}.")
    first, second = (_axis("batch_dot", a, x.ndim) for a, x in zip(pair, (x1, x2)))
    if not first or not second or x1.shape[first] != x2.shape[second]:
        raise ValueError(
            "For 'batch_dot', 'axes' must name axes of one size behind the batch, but got "
            f"{axes} of shapes {x1.shape} and {x2.shape}."
        )
    names = iter(_LETTERS)
    batch, inner = next(names), next(names)
    labels = [
        [batch, *(inner if i == axis else next(names) for i in range(1, x.ndim))]
        for x, axis in ((x1, first), (x2, second))
    ]
    rest = [[n for n in names_ if n not in (batch, inner)] for names_ in labels]
    result = einsum(
        f"{''.join(labels[0])},{''.join(labels[1])}->{batch}{''.join(rest[0] + rest[1])}", x1, x2
    )
    return _reshape(result, shape=(-1, 1)) if result.ndim == 1 else result


__all__ = ["batch_dot", "einsum", "einsum_ext"]
