"""Positions that go from some shards to more or fewer: no sample is lost, none comes twice."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import config

ROWS = 60


@pytest.fixture(autouse=True)
def _seeded():
    config.set_seed(7)


def shard(count, number, batch, shuffle=True, source="slices"):
    part = {} if count is None else {"num_shards": count, "shard_id": number}
    if source == "slices":
        data = ds.NumpySlicesDataset((np.arange(ROWS),), ["x"], shuffle=shuffle, **part)
    else:
        data = ds.GeneratorDataset(list(range(ROWS)), ["x"], shuffle=shuffle, **part)
    data = data.map(lambda x: x + 1, "x")
    return data.batch(batch) if batch else data


def taken(data, steps):
    """The first batches of an epoch, and the position behind them."""
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = [x for _ in range(steps) for x in np.atleast_1d(next(iterator)[0]).tolist()]
    return rows, json.loads(json.dumps(data.state()))


def rest(data, state, **options):
    data.restore(state)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True, **options)
    return [np.atleast_1d(row[0]).tolist() for row in iterator]


@pytest.mark.parametrize("source", ["slices", "generator"])
@pytest.mark.parametrize("before, after", [((2, 3), (3, 4)), ((4, 5), (2, 3)), ((3, 4), (1, 8))])
def test_other_numbers_of_shards(before, after, source):
    given, states = [], []
    for number in range(before[0]):
        rows, state = taken(shard(before[0], number, before[1], source=source), 2)
        given += rows
        states.append(state)
    assert {state["samples"] for state in states} == {2 * before[0] * before[1]}
    for state in states:  # any of them will do
        left = []
        for number in range(after[0]):
            data = shard(after[0], number, after[1], source=source)
            left += [x for batch in rest(data, state) for x in batch]
        assert sorted(given + left) == list(range(1, ROWS + 1)), (given, left)


def test_the_next_epoch_is_whole():
    _, state = taken(
        shard(2, 0, 4), 3
    )  # 24 samples: 8 of each of three shards, of which a batch has 5
    data = shard(3, 1, 5)
    data.restore(state)
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    sizes = [[len(row[0]) for row in iterator] for _ in range(2)]
    assert sizes == [[2, 5, 5], [5, 5, 5, 5]]


def test_a_position_within_a_batch_that_was_begun():
    _, state = taken(shard(2, 0, 4), 3)
    halfway = shard(3, 1, 5)
    halfway.restore(state)
    iterator = halfway.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert halfway.state()["samples"] == 24
    again = rest(shard(3, 1, 5), halfway.state())
    assert again == [row[0].tolist() for row in iterator]
    first = shard(3, 0, 5)
    first.restore(state)
    next(first.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert first.state()["samples"] == 30


def test_without_batches_and_without_shuffling():
    given, state = taken(shard(2, 1, 0, shuffle=False), 7)
    assert given == list(range(2, 16, 2))
    assert rest(shard(7, 0, 0, shuffle=False), state) == [[n] for n in range(15, 61, 7)]


def test_an_undivided_dataset_goes_to_shards():
    given, state = taken(shard(None, 0, 6), 3)
    left = [x for n in range(2) for b in rest(shard(2, n, 7), state) for x in b]
    assert sorted(given + left) == list(range(1, ROWS + 1))


def test_one_order_is_needed():
    _, state = taken(shard(2, 0, 4), 1)
    with pytest.raises(ValueError, match=r"one order, but no seed was set. Use set_seed"):
        shard(None, 0, 4).restore({**state, "seeded": False})
    shard(3, 0, 4).restore({**state, "seeded": False})  # shards have one even so
    with pytest.raises(
        ValueError, match=r"must have the 50 rows that the position is of, but it h"
    ):
        shard(3, 0, 4).restore({**state, "rows": 50})
    with pytest.raises((TypeError, ValueError), match=r"'restore'.*samples must be"):
        shard(3, 0, 4).restore({**state, "samples": -1})


def test_the_same_shards_go_on_as_before():
    data = shard(2, 0, 4)
    rows, state = taken(data, 3)
    whole, _ = taken(shard(2, 0, 4), 8)
    assert rows + [x for b in rest(shard(2, 0, 4), state) for x in b] == whole


def epochs(state, batch, count):
    data = ds.NumpySlicesDataset((np.arange(19),), ["x"], shuffle=False).batch(
        batch, drop_remainder=True
    )
    data.restore(state)
    iterator = data.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[row[0].tolist() for row in iterator] for _ in range(count)]


@pytest.mark.parametrize("given", [17, 18, 19])
def test_what_is_left_fills_no_batch(given):
    before = ds.NumpySlicesDataset((np.arange(19),), ["x"], shuffle=False).batch(1)
    state = taken(before, given)[1]
    whole = [list(range(first, first + 5)) for first in (0, 5, 10)]
    assert epochs(state, 5, 3) == [[], whole, whole]


def test_the_last_whole_batch_goes_on():
    before = ds.NumpySlicesDataset((np.arange(19),), ["x"], shuffle=False).batch(1)
    state = taken(before, 12)[1]
    assert epochs(state, 5, 2)[0] == [[12, 13, 14]]
