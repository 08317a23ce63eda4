"""Steps with a gradient that the user wrote, hooks on gradients, and calls that are run again rather than saved: the eager half,
and the checks that both modes share. While a graph is traced, mindspore.compile.walk.custom does the work."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._checked import checked
from mindspore.common._tree import flatten, rebuild, refill

FLOATS = (
    _core.float16,
    _core.bfloat16,
    _core.float32,
    _core.float64,
    _core.complex64,
    _core.complex128,
)


def has_tangent(x: Tensor) -> bool:
    """Whether derivatives pass through a tensor. Integers have them in their own type; what is true or false has none."""
    return x.dtype is not _core.bool


def invoke(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Calls a user's function; while tracing it is parsed."""
    if _core.is_tracing():
        return _late.compiler.call_in_trace(function, args, kwargs)
    return function(*args, **kwargs)


def zeros_like(x: Tensor) -> Tensor:
    """The gradient of what has no path."""
    from mindspore import ops

    return ops.zeros(tuple(x.shape), x.dtype)


def custom_call(
    name: str, forward: Callable, backward: Callable, args: tuple, parameters: list | None = None
) -> Any:
    """`forward(*args)`, whose gradient is what `backward(*args, out, dout)` returns: one gradient for each argument, and perhaps
    a dict of gradients of the `parameters`. To other tensors that `forward` reads on its own it is a constant."""
    parameters = parameters or []
    if _core.is_tracing():
        return _late.compiler.custom_in_trace(name, forward, backward, args, parameters)
    if not _core.is_recording():
        return forward(*args)
    with _core.NoRecord():
        value = forward(*args)
    held: list = []

    def rule(tangents: list) -> list:
        items = iter(tangents)
        dout = rebuild(held[0], lambda y: _or_zeros(next(items), y))
        given = match_gradients(name, backward(*args, held[0], dout), args, parameters)
        if transposing.on:
            _require_differentiable(given)
        return given

    outputs = flatten(value)
    made = _core.record_custom([*flatten(args), *parameters], outputs, rule) if outputs else None
    if made is None:
        return value
    held.append(refill(value, made))
    return held[0]


class _Transposing(threading.local):
    on = False  # gradients are computed in order to be differentiated by the tangents they start from


transposing = _Transposing()


def _require_differentiable(given: list) -> None:
    """What a user's gradient gives must come from the tangents, which are not zero, by recorded ops."""
    for gradient in given:
        if gradient is None or _core.is_recorded(gradient) or not bool((gradient != 0).any()):
            continue
        raise RuntimeError(
            "For 'jvp', a custom gradient must be differentiable in its last argument, the tangent of the output, "
            "but got one that Python computes."
        )


def _or_zeros(tangent: Tensor | None, of: Tensor) -> Tensor:
    return zeros_like(of) if tangent is None else tangent


def match_gradients(name: str, given: Any, args: tuple, parameters: list | tuple = ()) -> list:
    """The gradients that a user's function returned, one (or None) for each tensor in the arguments and each Parameter."""
    of_parameters: dict = {}
    with_parameters = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict)
    if len(args) == 2 and isinstance(args[1], dict):
        with_parameters = False
    if with_parameters and isinstance(given[0], (tuple, list)):
        given, of_parameters = given
    if len(args) == 1 and (
        isinstance(given, Tensor) or given is None or (_is_structure(args[0]) and len(given) != 1)
    ):
        given = (given,)
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"For '{name}', the gradients must be a tuple of {len(args)}, one for each input, but got "
            f"{type(given).__name__}."
        )
    if len(given) != len(args):
        raise ValueError(
            f"For '{name}', the number of gradients must be {len(args)}, one for each input, but got {len(given)}."
        )
    result: list = []
    for i, (gradient, argument) in enumerate(zip(given, args)):
        _match(name, f"the gradient of input {i}", gradient, argument, result)
    by_key = {getattr(key, "name", key): value for key, value in of_parameters.items()}
    for p in parameters:
        _match(name, f"the gradient of '{p.name}'", by_key.pop(p.name, None), p, result)
    if by_key:
        raise ValueError(f"For '{name}', there is no Parameter {next(iter(by_key))!r} in the cell.")
    return result


def _is_structure(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict))


def _match(name: str, what: str, gradient: Any, of: Any, result: list) -> None:
    if isinstance(of, Tensor):
        result.append(_as_tangent(name, what, gradient, of))
    elif isinstance(of, (tuple, list, dict)):
        items = list(of.values()) if isinstance(of, dict) else of
        if gradient is None or not flatten(of):
            result.extend([None] * len(flatten(of)))
            return
        if isinstance(gradient, dict) and isinstance(of, dict) and set(gradient) == set(of):
            gradient = [gradient[key] for key in of]
        if not isinstance(gradient, (tuple, list)) or len(gradient) != len(items):
            got = len(gradient) if isinstance(gradient, (tuple, list)) else type(gradient).__name__
            raise ValueError(
                f"For '{name}', {what} must have {len(items)} items as the input has, but got {got}."
            )
        for i, (part, item) in enumerate(zip(gradient, items)):
            _match(name, f"{what}, item {i},", part, item, result)


def _as_tangent(name: str, what: str, gradient: Any, of: Tensor) -> Tensor | None:
    from mindspore import ops

    if gradient is None or not has_tangent(of):
        return None
    if isinstance(gradient, (int, float)) and of.ndim == 0:
        gradient = ops.full_like(of, gradient)
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"For '{name}', {what} must be a Tensor or None, but got {type(gradient).__name__}."
        )
    if tuple(gradient.shape) != tuple(of.shape):
        raise ValueError(
            f"For '{name}', {what} must have the shape {tuple(of.shape)} of the input, but got "
            f"{tuple(gradient.shape)}."
        )
    return gradient if gradient.dtype is of.dtype else ops.cast(gradient, of.dtype)


# ---- hooks --------------------------------------------------------------------------------------------------------------
def hook_gradient(name: str, hook: Callable, xs: tuple) -> tuple:
    """Tensors whose gradients go through `hook(gradients)`."""

    def backward(*inputs: Any) -> Any:
        return replace_gradients(name, invoke(hook, inputs[-1]), inputs[-1])

    return custom_call(name, lambda *inputs: inputs, backward, xs)


def replace_gradients(name: str, replaced: Any, gradients: tuple) -> tuple:
    """What a hook on several gradients returned, as a tuple of the same length; None leaves them as they are."""
    if replaced is None:
        return gradients
    if len(gradients) == 1 and not isinstance(replaced, (tuple, list)):
        return (replaced,)
    if not isinstance(replaced, (tuple, list)):
        raise TypeError(
            f"For '{name}', a hook must return None or a tuple of {len(gradients)} gradients, but got "
            f"{type(replaced).__name__}."
        )
    if len(replaced) != len(gradients):
        raise TypeError(
            f"For '{name}', a hook must return {len(gradients)} gradients, but got {len(replaced)}."
        )
    return tuple(replaced)


class TensorHook:
    """A hook on the gradient of a tensor, and the handle that takes it off."""

    def __init__(self, hook: Callable, parameter: Tensor | None = None):
        self.hook: Callable | None = hook
        self._parameter = parameter

    def __call__(self, gradient: Tensor) -> Tensor | None:
        if self.hook is None:
            return None
        replaced = self.hook(gradient)
        if replaced is None:
            return None
        return _as_tangent("register_hook", "what the hook returns", replaced, gradient)

    def remove(self) -> None:
        """Take the hook off."""
        self.hook = None
        if self._parameter is not None:
            state = self._parameter.__dict__
            state["_gradient_hooks"] = [h for h in state["_gradient_hooks"] if h is not self]


@checked
def register_hook(self: Tensor, hook: Callable) -> Any:
    """Calls `hook(gradient)` when the gradient of this tensor is complete; what it returns, unless None, replaces the gradient.

    The hook of a Parameter stays; that of another tensor is for the gradient under way. Returns a handle with `remove()`.
    """
    if self.is_symbolic:
        return _late.compiler.hook_in_trace(self, hook)
    if isinstance(self, _late.parameter_class):
        handle = TensorHook(hook, self)
        self.__dict__["_gradient_hooks"] = [*self.__dict__.get("_gradient_hooks", ()), handle]
        return handle
    handle = TensorHook(hook)
    _core.hook_tangent(self, handle)
    return handle


def hooked_weight(parameter: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of a Parameter after its hooks."""
    for handle in getattr(parameter, "_gradient_hooks", ()):
        replaced = invoke(handle.hook, gradient)
        if replaced is not None:
            made = _as_tangent("register_hook", "what the hook returns", replaced, gradient)
            gradient = gradient if made is None else made
    return gradient


Tensor.register_hook = register_hook  # type: ignore[attr-defined]


def hooked_call(name: str, cell: Any, run: Callable, args: tuple, before: list, after: list) -> Any:
    """`run(*args)` with hooks on the gradients of its results (`before`) and its inputs (`after`)."""
    if _core.is_tracing():
        return _late.compiler.hooked_in_trace(name, cell, run, args, before, after)
    if not _core.is_recording():
        return run(*args)
    seen: list = []  # the gradients of the results, on their way to the hooks on those of the inputs
    leaves = flatten(args)
    tracked = any(_core.is_recorded(t) for t in leaves)

    def at_inputs(*rest: Any) -> tuple:
        douts = seen.pop() if seen else tuple(map(zeros_like, results))
        return input_hooks(name, cell, after, rest[-1], douts)

    def at_outputs(*rest: Any) -> tuple:
        douts = output_hooks(name, cell, before, rest[-1])
        if tracked:
            seen.append(douts)
        else:
            input_hooks(name, cell, after, (None,) * len(leaves), douts)
        return douts

    entered = custom_call(name, lambda *x: x, at_inputs, tuple(leaves))
    value = run(*refill(args, entered))
    results = flatten(value)
    return refill(value, custom_call(name, lambda *x: x, at_outputs, tuple(results)))


def output_hooks(name: str, cell: Any, hooks: list, douts: tuple) -> tuple:
    """The gradients of a cell's results after the hooks registered before its backward pass."""
    for hook in hooks:
        douts = replace_gradients(name, invoke(hook, cell, douts), douts)
    return douts


def input_hooks(name: str, cell: Any, hooks: list, dx: tuple, douts: tuple) -> tuple:
    """The gradients of a cell's inputs after its backward hooks."""
    for hook in hooks:
        dx = replace_gradients(name, invoke(hook, cell, dx, douts), dx)
    return dx


# ---- calls that are run again ---------------------------------------------------------------------------------------------
@contextlib.contextmanager
def _drawing_alone(state: tuple[int, int]) -> Iterator[None]:
    """Ops draw what comes behind a state, whatever other threads draw meanwhile; afterwards they have drawn that."""
    own = _core.RandomState(*state)
    outside = _core.draw_from(own)
    try:
        yield
    finally:
        left = _core.draw_from(outside)
        if left is own:
            _core.skip_random(own.at[1] - state[1])
        else:  # a seed was set meanwhile
            _core.set_random_state(*left.at)


def recomputed_call(name: str, run: Callable, args: tuple, parameters: list) -> Any:
    """`run(*args)`; its gradient runs it again, on the same random numbers, instead of keeping what it computed."""
    if _core.is_tracing():
        return _late.compiler.recompute_in_trace(name, run, args)
    if not _core.is_recording():
        return run(*args)
    state = _core.get_random_state()
    before = _core.Snapshot(parameters)
    mark = _core.tape_size()
    with _core.EachOp(), _drawing_alone(state):  # as when it runs again
        value = run(*args)
    before.keep_changed()
    results = flatten(value)

    def again() -> list:
        outside = _core.draw_from(_core.RandomState(*state))
        try:
            with before:
                return [*flatten(run(*args)), *before.values()]
        finally:
            _core.draw_from(outside)

    made = _core.record_again(name, mark, [*results, *before.values()], again)
    before.adopt(made[len(results) :])
    return refill(value, made)


@checked
def recompute(block: Any, *args: Any, **kwargs: Any) -> Any:
    """`block(*args, **kwargs)`, whose inside is computed again in the backward pass rather than kept.

    Args:
        block: a Cell.
        args: its inputs; tensors among them get gradients.
        kwargs: its keywords.
    """
    for option in ("use_reentrant", "output_recompute", "early_stop", "context_fn"):
        kwargs.pop(option, None)
    if not isinstance(block, _late.cell_class):
        raise TypeError(f"For 'recompute', 'block' must be a Cell, but got {type(block).__name__}.")
    return recomputed_call(
        type(block).__name__,
        lambda *inputs: invoke(block, *inputs, **kwargs),
        args,
        list(block.get_parameters()),
    )
