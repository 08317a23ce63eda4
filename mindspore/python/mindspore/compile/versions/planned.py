"""A function is traced and planned, and not compiled: nothing is run, and Parameters need no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore.common._planning import Planning
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.compilation import Compilation
from mindspore.compile.walk.tracer import Tracer


class _Done(BaseException):
    """Leaves the compilation with what was planned."""

    plan: dict[str, Any]


class _PlanAlone(Compilation):
    """A compilation that ends where the graph would be compiled."""

    def _compiled(self, tracer: Tracer) -> Any:
        assert self.planning is not None
        done = _Done()
        with self.planning.told(self._parameters(tracer)):
            done.plan = _core.plan(tracer.trace)
        raise done

    def _fail(self, tracer: Tracer, located: Any) -> Any:
        raise located  # nothing is to be done before


def plan(function: Callable, args: tuple, kwargs: dict[str, Any], planning: Planning) -> Any:
    """The plan of a call of a function or Cell."""
    name = getattr(function, "__name__", type(function).__name__)
    compilation = _PlanAlone(
        Cache(name),
        lambda tracer, a, k: tracer.call(function, a, k),
        args,
        kwargs,
        strict=True,
        fast=True,
        planning=planning,
    )
    try:
        with _core.NoRecord():
            entry = compilation.run()
    except _Done as done:
        return done.plan
    error = getattr(entry, "error", None)
    if error is not None:
        error.raise_again()
    raise Unsupported(f"'{name}' cannot be compiled whole, so that there is no plan of it")
