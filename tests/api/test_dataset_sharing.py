"""What each of several processes takes of a dataset: together it is the whole, each row as one process would have it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset.engine import sharing


def slices():
    return ds.NumpySlicesDataset(np.arange(17), "x", shuffle=False)


def generated():
    return ds.GeneratorDataset(lambda: ((np.int64(i),) for i in range(17)), ["x"])


def drawn(x):
    return x + np.random.rand()


PIPELINES = {
    "slices": slices,
    "generator": generated,
    "shuffled": lambda: ds.NumpySlicesDataset(np.arange(17), "x", shuffle=True).batch(4),
    "buffer": lambda: generated().shuffle(5).batch(3, drop_remainder=True),
    "draws": lambda: slices().map(drawn, "x").batch(2),
    "filter": lambda: slices().filter(lambda x: x % 3 != 0).batch(2),
    "repeat": lambda: slices().shuffle(17).batch(5).repeat(2),
    "zip": lambda: slices().zip(ds.NumpySlicesDataset(np.arange(20), "y")),
    "concat": lambda: slices() + slices(),
}
PLACE = {"version": 1, "seed": 7, "seeded": True, "epoch": 1, "step": 0}


def rows(dataset, step=0):
    dataset.restore({**PLACE, "step": step})
    found = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [[np.asarray(value).tolist() for value in row] for row in found]


@pytest.mark.parametrize("name", PIPELINES)
def test_parts_are_the_whole(name):
    whole = rows(PIPELINES[name]())
    for count in (1, 2, 3, 40):
        parts = [sharing.every(PIPELINES[name](), i, count) for i in range(count)]
        taken = [rows(part) for part in parts]
        assert [part.get_dataset_size() for part in parts] == [len(part) for part in taken]
        turns = itertools.zip_longest(*taken)
        assert [row for turn in turns for row in turn if row is not None] == whole


@pytest.mark.parametrize("name", PIPELINES)
def test_a_position_within_a_part(name):
    for first, step, skipped in itertools.product((0, 2), (2, 3), (1, 2)):
        part = sharing.every(PIPELINES[name](), first, step)
        whole = rows(part)
        skipped = min(skipped, len(whole))
        assert rows(part, skipped) == whole[skipped:]
    with pytest.raises(RuntimeError, match="the epoch must have the 50 rows"):
        rows(sharing.every(PIPELINES[name](), 1, 2), 50)


def test_who_has_divided_a_dataset():
    shard = ds.NumpySlicesDataset(np.arange(8), "x", num_shards=2, shard_id=1)
    sampled = ds.NumpySlicesDataset(np.arange(8), "x", sampler=ds.DistributedSampler(2, 0))
    for dataset in (shard, shard.batch(2), sampled.map(drawn, "x"), slices() + sampled):
        assert sharing.is_divided(dataset) and not sharing.is_own(dataset)
    assert not sharing.is_divided(slices().batch(2))
    assert sharing.is_own(ds.NumpySlicesDataset(np.arange(8), "x", num_shards=1, shard_id=0))


def test_batches_of_one_size():
    assert sharing.batching(slices().batch(4)) == [4, 17]
    assert sharing.batching(slices().batch(4).map(drawn, "x").rename("x", "y")) == [4, 17]
    for dataset in (slices(), slices().batch(4).repeat(2), slices().batch(lambda info: 2)):
        assert sharing.batching(dataset) is None


@pytest.mark.parametrize("shuffle", [True, False, ds.Shuffle.FILES, ds.Shuffle.GLOBAL])
def test_files_are_divided_unless_the_script_does(shuffle, tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    whole = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=shuffle)
    assert not sharing.is_divided(whole.batch(2))
    part = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=shuffle, num_shards=2, shard_id=0)
    assert sharing.is_divided(part.batch(2))
