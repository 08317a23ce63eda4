"""Runs a program eagerly, compiled, and compiled without the passes that only make code faster, and says how the results differ.

Without those passes the kernels are the same, and so are all bits. With them a reduction may add up in another order, hence
`FUSED_ULPS`."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import io
import linecache
import logging
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mindspore as ms
from fuzz.compare import (
    FUSED_ULPS,
    SECOND_ULPS,
    SUM_ULPS,
    Difference,
    Slack,
    epsilon,
    largest,
    same,
)
from fuzz.kinds import FLOATS, T
from fuzz.program import Program, rounds, sample
from mindspore import Tensor

_INTEGER = re.compile(r"ms\.u?int\d")
_TRANSFORMS = ("grad(", "ms.jvp(", "ms.vjp(", "ms.vmap(")
_REFUSED = (
    "the call cannot run eagerly from its beginning",
    "which is computed from the item",  # docs/transforms.md: whatever its value; eager code compares the items' values
    "got one that is computed from the item",
)
_SECONDS = 90  # for one program: far more than any needs, on a busy machine too


@dataclass
class Outcome:
    """What happened to one program. `failure` starts with what was compared, e.g. "forward"."""

    program: Program
    failure: str = ""
    raised: str = ""  # the exception of the eager run, when it has one
    fallbacks: Counter[str] = field(default_factory=Counter)
    gradient: str = ""  # "", "equal", "near" or "truncated"
    fused: str = ""  # likewise: results of the passes that make code faster
    refused: str = ""  # why the compiled program said that it can neither go on nor begin again


class Refused(Exception):
    """Compiled code says with an error that it must not go on, where eager code does: a line cannot be compiled, and lines
    before it have had effects; or a value that items share is computed from one."""


class Slow(Exception):
    """A program took far too long."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """An alarm for Python code; for a loop in C++ that never ends, the process gives up."""

    def ring(*_: Any) -> None:
        raise Slow(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(4 * seconds, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def mode(value: int) -> Iterator[None]:
    """An execution mode for a while."""
    before = ms.get_context("mode")
    ms.set_context(mode=value)
    try:
        yield
    finally:
        ms.set_context(mode=before)


@contextmanager
def fusion(on: bool) -> Iterator[None]:
    """With or without the passes that only make code faster."""
    before = ms.get_context("enable_graph_kernel")
    ms.set_context(enable_graph_kernel=on)
    try:
        yield
    finally:
        ms.set_context(enable_graph_kernel=before)


class _Listener(logging.Handler):
    """Collects what the compiler says about running eagerly."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def listening(found: Counter[str]) -> Iterator[None]:
    """Counts the warnings that a call runs eagerly, by reason."""
    listener, logger = _Listener(), logging.getLogger("mindspore")
    logger.addHandler(listener)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        logger.removeHandler(listener)
    texts = listener.messages + [str(w.message) for w in caught]
    found.update(reason(t) for t in texts if "eager" in t)


def reason(text: str) -> str:
    """The kind of a message: its first line without names and numbers."""
    line = text.splitlines()[0] if text else ""
    words = ["'_'" if w.startswith("'") else w for w in line.split()]
    return " ".join("#" if any(c.isdigit() for c in w) else w for w in words)[:140]


def load(program: Program, folder: Path) -> type:
    """The class `Net` of a program, from a file, where the parser finds its text."""
    path = folder / f"program_{program.seed}.py"
    path.write_text(program.source)
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Net


class Run:
    """One program, in one way of running it: each call on a new set of data. `open_sizes`: compiled for all sizes of inputs."""

    def __init__(
        self, program: Program, kind: type, value: int, fast: bool = True, open_sizes: bool = False
    ):
        self.program, self.value, self.fast = program, value, fast
        rng = np.random.default_rng([program.seed, 99])
        with mode(ms.PYNATIVE_MODE):
            self.net = kind({name: sample(rng, k) for name, k in program.parameters.items()})
            if open_sizes:
                self.net.set_inputs(*map(_open, program.inputs))

    def arguments(self, round_: int) -> list[Tensor]:
        return [Tensor(a) for a in self.program.data(round_)]

    def call(self, round_: int, function: Callable) -> Any:
        """(what was raised, value, arguments afterwards, Parameters afterwards, what was printed, a count)."""
        arguments = self.arguments(round_)
        raised, value, shown = None, None, io.StringIO()
        with mode(self.value), fusion(self.fast), contextlib.redirect_stdout(shown):
            try:
                value = function(*arguments)
                ms.runtime.synchronize()  # a device finds some of what is wrong late
            except (Slow, MemoryError):
                raise
            except Exception as error:
                raised = error
        after = [a.asnumpy() for a in arguments]
        stored = {p.name: p.asnumpy() for p in self.net.get_parameters()}
        return raised, value, after, stored, shown.getvalue(), self.net.count

    def forward(self, round_: int) -> Any:
        return self.call(round_, self.net)

    def gradient(self, round_: int) -> Any:
        """The value and gradients with respect to all floating inputs and Parameters."""
        return self.call(round_, self._gradient_function())

    def _gradient_function(self) -> Callable:
        wanted = tuple(i for i, k in enumerate(self.program.inputs) if k.is_float)
        weights = [p for p in self.net.trainable_params() if p.dtype in _FLOATS]
        return ms.value_and_grad(self.net, wanted, weights or None)

    def gradient_in_jit(self, round_: int) -> Any:
        """The gradient as a part of a compiled function."""
        function = self._gradient_function()
        return self.call(
            round_, lambda *a: ms.jit(function)(*a) if self.value == ms.GRAPH_MODE else function(*a)
        )

    def second_order(self, round_: int) -> Any:
        """A gradient of the sum of all gradients."""
        first = next(i for i, k in enumerate(self.program.inputs) if k.is_float)
        net = self.net

        def once(*args: Tensor) -> Any:
            return ms.grad(net, first)(*args)

        return self.call(round_, ms.grad(once, first))


def _open(kind: T) -> Tensor:
    """An argument of any sizes."""
    dtype = ms.bool_ if kind.dtype == "bool" else getattr(ms, kind.dtype)
    return Tensor(shape=[None] * len(kind.shape), dtype=dtype)


_FLOATS = (ms.float16, ms.float32, ms.float64)


def check(program: Program, folder: Path | None = None) -> Outcome:
    """Compares the two modes on one program."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return check(program, Path(made))
    outcome = Outcome(program)
    limit = sys.getrecursionlimit()
    try:
        with limited(_SECONDS), listening(outcome.fallbacks), np.errstate(all="ignore"):
            _check(outcome, load(program, folder))
    except Difference as difference:
        outcome.failure = str(difference)
    except Slow as slow:
        outcome.failure = f"time: {slow}"
    except Refused as refused:
        outcome.refused = str(refused)
    finally:
        sys.setrecursionlimit(limit)
    return outcome


def _runs(program: Program, kind: type) -> tuple[Run, Run, Run]:
    """Eager, compiled plainly (some for all sizes), compiled with all passes."""
    return (
        Run(program, kind, ms.PYNATIVE_MODE),
        Run(program, kind, ms.GRAPH_MODE, fast=False, open_sizes=program.seed % 4 == 1),
        Run(program, kind, ms.GRAPH_MODE),
    )


def _check(outcome: Outcome, kind: type) -> None:
    program = outcome.program
    runs = _runs(program, kind)
    differentiable = True
    ulps = SUM_ULPS if any(t in program.source for t in _TRANSFORMS) else 0
    outcome.fused = "equal"
    for r in rounds():
        eager, plain, fast = (run.forward(r) for run in runs)
        _same_calls(eager, plain, f"forward {r}", ulps)
        _same_fused(outcome, eager, fast, f"fused_forward {r}")
        if eager[0] is not None:
            outcome.raised = f"{type(eager[0]).__name__}: {eager[0]}"
            return
        differentiable = differentiable and _has_float(eager[1])
    if not differentiable:
        return
    outcome.gradient = "equal"
    way = "gradient_in_jit" if program.seed % 3 == 0 else "gradient"
    runs = _runs(program, kind)
    for r in rounds()[:2]:
        _same_in_all(outcome, [getattr(run, way)(r) for run in runs], f"{way} {r}")
    if program.seed % 8 == 0:
        calls = [run.second_order(0) for run in runs]
        _same_in_all(outcome, calls, "second_order 0", SECOND_ULPS)


def _same_in_all(outcome: Outcome, calls: list[Any], where: str, ulps: int = FUSED_ULPS) -> None:
    eager, plain, fast = calls
    _same_gradients(outcome, eager, plain, where)
    first = plain if outcome.gradient == "truncated" else eager
    _same_fused(outcome, first, fast, f"fused_{where}", ulps)


def _same_fused(outcome: Outcome, a: Any, b: Any, where: str, ulps: int = FUSED_ULPS) -> None:
    """Equal bits, or at least values that another order of additions explains."""
    try:
        _same_calls(a, b, where)
    except Difference:
        _same_calls(a, b, where, ulps, _coarsest(outcome.program))
        outcome.fused = "near"


def _coarsest(program: Program) -> float:
    """A unit in the last place of the coarsest dtype that a program mentions."""
    return max((epsilon(t) for t in FLOATS if f"ms.{t}" in program.source), default=0.0)


def _same_calls(a: Any, b: Any, where: str, ulps: int = 0, unit: float = 0.0) -> None:
    if a[0] is not None or b[0] is not None:
        if any(why in str(b[0]) for why in _REFUSED):
            raise Refused(reason(str(b[0])))
        if type(a[0]) is not type(b[0]):
            raise Difference(f"{where}: {_raised(a[0])} became {_raised(b[0])}")
        return
    slack = Slack(ulps, largest(a[1]), unit)
    same(a[1], b[1], where, slack)
    same(a[2], b[2], f"{where}, arguments afterwards", slack)
    same(a[3], b[3], f"{where}, Parameters afterwards", slack)
    same(a[4], b[4], f"{where}, printed")
    same(a[5], b[5], f"{where}, self.count")


def _same_gradients(outcome: Outcome, a: Any, b: Any, where: str) -> None:
    try:
        _same_calls(a, b, where)
    except Difference:
        source = outcome.program.source
        if "ms.vmap" in source and _INTEGER.search(source):
            outcome.gradient = "truncated"  # before or after the sum over items: docs/gradients.md
            return
        unit = _coarsest(outcome.program) if "ms.vmap" in source else 0.0
        _same_calls(a, b, where, SUM_ULPS, unit)
        outcome.gradient = "near"


def _raised(error: Exception | None) -> str:
    return "a result" if error is None else f"{type(error).__name__}({str(error)[:300]!r})"


def _has_float(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_float, value))
    return isinstance(value, Tensor) and value.dtype in _FLOATS
