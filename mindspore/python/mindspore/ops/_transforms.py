"""Derivatives as functions of functions: jvp, vjp and the Jacobians. Compiled code has ops for them. Eager code compiles the
whole transform (vjp in GRAPH_MODE only); while a gradient is being recorded, and where the function cannot be compiled, it
runs the definitions below: forward mode as the reverse of the reverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._boundary import boundary
from mindspore.common._checked import checked
from mindspore.common._kinds import Ints
from mindspore.common._tree import flatten, refill
from mindspore.ops._custom import FLOATS, has_tangent, transposing
from mindspore.ops._grad import ones_like, zeros_like
from mindspore.ops._vmap import apply, enter, name_of, over_items, runs_as_written


# ---- the two directions -------------------------------------------------------------------------------------------------
def _forward(call: Callable, primals: list, tangents: list) -> tuple[Any, list]:
    """The value of `call(primals)` and a tangent for each tensor in it."""
    if _core.is_tracing():
        return _late.compiler.jvp_in_trace(call, primals, tangents)
    moving = [i for i, p in enumerate(primals) if has_tangent(p)]
    outer = _core.GradScope()
    try:
        inner = _core.GradScope()
        try:
            tracked = list(primals)
            for i in moving:
                tracked[i] = inner.track(primals[i])
            places = [inner.place(tracked[i]) for i in moving]
            value = call(tracked)
            leaves = flatten(value)
            # The gradient of <y, u> is linear in u: its own gradient for u maps tangents forward.
            weights = {k: outer.track(ones_like(y)) for k, y in enumerate(leaves) if has_tangent(y)}
            total: Any = None
            for k, u in weights.items():
                term = (leaves[k] * u).sum()
                total = term if total is None else total + term.astype(total.dtype)
        finally:
            inner.close()
        transposing.on, before = True, transposing.on
        try:
            known = [] if total is None else inner.gradient([total], [ones_like(total)], places)
        finally:
            transposing.on = before
        pairs = [(g, tangents[i]) for g, i in zip(known, moving) if g is not None]
    finally:
        outer.close()
    places = [outer.place(u) for u in weights.values()]
    found = outer.gradient([g for g, _ in pairs], [t for _, t in pairs], places) if pairs else []
    by_leaf = dict(zip(weights, found))
    return value, [
        zeros_like(y) if by_leaf.get(k) is None else by_leaf[k] for k, y in enumerate(leaves)
    ]


def _reverse(call: Callable, primals: list, weights: list) -> tuple[Any, Callable]:
    """The value of `call(primals)`, and what maps tangents of its tensors to gradients of primals and weights."""
    if _core.is_tracing():
        return _late.compiler.vjp_in_trace(call, primals, weights)
    scope = _core.GradScope()
    try:
        tracked = [scope.track(p) if has_tangent(p) else p for p in primals]
        for w in weights:
            scope.track_parameter(w)
        places = [scope.place(t) for t in (*tracked, *weights)]
        value = call(tracked)
        outputs = [scope.place(y) for y in flatten(value) if has_tangent(y)]
    finally:
        scope.close()
    targets = [*primals, *weights]

    def pull(tangents: list) -> list:
        found = scope.pull(outputs, tangents, places)
        return [zeros_like(t) if g is None else g for t, g in zip(targets, found)]

    return value, pull


# ---- arguments ----------------------------------------------------------------------------------------------------------
def _listed(value: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else list(value)


def _split_aux(name: str, value: Any, has_aux: bool) -> tuple[Any, Any]:
    """The part of a value that is differentiated, and the rest."""
    if not has_aux:
        return value, None
    if not isinstance(value, (tuple, list)) or len(value) < 2:
        raise ValueError(
            f"For '{name}', a function with has_aux=True must return at least two values, but got {type(value).__name__}."
        )
    return value[0], value[1] if len(value) == 2 else tuple(value[1:])


def _match(name: str, what: str, tangent: Any, of: Tensor) -> Tensor:
    """A tangent that fits its value."""
    if not isinstance(tangent, Tensor):
        raise TypeError(f"For '{name}', {what} must be a Tensor, but got {type(tangent).__name__}.")
    if tuple(tangent.shape) != tuple(of.shape):
        raise ValueError(
            f"For '{name}', {what} must have the shape {tuple(of.shape)} of what it is the tangent of, but got "
            f"{tuple(tangent.shape)}."
        )
    if tangent.dtype is not of.dtype and of.dtype not in FLOATS:
        return tangent.astype(of.dtype)
    if tangent.dtype is not of.dtype:
        raise TypeError(
            f"For '{name}', {what} must have the dtype {of.dtype} of what it is the tangent of, but got {tangent.dtype}."
        )
    return tangent


# ---- jvp and vjp --------------------------------------------------------------------------------------------------------
@checked
def linearize(fn: Callable, inputs: Tensor | Sequence[Tensor]) -> tuple:
    """The value of `fn` at `inputs`, and a function of tangents that gives its derivative there along them."""

    def along(v: Any) -> Any:
        return jvp(fn, inputs, v)[1]

    return apply(fn, _listed(inputs)), along


@checked
@boundary
def jvp(
    fn: Callable,
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor],
    has_aux: bool = False,
) -> tuple:
    """The value of `fn`, and its derivative at `inputs` along `v` (forward mode).

    Args:
        fn: a function or Cell of tensors.
        inputs: a Tensor, or a tuple or list of Tensors: the arguments.
        v: one tangent for each of them, of its shape and dtype.
        has_aux: `fn` returns (value, *others); only the value is differentiated, the others are returned beside.

    Returns:
        (value, tangent), and the others with has_aux.
    """

    def body(inputs: Any, v: Any) -> tuple:
        primals, tangents = _listed(inputs), _listed(v)
        if len(primals) != len(tangents):
            raise ValueError(
                f"For 'jvp', 'v' must have one tangent for each of the {len(primals)} inputs, but got {len(tangents)}."
            )
        for i, (p, t) in enumerate(zip(primals, tangents)):
            if not has_tangent(p):
                raise TypeError(
                    f"For 'jvp', input {i} must not be of dtype Bool to have a tangent, but got {p.dtype}."
                )
            _match("jvp", f"tangent {i}", t, p)
        value, found = _forward(lambda xs: apply(fn, xs), primals, tangents)
        out, aux = _split_aux("jvp", value, has_aux)
        moved = refill(out, found)
        return (out, moved, aux) if has_aux else (out, moved)

    return enter(fn, ("jvp", has_aux), body, (inputs, v))


class PullBack:
    """What `vjp` returns beside the value: maps tangents of the value to gradients of the inputs."""

    def __init__(self, out: Any, leaves: list, pull: Callable, count: int, weights: Any):
        self.out, self.leaves, self.pull, self.count = out, leaves, pull, count
        self.weights = weights

    @boundary
    def __call__(self, *tangents: Any) -> tuple:
        wanted = flatten(self.out)
        given = flatten(tangents)
        for t in tangents:
            if not isinstance(t, (Tensor, tuple, list, dict)):
                raise TypeError(
                    f"For 'vjp', a tangent must be a Tensor, or a structure of Tensors, but got {type(t).__name__}."
                )
        if len(given) != len(wanted):
            raise ValueError(
                f"For 'vjp', the function that maps tangents back takes {len(wanted)} of them, one for each output, but "
                f"got {len(given)}."
            )
        known = [
            _match("vjp", f"tangent {i}", t, y)
            for i, (t, y) in enumerate(zip(given, wanted))
            if has_tangent(y)
        ]
        rest = [zeros_like(y) for y in self.leaves[len(wanted) :] if has_tangent(y)]
        found = self.pull([*known, *rest])
        of_inputs, of_weights = tuple(found[: self.count]), tuple(found[self.count :])
        if self.weights is None:
            return of_inputs
        return of_inputs, of_weights[0] if isinstance(self.weights, Tensor) else of_weights


@checked
@boundary
def vjp(
    fn: Callable,
    *inputs: Tensor,
    weights: Tensor | Sequence[Tensor] | None = None,
    has_aux: bool = False,
) -> tuple:
    """The value of `fn`, and the function that maps a tangent of the value to gradients of the inputs (reverse mode).

    Args:
        fn: a function or Cell of tensors.
        inputs: the arguments.
        weights: a Parameter, or a list or ParameterTuple of them, whose gradients are returned too.
        has_aux: `fn` returns (value, *others); only the value is differentiated, the others are returned beside.

    Returns:
        (value, function), and the others with has_aux. The function takes a tangent for each tensor of the value and returns
        the tuple of gradients of the inputs; with weights, the pair of these and those of the weights.
    """
    primals = list(inputs)
    listed = [] if weights is None else _listed(weights)

    def call(xs: list) -> Any:
        return apply(fn, xs)

    if _core.graph_mode() and not runs_as_written():
        value, pull = _late.compiler.run_vjp(fn, call, primals, listed, _reverse)
    else:
        value, pull = _reverse(call, primals, listed)
    out, aux = _split_aux("vjp", value, has_aux)
    back = PullBack(out, flatten(value), pull, len(primals), weights)
    return (out, back, aux) if has_aux else (out, back)


# ---- Jacobians ----------------------------------------------------------------------------------------------------------
class Jacobian:
    """What `jacfwd` and `jacrev` return."""

    is_transform = True

    def __init__(self, name: str, fn: Callable, positions: tuple, has_aux: bool):
        self.name, self.fn, self.positions, self.has_aux = name, fn, positions, has_aux
        self._transform_key = (name, positions, has_aux)
        self.__name__ = f"{name}({name_of(fn)})"

    @boundary
    def __call__(self, *args: Any) -> Any:
        for p in self.positions:
            if p >= len(args):
                raise ValueError(
                    f"For '{self.name}', 'grad_position' must be in [0, {len(args)}), since the function got {len(args)} "
                    f"arguments, but got {p}."
                )
            if not isinstance(args[p], Tensor) or not has_tangent(args[p]):
                got = args[p].dtype if isinstance(args[p], Tensor) else type(args[p]).__name__
                raise TypeError(
                    f"For '{self.name}', argument {p} must be a Tensor of numbers, but got {got}."
                )
        return enter(self.fn, self._transform_key, self._body, args)

    def _body(self, *args: Any) -> Any:
        def at(xs: list) -> Any:
            given = list(args)
            for p, x in zip(self.positions, xs):
                given[p] = x
            return apply(self.fn, given)

        primals = [args[p] for p in self.positions]
        rows, value = (self._columns if self.name == "jacfwd" else self._rows)(at, primals)
        out, aux = _split_aux(self.name, value, self.has_aux)
        result = refill(out, (row[0] if len(row) == 1 else tuple(row) for row in rows))
        return (result, aux) if self.has_aux else result

    def _columns(self, at: Callable, primals: list) -> tuple[list, Any]:
        """By output, then by input: forward along each element of the inputs."""
        from mindspore import ops

        value = at(primals)
        count = len(flatten(_split_aux(self.name, value, self.has_aux)[0]))
        rows: list[list] = [[] for _ in range(count)]
        for k, x in enumerate(primals):

            def along(v: list, k: int = k, x: Tensor = x) -> list:
                def only(xs: list) -> Any:
                    return at([*primals[:k], *xs, *primals[k + 1 :]])

                return _forward(only, [x], v)[1]

            for row, column in zip(rows, _over_basis(along, x)):
                last = ops.moveaxis(column, 0, -1)
                shape = (*tuple(column.shape)[1:], *tuple(x.shape))
                row.append(ops.reshape(last, shape))
        return rows, value

    def _rows(self, at: Callable, primals: list) -> tuple[list, Any]:
        """By output, then by input: backward from each element of the outputs."""
        from mindspore import ops

        value, pull = _reverse(at, primals, [])
        count = len(flatten(_split_aux(self.name, value, self.has_aux)[0]))
        leaves = flatten(value)
        rows = []
        for k, y in enumerate(leaves[:count]):

            def back(v: list, k: int = k) -> list:
                moving = [
                    v[0] if i == k else zeros_like(leaf)
                    for i, leaf in enumerate(leaves)
                    if has_tangent(leaf)
                ]
                return pull(moving)

            found = _over_basis(back, y)
            rows.append(
                [ops.reshape(g, (*tuple(y.shape), *tuple(x.shape))) for g, x in zip(found, primals)]
            )
        return rows, value


def _over_basis(call: Callable, x: Tensor) -> list:
    """`call([v])` for each v that is one in one element of x and zero elsewhere; results along a new first axis."""
    from mindspore import ops

    basis = ops.reshape(ops.eye(x.size, x.size, x.dtype), (x.size, *tuple(x.shape)))
    return flatten(over_items(call, [basis], [0], x.size, lambda value: [0] * len(flatten(value))))


def _jacobian(name: str, fn: Callable, grad_position: Ints, has_aux: bool) -> Jacobian:
    positions = (grad_position,) if isinstance(grad_position, int) else tuple(grad_position)
    for p in positions:
        if p < 0:
            raise ValueError(f"For '{name}', 'grad_position' must not be negative, but got {p}.")
    if not positions or len(set(positions)) != len(positions):
        raise ValueError(
            f"For '{name}', 'grad_position' must be different positions, but got {grad_position!r}."
        )
    return Jacobian(name, fn, positions, has_aux)


@checked
def jacfwd(fn: Callable, grad_position: Ints = 0, has_aux: bool = False) -> Jacobian:
    """The function that returns the Jacobian of `fn` by forward mode, for few inputs and many outputs.

    Args:
        fn: a function or Cell of tensors.
        grad_position: the argument, or a tuple of arguments, to differentiate by.
        has_aux: `fn` returns (value, *others); only the value is differentiated, the others are returned beside.

    Returns:
        A function of the same arguments. It gives a tensor of the shape of the value followed by that of the argument; a tuple
        of them over arguments where there are several, in the structure of the value.
    """
    return _jacobian("jacfwd", fn, grad_position, has_aux)


@checked
def jacrev(fn: Callable, grad_position: Ints = 0, has_aux: bool = False) -> Jacobian:
    """The function that returns the Jacobian of `fn` by reverse mode, for many inputs and few outputs; see `jacfwd`."""
    return _jacobian("jacrev", fn, grad_position, has_aux)
