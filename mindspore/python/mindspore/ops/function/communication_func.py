"""What the processes of a group do together, as functions that write their results into tensors they are given."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.common._groups import Member
from mindspore.ops import _exchange
from mindspore.ops._bind import raw
from mindspore.ops._collective_results import CommHandle, handle, write_results
from mindspore.ops._collectives import alone, check_op
from mindspore.ops._lines import LINES


def _for_each(name: str, items: Sequence[Any], at: Member) -> None:
    if len(items) != at.size:
        raise ValueError(
            f"For '{name}', there must be one item for each process of the group, {at.size}, but got {len(items)}."
        )


def _split(value: Tensor, at: Member) -> list[Tensor]:
    rows = value.shape[0] // at.size
    return [value[rank * rows : (rank + 1) * rows] for rank in range(at.size)]


def all_reduce(
    tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Replaces a tensor by the sum, or what `op` says, over the processes."""
    check_op("all_reduce", op)
    at = _groups.member(group, "all_reduce")
    write_results("all_reduce", [tensor], [_exchange.all_reduce(tensor, op, at)])
    return handle(async_op)


def reduce(
    tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Replaces a tensor by the sum, or what `op` says, over the processes, in one of them."""
    check_op("reduce", op)
    at = _groups.member(group, "reduce")
    _groups.rank_in(group, dst, "reduce", "dst")
    total = _exchange.reduce(tensor, dst, op, at)
    if at.rank == dst:
        write_results("reduce", [tensor], [total])
    return handle(async_op)


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> Any:
    """Replaces a tensor by that of one process."""
    at = _groups.member(group, "broadcast")
    _groups.rank_in(group, src, "broadcast", "src")
    write_results("broadcast", [tensor], [_exchange.broadcast(tensor, src, at)])
    return handle(async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """Waits for the others."""
    del device_ids
    _exchange.barrier(_groups.member(group, "barrier"))
    return handle(async_op)


def all_gather(
    tensor_list: Sequence[Tensor],
    tensor: Tensor,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the tensors of all processes into a list of tensors."""
    at = _groups.member(group, "all_gather")
    _for_each("all_gather", tensor_list, at)
    come = _exchange.all_gather(tensor.reshape((1, *tensor.shape)), at)
    write_results("all_gather", tensor_list, [come[rank] for rank in range(at.size)])
    return handle(async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> Any:
    """Writes the tensors of all processes into one, joined along axis 0."""
    at = _groups.member(group, "all_gather_into_tensor")
    come = _exchange.all_gather(input_tensor, at)
    write_results("all_gather_into_tensor", [output_tensor], [come])
    return handle(async_op)


def gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the tensors of all processes into one, joined along axis 0, in one process."""
    at = _groups.member(group, "gather_into_tensor")
    _groups.rank_in(group, dst, "gather_into_tensor", "dst")
    come = _exchange.gather(input_tensor, dst, at)
    if at.rank == dst:
        write_results("gather_into_tensor", [output_tensor], [come])
    return handle(async_op)


def scatter_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's part of a tensor of one process."""
    at = _groups.member(group, "scatter_tensor")
    _groups.rank_in(group, src, "scatter_tensor", "src")
    write_results("scatter_tensor", [output_tensor], [_exchange.scatter(input_tensor, src, at)])
    return handle(async_op)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the reduced tensor of those that the processes have for this one."""
    check_op("reduce_scatter", op)
    at = _groups.member(group, "reduce_scatter")
    _for_each("reduce_scatter", input_list, at)
    rows = raw("Stack")(*input_list, axis=0)
    come = _exchange.reduce_scatter(rows, op, at)
    write_results("reduce_scatter", [output], [come.reshape(tuple(come.shape[1:]))])
    return handle(async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's part of the reduced tensor."""
    check_op("reduce_scatter_tensor", op)
    at = _groups.member(group, "reduce_scatter_tensor")
    write_results("reduce_scatter_tensor", [output], [_exchange.reduce_scatter(input, op, at)])
    return handle(async_op)


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Sends a tensor to each process, and writes those that come."""
    at = _groups.member(group, "all_to_all")
    for items in (input_tensor_list, output_tensor_list):
        _for_each("all_to_all", items, at)
    members = range(at.size)
    shapes = [tuple(output.shape) for output in output_tensor_list]
    come = _exchange.to_neighbours(input_tensor_list, members, members, shapes, None, at)
    write_results("all_to_all", output_tensor_list, come)
    return handle(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Sends a part of a tensor to each process, and writes the parts that come."""
    at = _groups.member(group, "all_to_all_single")
    sends = _elements(input_split_sizes, input, at)
    receives = _elements(output_split_sizes, output, at)
    come = _exchange.exchange(input.reshape(-1), sends, receives, at)
    write_results("all_to_all_single", [output], [come.reshape(tuple(output.shape))])
    return handle(async_op)


def _elements(sizes: Sequence[int] | None, tensor: Tensor, at: Member) -> list[int]:
    """Elements for each process, of which `sizes` says rows; as many for all if it says nothing."""
    rows = tensor.shape[0] if tensor.ndim else 1
    if not sizes:
        if rows % at.size:
            raise ValueError(
                f"For 'all_to_all_single', the first dimension must be a multiple of the number of processes, {at.size}, where no "
                f"split sizes are given, but got {rows}."
            )
        sizes = [rows // at.size] * at.size
    if len(sizes) != at.size or sum(sizes) != rows:
        raise ValueError(
            f"For 'all_to_all_single', the split sizes must be {at.size} that add up to {rows}, but got {list(sizes)}."
        )
    return [size * (tensor.size // max(rows, 1)) for size in sizes]


def _gathered_objects(obj: Any, at: Member) -> list:
    """The objects of all processes, which trust each other: they run one program."""
    if at.size == 1:
        return [obj]
    data = np.frombuffer(pickle.dumps(obj), np.uint8)
    lengths = _exchange.all_gather(Tensor(np.array([data.size], np.int64)), at).asnumpy().tolist()
    row = _exchange.all_gather(Tensor(data), at, lengths).asnumpy()
    ends = np.cumsum(lengths)
    return [pickle.loads(row[end - n : end].tobytes()) for n, end in zip(lengths, ends)]


def all_gather_object(object_list: list, obj: Any, group: str | None = None) -> None:
    """Puts the objects of all processes into a list."""
    at = _groups.member(group, "all_gather_object")
    _for_each("all_gather_object", object_list, at)
    object_list[:] = _gathered_objects(obj, at)


def gather_object(
    obj: Any, object_gather_list: list | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Puts the objects of all processes into a list of one process."""
    at = _groups.member(group, "gather_object")
    _groups.rank_in(group, dst, "gather_object", "dst")
    here = at.rank == dst
    if here and object_gather_list is not None:
        _for_each("gather_object", object_gather_list, at)
    found = _gathered_objects(obj, at)
    if here and object_gather_list is not None:
        object_gather_list[:] = found


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list,
    src: int = 0,
    group: str | None = None,
) -> None:
    """Puts this process's object of the list of one process into another list."""
    at = _groups.member(group, "scatter_object_list")
    _groups.rank_in(group, src, "scatter_object_list", "src")
    here = at.rank == src
    if here:
        _for_each("scatter_object_list", scatter_object_input_list, at)
    if not scatter_object_output_list:
        raise ValueError(
            "For 'scatter_object_list', the output list must have at least one item, but got none."
        )
    found = _gathered_objects(list(scatter_object_input_list) if here else None, at)
    scatter_object_output_list[0] = found[src][at.rank]


def broadcast_object_list(
    object_list: list, src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """Replaces objects by those of one process."""
    del device
    at = _groups.member(group, "broadcast_object_list")
    _groups.rank_in(group, src, "broadcast_object_list", "src")
    object_list[:] = _gathered_objects(object_list if at.rank == src else None, at)[src]


def _other(name: str, rank: Any, group: str | None, what: str) -> Member:
    at = _groups.member(group, name)
    if at.size == 1:
        raise alone(name)
    _groups.rank_in(group, rank, name, what)
    if rank == at.rank:
        raise ValueError(f"For '{name}', '{what}' must be another process, but got {rank}.")
    return at


def _receive(name: str, tensor: Tensor, src: int, tag: int, at: Member) -> None:
    write_results(name, [tensor], [_exchange.receive(tensor.shape, tensor.dtype, src, tag, at)])


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Sends a tensor to another process."""
    at = _other("send", dst, group, "dst")
    LINES.at_once(("send", at.group, dst, tag), lambda: _exchange.send(tensor, dst, tag, at))


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receives a tensor from another process."""
    at = _other("recv", src, group, "src")
    LINES.at_once(("receive", at.group, src, tag), lambda: _receive("recv", tensor, src, tag, at))
    return 0


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Sends a tensor to another process; a handle."""
    at = _other("isend", dst, group, "dst")
    value = tensor.copy()  # what is written to it after the call is not sent
    line = ("send", at.group, dst, tag)
    return CommHandle(LINES.later(line, lambda: _exchange.send(value, dst, tag, at)))


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receives a tensor from another process; a handle."""
    at = _other("irecv", src, group, "src")
    line = ("receive", at.group, src, tag)
    return CommHandle(LINES.later(line, lambda: _receive("irecv", tensor, src, tag, at)))


def batch_isend_irecv(p2p_op_list: Sequence[Any]) -> Any:
    """Sends and receives several tensors, whatever their order is in each process; handles."""
    if not p2p_op_list:
        raise ValueError("For 'batch_isend_irecv', the list must have an item, but got none.")
    for op in p2p_op_list:
        if not hasattr(op, "peer"):
            raise TypeError(
                f"For 'batch_isend_irecv', each item must be a P2POp, but got {type(op).__name__}."
            )
    if any(_groups.member(op.group, "batch_isend_irecv").size == 1 for op in p2p_op_list):
        raise alone("batch_isend_irecv")
    functions = {"isend": isend, "irecv": irecv}
    return [functions[op.op](op.tensor, op.peer, op.group, op.tag) for op in p2p_op_list]


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
    """Joins the world: waits for the processes that were started together."""
    del backend, init_method, timeout, store, group_name, pg_options, device_id
    _groups.join("init_process_group")
    here = (_groups.world_size(), _groups.world_rank())
    if world_size not in (-1, here[0]) or rank not in (-1, here[1]):
        raise ValueError(
            f"For 'init_process_group', 'world_size' and 'rank' must be those that the launcher gave, {here[0]} and {here[1]}, but "
            f"got {world_size} and {rank}."
        )


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
    ranks = list(range(_groups.world_size())) if ranks is None else list(ranks)
    name = group_desc or f"group_{'_'.join(map(str, ranks))}"
    _groups.make(name, ranks)
    return name


def get_rank(group: str | None = None) -> int:
    """The number of this process in a group; -1 outside."""
    ranks = _groups.ranks_of(group, "get_rank")
    return ranks.index(_groups.world_rank()) if _groups.world_rank() in ranks else -1


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
    return "mpi" if _groups.world_size() > 1 else "hccl"


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
