"""What callables do that are run, not compiled: those of Python, NumPy and this package. One table for modules, one for callables,
one for methods; of compositions of ops it follows from the ops that their code names."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import functools
import inspect
import logging
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor


class Does(enum.Flag):
    """What is known of a call. Where nothing is, it may do anything."""

    NOTHING = 0
    RUNS = enum.auto()  # though written in Python, it is run and not compiled
    REPEATS = enum.auto()  # it may be made again as if it had not been made
    READS = enum.auto()  # it looks at containers that it is given, no more
    COMPUTES = enum.auto()  # nothing can tell when it is made, or how often
    PASSES = enum.auto()  # it hands values on without a look at them
    COPIES = enum.auto()  # an object that nobody else has
    KEEPS = enum.auto()  # its methods change nothing outside of lists, dicts and arrays
    SPEAKS = enum.auto()  # to whoever reads a log: on every run of a graph
    WORLD = enum.auto()  # reads or changes what is outside of the program
    LOOKS = enum.auto()  # at the frame that calls it, which compiled code has not


_MODULES: dict[str, Does] = collections.defaultdict(lambda: Does.NOTHING)
_CALLABLES: dict[Any, Does] = collections.defaultdict(lambda: Does.NOTHING)


def _note(table: dict[Any, Does], does: Does, of: Iterable[Any]) -> None:
    for key in of:
        table[key] |= does


# ---- by the first part of a module's name
_note(
    _MODULES,
    Does.RUNS,
    "numpy math functools itertools collections copy operator random os re typing dataclasses enum warnings contextlib "
    "abc inspect logging json string numbers".split(),
)
_note(_MODULES, Does.REPEATS, "builtins numpy math operator itertools copy".split())
_note(_MODULES, Does.READS, "numpy mindspore math json".split())
_note(
    _MODULES,
    Does.KEEPS,
    "builtins pybind11_builtins numpy ml_dtypes mindspore math re string operator _operator functools itertools datetime "
    "decimal fractions enum types typing".split(),
)
_note(_MODULES, Does.SPEAKS, "logging warnings".split())
_note(
    _MODULES,
    Does.WORLD,
    "random time datetime secrets uuid io _io subprocess socket threading posix nt os genericpath shutil tempfile "
    "glob".split(),
)
_note(
    _MODULES,
    Does.LOOKS,
    "traceback pdb bdb code ipdb pudb web_pdb IPython debugpy pydevd pydevd_pycharm".split(),
)

# ---- callables
_note(_CALLABLES, Does.WORLD, (open, input, exec, eval, __import__, globals, locals, vars))
_note(_CALLABLES, Does.LOOKS, (exec, eval, globals, locals, vars, breakpoint))
_note(_CALLABLES, Does.LOOKS, (inspect.currentframe, inspect.stack, inspect.trace))
_note(
    _CALLABLES,
    Does.LOOKS,
    (
        *(sys._getframe, sys.exc_info, sys.settrace, sys.setprofile, sys.gettrace, sys.getprofile),
        *(getattr(sys, n) for n in ("exception", "_getframemodulename") if hasattr(sys, n)),
    ),
)
_note(
    _CALLABLES,
    Does.READS,
    (
        *(all, any, bool, float, frozenset, int, len, list, max, min, print, repr, set, sorted),
        *(str, sum, tuple, operator.add, operator.mul, operator.eq, operator.ne, operator.contains),
    ),
)
_note(
    _CALLABLES,
    Does.COMPUTES,
    (abs, bool, enumerate, float, int, isinstance, len, max, min, range, reversed, round, sum, zip),
)
_note(
    _CALLABLES,
    Does.PASSES,
    (range, map, filter, zip, enumerate, list, tuple, any, all, getattr, hasattr),
)
_note(_CALLABLES, Does.COPIES, (copy.copy, dataclasses.replace))

# ---- methods
# Of lists, dicts, sets and deques: they change what they belong to.
MUTATING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard difference_update "
    "intersection_update symmetric_difference_update appendleft extendleft popleft rotate move_to_end __setitem__ "
    "__delitem__ __iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__".split()
)
# Of containers and arrays, which may be large: they change nothing.
READING = frozenset(
    "get keys values items index count copy __contains__ __len__ __iter__ astype reshape tolist item sum mean max "
    "min".split()
)
# Of NumPy's arrays and numbers: all others give something new.
_IN_PLACE = frozenset(
    "fill itemset partition put resize setfield setflags sort tofile byteswap dump".split()
)
# Memory of NumPy that can be changed in place.
ARRAYS = (np.ndarray, np.flatiter)
# How many arguments stand before the place for what is written to.
_BEFORE_OUT = {"clip": 3, "concatenate": 2, "reduce": 3, "accumulate": 3, "around": 2, "cumsum": 3}
# They write whatever they are given.
_WRITING_ARRAYS = frozenset("at copyto fill_diagonal place put put_along_axis putmask".split())

# Of loggers and warnings.
_SAYING = frozenset(
    "debug info warning warn error critical fatal exception log warn_explicit".split()
)


_OURS = "mindspore."
# Of this package, too, what reads settings that users may change between calls.
_PARSED = (
    "mindspore.nn",
    "mindspore.experimental",
    "mindspore.mint.optim",
    "mindspore.boost",
    "mindspore.model_zoo",
    "mindspore.amp.mixed_precision",
    "mindspore.amp.train_network",
    "mindspore.parallel.auto_parallel",
)
_OF_CELLS = ("mindspore.nn.cell", "mindspore.nn._cell_tree")


# ---- what is asked
def module_of(function: Any) -> str:
    """The module of a callable, or of what it is a method of."""
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    return getattr(function, "__module__", None) or kind.__module__


def does(function: Any) -> Does:
    """What the tables say of a callable itself."""
    plain = isinstance(function, (type, types.BuiltinFunctionType, types.FunctionType))
    return _CALLABLES.get(function, Does.NOTHING) if plain else Does.NOTHING


def module_does(module: str) -> Does:
    """What the callables of a module do."""
    return _MODULES.get(module.partition(".")[0], Does.NOTHING)


def speaks(function: Any) -> bool:
    """Whether it says something to whoever reads a log, and gives nothing back."""
    of_log = Does.SPEAKS in module_does(module_of(function)) and inspect.isroutine(function)
    return of_log and function.__name__ in _SAYING


def is_standard(function: types.FunctionType) -> bool:
    """Functions of Python's own modules, and NumPy's, run as they are."""
    return Does.RUNS in module_does(function.__module__ or "")


def is_library(function: Any) -> bool:
    """Functions of this package run as they are; cells and users' functions are parsed."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(_OURS) and not (
        module.startswith(_PARSED) or getattr(function, "_ms_parsed", False)
    )


def is_users(function: Any) -> bool:
    """Whether a user wrote a function, and neither Python nor a library."""
    plain = isinstance(function, types.FunctionType)
    return plain and not (is_library(function) or is_standard(function))


def is_of_cells(function: Any) -> bool:
    """Methods that all cells have run as they are, too."""
    of_cells = (getattr(function, "__module__", None) or "").startswith(_OF_CELLS)
    return of_cells and not getattr(function, "_ms_parsed", False)


def looks_at_frames(function: Any, args: Any) -> bool:
    """Debuggers, `locals()`, tracebacks: the whole call must run eagerly."""
    module = getattr(function, "__module__", None)
    named = isinstance(module, str) and Does.LOOKS in module_does(module)
    return named or Does.LOOKS in does(function) or (function is dir and not args)


def meets_the_world(function: Any, args: Iterable[Any]) -> bool:
    """Whether a call gives or does something else each time: never while compiling."""
    module = module_of(function)
    if any(v is os.environ for v in (getattr(function, "__self__", None), *args)):
        return True
    known = module_does(module) | does(function)
    asks = Does.SPEAKS in known and inspect.isroutine(function) and not speaks(function)
    if asks and function is not logging.getLogger:  # which gives the same one each time
        return True
    return Does.WORLD in known or module.startswith("numpy.random")


def is_repeatable(function: Any) -> bool:
    """Calls that may be made again as if they had not been made."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Tensor):
        return True
    if isinstance(owner, (np.ndarray, np.generic)):
        return reads_array(function)
    if function is print or meets_the_world(function, ()):
        return False
    return Does.REPEATS in module_does(module_of(function))


def reads_array(function: Any) -> bool:
    """Methods of arrays and numbers of NumPy that change nothing."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, (np.ndarray, np.generic)) and function.__name__ not in _IN_PLACE


def memory_of(array: Any) -> Any:
    """The array that a view of an array shows, or itself."""
    memory = base = array
    while (base := getattr(base, "base", None)) is not None:
        memory = base if isinstance(base, np.ndarray) else memory
    return memory.base if isinstance(memory, np.flatiter) else memory


def may_write_array(function: Any, args: Any, kwargs: dict) -> bool:
    """Whether a call may change an array that it is given, or that it is a method of."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, types.MethodDescriptorType) and args:
        owner, args = args[0], args[1:]
    if not any(isinstance(v, ARRAYS) for v in (owner, *args, *kwargs.values())):
        return False
    if kwargs.get("out") is not None or kwargs.get("copy") is False:
        return True
    if isinstance(owner, ARRAYS):
        return name in _IN_PLACE
    if isinstance(function, np.ufunc):
        return len(args) > function.nin
    if isinstance(owner, np.ufunc) or module_of(function).partition(".")[0] == "numpy":
        return name in _WRITING_ARRAYS or len(args) > _BEFORE_OUT.get(name, len(args))
    return not (is_repeatable(function) or only_reads(function))


def only_reads(function: Any) -> bool:
    """Whether a function is known to look at containers that it is given, no more."""
    if isinstance(getattr(function, "__self__", None), (str, np.ndarray, np.generic)):
        return True
    module = getattr(function, "__module__", None) or type(function).__module__
    return Does.READS in does(function) | module_does(module)


def only_computes(function: Any) -> bool:
    """Whether nothing can tell when an op, or a composition of ops, is run: it changes nothing and draws no random numbers."""
    return _consists_of(function, lambda op: op.pure)


def changes_nothing(function: Any) -> bool:
    """Whether an op, or a composition of ops, changes nothing but the state of random numbers."""
    return _consists_of(function, lambda op: op.repeatable)


# ---- compositions of ops
_COMPOSITIONS = "mindspore.ops.function."
_WRITING = (vars(Tensor)["_write"],)
_STATE = "mindspore.common.seed"  # of the host's random numbers


def _consists_of(function: Any, fits: Callable[[Any], bool]) -> bool:
    """Whether it is an op that fits, or Python code over such ops alone."""
    if isinstance(function, _core.OpFunction):
        return fits(function)
    if not (getattr(function, "__module__", None) or "").startswith(_COMPOSITIONS):
        return False
    ops = _ops_of(_key(function))
    return ops is not None and all(map(fits, ops))


def _key(value: Any) -> Any:
    """The function or class whose code runs when something is called."""
    value = inspect.unwrap(value)
    return value if isinstance(value, (types.FunctionType, type)) else type(value)


@functools.lru_cache(4096)
def _ops_of(function: Any) -> frozenset | None:
    """The ops that the code of a composition names, or that of what it calls; None where it writes to tensors or draws numbers of
    the host."""
    found, seen, pending = set(), set[Any](), [function]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for meant in (m for f in _functions_of(value) for m in _named_by(f)):
            module = getattr(meant, "__module__", None) or ""
            if any(meant is w for w in _WRITING) or module == _STATE:
                return None
            if isinstance(meant, _core.OpFunction):
                found.add(meant)
            elif callable(meant) and module.startswith(_OURS):
                pending.append(_key(meant))
    return frozenset(found)


def _functions_of(value: Any) -> list[types.FunctionType]:
    """A function, or the methods of a class."""
    if isinstance(value, types.FunctionType):
        return [value]
    methods = (m for base in value.__mro__ for m in vars(base).values())
    return [m for m in methods if isinstance(m, types.FunctionType)]


def _named_by(function: types.FunctionType) -> Iterator[Any]:
    """What the names in the code of a function may mean: globals, attributes of tensors and of modules of this package, and texts
    that name ops."""
    names = _names(function.__code__)
    known = [v for n in names if (v := function.__globals__.get(n)) is not None]
    spaces = [v for v in known if isinstance(v, types.ModuleType) and v.__name__.startswith(_OURS)]
    yield from known
    for space in (Tensor, *spaces):
        yield from (v for n in names if (v := getattr(space, n, None)) is not None)
    yield from map(_core.op, names & _names_of_ops())


@functools.cache
def _names_of_ops() -> frozenset[str]:
    return frozenset(op["name"] for op in _core.registry())


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
    texts = (c for c in code.co_consts if isinstance(c, str))
    return set(code.co_names).union(texts, *inner)
