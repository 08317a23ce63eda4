"""`mindspore.nn.thor`: the second-order optimizer, which this build does not have."""

from __future__ import annotations

from mindspore._compat.refused import refusing

_WHY = "second-order training with THOR is not part of this build; nn.Adam or nn.Momentum train the same networks"
thor, THOR, ThorGpu, ThorAscend = (
    refusing(name, _WHY) for name in ("thor", "THOR", "ThorGpu", "ThorAscend")
)
__all__ = ["THOR", "ThorAscend", "ThorGpu", "thor"]
