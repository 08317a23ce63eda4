"""`mindspore.nn.thor`: the second-order optimizer, which this build does not have."""

from __future__ import annotations

from mindspore.common._refused import refused

__getattr__ = refused("mindspore.nn.optim.thor")
__all__ = ["THOR", "ThorAscend", "ThorGpu", "thor"]  # noqa: F822
