"""That the sharding rule of every op holds: parts that run apart and join as the rule says are the whole.

An op is run on parts along each factor of its rule, and along pairs of factors, in this one process;
sizes are uneven where they can be. Gradients are taken of the parts, with the tangents that joining
sends back, and join in turn: an operand that lacks the factor has a partial sum.

Left to what lowers rules: rows that parts need of their neighbours (`halo`), and the share of a part
in the seed (`seeded`), of which only the shapes are compared.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import engine
import numpy as np
from engine import as_tuple, describe, registry, tensors
from rowlib import Args, Row, Wrt
from transform_checks import compare

import mindspore
from mindspore import Tensor, _core

Arrays = list[Any]
Dims = list[list[str]]
Pullback = Callable[[Arrays], Arrays]

PAIRS = 10  # at most, for one case
# Positions outside are left out by the op itself; those of the others count from the end.
LEAVES_OUT = ("UnsortedSegmentSum", "OneHot")
# What weighs a mean is a sum.
JOINS = {
    "sum": np.add,
    "mean": np.add,
    "indexed": np.add,
    "max": np.maximum,
    "min": np.minimum,
}


def rule_of(name: str, case: Args) -> dict | None:
    """The rule of an op for the arguments of a case."""
    given = [Tensor(x) if isinstance(x, np.ndarray) else x for x in case.inputs]
    return _core.shard_rule(name, given, case.attrs)


def ranges(size: int) -> list[tuple[int, int]]:
    """Two parts, the first of which is the larger."""
    middle = (size + 1) // 2
    return [(0, middle), (middle, size)]


def cuts_of(rule: dict) -> Iterator[tuple[str, ...]]:
    """Each factor that may be cut without help of the neighbours, then pairs of them."""
    names = [n for n, f in rule["factors"].items() if f["splits"] and f["mark"] != "halo"]
    yield from ((n,) for n in names)
    yield from itertools.islice(itertools.combinations(names, 2), PAIRS)


# ---- parts of arrays ----------------------------------------------------------------------
def unfolded(x: np.ndarray, dims: Dims, sizes: dict[str, int], factor: str) -> tuple | None:
    """x with an axis for each factor, and the axis of this one; None where x lacks it."""
    names = [n for dim in dims for n in (dim or ["1"])]
    if factor not in names:
        return None
    shape: list[int] = []
    for dim, size in zip(dims, x.shape):
        shape += [sizes[n] for n in dim] if len(dim) > 1 else [size]
    return x.reshape(shape), names.index(factor)


def folded(x: np.ndarray, dims: Dims) -> np.ndarray:
    """The axes of factors as the dimensions that they are of."""
    counts = [max(len(dim), 1) for dim in dims]
    ends = list(itertools.accumulate(counts))
    return x.reshape([int(np.prod(x.shape[e - c : e])) for c, e in zip(counts, ends)])


def part_of(x: Any, dims: Dims, sizes: dict[str, int], factor: str, at: Any) -> Any:
    """The slice, or the positions, of x along a factor; x itself where it lacks the factor."""
    found = unfolded(x, dims, sizes, factor) if isinstance(x, np.ndarray) else None
    if found is None:
        return x
    axes, axis = found
    return folded(axes[(slice(None),) * axis + (at,)], dims)


def joined(parts: Arrays, dims: Dims, sizes: list[dict], factor: str) -> np.ndarray | None:
    """Parts one behind the other along a factor; None where they lack it."""
    found = [unfolded(x, dims, s, factor) for x, s in zip(parts, sizes)]
    if found[0] is None:
        return None
    axis = found[0][1]
    return folded(np.concatenate([f[0] for f in found if f], axis), dims)


@dataclass
class Part:
    """One part of a cut: its range, sizes, inputs, and how gradients come back to the whole."""

    start: int
    stop: int
    sizes: dict[str, int]
    inputs: Arrays
    kept: np.ndarray | None = None  # positions along `rows` of the whole that are the part's
    rows: str = ""
    row_count: int = 0  # of the whole
    mask: np.ndarray | None = None  # of the results that positions outside do not count in

    def restored(self, gradient: np.ndarray, dims: Dims) -> np.ndarray:
        """The gradient of an operand before rows were left out."""
        found = unfolded(gradient, dims, self.sizes, self.rows)
        if self.kept is None or found is None:
            return gradient
        own, axis = found
        full = np.zeros((*own.shape[:axis], self.row_count, *own.shape[axis + 1 :]))
        full[(slice(None),) * axis + (self.kept,)] = own
        return folded(full, dims)


class Sharded:
    """An op that runs in parts by its rule."""

    def __init__(self, row: Row, case: Args, rule: dict):
        self.row, self.rule = row, rule
        self.op = registry()[row.name]
        self.attrs = case.attrs
        self.inputs = list(case.inputs)
        self.operands, self.results = rule["operands"], rule["results"]
        self.sizes = {n: f["size"] for n, f in rule["factors"].items()}
        updated = {i for _, i in self.op["updates"]}
        chosen = row.grad if isinstance(row.grad, Wrt) else None
        self.outputs = chosen.outputs if chosen else None
        self.active = tuple(
            i
            for i, x in enumerate(case.inputs)
            if isinstance(x, np.ndarray)
            and x.dtype == np.float64
            and i not in updated
            and (chosen is None or i in chosen.inputs)
        )

    # -- one run ----------------------------------------------------------------------
    def local_attrs(self, sizes: dict[str, int]) -> dict:
        """The attributes, with the sizes of a part where they hold sizes."""
        attrs = dict(self.attrs)
        for name, entries in self.rule["sizes"].items():
            if all(sizes[n] == self.sizes[n] for e in entries if e for n in e):
                continue
            old = attrs[name]
            values = [
                (old[i] if e is None else int(np.prod([sizes[n] for n in e])))
                for i, e in enumerate(entries)
            ]
            attrs[name] = tuple(values) if isinstance(old, (tuple, list)) else values[0]
        return attrs

    def once(self, inputs: Arrays, sizes: dict[str, int]) -> tuple[Arrays, Pullback]:
        """One run of the op: its outputs, and from their tangents the gradients of the inputs."""
        attrs = self.local_attrs(sizes)
        op = self.op
        if op["name"] == "Squeeze" and sizes != self.sizes:  # an axis of a part may be of size 1
            shape = [int(np.prod([sizes[n] for n in dim])) for dim in self.results[0]]
            op, attrs = registry()["Reshape"], {"shape": tuple(shape)}
        case = Args(tuple(inputs), attrs)
        given = tensors(op, case)
        outputs = engine.arrays(engine.call(op, given, attrs))
        for output, i in self.op["updates"][len(outputs) :]:
            assert output == len(outputs)
            outputs.append(given[i].asnumpy())

        def pullback(douts: Arrays) -> Arrays:
            def total(*active: Tensor) -> Any:
                values = tensors(op, case)
                for i, x in zip(self.active, active):
                    values[i] = x
                made = as_tuple(engine.call(op, values, attrs))
                terms = [
                    (t * Tensor(d)).sum()
                    for t, d in zip(made, douts)
                    if d is not None and t.dtype == mindspore.float64
                ]
                return functools.reduce(lambda a, b: a + b, terms)

            grad = mindspore.grad(total, tuple(range(len(self.active))))
            found = engine.arrays(grad(*[Tensor(inputs[i]) for i in self.active]))
            gradients: Arrays = [None] * len(inputs)
            for i, g in zip(self.active, found):
                gradients[i] = g
            return gradients

        return outputs, pullback

    # -- a run in parts ----------------------------------------------------------------------
    def parts(self, inputs: Arrays, sizes: dict[str, int], factor: str) -> list[Part] | None:
        """What each part of a cut runs on; None where this check cannot make it."""
        made = []
        for start, stop in ranges(sizes[factor]):
            local = [
                part_of(x, dims, sizes, factor, slice(start, stop))
                for x, dims in zip(inputs, self.operands)
            ]
            part = Part(start, stop, {**sizes, factor: stop - start}, local)
            if self.rule["factors"][factor]["mark"] == "indexed" and not self.own(part, factor):
                return None
            made.append(part)
        return made

    def own(self, part: Part, factor: str) -> bool:
        """Gives a part the positions that are its own. False where the others cannot be left out."""
        by = self.rule["factors"][factor]["by"]
        index = part.inputs[by]
        whole = self.sizes[factor]
        if self.row.name not in LEAVES_OUT:
            index = np.where(index < 0, index + whole, index)
        inside = (index >= part.start) & (index < part.stop)
        own = np.where(inside, index - part.start, 0).astype(index.dtype)
        if not any(factor in dim for dim in self.results[0]):
            part.mask, part.inputs[by] = inside, own
        elif self.row.name in LEAVES_OUT:
            part.inputs[by] = np.where(inside, own, np.array(-1).astype(index.dtype))
        else:  # leave the rows out
            if index.ndim != 1:
                return False
            (part.rows,) = self.operands[by][0]
            part.kept, part.row_count = np.flatnonzero(inside), inside.size
            part.inputs[by] = own
            part.inputs = [
                part_of(x, dims, part.sizes, part.rows, part.kept)
                for x, dims in zip(part.inputs, self.operands)
            ]
            part.sizes = {**part.sizes, part.rows: len(part.kept)}
        return True

    def run(
        self, inputs: Arrays, sizes: dict[str, int], cuts: tuple[str, ...]
    ) -> tuple[Arrays, Pullback] | None:
        """The op in parts along all factors of `cuts`; None where this check cannot make them."""
        if not cuts:
            return self.once(inputs, sizes)
        parts = self.parts(inputs, sizes, cuts[0])
        runs = [self.run(p.inputs, p.sizes, cuts[1:]) for p in parts or ()]
        done = [r for r in runs if r is not None]
        if not parts or len(done) < len(parts):
            return None
        cut = Cut(self, cuts[0], sizes, parts, [outputs for outputs, _ in done])

        def pullback(douts: Arrays) -> Arrays:
            gradients = [
                back([None if d is None else cut.tangent(i, d, k) for i, d in enumerate(douts)])
                if cut.counts(k)
                else [np.zeros_like(x) for x in parts[k].inputs]
                for k, (_, back) in enumerate(done)
            ]
            return [
                cut.gradient(i, [g[i] for g in gradients]) if i in self.active else None
                for i in range(len(inputs))
            ]

        return [cut.join(i) for i in range(len(cut.outputs[0]))], pullback


class Cut:
    """One cut that was run: how the results of its parts join, and what goes back to them."""

    def __init__(
        self,
        sharded: Sharded,
        factor: str,
        sizes: dict[str, int],
        parts: list[Part],
        outputs: list[Arrays],
    ):
        self.factor, self.sizes, self.parts = factor, sizes, parts
        self.operands, self.results = sharded.operands, sharded.results
        facts = sharded.rule["factors"][factor]
        self.mark, self.by = facts["mark"], facts["by"]
        self.outputs = [
            [self.masked(x, i, k) for i, x in enumerate(xs)] for k, xs in enumerate(outputs)
        ]

    def masked(self, x: np.ndarray, i: int, k: int) -> np.ndarray:
        """Result i of part k, or its tangent, with zeros for positions outside of the part."""
        mask = self.parts[k].mask
        if mask is None:
            return x
        names = [d[0] if d else "1" for d in self.operands[self.by]]
        shape = [
            mask.shape[names.index(d[0])] if d and d[0] in names else 1 for d in self.results[i]
        ]
        return np.where(mask.reshape(shape), x, np.zeros_like(x))

    def shares(self, i: int) -> list | None:
        """How much each part counts in a mean; None where result i is none."""
        if self.mark != "mean" or i == self.by:
            return None
        weights = (
            [np.float64(p.stop - p.start) for p in self.parts]
            if self.by is None
            else [xs[self.by] for xs in self.outputs]
        )
        return [w / sum(weights) for w in weights]

    def counts(self, k: int) -> bool:
        """Whether a part has any weight in the means: the mean of nothing, and its gradient, is nan."""
        shares = [self.shares(i) for i in range(len(self.results))]
        return all(s is None or bool(s[k]) for s in shares)

    def join(self, i: int) -> np.ndarray:
        """Result i of the whole."""
        xs = [outputs[i] for outputs in self.outputs]
        whole = joined(xs, self.results[i], [p.sizes for p in self.parts], self.factor)
        if whole is not None:
            return whole
        if not xs[0].size:
            return xs[0]
        if (shares := self.shares(i)) is not None:
            counting = [x * s for x, s in zip(xs, shares) if s]
            return np.asarray(sum(counting)).astype(xs[0].dtype)
        return functools.reduce(JOINS[self.mark], xs)

    def tangent(self, i: int, dout: np.ndarray, k: int) -> np.ndarray:
        """What reaches result i of part k."""
        part = self.parts[k]
        if any(self.factor in dim for dim in self.results[i]):
            at = slice(part.start, part.stop)
            return part_of(dout, self.results[i], self.sizes, self.factor, at)
        if (shares := self.shares(i)) is not None:
            return dout * shares[k]
        if self.mark in ("max", "min"):
            values = np.stack([outputs[i] for outputs in self.outputs])
            hits = values == functools.reduce(JOINS[self.mark], values)
            return dout * hits[k] / hits.sum(0)
        return self.masked(dout, i, k)

    def gradient(self, i: int, gradients: Arrays) -> np.ndarray:
        """The gradient of input i of the whole: a sum where the input was the same for all parts."""
        dims = self.operands[i]
        full = [part.restored(g, dims) for part, g in zip(self.parts, gradients)]
        whole = joined(full, dims, [p.sizes for p in self.parts], self.factor)
        return functools.reduce(np.add, full) if whole is None else whole


# ---- the check ----------------------------------------------------------------------
def check_sharding(row: Row, case: Args, rule: dict | None = None) -> int:
    """Parts = whole, for values and gradients; how many cuts were tried. `rule`: in place of its own."""
    wide = engine.float64_case(row, case)
    differentiable = bool(row.grad) and wide is not None
    case = wide or case
    rule = rule or rule_of(row.name, case)
    assert rule is not None, f"{row.name} has no sharding rule"
    cuts = list(cuts_of(rule))
    if not cuts:
        return 0
    sharded = Sharded(row, case, rule)
    run = sharded.run(sharded.inputs, sharded.sizes, ())
    assert run is not None
    wanted, back = run
    random = np.random.default_rng(11)
    douts: Arrays = [
        random.uniform(0.5, 1.5, x.shape)
        if x.dtype == np.float64 and (sharded.outputs is None or i in sharded.outputs)
        else None
        for i, x in enumerate(wanted)
    ]
    differentiable = differentiable and bool(sharded.active) and any(d is not None for d in douts)
    gradients = back(douts) if differentiable else []
    tried = 0
    for cut in cuts:
        what = f"{row.name}({describe(case)}) in parts along {', '.join(cut)}"
        run = sharded.run(sharded.inputs, sharded.sizes, cut)
        if run is None:
            continue
        tried += 1
        found, back = run
        assert len(found) == len(wanted), f"{what}: {len(found)} results"
        for i, (x, w) in enumerate(zip(found, wanted)):
            same(f"{what}: result {i}", x, w, row, rule["seeded"])
        if not differentiable or rule["seeded"]:
            continue
        for i, (x, w) in enumerate(zip(back(douts), gradients)):
            if w is not None:
                same(f"{what}: gradient of input {i}", x, w, row, False)
    return tried


def same(what: str, found: np.ndarray, wanted: np.ndarray, row: Row, seeded: bool) -> None:
    """Shapes and types, and values but for random ones."""
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (
        f"{what}: {found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    )
    if not seeded:
        compare(what, found, wanted, row.tolerance(found.dtype))
