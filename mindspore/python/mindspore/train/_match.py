"""Which loaded parameter goes into which parameter of a network, and what to say of the rest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter

_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)
_INTEGERS = (mstype.int8, mstype.int16, mstype.int32, mstype.int64,
             mstype.uint8, mstype.uint16, mstype.uint32, mstype.uint64)  # fmt: skip
_SHOWN = 5


def same_name_or_prefix(
    wanted: Mapping[str, Parameter], given: Mapping[str, Any], strict: bool
) -> dict[str, str]:
    """For each parameter of the network the name in the file.

    Without `strict`, parameters that are left may match up to one common prefix, such as the name
    of a cell that was around the network when it was saved.
    """
    found = {name: name for name in wanted if name in given}
    missing = [name for name in wanted if name not in found]
    if strict or not missing:
        return found
    spare = [name for name in given if name not in wanted]
    for longer_in_file in (True, False):
        prefix = _common_prefix(missing, spare, wanted, given, longer_in_file)
        if prefix is not None:
            for name in missing:
                other = prefix + name if longer_in_file else name[len(prefix) :]
                if other in given:
                    found[name] = other
            break
    return found


def _common_prefix(
    missing: list[str],
    spare: list[str],
    wanted: Mapping[str, Any],
    given: Mapping[str, Any],
    longer_in_file: bool,
) -> str | None:
    """The prefix "cell." that makes all spare names of one side names of the other."""
    first = missing[0]
    for other in spare:
        long, short = (other, first) if longer_in_file else (first, other)
        if not long.endswith("." + short):
            continue
        prefix = long[: len(long) - len(short)]
        pairs = [(n, prefix + n if longer_in_file else n.removeprefix(prefix)) for n in missing]
        if all(o in given and tuple(given[o].shape) == tuple(wanted[n].shape) for n, o in pairs):
            return prefix
    return None


def check_fits(name: str, target: Parameter, value: Parameter, strict: bool) -> None:
    """Raise RuntimeError when a value cannot go into a parameter."""
    op = "load_param_into_net"
    if tuple(target.shape) != tuple(value.shape) and not _same_but_ones(target, value):
        raise RuntimeError(
            f"For '{op}', the shape of '{name}' must be {tuple(target.shape)}, as in the network, "
            f"but got {tuple(value.shape)}. Is the checkpoint of this network?"
        )
    if target.dtype == value.dtype:
        return
    kind = next((k for k in (_FLOATS, _INTEGERS) if target.dtype in k), ())
    if strict or value.dtype not in kind:
        raise RuntimeError(
            f"For '{op}', the type of '{name}' must be {target.dtype}, as in the network, but got "
            f"{value.dtype}." + (" strict_load=False converts it." if value.dtype in kind else "")
        )


def _same_but_ones(target: Parameter, value: Parameter) -> bool:
    """Shapes of the same size that differ only in axes of length 1, e.g. () and (1,)."""
    return [d for d in target.shape if d != 1] == [d for d in value.shape if d != 1]


def mismatch_text(missing: Iterable[str], unexpected: Iterable[str]) -> str:
    """What to tell of names that found no partner, with close names where there are any."""
    missing, unexpected = list(missing), list(unexpected)
    lines = []
    for what, names, others in (
        ("in the network but not in the checkpoint", missing, unexpected),
        ("in the checkpoint but not in the network", unexpected, missing),
    ):
        if not names:
            continue
        shown = [_with_hint(name, others) for name in names[:_SHOWN]]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        lines.append(f"  {len(names)} {what}: {', '.join(shown)}{more}")
    return "\n".join(lines)


def _with_hint(name: str, others: list[str]) -> str:
    close = difflib.get_close_matches(name, others, n=1, cutoff=0.7)
    return f"'{name}' (close: '{close[0]}')" if close else f"'{name}'"
