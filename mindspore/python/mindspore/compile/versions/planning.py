"""An attempt to compile that ends where there is a plan."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore.compile.versions.attempt import Attempt


class Planned(BaseException):
    """Leaves a compilation with what was planned."""

    plan: dict[str, Any]


class PlanningAttempt(Attempt):
    """One that ends where the graph would be compiled: by `Planned`, or the error of what cannot be planned."""

    lightest = False  # any plan will do that a device has room for

    def _compiled(self) -> Any:
        assert self.asked.planning is not None
        done = Planned()
        with self.asked.planning.told(self.parameters(), self.lightest):
            done.plan = _core.plan(self.tracer.trace)
        raise done

    def _fail(self, located: Any) -> Any:
        raise located  # nothing is to be done before


class FittingAttempt(PlanningAttempt):
    """One that only finds out whether there is a plan, which is quick."""

    lightest = True


__all__ = ["FittingAttempt", "Planned", "PlanningAttempt"]
