"""MindDataset: columns, orders, shards, samplers, padding and conditions."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

COUNT = 20


@pytest.fixture
def files(tmp_path) -> list[str]:
    writer = FileWriter(str(tmp_path / "file"), 3)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    schema = {
        "label": {"type": "int32"},
        "kind": {"type": "string"},
        "data": {"type": "bytes"},
        "real": {"type": "float32"},
        "list": {"type": "int64", "shape": [-1]},
    }
    writer.add_schema(schema, "")
    writer.write_raw_data(
        [
            {
                "label": n,
                "kind": "abc"[n % 3],
                "data": b"%d" % n,
                "real": n / 2,
                "list": np.arange(n % 4),
            }
            for n in range(COUNT)
        ]
    )
    writer.commit()
    return [str(tmp_path / f"file{n}") for n in range(3)]


def labels(data: ds.Dataset) -> list[int]:
    return [int(row["label"]) for row in data.create_dict_iterator(1, output_numpy=True)]


def test_columns_are_arrays_in_the_order_of_their_names(files):
    data = ds.MindDataset(files[0], shuffle=False)
    assert data.get_col_names() == ["data", "kind", "label", "list", "real"]
    assert data.get_dataset_size() == COUNT
    row = list(data.create_dict_iterator(1, output_numpy=True))[7]
    assert (row["label"].dtype, row["label"].shape, row["label"]) == (np.int32, (), 7)
    assert (row["real"].dtype, row["real"]) == (np.float32, 3.5)
    assert row["kind"].dtype.kind == "U" and row["kind"] == "b"
    assert row["data"].tolist() == [b"7"] and row["data"].dtype == "S1"
    assert row["list"].tolist() == [0, 1, 2] and row["list"].dtype == np.int64


def test_chosen_columns(files):
    data = ds.MindDataset(files[0], ["real", "label"], shuffle=False)
    assert data.get_col_names() == ["real", "label"]
    batches = list(data.batch(8).create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [len(label) for _, label in batches] == [8, 8, 4]
    assert batches[0][0].tolist() == [n / 2 for n in range(8)]


def test_one_file_stands_for_all_shards_and_a_list_for_itself(files):
    assert labels(ds.MindDataset(files[1], shuffle=False)) == list(range(COUNT))
    last = labels(ds.MindDataset([files[2]], shuffle=False))
    assert labels(ds.MindDataset([files[2], files[0]], shuffle=False))[: len(last)] == last


def test_orders(files, monkeypatch):
    parts = [labels(ds.MindDataset([file], shuffle=False)) for file in files]
    monkeypatch.setitem(ds.config._settings, "seed", 4)
    for shuffle in (None, True, ds.Shuffle.GLOBAL, ds.Shuffle.ADAPTIVE, ds.Shuffle.PARTIAL):
        data = ds.MindDataset(files[0], shuffle=shuffle)
        first, second = labels(data), labels(data)
        assert sorted(first) == list(range(COUNT)) and first != list(range(COUNT))
        assert first == second  # the seed decides
    by_file = labels(ds.MindDataset(files[0], shuffle=ds.Shuffle.FILES).repeat(20))
    epochs = [by_file[n : n + COUNT] for n in range(0, 20 * COUNT, COUNT)]
    orders = {tuple(n for part in order for n in part) for order in permutations(parts)}
    assert {tuple(e) for e in epochs} <= orders and len({tuple(e) for e in epochs}) > 1
    within = labels(ds.MindDataset(files[0], shuffle=ds.Shuffle.INFILE))
    ends = np.cumsum([len(part) for part in parts])
    assert [sorted(p) for p in np.split(np.array(within), ends[:-1])] == [sorted(p) for p in parts]
    assert within != list(range(COUNT))


@pytest.mark.parametrize("shuffle", [False, True, ds.Shuffle.FILES, ds.Shuffle.INFILE])
def test_shards_are_disjoint_and_together_all(files, shuffle):
    seen: list[int] = []
    for shard in range(4):
        data = ds.MindDataset(files[0], shuffle=shuffle, num_shards=4, shard_id=shard)
        assert data.get_dataset_size() == 5
        seen += labels(data)
    assert sorted(seen) == list(range(COUNT))


def test_padding_makes_shards_even(files):
    sizes, seen = [], []
    for shard in range(8):
        data = ds.MindDataset(
            files[0], ["label", "data"], shuffle=False, num_shards=8, shard_id=shard,
            padded_sample={"label": -1, "data": b"pad"}, num_padded=4,
        )  # fmt: skip
        sizes.append(data.get_dataset_size())
        rows = list(data.create_dict_iterator(1, output_numpy=True))
        seen += [int(row["label"]) for row in rows]
        assert all(row["data"].tolist() == [b"pad"] for row in rows if row["label"] == -1)
        assert all(row["label"].dtype == np.int32 for row in rows)
    assert sizes == [3] * 8
    assert sorted(seen) == [-1] * 4 + list(range(COUNT))


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (ds.SequentialSampler(2, 3), [2, 3, 4]),
        (ds.SubsetSampler([5, 1, 5]), [5, 1, 5]),
        (ds.DistributedSampler(3, 1, False), [1, 4, 7, 10, 13, 16, 19]),
        (ds.PKSampler(2, class_column="kind"), [0, 3, 1, 4, 2, 5]),
        ([4, 2], [4, 2]),
    ],
)
def test_samplers(files, sampler, expected):
    assert labels(ds.MindDataset(files[0], sampler=sampler)) == expected


def test_random_samplers(files):
    assert len(labels(ds.MindDataset(files[0], sampler=ds.RandomSampler(True, 50)))) == 50
    picked = labels(ds.MindDataset(files[0], sampler=ds.SubsetRandomSampler([3, 9, 12])))
    assert sorted(picked) == [3, 9, 12]
    assert len(labels(ds.MindDataset(files[0], num_samples=7))) == 7


def test_conditions_choose_rows_before_all_else(files):
    where = "label >= 4 AND kind != 'b'"
    expected = [n for n in range(4, COUNT) if n % 3 != 1]
    data = ds.MindDataset(files[0], shuffle=False, where=where)
    assert labels(data) == expected
    assert data.get_dataset_size() == len(expected)
    assert sorted(labels(ds.MindDataset(files[0], where=where))) == expected
    sampler = ds.PKSampler(1, class_column="kind")
    assert labels(ds.MindDataset(files[0], where=where, sampler=sampler)) == [6, 5]
    by_file = labels(ds.MindDataset(files[0], where=where, shuffle=ds.Shuffle.INFILE))
    assert sorted(by_file) == expected


def test_mind_datasets_in_a_pipeline(files):
    data = ds.MindDataset(files[0], ["data", "label"], shuffle=False)
    data = data.map(lambda data: np.frombuffer(data.tobytes(), np.uint8), "data")
    data = data.padded_batch(5, pad_info={"data": ([2], 0)})
    first = next(data.create_dict_iterator(1, output_numpy=True))
    assert first["data"].tolist() == [[48 + n, 0] for n in range(5)]


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"columns_list": ["x"]}, ValueError, "columns_list must be among"),
        ({"shuffle": 3}, TypeError, "shuffle must be"),
        ({"num_shards": 3}, ValueError, "given together"),
        ({"num_shards": 3, "shard_id": 3}, ValueError, r"shard_id must be in \[0, 2\]"),
        ({"num_samples": -1}, ValueError, "num_samples"),
        ({"sampler": ds.SequentialSampler(), "shuffle": True}, ValueError, "excludes"),
        ({"padded_sample": {"label": 1}}, RuntimeError, "must come with num_padded"),
        ({"num_padded": 2}, RuntimeError, "must come with padded_sample"),
        ({"padded_sample": {"label": 1}, "num_padded": 1}, RuntimeError, "with columns_list"),
        ({"sampler": ds.PKSampler(1, class_column="data")}, ValueError, "class_column must be"),
        ({"where": "data = 1"}, ValueError, "no such column: data"),
        ({"where": 3}, TypeError, "where must be str"),
    ],
)
def test_wrong_arguments(files, options, kind, says):
    with pytest.raises(kind, match=says):
        labels(ds.MindDataset(files[0], **options))


def test_padded_samples_that_do_not_fit(files):
    def make(sample: dict, **options) -> ds.MindDataset:
        return ds.MindDataset(files[0], ["label"], padded_sample=sample, num_padded=1, **options)

    with pytest.raises(TypeError, match="must have a int32 for 'label', but got 'x'"):
        make({"label": "x"})
    with pytest.raises(ValueError, match="has no 'label'"):
        make({})
    with pytest.raises(RuntimeError, match="must be a multiple of num_shards=4"):
        make({"label": 1}, num_shards=4, shard_id=0)


def test_files_that_are_not_there(tmp_path: Path):
    with pytest.raises(ValueError, match="must be files that exist"):
        ds.MindDataset(str(tmp_path / "none"))
    with pytest.raises(TypeError):
        ds.MindDataset(5)
    with pytest.raises(ValueError, match="must name a file"):
        ds.MindDataset([])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chosen", [None, ["label"], ["data", "even"]])
def test_batches_are_the_rows_in_whatever_order(tmp_path, packed, chosen):
    """Rows of some blocks of 64 KiB, with values of one width and of several, of which some lie in two blocks."""
    count = 4000
    writer = FileWriter(str(tmp_path / "many"))
    if packed:
        writer.set_compression("zstd")
    schema = {
        "label": {"type": "int64"},
        "kind": {"type": "string"},
        "data": {"type": "bytes"},
        "even": {"type": "float64", "shape": [2, 3]},
        "ints": {"type": "int32", "shape": [-1]},
    }
    writer.add_schema(schema, "")
    rng = np.random.default_rng(0)
    rows = [
        {
            "label": int(rng.integers(1 << 40)),
            "kind": "é" * (n % 30),
            "data": bytes([1 + n % 255]) * (n % 90),
            "even": rng.standard_normal((2, 3)),
            "ints": rng.integers(0, 1 << 20, 4).astype(np.int32),
        }
        for n in range(count)
    ]
    writer.write_raw_data(rows)
    writer.commit()
    order = rng.permutation(count)
    data = ds.MindDataset(str(tmp_path / "many"), chosen, sampler=ds.SubsetSampler(order.tolist()))
    alone = list(data.create_dict_iterator(1, output_numpy=True))
    for n, row in zip(order, alone, strict=True):
        for name, value in row.items():
            expected = rows[n][name]
            if name == "data":
                assert value.tolist() == [expected]
            else:
                np.testing.assert_array_equal(value, expected)
    batches = list(data.batch(64).create_dict_iterator(1, output_numpy=True))
    for name in alone[0]:
        joined = [value for batch in batches for value in batch[name]]
        np.testing.assert_array_equal(joined, [row[name] for row in alone])
        width = max(row[name].dtype.itemsize for row in alone[:64])
        assert batches[0][name].dtype.itemsize == width


def test_rows_of_other_shapes_are_no_batch(files):
    data = ds.MindDataset(files[0], shuffle=False).batch(3)
    with pytest.raises(
        RuntimeError, match=r"column 'list' must have the same shape, but got \[0\]"
    ):
        list(data.create_dict_iterator(1))
    data = ds.MindDataset(files[0], shuffle=False).padded_batch(4, pad_info={"list": ([4], -1)})
    first = next(iter(data.create_dict_iterator(1, output_numpy=True)))
    assert first["list"].tolist()[3] == [0, 1, 2, -1]


def test_padding_rows_may_be_in_a_batch(files):
    data = ds.MindDataset(
        files[0], ["label"], shuffle=False, padded_sample={"label": -1}, num_padded=2
    )
    batches = [
        batch["label"].tolist()
        for batch in data.batch(4).create_dict_iterator(1, output_numpy=True)
    ]
    assert batches[4:] == [[16, 17, 18, 19], [-1, -1]] and len(batches) == 6
