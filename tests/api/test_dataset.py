"""Sources, operations, iterators and samplers of the data pipeline."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore import Tensor


def numbers(count=10, **options):
    options.setdefault("shuffle", False)
    if "sampler" in options:
        options.pop("shuffle")
    data = {"a": np.arange(count, dtype=np.int32), "b": np.ones((count, 2), np.float32)}
    return ds.NumpySlicesDataset(data, **options)


def rows(dataset, column=0):
    """One column of an epoch, as a list."""
    return [row[column].tolist() for row in dataset.create_tuple_iterator(None, 1, True)]


class Squares:
    """A random-access source."""

    def __init__(self, count=6):
        self.count = count

    def __getitem__(self, index):
        return np.int64(index), np.float32(index * index)

    def __len__(self):
        return self.count


# Sources


def test_numpy_slices_of_dict_tuple_list():
    assert numbers().get_col_names() == ["a", "b"]
    assert rows(numbers(3)) == [0, 1, 2]
    pair = ds.NumpySlicesDataset(([1, 2], [3.0, 4.0]), shuffle=False)
    assert pair.get_col_names() == ["column_0", "column_1"]
    assert rows(pair, 1) == [3.0, 4.0]
    nested = ds.NumpySlicesDataset([[1, 2], [3, 4]], ["x"], shuffle=False)
    assert rows(nested) == [[1, 2], [3, 4]]
    assert nested.output_types() == [np.dtype("int64")]
    assert nested.output_shapes() == [[2]]


def test_arrays_of_the_other_byte_order():
    data = (np.arange(3, dtype=">i4"), np.array(["ab", "é", ""], ">U2"), np.ones((3, 2), ">f8"))
    given = ds.NumpySlicesDataset(data, shuffle=False)
    assert rows(given) == [0, 1, 2]
    assert rows(given, 1) == ["ab", "é", ""]
    assert rows(given.batch(3), 2) == [[[1, 1]] * 3]
    assert given.output_types() == [np.dtype("i4"), np.dtype("<U2"), np.dtype("f8")]


def test_iterators_give_tensors_or_arrays():
    row = next(numbers().create_dict_iterator())
    assert isinstance(row["a"], Tensor) and row["a"].shape == ()
    row = next(numbers().create_dict_iterator(output_numpy=True))
    assert isinstance(row["b"], np.ndarray)
    assert all(isinstance(value, Tensor) for value in next(iter(numbers())))
    assert rows(numbers().project("b"))[0] == [1.0, 1.0]
    assert len(next(numbers().create_tuple_iterator(["b"]))) == 1


def test_rows_may_be_changed_without_changing_the_data():
    data = np.zeros((2, 3))
    for row in ds.NumpySlicesDataset(data, shuffle=False).create_tuple_iterator(output_numpy=True):
        row[0][...] = 1
    assert not data.any()


def test_epochs_of_one_iterator():
    iterator = numbers(4).create_tuple_iterator(num_epochs=2)
    assert len(list(iterator)) == 4
    assert len(list(iterator)) == 4
    with pytest.raises(RuntimeError, match="made for 2 epochs"):
        list(iterator)
    endless = numbers(2).create_tuple_iterator()
    assert [len(list(endless)) for _ in range(5)] == [2] * 5


def test_an_epoch_left_early_goes_on():
    iterator = numbers(4).create_tuple_iterator(output_numpy=True)
    for row in iterator:
        assert row[0] == 0
        break
    assert [int(row[0]) for row in iterator] == [1, 2, 3]


def test_generator_sources():
    def generate():
        for i in range(3):
            yield i, np.float32(i)

    for source in (generate, [(0, 0.0), (1, 1.0), (2, 2.0)], Squares(3)):
        dataset = ds.GeneratorDataset(source, ["x", "y"])
        assert dataset.get_dataset_size() == 3
        assert sorted(rows(dataset)) == [0, 1, 2]

    class Counter:
        def __iter__(self):
            return iter(range(4))

    counter = ds.GeneratorDataset(Counter(), "n")
    assert rows(counter.repeat(2)) == [0, 1, 2, 3] * 2
    limited = ds.GeneratorDataset(Counter(), "n", num_samples=2)
    assert rows(limited) == [0, 1]


class Once:
    """An iterator that does not begin anew."""

    def __init__(self, items):
        self.items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.items)


class Anew(Once):
    """One that does."""

    def __init__(self, items):
        self.given = items

    def __iter__(self):
        self.items = iter(self.given)
        return self


def test_sources_that_can_be_gone_through_once_keep_their_rows():
    for source in ((i for i in range(3)), iter([0, 1, 2]), map(int, "012")):
        data = ds.GeneratorDataset(source, "x")
        assert data.get_dataset_size() == 3
        first, second = (data.create_tuple_iterator(output_numpy=True) for _ in range(2))
        pairs = [(int(a[0]), int(b[0])) for a, b in zip(first, second)]
        assert pairs == [(0, 0), (1, 1), (2, 2)]
        assert rows(data.repeat(2)) == [0, 1, 2] * 2
    data = ds.GeneratorDataset(Squares(), ["x", "y"], batch_sampler=iter([[0, 1], [2]]))
    assert data.get_dataset_size() == 2 and rows(data) == [[0, 1], [2]] and rows(data) == rows(data)
    anew = ds.GeneratorDataset(Anew([0, 1]), "x")
    assert anew.get_dataset_size() == 2 and rows(anew) == [0, 1] and rows(anew) == [0, 1]
    once = ds.GeneratorDataset(Once([1, 2]), "x")
    assert rows(once) == [1, 2]
    with pytest.raises(RuntimeError, match="Once must begin anew in __iter__"):
        rows(once)


def test_a_generator_that_fails_does_not_become_shorter():
    def fail():
        yield 1
        raise ValueError("torn")

    data = ds.GeneratorDataset(fail(), "x")
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"row 1.*torn"):
            rows(data)


def test_generator_column_types():
    dataset = ds.GeneratorDataset(Squares(), ["x", "y"], [np.float16, np.int8], shuffle=False)
    assert dataset.output_types() == [np.dtype("float16"), np.dtype("int8")]


def test_batch_sampler_and_collate():
    dataset = ds.GeneratorDataset(Squares(), ["x", "y"], batch_sampler=[[0, 1], [2, 3, 4]])
    assert rows(dataset) == [[0, 1], [2, 3, 4]]
    assert dataset.get_dataset_size() == 2
    dataset = ds.GeneratorDataset(
        Squares(), ["x"], batch_sampler=[[1, 2]], collate_fn=lambda x, y: (np.stack(x) * 10,)
    )
    with pytest.raises(RuntimeError, match="must give 1 columns"):
        rows(dataset)


def test_padded_dataset():
    extra = ds.PaddedDataset([{"a": np.int32(7), "b": np.zeros(2, np.float32)}])
    assert rows(numbers(2) + extra) == [0, 1, 7]


def test_random_access_sources_are_shuffled_by_default():
    ds.config.set_seed(1)
    order = rows(ds.GeneratorDataset(Squares(50), ["x", "y"]))
    assert order != sorted(order) and sorted(order) == list(range(50))
    assert rows(ds.GeneratorDataset(Squares(5), ["x", "y"], shuffle=False)) == list(range(5))


# Determinism


def test_same_seed_same_order():
    def orders(seed):
        ds.config.set_seed(seed)
        iterator = numbers(20, shuffle=True).shuffle(8).create_tuple_iterator(output_numpy=True)
        return [[int(row[0]) for row in iterator] for _ in range(2)]

    first = orders(3)
    assert first == orders(3)
    assert first != orders(4)
    assert first[0] != first[1]
    assert sorted(first[0]) == list(range(20))


def test_the_global_seed_counts():
    import mindspore

    mindspore.set_seed(11)
    assert ds.config.get_seed() == 11
    assert rows(numbers(20, shuffle=True)) == rows(numbers(20, shuffle=True))
    ds.config.set_seed(12)
    assert ds.config.get_seed() == 12


def test_random_transforms_follow_the_seed():
    from mindspore.dataset import vision

    images = np.arange(10 * 8 * 8 * 3, dtype=np.uint8).reshape(10, 8, 8, 3)

    def crops():
        ds.config.set_seed(5)
        dataset = ds.NumpySlicesDataset(images, ["x"]).map(vision.RandomCrop(4), "x")
        return rows(dataset)

    assert crops() == crops()


# Operations


def test_batch():
    dataset = numbers().batch(4)
    assert (dataset.get_dataset_size(), len(dataset), dataset.get_batch_size()) == (3, 3, 4)
    assert rows(dataset) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert dataset.output_shapes() == [[4], [4, 2]]
    whole = numbers().batch(4, drop_remainder=True)
    assert whole.get_dataset_size() == 2 and len(rows(whole)) == 2
    assert rows(numbers().batch(20, True)) == []
    assert rows(ds.GeneratorDataset(Squares(3), ["x", "y"], shuffle=False).batch(2)) == [
        [0, 1],
        [2],
    ]


def test_batches_from_memory_equal_batches_row_by_row():
    ds.config.set_seed(9)
    data = np.arange(60).reshape(20, 3)
    fast = rows(ds.NumpySlicesDataset(data).batch(6))
    slow = rows(ds.NumpySlicesDataset(data).skip(0).batch(6))
    assert fast == slow


def test_batch_size_function_and_per_batch_map():
    growing = numbers().batch(lambda info: info.get_batch_num() + 1)
    assert rows(growing) == [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]

    def add_batch(a, info):
        return [x + 100 * info.get_batch_num() for x in a], a

    mapped = numbers(4).batch(
        2, per_batch_map=add_batch, input_columns=["a"], output_columns=["p", "q"]
    )
    assert mapped.get_col_names() == ["p", "q", "b"]
    assert rows(mapped) == [[0, 1], [102, 103]]


def test_padded_batch():
    ragged = ds.GeneratorDataset([np.ones(2), np.ones(3)], ["x"], shuffle=False)
    padded = ragged.padded_batch(2, pad_info={"x": ([4], -1)})
    assert rows(padded) == [[[1, 1, -1, -1], [1, 1, 1, -1]]]
    assert rows(ragged.padded_batch(2)) == [[[1, 1, 0], [1, 1, 1]]]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.int64(2**53 + 1), np.int64),
        (np.uint64(2**64 - 1), np.uint64),
        (-128, np.int8),
        (np.float16(3), np.int32),
        (1, np.bool_),
        (0.5, np.float16),
        (np.inf, np.float32),
        (2, np.complex64),
    ],
)
def test_padding_values_keep_their_value(value, dtype):
    data = ds.NumpySlicesDataset(np.zeros((1, 1), dtype), "x")
    [[row]] = rows(data.padded_batch(1, pad_info={"x": ([2], value)}))
    assert row == [0, value]


def test_bucket_batch_by_length():
    source = [np.full(n, n) for n in (1, 5, 2, 6, 1)]
    dataset = ds.GeneratorDataset(source, ["x"], shuffle=False)
    buckets = dataset.bucket_batch_by_length(["x"], [3], [2, 2], pad_info={"x": ([None], 0)})
    assert rows(buckets) == [[[1, 0], [2, 2]], [[5, 5, 5, 5, 5, 0], [6] * 6], [[1]]]


def test_map():
    assert rows(numbers(3).map(lambda x: x * 2, "a")) == [0, 2, 4]
    assert rows(numbers(3).map([lambda x: x + 1, lambda x: x * 2], ["a"])) == [2, 4, 6]
    two = numbers(3).map(lambda a, b: (a, a + b), ["a", "b"], ["p", "q"])
    assert two.get_col_names() == ["p", "q"]
    split = numbers(3).map(lambda x: (x, x), "b", ["p", "q"])
    assert split.get_col_names() == ["p", "q", "a"]
    joined = numbers(3).map(lambda a, b: a + b.sum(), ["a", "b"], "s")
    assert joined.get_col_names() == ["s"] and rows(joined) == [2, 3, 4]
    assert rows(numbers(3).map(lambda a: a + 1)) == [1, 2, 3]


def test_chains():
    assert rows(numbers(3).repeat(2)) == [0, 1, 2, 0, 1, 2]
    assert rows(numbers().skip(8)) == [8, 9]
    assert rows(numbers().take(2)) == [0, 1]
    assert rows(numbers(2) + numbers(1)) == [0, 1, 0]
    assert rows(numbers().filter(lambda a: a % 2 == 0, "a")) == [0, 2, 4, 6, 8]
    assert numbers().filter(lambda a: a < 3, "a").get_dataset_size() == 3
    assert numbers().rename("a", "c").get_col_names() == ["c", "b"]
    assert numbers().apply(lambda d: d.batch(5)).get_dataset_size() == 2
    zipped = ds.zip((numbers(3), numbers(2).rename(["a", "b"], ["c", "d"])))
    assert zipped.get_col_names() == ["a", "b", "c", "d"] and len(zipped) == 2
    assert rows(numbers(2).flat_map(lambda a, b: numbers(int(a) + 1))) == [0, 0, 1]
    assert sorted(rows(numbers().shuffle(4))) == list(range(10))
    assert numbers().repeat(2).repeat(3).get_repeat_count() == 6
    endless = numbers(2).repeat().create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(endless)[0]) for _ in range(5)] == [0, 1, 0, 1, 0]


def test_shuffles_of_repeats_differ():
    ds.config.set_seed(2)
    order = rows(numbers(10, shuffle=True).repeat(2))
    assert sorted(order[:10]) == sorted(order[10:]) and order[:10] != order[10:]


def test_split():
    ds.config.set_seed(4)
    train, test = numbers().split([0.7, 0.3])
    assert (len(train), len(test)) == (7, 3)
    assert sorted(rows(train) + rows(test)) == list(range(10))
    first, second = numbers().split([4, 6], randomize=False)
    assert rows(first) == [0, 1, 2, 3] and rows(second) == [4, 5, 6, 7, 8, 9]


# Samplers


def test_samplers():
    assert rows(numbers(sampler=ds.SequentialSampler(3, 2))) == [3, 4]
    assert sorted(rows(numbers(sampler=ds.RandomSampler()))) == list(range(10))
    assert len(rows(numbers(sampler=ds.RandomSampler(True, 25)))) == 25
    assert rows(numbers(sampler=ds.SubsetSampler([5, 1, 5]))) == [5, 1, 5]
    assert sorted(rows(numbers(sampler=ds.SubsetRandomSampler([5, 1])))) == [1, 5]
    weights = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert rows(numbers(sampler=ds.WeightedRandomSampler(weights, 3))) == [2, 2, 2]
    assert rows(numbers(sampler=[4, 2])) == [4, 2]


@pytest.mark.parametrize("shuffle", [False, True])
def test_shards_cover_the_data(shuffle):
    parts = [rows(numbers(num_shards=3, shard_id=i, shuffle=shuffle)) for i in range(3)]
    assert [len(part) for part in parts] == [4, 4, 4]
    assert {x for part in parts for x in part} == set(range(10))
    if not shuffle:
        assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]


def test_user_sampler_and_child():
    class Backwards(ds.Sampler):
        def __iter__(self):
            yield from range(self.dataset_size - 1, -1, -1)

    assert rows(numbers(4, sampler=Backwards())) == [3, 2, 1, 0]
    outer = ds.SequentialSampler(num_samples=2)
    outer.add_child(ds.SubsetSampler([7, 8, 9]))
    dataset = numbers(sampler=outer)
    assert rows(dataset) == [7, 8] and len(dataset) == 2


def test_samplers_that_can_be_gone_through_once():
    data = numbers(sampler=iter([3, 1, 2]))
    assert data.get_dataset_size() == 3 and rows(data) == [3, 1, 2] and rows(data) == [3, 1, 2]
    assert rows(numbers(sampler=(i for i in (4, 5, 6)), num_samples=2)) == [4, 5]

    class Single(Once, ds.Sampler):
        def __init__(self):
            ds.Sampler.__init__(self)
            Once.__init__(self, [1, 2])

    data = numbers(sampler=Single())
    assert rows(data) == [1, 2]
    with pytest.raises(RuntimeError, match="Single must begin anew in __iter__"):
        rows(data)


def test_a_sampler_of_varying_length():
    class Growing(ds.Sampler):
        count = 0

        def __iter__(self):
            self.count += 1
            yield from range(self.count)

    data = numbers(sampler=Growing())
    assert [rows(data) for _ in range(2)] == [[0], [0, 1]]
    assert data.get_dataset_size() == 3  # what an epoch that begins now would have


def test_a_user_sampler_stays_as_it_is():
    class Backwards(ds.Sampler):
        def __iter__(self):
            yield from range(self.dataset_size - 1, -1, -1)

    sampler = Backwards()
    assert rows(numbers(5, sampler=sampler, num_samples=2)) == [4, 3]
    assert sampler.num_samples is None
    assert rows(numbers(5, sampler=sampler)) == [4, 3, 2, 1, 0]


def test_pk_sampler(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.jpg").write_bytes(bytes([i]))
    dataset = ds.ImageFolderDataset(str(tmp_path), sampler=ds.PKSampler(2))
    assert rows(dataset, 1) == [0, 0, 1, 1]


def test_whether_chance_decides_the_order():
    assert not numbers().batch(2).is_shuffled()
    assert numbers().shuffle(3).batch(2).is_shuffled()
    assert numbers(shuffle=True).map(lambda a: a, "a").is_shuffled()
    assert (numbers() + numbers(shuffle=True)).is_shuffled()
    random = (ds.RandomSampler(), ds.WeightedRandomSampler([1.0] * 10), ds.SubsetRandomSampler([1]))
    assert all(numbers(sampler=sampler).is_shuffled() for sampler in random)
    for sampler in (ds.SequentialSampler(), ds.DistributedSampler(2, 0, shuffle=False)):
        assert not numbers(sampler=sampler).is_shuffled()
        sampler.add_child(ds.RandomSampler())
        assert numbers(sampler=sampler).is_shuffled()


# Settings


def test_settings():
    ds.config.set_num_parallel_workers(3)
    ds.config.set_prefetch_size(7)
    assert ds.config.get_num_parallel_workers() == 3 and ds.config.get_prefetch_size() == 7
    ds.config.set_enable_shared_mem(False)
    assert ds.config.get_enable_shared_mem() is False
    from mindspore.dataset.core import config

    assert config.get_prefetch_size() == 7
