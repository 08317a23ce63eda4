"""Pipelines of any operations against lists of Python: rows, their number, and every position."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore.dataset as ds

SMALL = st.integers(1, 5)
# Name and number of an operation.
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(["map", "filter", "skip", "take", "batch", "padded", "ragged"]), SMALL
    ),
    st.tuples(st.sampled_from(["concat", "zip", "flat_map", "swap", "buckets", "apply"]), SMALL),
    st.tuples(st.sampled_from(["repeat", "rest"]), st.integers(1, 3)),
)
SOURCES = st.tuples(
    st.sampled_from(["slices", "indexed", "iterated"]),
    st.lists(st.integers(0, 99), min_size=1, max_size=14),
)


def source(kind, numbers):
    rows = [(np.int64(n), np.int64(-n)) for n in numbers]
    if kind == "slices":
        columns = {"x": np.array(numbers), "y": -np.array(numbers)}
        return ds.NumpySlicesDataset(columns, shuffle=False)
    return ds.GeneratorDataset(
        rows if kind == "indexed" else lambda: iter(rows), ["x", "y"], shuffle=False
    )


def pair(x, y):
    return ds.NumpySlicesDataset({"x": np.array([x, x + 1]), "y": np.array([y, y])}, shuffle=False)


def chunks(rows, size, drop=False):
    parts = [rows[i : i + size] for i in range(0, len(rows), size)]
    return [
        tuple(list(column) for column in zip(*part, strict=True))
        for part in parts
        if len(part) == size or not drop
    ]


def ragged(rows, size):
    """Batches of x many x, and zeros up to the longest."""
    done = []
    for xs, ys in chunks(rows, size):
        longest = max(x % 4 for x in xs)
        done.append(([[x] * (x % 4) + [0] * (longest - x % 4) for x in xs], ys))
    return done


def bucketed(rows, size):
    """Batches of those whose x % 10 is below 4, and of the others; what is left comes by bucket at the end."""
    buckets, done = ([], []), []
    for row in rows:
        bucket = buckets[row[0] % 10 >= 4]
        bucket.append(row)
        if len(bucket) == size:
            done += chunks(bucket, size)
            bucket.clear()
    return done + [part for bucket in buckets for part in chunks(bucket, size)]


def step(name, n, data, rows):
    """The dataset and the list after an operation."""
    match name:
        case "map":
            return data.map(lambda x, y: (x * 2 + n, y), ["x", "y"]), [
                (x * 2 + n, y) for x, y in rows
            ]
        case "filter":
            return data.filter(lambda x: x % (n + 1) != 0, "x"), [r for r in rows if r[0] % (n + 1)]
        case "skip":
            return data.skip(n), rows[n:]
        case "take":
            return data.take(n), rows[:n]
        case "repeat":
            return data.repeat(n), rows * n
        case "rest":
            return data.skip(n).take(n), rows[n : 2 * n]
        case "concat":
            return data + pair(n, n), [*rows, (n, n), (n + 1, n)]
        case "zip":
            other = ds.NumpySlicesDataset({"z": np.arange(n)}, shuffle=False)
            zipped = ds.zip((data.project("x"), other)).rename("z", "y")
            return zipped, [(x, i) for (x, _), i in zip(rows, range(n), strict=False)]
        case "swap":
            renamed = data.project(["y", "x"]).rename(["y", "x"], ["a", "b"])
            return renamed.rename(["a", "b"], ["x", "y"]), [(y, x) for x, y in rows]
        case "apply":
            return data.apply(lambda d: d.take(n) + d), rows[:n] + rows
        case "flat_map" if rows:
            return data.flat_map(lambda x, y: pair(int(x), int(y))), [
                (x + i, y) for x, y in rows for i in (0, 1)
            ]
    return data, rows


def joined(name, n, data, rows):
    """The last operation, which makes batches."""
    if name == "batch":
        return data.batch(n, drop_remainder=n % 2 == 0), chunks(rows, n, n % 2 == 0)
    if name == "padded":
        return data.padded_batch(n, pad_info={"x": ([], 0)}), chunks(rows, n)
    if name == "ragged":
        data = data.map(lambda x: np.full(x % 4, x), "x")
        return data.padded_batch(n, pad_info={"x": ([None], 0)}), ragged(rows, n)
    if name == "buckets":
        batches = data.bucket_batch_by_length(["x"], [4], [n, n], lambda x: int(x) % 10)
        return batches, bucketed(rows, n)
    return data, rows


def listed(iterator):
    return [tuple(value.tolist() for value in row) for row in iterator]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(SOURCES, st.lists(STEPS, max_size=6), STEPS, st.sampled_from([1, 2, 4]), st.data())
def test_pipelines_give_what_lists_give(begin, steps, last, workers, draw):
    data, rows = source(*begin), [(n, -n) for n in begin[1]]
    for name, n in steps:
        if len(rows) < 60:
            data, rows = step(name, n, data, rows)
    data, rows = joined(*last, data, rows)
    data.num_parallel_workers = workers
    assert listed(data.create_tuple_iterator(None, 1, True)) == rows
    assert data.get_dataset_size() == len(rows)
    given = draw.draw(st.integers(0, max(len(rows) - 1, 0)))
    iterator = data.create_tuple_iterator(None, 1, True)
    before = listed(next(iterator) for _ in range(min(given, len(rows))))
    data.restore(data.state())
    assert before + listed(data.create_tuple_iterator(None, 1, True)) == rows


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    SOURCES,
    st.integers(2, 20),
    st.lists(STEPS, max_size=3),
    st.lists(STEPS, max_size=3),
    st.integers(0, 9),
)
def test_shuffled_pipelines_give_the_same_rows(begin, size, before, after, seed):
    kept = ("map", "swap", "repeat", "filter", "flat_map")
    data, rows = source(*begin), [(n, -n) for n in begin[1]]
    for name, n in before:
        data, rows = step(name, n, data, rows)
    shuffled = data.shuffle(size)
    for name, n in after:
        if name in kept and len(rows) < 60:
            shuffled, rows = step(name, n, shuffled, rows)
    before_all = dict(ds.config._settings)
    ds.config.set_seed(seed)
    try:
        first = listed(shuffled.create_tuple_iterator(None, 1, True))
        assert sorted(first) == sorted(rows)
        shuffled.num_parallel_workers = 2
        assert listed(shuffled.create_tuple_iterator(None, 1, True)) == first
    finally:
        ds.config._settings.update(before_all)
