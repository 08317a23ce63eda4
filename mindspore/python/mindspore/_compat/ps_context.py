"""`mindspore.parallel._ps_context`: training with parameter servers, which is off."""

from __future__ import annotations

from mindspore.context import get_ps_context as _get_ps_context
from mindspore.context import reset_ps_context as _reset_ps_context
from mindspore.context import set_ps_context as _set_ps_context


def _is_role_worker() -> bool:
    return False


_is_role_pserver = _is_role_sched = _is_ps_mode = _enable_distributed_mindrt = _is_role_worker


def _get_ps_mode_rank() -> int:
    return 0


def set_ps_enable(enable: bool) -> None:
    """Only switching it off is accepted."""
    _set_ps_context(enable_ps=enable)


__all__ = [
    "_enable_distributed_mindrt",
    "_get_ps_context",
    "_get_ps_mode_rank",
    "_is_ps_mode",
    "_is_role_pserver",
    "_is_role_sched",
    "_is_role_worker",
    "_reset_ps_context",
    "_set_ps_context",
    "set_ps_enable",
]
