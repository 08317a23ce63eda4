"""Calls of devices, streams, memory, settings of the runtime and the log. The reference has no streams on a CPU."""

import gc

from differential.calllib import case


# ---- devices ------------------------------------------------------------------------------------
@case("hal.device_count")
def _(ms):
    """Of each kind."""
    return ms.hal.device_count(), ms.hal.device_count("CPU")


for _name in "get_arch_list get_device_capability get_device_properties is_initialized".split():

    @case(f"hal.{_name}")
    def _(ms, name=_name):
        """A device that there is not."""
        return getattr(ms.hal, name)(*((0,) if "device" in name else ()), "X")


@case("hal.get_arch_list")
def _(ms):
    """Of the CPU."""
    return ms.hal.get_arch_list("CPU"), ms.hal.get_device_capability(0, "CPU")


@case("hal.get_device_properties", ref=lambda: True)
def _(ms):
    """What is known of the CPU."""
    return ms.hal.get_device_properties(0, "CPU").total_memory > 0


@case("hal.is_initialized", ref=lambda: (True, False))
def _(ms):
    """Once something has run."""
    _ = (ms.Tensor([1.0]) + 1).asnumpy()
    return ms.hal.is_initialized("CPU"), ms.hal.is_initialized("GPU")


# ---- streams and events -------------------------------------------------------------------------
for _home in ("hal", "runtime"):

    @case(f"{_home}.current_stream", ref=lambda: (True, False, True))
    def _(ms, home=_home):
        """The one that is set, for a while and for good."""
        m = getattr(ms, home)
        first, other = m.current_stream(), m.Stream()
        with m.StreamCtx(other):
            inside = m.current_stream() == other
            outer = m.current_stream() == first
        return inside, outer, m.current_stream() == first

    @case(f"{_home}.set_cur_stream", ref=lambda: (True, True))
    def _(ms, home=_home):
        """For good, and back."""
        m = getattr(ms, home)
        other = m.Stream()
        m.set_cur_stream(other)
        is_set = m.current_stream() == other
        m.set_cur_stream(m.default_stream())
        return is_set, m.current_stream() == m.default_stream()

    @case(f"{_home}.default_stream", ref=lambda: (False, True, True))
    def _(ms, home=_home):
        """Beside that of communication."""
        m = getattr(ms, home)
        one, two = m.default_stream(), m.communication_stream()
        return one == two, one == m.default_stream(), two == m.communication_stream()

    @case(f"{_home}.communication_stream", ref=lambda: True)
    def _(ms, home=_home):
        """All is done when it has been waited for."""
        stream = getattr(ms, home).communication_stream()
        stream.synchronize()
        return stream.query()

    @case(f"{_home}.StreamCtx", ref=lambda: [3.0, 4.0])
    def _(ms, home=_home):
        """What runs in it is right for what runs behind."""
        m = getattr(ms, home)
        stream = m.Stream()
        with m.StreamCtx(stream):
            x = ms.Tensor([1.0, 2.0]) * 1 + 1
        m.current_stream().wait_stream(stream)
        return (x + 1).asnumpy().tolist()

    @case(f"{_home}.StreamCtx", ref=lambda: "TypeError")
    def _(ms, home=_home):
        """What is no stream."""
        try:
            with getattr(ms, home).StreamCtx(3):
                return "taken"
        except TypeError as error:
            return type(error).__name__

    @case(f"{_home}.Event", ref=lambda: (True, True, True))
    def _(ms, home=_home):
        """The time between two."""
        m = getattr(ms, home)
        begin, end = m.Event(enable_timing=True), m.Event(enable_timing=True)
        begin.record()
        _ = ms.ops.ones((50, 50), ms.float32) @ ms.ops.ones((50, 50), ms.float32)
        end.record()
        end.synchronize()
        return begin.query(), end.query(), begin.elapsed_time(end) >= 0

    @case(f"{_home}.Event", ref=lambda: "ValueError")
    def _(ms, home=_home):
        """A time that is not taken."""
        m = getattr(ms, home)
        begin, end = m.Event(), m.Event()
        begin.record()
        end.record()
        try:
            return begin.elapsed_time(end)
        except ValueError as error:
            return type(error).__name__

    @case(f"{_home}.synchronize", ref=lambda: None)
    def _(ms, home=_home):
        """All is done."""
        return getattr(ms, home).synchronize()

    # ---- memory ---------------------------------------------------------------------------------
    for _what in ("allocated", "reserved"):

        @case(f"{_home}.memory_{_what}", ref=lambda: (True, True))
        def _(ms, home=_home, what=_what):
            """More while a tensor is there."""
            m = getattr(ms, home)
            count = getattr(m, f"memory_{what}")
            gc.collect()  # what others left would go meanwhile
            before = count()
            x = ms.ops.ones((512, 1024), ms.float32) + 1
            x.asnumpy()
            during = count()
            grown = during - before >= 2 << 20 or what == "reserved"
            return grown, m.memory_reserved() >= m.memory_allocated()

        @case(f"{_home}.max_memory_{_what}", ref=lambda: (True, True))
        def _(ms, home=_home, what=_what):
            """Stays when the tensor is gone, until it is reset."""
            m = getattr(ms, home)
            peak, now = getattr(m, f"max_memory_{what}"), getattr(m, f"memory_{what}")
            x = ms.ops.ones((512, 1024), ms.float32) + 1
            x.asnumpy()
            high = peak()
            del x
            return high >= 2 << 20, peak() >= high and high >= now()

        @case(f"{_home}.reset_max_memory_{_what}", ref=lambda: True)
        def _(ms, home=_home, what=_what):
            """The peak is what there is."""
            m = getattr(ms, home)
            x = ms.ops.ones((512, 1024), ms.float32) + 1
            x.asnumpy()
            del x
            m.empty_cache()
            before = getattr(m, f"max_memory_{what}")()
            getattr(m, f"reset_max_memory_{what}")()
            return getattr(m, f"max_memory_{what}")() <= before

    @case(f"{_home}.memory_stats", ref=lambda: (True, True, True))
    def _(ms, home=_home):
        """The numbers agree."""
        m = getattr(ms, home)
        stats = m.memory_stats()
        total, used = stats["total_reserved_memory"], stats["total_allocated_memory"]
        return total >= used, stats["max_allocated_memory"] >= used, used == m.memory_allocated()

    @case(f"{_home}.memory_summary", ref=lambda: (True, True))
    def _(ms, home=_home):
        """A table of text."""
        text = getattr(ms, home).memory_summary()
        return "allocated" in text, text.count("\n") > 3

    @case(f"{_home}.empty_cache", ref=lambda: (None, True))
    def _(ms, home=_home):
        """Gives back what is not in use."""
        m = getattr(ms, home)
        before = m.memory_reserved()
        return m.empty_cache(), m.memory_reserved() <= before

    @case(f"{_home}.reset_peak_memory_stats", ref=lambda: True)
    def _(ms, home=_home):
        """The peaks are what there is."""
        m = getattr(ms, home)
        m.reset_peak_memory_stats()
        return m.max_memory_allocated() == m.memory_allocated()


# ---- settings of the runtime --------------------------------------------------------------------
def _refused(name, *args, raises, **kwargs):
    def program(ms):
        try:
            getattr(ms.runtime, name)(*args, **kwargs)
        except (TypeError, ValueError) as error:
            return type(error).__name__
        return "taken"

    program.__doc__ = f"{args} {kwargs}"
    case(f"runtime.{name}", ref=lambda: raises)(program)


_refused("dispatch_threads_num", 0, raises="ValueError")
_refused("dispatch_threads_num", "a", raises="TypeError")
_refused("set_cpu_affinity", 3, raises="TypeError")
_refused("set_cpu_affinity", False, raises="taken")
_refused("set_kernel_launch_group", 0, 2, raises="ValueError")
_refused("set_kernel_launch_group", "a", raises="TypeError")
_refused("set_memory", "x", raises="ValueError")
_refused("set_memory", 3, raises="TypeError")
_refused("set_memory", "xGB", raises="ValueError")
_refused("set_memory", "1GB", "1GB", "4GB", optimize_level="O3", raises="ValueError")


@case("runtime.launch_blocking", ref=lambda: True)
def _(ms):
    """What runs is waited for."""
    ms.runtime.launch_blocking()
    found = ms.get_context("pynative_synchronize")
    ms.set_context(pynative_synchronize=False)
    return found


# ---- settings -----------------------------------------------------------------------------------
for _name in "COMPATIBLE GRAPH_MODE LAX PYNATIVE_MODE STRICT".split():

    @case(f"context.{_name}")
    def _(ms, name=_name):
        """Its number."""
        return getattr(ms.context, name)


for (
    _name
) in "DATA_PARALLEL HYBRID_PARALLEL STAND_ALONE AUTO_PARALLEL SEMI_AUTO_PARALLEL MODE_LIST".split():

    @case(f"context.ParallelMode.{_name}")
    def _(ms, name=_name):
        """Its text."""
        return getattr(ms.context.ParallelMode, name)


@case("context.ParallelMode")
def _(ms):
    """The same everywhere."""
    return ms.context.ParallelMode.DATA_PARALLEL == ms.ParallelMode.DATA_PARALLEL


def _default(function, name):
    def program(ms):
        ms.reset_auto_parallel_context()
        value = getattr(ms.context, function)(name)
        unsure = ("mode", "deterministic")
        return type(value).__name__ if name in unsure else value

    program.__doc__ = f"The default of {name}."
    case(f"context.{function}")(program)


for _name in (
    "mode device_target device_id save_graphs save_graphs_path max_call_depth deterministic "
    "pynative_synchronize jit_syntax_level enable_graph_kernel max_device_memory"
).split():
    _default("get_context", _name)


@case("context.get_context")
def _(ms):
    """A name that there is not."""
    return ms.context.get_context("no_such_name")


for _name in (
    "device_num global_rank gradients_mean parallel_mode auto_parallel_search_mode parameter_broadcast full_batch dataset_strategy "
    "enable_parallel_optimizer pipeline_stages loss_repeated_mean strategy_ckpt_load_file"
).split():
    _default("get_auto_parallel_context", _name)


@case("context.get_auto_parallel_context")
def _(ms):
    """A name that there is not."""
    return ms.context.get_auto_parallel_context("no_such_name")


@case("context.reset_auto_parallel_context")
def _(ms):
    """What was set is as it was."""
    ms.context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    during = ms.context.get_auto_parallel_context("parallel_mode")
    ms.context.reset_auto_parallel_context()
    get = ms.context.get_auto_parallel_context
    return during, get("parallel_mode"), get("gradients_mean")


@case("context.set_ps_context")
def _(ms):
    """A name that there is not."""
    ms.context.set_ps_context(no_such_name=1)


@case("context.set_ps_context")
def _(ms):
    """A wrong type."""
    ms.context.set_ps_context(enable_ps=3)


# ---- the log ------------------------------------------------------------------------------------
@case("log.get_log_config")
def _(ms):
    """The names of its settings."""
    config = ms.log.get_log_config()
    return sorted(config), config["GLOG_v"], config["GLOG_logtostderr"]


for _name in "debug info warning error critical".split():

    @case(f"log.{_name}")
    def _(ms, name=_name):
        """A message with values in it."""
        return getattr(ms.log, name)("%s has %d", "it", 3)


@case("log.logging")
def _(ms):
    """The module of Python."""
    return ms.log.logging.__name__, callable(ms.log.logging.info), callable(ms.log.logging.warning)
