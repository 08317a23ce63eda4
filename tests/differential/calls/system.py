"""Contexts, devices, streams, memory, source transforms, boosting, profiling, and small tools of the package."""

import os
import tempfile

import numpy as np
from differential.calllib import call, case, f32, of
from differential.small_model import X, Y, batches, dense

# ---- contexts ---------------------------------------------------------------------------------
for key in "device_target device_id enable_graph_kernel save_graphs deterministic nothing".split():

    @case("get_context")
    def _(ms, key=key):
        value = ms.get_context(key)
        return type(value).__name__ if key in ("save_graphs", "device_id") else value


case("get_context")(lambda ms: ms.get_context(3))
for key in "device_num global_rank parallel_mode gradients_mean auto_parallel_search_mode full_batch all_reduce_fusion_config nothing".split():

    @case("get_auto_parallel_context")
    def _(ms, key=key):
        return ms.get_auto_parallel_context(key)


@case("reset_auto_parallel_context")
def _(ms):
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=4)
    seen = [
        ms.get_auto_parallel_context(k) for k in ("parallel_mode", "gradients_mean", "device_num")
    ]
    ms.reset_auto_parallel_context()
    return [
        seen,
        [
            ms.get_auto_parallel_context(k)
            for k in ("parallel_mode", "gradients_mean", "device_num")
        ],
    ]


@case("ParallelMode")
def _(ms):
    return [
        getattr(ms.ParallelMode, k)
        for k in "STAND_ALONE DATA_PARALLEL HYBRID_PARALLEL SEMI_AUTO_PARALLEL AUTO_PARALLEL".split()
    ], ms.ParallelMode.MODE_LIST


for options in ({"enable_ps": 3}, {"nothing": 1}):

    @case("set_ps_context")
    def _(ms, options=options):
        return ms.set_ps_context(**options)


call("reset_algo_parameters")
call("set_dump", 3)
call("set_device", "nowhere")
call("set_device", "CPU", -1)
call("set_device", 3)


@case("get_log_config")
def _(ms):
    return ms.get_log_config()


@case("JitConfig")
def _(ms):
    c = ms.JitConfig(jit_level="O1", exc_mode="auto", debug_level="RELEASE")
    return [c.jit_config_dict["jit_level"], c.jit_config_dict["debug_level"]]


for options in (
    {"jit_level": "O9"},
    {"exc_mode": "most"},
    {"jit_syntax_level": "most"},
    {"debug_level": 3},
    {"infer_boost": "most"},
):

    @case("JitConfig")
    def _(ms, options=options):
        return type(ms.JitConfig(**options)).__name__


# ---- compiled functions -----------------------------------------------------------------------
def compiled(name, program):
    """What a decorated function gives."""
    case(name)(program)


def total(x, y=1.0):
    """Something to compile."""
    return (x * y).sum() + x.mean()


@case("jit")
def _(ms):
    jitted = ms.jit(total)
    return [jitted(ms.Tensor(X)), jitted(ms.Tensor(X), 2.0), jitted(ms.Tensor(X), y=ms.Tensor(3.0))]


case("jit")(lambda ms: ms.jit(3))
case("jit")(lambda ms: ms.jit(total)(ms.Tensor(X), 1.0, 2.0))


@case("mutable")
def _(ms):
    return [
        ms.mutable((1, 2)),
        ms.mutable([ms.Tensor([1.0])]),
        ms.mutable({"a": 1}),
        ms.mutable(3),
        ms.mutable((2, 3), True),
    ]


for value in ("a", None, {1: 2}):

    @case("mutable")
    def _(ms, value=value):
        return ms.mutable(value)


@case("jit_class")
def _(ms):
    @ms.jit_class
    class Held:
        def __init__(self, value):
            self.value = value

        def times(self, x):
            return x * self.value

    return Held(3.0).times(ms.Tensor(X))


case("jit_class")(lambda ms: ms.jit_class(3))


@case("recompute")
def _(ms):
    net = dense(ms)
    return ms.recompute(net, ms.Tensor(X))


@case("_no_grad")
def _(ms):
    with ms._no_grad():
        return ms.Tensor(X) * 2


@case("lazy_inline")
def _(ms):
    class Net(ms.nn.Cell):
        @ms.lazy_inline
        def __init__(self):
            super().__init__()
            self.dense = dense(ms)

        def construct(self, x):
            return self.dense(x)

    return Net()(ms.Tensor(X))


@case("no_inline")
def _(ms):
    return ms.no_inline(total)(ms.Tensor(X))


# ---- devices, streams, memory -----------------------------------------------------------------
for name in "memory_allocated memory_reserved max_memory_allocated max_memory_reserved".split():

    @case(name)
    def _(ms, name=name):
        return type(getattr(ms, name)()).__name__


for name in "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_reserved empty_cache synchronize ms_memory_recycle".split():

    @case(name)
    def _(ms, name=name):
        getattr(ms, name)()
        return type(None).__name__


case("memory_stats")(lambda ms: isinstance(ms.memory_stats(), dict))
case("memory_summary")(lambda ms: isinstance(ms.memory_summary(), str))
for name in "current_stream default_stream communication_stream".split():
    case(name)(lambda ms, name=name: type(getattr(ms, name)()).__name__)


@case("StreamCtx")
def _(ms):
    with ms.StreamCtx(ms.current_stream()):
        return ms.Tensor(X) + 1


case("set_cur_stream")(lambda ms: ms.set_cur_stream(3))
case("launch_blocking")(lambda ms: ms.runtime.launch_blocking())
for wrong in (0, -1, "a"):

    @case("dispatch_threads_num")
    def _(ms, wrong=wrong):
        return ms.runtime.dispatch_threads_num(wrong)


case("set_cpu_affinity")(lambda ms: ms.runtime.set_cpu_affinity("a"))
case("set_kernel_launch_group")(lambda ms: ms.runtime.set_kernel_launch_group(0, 0))
case("set_memory")(lambda ms: ms.runtime.set_memory("a"))


@case("run_check")
def _(ms):
    return ms.run_check()


# ---- boosting ---------------------------------------------------------------------------------
@case("boost.GradientAccumulation", tol=1e-4)
def _(ms):
    net = dense(ms)
    gathered = ms.boost.GradientAccumulation(2, ms.nn.SGD(net.trainable_params(), 0.1))
    for i in range(3):
        gathered(ms.Tensor(float(i)), (ms.Tensor([[1.0 + i, 2.0]]), ms.Tensor([0.5])))
    return list(net.get_parameters())


@case("boost.ParameterProcess")
def _(ms):
    net = dense(ms)
    process = ms.boost.ParameterProcess()
    made = process.generate_group_params(net.trainable_params(), [[net.weight]])
    return [len(made), [list(g) if isinstance(g, dict) else type(g).__name__ for g in made]]


@case("boost.OptimizerProcess")
def _(ms):
    net = dense(ms)
    process = ms.boost.OptimizerProcess(ms.nn.SGD(net.trainable_params(), 0.1))
    process.add_grad_centralization(net)
    return type(process.generate_new_optimizer()).__name__


for level in ("O0", "O1", "O2", "O7", 3):

    @case("boost.AutoBoost")
    def _(ms, level=level):
        return type(ms.boost.AutoBoost(level)).__name__


@case("boost.BoostTrainOneStepCell", tol=1e-4)
def _(ms):
    net = dense(ms)
    loss = ms.nn.WithLossCell(net, ms.nn.MSELoss())
    step = ms.boost.BoostTrainOneStepCell(loss, ms.nn.SGD(net.trainable_params(), 0.1))
    return [step(ms.Tensor(X), ms.Tensor(Y)), list(net.get_parameters())]


@case("boost.BoostTrainOneStepWithLossScaleCell", tol=1e-4)
def _(ms):
    net = dense(ms)
    loss = ms.nn.WithLossCell(net, ms.nn.MSELoss())
    scale = ms.nn.FixedLossScaleUpdateCell(8.0)
    step = ms.boost.BoostTrainOneStepWithLossScaleCell(
        loss, ms.nn.SGD(net.trainable_params(), 0.1), scale
    )
    return [step(ms.Tensor(X), ms.Tensor(Y)), list(net.get_parameters())]


@case("boost.GradientFreeze")
def _(ms):
    net = dense(ms)
    frozen = ms.boost.GradientFreeze(1, 1, 0.5, 10)
    return [type(frozen).__name__, len(frozen.split_parameters_groups(net, 1))]


# ---- tools ------------------------------------------------------------------------------------
@case("profiler.schedule")
def _(ms):
    plan = ms.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    return [str(plan(i)).split(".")[-1] for i in range(7)]


for options in ({"wait": -1}, {"active": 0}, {"wait": "a"}, {"skip_first": -1}):

    @case("profiler.schedule")
    def _(ms, options=options):
        plan = ms.profiler.schedule(**{"wait": 1, "warmup": 1, "active": 2, **options})
        return [str(plan(i)).split(".")[-1] for i in range(5)]


@case("connect_network_with_dataset")
def _(ms):
    helper = ms.train.DatasetHelper(batches(ms), dataset_sink_mode=True)
    return type(ms.connect_network_with_dataset(dense(ms), helper)).__name__


@case("SummaryRecord")
def _(ms):
    """a line for each step"""
    with tempfile.TemporaryDirectory() as folder, ms.SummaryRecord(log_dir=folder) as record:
        for step in range(3):
            record.add_value("scalar", "loss", ms.Tensor(float(step)))
            record.record(step)
        record.flush()
        return [len(os.listdir(folder)), record.log_dir == os.path.realpath(folder)]


for args in (
    ("nothing", "a", 1.0),
    ("scalar", 3, 1.0),
    ("scalar", "a", "b"),
    ("image", "a", np.ones(2)),
):

    @case("SummaryRecord")
    def _(ms, args=args):
        with tempfile.TemporaryDirectory() as folder, ms.SummaryRecord(folder) as record:
            value = args[2] if isinstance(args[2], str) else ms.Tensor(args[2])
            record.add_value(args[0], args[1], value)
            return record.record(1)


call("mint.npu_gelu", f32(3))
call("mint.addr_", f32(2, 3), f32(2), f32(3), ref=lambda x, a, b: x + np.outer(a, b))
call("mint.addr_", f32(2, 3), f32(3), f32(3))
call("mint.conv_tbc", f32(5, 2, 3), f32(3, 3, 4), f32(4), 1, torch="conv_tbc")
call("mint.conv_tbc", f32(5, 2, 3), f32(3, 2, 4), f32(4), 1, torch="conv_tbc")
call(
    "mint.batch_norm_stats",
    f32(4, 3, 2),
    1e-5,
    ref=lambda x, e: (x.mean((0, 2)), 1 / np.sqrt(x.var((0, 2)) + e)),
)
call(
    "mint.batch_norm_elemt",
    f32(4, 3, 2),
    f32(3),
    f32(3, seed=1),
    f32(3, seed=2),
    of([0.5, 1.0, 2.0]),
    1e-5,
    ref=lambda x, w, b, m, i, e: (x - m[:, None]) * i[:, None] * w[:, None] + b[:, None],
)
