"""What the processes of a group do together, as primitives. A group is one process, this one: then each of them is the identity, on
tensors of the shape that its documentation gives for one process, and there is nobody to send to. The checks are those of any group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.ops._bind import raw
from mindspore.ops.primitive import PythonPrimitive

_GROUP = ("group", _groups.WORLD, True)
_OP = ("op", "sum", True)


class ReduceOp:
    """Names of the ways in which values of several processes become one."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


_OPS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD, ReduceOp.AVG)


def check_op(name: str, op: object) -> None:
    """Refuses what is no way to reduce."""
    if not isinstance(op, str):
        raise TypeError(f"For '{name}', 'op' must be a str, but got {type(op).__name__}.")
    if op not in _OPS:
        raise ValueError(f"For '{name}', 'op' must be one of {list(_OPS)}, but got {op!r}.")


def alone(name: str) -> RuntimeError:
    """Says that there is no other process."""
    return RuntimeError(
        f"For '{name}', there must be another process in the group, but it has this one alone."
    )


class Collective(PythonPrimitive):
    """A primitive of a group: its arguments are checked where it is made."""

    _ranks: tuple[str, ...] = ()  # attributes that number a member

    def _bind(self) -> None:
        super()._bind()
        _groups.ranks_of(self.group, self.name)
        if "op" in self.attrs:
            check_op(self.name, self.attrs["op"])
        for rank in self._ranks:
            _groups.rank_in(self.group, getattr(self, rank), self.name, rank)

    @property
    def rank_size(self) -> int:
        """How many processes the group has."""
        return len(_groups.ranks_of(self.group, self.name))


def _copied(self: Any, input_x: Tensor) -> Tensor:
    return raw("Identity")(input_x)


def _each_copied(self: Any, input_x: Sequence[Tensor]) -> tuple:
    return tuple(raw("Identity")(x) for x in input_x)


def _split_copied(self: Any, input_x: Tensor, sizes: Any) -> Tensor:
    _check_sizes(self.name, "the split sizes", sizes, input_x.shape[0] if input_x.ndim else 1)
    return raw("Identity")(input_x)


def _counts_copied(self: Any, input_x: Tensor, counts: Any) -> Tensor:
    _check_sizes(self.name, "the counts", counts, input_x.size // self.block_size)
    return raw("Identity")(input_x)


def _both_copied(self: Any, input_x: Tensor, send_numel_list: Any, recv_numel_list: Any) -> Tensor:
    for counts in (send_numel_list, recv_numel_list):
        _check_sizes(self.name, "the counts", counts, input_x.size // self.block_size)
    return raw("Identity")(input_x)


def _check_sizes(name: str, what: str, sizes: Any, size: int) -> None:
    """Of one process, the only part is the whole."""
    numbers = sizes.asnumpy().reshape(-1).tolist() if isinstance(sizes, Tensor) else sizes
    while isinstance(numbers, (tuple, list)) and len(numbers) == 1:
        numbers = numbers[0]
    if numbers != size:
        raise ValueError(
            f"For '{name}', {what} must be [{size}] in a group of one process, but got {sizes}."
        )


def _exchanged(self: Any, input_x: Sequence[Tensor]) -> tuple:
    """What this process sends to itself arrives in the order in which it is sent."""
    for which in ("send", "recv"):
        ranks, shapes = getattr(self, f"{which}_rank_ids"), getattr(self, f"{which}_shapes")
        for rank in ranks:
            _groups.rank_in(self.group, rank, self.name, f"{which}_rank_ids")
        shapes = [tuple(shape) for shape in shapes]
        if len(ranks) != len(input_x) or shapes != [tuple(x.shape) for x in input_x]:
            raise ValueError(
                f"For '{self.name}', '{which}_shapes' must be those of the {len(input_x)} inputs in a group of one process, "
                f"but got {shapes} for the ranks {list(ranks)}."
            )
    return _each_copied(self, input_x)


def _halo_copied(self: Any, input_x: Tensor) -> Tensor:
    if any(rank != -1 for rank in (*self.send_rank_ids, *self.recv_rank_ids)):
        raise alone(self.name)
    return raw("Identity")(input_x)


def _transposed(self: Any, input_x: Tensor) -> Tensor:
    if self.split_count != self.rank_size:
        raise ValueError(
            f"For '{self.name}', 'split_count' must be the number of processes, {self.rank_size}, but got {self.split_count}."
        )
    for axis in (self.split_dim, self.concat_dim):
        if not -input_x.ndim <= axis < input_x.ndim:
            raise ValueError(
                f"For '{self.name}', the dimensions must be in [{-input_x.ndim}, {input_x.ndim}), but got {axis}."
            )
    return raw("Identity")(input_x)


def _nothing(self: Any) -> tuple:
    return ()


def _refused(self: Any, *inputs: Any) -> Any:
    raise alone(self.name)


_Row = tuple[Callable, list, tuple, str]
_TABLE: dict[str, _Row] = {
    "AllReduce": (_copied, [_OP, _GROUP], (), "The sum, or what `op` says, over the processes."),
    "AllGather": (_copied, [_GROUP], (), "The tensors of all processes, joined along axis 0."),
    "AllGatherV": (_split_copied, [_GROUP], (), "Tensors of different lengths, joined."),
    "ReduceScatter": (_copied, [_OP, _GROUP], (), "This process's part of the reduced tensor."),
    "ReduceScatterV": (_split_copied, [_OP, _GROUP], (), "A part, of a given length, of the same."),
    "Broadcast": (
        _each_copied,
        [("root_rank", None, False), _GROUP],
        ("root_rank",),
        "The tensors of one process, in all.",
    ),
    "Reduce": (
        _copied,
        [("dest_rank", None, False), _OP, _GROUP],
        ("dest_rank",),
        "The reduced tensor, in one process.",
    ),
    "CollectiveGather": (
        _copied,
        [("dest_rank", None, False), _GROUP],
        ("dest_rank",),
        "The joined tensor, in one process.",
    ),
    "CollectiveScatter": (
        _copied,
        [("src_rank", 0, True), _GROUP],
        ("src_rank",),
        "A part of the tensor of one process.",
    ),
    "AlltoAll": (
        _transposed,
        [
            ("split_count", None, False),
            ("split_dim", None, False),
            ("concat_dim", None, False),
            _GROUP,
        ],
        (),
        "Parts of this process's tensor go to the others, theirs are joined here.",
    ),
    "AlltoAllV": (
        _both_copied,
        [_GROUP, ("block_size", 1, True)],
        (),
        "The same with parts of different lengths.",
    ),
    "AlltoAllVC": (
        _counts_copied,
        [_GROUP, ("block_size", 1, True), ("transpose", False, True)],
        (),
        "The same with the lengths of all processes in one matrix.",
    ),
    "NeighborExchange": (
        _exchanged,
        [
            *((name, None, False) for name in ("send_rank_ids", "recv_rank_ids", "recv_shapes")),
            ("send_shapes", None, False),
            ("recv_type", None, False),
            _GROUP,
        ],
        (),
        "Tensors to some processes and from some.",
    ),
    "NeighborExchangeV2": (
        _halo_copied,
        [
            *((name, None, False) for name in ("send_rank_ids", "send_lens", "recv_rank_ids")),
            ("recv_lens", None, False),
            ("data_format", None, False),
            _GROUP,
        ],
        (),
        "Borders of images to and from the eight neighbours, of which -1 is none.",
    ),
    "Barrier": (_nothing, [_GROUP], (), "Waits for the others."),
    "Send": (
        _refused,
        [
            ("sr_tag", None, False),
            ("dest_rank", None, False),
            _GROUP,
            ("group_back", _groups.WORLD, True),
        ],
        (),
        "A tensor to another process.",
    ),
    "Receive": (
        _refused,
        [
            *((name, None, False) for name in ("sr_tag", "src_rank", "shape", "dtype")),
            _GROUP,
            ("group_back", _groups.WORLD, True),
        ],
        (),
        "A tensor from another process.",
    ),
    "BatchISendIRecv": (
        _refused,
        [
            ("op_types", None, False),
            ("remote_ranks", None, False),
            ("receive_shapes", None, True),
            ("receive_dtypes", None, True),
            _GROUP,
        ],
        (),
        "Several tensors to and from other processes.",
    ),
}


def _make(name: str, row: _Row) -> type:
    call, constructor, ranks, doc = row
    call.__name__ = "__call__"  # for messages
    members = {"__call__": call, "__doc__": doc, "_constructor": constructor, "_ranks": ranks}
    return type(name, (Collective,), {**members, "__module__": "mindspore.ops.operations.comm_ops"})


CLASSES: dict[str, type] = {name: _make(name, row) for name, row in _TABLE.items()}


class _VirtualDataset(PythonPrimitive):
    """Its arguments; where data enters a network that is spread over processes."""

    def __call__(self, *args: Tensor) -> tuple:
        return args


CLASSES["_VirtualDataset"] = _VirtualDataset
