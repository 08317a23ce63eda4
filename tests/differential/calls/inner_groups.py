"""Calls of groups and collectives of one process, which the reference does only with its launcher: what goes in comes out."""

import numpy as np
from differential.calllib import call, case, f32, made

X = np.arange(6, dtype=np.float32).reshape(2, 3)

# ---- groups -------------------------------------------------------------------------------------
for _home in ("communication", "communication.management"):
    for _name in "HCCL_WORLD_COMM_GROUP MCCL_WORLD_COMM_GROUP NCCL_WORLD_COMM_GROUP".split():

        @case(f"{_home}.{_name}")
        def _(ms, name=_name):
            """Its text."""
            from_here = getattr(ms.communication.management, name)
            return from_here, getattr(ms.communication, name) == from_here

    def _asked(name, *args, gives, home=_home):
        def program(ms):
            m = ms.communication.management if home.endswith("management") else ms.communication
            m.init()
            m.create_group("asked", [0])
            try:
                return getattr(m, name)(*args)
            except (TypeError, ValueError) as error:
                return type(error).__name__
            finally:
                m.destroy_group("asked")

        program.__doc__ = f"{args}"
        case(f"{home}.{name}", ref=lambda: gives)(program)

    _asked("init", "x", gives="ValueError")
    _asked("init", gives=None)
    _asked("get_group_size", gives=1)
    _asked("get_group_size", "asked", gives=1)
    _asked("get_group_size", 3, gives="TypeError")
    _asked("get_local_rank", gives=0)
    _asked("get_local_rank", "none", gives="ValueError")
    _asked("get_local_rank_size", gives=1)
    _asked("get_local_rank_size", "none", gives="ValueError")
    _asked("get_world_rank_from_group_rank", "asked", 0, gives=0)
    _asked("get_world_rank_from_group_rank", "asked", 1, gives="ValueError")
    _asked("get_group_rank_from_world_rank", 0, "asked", gives=0)
    _asked("get_group_rank_from_world_rank", 1, "asked", gives="ValueError")
    _asked("get_process_group_ranks", "asked", gives=[0])
    _asked("get_process_group_ranks", "none", gives="ValueError")
    _asked("create_group", "asked", [0], gives="ValueError")
    _asked("create_group", "other", [0, 1], gives="ValueError")
    _asked("create_group", "other", "0", gives="TypeError")
    _asked("destroy_group", "none", gives="ValueError")
    _asked("get_comm_name", "asked", gives="asked")

    @case(f"{_home}.release", ref=lambda: (None, False))
    def _(ms, home=_home):
        """What has begun ends."""
        ms.communication.init()
        return ms.communication.release(), ms.communication.GlobalComm.INITED


@case("communication.GlobalComm")
def _(ms):
    """The world before it has begun."""
    world = ms.communication.GlobalComm
    ms.communication.release()
    return world.BACKEND, world.WORLD_COMM_GROUP, world.INITED


# ---- classes ------------------------------------------------------------------------------------
_SAME = {
    "AllReduce": (),
    "AllGather": (),
    "ReduceScatter": (),
    "Reduce": (0,),
    "CollectiveGather": (0,),
    "CollectiveScatter": (0,),
    "AlltoAll": (1, 0, 1),
}
for _name, _given in _SAME.items():
    made(f"ops.{_name}", *_given)(f32(2, 3), ref=lambda x: x)
    made(f"ops.{_name}", *_given)("x")
for _name, _how in (("AllReduce", "x"), ("ReduceScatter", 3), ("AllGather", 3), ("Reduce", -1)):
    made(f"ops.{_name}", _how)(f32(2, 3))
made("ops.Broadcast", 0)((f32(2, 3),))
made("ops.Broadcast", 1)((f32(2, 3),))
made("ops.AlltoAllV")(f32(6), [6], [6], ref=lambda x, *_: x)
made("ops.AlltoAllV")(f32(6), [5], [6])
made("ops.AlltoAllVC")(f32(6), [[6]], ref=lambda x, *_: x)
made("ops.AlltoAllVC")(f32(6), [[5]])
made("ops.AllGatherV")(f32(6), [6], ref=lambda x, *_: x)
made("ops.AllGatherV")(f32(6), [5])
made("ops.ReduceScatterV")(f32(6), [6], ref=lambda x, *_: x)
made("ops.ReduceScatterV")(f32(6), [5])
made("ops.Barrier")(ref=lambda: ())
made("ops.Send", 0, 1)(f32(2))
made("ops.Receive", 0, 1, (2,), "x")()


def _program(name, gives):
    def listed(program):
        case(f"{name}", ref=lambda: gives)(program)

    return listed


@_program("ops.NeighborExchange", (X,))
def _(ms):
    """With itself."""
    return ms.ops.NeighborExchange([0], [0], [(2, 3)], [(2, 3)], ms.float32)((ms.Tensor(X),))


@_program("ops.NeighborExchangeV2", X[None, None])
def _(ms):
    """With none."""
    nobody, nothing = [-1] * 8, [0] * 4
    op = ms.ops.NeighborExchangeV2(nobody, nothing, nobody, nothing, "NCHW")
    return op(ms.Tensor(X[None, None]))


# ---- functions that write what they give --------------------------------------------------------
_WRITERS = "all_gather_into_tensor gather_into_tensor reduce_scatter_tensor scatter_tensor all_to_all_single".split()
for _name in _WRITERS:

    @_program(f"ops.{_name}", (X, True))
    def _(ms, name=_name):
        """The only part is the whole."""
        out = ms.ops.zeros((2, 3), ms.float32)
        return out, getattr(ms.ops, name)(out, ms.Tensor(X)) is None

    @_program(f"ops.{_name}", "ValueError")
    def _(ms, name=_name):
        """A place of another shape."""
        try:
            return getattr(ms.ops, name)(ms.ops.zeros((5,), ms.float32), ms.Tensor(X))
        except ValueError as error:
            return type(error).__name__


_ROWS = {
    "all_gather_into_tensor_uneven": [2],
    "reduce_scatter_tensor_uneven": [2],
    "all_to_all_v_c": [2],
}
for _name, _counts in _ROWS.items():

    @_program(f"ops.{_name}", (X, True))
    def _(ms, name=_name, counts=_counts):
        """All rows are of this process."""
        out = ms.ops.zeros((2, 3), ms.float32)
        return out, getattr(ms.ops, name)(out, ms.Tensor(X), counts) is None

    @_program(f"ops.{_name}", "ValueError")
    def _(ms, name=_name):
        """Counts of more processes than there are."""
        try:
            return getattr(ms.ops, name)(ms.ops.zeros((2, 3), ms.float32), ms.Tensor(X), [1, 1])
        except ValueError as error:
            return type(error).__name__


@_program("communication.comm_func.all_to_all_single_with_output_shape", (X, True))
def _(ms):
    """The only part is the whole."""
    from mindspore.communication import comm_func

    out, handle = comm_func.all_to_all_single_with_output_shape((2, 3), ms.Tensor(X))
    return out, handle is None


@_program("communication.comm_func.all_to_all_v_c", X)
def _(ms):
    """The same function as that of ops."""
    from mindspore.communication import comm_func

    out = ms.ops.zeros((2, 3), ms.float32)
    comm_func.all_to_all_v_c(out, ms.Tensor(X), [2])
    return out


call("ops.set_comm_ops_inplace", True)
call("ops.set_comm_ops_inplace", 1)
call("ops.set_comm_ops_inplace", True, ["foo"])


@_program("ops.reshard", X)
def _(ms):
    """One process has all of it."""
    return ms.ops.reshard(ms.Tensor(X), ms.Layout((1,), ("a",))("a", "None"))


@_program("ops.Reshard", X)
def _(ms):
    """One process has all of it."""
    place = ms.Layout((1,), ("a",))("a", "None")
    return ms.ops.Reshard((place,), (place,), ((1, 1),))(ms.Tensor(X))


@_program("ops.P2POp", ("isend", 0))
def _(ms):
    """What it holds."""
    op = ms.ops.P2POp("isend", ms.Tensor(X), 0)
    return op.op, op.peer


@_program("ops.tensor_operator_registry", X + 1)
def _(ms):
    """A function by name."""
    return ms.ops.tensor_operator_registry.get("add")(ms.Tensor(X), 1)


@case("Symbol")
def _(ms):
    """What bounds say."""
    shown = [
        ms.Symbol(max=32).to_dict(),
        ms.Symbol(divisor=8, remainder=1).to_dict(),
        ms.Symbol(max=2, min=5).to_dict(),
    ]
    described = ms.Tensor(shape=(None, ms.Symbol(min=3)), dtype=ms.float32)
    return shown, described.shape, str(described.symbolic_shape)


for _given in (
    {"max": 2.5},
    {"min": 0},
    {"divisor": 0},
    {"divisor": 2, "remainder": 3},
    {"unique": 1},
):
    call("Symbol", **_given)
for _name, _args in (("all_reduce", ()), ("reduce", (0,)), ("broadcast", (0,))):

    @_program(f"ops.{_name}", X)
    def _(ms, name=_name, args=_args):
        """A sum of one."""
        x = ms.Tensor(X)
        handle = getattr(ms.ops, name)(x, *args, async_op=True)
        handle.wait()
        return x

    call(f"ops.{_name}", "x", *_args)
for _name in ("all_gather", "all_to_all", "reduce_scatter"):

    @_program(f"ops.{_name}", X)
    def _(ms, name=_name):
        """A list of one."""
        out, x = ms.ops.zeros((2, 3), ms.float32), ms.Tensor(X)
        lists = {"all_gather": ([out], x), "all_to_all": ([out], [x]), "reduce_scatter": (out, [x])}
        getattr(ms.ops, name)(*lists[name])
        return out

    call(f"ops.{_name}", [], "x")


@_program("ops.all_gather_object", [{"a": 1}])
def _(ms):
    """A list of one."""
    found = [None]
    ms.ops.all_gather_object(found, {"a": 1})
    return found


@_program("ops.gather_object", [(1, 2)])
def _(ms):
    """A list of one."""
    found = [None]
    ms.ops.gather_object((1, 2), found)
    return found


@_program("ops.broadcast_object_list", [1, "a"])
def _(ms):
    """What was sent."""
    sent = [1, "a"]
    ms.ops.broadcast_object_list(sent)
    return sent


@_program("ops.scatter_object_list", ["a"])
def _(ms):
    """The only part."""
    found = [None]
    ms.ops.scatter_object_list(found, ["a"])
    return found


for _name in "send recv isend irecv".split():
    call(f"ops.{_name}", f32(2), 1)
for _name in "send_object_list recv_object_list".split():
    call(f"ops.{_name}", [], 1)
    call(f"ops.{_name}", [1], 0)
for _name in "batch_isend_irecv".split():
    call(f"ops.{_name}", 3)


made("ops.BatchISendIRecv", ["isend"], [1], [], [], 3)(f32(2))


@_program("ops.init_process_group", (0, 1, [0], 0, 0, "hccl"))
def _(ms):
    """A world of one."""
    o = ms.ops
    o.init_process_group()
    group = o.new_group([0])
    try:
        places = o.get_global_rank(group, 0), o.get_group_rank(group, 0)
        return (
            o.get_rank(),
            o.get_world_size(),
            o.get_process_group_ranks(),
            *places,
            o.get_backend(),
        )
    finally:
        o.destroy_process_group(group)


for _name, _args in (
    ("barrier", (3,)),
    ("get_rank", (3,)),
    ("get_world_size", (3,)),
    ("get_backend", (3,)),
    ("get_process_group_ranks", (3,)),
    ("get_global_rank", (3, 0)),
    ("get_group_rank", (3, 0)),
    ("new_group", ("x",)),
    ("destroy_process_group", (3,)),
    ("all_gather_object", (3, 3)),
):
    call(f"ops.{_name}", *_args)


# ---- functions that return what they give -------------------------------------------------------
_GIVERS = {
    "all_reduce": (),
    "all_gather_into_tensor": (),
    "reduce_scatter_tensor": (),
    "broadcast": (),
    "gather_into_tensor": (),
    "scatter_tensor": (),
    "reduce": (0,),
}
for _name, _args in _GIVERS.items():

    @_program(f"communication.comm_func.{_name}", X)
    def _(ms, name=_name, args=_args):
        """Of one process."""
        from importlib import import_module

        found = getattr(import_module("mindspore.communication.comm_func"), name)(
            ms.Tensor(X), *args
        )
        return found[0] if isinstance(found, tuple) else found

    call(f"communication.comm_func.{_name}", "x")
for _name in "send recv isend irecv P2POp".split():
    call(f"communication.comm_func.{_name}", f32(2), 5)
call("communication.comm_func.barrier", 3)
call("communication.comm_func.batch_isend_irecv", 3)
call("communication.comm_func.all_to_all_with_output_shape", 3, 4)


@_program("communication.comm_func.all_to_all_with_output_shape", X)
def _(ms):
    """Of one process."""
    from importlib import import_module

    functions = import_module("mindspore.communication.comm_func")
    (found,), _ = functions.all_to_all_with_output_shape([(2, 3)], [ms.Tensor(X)])
    return found


@case("ops.is_available")
def _(ms):
    """Always."""
    return ms.ops.is_available()


@case("ops.is_initialized", ref=lambda: (False, True, False, True))
def _(ms):
    """Before the world group is joined, in it, after it, and in it by the other function."""
    ms.communication.release()
    before = ms.ops.is_initialized()
    ms.communication.init()
    joined = ms.ops.is_initialized()
    ms.communication.release()
    left = ms.ops.is_initialized()
    ms.ops.init_process_group()
    again = ms.ops.is_initialized()
    ms.ops.destroy_process_group()
    return before, joined, left, again
