"""What the processes of a group do together, as functions that write their results into tensors they are given. Of one process, the
result is what went in. What happens at once is done at once: a handle has nothing to wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.ops._collectives import alone, check_op
from mindspore.ops.function.inplace_methods import write


class CommHandle:
    """What is under way."""

    def wait(self) -> None:
        """Waits until it is done, which it is."""

    def is_completed(self) -> bool:
        """Whether it is done."""
        return True


def _done(name: str, group: Any, async_op: bool, outputs: Any = (), inputs: Any = ()) -> Any:
    """Writes the inputs into the outputs; the handle that was asked for."""
    _groups.ranks_of(group, name)
    if len(outputs) != len(inputs):
        raise ValueError(
            f"For '{name}', there must be as many outputs as inputs in a group of one process, but got {len(outputs)} "
            f"and {len(inputs)}."
        )
    for output, value in zip(outputs, inputs):
        if tuple(output.shape) != tuple(value.shape) or output.dtype != value.dtype:
            raise ValueError(
                f"For '{name}', the output must have the shape and dtype of the input in a group of one process, "
                f"{tuple(value.shape)} and {value.dtype}, but got {tuple(output.shape)} and {output.dtype}."
            )
        write(name, output, value)
    return CommHandle() if async_op else None


def _single(name: str, tensors: Sequence[Any]) -> None:
    if len(tensors) != 1:
        raise ValueError(
            f"For '{name}', there must be one item for each process of the group, 1, but got {len(tensors)}."
        )


def all_reduce(
    tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Replaces a tensor by the sum, or what `op` says, over the processes."""
    check_op("all_reduce", op)
    return _done("all_reduce", group, async_op)


def reduce(
    tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Replaces a tensor by the sum, or what `op` says, over the processes, in one of them."""
    check_op("reduce", op)
    _groups.rank_in(group, dst, "reduce", "dst")
    return _done("reduce", group, async_op)


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> Any:
    """Replaces a tensor by that of one process."""
    _groups.rank_in(group, src, "broadcast", "src")
    return _done("broadcast", group, async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """Waits for the others."""
    del device_ids
    return _done("barrier", group, async_op)


def all_gather(
    tensor_list: Sequence[Tensor],
    tensor: Tensor,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the tensors of all processes into a list of tensors."""
    _single("all_gather", tensor_list)
    return _done("all_gather", group, async_op, tensor_list, (tensor,))


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> Any:
    """Writes the tensors of all processes into one, joined along axis 0."""
    return _done("all_gather_into_tensor", group, async_op, (output_tensor,), (input_tensor,))


def gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the tensors of all processes into one, joined along axis 0, in one process."""
    _groups.rank_in(group, dst, "gather_into_tensor", "dst")
    return _done("gather_into_tensor", group, async_op, (output_tensor,), (input_tensor,))


def scatter_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's part of a tensor of one process."""
    _groups.rank_in(group, src, "scatter_tensor", "src")
    return _done("scatter_tensor", group, async_op, (output_tensor,), (input_tensor,))


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the reduced tensor of those that the processes have for this one."""
    check_op("reduce_scatter", op)
    _single("reduce_scatter", input_list)
    return _done("reduce_scatter", group, async_op, (output,), input_list)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's part of the reduced tensor."""
    check_op("reduce_scatter_tensor", op)
    return _done("reduce_scatter_tensor", group, async_op, (output,), (input,))


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Sends a tensor to each process, and writes those that come."""
    _single("all_to_all", input_tensor_list)
    return _done("all_to_all", group, async_op, output_tensor_list, input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Sends a part of a tensor to each process, and writes the parts that come."""
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and list(sizes) != [tensor.shape[0]]:
            raise ValueError(
                f"For 'all_to_all_single', the split sizes must be [{tensor.shape[0]}] in a group of one process, "
                f"but got {list(sizes)}."
            )
    return _done("all_to_all_single", group, async_op, (output,), (input,))


def all_gather_object(object_list: list, obj: Any, group: str | None = None) -> None:
    """Puts the objects of all processes into a list."""
    _single("all_gather_object", object_list)
    _done("all_gather_object", group, False)
    object_list[0] = obj


def gather_object(
    obj: Any, object_gather_list: list | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Puts the objects of all processes into a list of one process."""
    _groups.rank_in(group, dst, "gather_object", "dst")
    all_gather_object([None] if object_gather_list is None else object_gather_list, obj, group)


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list,
    src: int = 0,
    group: str | None = None,
) -> None:
    """Puts this process's object of the list of one process into another list."""
    _groups.rank_in(group, src, "scatter_object_list", "src")
    _single("scatter_object_list", scatter_object_input_list)
    if not scatter_object_output_list:
        raise ValueError(
            "For 'scatter_object_list', the output list must have at least one item, but got none."
        )
    scatter_object_output_list[0] = scatter_object_input_list[0]


def broadcast_object_list(
    object_list: list, src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """Replaces objects by those of one process."""
    del device
    _groups.rank_in(group, src, "broadcast_object_list", "src")


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Sends a tensor to another process."""
    raise alone("send")


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receives a tensor from another process."""
    raise alone("recv")


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Sends a tensor to another process; a handle."""
    raise alone("isend")


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receives a tensor from another process; a handle."""
    raise alone("irecv")


def batch_isend_irecv(p2p_op_list: Sequence[Any]) -> Any:
    """Sends and receives several tensors."""
    raise alone("batch_isend_irecv")


def init_process_group(
    backend: str = "hccl",
    init_method: Any = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Joins the world, which is this process."""
    del backend, init_method, timeout, store, group_name, pg_options, device_id
    if world_size not in (-1, 1) or rank not in (-1, 0):
        raise ValueError(
            f"For 'init_process_group', the world must have one process of rank 0, but got {world_size} and {rank}."
        )
    _groups.join("init_process_group")


def destroy_process_group(group: str | None = None) -> None:
    """Removes a group that was made, or all of them."""
    _groups.forget() if group is None or group in _groups.WORLDS else _groups.remove(group)


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Makes a group of processes of the world; its name. Of all processes it is the world."""
    del timeout, backend, pg_options, use_local_synchronization
    if ranks is None and group_desc is None:
        return _groups.WORLD
    ranks = [_groups.RANK] if ranks is None else list(ranks)
    name = group_desc or f"group_{'_'.join(map(str, ranks))}"
    _groups.make(name, ranks)
    return name


def get_rank(group: str | None = None) -> int:
    """The number of this process in a group."""
    return _groups.ranks_of(group, "get_rank").index(_groups.RANK)


def get_world_size(group: str | None = None) -> int:
    """The number of processes in a group."""
    return len(_groups.ranks_of(group, "get_world_size"))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The members of a group by their numbers in the world."""
    return list(_groups.ranks_of(group, "get_process_group_ranks"))


def get_global_rank(group: str | None, group_rank: int) -> int:
    """The number in the world of a member of a group."""
    ranks = _groups.ranks_of(group, "get_global_rank")
    return ranks[_groups.rank_in(group, group_rank, "get_global_rank", "group_rank")]


def get_group_rank(group: str | None, global_rank: int) -> int:
    """The number in a group of a process of the world; -1 outside."""
    ranks = _groups.ranks_of(group, "get_group_rank")
    return ranks.index(global_rank) if global_rank in ranks else -1


def is_available() -> bool:
    """Whether processes can form groups: a group of one process always can."""
    return True


def is_initialized() -> bool:
    """Whether this process has joined the world group."""
    return _groups.joined


def get_backend(group: str | None = None) -> str:
    """The transport of a group."""
    _groups.ranks_of(group, "get_backend")
    return "hccl"


__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather_into_tensor",
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
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter_object_list",
    "scatter_tensor",
    "send",
]
