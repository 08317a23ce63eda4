"""A device whose memory the host cannot touch and whose work is done late: values, errors, copies, the end of things."""

from __future__ import annotations

import copy
import ctypes
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import fenced_device
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops

TESTS = Path(__file__).resolve().parent.parent


def floats(*shape: int) -> Tensor:
    return Tensor(np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape))


def train(device: str, mode: int, steps: int = 4) -> list[float]:
    """The losses of a small network with dropout, which is made and trained on the device."""
    ms.set_context(mode=mode, device_target=device)
    ms.set_seed(3)
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(p=0.3), nn.Dense(256, 5)
    )  # fmt: skip
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    x, y = floats(6, 1, 8, 8), Tensor(np.arange(6, dtype=np.int32) % 5)
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        value, gradients = step(x, y)
        optimizer(gradients)
        losses.append(float(value))
    return losses


def test_an_access_of_the_host_is_noticed(fenced):
    assert fenced_device.faults() == []
    ctypes.CDLL(str(fenced_device.library())).fenced_touch()
    (fault,) = fenced_device.faults()
    assert "fenced_touch" in fault and "touched memory of the device" in fault
    assert fenced_device.faults() == []


def test_training_gives_the_same_bits(fenced, mode):
    assert train(fenced, mode) == train("CPU", mode)


def test_what_a_kernel_finds_wrong_names_its_line(fenced, mode):
    def pick(x, i):
        return ops.gather(x, i, 0)  # here

    x, i = floats(3, 2), Tensor([0, 5], ms.int32)
    with pytest.raises(
        IndexError, match=r"(?s)'Gather'.*\[-3, 3\).*5.*return ops\.gather.*# here"
    ) as raised:
        pick(x, i).asnumpy()
    assert "test_fenced.py" in str(raised.value)
    # Heard of once; what follows is not touched by it.
    assert pick(x, Tensor([0, 2], ms.int32)).asnumpy().shape == (2, 2)
    ms.jit(pick)(x, i) if mode == ms.GRAPH_MODE else pick(x, i)
    with pytest.raises(IndexError, match="'Gather'"):
        ms.runtime.synchronize()


@pytest.mark.parametrize("held", [False, True], ids=["alone", "held"])
def test_parameters_survive_a_failing_step(fenced, mode, held):
    """Gradients and updates of the step are left out; who holds the old value has no part in it."""
    table = Parameter(floats(4, 2), name="table")
    optimizer = nn.Momentum([table], 0.5, 0.9)
    step = ms.value_and_grad(lambda i: ops.gather(table, i, 0).sum(), None, [table])

    def update(i):
        optimizer(step(Tensor(i, ms.int32))[1])

    update([0, 1])
    before = table.asnumpy()
    keep = table.value() if held else None
    update([9])
    with pytest.raises(IndexError):
        ms.runtime.synchronize()
    assert (table.asnumpy() == before).all()
    update([2])
    assert not (table.asnumpy() == before).all()
    assert keep is None or (keep.asnumpy() == before).all()


def test_values_that_come_after_an_error_are_not_lost(fenced):
    weight, data = Parameter(floats(3), name="w"), floats(4)
    ops.gather(floats(3, 2), Tensor([7], ms.int32), 0)
    y, z = weight * 2, data + 1
    with pytest.raises(IndexError):
        ms.runtime.synchronize()
    assert weight.asnumpy().tolist() == floats(3).asnumpy().tolist()
    assert data.asnumpy().tolist() == floats(4).asnumpy().tolist()
    del y, z


def test_an_error_of_before_is_no_part_of_what_is_compiled(fenced):
    @ms.jit
    def program(x):
        return x + 1 if float(Tensor([2.0])[0]) > 1 else x

    context.set_context(mode=context.GRAPH_MODE)
    ops.gather(floats(3, 2), Tensor([7], ms.int32), 0)
    with pytest.raises(IndexError, match="'Gather'"):
        program(floats(2)).asnumpy()
    for _ in range(2):
        assert program(floats(2)).asnumpy().tolist() == [0, 2]


def test_each_thread_hears_of_an_error(fenced):
    heard = []
    given, waited = threading.Event(), threading.Event()

    def work():
        y = ops.gather(floats(3, 2), Tensor([7], ms.int32), 0)
        given.set()
        waited.wait(30)
        try:
            y.asnumpy()
        except IndexError as error:
            heard.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    given.wait(30)
    with pytest.raises(IndexError):
        ms.runtime.synchronize()
    waited.set()
    thread.join()
    assert len(heard) == 1 and "'Gather'" in heard[0]
    ms.runtime.synchronize()


@pytest.mark.parametrize("read", [bool, float, int, Tensor.asnumpy, Tensor.item, repr])
def test_a_notice_may_be_an_error(fenced, read, monkeypatch):
    monkeypatch.setattr("mindspore.compile.program.errors._noted", set())
    divide = ms.jit(lambda x, y: x // y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divided by zero"):
            read(divide(Tensor(4, ms.int32), Tensor(0, ms.int32)))


def test_the_device_may_need_python_while_the_host_waits(fenced, mode):
    """Code of a generated kernel is made by a thread of Python's."""
    many = lambda: Tensor(np.linspace(0, 1, 257 * 311, dtype=np.float32).reshape(257, 311))
    sums = [ms.jit(lambda x, k=k: (ops.exp(x * k) + x).sum(1)) for k in (1.5, 2.5, 3.5)]
    assert Tensor(sums[0](many()), ms.float16).shape == (257,)
    shared = ms.from_numpy(np.zeros(257, np.float32))
    shared[:] = sums[1](many())
    p = Parameter(floats(257), name="p", device="CPU")
    nn.SGD([p], 0.1)((sums[2](many()),))
    assert np.isfinite(p.asnumpy()).all() and p.device == "CPU"


def test_streams_and_events(fenced):
    library = ctypes.CDLL(str(fenced_device.library()))
    library.fenced_streams_in_order.restype = ctypes.c_bool
    assert library.fenced_streams_in_order(200)


def test_zero_divisors_are_told(fenced, mode, monkeypatch):
    monkeypatch.setattr("mindspore.compile.program.errors._noted", set())  # each line is told once
    with pytest.warns(RuntimeWarning, match="an integer is divided by zero"):
        divide = lambda x, y: x // y
        divide = ms.jit(divide) if mode == ms.GRAPH_MODE else divide
        assert divide(Tensor([4, 5], ms.int32), Tensor([2, 0], ms.int32)).asnumpy().tolist() == [
            2,
            0,
        ]


def test_the_host_reads_in_time(fenced, mode):
    def program(x, n):
        total = x * 0
        while total.sum() < n:
            total = total + x.abs()
        if total.max() > 2:
            total = -total
        return total

    run = ms.jit(program) if mode == ms.GRAPH_MODE else program
    x = floats(4, 5)
    ms.set_device("CPU")
    wanted = program(floats(4, 5), Tensor(30.0)).asnumpy()
    ms.set_device(fenced)
    assert (run(x, Tensor(30.0)).asnumpy() == wanted).all()
    assert bool((x == x).all()) and int(x.argmax()) == 19 and x[0, 0].item() == -1
    assert f"{x[0, 0]}" == "-1.0" and "Tensor(shape=[4, 5]" in repr(x)


def test_host_functions_get_values(fenced, capsys):
    @ms.jit
    def program(x):
        y = x * 2
        print("sum", y.sum())
        return y + 1

    assert (program(floats(3) + 1).asnumpy() == [1, 3, 5]).all()
    out = capsys.readouterr().out
    assert "sum" in out and "6" in out


def test_views_write_through(fenced, mode):
    x = floats(3, 4)
    row, flat = x[1], x.reshape(-1)
    row[:] = 7
    flat[0] = 5
    assert x.asnumpy()[1].tolist() == [7] * 4 and float(x[0, 0]) == 5


# ---- where values are
def test_values_are_copied_once(fenced):
    x = floats(1000)
    before = ms.runtime.memory_allocated(fenced)
    assert x.device == "CPU"
    y = x + 1
    once = ms.runtime.memory_allocated(fenced)
    assert (x.device, y.device, once - before) == ("CPU", fenced, 8000)
    z = x + y
    assert ms.runtime.memory_allocated(fenced) - once == 4000
    x[0] = 5  # now it is a value of the device's
    assert x.device == fenced and float((x + 1)[0]) == 6
    data = floats(1000)
    for device in (fenced, "CPU", fenced):
        ms.set_device(device)
        data.asnumpy()[0] += 1
        assert float((data + 1)[0]) == data.asnumpy()[0] + 1
    assert z.to("CPU").asnumpy().tolist() == z.asnumpy().tolist()


def test_places_that_were_asked_for_are_kept(fenced):
    y = (floats(3) + 1).move_to("CPU")
    made = Tensor(np.ones(3, np.float32), device="CPU")
    p = Parameter(floats(3), name="p", device="CPU")
    p.set_data(floats(3) + 1)
    assert (y + made + p).device == fenced
    assert y.device == made.device == p.device == "CPU"
    assert np.from_dlpack(y).tolist() == [0, 1, 2]
    assert Tensor(np.ones(2), device=fenced).device == fenced


def test_views_are_read_where_their_base_is(fenced):
    x = floats(3, 2) + 1
    row = x[1]
    x[1] = 5
    ms.set_device("CPU")
    assert row.device == fenced and row.asnumpy().tolist() == [5, 5]
    assert row.move_to("CPU").asnumpy().tolist() == [5, 5]


def test_an_assigned_value_is_apart_from_arrays(fenced):
    array = np.ones(2, np.float32)
    p = Parameter(floats(2), name="p")
    ops.assign(p, ms.from_numpy(array))
    array[:] = 77
    assert p.asnumpy().tolist() == [1, 1]


def test_mixed_devices_are_refused(fenced, mode):
    y = floats(3) + 1
    ms.set_device("CPU")
    add = ms.jit(lambda a, b: a + b) if mode == ms.GRAPH_MODE else ops.add
    with pytest.raises(
        RuntimeError,
        match=rf"on CPU, where it runs, .* got one on {fenced}.*move_to\('CPU'\).*set_device\('{fenced}'\)",
    ):
        add(y, floats(3))
    assert add(y.move_to("CPU"), floats(3)).asnumpy().tolist() == [-1, 1, 3]
    ms.set_device(fenced)
    assert add(y, floats(3)).asnumpy().tolist() == [-1, 1, 3]


def test_gradients_pass_a_move(fenced):
    net = lambda x: ((x * 2).move_to("CPU") * 3).sum()
    assert ms.grad(net)(floats(2)).asnumpy().tolist() == [6, 6]
    assert ms.grad(ms.jit(net))(floats(2)).asnumpy().tolist() == [6, 6]
    found = []
    work = lambda: found.append([ms.grad(net)(floats(2)).asnumpy().tolist() for _ in range(20)])
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[[6, 6]] * 20] * 2


def test_wrong_devices(fenced):
    with pytest.raises(ValueError, match=r"'to' must be one of \['CPU'.*'Nowhere'"):
        floats(2).move_to("Nowhere")
    with pytest.raises(ValueError, match=r"'GPU' is not available"):
        Tensor([1.0], device="GPU")
    with pytest.raises(TypeError, match="'device' must be a str, but got int"):
        Parameter(floats(2), name="p", device=3)


def test_a_parameter_that_stays(fenced, mode):
    """Each step uses a copy; the update lands where it stays."""

    def run(place):
        p = Parameter(floats(4), name="p", device=place)
        optimizer = nn.Momentum([p], 0.1, 0.9)
        step = ms.value_and_grad(lambda: (p * p).sum(), None, [p])
        for _ in range(3):
            optimizer(step()[1])
        return p

    there, here = run("CPU"), run(None)
    assert (there.device, here.device) == ("CPU", fenced)
    assert (there.asnumpy() == here.asnumpy()).all()


def test_arrays_and_tensors(fenced):
    array = np.arange(4, dtype=np.float32)
    shared = ms.from_numpy(array)
    shared[1] = 9
    assert array.tolist() == [0, 9, 2, 3] and (shared + 1).asnumpy().tolist() == [1, 10, 3, 4]
    array[0] = 5
    assert (shared + 1).asnumpy()[0] == 6
    x = floats(3) + 1
    taken = x.asnumpy()
    taken[0] = 100
    assert float(x[0]) == 0
    with pytest.raises(BufferError, match=f"is on {fenced}.*move_to"):
        np.from_dlpack(x)
    assert np.from_dlpack(x.move_to("CPU")).tolist() == [0, 1, 2]


def test_files_and_copies(fenced, tmp_path):
    net = nn.Dense(3, 2)
    wanted = net(floats(1, 3)).asnumpy()
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(net, path)
    again = pickle.loads(pickle.dumps(net.weight)), copy.deepcopy(net.weight)
    assert all((t.asnumpy() == net.weight.asnumpy()).all() for t in again)
    for device in ("CPU", fenced):
        ms.set_device(device)
        other = nn.Dense(3, 2)
        ms.load_param_into_net(other, ms.load_checkpoint(path))
        assert np.allclose(other(floats(1, 3)).asnumpy(), wanted)


def test_memory_is_counted(fenced):
    def live():
        return ms.runtime.memory_allocated(fenced)

    before = live()
    x = ops.zeros((1000,), ms.float32)
    assert live() == before + 4000
    del x
    assert live() == before
    assert ms.runtime.max_memory_allocated(fenced) >= before + 4000
    ms.runtime.reset_max_memory_allocated(fenced)
    assert ms.runtime.max_memory_allocated(fenced) == live()


# ---- threads and processes
def test_a_thread_that_ends_leaves_its_work(fenced):
    found = []

    def work():
        x = floats(64, 64)
        for _ in range(10):
            x = ops.matmul(x, x) / 64
        found.append(x)

    ms.set_device("CPU")
    work()
    ms.set_device(fenced)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((x.asnumpy() == found[0].asnumpy()).all() for x in found[1:])


PROGRAM = """
import os, sys
import fenced_device, numpy as np, mindspore as ms
from mindspore import Tensor, ops
ms.set_device(fenced_device.load())
x = Tensor(np.ones((256, 256), np.float32))
for _ in range(50):
    x = ops.matmul(x, x) / 256
"""


def run(program: str) -> subprocess.CompletedProcess:
    path = [str(TESTS), *sys.path]
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{PROGRAM}{program}"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "y = ms.jit(lambda x: x + 1)(x); del x"])
def test_the_process_ends_with_work_in_flight(end, fenced):
    done = run(end)
    assert done.returncode == 0 and "Error" not in done.stderr, done.stderr


def test_a_forked_child_has_no_device(fenced):
    done = run(
        """
child = os.fork()
if child == 0:
    try:
        (x + 1).asnumpy()
    except RuntimeError as error:
        print(error, flush=True)
        ms.set_device("CPU")
        os._exit(0 if float((Tensor([1.0]) + 1)[0]) == 2 else 1)
    os._exit(2)
assert os.waitpid(child, 0)[1] == 0
assert float(x[0, 0]) == 1
"""
    )
    assert done.returncode == 0, done.stderr
    assert (
        "'Fenced' must be used in the process that opened it" in done.stdout
        and "spawn" in done.stdout
    )


def test_a_stream_waits_for_its_own_device(fenced):
    stream = ms.hal.Stream()
    for wait in (stream.synchronize, stream.query, lambda: ms.hal.Event().record(stream)):
        ms.set_context(device_target=fenced)
        ops.gather(floats(3, 2), Tensor([5], ms.int32), 0)
        ms.set_context(device_target="CPU")
        with pytest.raises(IndexError, match="'Gather'"):
            wait()


def test_its_properties_are_not_those_of_the_host(fenced):
    with pytest.raises(RuntimeError, match="the device must tell what it is"):
        ms.hal.get_device_properties(0, fenced)
