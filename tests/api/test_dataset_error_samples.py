"""`config.set_error_samples_mode`: rows that cannot be made, as MindSpore 2.10 leaves them out or replaces them."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision
from mindspore.dataset.config import ErrorSamplesMode


@pytest.fixture(autouse=True)
def own_settings():
    before = dict(ds.config._settings)
    yield
    ds.config._settings.update(before)


def refusing(bad):
    def function(x):
        if bad(int(x)):
            raise ValueError("not this one")
        return x * 10

    return function


def numbers(count=10, **options):
    return ds.NumpySlicesDataset(np.arange(count), ["x"], **{"shuffle": False, **options})


def values(dataset):
    return [row[0].tolist() for row in dataset.create_tuple_iterator(None, 1, True)]


# What 2.10 gives for ten rows, of which some fail.
ANSWERS = [
    (lambda x: x % 4 == 3, [0, 10, 20, 40, 50, 60, 80, 90], [0, 10]),
    (lambda x: x == 0, [10, 20, 30, 40, 50, 60, 70, 80, 90], [10]),
    (lambda x: x >= 6, [0, 10, 20, 30, 40, 50], [0, 10, 20, 30]),
    (lambda x: False, [10 * x for x in range(10)], []),
]


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize(("bad", "good", "again"), ANSWERS)
def test_rows_that_fail(bad, good, again, workers):
    processes = {"num_parallel_workers": workers, "python_multiprocessing": workers is not None}
    with pytest.raises(RuntimeError, match="not this one") if again else np.errstate():
        values(numbers().map(refusing(bad), "x", **processes))
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    data = numbers().map(refusing(bad), "x", **processes)
    assert values(data) == values(data) == good
    assert data.get_dataset_size() == len(good)
    assert values(data.batch(3)) == [good[i : i + 3] for i in range(0, len(good), 3)]
    data.close_pool()
    ds.config.set_error_samples_mode(ErrorSamplesMode.REPLACE)
    data = numbers().map(refusing(bad), "x", **processes)
    assert values(data) == good + again
    assert data.get_dataset_size() == 10
    data.close_pool()


def test_where_all_fail():
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    assert values(numbers().map(refusing(lambda x: True), "x")) == []
    ds.config.set_error_samples_mode(ErrorSamplesMode.REPLACE)
    with pytest.raises(RuntimeError, match=r"takes the places of others .* but all 10 failed"):
        values(numbers().map(refusing(lambda x: True), "x"))


def test_no_more_than_so_many(caplog):
    few = refusing(lambda x: x in (2, 5))
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP, most=2)
    with caplog.at_level(logging.WARNING, "mindspore.dataset"):
        assert values(numbers(7).map(few, "x")) == [0, 10, 30, 40, 60]
    assert [line.split("\n")[0] for line in caplog.messages] == [
        f"A row of the dataset cannot be made, it is left out: For 'map', refusing.<locals>.function (row {n}) "
        "raised ValueError: not this one"
        for n in (2, 5)
    ]
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP, most=1)
    with pytest.raises(RuntimeError, match=r"at most 1 rows of an epoch may fail .* number 2 did"):
        values(numbers(7).map(few, "x"))
    ds.config.set_error_samples_mode(ErrorSamplesMode.RETURN)
    data = numbers(7).map(few, "x")
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)  # of later calls
    with pytest.raises(RuntimeError, match="not this one"):
        values(data)


def test_files_that_are_damaged(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    for number in range(6):
        picture = np.full((4, 5, 3), number * 40, np.uint8)
        image_module.fromarray(picture).save(tmp_path / "a" / f"{number}.png")
    (tmp_path / "a" / "1.png").write_bytes(b"no picture")
    (tmp_path / "a" / "4.png").write_bytes(b"")
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP, 3)
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False).map(vision.Decode(), "image")
    (tmp_path / "a" / "3.png").unlink()
    assert [image[0, 0, 0] for image, _ in data.create_tuple_iterator(None, 1, True)] == [
        0,
        80,
        200,
    ]
    (tmp_path / "d.csv").write_text("1,x\nq,y\n3,z\n")
    data = ds.CSVDataset(str(tmp_path / "d.csv"), ",", [1, ""], ["i", "s"], shuffle=False)
    assert values(data.map(lambda i: i, "i")) == [1, 3]


def test_order_and_position():
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)

    def made():
        data = numbers(50, shuffle=True).map(refusing(lambda x: x % 7 == 0), "x")
        return data.batch(4).repeat(2)

    ds.config.set_seed(3)
    data = made()
    whole = values(data)
    assert sorted(x for batch in whole for x in batch) == sorted(
        2 * [10 * x for x in range(50) if x % 7]
    )
    iterator = data.create_tuple_iterator(None, 1, True)
    before = [next(iterator)[0].tolist() for _ in range(13)]
    state = data.state()
    again = made()
    again.restore(state)
    assert before + values(again) == whole


def test_wrong_settings():
    assert ds.config.get_error_samples_mode() == ErrorSamplesMode.RETURN
    with pytest.raises(TypeError, match="must be ErrorSamplesMode, but got int"):
        ds.config.set_error_samples_mode(2)
    with pytest.raises(ValueError, match="must be in"):
        ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP, -1)
