"""The old path of `mindspore.communication`."""

from mindspore.communication import (
    GlobalComm,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_rank,
    init,
    release,
)

__all__ = [
    "GlobalComm",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_rank",
    "init",
    "release",
]
