"""Errors of the front end: whatever goes wrong while a function is compiled is raised as an exception of the fitting type that
shows the user's lines, innermost first, with a mark under the expression and what its operands were."""

from __future__ import annotations

import builtins
import difflib
import warnings
from typing import Any

from mindspore.compile.program.borders import of_program
from mindspore.compile.program.marks import add_note, mark, note_raised
from mindspore.compile.program.places import (
    Place,
    calling_place,
    core_place,
    eager_places,
    is_ours,
    operands,
    place_at,
    traceback_place,
    values_text,
)
from mindspore.compile.program.remedies import operands_of, remedy


class Unsupported(TypeError):
    """Python that a compiled function cannot contain, where it stands. The call runs eagerly instead, unless that is forbidden;
    then this is the error, or the one that it was made of."""

    def __init__(self, text: str, error: BaseException | None = None):
        super().__init__(text)
        self.error = error


class Inseparable(Unsupported):
    """What no line of its own would mend: the whole call must run eagerly."""


class RunsEagerly(UserWarning):
    """A function, or a line of it, is not compiled: the message says which, why, and what that costs."""


_MAX_PLACES = 4


def note_expression(error: BaseException, frame: Any, node: Any) -> None:
    """Remembers the innermost expression that an exception came from."""
    if not hasattr(error, "_ms_expression"):
        mark(error, "_ms_expression", (frame, node))


def call_place(frame: Any, error: BaseException | None = None) -> Place:
    """Where a call under compilation stands, or where in it an error came from."""
    node, look = frame.node, frame
    failed, expression = getattr(error, "_ms_expression", (None, None))
    if failed is frame or (failed is not None and failed.is_scope and failed.parent is frame):
        node, look = expression, failed
    values = "" if error is None else values_text(operands(node), look.peek)
    return place_at(node, frame.source.file, frame.source.name, values)


def is_located(error: BaseException) -> bool:
    """Whether the text of an error shows the user's lines already."""
    return getattr(error, "_ms_original", None) is not None


def locate(error: BaseException, places: list[Place], again: bool = False) -> BaseException:
    """The error with the places that led to it, innermost first; once only. It keeps the original, which handlers of the user
    are given, and the places."""
    if is_located(error) and not again:
        return error
    text = _text_of(error)
    help_ = _meant_name(error) or (
        remedy(text, places[0].values, places[0].function) if places else ""
    )
    text = f"{text.rstrip('.')}. {help_}" if help_ else text
    return located_as(error, text, places)


def _text_of(error: BaseException) -> str:
    """What an error says. Python shows what a KeyError has as a key, in quotes; ours have sentences."""
    said = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else ""
    return said if isinstance(said, str) and said.startswith("For '") else str(error)


def located_as(error: BaseException, text: str, places: list[Place]) -> BaseException:
    """The error with this text and these places."""
    located = _with_text(error, text + places_text(places))
    _mark_located(located, error, text, places)
    mark(located, "__cause__", error.__cause__)
    return located


def _mark_located(located: BaseException, original: Any, text: str, places: list[Place]) -> None:
    for name, value in (("original", original), ("text", text), ("places", places)):
        mark(located, f"_ms_{name}", value)


def plain(error: Unsupported) -> BaseException:
    """What a user sees of an Unsupported that nothing can be done about."""
    return _with_text(error.error or TypeError(), str(error))


def too_late(error: Unsupported) -> Unsupported:
    """The same, where the call cannot run eagerly instead."""
    first, end, places = str(error).partition("\n")
    why = "lines before it have had effects, so that the call cannot run eagerly from its beginning"
    return _with_text(error, f"{first.rstrip('.')}; {why}{end}{places}")  # type: ignore[return-value]


def refusal(located: Any) -> BaseException:
    """A located Unsupported as an error of the program, which shows its places and which no eager call replaces."""
    error = plain(located)
    original = located.error or TypeError(str(located._ms_original))
    note_raised(original)
    _mark_located(error, original, located._ms_text, located._ms_places)
    return error


# ---- errors of the core -------------------------------------------------------------------------------------------------
def core_error(kind: type, text: str, places: list[tuple]) -> BaseException:
    """An error of the core that knows where its node was written: a compiled graph failed, or a pass. What the operands were
    may stand on a line of its own."""
    message, _, values = text.partition("\n  ")
    if not operands_of(values) or "\n" in values:
        message, values = text, ""
    where = [core_place(*p) for p in places]
    where[0] = where[0]._replace(values=values)
    return locate(of_program(kind(message)), where + calling_place())


def eager_error(kind: type, text: str) -> BaseException:
    """An error of an op that was called eagerly."""
    return locate(of_program(kind(text)), eager_places())


_noted: set[tuple[str, int]] = set()


def note_zero_divisor(places: list[tuple]) -> None:
    """Says once for each line that it divided an integer by zero."""
    mine = [p for p in map(Place._make, ((*p, "") for p in places)) if not is_ours(p.file)]
    place = mine[0] if mine else next(iter(calling_place()), None)
    if place is None or (place.file, place.line) in _noted:
        return
    _noted.add((place.file, place.line))
    warnings.warn_explicit(
        "an integer is divided by zero, which gives 0. Where that is meant, divide by "
        "ops.where(y == 0, 1, y) and choose afterwards.",
        RuntimeWarning,
        place.file,
        place.line,
    )


def explain(error: BaseException) -> None:
    """Notes the operands of the user's expression, and a remedy, on an error of an eager call that Python code raised."""
    if is_located(error) or hasattr(error, "_ms_explained") or not hasattr(error, "add_note"):
        return
    place = traceback_place(error)
    if place is None or not operands_of(place.values):
        return
    mark(error, "_ms_explained", True)
    for note in (place.values, remedy(str(error), place.values, "")):
        if note:
            add_note(error, f"  {note}")


# ---- text ---------------------------------------------------------------------------------------------------------------
def places_text(places: list[Place]) -> str:
    """The lines of a message below its first."""
    if not places:
        return ""
    # Lines of this package tell a user nothing, unless there are no others; what its operands were does.
    mine = [p for p in places if not is_ours(p.file)] or places
    text = f"\n  {mine[0].block()}"
    inner = places[0]
    if inner is not mine[0] and inner.values:
        text += f"\n      in {inner.function}: {inner.values}"
    if mine[0].values:
        text += f"\n      {mine[0].values}"
    for place in mine[1:_MAX_PLACES]:
        text += f"\n  {place.short()}"
    if len(mine) > _MAX_PLACES:
        text += f"\n  ... and {len(mine) - _MAX_PLACES} more calls"
    return text


def _meant_name(error: BaseException) -> str:
    """A name that was perhaps meant: one of the program's, unless one of Python's is much nearer."""
    name = getattr(error, "name", None)
    frame = getattr(error, "_ms_expression", (None, None))[0]
    known: list[list[str]] = []
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is not None:
        known = [dir(error.obj)]
    elif type(error) is NameError and frame is not None:
        known = [frame.known_names(), dir(builtins)]
    if not isinstance(name, str):
        return ""
    close = [c for names in known for c in difflib.get_close_matches(name, names, 1)]
    near = [difflib.SequenceMatcher(None, c, name).ratio() for c in close]
    if not close or f"'{close[0]}'" in str(error):
        return ""
    return f"Did you mean '{close[-1] if near[-1] > near[0] + _MUCH else close[0]}'?"


_MUCH = 0.1  # of a ratio of similarity


# Python shows a KeyError's text as a repr, with its lines in one.
_LocatedKeyError = type(
    "KeyError", (KeyError,), {"__str__": lambda self: str(self.args[0]), "__module__": "builtins"}
)


def _with_text(error: BaseException, text: str) -> BaseException:
    """An error of the same type with another text."""
    if isinstance(error, Unsupported):
        return type(error)(text, error.error)
    kind = type(error)
    built_in = kind.__module__ == "builtins"
    several = built_in and len(error.args) > 1  # a text would stand for all of them
    fresh = None if several else _remade(error, text)
    if fresh is not None:
        return fresh
    if several or not built_in:
        _note(error, text[len(str(error)) :].lstrip("\n"))
        return error
    for base in kind.__mro__:
        if base.__module__ == "builtins" and base not in (BaseException, object):
            return base(text)
    return RuntimeError(text)


def _note(error: Any, note: str) -> None:
    """The note of an error that shows places; instead of an earlier one."""
    if hasattr(error, "add_note"):
        earlier = getattr(error, "_ms_note", None)
        if earlier is not None:
            error.__notes__.remove(earlier)
        add_note(error, note)
        mark(error, "_ms_note", note)


def _remade(error: BaseException, text: str) -> BaseException | None:
    """One of the same type, and with the same attributes, that shows another text; None where that cannot be."""
    kind = type(error)
    try:
        if kind is KeyError:
            fresh = _LocatedKeyError(text)
        elif kind.__module__ == "builtins":
            fresh = kind(text)
        else:  # its __init__ may take anything: leave it out
            fresh = kind.__new__(kind, *error.args)
            fresh.args = (text, *error.args[1:])
        fresh.__dict__.update(error.__dict__)
    except (AttributeError, TypeError, ValueError):
        return None  # it takes other arguments than a text
    return fresh if text in str(fresh) else None
