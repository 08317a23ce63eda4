"""Which loaded parameter goes into which parameter of a network, and what to say of the rest."""

from __future__ import annotations

import bisect
import difflib
import heapq
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mindspore.common._dtypes import FLOATS, INTEGERS
from mindspore.common.parameter import Parameter

_SHOWN = 5
_COMPARED = 20
_LAST = chr(sys.maxunicode)  # behind all others in the order of texts


def partners(
    wanted: Iterable[str], given: Iterable[str], strict: bool
) -> tuple[dict[str, str], list[str]]:
    """For each parameter of the network that gets a value the name in the file; the prefixes that were left out.

    Without `strict`, a name that is left takes the first one of the file that ends with it and is no name of the
    network, and so do all with the same prefix: that is the name of a cell which was around the network when it
    was saved.
    """
    wanted, given = dict.fromkeys(wanted), dict.fromkeys(given)
    found = {name: name for name in wanted if name in given}
    prefixes: list[str] = []
    missing = [name for name in wanted if name not in found]
    spare = [name for name in given if name not in wanted]
    backwards = sorted((name[::-1], index) for index, name in enumerate(spare))
    while missing and not strict:
        first = missing[0]
        end = first[::-1]
        low, high = (bisect.bisect_left(backwards, (key,)) for key in (end, end + _LAST))
        if low == high:
            missing.pop(0)
            continue
        longer = spare[min(index for _, index in backwards[low:high])]
        prefix = longer[: len(longer) - len(first)]
        prefixes.append(prefix)
        found.update(
            (n, prefix + n) for n in missing if prefix + n in given and prefix + n not in wanted
        )
        missing = [name for name in missing if name not in found]
    return found, prefixes


def check_fit(
    found: Mapping[str, str],
    wanted: Mapping[str, Parameter],
    given: Mapping[str, Parameter],
    strict: bool,
) -> None:
    """Raise RuntimeError when a value cannot go into the parameter that it was found for: it tells of the first, and lists the others."""
    misfits = {
        name: text
        for name, other in found.items()
        if (text := _misfit(name, wanted[name], other, given[other], strict))
    }
    if not misfits:
        return
    used = set(found.values())
    unused = {name: value for name, value in given.items() if name not in used}
    lines = []
    for name, text in list(misfits.items())[:_SHOWN]:
        fitting = [n for n, v in unused.items() if not _misfit(name, wanted[name], n, v, strict)]
        lines.append(text + _close(name, [(_parts(other), other) for other in fitting]))
    if len(misfits) > _SHOWN:
        lines.append(f"and {len(misfits) - _SHOWN} more")
    raise RuntimeError("For 'load_param_into_net', " + "\n  ".join(lines))


def _misfit(name: str, target: Parameter, other: str, value: Parameter, strict: bool) -> str:
    """Why a value, whose name is `other`, cannot go into a parameter; "" where it can."""
    source = "" if other == name else f" from '{other}'"
    if tuple(target.shape) != tuple(value.shape) and not _same_but_ones(target, value):
        return (
            f"the shape of '{name}' must be {tuple(target.shape)}, as in the network, "
            f"but got {tuple(value.shape)}{source}. Is the checkpoint of this network?"
        )
    if target.dtype == value.dtype:
        return ""
    kind = next((k for k in (FLOATS, INTEGERS) if target.dtype in k), ())
    if not strict and value.dtype in kind:
        return ""
    return (
        f"the type of '{name}' must be {target.dtype}, as in the network, but got {value.dtype}{source}."
        + (" strict_load=False converts it." if value.dtype in kind else "")
    )


def _same_but_ones(target: Parameter, value: Parameter) -> bool:
    """Shapes of the same size that differ only in axes of length 1, e.g. () and (1,)."""
    return [d for d in target.shape if d != 1] == [d for d in value.shape if d != 1]


def report(wanted: Mapping[str, Any], given: Mapping[str, Any], found: dict[str, str],
           prefixes: list[str]) -> str:  # fmt: skip
    """What to tell of names that found no partner, with close names where there are any, and of names that did
    though they are not the same; "" where there is nothing to tell."""
    missing = [name for name in wanted if name not in found]
    used = set(found.values())
    unexpected = [name for name in given if name not in used]
    lines = [f"  names that begin with '{prefix}' are taken without it" for prefix in prefixes]
    if missing:
        lines.append(
            f"  {len(missing)} parameters of the network keep their values: "
            + _names(missing, unexpected)
        )
    if missing and unexpected:
        lines.append(
            f"  {len(unexpected)} in 'parameter_dict' are not used: " + _names(unexpected, missing)
        )
    return "\n".join(lines)


def _names(names: list[str], others: list[str]) -> str:
    """The first names, with close ones among the others."""
    parts = [(_parts(other), other) for other in others]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(_with_hint(name, parts) for name in names[:_SHOWN]) + more


def _parts(name: str) -> set[tuple[str, int]]:
    """What is between dots and underscores, each with how many of the same came before."""
    parts = re.split(r"[._]", name)
    return {(part, parts[:index].count(part)) for index, part in enumerate(parts)}


def _with_hint(name: str, others: list[tuple[set[tuple[str, int]], str]]) -> str:
    return f"'{name}'{_close(name, others)}"


def _close(name: str, others: list[tuple[set[tuple[str, int]], str]]) -> str:
    """What to say of the name that is closest, if one is close."""
    # A close look takes long: only at those with most parts in common.
    own = _parts(name)
    likely = heapq.nlargest(
        _COMPARED, others, key=lambda other: (len(own & other[0]), -abs(len(name) - len(other[1])))
    )
    close = difflib.get_close_matches(name, [other for _, other in likely], n=1, cutoff=0.7)
    return f" (close: '{close[0]}')" if close else ""
