"""Streams, events, and what is said of devices: work is done in the order in which it is given."""

from __future__ import annotations

import os

import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, hal, ops, runtime


def test_streams():
    first, second = hal.Stream(), hal.Stream(priority=1)
    assert first != second
    assert first == first
    assert hal.current_stream() == hal.default_stream() != hal.communication_stream()
    with hal.StreamCtx(first):
        assert hal.current_stream() is first
        x = ops.ones(3) + 1
        event = first.record_event()
        with hal.StreamCtx(None):
            assert hal.current_stream() is first
    assert hal.current_stream() == hal.default_stream()
    second.wait_event(event)
    second.wait_stream(first)
    second.synchronize()
    assert first.query() and event.query()
    assert x.asnumpy().tolist() == [2, 2, 2]
    assert context.get_context("device_target") in repr(first)
    runtime.set_cur_stream(second)
    assert ms.current_stream() is second
    runtime.set_cur_stream(hal.default_stream())


def test_times_between_events():
    start, end = hal.Event(enable_timing=True), hal.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="both events must have been recorded"):
        start.elapsed_time(end)
    start.record()
    ops.matmul(ops.ones((200, 200)), ops.ones((200, 200)))
    end.record()
    assert start.elapsed_time(end) > 0 > end.elapsed_time(start)
    with pytest.raises(ValueError, match="must be made with enable_timing=True"):
        start.elapsed_time(hal.Event())


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: hal.Stream(prio=1), TypeError, "keywords must be among .* but got 'prio'"),
        (lambda: hal.Stream("high"), TypeError, "For 'Stream', 'priority' must be an int"),
        (lambda: hal.Event(1), TypeError, "For 'Event', 'enable_timing' must be a bool"),
        (lambda: hal.StreamCtx(3), TypeError, "the stream must be a Stream, but got int"),
        (lambda: hal.set_cur_stream(None), TypeError, "the stream must be a Stream"),
        (lambda: hal.Stream().wait_event(3), TypeError, "'event' must be an Event"),
        (lambda: hal.is_available("TPU"), ValueError, "'device_target' must be one of"),
        (lambda: hal.get_device_name(1), ValueError, "'device_id' must be 0"),
        (lambda: hal.get_device_name("a"), TypeError, "'device_id' must be an int"),
        (lambda: ms.set_memory(init_size="2"), ValueError, "'init_size' must be a number with GB"),
        (lambda: ms.set_cpu_affinity(1), TypeError, "'enable_affinity' must be a bool"),
        (lambda: ms.set_cpu_affinity(True, ["a-b"]), ValueError, "must hold ranges such as"),
        (lambda: ms.dispatch_threads_num(0), ValueError, "must be greater than 0"),
        (lambda: ms.set_deterministic(1), TypeError, "'deterministic' must be a bool"),
    ],
)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_the_device():
    here = ms.get_context("device_target"), ms.get_context("device_id")
    assert ms.get_current_device() == here
    properties = hal.get_device_properties(0, "CPU")
    assert properties.name == "CPU"
    assert properties.total_memory > 2**28
    assert properties.multi_processor_count >= 1
    assert hal.device_count("GPU") == int(hal.is_available("GPU"))


def test_the_memory_is_what_control_groups_grant(monkeypatch):
    monkeypatch.setattr(_core, "granted_by_control_groups", lambda root: (3 << 20, 1.0))
    assert hal.get_device_properties(0, "CPU").total_memory == 3 << 20


@pytest.mark.parametrize("function", ["name", "properties", "capability"])
def test_a_device_that_is_not_there_has_no_figures(function):
    assert not hal.is_available("Ascend")
    with pytest.raises(ValueError, match=f"For 'get_device_{function}', the device must be one of"):
        getattr(hal, f"get_device_{function}")(0, "Ascend")


def test_one_context_may_be_entered_twice():
    context = hal.StreamCtx(hal.Stream())
    with context:
        with context:
            assert hal.current_stream() is context.stream
        assert hal.current_stream() is context.stream
    assert hal.current_stream() == hal.default_stream()


def test_processors_are_bound():
    before = os.sched_getaffinity(0)
    try:
        one = min(before)
        ms.set_cpu_affinity(True, [f"{one}-{one}"])
        assert os.sched_getaffinity(0) == {one}
    finally:
        os.sched_setaffinity(0, before)


def test_names_of_memory_are_at_the_top():
    x = Tensor([1.0] * 1000)
    assert ms.memory_allocated() >= x.nbytes
    assert ms.max_memory_allocated() >= ms.memory_allocated()
    assert ms.memory_stats().keys() == runtime.memory_stats().keys()
    ms.synchronize()
    ms.empty_cache()
