"""What the processes of a group do together, as primitives. Groups and their members are known where a primitive is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common._size import is_int
from mindspore.ops import _exchange
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
        self.at = _groups.member(self.group, self.name)
        if "op" in self.attrs:
            check_op(self.name, self.attrs["op"])
        for rank in self._ranks:
            _groups.rank_in(self.group, getattr(self, rank), self.name, rank)

    @property
    def rank_size(self) -> int:
        """How many processes the group has."""
        return self.at.size


def _all_reduce(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.all_reduce(input_x, self.op, self.at)


def _all_gather(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.all_gather(input_x, self.at)


def _reduce_scatter(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.reduce_scatter(input_x, self.op, self.at)


def _broadcast(self: Any, input_x: Sequence[Tensor]) -> tuple:
    return tuple([_exchange.broadcast(x, self.root_rank, self.at) for x in input_x])


def _reduce(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.reduce(input_x, self.dest_rank, self.op, self.at)


def _gather(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.gather(input_x, self.dest_rank, self.at)


def _scatter(self: Any, input_x: Tensor) -> Tensor:
    return _exchange.scatter(input_x, self.src_rank, self.at)


def _all_gather_rows(self: Any, input_x: Tensor, output_split_sizes: Any) -> Tensor:
    rows = _numbers(self.name, "output_split_sizes", output_split_sizes, self.at.size)
    mine = input_x.shape[0] if input_x.ndim else 1
    if rows[self.at.rank] != mine:
        raise ValueError(
            f"For '{self.name}', 'output_split_sizes' must have {mine}, the length of 'input_x', for this process, but got {rows}."
        )
    return _exchange.all_gather(input_x, self.at, rows)


def _reduce_scatter_rows(self: Any, input_x: Tensor, input_split_sizes: Any) -> Tensor:
    rows = _numbers(self.name, "input_split_sizes", input_split_sizes, self.at.size)
    _check_sum(self.name, "input_split_sizes", rows, input_x.shape[0] if input_x.ndim else 1)
    return _exchange.reduce_scatter(input_x, self.op, self.at, rows)


def _exchanged(self: Any, input_x: Tensor, send_numel_list: Any, recv_numel_list: Any) -> Tensor:
    sends = _numbers(self.name, "send_numel_list", send_numel_list, self.at.size)
    receives = _numbers(self.name, "recv_numel_list", recv_numel_list, self.at.size)
    return _in_blocks(self, input_x, sends, receives)


def _exchanged_by_matrix(self: Any, input_x: Tensor, send_count_matrix: Any) -> Tensor:
    size, rank = self.at.size, self.at.rank
    counts = _numbers(self.name, "send_count_matrix", send_count_matrix, size * size)
    row, column = counts[rank * size : (rank + 1) * size], counts[rank::size]
    return _in_blocks(self, input_x, *((column, row) if self.transpose else (row, column)))


def _in_blocks(self: Any, x: Tensor, sends: list[int], receives: list[int]) -> Tensor:
    sends = [n * self.block_size for n in sends]
    receives = [n * self.block_size for n in receives]
    _check_sum(self.name, "the counts", sends, x.size)
    if self.at.size == 1:
        _check_sum(self.name, "the counts", receives, x.size)
    return _exchange.exchange(x.reshape(-1), sends, receives, self.at)


def _numbers(name: str, what: str, counts: Any, size: int) -> list[int]:
    """Counts, one for each process."""
    counts = counts.asnumpy() if isinstance(counts, Tensor) else counts
    numbers = _flat(counts)
    if not all(is_int(n) for n in numbers):
        raise TypeError(f"For '{name}', '{what}' must be integers, but got {counts}.")
    if len(numbers) != size or min(numbers) < 0:
        raise ValueError(
            f"For '{name}', '{what}' must be {size} numbers of at least 0, but got {counts}."
        )
    return numbers


def _flat(counts: Any) -> list:
    if hasattr(counts, "reshape"):
        return counts.reshape(-1).tolist()
    if isinstance(counts, (tuple, list)):
        return [n for part in counts for n in _flat(part)]
    return [counts]


def _check_sum(name: str, what: str, counts: Sequence[int], size: int) -> None:
    if sum(counts) != size:
        raise ValueError(
            f"For '{name}', {what} must add up to {size}, the size of 'input_x', but got {list(counts)}."
        )


def _to_neighbours(self: Any, input_x: Sequence[Tensor]) -> tuple:
    for which in ("send", "recv"):
        ranks, shapes = getattr(self, f"{which}_rank_ids"), getattr(self, f"{which}_shapes")
        for rank in ranks:
            _groups.rank_in(self.group, rank, self.name, f"{which}_rank_ids")
        if len(ranks) != len(shapes):
            raise ValueError(
                f"For '{self.name}', '{which}_shapes' must be one for each of '{which}_rank_ids', {len(ranks)}, but got "
                f"{len(shapes)}."
            )
    given = [tuple(x.shape) for x in input_x]
    if [tuple(shape) for shape in self.send_shapes] != given:
        raise ValueError(
            f"For '{self.name}', 'send_shapes' must be those of the {len(given)} inputs, {given}, but got {self.send_shapes}."
        )
    if self.at.size == 1 and [tuple(shape) for shape in self.recv_shapes] != given:
        raise ValueError(
            f"For '{self.name}', 'recv_shapes' must be those of the {len(given)} inputs in a group of one process, but got "
            f"{self.recv_shapes}."
        )
    return _exchange.to_neighbours(
        input_x, self.send_rank_ids, self.recv_rank_ids, self.recv_shapes, self.recv_type, self.at
    )


def _halo(self: Any, input_x: Tensor) -> Tensor:
    if any(rank != -1 for rank in (*self.send_rank_ids, *self.recv_rank_ids)):
        if self.at.size == 1:
            raise alone(self.name)
        raise NotImplementedError(
            f"For '{self.name}', the neighbours must be -1, but got {self.send_rank_ids} and {self.recv_rank_ids}; NeighborExchange "
            "sends whole tensors."
        )
    return _exchange.all_reduce(input_x, "sum", _groups.Member(self.group, 1, 0))


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
    return _exchange.transpose(input_x, self.split_dim, self.concat_dim, self.at)


def _barrier(self: Any) -> tuple:
    _exchange.barrier(self.at)
    return ()


def _other(self: Any, rank: int, what: str) -> int:
    if self.at.size == 1:
        raise alone(self.name)
    _groups.rank_in(self.group, rank, self.name, what)
    if rank == self.at.rank:
        raise ValueError(f"For '{self.name}', '{what}' must be another process, but got {rank}.")
    return rank


def _send(self: Any, input_data: Tensor) -> Tensor:
    target = _other(self, self.dest_rank, "dest_rank")
    return _exchange.send(input_data, target, self.sr_tag, self.at)


def _receive(self: Any, *unused: Any) -> Tensor:
    source = _other(self, self.src_rank, "src_rank")
    return _exchange.receive(self.shape, self.dtype, source, self.sr_tag, self.at)


def _batch(self: Any, input_x: Sequence[Tensor]) -> tuple:
    """All sends and receives at once, whatever their order is in each process."""
    targets: list[int] = []
    sources: list[int] = []
    for kind, rank in zip(self.op_types, self.remote_ranks):
        _other(self, rank, "remote_ranks")
        if kind not in ("isend", "irecv"):
            raise ValueError(
                f"For 'BatchISendIRecv', 'op_types' must be 'isend' or 'irecv', but got {kind!r}."
            )
        (targets if kind == "isend" else sources).append(rank)
    shapes, dtypes = self.receive_shapes or (), list(self.receive_dtypes or ())
    for what, found, wanted in (
        ("remote_ranks", len(self.remote_ranks), len(self.op_types)),
        ("receive_shapes", len(shapes), len(sources)),
        (
            "receive_dtypes",
            len(dtypes),
            len(sources) if sources and (dtypes or not targets) else len(dtypes),
        ),
        ("input_x", len(input_x), len(targets)),
    ):
        if found != wanted:
            raise ValueError(
                f"For 'BatchISendIRecv', '{what}' must have {wanted} entries, as 'op_types' says, but got {found}."
            )
    dtypes += [x.dtype for x in input_x]
    if any(dtype != dtypes[0] for dtype in dtypes):
        raise ValueError(
            f"For 'BatchISendIRecv', all tensors must be of one dtype, but got {dtypes}."
        )
    return _exchange.to_neighbours(
        input_x, targets, sources, shapes, dtypes[0] if dtypes else mstype.float32, self.at
    )


_Row = tuple[Callable, list, tuple, str]
_TABLE: dict[str, _Row] = {
    "AllReduce": (
        _all_reduce,
        [_OP, _GROUP],
        (),
        "The sum, or what `op` says, over the processes.",
    ),
    "AllGather": (_all_gather, [_GROUP], (), "The tensors of all processes, joined along axis 0."),
    "AllGatherV": (_all_gather_rows, [_GROUP], (), "Tensors of different lengths, joined."),
    "ReduceScatter": (
        _reduce_scatter,
        [_OP, _GROUP],
        (),
        "This process's part of the reduced tensor.",
    ),
    "ReduceScatterV": (
        _reduce_scatter_rows,
        [_OP, _GROUP],
        (),
        "A part, of a given length, of the same.",
    ),
    "Broadcast": (
        _broadcast,
        [("root_rank", None, False), _GROUP],
        ("root_rank",),
        "The tensors of one process, in all.",
    ),
    "Reduce": (
        _reduce,
        [("dest_rank", None, False), _OP, _GROUP],
        ("dest_rank",),
        "The reduced tensor, in one process.",
    ),
    "CollectiveGather": (
        _gather,
        [("dest_rank", None, False), _GROUP],
        ("dest_rank",),
        "The joined tensor, in one process.",
    ),
    "CollectiveScatter": (
        _scatter,
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
        _exchanged,
        [_GROUP, ("block_size", 1, True)],
        (),
        "The same with parts of different lengths.",
    ),
    "AlltoAllVC": (
        _exchanged_by_matrix,
        [_GROUP, ("block_size", 1, True), ("transpose", False, True)],
        (),
        "The same with the lengths of all processes in one matrix.",
    ),
    "NeighborExchange": (
        _to_neighbours,
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
        _halo,
        [
            *((name, None, False) for name in ("send_rank_ids", "send_lens", "recv_rank_ids")),
            ("recv_lens", None, False),
            ("data_format", None, False),
            _GROUP,
        ],
        (),
        "Borders of images to and from the eight neighbours, of which -1 is none.",
    ),
    "Barrier": (_barrier, [_GROUP], (), "Waits for the others."),
    "Send": (
        _send,
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
        _receive,
        [
            *((name, None, False) for name in ("sr_tag", "src_rank", "shape", "dtype")),
            _GROUP,
            ("group_back", _groups.WORLD, True),
        ],
        (),
        "A tensor from another process.",
    ),
    "BatchISendIRecv": (
        _batch,
        [
            ("op_types", None, False),
            ("remote_ranks", None, False),
            ("receive_shapes", None, True),
            ("receive_dtypes", None, True),
            _GROUP,
        ],
        (),
        "Several tensors to and from other processes: an exchange that all processes of the group call, each with its own sends and "
        "receives. All tensors are of one dtype, Float32 unless inputs or `receive_dtypes` say another one.",
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
