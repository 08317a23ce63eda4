"""Collectives as functions that return their results. Each is a primitive of the same meaning, called at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import Tensor
from mindspore.common import _groups
from mindspore.communication import GROUP
from mindspore.ops._bind import raw
from mindspore.ops._collective_results import CommHandle, handle
from mindspore.ops._collectives import CLASSES
from mindspore.ops.function.communication_func import (
    all_to_all_single,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)
from mindspore.ops.function.uneven_func import all_to_all_v_c


def all_reduce(
    tensor: Tensor, op: str = "sum", group: str = GROUP, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """The sum, or what `op` says, over the processes, and a handle if asked for."""
    return CLASSES["AllReduce"](op, group)(tensor), handle(async_op)


def all_gather_into_tensor(
    tensor: Tensor, group: str = GROUP, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """The tensors of all processes, joined along axis 0, and a handle if asked for."""
    return CLASSES["AllGather"](group)(tensor), handle(async_op)


def reduce_scatter_tensor(
    tensor: Tensor, op: str = "sum", group: str = GROUP, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """This process's part of the reduced tensor, and a handle if asked for."""
    return CLASSES["ReduceScatter"](op, group)(tensor), handle(async_op)


def broadcast(tensor: Tensor, src: int = 0, group: str = GROUP) -> Tensor:
    """The tensor of one process, in all."""
    return CLASSES["Broadcast"](src, group)((tensor,))[0]


def barrier(group: str = GROUP) -> None:
    """Waits for the others."""
    CLASSES["Barrier"](group)()


def scatter_tensor(tensor: Tensor, src: int = 0, group: str = GROUP) -> Tensor:
    """This process's part of the tensor of one process."""
    return CLASSES["CollectiveScatter"](src, group)(tensor)


def gather_into_tensor(tensor: Tensor, dst: int = 0, group: str = GROUP) -> Tensor:
    """The tensors of all processes, joined along axis 0, in one of them."""
    return CLASSES["CollectiveGather"](dst, group)(tensor)


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str = GROUP) -> Tensor:
    """The reduced tensor, in one process."""
    return CLASSES["Reduce"](dst, op, group)(tensor)


def all_to_all_with_output_shape(
    output_shape_list: Sequence[Any],
    input_tensor_list: Sequence[Tensor],
    group: str | None = None,
    async_op: bool = False,
) -> tuple[tuple[Tensor, ...], CommHandle | None]:
    """Sends a tensor to each process; those that come, and a handle if asked for."""
    for what, listed in (
        ("output_shape_list", output_shape_list),
        ("input_tensor_list", input_tensor_list),
    ):
        if not isinstance(listed, (list, tuple)):
            raise TypeError(
                f"For 'all_to_all_with_output_shape', '{what}' must be a list or tuple, but got {type(listed).__name__}."
            )
    shapes = [tuple(s.shape) if isinstance(s, Tensor) else tuple(s) for s in output_shape_list]
    members = list(range(_groups.member(group, "all_to_all_with_output_shape").size))
    given = [tuple(x.shape) for x in input_tensor_list]
    exchange = CLASSES["NeighborExchange"](members, members, shapes, given, None, group or GROUP)
    return exchange(tuple(input_tensor_list)), handle(async_op)


def all_to_all_single_with_output_shape(
    output_shape: Sequence[int] | Tensor,
    tensor: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> tuple[Tensor, CommHandle | None]:
    """Sends a part of a tensor to each process; the parts that come, in one tensor, and a handle if asked for."""
    sizes = output_shape.asnumpy().tolist() if isinstance(output_shape, Tensor) else output_shape
    output = raw("Zeros")(shape=tuple(sizes), dtype=tensor.dtype)
    all_to_all_single(output, tensor, output_split_sizes, input_split_sizes, group)
    return output, handle(async_op)


class P2POp:
    """A sending or receiving for `batch_isend_irecv`.

    Args:
        op: "isend" or "irecv", or the function of that name.
        tensor: what is sent, or like what comes.
        peer: the other process.
    """

    def __init__(
        self,
        op: str | Callable,
        tensor: Any,
        peer: int,
        group: str | None = None,
        tag: int = 0,
        recv_dtype: Any = None,
    ):
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise ValueError(f"For 'P2POp', 'op' must be isend or irecv, but got {op!r}.")
        if tag != 0:
            raise NotImplementedError(f"For 'P2POp', 'tag' must be 0, but got {tag}.")
        self.op, self.tensor, self.peer = name, tensor, peer
        self.group, self.tag, self.recv_dtype = group or GROUP, tag, recv_dtype


__all__ = [
    "P2POp",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single_with_output_shape",
    "all_to_all_v_c",
    "all_to_all_with_output_shape",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "gather_into_tensor",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
    "send",
]
