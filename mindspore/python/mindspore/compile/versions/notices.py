"""What is said of the versions of a function: that there are more and more of them, since something keeps changing, or that it runs
eagerly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeGuard

from mindspore._core import DType
from mindspore.compile.program.errors import RunsEagerly, Unsupported, locate
from mindspore.compile.program.places import calling_place, user_frame
from mindspore.compile.values import guards
from mindspore.compile.versions.entries import Version
from mindspore.compile.versions.signature import argument_names

_STRICT = "jit(fullgraph=True), or set_context(jit_syntax_level=STRICT), makes this an error."


class Recompiles(UserWarning):
    """A function is compiled again and again, since an argument keeps changing."""


class Notices:
    """The warnings of one function, each of which is given once."""

    remedy = _STRICT  # against calls that run eagerly

    def __init__(self, name: str, function: Callable | None = None):
        self.name = name
        # Without the object that a method is bound to, which holds the cache.
        self._function = getattr(function, "__func__", function)
        self._bound = hasattr(function, "__self__")
        self._said: set[str] = set()

    @classmethod
    def of(cls, other: Notices, again: bool = True) -> Any:
        """For the same function; not `again`: what has been said of it is not said once more."""
        notices = cls(other.name)
        notices._function, notices._bound = other._function, other._bound
        notices._said = set() if again else other._said
        return notices

    def _say(self, once: str, text: str, category: type[Warning]) -> None:
        """Warns, unless it has done so of the same; `once` says of what."""
        if once not in self._said:
            self._said.add(once)
            warn_user(text, category)

    def arguments_change(self, keys: list[tuple], compiled: int) -> None:
        """Which argument keeps changing, and what can be done about it."""
        names = argument_names(self._function)[int(self._bound) :]
        where, value = _most_varied(keys, names)
        if _is_tensor(value):
            what = f"the shape of {where}, lately {list(value[1])}, keeps changing"
            remedy = (
                "Declare the sizes that change: input_signature of jit, or Cell.set_inputs, with "
                f"Tensor(shape={_opened(keys, where, names)}, dtype=mindspore.{str(value[0]).lower()})."
            )
        else:
            what = f"the value of {where}, lately {_value_text(value)}, keeps changing"
            remedy = "Pass it as a Tensor, if it decides neither a shape nor a branch."
        self._say(
            "changing",
            f"{self.name} was compiled {compiled} times, since {what}. {remedy}",
            Recompiles,
        )

    def facts_change(self, last: Version, compiled: int) -> None:
        """Which attribute or variable keeps changing."""
        failed = last.guards.check()
        if failed < 0:
            return
        self._say(
            "versions",
            f"{self.name} was compiled {compiled} times, since what it reads keeps changing: "
            f"{guards.describe(last.facts[failed])}. Make it a Parameter, or pass it as a Tensor, if it decides neither a "
            "shape nor a branch.",
            Recompiles,
        )

    def line_is_eager(self, reason: Unsupported) -> None:
        """A line runs eagerly between two graphs."""
        place = locate(reason, calling_place())
        line = str([(p.file, p.line) for p in place.__dict__["_ms_places"][:1]])
        self._say(
            line,
            f"a line of {self.name} runs eagerly between two compiled parts, since {place}\n"
            "  The result is that of PYNATIVE_MODE; nothing is optimised over that line, and each run stops there. "
            + _STRICT,
            RunsEagerly,
        )

    def call_is_eager(self, reason: str) -> None:
        """A call is not compiled."""
        self._say(
            "".join(reason.splitlines()[:2]),
            f"{self.name} runs eagerly, as in PYNATIVE_MODE: correct, but without what compiling saves, since {reason}\n"
            f"  Only the cells and jit functions that it calls are compiled. {self.remedy}",
            RunsEagerly,
        )

    def open_sizes_fail(self, reason: Exception) -> None:
        """Sizes were declared open, but something depends on them."""
        text = str(reason).splitlines()[0] if str(reason) else type(reason).__name__
        warn_user(
            f"{self.name} has inputs with open sizes, but is compiled for every shape: {text}",
            Recompiles,
        )


def warn_user(text: str, category: type[Warning]) -> None:
    """A warning at the user's line that called into this package, from whatever stack this runs on."""
    frame = user_frame()
    if frame is None:
        warnings.warn(text, category, stacklevel=2)
        return
    space = frame.f_globals
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text, category, frame.f_code.co_filename, frame.f_lineno, space.get("__name__"), registry
    )


# ---- what changes ---------------------------------------------------------------------------------------------------------
def _arguments(key: tuple, names: list[str]) -> dict[str, Any]:
    """The parts of a key by the name of their argument."""
    args, kwargs = key[-2:]
    parts = {
        f"'{names[i]}'" if i < len(names) else f"argument {i}": k for i, k in enumerate(args[1:])
    }
    parts.update({f"'{name}'": k for name, k in kwargs[1:]})
    return parts


def _most_varied(keys: list[tuple], names: list[str]) -> tuple[str, Any]:
    """The argument with the most kinds among the keys, and its latest kind."""
    kinds: dict[str, dict[Any, None]] = {}
    for key in keys:
        if key[0] == "numbers":
            continue
        for name, part in _arguments(key, names).items():
            kinds.setdefault(name, {})[part] = None
    where = max(kinds, key=lambda name: len(kinds[name]), default="an argument")
    return where, next(reversed(kinds[where])) if where in kinds else None


def _opened(keys: list[tuple], where: str, names: list[str]) -> list:
    """The sizes of an argument, None where they differ between keys of the latest rank."""
    shapes = [_arguments(key, names).get(where) for key in keys if key[0] != "numbers"]
    sizes = [s[1] for s in shapes if _is_tensor(s)]
    sizes = [s for s in sizes if len(s) == len(sizes[-1])]
    return [column[0] if len(set(column)) == 1 else None for column in zip(*sizes)]


def _is_tensor(part: Any) -> TypeGuard[tuple]:
    return isinstance(part, tuple) and isinstance(part[0], DType)


def _value_text(part: Any) -> str:
    if not isinstance(part, tuple) or len(part) < 2:
        return repr(part)
    fields = isinstance(part[1], tuple) and isinstance(part[0], type)
    return f"<{part[0].__name__}>" if fields else repr(part[1])
