"""What the methods of a Cell do and leave behind."""

import numpy as np
from differential.calllib import case, f32

X = f32(3, 2).value


def net(ms, name="Small"):
    """A net of two dense layers and a list, with known parameters."""

    class Small(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = ms.nn.Dense(2, 2)
            self.second = ms.nn.SequentialCell(ms.nn.Dense(2, 2), ms.nn.ReLU())
            self.scale = ms.Parameter(ms.Tensor([2.0, 3.0]), name="scale")
            self.fixed = ms.Parameter(ms.Tensor([1.0]), name="fixed", requires_grad=False)

        def construct(self, x):
            return self.second(self.first(x)) * self.scale + self.fixed

    made = Small()
    for i, p in enumerate(made.get_parameters()):
        p.set_data(ms.Tensor(np.full(p.shape, 0.5 + i, np.float32)))
    return made


def tested(name, *labels):
    """A program over a fresh net, of a method."""

    def listed(program):
        def whole(ms):
            return program(ms, net(ms))

        whole.__doc__ = program.__doc__
        return case(f"nn.Cell.{name}")(whole)

    return listed


def names(parameters):
    """The names, in order."""
    return [p.name for p in parameters]


tested("construct")(lambda ms, n: n(ms.Tensor(X)))
tested("get_parameters")(lambda ms, n: [names(n.get_parameters()), names(n.get_parameters(False))])
tested("trainable_params")(
    lambda ms, n: [names(n.trainable_params()), names(n.trainable_params(False))]
)
tested("untrainable_params")(lambda ms, n: names(n.untrainable_params()))
tested("parameters_and_names")(lambda ms, n: [[k, p.name] for k, p in n.parameters_and_names()])
tested("parameters_and_names")(
    lambda ms, n: [[k, p.name] for k, p in n.parameters_and_names("pre", False)]
)
tested("parameters_dict")(lambda ms, n: dict(n.parameters_dict()))
tested("parameters_dict")(lambda ms, n: list(n.parameters_dict(recurse=False)))
tested("parameters_broadcast_dict")(lambda ms, n: n.parameters_broadcast_dict())
tested("cells")(lambda ms, n: [type(c).__name__ for c in n.cells()])
tested("name_cells")(lambda ms, n: {k: type(c).__name__ for k, c in n.name_cells().items()})
tested("cells_and_names")(lambda ms, n: [[k, type(c).__name__] for k, c in n.cells_and_names()])
tested("cells_and_names")(lambda ms, n: [k for k, _ in n.cells_and_names(name_prefix="pre")])
tested("get_sub_cell")(
    lambda ms, n: [type(n.get_sub_cell(k)).__name__ for k in ("first", "second.0", "")]
)
tested("get_sub_cell")(lambda ms, n: n.get_sub_cell("nothing"))
tested("get_sub_cell")(lambda ms, n: n.get_sub_cell("scale"))
tested("extend_repr")(lambda ms, n: [n.extend_repr(), n.first.extend_repr()])
tested("check_names")(lambda ms, n: n.check_names())
tested("check_names_and_refresh_name")(
    lambda ms, n: [n.check_names_and_refresh_name(), names(n.get_parameters())]
)
tested("get_scope")(lambda ms, n: n.get_scope())
tested("update_cell_prefix")(lambda ms, n: [n.update_cell_prefix(), names(n.get_parameters())])
tested("update_parameters_name")(
    lambda ms, n: [n.update_parameters_name("a."), names(n.get_parameters())]
)
tested("update_parameters_name")(
    lambda ms, n: [n.update_parameters_name("b_", False), names(n.get_parameters())]
)
tested("update_parameters_name")(lambda ms, n: n.update_parameters_name(""))
tested("update_parameters_name")(lambda ms, n: n.update_parameters_name(3))
tested("update_cell_type")(lambda ms, n: [n.update_cell_type("kind"), n.cell_type])
tested("set_train")(
    lambda ms, n: [
        n.training,
        n.set_train().training,
        n.first.training,
        n.set_train(False).first.training,
    ]
)
tested("set_train")(lambda ms, n: n.set_train("a").training)
tested("set_grad")(
    lambda ms, n: [n.set_grad() is n, n.requires_grad, n.set_grad(False).requires_grad]
)
tested("init_parameters_data")(
    lambda ms, n: [len(n.init_parameters_data()), names(n.get_parameters())]
)
tested("set_broadcast_flag")(lambda ms, n: n.set_broadcast_flag() is n)
tested("set_data_parallel")(lambda ms, n: n.set_data_parallel())
tested("set_comm_fusion")(
    lambda ms, n: [n.set_comm_fusion(2) is n, [p.comm_fusion for p in n.get_parameters()]]
)
tested("set_comm_fusion")(lambda ms, n: n.set_comm_fusion(-1))
tested("set_boost")(lambda ms, n: n.set_boost("less_bn") is n)
tested("set_boost")(lambda ms, n: n.set_boost("most"))
tested("set_jit_config")(
    lambda ms, n: [n.set_jit_config(ms.JitConfig(jit_level="O0")), n(ms.Tensor(X))]
)
tested("set_jit_config")(lambda ms, n: n.set_jit_config(3))
tested("get_func_graph_proto")(lambda ms, n: n.get_func_graph_proto())
tested("offload")(lambda ms, n: n.offload())
tested("shard")(lambda ms, n: n.shard(((1, 1),))(ms.Tensor(X)))
tested("remove_redundant_parameters")(
    lambda ms, n: [n.remove_redundant_parameters(), names(n.get_parameters())]
)
tested("generate_scope")(lambda ms, n: n.generate_scope())


@tested("add_flags")
def _(ms, n):
    """flags of one and of all"""
    n.add_flags(one=1)
    n.add_flags_recursive(all=True)
    return [n.get_flags(), n.first.get_flags(), n.one, n.first.all]


@tested("add_flags_recursive")
def _(ms, n):
    n.add_flags_recursive(training=True)
    return n.second.get_flags()


@tested("get_flags")
def _(ms, n):
    return n.get_flags()


@tested("apply")
def _(ms, n):
    seen = []

    def visit(cell):
        seen.append(type(cell).__name__)
        if isinstance(cell, ms.nn.Dense):
            cell.bias.set_data(ms.Tensor([7.0, 7.0]))

    same = n.apply(visit) is n
    return [same, seen, n.first.bias]


@tested("insert_child_to_cell")
def _(ms, n):
    n.insert_child_to_cell("third", ms.nn.Dense(2, 3))
    return [list(n.name_cells()), n.third.out_channels, len(list(n.get_parameters()))]


for name, child in (("first", None), ("third", 3), ("", None), (3, None), ("a.b", None)):

    @tested("insert_child_to_cell")
    def _(ms, n, name=name, child=child):
        n.insert_child_to_cell(name, ms.nn.ReLU() if child is None else child)
        return list(n.name_cells())


@tested("insert_param_to_cell")
def _(ms, n):
    n.insert_param_to_cell("more", ms.Parameter(ms.Tensor([1.0])))
    n.insert_param_to_cell("named", ms.Parameter(ms.Tensor([1.0]), name="own"))
    return [names(n.get_parameters()), n.more]


for name, value in (
    ("scale", None),
    ("more", 3),
    ("", None),
    (3, None),
    ("a.b", None),
    ("construct", None),
):

    @tested("insert_param_to_cell")
    def _(ms, n, name=name, value=value):
        n.insert_param_to_cell(name, ms.Parameter(ms.Tensor([1.0])) if value is None else value)
        return names(n.get_parameters())


@tested("register_buffer")
def _(ms, n):
    n.register_buffer("count", ms.Tensor([1.0]))
    n.first.register_buffer("hidden", ms.Tensor([2.0]), persistent=False)
    n.register_buffer("nothing", None)
    n.count = ms.Tensor([5.0])
    kept = dict(n.state_dict())
    return [
        n.count,
        [k for k, _ in n.named_buffers()],
        list(n.buffers()),
        n.get_buffer("first.hidden"),
        list(kept),
    ]


for name, value in (("scale", None), ("a.b", None), ("", None), ("more", 3), (3, None)):

    @tested("register_buffer")
    def _(ms, n, name=name, value=value):
        n.register_buffer(name, ms.Tensor([1.0]) if value is None else value)
        return [k for k, _ in n.named_buffers()]


@tested("get_buffer")
def _(ms, n):
    """that is not there"""
    return n.get_buffer("nothing")


@tested("buffers")
def _(ms, n):
    n.second.register_buffer("b", ms.Tensor([2.0]))
    return [list(n.buffers()), list(n.buffers(False))]


@tested("named_buffers")
def _(ms, n):
    n.second.register_buffer("b", ms.Tensor([2.0]))
    return [list(dict(n.named_buffers("pre"))), list(dict(n.named_buffers(recurse=False)))]


@tested("state_dict")
def _(ms, n):
    return [dict(n.state_dict()), list(n.state_dict(prefix="pre."))]


@tested("load_state_dict")
def _(ms, n):
    other = net(ms)
    values = {k: ms.Tensor(v.asnumpy() + 1) for k, v in other.state_dict().items()}
    missing = n.load_state_dict(values)
    return [str(missing), dict(n.state_dict())]


for change in ("missing", "more", "shape", "number"):
    for strict in (True, False):

        @tested("load_state_dict")
        def _(ms, n, change=change, strict=strict):
            values = {k: ms.Tensor(v.asnumpy() + 1) for k, v in n.state_dict().items()}
            if change == "missing":
                del values["scale"]
            else:
                values["more" if change == "more" else "scale"] = (
                    3 if change == "number" else ms.Tensor([1.0])
                )
            keys = n.load_state_dict(values, strict)
            return [list(keys[0]), list(keys[1]), n.scale]


@tested("set_extra_state")
def _(ms, n):
    class Counting(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    one, other = Counting(), Counting()
    one.count = 8
    other.load_state_dict(one.state_dict())
    return [other.count, list(one.state_dict())]


tested("get_extra_state")(lambda ms, n: n.get_extra_state())
tested("set_extra_state")(lambda ms, n: n.set_extra_state(3))


@tested("register_state_dict_post_hook")
def _(ms, n):
    def after(cell, state, prefix, metadata):
        state["extra"] = prefix

    n.register_state_dict_post_hook(after)
    return list(n.state_dict(prefix="p."))


@tested("register_state_dict_pre_hook")
def _(ms, n):
    seen = []
    n.register_state_dict_pre_hook(lambda cell, prefix, keep: seen.append([prefix, keep]))
    n.state_dict(prefix="p.")
    return seen


@tested("register_load_state_dict_pre_hook")
def _(ms, n):
    def before(cell, state, prefix, metadata, strict, missing, unexpected, errors):
        state["scale"] = ms.Tensor([9.0, 9.0])

    n.register_load_state_dict_pre_hook(before)
    n.load_state_dict(dict(n.state_dict()))
    return n.scale


@tested("register_load_state_dict_post_hook")
def _(ms, n):
    n.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear())
    return str(n.load_state_dict({}))


def hooked(name, hook):
    """A hook that counts, sees and changes; then it is removed."""

    @case(f"nn.Cell.{name}")
    def program(ms):
        n, seen = net(ms), []
        handle = getattr(n.first, name)(lambda *given: hook(ms, seen, *given))

        def total(x):
            return n(x).sum()

        changed = ms.grad(total)(ms.Tensor(X)), n(ms.Tensor(X))
        handle.remove()
        return [changed, n(ms.Tensor(X)), len(seen) > 0, seen[:1]]


def shapes(value):
    """Of one tensor or several."""
    return [shapes(v) for v in value] if isinstance(value, (tuple, list)) else list(value.shape)


hooked("register_forward_pre_hook", lambda ms, seen, c, x: seen.append(shapes(x)) or (x[0] * 2,))
hooked("register_forward_pre_hook", lambda ms, seen, c, x: seen.append(shapes(x)))
hooked(
    "register_forward_hook", lambda ms, seen, c, x, y: seen.append([shapes(x), shapes(y)]) or y * 2
)
hooked(
    "register_backward_hook",
    lambda ms, seen, c, gx, gy: seen.append([shapes(gx), shapes(gy)]) or (gx[0] * 2,),
)
hooked("register_backward_pre_hook", lambda ms, seen, c, g: seen.append(shapes(g)) or (g[0] * 2,))
hooked("register_backward_hook", lambda ms, seen, c, gx, gy: seen.append(1))
for name in (
    "register_forward_pre_hook",
    "register_forward_hook",
    "register_backward_hook",
    "register_backward_pre_hook",
):
    tested(name)(lambda ms, n, name=name: getattr(n, name)(3))


@tested("to_float")
def _(ms, n):
    n.to_float(ms.float16)
    return [n(ms.Tensor(X)), str(n.first.weight.dtype), str(n.get_mixed_precision_type()) != ""]


tested("to_float")(lambda ms, n: n.to_float(ms.int32))
tested("to_float")(lambda ms, n: n.to_float("float16"))


@tested("to")
def _(ms, n):
    same = n.to(ms.float16) is n
    return [same, [str(p.dtype) for p in n.get_parameters()], n.scale]


tested("to")(lambda ms, n: n.to("nowhere"))


@tested("to_empty")
def _(ms, n):
    n.to_empty(device="CPU")
    return [[p.name, list(p.shape), str(p.dtype)] for p in n.get_parameters()]


@tested("cast_inputs")
def _(ms, n):
    return n.cast_inputs((ms.Tensor(X),), ms.float16)


@tested("recompute")
def _(ms, n):
    n.recompute()
    return [n(ms.Tensor(X)), ms.grad(lambda x: n(x).sum())(ms.Tensor(X))]


@tested("compile")
def _(ms, n):
    ms.set_context(mode=ms.GRAPH_MODE)
    n.compile(ms.Tensor(X))
    return n(ms.Tensor(X))


@tested("compile_and_run")
def _(ms, n):
    ms.set_context(mode=ms.GRAPH_MODE)
    return n.compile_and_run(ms.Tensor(X))


@tested("set_inputs")
def _(ms, n):
    n.set_inputs(ms.Tensor(shape=[None, 2], dtype=ms.float32))
    given = n.get_inputs()
    return [list(given[0].shape), n(ms.Tensor(X)), n(ms.Tensor(X[:1]))]


tested("set_inputs")(lambda ms, n: n.set_inputs(3))
tested("set_inputs")(lambda ms, n: n.set_inputs())
tested("get_inputs")(lambda ms, n: n.get_inputs())
tested("run_construct")(lambda ms, n: n.run_construct((ms.Tensor(X),), {}))


@case("nn.Cell")
def _(ms):
    """what is refused, and printed"""
    n = net(ms)
    n.more = ms.nn.ReLU()
    del n.more
    return [
        repr(n).splitlines()[0],
        "more" in n.name_cells(),
        hasattr(n, "more"),
        isinstance(n.scale, ms.Parameter),
    ]


for value in (3, None, "a"):

    @case("nn.Cell")
    def _(ms, value=value):
        n = net(ms)
        n.scale = value
        return [n.scale, names(n.get_parameters())]

    @case("nn.Cell")
    def _(ms, value=value):
        n = net(ms)
        n.first = value
        return [n.first, list(n.name_cells())]


tested("construct")(lambda ms, n: n(3))
tested("construct")(lambda ms, n: n(ms.Tensor(X), ms.Tensor(X)))
tested("construct")(lambda ms, n: n())
