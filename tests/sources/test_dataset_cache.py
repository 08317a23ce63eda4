"""DatasetCache: rows kept in a process of their own, and what may go wrong with it."""

from __future__ import annotations

import gc
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from sample_files import SAMPLES
from source_cases import CASES, given_all, written

import mindspore.dataset as ds
from mindspore.dataset import vision

KEPT = json.loads(Path(__file__).with_name("answers.json").read_text())


@pytest.fixture(autouse=True)
def own_server(monkeypatch):
    """Servers of a test are its own, and end with it."""
    with tempfile.TemporaryDirectory(prefix="ms") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setenv("MS_CACHE_LINGER", "0.3")
        yield folder


class Counted:
    """A function that says into a file how often it was called."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, x):
        with open(self.path, "a") as out:
            out.write("x")
        return x * 2.0

    @property
    def calls(self):
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0


@pytest.fixture
def counted(tmp_path):
    return Counted(tmp_path / "calls")


def numbers(count=12, **options):
    return ds.NumpySlicesDataset({"x": np.arange(count)}, **{"shuffle": False, **options})


def values(data):
    return [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def server_of(cache):
    cache.get_stat()
    return cache._connections._server


def test_rows_are_made_once(counted):
    cache = ds.DatasetCache(1)
    data = numbers(shuffle=True).map(counted, "x", cache=cache).batch(3)
    for _ in range(3):
        assert sorted(x for batch in values(data) for x in batch) == [2.0 * x for x in range(12)]
    assert counted.calls == 12
    stat = cache.get_stat()
    assert stat.num_mem_cached == 12 and stat.num_disk_cached == 0 and stat.avg_cache_sz >= 8


def test_shards_and_other_orders_share_rows(counted):
    values(numbers().map(counted, "x", cache=ds.DatasetCache(1)))
    parts = [
        values(numbers(num_shards=2, shard_id=i).map(counted, "x", cache=ds.DatasetCache(1)))
        for i in (0, 1)
    ]
    assert sorted(parts[0] + parts[1]) == [2.0 * x for x in range(12)]
    assert counted.calls == 12
    other = ds.DatasetCache(2)  # another session knows nothing of them
    values(numbers().map(counted, "x", cache=other))
    assert counted.calls == 24


def test_other_functions_and_data_are_others():
    cache = ds.DatasetCache(1)
    assert values(numbers(3).map(lambda x: x + 1, "x", cache=cache)) == [1, 2, 3]
    assert values(numbers(3).map(lambda x: x + 2, "x", cache=cache)) == [2, 3, 4]
    shift = 5
    data = numbers(3).map(lambda x: x + shift, "x", cache=cache)
    assert values(data) == [5, 6, 7]
    shift = 6
    assert values(numbers(3).map(lambda x: x + shift, "x", cache=cache)) == [6, 7, 8]
    moved = ds.NumpySlicesDataset({"x": np.arange(3) + 7}, shuffle=False)
    assert values(moved.map(lambda x: x + 1, "x", cache=cache)) == [8, 9, 10]


def test_rows_without_numbers_come_from_the_cache_too(counted):
    def build():
        source = ds.GeneratorDataset(lambda: ((np.int64(i),) for i in range(9)), ["x"])
        chosen = source.filter(lambda x: x % 3 != 0)
        return chosen.map(counted, "x", cache=ds.DatasetCache(1))

    data = build()
    assert values(data) == values(data) == [2.0, 4.0, 8.0, 10.0, 14.0, 16.0]
    assert counted.calls == 6
    left = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(left)
    again = build()
    again.restore(data.state())
    assert values(again) == [4.0, 8.0, 10.0, 14.0, 16.0]


def test_the_position_and_the_workers_change_nothing():
    def build(**more):
        ds.config.set_seed(5)
        data = numbers(20, shuffle=True, **more)
        return data.map(lambda x: x + 1, "x", cache=ds.DatasetCache(3)).batch(4)

    expected = values(build())
    for workers in (1, 3):
        assert values(build(num_parallel_workers=workers)) == expected
    data = build()
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    first = next(iterator)[0].tolist()
    again = build()
    again.restore(data.state())
    assert [first, *values(again)] == expected
    ds.config.set_debug_mode(True)
    assert values(build()) == expected


def test_types_texts_and_shapes_stay():
    columns = {
        "text": np.array(["ä", "bcd"]),
        "bytes": np.array([b"\x00\x01", b"x"]),
        "half": np.zeros((2, 0, 3), np.float16),
        "flag": np.array([True, False]),
    }
    data = ds.NumpySlicesDataset(columns, shuffle=False)
    cached = data.map(lambda x: x, "flag", cache=ds.DatasetCache(1))
    for _ in range(2):
        rows = zip(
            data.create_tuple_iterator(num_epochs=1, output_numpy=True),
            cached.create_tuple_iterator(num_epochs=1, output_numpy=True),
        )
        for plain, kept in rows:
            for a, b in zip(plain, kept):
                assert a.dtype == b.dtype and a.shape == b.shape and (a == b).all()


ROW = 1 << 16


class Wide:
    """Rows of 64 KB."""

    def __init__(self, path):
        self.counted = Counted(path)

    def __call__(self, x):
        self.counted(x)
        return np.full(ROW, int(x), np.uint8)


def sums(data):
    return sorted(
        int(row[0].sum()) // ROW
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    )


def test_what_memory_has_no_room_for_goes_to_the_disk(tmp_path):
    wide = Wide(tmp_path / "calls")
    cache = ds.DatasetCache(1, size=1, spilling=True)
    data = numbers(40).map(wide, "x", cache=cache)
    assert sums(data) == sums(data) == list(range(40))
    assert wide.counted.calls == 40
    stat = cache.get_stat()
    assert stat.num_mem_cached == 15 and stat.num_disk_cached == 25
    assert not [
        name
        for name in os.listdir(tempfile.gettempdir())
        if name.startswith("tmp") and "cache" in name
    ]


def test_without_spilling_the_rest_is_made_anew(tmp_path):
    wide = Wide(tmp_path / "calls")
    cache = ds.DatasetCache(1, size=1)
    data = numbers(40).map(wide, "x", cache=cache)
    assert sums(data) == sums(data) == list(range(40))
    assert wide.counted.calls == 40 + 25
    stream = ds.GeneratorDataset(lambda: ((i,) for i in range(40)), ["x"]).map(
        wide, "x", cache=cache
    )
    assert sums(stream) == sums(stream) == list(range(40))


PROGRAM = """
import sys
import numpy as np
import mindspore.dataset as ds
sys.path.insert(0, {folder!r})
from test_dataset_cache import Counted, Wide, numbers, sums, values
"""


def run(text, **more):
    program = PROGRAM.format(folder=str(Path(__file__).parent)) + text
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, **more
    )


def test_programs_share_rows(counted):
    text = f"""
print(values(numbers().map(Counted({counted.path!r}), "x", cache=ds.DatasetCache(1))))
"""
    cache = ds.DatasetCache(1)
    mine = values(numbers().map(counted, "x", cache=cache))
    done = run(text)
    assert done.stdout.strip() == str(mine), done.stderr
    assert counted.calls == 12


def test_a_full_disk_is_an_error(tmp_path):
    text = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
data = numbers(40).map(Wide({str(tmp_path / "calls")!r}), "x", cache=ds.DatasetCache(1, size=1, spilling=True))
try:
    sums(data)
except RuntimeError as error:
    print(error)
"""
    done = run(text, env={**os.environ, "MS_SPILL_PATH": str(tmp_path)})
    assert f"'{tmp_path}' must take the rows that memory has no room for, but" in done.stdout, done


def test_a_folder_for_rows_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_SPILL_PATH", str(tmp_path / "none"))
    data = numbers(40).map(Wide(tmp_path / "calls"), "x", cache=ds.DatasetCache(1, 1, True))
    with pytest.raises(RuntimeError, match=r"none' must take the rows .* No such file"):
        sums(data)


def test_a_server_that_is_gone_is_an_error_and_the_next_epoch_works(counted):
    cache = ds.DatasetCache(1)
    data = numbers(3000).map(counted, "x", cache=cache, num_parallel_workers=1)
    iterator = data.create_tuple_iterator(output_numpy=True)
    for _ in range(5):
        next(iterator)
    os.kill(server_of(cache), signal.SIGKILL)
    with pytest.raises(
        RuntimeError,
        match=r"For 'DatasetCache', the server \(process \d+\) of session 1 must stay alive",
    ):
        for _ in iterator:
            pass
    assert values(data) == [2.0 * x for x in range(3000)]


def stands_still(process):
    """Whether each of its threads has noticed that it is to stop, which those that are woken meanwhile may not."""
    threads = [stat.read_text() for stat in Path(f"/proc/{process}/task").glob("*/stat")]
    return all(text.rpartition(") ")[2].startswith("T") for text in threads)


def test_a_server_that_hangs_is_an_error(counted):
    cache = ds.DatasetCache(1)
    ds.config.set_multiprocessing_timeout_interval(1)
    data = numbers(4).map(counted, "x", cache=cache)
    values(data)
    server = server_of(cache)
    os.kill(server, signal.SIGSTOP)
    try:
        while not stands_still(server):
            time.sleep(0.01)
        with pytest.raises(RuntimeError, match="must answer within 1 s"):
            values(data)
    finally:
        os.kill(server, signal.SIGCONT)


def test_a_session_keeps_its_size():
    first = numbers().map(lambda x: x, "x", cache=ds.DatasetCache(9, size=5))
    values(first)
    other = numbers().map(lambda x: x, "x", cache=ds.DatasetCache(9, size=6, spilling=True))
    with pytest.raises(
        RuntimeError,
        match="session 9 must be used as it was begun, with size=5 and spilling=False, but got size=6",
    ):
        values(other)


def test_it_ends_by_itself_and_leaves_nothing(own_server):
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    cache = ds.DatasetCache(1)
    data = numbers().map(lambda x: x, "x", cache=cache)
    values(data)
    server = server_of(cache)
    assert os.stat(os.path.join(own_server, f"mindspore-cache-{os.getuid()}")).st_mode & 0o077 == 0
    del cache, data
    gc.collect()
    values(numbers().map(lambda x: x, "x"))  # what the engine let go is dropped by its next call
    end = time.monotonic() + 20
    while os.path.exists(f"/proc/{server}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{server}")
    assert not [
        name for _, _, names in os.walk(own_server) for name in names if not name.endswith(".lock")
    ]
    if shared:
        assert set(os.listdir("/dev/shm")) <= shared


def test_a_folder_that_others_may_enter_is_refused(own_server):
    os.makedirs(os.path.join(own_server, f"mindspore-cache-{os.getuid()}"))
    os.chmod(os.path.join(own_server, f"mindspore-cache-{os.getuid()}"), 0o755)
    with pytest.raises(RuntimeError, match="this user alone may enter"):
        values(numbers().map(lambda x: x, "x", cache=ds.DatasetCache(1)))


def test_what_changes_in_the_files_is_seen(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")

    def lines():
        return [
            str(x)
            for x in values(
                ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False, cache=ds.DatasetCache(1))
            )
        ]

    assert lines() == lines() == ["one", "two"]
    (tmp_path / "a.txt").write_text("six\nten\n")
    assert lines() == ["six", "ten"]


def test_what_cannot_be_kept_is_refused():
    cache = ds.DatasetCache(1)
    data = numbers()
    picture = ds.NumpySlicesDataset(np.zeros((4, 8, 8, 3), np.uint8), ["x"], shuffle=False)
    for call, error, words in (
        (lambda: data.map(lambda x: x, "x", cache=3), TypeError, "cache must be DatasetCache"),
        (lambda: ds.RandomDataset(4, cache="yes"), TypeError, "cache must be DatasetCache"),
        (lambda: data.batch(2, cache=cache), TypeError, "'cache' is not one"),
        (lambda: data.shuffle(4).map(lambda x: x, "x", cache=cache), RuntimeError, "shuffled below"),
        (lambda: picture.map(vision.RandomHorizontalFlip(), "x", cache=cache), RuntimeError, "'RandomHorizontalFlip' does"),
        (lambda: picture.map(vision.RandomCrop(4), "x", cache=cache), RuntimeError, "operations that draw"),
        (lambda: data.map(lambda x: x, "x", cache=cache, callbacks=[ds.DSCallback()]), ValueError, "excludes callbacks"),
        (cache.get_stat, RuntimeError, "none has yet"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
    nested = data.map(lambda x: {"a": x}, "x", cache=cache)
    with pytest.raises(TypeError, match="must hold numbers or text, but got dict"):
        list(nested.create_tuple_iterator(num_epochs=1, output_numpy=True))

    def wrong(x):
        raise KeyError("no such")

    with pytest.raises(RuntimeError, match=r"wrong \(row 0\) raised KeyError"):
        values(data.map(wrong, "x", cache=cache))


def test_wrong_arguments():
    for given, error in (
        ({"session_id": 0}, ValueError),
        ({"session_id": 1 << 32}, ValueError),
        ({"session_id": "a"}, TypeError),
        ({"session_id": True}, TypeError),
        ({"session_id": 1, "size": -1}, ValueError),
        ({"session_id": 1, "size": 1.5}, TypeError),
        ({"session_id": 1, "spilling": 1}, TypeError),
        ({"session_id": 1, "hostname": 3}, TypeError),
        ({"session_id": 1, "hostname": "8.8.8.8"}, RuntimeError),
        ({"session_id": 1, "port": 80}, ValueError),
        ({"session_id": 1, "num_connections": 0}, ValueError),
        ({"session_id": 1, "prefetch_size": 0}, ValueError),
    ):
        with pytest.raises(error, match="For 'DatasetCache'"):
            ds.DatasetCache(**given)


def test_servers_by_port(counted):
    for port in (2000, 2001):
        values(numbers().map(counted, "x", cache=ds.DatasetCache(1, port=port)))
    assert counted.calls == 24


def test_it_is_written_down_with_the_pipeline(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    data = ds.TextFileDataset(
        str(tmp_path / "a.txt"), shuffle=False, cache=ds.DatasetCache(4, 7, True)
    )
    again = ds.deserialize(ds.serialize(data))
    assert ds.compare(data, again) and values(again) == values(data)


def takes_cache(kind):
    return "cache" in inspect.signature(getattr(ds, kind)).parameters


FIRST = {
    kind: case
    for case, (_, kind, given) in reversed(CASES.items())
    if "raises" not in KEPT[case] and not given.get("decode") and takes_cache(kind)
}


@pytest.mark.parametrize("kind", FIRST)
def test_every_source_takes_it(kind, tmp_path):
    sample, _, arguments = CASES[FIRST[kind]]
    SAMPLES[sample](tmp_path)

    def rows(**more):
        data = getattr(ds, kind)(**given_all(arguments, tmp_path), **more)
        return [
            str([written(v) for v in row])
            for row in data.create_tuple_iterator(None, 1, output_numpy=True)
        ]

    ds.config.set_seed(3)
    cache = ds.DatasetCache(6)
    expected = rows()
    assert rows(cache=cache) == rows(cache=cache) == expected
    assert cache.get_stat().num_mem_cached >= len(set(expected))
