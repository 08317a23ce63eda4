"""Wrong uses of the data pipeline: the type of the exception, and what its text says."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision
from mindspore.dataset.engine.samplers import IterableSampler


def numbers(count=4, sampler=None):
    data = {"a": np.arange(count), "b": np.ones((count, 2))}
    return ds.NumpySlicesDataset(data, shuffle=False if sampler is None else None, sampler=sampler)


def run(dataset):
    return list(dataset.create_tuple_iterator(output_numpy=True, num_epochs=1))


def failing_map(x):
    return x / undefined_name  # noqa: F821


def failing_generator():
    yield 1
    raise KeyError("the second row")


class FailingSource:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return [1, 2][index + 5]


class Failing(ds.Sampler):
    def __iter__(self):
        yield 0
        raise ValueError("no more")


def line_of(text: str) -> str:
    with open(__file__, encoding="utf-8") as stream:
        number = next(i for i, line in enumerate(stream, 1) if text in line)
    return f"test_dataset_errors.py:{number} in "


@pytest.mark.parametrize(
    ("make", "says", "line"),
    [
        (
            lambda: numbers().map(failing_map, "a"),
            "failing_map .row 0. raised NameError",
            "return x / un",
        ),
        (
            lambda: ds.GeneratorDataset(failing_generator, "x"),
            "row 1. raised KeyError",
            "raise KeyError(",
        ),
        (
            lambda: ds.GeneratorDataset(FailingSource(), "x", shuffle=False),
            r"FailingSource.__getitem__\(0\) raised IndexError",
            "return [1, 2][index",
        ),
        (lambda: numbers().filter(failing_map, "a"), "'filter'.*NameError", "return x / un"),
        (
            lambda: numbers().batch(
                2, per_batch_map=lambda a, info: failing_map(a[0]), input_columns="a"
            ),
            "per_batch_map, batch 0.*NameError",
            "return x / un",
        ),
        (
            lambda: ds.GeneratorDataset([1, 2, 3], "x", sampler=Failing()),
            "Failing raised ValueError: no more",
            'raise ValueError("no more")',
        ),
    ],
)
def test_failures_in_user_code_show_its_line(make, says, line):
    with pytest.raises(RuntimeError, match=says) as caught:
        run(make())
    text = str(caught.value)
    assert line_of(line) in text
    assert len(text.splitlines()) <= 3
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: numbers().batch(0), ValueError, "batch_size must be in"),
        (lambda: numbers().batch("2"), TypeError, "batch_size must be int"),
        (lambda: numbers().batch(True), TypeError, "batch_size must be int"),
        (lambda: numbers().batch(2, 1), TypeError, "drop_remainder must be bool"),
        (
            lambda: numbers().batch(2, num_parallel_workers=0),
            ValueError,
            "num_parallel_workers must",
        ),
        (
            lambda: numbers().batch(2, num_parallel_workers="2"),
            TypeError,
            "num_parallel_workers must",
        ),
        (lambda: numbers().padded_batch(2, False, -1), ValueError, "num_parallel_workers must"),
        (lambda: numbers().batch(2, color=1), TypeError, "'color' is not one"),
        (lambda: numbers().map(5, "a"), TypeError, "operations must be callable"),
        (lambda: numbers().map([], "a"), ValueError, "must not be empty"),
        (lambda: numbers().map(abs, "z"), ValueError, r"among \['a', 'b'\], but got 'z'"),
        (lambda: numbers().map(abs, "a", "b"), ValueError, "got 'b' again"),
        (
            lambda: run(numbers().map(lambda x: (x, x) if x == 3 else x, "a")),
            ValueError,
            r"\(row 3\) must return 1 columns",
        ),
        (
            lambda: run(numbers().map(lambda x: None if x == 3 else x, "a")),
            TypeError,
            r"\(row 3\): a column must be a number, .* but got NoneType",
        ),
        (lambda: run(numbers().map(lambda x: object(), "a")), TypeError, "must be a number"),
        (lambda: numbers().repeat(0), ValueError, "count must be"),
        (lambda: numbers().skip(-1), ValueError, "count must be"),
        (lambda: numbers().take(0), ValueError, "count must be"),
        (lambda: numbers().shuffle(1), ValueError, "buffer_size must be"),
        (lambda: numbers().zip(numbers()), ValueError, "Use rename"),
        (lambda: numbers().concat(numbers().project("a")), ValueError, "same columns"),
        (lambda: numbers().rename("a", "b"), ValueError, "must not occur already"),
        (lambda: numbers().rename(["a", "b"], "c"), ValueError, "as many output_columns"),
        (lambda: numbers().project("z"), ValueError, "but got 'z'"),
        (lambda: numbers().project(["a", "a"]), ValueError, "must not repeat"),
        (lambda: numbers().split([3, 3]), RuntimeError, "sum of sizes must be 4"),
        (lambda: numbers().split([0.5, 0.4]), ValueError, "whose sum is 1"),
        (lambda: numbers().filter(1), TypeError, "must be callable"),
        (
            lambda: numbers().create_dict_iterator(output_numpy=1),
            TypeError,
            "output_numpy must be bool",
        ),
        (lambda: numbers().create_dict_iterator(0), ValueError, "num_epochs must be"),
        (lambda: ds.GeneratorDataset(5, "x"), TypeError, "__getitem__ and __len__"),
        (lambda: ds.GeneratorDataset([1]), ValueError, "column_names must be given"),
        (lambda: run(ds.GeneratorDataset([1], ["a", "b"])), RuntimeError, "must give 2 columns"),
        (
            lambda: ds.GeneratorDataset(failing_generator, "x", shuffle=True),
            ValueError,
            "Use shuffle",
        ),
        (lambda: ds.GeneratorDataset([1], "x", num_shards=2), ValueError, "given together"),
        (
            lambda: ds.GeneratorDataset([1], "x", num_shards=2, shard_id=2),
            ValueError,
            "shard_id must be",
        ),
        (lambda: ds.GeneratorDataset([1], "x", num_parallel_workers=0), ValueError, "num_parallel"),
        (lambda: ds.NumpySlicesDataset({"a": [1, 2], "b": [1]}), ValueError, "same length"),
        (lambda: ds.NumpySlicesDataset([[1], [1, 2]]), ValueError, "equal rows"),
        (lambda: ds.NumpySlicesDataset([]), ValueError, "must not be empty"),
        (lambda: ds.NumpySlicesDataset(5), TypeError, "must have rows"),
        (lambda: ds.SubsetSampler([-1]), ValueError, r"indices must be in \[0, \d+\], but got -1"),
        (lambda: ds.SubsetSampler([2**63]), ValueError, r"indices must be in \[0, \d+\]"),
        (lambda: run(ds.GeneratorDataset([1], "x", sampler=[3])), IndexError, r"\[0, 1\)"),
        (lambda: ds.WeightedRandomSampler([0, 0]), ValueError, "not all zero"),
        (lambda: ds.DistributedSampler(2, 2), ValueError, "shard_id must be"),
        (lambda: ds.MnistDataset("/nowhere"), ValueError, "must be a folder"),
        (lambda: ds.config.set_seed(-1), ValueError, "must be in"),
        (lambda: ds.config.set_seed("1"), TypeError, "must be an int"),
        (lambda: transforms.OneHot(3)(np.array(7)), ValueError, r"\[0, 3\)"),
        (lambda: transforms.OneHot(0), ValueError, "num_classes must be"),
        (lambda: transforms.TypeCast("no type"), TypeError, "must be a type"),
        (lambda: transforms.Compose([]), ValueError, "must not be empty"),
        (lambda: vision.Resize(0), ValueError, "size must be"),
        (lambda: vision.Normalize([1], [0]), ValueError, "std must be positive"),
        (
            lambda: vision.Normalize([1, 2], [1, 1])(np.ones((4, 4, 3))),
            ValueError,
            "one entry for each",
        ),
        (lambda: vision.RandomCrop(9)(np.ones((4, 4, 3))), ValueError, "pad_if_needed"),
        (lambda: vision.HWC2CHW()(np.ones(3)), ValueError, r"<H, W, C>"),
        (lambda: vision.RandomHorizontalFlip(2), ValueError, "prob must be"),
    ],
)
def test_wrong_arguments(make, error, says):
    with pytest.raises(error, match=says) as caught:
        make()
    assert len(str(caught.value).splitlines()) <= 4


def test_rows_that_differ_in_a_batch():
    ragged = ds.GeneratorDataset([np.ones(2), np.ones(3)], ["x"], shuffle=False)
    with pytest.raises(RuntimeError, match=r"'x'.*\[2\] in row 0 and \[3\] in row 1.*padded_batch"):
        run(ragged.batch(2))
    mixed = ds.GeneratorDataset([np.float32(1), np.int32(1)], ["x"], shuffle=False)
    with pytest.raises(RuntimeError, match="float32 in row 0 and int32 in row 1"):
        run(mixed.batch(2))


@pytest.mark.parametrize(
    ("value", "dtype", "says"),
    [
        (300, np.uint8, "one that uint8 can hold, but got 300"),
        (-1, np.uint64, "one that uint64 can hold, but got -1"),
        (np.uint64(2**63), np.int64, "but got 9223372036854775808"),
        (0.5, np.int32, "one that int32 can hold, but got 0.5"),
        (np.nan, np.int32, "but got nan"),
        (2, np.bool_, "one that bool can hold, but got 2"),
        (1e39, np.float32, "one that float32 can hold, but got 1e"),
        (70000, np.float16, "one that float16 can hold, but got 70000"),
        (1j, np.complex64, "must be real, but got complex128"),
    ],
)
def test_padding_values_that_a_column_cannot_hold(value, dtype, says):
    data = ds.NumpySlicesDataset(np.zeros((1, 1), dtype), "x")
    with pytest.raises((TypeError, ValueError), match=says):
        run(data.padded_batch(1, pad_info={"x": ([2], value)}))


@pytest.mark.parametrize("shape", [[65536] * 4, [2**31 - 1] * 2, [2**31 - 1, 2**31 - 1, 4]])
def test_paddings_that_no_memory_can_hold(shape):
    data = ds.NumpySlicesDataset(np.zeros([1] + [1] * len(shape)), "x")
    with pytest.raises(
        (ValueError, MemoryError), match=r"For 'padded_batch', column 'x': .*memory"
    ):
        run(data.padded_batch(1, pad_info={"x": (shape, 0)}))


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ([0, 3.5], TypeError, "an index must be a whole number, but got 3.5"),
        ([True, False, True], TypeError, "an index must be a whole number, but got True"),
        (np.array([True]), TypeError, "an index must be a whole number, but got np.True_"),
        (["1"], TypeError, "an index must be a whole number, but got '1'"),
        ([None], TypeError, "an index must be a whole number, but got None"),
        ([[0, 1]], TypeError, r"an index must be a whole number, but got \[0, 1\]"),
        ([float("nan")], TypeError, "an index must be a whole number, but got nan"),
        ([0, -1], IndexError, r"an index must be in \[0, 3\), but got -1"),
        ([2**70], IndexError, r"an index must be in \[0, 3\), but got 1180591620717411303424"),
    ],
)
def test_indices_that_are_none(given, kind, says):
    with pytest.raises(kind, match=f"For 'IterableSampler', {says}"):
        run(numbers(3, given))
    inner, outer = IterableSampler(given), IterableSampler(given)
    outer.add_child(ds.SubsetSampler([2, 1, 0]))
    first = ds.SequentialSampler()
    first.add_child(inner)
    for sampler in (outer, first):
        with pytest.raises(kind, match="For 'IterableSampler', an index must be"):
            run(numbers(3, sampler))


def test_samplers_come_before_operations():
    data = numbers()
    next(data.create_tuple_iterator(["b"], output_numpy=True))
    data.use_sampler(ds.SequentialSampler(3))
    assert len(data) == 1
    batches = data.batch(2)
    for change in (data.use_sampler, data.add_sampler):
        with pytest.raises(RuntimeError, match=r"before operations .* but there is BatchDataset"):
            change(ds.SequentialSampler(1))
    assert len(batches) == 1


def test_an_iterator_works_again_after_a_failure():
    calls = []

    def sometimes(x):
        calls.append(x)
        if len(calls) == 2:
            raise ValueError("once")
        return x

    iterator = numbers(3).map(sometimes, "a").create_tuple_iterator(output_numpy=True)
    with pytest.raises(RuntimeError, match="once"):
        list(iterator)
    assert len(list(iterator)) == 3
