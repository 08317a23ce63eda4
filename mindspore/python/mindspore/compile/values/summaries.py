"""What a summary op does to a graph. Where nobody listens, nothing, and that is a fact of the compiled code. Else the value becomes
the new value of a Parameter (`common/_recorded.py`), so that branches, loops, gradients and fusion treat it as they treat the moving
averages of a normalisation; only in graphs that can change no Parameter Python is called, in program order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore._core import Tensor
from mindspore.common import _recorded
from mindspore.compile.values import effects

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


def record(tracer: Tracer, kind: str, name: str, value: Tensor) -> None:
    """Records a value under a name whenever the graph runs."""
    tracer.guards.item(_recorded.state, "open", _recorded.state["open"])
    if not _recorded.state["open"]:
        return
    shape = tuple(value.shape)
    if tracer.fixed or not all(type(size) is int for size in shape):
        effects.emit(tracer, _recorded.tell, (kind, name, value), {})
        return
    last, when = _recorded.kept(kind, name, value.dtype, shape)
    trace = tracer.trace
    time = trace.lift(_recorded.clock) + 1
    for parameter, new in ((last, value), (_recorded.clock, time), (when, time)):
        trace.lift(parameter)
        trace.set_parameter(parameter, trace.strong(new))
