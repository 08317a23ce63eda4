"""Gradients as functions of functions: GradOperation of the first releases, grad and value_and_grad of the later ones. All
are one class, GradFunction; eager mode runs it on a tape, compiled mode builds it into the graph."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._checked import checked
from mindspore.common._kinds import Ints
from mindspore.common._mutable import MUTABLE
from mindspore.common._tree import flatten, rebuild
from mindspore.ops import _custom
from mindspore.ops._custom import has_tangent, zeros_like

__path__: list[str] = []  # `mindspore.ops._grad.grad_base` is a path of older scripts


def ones_like(x: Tensor) -> Tensor:
    """The tangent a result starts from when none is given."""
    from mindspore import ops

    return ops.ones(tuple(x.shape), x.dtype)


class GradFunction:
    """`fn`, but calling it gives gradients (and, where asked, the value)."""

    def __init__(
        self,
        fn: Callable,
        positions: int | tuple | None,
        weights: Any,
        *,
        sens_param: bool = False,
        has_aux: bool = False,
        with_value: bool = False,
        return_ids: bool = False,
        name: str = "grad",
    ):
        self.fn, self.positions, self.weights = fn, positions, weights
        self.sens_param, self.has_aux, self.with_value = sens_param, has_aux, with_value
        self.return_ids, self.name = return_ids, name
        self.__name__ = f"{name}({getattr(fn, '__name__', type(fn).__name__)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _core.is_tracing():
            return _late.compiler.grad_in_trace(self, args, kwargs)
        compiled = _core.graph_mode() or getattr(type(self.fn), "_ms_compiled", False)
        try:
            if compiled and not _core.is_recording() and not has_record(self.fn, args):
                return _late.compiler.run_grad(self, args, kwargs)
            return self._run_eager(args, kwargs)
        except Exception as error:
            _late.compiler.hide(error)
            del args, kwargs  # the frames that are left know this one
            raise

    def settings(self) -> tuple:
        """What is asked for, beside which function and which weights."""
        results = (self.has_aux, self.with_value, self.return_ids)
        return (self.name, self.positions, self.sens_param, *results)

    # ---- shared by both modes --------------------------------------------------------------------------------------
    def split_sens(self, args: tuple) -> tuple[tuple, Any]:
        """The arguments of `fn`, and the tangent that came as the last argument."""
        if not self.sens_param:
            return args, None
        if len(args) < 1:
            raise TypeError(
                f"For '{self.name}', the last argument must be the sensitivity (sens_param=True), but got no arguments."
            )
        return args[:-1], args[-1]

    def wanted(self, args: tuple) -> tuple[int, ...]:
        """Positions of the arguments whose gradients are returned."""
        if self.positions is None:
            return ()
        if self.positions == "all":
            return tuple(i for i, a in enumerate(args) if _has_gradient(a))
        positions = (self.positions,) if isinstance(self.positions, int) else self.positions
        for p in positions:
            if args and p >= len(args):
                raise ValueError(
                    f"For '{self.name}', 'grad_position' must be in [0, {len(args)}), since the function got "
                    f"{len(args)} arguments, but got {p}."
                )
        return tuple(p for p in positions if p < len(args) and _has_gradient(args[p]))

    def weight_list(self) -> list:
        """The Parameters whose gradients are returned."""
        if self.weights is None:
            return []
        weights = [self.weights] if isinstance(self.weights, Tensor) else list(self.weights)
        for w in weights:
            if not isinstance(w, _late.parameter_class):
                raise TypeError(
                    f"For '{self.name}', 'weights' must be Parameters, but got {type(w).__name__}."
                )
        return weights

    def tangents(self, outputs: list, sens: Any) -> list:
        """One tangent per differentiated output."""
        if sens is None:
            return [ones_like(o) for o in outputs]
        from mindspore import ops

        given = flatten(sens) if not isinstance(sens, (int, float)) else [sens] * len(outputs)
        if len(given) != len(outputs):
            raise ValueError(
                f"For '{self.name}', the sensitivity must have {len(outputs)} tensors, one for each output of the "
                f"function, but got {len(given)}."
            )
        result = []
        for tangent, output in zip(given, outputs):
            if not isinstance(tangent, Tensor):
                tangent = ops.full_like(output, tangent)
            if tuple(tangent.shape) != tuple(output.shape):
                if tangent.size != 1 or output.size != 1:
                    raise ValueError(
                        f"For '{self.name}', the sensitivity must have the shape of the output, "
                        f"{tuple(output.shape)}, but got {tuple(tangent.shape)}."
                    )
                tangent = ops.reshape(tangent, tuple(output.shape))
            result.append(
                tangent if tangent.dtype is output.dtype else ops.cast(tangent, output.dtype)
            )
        return result

    def arrange(self, wanted: tuple, inputs: list, weights: list, value: Any) -> Any:
        """The structure that the caller asked for: gradients of the inputs at the places `wanted`, of the weights, or a pair."""
        of_inputs, of_weights = inputs, weights
        if self.return_ids:
            of_inputs = list(zip(wanted, inputs))
            of_weights = [(w.name, g) for w, g in zip(self.weight_list(), weights)]
        first: Any = tuple(of_inputs)
        if self.positions != "all" and len(first) == 1:
            first = first[0]
        second: Any = of_weights[0] if isinstance(self.weights, Tensor) else tuple(of_weights)
        if self.weights is None:
            result = first
        else:
            result = second if self.positions is None else (first, second)
        if self.with_value:
            return value, result
        return (result, tuple(value[1:])) if self.has_aux else result

    def differentiated(self, value: Any) -> list:
        """The outputs that tangents are given for."""
        if self.has_aux:
            if not isinstance(value, (tuple, list)) or len(value) < 2:
                raise ValueError(
                    f"For '{self.name}', a function with has_aux=True must return at least two values, but got "
                    f"{type(value).__name__}."
                )
            value = value[0]
        outputs = flatten(value)
        if not outputs and not _holds_number(value):
            raise TypeError(
                f"For '{self.name}', the function must return a Tensor, but got {type(value).__name__}."
            )
        return outputs

    # ---- eager -----------------------------------------------------------------------------------------------------
    def _run_eager(self, args: tuple, kwargs: dict) -> Any:
        args, sens = self.split_sens(args)
        weights = self.weight_list()
        trained = [w for w in weights if w.requires_grad]
        record = None if kwargs else take_record(self.fn, args)
        wanted = self.wanted(args)
        if record is None:
            record = Record(self.fn, args, kwargs, wanted, trained)
        outputs = self.differentiated(record.value)
        places = [place for i in wanted for place in record.argument_places(i)]
        first_weight = len(places)
        places += [record.weight_place(w) for w in trained]
        gradients = record.scope.gradient(outputs, self.tangents(outputs, sens), places)
        of_weight = dict(zip(map(id, trained), gradients[first_weight:]))
        of_inputs = iter(gradients)
        return self.arrange(
            wanted,
            [argument_gradient(args[i], of_inputs) for i in wanted],
            [weight_gradient(of_weight.get(id(w)), w) for w in weights],
            record.value,
        )


def or_zeros(gradient: Tensor | None, of: Tensor) -> Tensor:
    """A gradient, where there is no path zeros."""
    return zeros_like(of) if gradient is None else gradient


def argument_gradient(argument: Any, gradients: Iterator) -> Any:
    """The gradient of an argument, from those of its tensors: of a structure one like it, with zeros for numbers."""
    if isinstance(argument, Tensor):
        return or_zeros(next(gradients), argument)
    if isinstance(argument, dict):
        return {k: argument_gradient(v, gradients) for k, v in argument.items()}
    if isinstance(argument, (tuple, list)):
        kind = list if isinstance(argument, list) else tuple
        return kind([argument_gradient(v, gradients) for v in argument])
    return type(argument)(0)


def _has_gradient(argument: Any) -> bool:
    """Tensors have, and structures that `mutable` marked."""
    return isinstance(argument, (Tensor, *MUTABLE))


def weight_gradient(gradient: Tensor | None, of: Tensor) -> Tensor:
    """The gradient of a Parameter; its hooks see it where there is a path."""
    return zeros_like(of) if gradient is None else _custom.hooked_weight(of, gradient)


def _holds_number(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_number, value))
    return isinstance(value, (int, float))


class Record:
    """One forward run on a tape."""

    def __init__(self, fn: Callable, args: tuple, kwargs: dict, tracked: Any, weights: list):
        self.args = args
        self.scope = _core.GradScope(once=True)
        try:
            self._places: dict[int, list] = {}
            self._weights: dict[int, Any] = {}
            call = list(args)
            for i in tracked:
                call[i] = rebuild(args[i], self.scope.track)
                self._places[i] = [self.scope.place(t) for t in flatten(call[i])]
            for w in weights:
                self.scope.track_parameter(w)
                self._weights[id(w)] = self.scope.place(w)
            self.value = fn(*call, **kwargs)
            for shown in flatten(self.value):
                self.scope.place(
                    shown
                )  # a view takes what was written to its base while that is recorded
        finally:
            self.scope.close()

    def argument_places(self, i: int) -> list:
        """Where the tensors of argument i stand on the tape."""
        return self._places[i]

    def weight_place(self, w: Tensor) -> Any:
        """Where a Parameter stood when the run began."""
        place = self._weights.get(id(w))
        return self.scope.place(w) if place is None else place


# The last forward run, in this thread, of a cell that was told `set_grad()`: a gradient of it on the same inputs reuses it.
class _Last(threading.local):
    record: tuple[Any, Record] | None = None


_last = _Last()


def record_cell(cell: Any, construct: Callable, args: tuple, kwargs: dict) -> Any:
    """Runs a cell and remembers the run for a gradient of the same cell and inputs."""
    if kwargs:
        return construct(*args, **kwargs)
    tracked = [
        i for i, a in enumerate(args) if _has_gradient(a) and any(map(has_tangent, flatten(a)))
    ]
    record = Record(construct, args, kwargs, tracked, cell.trainable_params())
    _last.record = (cell, record)
    return record.value


def has_record(fn: Any, args: tuple) -> bool:
    """Whether the last run that was remembered is one of `fn` on arguments that these begin with."""
    if _last.record is None or _last.record[0] is not fn:
        return False
    known = _last.record[1].args
    return len(known) <= len(args) and all(a is b for a, b in zip(known, args))


def take_record(fn: Any, args: tuple) -> Record | None:
    """The remembered run of `fn` on these very arguments, if it is the last one; it serves once."""
    if _last.record is None or _last.record[0] is not fn or _core.is_recording():
        return None
    record = _last.record[1]
    _last.record = None
    same = len(record.args) == len(args) and all(a is b for a, b in zip(record.args, args))
    return record if same else None


def _after_a_name(construct: Callable) -> Callable:
    """A constructor in front of whose arguments a name may stand, which says nothing."""

    @functools.wraps(construct)
    def named(self: Any, *args: Any, name: str = "", **kwargs: Any) -> None:
        del name
        construct(self, *args[isinstance(next(iter(args), None), str) :], **kwargs)

    return named


class GradOperation:
    """The gradient transform of the first releases; see `grad` for the function form.

    Args:
        get_all: gradients of all inputs, as a tuple, rather than of the first one.
        get_by_list: gradients of the given Parameters.
        sens_param: the call takes the tangent of the output as its last argument.

    The first releases gave it a name in front of these; it is accepted there, and as `name`.
    """

    @_after_a_name
    @checked
    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False):
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    @checked
    def __call__(self, fn: Callable, weights: Any = None) -> GradFunction:
        if self.get_by_list and weights is None:
            weights = fn.trainable_params() if hasattr(fn, "trainable_params") else ()
        positions: Any = "all" if self.get_all else (None if self.get_by_list else 0)
        return GradFunction(
            fn,
            positions,
            weights if self.get_by_list else None,
            sens_param=self.sens_param,
            name="GradOperation",
        )


def _check_positions(name: str, position: Ints | None, weights: Any) -> Any:
    if position is None:
        if weights is None:
            raise ValueError(f"For '{name}', 'grad_position' and 'weights' must not both be None.")
        return None
    items = (position,) if isinstance(position, int) else position
    if not items or min(items) < 0:
        raise ValueError(
            f"For '{name}', 'grad_position' must not be empty or negative, but got {position!r}."
        )
    if len(set(items)) != len(items):
        raise ValueError(f"For '{name}', 'grad_position' must not repeat, but got {position!r}.")
    return position if isinstance(position, int) else tuple(items)


@checked
def grad(
    fn: Callable,
    grad_position: Ints | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
) -> GradFunction:
    """The function that returns the gradients of `fn` (summed over its outputs).

    Args:
        fn: a function or Cell of tensors.
        grad_position: an input position, a tuple of them, or None for none.
        weights: a Parameter, or a list or ParameterTuple of them, whose gradients are returned too.
        has_aux: `fn` returns (value, *others); only the value is differentiated, the others are returned beside the gradients.
        return_ids: each gradient comes with its position or Parameter name.
    """
    return GradFunction(
        fn,
        _check_positions("grad", grad_position, weights),
        weights,
        has_aux=has_aux,
        return_ids=return_ids,
    )


@checked
def value_and_grad(
    fn: Callable,
    grad_position: Ints | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
) -> GradFunction:
    """The function that returns (value of `fn`, gradients); arguments as for `grad`."""
    return GradFunction(
        fn,
        _check_positions("value_and_grad", grad_position, weights),
        weights,
        has_aux=has_aux,
        with_value=True,
        return_ids=return_ids,
        name="value_and_grad",
    )


@checked
def get_grad(gradients: tuple, identifier: int | Tensor) -> Any:
    """Picks one gradient, by position or Parameter, out of what `grad(..., return_ids=True)` returned."""
    key = identifier.name if isinstance(identifier, _late.parameter_class) else identifier

    def search(item: Any) -> Any:
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], (int, str)):
            return item[1] if item[0] == key else None
        found = (search(i) for i in item) if isinstance(item, tuple) else ()
        return next((f for f in found if f is not None), None)

    result = search(gradients)
    if result is None:
        raise ValueError(f"For 'get_grad', there is no gradient for {key!r}.")
    return result
