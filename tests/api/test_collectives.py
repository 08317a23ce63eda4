"""Collectives and groups of one process: what goes in comes out, in the shape that is documented, and what needs another process is
refused. `ops`, `ops.operations.comm_ops` and `communication` have the same things."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, communication, nn, ops
from mindspore.common import _groups
from mindspore.communication import comm_func

X = np.arange(6, dtype=np.float32).reshape(2, 3)

SAME = {
    "AllReduce": (),
    "AllGather": (),
    "ReduceScatter": (),
    "Reduce": (0,),
    "CollectiveGather": (0,),
    "CollectiveScatter": (0,),
    "AlltoAll": (1, 0, 1),
}


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


class Applied(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, x):
        return self.op(x) * 2


@pytest.mark.parametrize("name", SAME)
def test_of_one_process_each_is_the_identity(mode, name):
    net = Applied(getattr(ops, name)(*SAME[name]))
    np.testing.assert_array_equal(net(Tensor(X)).asnumpy(), X * 2)
    np.testing.assert_array_equal(ms.grad(net)(Tensor(X)).asnumpy(), np.full_like(X, 2))


@pytest.mark.parametrize("name", SAME)
def test_results_are_tensors_of_their_own(name):
    x = Tensor(X)
    y = getattr(ops, name)(*SAME[name])(x)
    y.add_(1)
    np.testing.assert_array_equal(x.asnumpy(), X)


def test_several_tensors():
    (y,) = ops.Broadcast(0)((Tensor(X),))
    np.testing.assert_array_equal(y.asnumpy(), X)
    exchange = ops.NeighborExchange([0, 0], [0, 0], [(2, 3), (1,)], [(2, 3), (1,)], ms.float32)
    first, second = exchange((Tensor(X), Tensor([5.0])))
    np.testing.assert_array_equal(first.asnumpy(), X)
    assert second.asnumpy().tolist() == [5.0]
    assert ops.Barrier()() == ()


def test_parts_of_given_lengths():
    flat = Tensor(X.reshape(-1))
    assert ops.AlltoAllV()(flat, [6], [6]).shape == (6,)
    assert ops.AllGatherV()(flat, [6]).shape == (6,)
    with pytest.raises(ValueError, match=r"For 'AlltoAllV', the counts must add up to 6"):
        ops.AlltoAllV()(flat, [5], [6])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: ops.AllReduce("median"), ValueError, "For 'AllReduce', 'op' must be one of"),
        (lambda: ops.AllReduce(group="none"), ValueError, "For 'AllReduce', 'group' must be"),
        (lambda: ops.AllReduce(group=3), TypeError, "For 'AllReduce', 'group' must be a str"),
        (lambda: ops.AllReduce()(3), TypeError, "For 'AllReduce', 'input_x' must be a Tensor"),
        (lambda: ops.Broadcast(1), ValueError, r"'root_rank' must be in \[0, 1\)"),
        (lambda: ops.Send(0, 1)(Tensor(X)), RuntimeError, "For 'Send', there must be another"),
        (
            lambda: ops.Receive(0, 1, (2,), ms.float32)(),
            RuntimeError,
            "For 'Receive', there must be another",
        ),
        (lambda: ops.AlltoAll(2, 0, 1)(Tensor(X)), ValueError, "'split_count' must be the number"),
        (lambda: ops.AlltoAll(1, 0, 5)(Tensor(X)), ValueError, "the dimensions must be in"),
        (lambda: ops.all_gather([], Tensor(X)), ValueError, "one item for each process"),
        (lambda: ops.reduce(Tensor(X), 1), ValueError, r"'dst' must be in \[0, 1\)"),
        (lambda: ops.send(Tensor(X), 1), RuntimeError, "For 'send', there must be another"),
        (
            lambda: ops.NeighborExchange([0], [0], [(2,)], [(2, 3)], ms.float32)((Tensor(X),)),
            ValueError,
            "'recv_shapes' must be those of the 1 inputs",
        ),
    ],
)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_functions_that_write():
    out = ops.zeros((2, 3))
    assert ops.all_gather_into_tensor(out, Tensor(X)) is None
    np.testing.assert_array_equal(out.asnumpy(), X)
    handle = ops.all_reduce(out, async_op=True)
    handle.wait()
    np.testing.assert_array_equal(out.asnumpy(), X)
    with pytest.raises(ValueError, match="must have the shape and dtype of what comes"):
        ops.scatter_tensor(ops.zeros((3,)), Tensor(X))
    found = [None]
    ops.all_gather_object(found, {"a": 1})
    assert found == [{"a": 1}]


def test_functions_that_return():
    y, handle = comm_func.all_reduce(Tensor(X))
    assert handle is None
    np.testing.assert_array_equal(y.asnumpy(), X)
    np.testing.assert_array_equal(comm_func.broadcast(Tensor(X)).asnumpy(), X)
    (y,), _ = comm_func.all_to_all_with_output_shape([(2, 3)], [Tensor(X)])
    np.testing.assert_array_equal(y.asnumpy(), X)
    with pytest.raises(ValueError, match="'op' must be isend or irecv"):
        comm_func.P2POp("send", Tensor(X), 0)


def test_groups():
    communication.init()
    communication.create_group("mine", [0])
    try:
        assert communication.get_group_size("mine") == 1
        assert communication.get_world_rank_from_group_rank("mine", 0) == 0
        assert communication.get_group_rank_from_world_rank(0, "mine") == 0
        assert communication.get_process_group_ranks("mine") == [0]
        np.testing.assert_array_equal(ops.AllReduce(group="mine")(Tensor(X)).asnumpy(), X)
        with pytest.raises(ValueError, match="must be a new name"):
            communication.create_group("mine", [0])
    finally:
        communication.destroy_group("mine")
    with pytest.raises(ValueError, match="'group' must be"):
        communication.get_rank("mine")
    with pytest.raises(ValueError, match="must be different ranks of the world"):
        communication.create_group("other", [0, 1])
    with pytest.raises(TypeError, match="'rank_ids' must be a non-empty list of ints"):
        communication.create_group("other", "0")


def test_several_processes_need_a_launcher(monkeypatch):
    monkeypatch.setattr(_groups, "joined", False)
    monkeypatch.setenv("RANK_SIZE", "8")
    monkeypatch.setenv("RANK_ID", "3")
    for start in (communication.init, ops.init_process_group):
        with pytest.raises(RuntimeError, match=r"started by msrun.*asks for 8 of them"):
            start()


def test_the_older_paths():
    from mindspore.communication.management import get_rank
    from mindspore.ops import comm_ops
    from mindspore.ops.operations.comm_ops import AllReduce, ReduceOp

    assert get_rank() == 0
    assert AllReduce is ops.AllReduce is comm_ops.AllReduce
    assert AllReduce(ReduceOp.MAX).op == "max"


def test_a_group_of_all_processes_is_the_world():
    assert ops.new_group() == ops.new_group() == communication.GlobalComm.WORLD_COMM_GROUP


def test_the_later_spelling_writes_into_what_it_is_given():
    from mindspore.mint import distributed

    tensor, parts = ops.ones(3), [ops.zeros(3)]
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    distributed.all_gather(parts, tensor * 2)
    np.testing.assert_array_equal(parts[0].asnumpy(), [2, 2, 2])
    assert distributed.all_reduce(tensor) is None
    np.testing.assert_array_equal(tensor.asnumpy(), [1, 1, 1])


def test_rows_by_a_matrix_of_counts():
    x, y = Tensor([1.0, 2.0, 3.0]), ops.zeros(3)
    assert ops.all_to_all_v_c(y, x, [3]) is None
    assert y.asnumpy().tolist() == [1, 2, 3]
    z, handle = comm_func.all_to_all_single_with_output_shape((3,), x)
    assert z.asnumpy().tolist() == [1, 2, 3] and handle is None
    with pytest.raises(ValueError, match="'send_count_matrix' must be 1 numbers"):
        ops.all_to_all_v_c(y, x, [1, 2])
    with pytest.raises(TypeError, match="'send_count_matrix' must be a tuple or list of ints"):
        ops.all_to_all_v_c(y, x, "3")


def test_results_are_always_written_in_place():
    ops.set_comm_ops_inplace(True, ["all_reduce"])
    with pytest.raises(NotImplementedError, match="'is_enable' must be True"):
        ops.set_comm_ops_inplace(False)
    with pytest.raises(ValueError, match="must hold names of collectives, but got 'foo'"):
        ops.set_comm_ops_inplace(True, ["foo"])
    with pytest.raises(TypeError, match="'is_enable' must be a bool, but got"):
        ops.set_comm_ops_inplace(1)


def test_a_layout_of_one_process_keeps_the_tensor():
    place = ms.Layout((1,), ("a",))("a")
    x = Tensor([1.0, 2.0])
    assert ops.Reshard((place,), (place,), ((1,),))(x).asnumpy().tolist() == [1, 2]
    assert ops.reshard(x, place).asnumpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="'out_layout' must be a tuple of one Layout"):
        ops.Reshard((place,), place, ((1,),))


def test_what_others_need_is_refused_before_init(monkeypatch):
    monkeypatch.setattr(_groups, "joined", False)
    monkeypatch.setattr(_groups, "_alone", False)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "8")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    for ask in (communication.get_rank, communication.get_group_size, ops.AllReduce):
        with pytest.raises(
            RuntimeError, match=r"'init\(\)' has not been called in this one, rank 3 of the 8"
        ):
            ask()
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE")
    monkeypatch.setenv("RANK_SIZE", "8")  # by hand: it may mean anything
    monkeypatch.setenv("RANK_ID", "3")
    assert communication.get_rank() == 0
