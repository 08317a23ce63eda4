"""What processes do together, in the later spelling: results are written into the tensors that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.communication.comm_func import P2POp
from mindspore.ops import _exchange
from mindspore.ops._bind import raw
from mindspore.ops._collective_results import handle, write_results
from mindspore.ops.function.communication_func import (
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    destroy_process_group,
    gather_object,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    irecv,
    is_available,
    is_initialized,
    isend,
    new_group,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter_object_list,
    send,
)
from mindspore.ops.function.uneven_func import (
    all_gather_into_tensor_uneven,
    recv_object_list,
    reduce_scatter_tensor_uneven,
    send_object_list,
)


def _checked_list(name: str, what: str, tensors: Any, like: Tensor, at: _groups.Member) -> None:
    """A tensor for each process, each as the one of this process."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(f"For '{name}', '{what}' must be a list of Tensors, but got {tensors!r}.")
    if len(tensors) != at.size:
        raise ValueError(
            f"For '{name}', '{what}' must have a Tensor for each process of the group, {at.size}, but got {len(tensors)}."
        )
    for x in tensors:
        if x.shape != like.shape or x.dtype != like.dtype:
            raise ValueError(
                f"For '{name}', the Tensors of '{what}' must have the shape and dtype of 'tensor', {tuple(like.shape)} and "
                f"{like.dtype}, but got {tuple(x.shape)} and {x.dtype}."
            )


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the tensors of all processes into a list of one of them; the others give any list, or None."""
    at = _groups.member(group, "gather")
    _groups.rank_in(group, dst, "gather", "dst")
    if at.rank == dst:
        _checked_list("gather", "gather_list", gather_list, tensor, at)
    come = _exchange.gather(tensor.reshape((1, *tensor.shape)), dst, at)
    if at.rank == dst:
        write_results("gather", gather_list or (), [come[rank] for rank in range(at.size)])
    return handle(async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's tensor of the list of one process; the others give any list, or None."""
    at = _groups.member(group, "scatter")
    _groups.rank_in(group, src, "scatter", "src")
    if at.rank == src:
        _checked_list("scatter", "scatter_list", scatter_list, tensor, at)
        rows = raw("Stack")(*(scatter_list or ()), axis=0)
    else:  # of the same size, though nothing is read from it
        rows = raw("Zeros")(shape=(at.size, *tensor.shape), dtype=tensor.dtype)
    come = _exchange.scatter(rows, src, at)
    write_results("scatter", [tensor], [come.reshape(tuple(tensor.shape))])
    return handle(async_op)


__all__ = [
    "P2POp",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_into_tensor_uneven",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_uneven",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]
