"""Workers of the data pipeline: the same stream for any number of them, their ends, and positions."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import select
import signal
import sys
import threading
import time

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset.core import draws
from mindspore.dataset.engine.calls import LoadCall
from mindspore.dataset.engine.workers import WorkerPool


@pytest.fixture(autouse=True)
def settings():
    """Each test begins with the settings as they were, and leaves no process behind."""
    before = dict(ds.config._settings)
    yield
    ds.config._settings.update(before)
    gc.collect()
    assert multiprocessing.active_children() == []


class Numbers:
    """A random-access source whose rows draw."""

    def __init__(self, count=40):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.int64(index), np.float64(random.random())


def noisy(x):
    return x + np.random.rand() + random.random()


def leave(x):
    if x == 5:
        os._exit(3)
    return x


def hang(x):
    if x == 5:
        time.sleep(60)
    return x


def refuse(x):
    if x == 5:
        raise ValueError("not this one")
    return x


def source(**options):
    options.setdefault("shuffle", False)
    return ds.GeneratorDataset(Numbers(), ["i", "x"], **options)


def stream(dataset, epochs=1):
    """Every value of some epochs."""
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[value.tolist() for value in row] for _ in range(epochs) for row in iterator]


# Determinism


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("processes", [False, True])
def test_the_stream_depends_on_the_seed_alone(workers, processes):
    def build(**options):
        ds.config.set_seed(3)
        data = source(shuffle=True, **options).map(noisy, "x", **options)
        return data.filter(lambda i, x: i % 3 != 0).shuffle(5).batch(4).repeat(2)

    ds.config.set_debug_mode(True)
    expected = stream(build(), 2)
    ds.config.set_debug_mode(workers == 0)
    if workers:
        given = build(num_parallel_workers=workers, python_multiprocessing=processes)
        assert stream(given, 2) == expected
        given.close_pool()
    assert len({x for _, xs in expected for x in xs}) == 4 * 26


def test_draws_of_workers_leave_the_program_its_own():
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    stream(source().map(noisy, "x"))
    assert (random.random(), np.random.rand()) == expected


def test_a_pipeline_inside_a_function_that_draws():
    def inner(x):
        return x + random.random() + sum(row[1] for row in stream(source()))

    ds.config.set_seed(1)
    data = ds.NumpySlicesDataset([1.0, 2.0], ["x"], shuffle=False).map(inner, "x")
    assert stream(data) == stream(data)


def test_a_large_shuffle_is_a_permutation():
    ds.config.set_seed(1)
    data = ds.NumpySlicesDataset(np.arange(70000), ["x"]).batch(1000)
    order = np.concatenate([np.array(row[0]) for row in stream(data)])
    assert (np.sort(order) == np.arange(70000)).all()
    assert abs(np.corrcoef(order, np.arange(70000))[0, 1]) < 0.02


def test_batches_are_never_written_again():
    data = ds.NumpySlicesDataset(np.arange(4000).reshape(40, 100), ["x"], shuffle=False).batch(4)
    batches = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    tensors = list(data.create_tuple_iterator(num_epochs=1))
    batches[0][0][:] = -1
    for number, (array, tensor) in enumerate(zip(batches, tensors, strict=True)):
        expected = np.arange(400 * number, 400 * number + 400).reshape(4, 100)
        assert (tensor[0].asnumpy() == expected).all()
        assert number == 0 or (array[0] == expected).all()


def test_a_generator_that_gives_the_same_array_again():
    def rows():
        array = np.zeros(5000)
        for i in range(6):
            array[:] = i
            yield array

    given = stream(ds.GeneratorDataset(rows, "x"))
    assert [row[0][0] for row in given] == [0, 1, 2, 3, 4, 5]


# Ends of workers


def mapped(function):
    return source().map(function, "i", num_parallel_workers=2, python_multiprocessing=True)


def soon_none(find):
    """Whether what is found is gone, at once or within ten seconds."""
    end = time.monotonic() + 10
    while find() and time.monotonic() < end:
        time.sleep(0.05)
    return not find()


def failing(dataset, says):
    iterator = dataset.create_tuple_iterator(output_numpy=True)
    seen = []
    with pytest.raises(RuntimeError, match=says) as caught:
        seen.extend(int(row[0]) for row in iterator)
    assert seen == [0, 1, 2, 3, 4]
    iterator.stop()
    dataset.close_pool()
    # What Python's shared memory and its semaphores would be called; other tests beside may have some for a moment.
    names = ("psm_", "sem.mp-", "pym-")
    assert soon_none(lambda: [name for name in os.listdir("/dev/shm") if name.startswith(names)])
    return caught.value


def test_a_worker_that_ends():
    failing(mapped(leave), r"'map', the worker process \d+ ended with exit code 3 at row 5")


def test_a_worker_that_ends_at_one_of_the_rows_of_a_batch():
    data = mapped(leave).batch(8)
    with pytest.raises(
        RuntimeError, match=r"exit code 3 at one of the rows 0, 1, 2, 3, 4, 5, 6, 7\."
    ):
        stream(data)
    data.close_pool()


def test_a_worker_that_hangs():
    ds.config.set_multiprocessing_timeout_interval(1)
    failing(mapped(hang), r"must answer within 1 s .* but hung at row 5")


def test_a_worker_that_raises():
    error = failing(mapped(refuse), "refuse .row 5. raised ValueError: not this one")
    assert 'raise ValueError("not this one")' in str(error)
    assert isinstance(error.__cause__, ValueError)


def test_a_thread_that_raises():
    failing(source().map(refuse, "i"), "refuse .row 5. raised ValueError: not this one")


def test_a_function_that_cannot_be_sent(monkeypatch):
    ds.config.set_multiprocessing_start_method("spawn")
    lock = threading.Lock()
    says = "must be ones that pickle can hand to another process"
    with pytest.raises(RuntimeError, match=f"{says}, but .*lock.* Let them make"):
        stream(mapped(lambda x: (lock, x)[1]))
    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # is not installed
    with pytest.raises(RuntimeError, match=f"{says}, but .*lambda.* install cloudpickle"):
        stream(mapped(lambda x: x))


@pytest.mark.parametrize("kind", ["of a module", "lambda"])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_spawned_workers(method, kind):
    function, more = abs, 0
    if kind == "lambda":
        pytest.importorskip("cloudpickle")
        function, more = (lambda x: x + more), 7
    ds.config.set_multiprocessing_start_method(method)
    data = mapped(function)
    assert [row[0] for row in stream(data)] == [n + more for n in range(40)]
    data.close_pool()


def test_a_lambda_that_raises_in_a_spawned_worker_is_shown_with_its_line():
    pytest.importorskip("cloudpickle")
    ds.config.set_multiprocessing_start_method("spawn")
    error = failing(mapped(lambda x: x + 0 // (5 - int(x))), "row 5. raised ZeroDivisionError")
    assert f"{__file__}:" in str(error) and "error = failing(mapped(lambda" in str(error)


def test_a_function_that_asks_for_the_end_of_its_process():
    says = "For 'map', a function in a worker process raised SystemExit at row 5: 3"
    failing(mapped(lambda x: sys.exit(3) if x == 5 else x), says)


def test_workers_end_at_once_while_later_ones_live():
    first, second = mapped(abs), mapped(abs)
    for data in (first, second):  # processes forked later hold copies of the pipes of the first
        assert len(stream(data)) == 40
    processes = [worker.process for worker in first._all_pools()[0]._workers]
    ends = [os.pidfd_open(process.pid) for process in processes]
    pool = first._all_pools()[0]
    for worker in pool._workers:
        worker._hang_up()
    assert all(select.select([end], [], [], 0.9)[0] for end in ends)
    for end in ends:
        os.close(end)
    first.close_pool()
    second.close_pool()


def test_an_iterator_of_another_process():
    iterator = source().create_tuple_iterator(output_numpy=True)
    next(iterator)
    child = os.fork()
    if child == 0:
        try:
            next(iterator)
        except RuntimeError as error:
            os._exit(0 if "process that made it" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(iterator)) == 39


def stop(x):
    if x == 5:
        os.kill(os.getpid(), signal.SIGSTOP)
    return x


def lock_of(x):
    return {"lock": threading.Lock()} if x == 5 else x


def test_a_stopped_worker_that_takes_no_more():
    ds.config.set_multiprocessing_timeout_interval(1)
    large = ds.GeneratorDataset([np.zeros(1 << 20, np.uint8)] * 2, "x", shuffle=False)
    pool = WorkerPool(LoadCall(Numbers(), ["i", "x"], None), 1)
    pool.start()
    os.kill(pool._workers[0].process.pid, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match="must answer within 1 s"):
        pool([large.source[0]], [0], [0])
    assert len(pool([()], [0], [3])) == 1  # another process
    pool.close()


def test_a_result_that_cannot_be_sent():
    failing(mapped(lock_of), "in a worker process returns must be what pickle can hand")


@pytest.mark.host_device  # its processes begin in threads, which cannot skip a test
def test_the_pool_is_closed_on_the_way():
    class Slow:
        op = "map"

        def __call__(self, rows, keys, numbers):
            time.sleep(0.05)
            return [(np.int64(n),) for n in numbers]

    pool = WorkerPool(Slow(), 2)
    results = []

    def row(n):
        results.append(int(pool([()], [0], [n])[0][0]))

    threads = [threading.Thread(target=row, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        time.sleep(0.06)
        pool.close()
    for thread in threads:
        thread.join(20)
    assert sorted(results) == list(range(12))
    pool.close()


def test_processes_begin_while_another_thread_draws():
    inside, done = threading.Event(), threading.Event()

    def draw():
        with draws.seeded(1, 2):
            inside.set()
            done.wait(20)

    random.seed(7)
    expected = random.Random(7).random()
    thread = threading.Thread(target=draw)
    thread.start()
    assert inside.wait(20)
    child = os.fork()
    if child == 0:
        own = random.random() == expected
        with draws.seeded(1, 2):
            os._exit(0 if own else 1)
    ended = wait_for(child)
    done.set()
    thread.join()
    assert ended == 0
    assert random.random() == expected


def wait_for(child):
    """Its exit status; None after 20 seconds."""
    for _ in range(2000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def test_processes_of_an_unfinished_iterator_go_with_it():
    data = source().map(leave, "i", num_parallel_workers=2, python_multiprocessing=True)
    iterator = data.create_tuple_iterator(output_numpy=True)
    next(iterator)
    assert multiprocessing.active_children()
    del data, iterator
    gc.collect()
    # Before any other pipeline runs; one that was busy is killed, and nobody waits for its end.
    assert soon_none(multiprocessing.active_children)


def test_an_iterator_in_two_threads():
    entered, go = threading.Event(), threading.Event()

    def wait(x):
        entered.set()
        go.wait(20)
        return x

    iterator = source().map(wait, "i").create_tuple_iterator(output_numpy=True, num_epochs=1)
    rows = []
    thread = threading.Thread(target=lambda: rows.extend(iterator))
    thread.start()
    assert entered.wait(20)
    with pytest.raises(RuntimeError, match="one thread at a time must take rows"):
        next(iterator)
    go.set()
    thread.join()
    assert [int(row[0]) for row in rows] == list(range(40))


@pytest.mark.parametrize("debug", [False, True])
def test_an_iterator_is_stopped_while_a_thread_waits_for_a_row(debug):
    ds.config.set_debug_mode(debug)
    entered, go = threading.Event(), threading.Event()

    def wait(x):
        entered.set()
        go.wait(20)
        return x

    iterator = source().map(wait, "i").create_tuple_iterator(output_numpy=True)
    ends = []

    def take():
        try:
            list(iterator)
        except RuntimeError as error:
            ends.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    assert entered.wait(20)
    iterator.stop()
    go.set()
    thread.join(20)
    assert len(ends) == 1 and "was stopped" in ends[0]


def test_a_function_that_takes_from_its_own_iterator():
    ds.config.set_debug_mode(True)
    held = []
    data = source().map(lambda x: next(held[0])[0], "i")
    held.append(data.create_tuple_iterator(output_numpy=True))
    with pytest.raises(RuntimeError, match="one thread at a time"):
        next(held[0])
    held.clear()


# Positions


def flat(i, x):
    return ds.NumpySlicesDataset({"i": [int(i)] * 2, "x": [float(x)] * 2}, shuffle=True)


PIPELINES = {
    "shuffled": lambda data: data.shuffle(50).batch(3),
    "buffered": lambda data: data.filter(lambda i, x: i != 7).shuffle(4).batch(3),
    "repeated": lambda data: data.repeat(3).batch(7, drop_remainder=True),
    "flat": lambda data: data.flat_map(flat),
    "zipped": lambda data: data.take(20).zip(data.skip(3).rename(["i", "x"], ["j", "y"])).batch(2),
    "joined": lambda data: (data + data).skip(5).map(noisy, "x"),
    "buckets": lambda data: data.bucket_batch_by_length(
        ["i"], [10, 20], [2, 3, 4], lambda i: int(i)
    ),
    "growing": lambda data: data.batch(lambda info: info.get_batch_num() + 1),
}


def taken(iterator, count):
    """The next rows, over the end of an epoch."""
    rows = []
    while len(rows) < count:
        for row in iterator:
            rows.append([value.tolist() for value in row])
            if len(rows) == count:
                break
    return rows


@pytest.mark.parametrize("name", PIPELINES)
def test_nothing_is_lost_and_nothing_repeated(name):
    def build():
        return PIPELINES[name](source(shuffle=True))

    ds.config.set_seed(11)
    expected = stream(build(), 2)
    total = len(expected)
    for done in {0, 1, 5, total // 2, total // 2 + 2, total - 1}:
        data = build()
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        first = taken(iterator, done)
        state = data.state()
        iterator.stop()
        ds.config.set_seed(12)  # what counts is the state
        again = build()
        again.restore(state)
        rest = again.create_tuple_iterator(num_epochs=2, output_numpy=True)
        given = [[v.tolist() for v in row] for row in rest]
        if state["epoch"] == 0:
            given += [[v.tolist() for v in row] for row in rest]
        assert first + given == expected
        ds.config.set_seed(11)


def test_the_position_survives_a_failure():
    data = source().map(refuse, "i")
    with pytest.raises(RuntimeError, match="not this one"):
        stream(data)
    assert (data.state()["epoch"], data.state()["step"]) == (0, 5)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"version": 9}, ValueError, "must be of version 1, but got 9"),
        ({"step": -1}, ValueError, "step must be in"),
        ({"seeded": 1}, TypeError, "seeded must be bool"),
        ({"step": 41}, RuntimeError, "must have the 41 rows"),
    ],
)
def test_wrong_states(change, error, says):
    data = source()
    with pytest.raises(RuntimeError, match="an iterator must have been made"):
        data.state()
    next(data.create_tuple_iterator())
    state = data.state()
    with pytest.raises(error, match=says):
        data.restore({**state, **change})
        stream(data)
