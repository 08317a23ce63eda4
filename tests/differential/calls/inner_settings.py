"""Calls of settings, generators and devices."""

from differential.calllib import case

SETTINGS = {
    "deterministic": ("ON", "x", True),
    "memory_optimize_level": ("O0", "O1", "O2"),
    "op_timeout": (100, -1, "a"),
    "aoe_tune_mode": ("online", "x"),
    "debug_level": (0, 1, 5),
    "exec_order": ("bfs", "x"),
    "enable_reduce_precision": (True, 1),
    "check_bprop": (True, 1),
    "max_call_depth": (10, 0, "a"),
    "enable_compile_cache": (True, 1),
    "inter_op_parallel_num": (2, -1),
    "support_binary": (True, 1),
    "device_id": (0, -1, "a"),
    "pynative_synchronize": (True, 1),
    "reserve_class_name_in_scope": (True, 1),
    "disable_format_transform": (True, 2),
    "jit_syntax_level": (0, 2, 5),
    "gpu_config": ({}, 3),
    "save_graphs": (0, 4),
    "enable_graph_kernel": (True, 1),
    "graph_kernel_flags": ("--x", 3),
    "conv_allow_tf32": (True,),
    "hccl_watchdog": (True, 3),
    "no_such_setting": (1,),
}


def _set(name, value):
    def program(ms):
        try:
            ms.set_context(**{name: value})
            return "taken"
        finally:
            defaults = {
                "save_graphs": 0, "jit_syntax_level": 2, "deterministic": "OFF", "max_call_depth": 1000
            }  # fmt: skip
            if name in defaults:
                ms.set_context(**{name: defaults[name]})

    program.__doc__ = f"{name}={value!r}"
    case("set_context")(program)


for _name, _values in SETTINGS.items():
    for _value in _values:
        _set(_name, _value)

PARALLEL = {
    "device_num": (4, 0, "a"),
    "global_rank": (0, -1),
    "gradients_mean": (True, 1),
    "parallel_mode": ("data_parallel", "x"),
    "auto_parallel_search_mode": ("dynamic_programming", "x"),
    "full_batch": (True, 1),
    "pipeline_stages": (2, 0),
    "parameter_broadcast": (True, 1),
    "enable_parallel_optimizer": (True, 1),
    "no_such_setting": (1,),
}


def _parallel(name, value):
    def program(ms):
        try:
            ms.set_auto_parallel_context(**{name: value})
            return ms.get_auto_parallel_context(name)
        finally:
            ms.reset_auto_parallel_context()

    program.__doc__ = f"{name}={value!r}"
    case("set_auto_parallel_context")(program)


for _name, _values in PARALLEL.items():
    for _value in _values:
        _parallel(_name, _value)


@case("get_algo_parameters")
def _(ms):
    """The settings of the search and their defaults."""
    ms.reset_algo_parameters()
    before = [ms.get_algo_parameters(n) for n in ("fully_use_devices", "tensor_slice_align_size")]
    ms.set_algo_parameters(fully_use_devices=True)
    after = ms.get_algo_parameters("fully_use_devices")
    ms.reset_algo_parameters()
    return before, after


@case("set_algo_parameters")
def _(ms):
    """A name that there is not."""
    ms.set_algo_parameters(x=1)


@case("set_algo_parameters")
def _(ms):
    """A wrong type."""
    ms.set_algo_parameters(fully_use_devices=3)


@case("get_ps_context")
def _(ms):
    """Of servers, which are off."""
    return ms.get_ps_context("enable_ps"), ms.context.get_ps_context("scheduler_port")


@case("get_ps_context")
def _(ms):
    """A name that there is not."""
    return ms.get_ps_context("foo")


@case("get_rng_state")
def _(ms):
    """Seeds and states."""
    ms.manual_seed(7)
    first = ms.get_rng_state()
    generator = ms.Generator()
    generator.manual_seed(5)
    return first, ms.initial_seed(), generator.get_state(), generator.initial_seed()


@case("set_rng_state")
def _(ms):
    """What is no state."""
    ms.set_rng_state(3)


@case("manual_seed")
def _(ms):
    """What is no seed."""
    ms.manual_seed("a")


@case("set_deterministic")
def _(ms):
    """On, as the setting says."""
    ms.set_deterministic(True)
    found = ms.get_context("deterministic")
    ms.set_deterministic(False)
    return found


@case("set_recursion_limit")
def _(ms):
    """Too low."""
    ms.set_recursion_limit(0)


@case("swap_tensors")
def _(ms):
    """Values of other shapes."""
    a, b = ms.Tensor([1.0]), ms.Tensor([2, 3])
    ms.swap_tensors(a, b)
    return a, b


@case("get_current_device")
def _(ms):
    """The CPU."""
    return tuple(ms.get_current_device())


@case("hal.is_available")
def _(ms):
    """Which devices there are."""
    hal = ms.hal
    return hal.is_available("CPU"), hal.is_available("GPU"), hal.device_count("CPU")


@case("hal.is_available")
def _(ms):
    """A name of no device."""
    return ms.hal.is_available("X")


@case("hal.get_device_name")
def _(ms):
    """Of the CPU."""
    return ms.hal.get_device_name(0, "CPU"), ms.hal.get_device_capability(0, "CPU")


@case("hal.Stream")
def _(ms):
    """Work of two streams."""
    stream = ms.hal.Stream()
    with ms.hal.StreamCtx(stream):
        x = ms.Tensor([1.0]) + 1
    ms.hal.synchronize()
    return x


@case("get_level")
def _(ms):
    """The level of the log."""
    return ms.get_level(), ms.get_log_config()["GLOG_v"]


@case("communication.get_rank")
def _(ms):
    """Of one process."""
    c = ms.communication
    return c.get_rank(), c.get_group_size(), c.get_local_rank(), c.GlobalComm.WORLD_COMM_GROUP


@case("ops.ReduceOp")
def _(ms):
    """The ways to reduce."""
    r = ms.ops.ReduceOp
    return r.SUM, r.MAX, r.MIN, r.PROD


@case("utils.from_dlpack")
def _(ms):
    """A capsule, there and back."""
    return ms.utils.from_dlpack(ms.utils.to_dlpack(ms.Tensor([1.0, 2.0])))
