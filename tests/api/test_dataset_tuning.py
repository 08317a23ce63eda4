"""What a pipeline tells of its parts, numbers of workers that are found while it runs, and arguments that are only checked."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore import log
from mindspore.dataset import config, text, transforms, vision
from mindspore.dataset.engine.tuning import Facts, Tuner, save


@pytest.fixture
def tuning(tmp_path):
    before = config.get_num_parallel_workers(), config.get_prefetch_size()
    config.set_autotune_interval(8)
    config.set_enable_autotune(True, str(tmp_path / "found"))
    yield tmp_path / "found_0.json"
    config.set_enable_autotune(False)
    config.set_autotune_interval(0)
    config.set_num_parallel_workers(before[0])
    config.set_prefetch_size(before[1])


def slow(x):
    time.sleep(0.002)
    return x


def images(count=64, size=64):
    return ds.NumpySlicesDataset((np.zeros((count, size, size, 3), np.uint8),), ["x"])


def test_the_slowest_operator_is_named():
    data = ds.NumpySlicesDataset((np.arange(40),), ["x"]).map(slow, "x").batch(4)
    iterator = data.create_tuple_iterator(num_epochs=1)
    assert sum(1 for _ in iterator) == 10
    told = data.profile()
    assert told["slowest"] == "map", told
    names = [part["name"] for part in told["operators"]]
    assert names == ["NumpySlicesDataset", "map", "batch"]
    assert [part["rows"] for part in told["operators"]] == [40, 40, 40]
    assert told["operators"][1]["seconds"] > 0.07
    queue = told["queue"]
    assert queue["worked"] > 0.07 and queue["prefetch_size"] == config.get_prefetch_size()
    assert 0 <= queue["mean_depth"] <= queue["prefetch_size"]
    unused = ds.NumpySlicesDataset((np.arange(4),), ["x"]).batch(2)
    assert unused.profile()["slowest"] is None and unused.profile()["queue"] is None


def test_a_source_that_only_iterates_is_measured():
    class Rows:
        def __iter__(self):
            for number in range(20):
                yield (slow(np.array(number)),)

    data = ds.GeneratorDataset(Rows(), ["x"]).batch(4)
    assert sum(1 for _ in data.create_tuple_iterator(num_epochs=1)) == 5
    told = data.profile()
    assert told["operators"][0]["rows"] == 20 and told["operators"][0]["seconds"] > 0.035
    assert told["slowest"] == "GeneratorDataset"


def test_a_run_too_short_to_tune_writes_what_it_had(tuning):
    data = ds.NumpySlicesDataset((np.arange(4),), ["x"], num_parallel_workers=1)
    assert sum(1 for _ in data.create_tuple_iterator(num_epochs=1)) == 4
    told = json.loads(tuning.read_text())
    assert told["prefetchSize"] == config.get_prefetch_size()
    assert "fewer than 8 rows" in told["summary"][0]
    config.load(str(tuning))


def test_a_generator_and_a_filter_are_measured():
    data = ds.GeneratorDataset(list(range(30)), ["x"], shuffle=False)
    data = data.filter(lambda x: slow(x) % 2 == 0, "x").batch(5)
    rows = [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert rows == np.arange(0, 30, 2).reshape(3, 5).tolist()
    told = data.profile()
    assert told["slowest"] == "filter" and told["operators"][0]["rows"] == 30, told


def test_rows_are_the_same_while_numbers_change(tuning):
    steps = [vision.Resize((40, 40)), vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()]
    config.set_num_parallel_workers(1)
    config.set_prefetch_size(2)
    data = images(256).map(steps, "x").map(transforms.TypeCast(np.float32), "x")
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        rows = list(iterator)
        assert len(rows) == 256 and all(row[0].shape == (3, 40, 40) for row in rows)
    found = json.loads(tuning.read_text())
    assert found["numParallelWorkers"] >= 1 and found["prefetchSize"] >= 2
    assert isinstance(found["summary"], list)
    assert [part["name"] for part in found["operators"]] == ["NumpySlicesDataset", "map", "map"]
    config.load(str(tuning))
    assert config.get_num_parallel_workers() == found["numParallelWorkers"]
    assert config.get_prefetch_size() == found["prefetchSize"]


class Told:
    """A pipeline whose queue tells what a test says."""

    parallel = True

    def __init__(self):
        self.now, self.tuned = (0, 0, 0.0, 0.0, 1, 16), []

    def facts(self):
        return self.now

    def tune(self, workers, items):
        self.tuned.append((workers, items))
        self.now = (*self.now[:4], workers, items)


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr("mindspore.dataset.engine.tuning.cores", lambda: 4)
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    pipeline = Told()
    tuner = Tuner(pipeline, images(2))

    def look(seconds, **facts):
        clock[0] += seconds
        now = Facts(*pipeline.now)
        pipeline.now = tuple(now._replace(**{k: getattr(now, k) + v for k, v in facts.items()}))
        tuner._look()
        return pipeline.tuned

    return look


def test_more_workers_where_rows_are_waited_for(told):
    assert told(1, given=20, waited=0.5, worked=0.95) == [(2, 16)]
    assert told(1, given=30, waited=0.4, worked=1.9) == [(2, 16), (3, 16)]
    # Slower than before: back to what was, and not there again.
    assert told(1, given=20, waited=0.4, worked=2.8)[-1] == (2, 16)
    assert len(told(1, given=30, waited=0.4, worked=1.9)) == 3


def test_more_rows_ahead_where_they_come_in_bursts(told):
    assert told(1, given=20, waited=0.3, worked=0.4) == [(1, 32)]


def test_nothing_changes_where_nobody_waits(told):
    assert told(1, given=20, waited=0.0, worked=0.5) == []
    assert told(1, given=3, waited=0.9, worked=0.9) == []  # too few to tell


def test_settings_of_tuning(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder of 'filepath_prefix' must exist"):
        config.set_enable_autotune(True, str(tmp_path / "no" / "such"))
    with pytest.raises(TypeError, match=r"must be a bool"):
        config.set_enable_autotune(1)
    assert not config.get_enable_autotune()


def test_numbers_of_workers_are_kept_within_the_processors():
    data = ds.NumpySlicesDataset((np.arange(10),), ["x"], shuffle=False, num_parallel_workers=10000)
    data = data.map(lambda x: x, "x", num_parallel_workers=10000)
    data = data.batch(3, num_parallel_workers=10000)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    first = next(iterator)[0].tolist()
    assert first == [0, 1, 2] and data.profile()["queue"]["num_parallel_workers"] <= 1024


def test_a_text_is_no_type():
    with pytest.raises(TypeError, match=r"'ToNumber', data_type must be a type of numbers.*'3x'"):
        text.ToNumber("3x")
    with pytest.raises(
        ValueError, match=r"'ToNumber', the text must spell an integer, but got '3x'"
    ):
        text.ToNumber("int32")("3x")


def test_each_pipeline_has_a_file(tuning):
    first, second = images(), images()
    for _ in range(2):
        save(first, (1, 2), [])
        save(second, (3, 4), [])
    assert json.loads(tuning.read_text())["prefetchSize"] == 2
    assert json.loads(tuning.with_name("found_0_1.json").read_text())["prefetchSize"] == 4
    assert len(list(tuning.parent.iterdir())) == 2


def test_a_file_that_cannot_be_written_ends_nothing(tuning, monkeypatch):
    told = []
    monkeypatch.setattr(log, "warning", lambda text, *rest: told.append(text % rest))
    tuning.mkdir()
    data = images()
    save(data, (1, 2), [])
    save(data, (1, 2), [])
    assert len(told) == 1 and "found_0.json' cannot be written" in told[0]
    assert [path.name for path in tuning.parent.iterdir()] == ["found_0.json"]
