"""Calls that are not parsed: library code on traced values, plain Python on values that are known, watched for what it changes, and
what neither can do between two graphs."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import listed, of_program
from mindspore.compile.program.errors import Inseparable, Unsupported
from mindspore.compile.values import effects, foreign
from mindspore.compile.values import guards as facts
from mindspore.compile.values.foreign import MUTATING, READING, Does, looks_at_frames
from mindspore.compile.values.host_values import HostValue, has_host
from mindspore.compile.values.numbers import NumberDecides, holds_number
from mindspore.compile.values.stand_ins import is_unknown, needs_value
from mindspore.compile.values.structure import (
    contents_of,
    holds,
    nodes,
    replace_leaves,
    same_contents,
    set_contents,
)
from mindspore.compile.walk.operations import Operations


def _is_of_package(function: Any) -> bool:
    """Ops and other functions of this package, and Tensor, but no methods."""
    own = foreign.module_of(function).partition(".")[0] == "mindspore" or function is Tensor
    return own and getattr(function, "__self__", None) is None


class PlainCalls(Operations):
    """A storey of Tracer."""

    def run_call(self, function: Any, args: list, kwargs: dict) -> Any:
        """Plain Python on values that are known, library code on traced ones, and what neither can do in between two graphs."""
        return self.split_arguments(args, kwargs, lambda a, k: self._run_known(function, a, k))

    def _run_known(self, function: Any, args: list, kwargs: dict) -> Any:
        for value in args:
            if isinstance(value, Iterator):
                self.check_iterator(value)
        result = self.with_numbers(args, kwargs, lambda a, k: self._run_between(function, a, k))
        if Does.COPIES in foreign.does(function) and hasattr(result, "__dict__"):
            self.note_made(result)
        if _is_of_package(function) and not holds((args, kwargs), lambda v: isinstance(v, Tensor)):
            if type(result) is Tensor and not result.is_symbolic:
                self.cells.note_made(result)
        return self.note_iterator(result)

    def _run_between(self, function: Any, args: list, kwargs: dict) -> Any:
        session = self.session
        if session is None:
            return self._run_here(function, args, kwargs)
        steps, parameters = session.steps, self.trace.environment()
        try:
            passes = is_of_container(function) or makes_dict(function, args)
            if steps and not passes and has_host((args, kwargs)):
                raise Unsupported(
                    f"'{_name(function)}' is given a value that came out of the graph"
                )
            return self._run_here(function, args, kwargs)
        except Unsupported as reason:
            if session.steps != steps:  # a part of it has been done
                raise
            self.trace.restore(parameters)
            if isinstance(getattr(function, "__self__", None), facts.MUTABLE):
                if function.__name__ in MUTATING:
                    raise Inseparable(*reason.args) from None
            if foreign.may_write_array(function, args, kwargs):
                raise Inseparable(
                    f"'{_name(function)}' may change an array that was made in compiled code"
                ) from None
            pure = foreign.is_repeatable(function) or self._is_pure_op(function, (args, kwargs))
            return session.call(reason, function, args, kwargs, pure)

    def _is_pure_op(self, function: Any, arguments: Any) -> bool:
        """Ops that change nothing but the state of random numbers, which is put back. Of ops in Python, those that are given
        Parameters might assign to them."""
        if not foreign.changes_nothing(function) or isinstance(function, _core.OpFunction):
            return foreign.changes_nothing(function)
        may_be = self.aliases.may_be_parameter
        return not holds(arguments, lambda v: isinstance(v, _late.parameter_class) or may_be(v))

    def _run_here(self, function: Any, args: list, kwargs: dict) -> Any:
        owner = getattr(function, "__self__", None)
        root = foreign.module_of(function).partition(".")[0]
        if root != "mindspore" and holds_number((args, kwargs)):
            raise NumberDecides
        if foreign.speaks(function):
            return effects.emit(self.whole, function, args, kwargs)
        if isinstance(owner, str) and function.__name__ == "join" and args:
            if isinstance(args[0], Iterable):
                args = [listed(self.iterate(args[0])), *args[1:]]  # which each run takes again
        values = (args, kwargs)
        if isinstance(owner, str) and effects.is_text_of(values, self.whole):
            return effects.text_of(self.whole, lambda a, k: function(*a, **k), tuple(args), kwargs)
        self._refuse_unknown(function, root, args, kwargs)
        if root != "mindspore":
            self.note_arguments(function, (owner, function, *args, *kwargs.values()))
        result = self._call_watched(function, args, kwargs)
        if root == "mindspore" and isinstance(result, Tensor) and _core.is_weak(result):
            # Of numbers, too, an op makes a tensor: of the tensors that they are converted to.
            args, kwargs = replace_leaves((args, kwargs), self.trace.strong)
            return self.trace.strong(self.call_plainly(function, args, kwargs))
        return result

    def _refuse_unknown(self, function: Any, root: str, args: list, kwargs: dict) -> None:
        """Refuses what would do something else on each call, or needs values. `root`: the package."""
        owner = getattr(function, "__self__", None)
        if looks_at_frames(function, args):
            raise Inseparable(f"'{_name(function)}' looks at the frame that calls it")
        if foreign.meets_the_world(function, args):
            raise Unsupported(
                f"'{_name(function)}' reads or changes what is outside of the program, on every call"
            )
        if isinstance(function, types.BuiltinMethodType) and self._may_be_changed_by_methods(owner):
            raise Unsupported(
                f"'{_name(function)}' is a method of a {type(owner).__name__} that was made outside of the program, which it "
                "may change"
            )
        if root == "numpy" and self.has_traced((args, kwargs)):
            raise Unsupported(
                f"numpy.{_name(function)} needs values, but in a compiled function a tensor's value is known only at run "
                "time; use the function of mindspore.ops or mindspore.numpy"
            )

    def _may_be_changed_by_methods(self, owner: Any) -> bool:
        """An object from outside, of a class of which nothing is known."""
        if owner is None or isinstance(owner, (type, types.ModuleType, Tensor)):
            return False
        known = Does.KEEPS in foreign.module_does(type(owner).__module__) or id(owner) in self.made
        return not known and not isinstance(owner, _CHANGEABLE)

    def _call_watched(self, function: Any, args: list, kwargs: dict) -> Any:
        """Calls what may change a list, dict or array from outside: that would happen once, not on every call."""
        owner = getattr(function, "__self__", None)
        if function is not functools.partial:
            for value in (*args, *kwargs.values()):
                self._refuse_changing(value)
        watched = [
            v
            for v in (owner, *args, *kwargs.values())
            if isinstance(v, _CHANGEABLE) and self.is_outside(v)
        ]
        if owner is not None and _name(function) in READING and "out" not in kwargs:
            return self.call_plainly(function, args, kwargs)
        if self.trace.depth and not watched:
            return self._call_among_arrays(function, args, kwargs)
        if not watched:
            return self.call_plainly(function, args, kwargs)
        before = [copy.copy(v) for v in watched]
        try:
            return self.call_plainly(function, args, kwargs)
        finally:
            changed = [(v, b) for v, b in zip(watched, before) if not _is_still(v, b)]
            for value, contents in changed:
                _put_back(value, contents)
            if changed:
                raise Inseparable(
                    f"'{_name(function)}' changes a {type(changed[0][0]).__name__} that was made outside of the "
                    "compiled function; copy it first, or return the new value"
                )

    def _call_among_arrays(self, function: Any, args: list, kwargs: dict) -> Any:
        """Calls what may change an array, where a branch or loop may have to put that back."""
        given = nodes([getattr(function, "__self__", None), list(args), kwargs])
        memories = {
            id(m): m
            for m in map(foreign.memory_of, (v for v in given if isinstance(v, foreign.ARRAYS)))
        }
        before = [(m, m.copy()) for m in memories.values()]
        try:
            return self.call_plainly(function, args, kwargs)
        finally:
            for memory, numbers in before:
                if not _is_still(memory, numbers):
                    self.note_array(memory, numbers)

    def _refuse_changing(self, value: Any) -> None:
        """Refuses a method that somebody else may call, of a list or dict from outside, which it changes."""
        if isinstance(value, functools.partial):
            self._refuse_changing(value.func)
            return
        owner = value.__self__ if isinstance(value, types.BuiltinMethodType) else None
        if isinstance(owner, facts.MUTABLE) and _name(value) in MUTATING and self.is_outside(owner):
            raise Inseparable(
                f"'{_name(value)}' changes a list or dict from outside, where something else calls it"
            )

    def call_plainly(self, function: Any, args: list, kwargs: dict) -> Any:
        """`function(*args, **kwargs)`, with the reason where that needs what a tensor decides."""
        try:
            return function(*args, **kwargs)
        except Exception as error:
            of_program(error)
            if not isinstance(error, TypeError):
                raise
            if any(isinstance(a, Tensor) and self.aliases.may_be_parameter(a) for a in args):
                raise Inseparable("a tensor decides which Parameter this is") from None
            if is_unknown((args, kwargs)):
                raise needs_value(f"'{_name(function)}'") from None
            raise


_CHANGEABLE = (*facts.MUTABLE, np.ndarray)


def _is_still(value: Any, before: Any) -> bool:
    """Whether a container holds what it held."""
    if isinstance(value, np.ndarray):
        return value.shape == before.shape and value.tobytes() == before.tobytes()
    if isinstance(value, bytearray):
        return bool(value == before)
    return same_contents(contents_of(before), contents_of(value))


def _put_back(value: Any, before: Any) -> None:
    if isinstance(value, np.ndarray):
        value[...] = before
    elif isinstance(value, bytearray):
        value[:] = before
    else:
        set_contents(value, contents_of(before))


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def is_of_container(function: Any) -> bool:
    """Methods of lists and dicts made in compiled code: they hold stand-ins like any value."""
    return isinstance(getattr(function, "__self__", None), (list, dict, set, tuple))


def makes_dict(function: Any, args: Any) -> bool:
    """A dict of values, which may be stand-ins like those of any container."""
    return function is dict and not any(isinstance(a, HostValue) for a in args)
