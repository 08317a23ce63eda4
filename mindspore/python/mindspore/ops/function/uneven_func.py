"""What the processes of a group do together, where the parts differ in length: rows of tensors, and objects from one to another."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.ops import _exchange
from mindspore.ops._collective_results import handle, write_results
from mindspore.ops._collectives import check_op
from mindspore.ops.function import communication_func as functions


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
    write_results(name, [output], [_exchange.all_gather(input, at, rows)])
    return handle(async_op)


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
    write_results(name, [output], [_exchange.reduce_scatter(input, op, at, rows)])
    return handle(async_op)


def all_to_all_v_c(
    output: Tensor,
    input: Tensor,
    send_count_matrix: Sequence[int],
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Sends rows of a tensor to each process, and writes those that come. `send_count_matrix[i * size + j]` says how many rows process
    `i` sends to `j`."""
    name = "all_to_all_v_c"
    at = _groups.member(group, name)
    counts = send_count_matrix
    if len(counts) != at.size**2 or min(counts) < 0:
        raise ValueError(
            f"For '{name}', 'send_count_matrix' must be {at.size**2} numbers that are not negative, for each pair of processes one, "
            f"but got {list(counts)}."
        )
    sent, come = counts[at.rank * at.size :][: at.size], counts[at.rank :: at.size]
    return functions.all_to_all_single(output, input, come, sent, group, async_op)


def set_comm_ops_inplace(is_enable: bool, func_list: Sequence[str] | None = None) -> None:
    """Whether functions of this kind write their results into the tensors that they are given; here they always do."""
    name = "set_comm_ops_inplace"
    known = {*functions.__all__, *__all__}
    for function in func_list or ():
        if function not in known:
            raise ValueError(
                f"For '{name}', 'func_list' must hold names of collectives, but got {function!r}."
            )
    if not is_enable:
        raise NotImplementedError(
            f"For '{name}', 'is_enable' must be True: results are written into the tensors that are given; those of "
            "mindspore.communication.comm_func are returned."
        )


def _objects(name: str, value: Any) -> list:
    if not value:
        raise ValueError(f"For '{name}', 'object_list' must not be empty, but got [].")
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
    "all_to_all_v_c",
    "recv_object_list",
    "reduce_scatter_tensor_uneven",
    "send_object_list",
    "set_comm_ops_inplace",
]
