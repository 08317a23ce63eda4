"""A function is traced and planned, and not compiled: nothing is run, and Parameters need no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore.common._planning import Planning
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.versions.attempt import Asked
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.compilation import Compilation
from mindspore.compile.versions.planning import Planned, PlanningAttempt


def plan(function: Callable, args: tuple, kwargs: dict[str, Any], planning: Planning) -> Any:
    """The plan of a call of a function or Cell."""
    name = getattr(function, "__name__", type(function).__name__)
    traced = lambda tracer, a, k: tracer.call(function, a, k)  # noqa: E731
    asked = Asked(Cache(name), traced, args, kwargs, strict=True, fast=True, planning=planning)
    compilation = Compilation(asked, PlanningAttempt)
    try:
        with _core.NoRecord():
            entry = compilation.run()
    except Planned as done:
        return done.plan
    error = getattr(entry, "error", None)
    if error is not None:
        error.raise_again()
    raise Unsupported(f"'{name}' cannot be compiled whole, so that there is no plan of it")
