"""What a training says of itself when it goes wrong: a loss that is no number, steps that are left out. Each is said once."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import log
from mindspore.common import _groups, _planning
from mindspore.common.tensor import Tensor
from mindspore.train.callback._values import first_value, is_broken


class Health:
    """Looks at what each step returned."""

    def __init__(self) -> None:
        self.skipped = 0  # steps whose gradients overflowed, and which changed nothing
        self._steps = 0
        self._said: set[str] = set()

    def look(self, network: Any, outputs: Any, epoch: int, step: int, done: int = 1) -> None:
        """After a step of the training network, or after several, of which the last tells whether they went well."""
        self._steps += done
        where = f"epoch: {epoch} step: {step}"
        scale = _scale_of_skipped(outputs)
        if scale is not None:
            self.skipped += 1
            self._say(
                "skipped",
                where,
                f"gradients overflow with loss scale {scale:g}; the step changes no parameter",
            )
            if scale <= 1:
                self._say(
                    "floor",
                    where,
                    "gradients overflow though the loss scale is as small as it gets"
                    + _culprit(network),
                )
            return
        loss = first_value(outputs)
        if is_broken(loss):
            self._say("loss", where, f"the loss is {loss}{_culprit(network)}")

    def _say(self, what: str, where: str, text: str) -> None:
        if what not in self._said:
            self._said.add(what)
            _warn(f"{where}, {text}.")

    def close(self) -> None:
        """At the end: how many steps were left out."""
        if self.skipped:
            _warn(
                f"{self.skipped} of {self._steps} steps changed no parameter, as their gradients overflowed."
            )


def _warn(text: str) -> None:
    """Once for all processes that have the same."""
    if _groups.writes_for_all():
        log.warning(text)


def _scale_of_skipped(outputs: Any) -> float | None:
    """The loss scale of a step that was left out; None for any other."""
    if not isinstance(outputs, (tuple, list)) or len(outputs) != 3:
        return None
    overflow, scale = outputs[1:]
    if not all(isinstance(value, Tensor) and value.size == 1 for value in (overflow, scale)):
        return None
    return float(np.ravel(scale.asnumpy())[0]) if bool(overflow.asnumpy()) else None


def _culprit(network: Any) -> str:
    """The first parameter of which this process holds what is no number."""
    for parameter in network.get_parameters():
        value = _planning.local_value(parameter).asnumpy()
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return f", and parameter '{parameter.name}' is not finite"
    return ""


__all__ = ["Health"]
