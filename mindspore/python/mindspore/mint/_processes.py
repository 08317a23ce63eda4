"""Collectives that `mint.distributed` alone has: lists of tensors of one process, parts of different lengths, objects from one to another."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.ops import _exchange
from mindspore.ops._bind import raw
from mindspore.ops._collectives import check_op
from mindspore.ops.function import communication_func as functions


def _done(async_op: bool) -> functions.CommHandle | None:
    return functions.CommHandle() if async_op else None


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
        functions._write("gather", gather_list or (), [come[rank] for rank in range(at.size)])
    return _done(async_op)


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
    functions._write("scatter", [tensor], [come.reshape(tuple(tensor.shape))])
    return _done(async_op)


def _rows(name: str, what: str, sizes: Any, whole: Tensor, at: _groups.Member) -> list[int]:
    """The rows of each process among those of a tensor."""
    rows = whole.shape[0] if whole.ndim else 1
    if sizes is None:
        if rows % at.size:
            raise ValueError(
                f"For '{name}', '{what}' must say how many of the {rows} rows each process has, which is no multiple of {at.size}, "
                "but got None."
            )
        return [rows // at.size] * at.size
    if not isinstance(sizes, (list, tuple)) or not all(type(n) is int for n in sizes):
        raise TypeError(f"For '{name}', '{what}' must be a list of ints, but got {sizes!r}.")
    if len(sizes) != at.size or sum(sizes) != rows or min(sizes) < 0:
        raise ValueError(
            f"For '{name}', '{what}' must be {at.size} numbers that are not negative and add up to {rows}, but got {list(sizes)}."
        )
    return list(sizes)


def all_gather_into_tensor_uneven(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes the rows of all processes into one tensor; `output_split_sizes` says how many each of them has."""
    name = "all_gather_into_tensor_uneven"
    at = _groups.member(group, name)
    rows = _rows(name, "output_split_sizes", output_split_sizes, output, at)
    functions._write(name, [output], [_exchange.all_gather(input, at, rows)])
    return _done(async_op)


def reduce_scatter_tensor_uneven(
    output: Tensor,
    input: Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Writes this process's rows of the reduced tensor; `input_split_sizes` says how many each process gets."""
    name = "reduce_scatter_tensor_uneven"
    check_op(name, op)
    at = _groups.member(group, name)
    rows = _rows(name, "input_split_sizes", input_split_sizes, input, at)
    functions._write(name, [output], [_exchange.reduce_scatter(input, op, at, rows)])
    return _done(async_op)


def _objects(name: str, value: Any) -> list:
    if not isinstance(value, list) or not value:
        raise TypeError(
            f"For '{name}', 'object_list' must be a list that is not empty, but got {value!r}."
        )
    return value


def send_object_list(
    object_list: list, dst: int, group: str | None = None, device: Any = None
) -> None:
    """Sends objects to another process, which calls `recv_object_list` with a list of as many."""
    del device
    texts = [pickle.dumps(item) for item in _objects("send_object_list", object_list)]
    functions._other("send_object_list", dst, group, "dst")
    functions.send(Tensor(np.array([len(text) for text in texts], np.int64)), dst, group)
    functions.send(Tensor(np.frombuffer(b"".join(texts), np.uint8).copy()), dst, group)


def recv_object_list(
    object_list: list, src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """Replaces the items of a list by the objects that another process sends, which is trusted: both run one program."""
    del device
    count = len(_objects("recv_object_list", object_list))
    functions._other("recv_object_list", src, group, "src")
    lengths = Tensor(np.zeros(count, np.int64))
    functions.recv(lengths, src, group)
    sizes = lengths.asnumpy().tolist()
    text = Tensor(np.zeros(sum(sizes), np.uint8))
    functions.recv(text, src, group)
    ends = np.cumsum(sizes)
    data = text.asnumpy()
    object_list[:] = [pickle.loads(data[e - n : e].tobytes()) for n, e in zip(sizes, ends)]


__all__ = [
    "all_gather_into_tensor_uneven",
    "gather",
    "recv_object_list",
    "reduce_scatter_tensor_uneven",
    "scatter",
    "send_object_list",
]
