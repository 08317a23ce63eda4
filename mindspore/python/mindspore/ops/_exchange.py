"""What the processes of a group do together, as functions of the ops that the device has. Of a group of one process each gives what
went in. All members of a group call the same ones in the same order, with tensors that fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common._groups import Member
from mindspore.ops._bind import raw


def all_reduce(x: Tensor, op: str, at: Member) -> Tensor:
    """The sum over the members, or what `op` says."""
    if at.size == 1:
        return raw("Identity")(x)
    if op == "avg":
        total = raw("AllReduce")(x, group=at.group, members=at.size)
        return (total / at.size).astype(x.dtype)
    return raw("AllReduce")(x, group=at.group, members=at.size, op=op)


def all_gather(x: Tensor, at: Member, rows: Sequence[int] = ()) -> Tensor:
    """The rows of all members; `rows` of each, where they do not have as many."""
    if at.size == 1:
        return raw("Identity")(x)
    return raw("AllGather")(
        x, group=at.group, members=at.size, counts=tuple(rows), rank=at.rank if rows else 0
    )


def reduce_scatter(x: Tensor, op: str, at: Member, rows: Sequence[int] = ()) -> Tensor:
    """This member's rows of the sum; `rows` of each, where they do not get as many."""
    if at.size == 1:
        return raw("Identity")(x)
    y = raw("ReduceScatter")(
        x,
        group=at.group,
        members=at.size,
        op="sum" if op == "avg" else op,
        counts=tuple(rows),
        rank=at.rank if rows else 0,
    )
    return (y / at.size).astype(x.dtype) if op == "avg" else y


def broadcast(x: Tensor, root: int, at: Member) -> Tensor:
    """What one member has."""
    if at.size == 1:
        return raw("Identity")(x)
    return raw("Broadcast")(x, group=at.group, members=at.size, root=root, rank=at.rank)


def reduce(x: Tensor, root: int, op: str, at: Member) -> Tensor:
    """The sum in one member; a tensor of one element, which means nothing, in the others."""
    y = all_reduce(x, op, at)
    return y if at.rank == root else _nothing(y)


def gather(x: Tensor, root: int, at: Member) -> Tensor:
    """The rows of all members, in one of them; a tensor of one element, which means nothing, in the others."""
    if at.size == 1:
        return raw("Identity")(x)
    here = at.rank == root
    sends = tuple(x.size if rank == root else 0 for rank in range(at.size))
    receives = (x.size if here else 0,) * at.size
    y = exchange(x.reshape(-1), sends, receives, at)
    return y.reshape((at.size * x.shape[0], *x.shape[1:])) if here else y.sum().reshape((1,))


def scatter(x: Tensor, root: int, at: Member) -> Tensor:
    """This member's part of the rows of one of them."""
    if at.size == 1:
        return raw("Identity")(x)
    if x.ndim == 0 or x.shape[0] % at.size:
        raise ValueError(
            f"For 'CollectiveScatter', the first dimension must be a multiple of the number of processes, {at.size}, but got the "
            f"shape {tuple(x.shape)}."
        )
    part = x.size // at.size
    here = at.rank == root
    sends = (part if here else 0,) * at.size
    receives = tuple(part if rank == root else 0 for rank in range(at.size))
    flat = x.reshape(-1)
    y = exchange(flat if here else flat[:0], sends, receives, at)
    return y.reshape((x.shape[0] // at.size, *x.shape[1:]))


def exchange(flat: Tensor, sends: Sequence[int], receives: Sequence[int], at: Member) -> Tensor:
    """Parts of a row of elements go to the members, theirs come here; how many to and from each."""
    if at.size == 1:
        return raw("Identity")(flat)
    return raw("Exchange")(flat, group=at.group, sends=tuple(sends), receives=tuple(receives))


def transpose(x: Tensor, split_dim: int, concat_dim: int, at: Member) -> Tensor:
    """Parts of `x` along one axis go to the members; those that come are joined along another."""
    if at.size == 1:
        return raw("Identity")(x)
    split_dim, concat_dim = split_dim % x.ndim, concat_dim % x.ndim
    if x.shape[split_dim] % at.size:
        raise ValueError(
            f"For 'AlltoAll', the dimension 'split_dim' must be a multiple of the number of processes, {at.size}, but got "
            f"{x.shape[split_dim]}."
        )
    part = list(x.shape)
    part[split_dim] //= at.size
    parts = x.reshape((*x.shape[:split_dim], at.size, *part[split_dim:]))
    parts = parts.movedim(split_dim, 0)
    counts = (x.size // at.size,) * at.size
    come = exchange(parts.reshape(-1), counts, counts, at).reshape((at.size, *part))
    joined = list(part)
    joined[concat_dim] *= at.size
    return come.movedim(0, concat_dim).reshape(tuple(joined))


def to_neighbours(
    tensors: Sequence[Tensor],
    targets: Sequence[int],
    sources: Sequence[int],
    shapes: Sequence[Sequence[int]],
    dtype: Any,
    at: Member,
) -> tuple:
    """A tensor to each of `targets`; from each of `sources` one of the shape in `shapes`. All members call it, also those that have
    nothing to send or nothing to receive; all tensors are of one dtype."""
    sizes = [_product(shape) for shape in shapes]
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    arrival = sorted(range(len(sources)), key=lambda i: sources[i])
    sends = [0] * at.size
    receives = [0] * at.size
    for i, target in enumerate(targets):
        sends[target] += tensors[i].size
    for i, source in enumerate(sources):
        receives[source] += sizes[i]
    flat = [tensors[i].reshape(-1) for i in order]
    row = raw("Concat")(*flat, axis=0) if flat else raw("Zeros")(shape=(0,), dtype=dtype)
    come = exchange(row, sends, receives, at)
    found: dict[int, Tensor] = {}
    begin = 0
    for i in arrival:
        found[i] = come[begin : begin + sizes[i]].reshape(tuple(shapes[i]))
        begin += sizes[i]
    return tuple([found[i] for i in range(len(sources))])


def send(x: Tensor, target: int, tag: int, at: Member) -> Tensor:
    """Gives a zero that says that the tensor is on its way."""
    return raw("Send")(x, group=at.group, target=target, tag=tag)


def receive(shape: Sequence[int], dtype: Any, source: int, tag: int, at: Member) -> Tensor:
    """A tensor that another member sends."""
    return raw("Receive")(group=at.group, source=source, tag=tag, shape=tuple(shape), dtype=dtype)


def barrier(at: Member) -> None:
    """Waits for the others."""
    if at.size > 1:
        raw("Barrier")(group=at.group)


def _nothing(y: Tensor) -> Tensor:
    """One element that is made of `y`, so that gradients come by here as they do in the member that has the result."""
    return y.reshape(-1)[:1].sum().reshape((1,))


def _product(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product
