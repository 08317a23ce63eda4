"""What is wrong with a call here, given the answer of the reference package.

As a program it lists what is wrong with the calls of families: python tests/differential/check.py [--wild] [FAMILY ...]"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
from judge import judge
from peers import torch

import mindspore as ms
from differential.answers import has_wild, of_kernels, read_accepted, read_answers
from differential.calllib import Array, At, Call, calls_of, described, families, result_of, value_of
from differential.compare import difference, shortened
from differential.kinds import wrong_kind
from differential.wild import wild_calls

# What a user may be told of wrong arguments. Others escape from inside of us by accident.
_FITTING = (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError, MemoryError)

_LENIENT = "it must raise"
MORE = " takes more"  # behind a name in a list of accepted differences: what is refused there may work here
MORE_TYPES = "* takes more types"  # of all names: numbers for tensors, dtypes that some kernels there do not know
_OF_TYPES = ("TypeError", "NotImplementedError")


def expected(listed: Call, answers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The answer to a call: that of its own reference function where it has one, which gives the result and what becomes of the
    Parameters."""
    if listed.ref is None:
        assert listed.key in answers, (
            f"{listed.key} has no answer: run tests/differential/record.py"
        )
        answer = answers[listed.key]
        return _of_torch(listed) if listed.torch and of_kernels(answer) else answer
    arrays = [a.value if isinstance(a, Array) else a for a in listed.args]
    results = listed.ref(*arrays)
    if listed.program:
        return {"value": described(ms, _tensors(results))}
    written = any(isinstance(a, Array) and a.parameter for a in listed.args)
    return {"value": described(ms, _tensors(list(results) if written else [results]))}


def _of_torch(listed: Call) -> dict[str, Any]:
    try:
        function = attrgetter(listed.torch)(torch)
        if listed.made is not None:
            args, kwargs = listed.made
            function = _filled(function(*_for_torch(list(args)), **_for_torch(kwargs)))
        result = _tensors(function(*_for_torch(list(listed.args)), **_for_torch(listed.kwargs)))
    except Exception as error:  # whatever it refuses by, or a result that is no tensor in truth
        return {"raises": type(error).__name__}
    return {"value": [described(ms, result)]}


def _filled(layer: Any) -> Any:
    for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
        if value.dtype == torch.float32:
            value.data = torch.from_numpy(value_of(name, value.shape))
    return layer.eval()


def _for_torch(value: Any) -> Any:
    if isinstance(value, Array):
        made = torch.from_numpy(np.array(value.value))
        return made.to(torch.bfloat16) if value.dtype == "bfloat16" else made
    if isinstance(value, At):
        return attrgetter(value.name)(torch)
    if isinstance(value, (list, tuple)):
        return type(value)(_for_torch(v) for v in value)
    if isinstance(value, dict):
        return {k: _for_torch(v) for k, v in value.items()}
    return value


def _tensors(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_tensors(v) for v in value]
    if isinstance(value, dict):
        return {k: _tensors(v) for k, v in value.items()}
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bfloat16:
            return ms.Tensor(value.detach().float().numpy()).astype(ms.bfloat16)
        value = value.detach().numpy()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return ms.Tensor(np.asarray(value))


def problem(listed: Call, answer: dict[str, Any], compiled: bool, wild: bool = False) -> str:
    """What is wrong with the call in one line; nothing where all is right."""
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # some write files
            got = result_of(ms, listed, compiled)
    except Exception as error:  # whatever came is compared with what the reference does
        says = f"it raises {type(error).__name__}: {str(error)[:200]}"
        fits = isinstance(error, _FITTING) or answer.get("raises") == type(error).__name__
        if _is_inside(error):
            return says
        if _is_of_call(listed) and judge(error):
            return f"the refusal is not ours: {says}"
        if not fits or isinstance(error, RecursionError):
            return says if "absent" not in answer else ""
        if "raises" in answer:
            return wrong_kind(error, answer["raises"])
        return says if "value" in answer else ""
    if "raises" in answer:
        # A wild call may be one that only the kernels of the reference cannot do.
        kernels = of_kernels(answer) if wild else answer.get("no_kernel")
        return "" if kernels else f"{_LENIENT}, as {answer['raises']} there"
    if "value" not in answer:
        return ""
    theirs = answer["value"]
    if wild:
        theirs, got = shortened(theirs), shortened(got)
    return difference(theirs, got, listed.tol, listed.shape_only)


def _is_of_call(listed: Call) -> bool:
    """Whether it is ours to refuse: not a program's own line, nor a method of what has no such method."""
    of_none = listed.name.startswith("Tensor.") and not isinstance(
        next(iter(listed.args), None), Array
    )
    return listed.program is None and not of_none


def _is_inside(error: Exception) -> bool:
    """Whether it says that something is wrong inside of us, which no arguments excuse."""
    return isinstance(error, RuntimeError) and "internal error: " in str(error)


def problems(family: str, name: str | None = None, wild: bool = False) -> Iterator[str]:
    """What is wrong with the calls of a list, but for the accepted differences."""
    answers, accepted = read_answers(family, wild), read_accepted(family)
    listed = calls_of(family)
    for one in wild_calls(listed) if wild else listed:
        if name not in (None, one.name) or one.key in accepted or one.name in accepted:
            continue
        answer = expected(one, answers)
        for compiled in (False,) if wild else (False, True):
            said = problem(one, answer, compiled, wild)
            if said and not (said.startswith(_LENIENT) and _takes_more(one, answer, accepted)):
                yield f"{one.key}, {'compiled' if compiled else 'eager'}: {said}"


def _takes_more(listed: Call, answer: dict[str, Any], accepted: dict[str, str]) -> bool:
    of_types = MORE_TYPES in accepted and answer.get("raises") in _OF_TYPES
    return of_types or f"{listed.name}{MORE}" in accepted


def main() -> None:
    """Lists what is wrong."""
    wild = "--wild" in sys.argv
    asked = [a for a in sys.argv[1:] if not a.startswith("-")] or families()
    for family in filter(has_wild, asked) if wild else asked:
        for said in problems(family, wild=wild):
            print(f"{family}: {said}".replace("\n", " "))


if __name__ == "__main__":
    main()
