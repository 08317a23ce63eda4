"""MindRecord files whose blobs are compressed: the same rows, in fewer bytes; others refuse them, damage is an error."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from mindrecordlib import read, rows

import mindspore.dataset as ds
from mindspore import _core, mindrecord
from mindspore.mindrecord import FileReader, FileWriter, MindPage

try:
    _core.mindrecord.require_zstd()
except RuntimeError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SCHEMA = {
    "label": {"type": "int32"},
    "name": {"type": "string"},
    "data": {"type": "bytes"},
    "box": {"type": "int64", "shape": [-1, 2]},
}


def made(count, first=0):
    boxes = np.random.default_rng(first)
    return [
        {**row, "data": row["data"] * 40, "box": boxes.integers(-9, 9, (n % 3 + 1, 2))}
        for n, row in enumerate(rows(count, first))
    ]


def written(path, content, shards=1, packed="zstd", page=1 << 15):
    writer = FileWriter(str(path), shards, overwrite=True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(page)
    writer.set_compression(packed)
    writer.add_schema(SCHEMA, "packed")
    writer.write_raw_data(content)
    writer.commit()
    return str(path) if shards == 1 else f"{path}0"


def plain(row):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in row.items()}


@pytest.mark.parametrize("shards", [1, 3])
def test_rows_are_the_same_in_fewer_bytes(tmp_path, shards):
    content = made(300)
    path = written(tmp_path / "packed", content, shards)
    loose = written(tmp_path / "loose", content, shards, packed=None)
    assert [plain(r) for r in read(path)] == [plain(r) for r in read(loose)]
    assert [plain(r) for r in read(path)] == [plain(r) for r in content]
    sizes = [
        sum(os.path.getsize(f) - (1 << 14) for f in tmp_path.glob(f"{name}*") if f.suffix != ".db")
        for name in ("packed", "loose")
    ]
    assert 2 * sizes[0] < sizes[1]
    assert FileReader(path, where="label = 3").len() == 75
    data = ds.MindDataset(path, shuffle=True)
    found = [plain(row) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(row["name"] for row in found) == sorted(row["name"] for row in content)
    boxes = {row["name"]: row["box"] for row in map(plain, content)}
    assert all(row["box"] == boxes[row["name"]] for row in found)
    if shards == 1:
        pages = MindPage(path)
        pages.category_field = "label"
        (first, *_) = pages.read_at_page_by_name("2", 0, 1)
        assert first["data"] == content[2]["data"]


def test_more_rows_are_compressed_too(tmp_path):
    path = written(tmp_path / "file", made(40))
    writer = FileWriter.open_for_append(path)
    with pytest.raises(mindrecord.MRMOpenError, match="before the first row"):
        writer.set_compression(None)
    writer.write_raw_data(made(30, 40))
    writer.commit()
    assert [r["name"] for r in read(path)] == [f"row {n}" for n in range(70)]
    assert [r["data"] for r in read(path)][50] == made(30, 40)[10]["data"]
    assert b'"3.0-zstd"' in open(path, "rb").read(1 << 14)


def test_what_compresses_to_nothing_less_fits_as_the_rest_does(tmp_path):
    noise = os.urandom((1 << 15) - 200)
    row = {**made(1)[0], "data": noise, "box": np.zeros((1, 2), np.int64)}
    path = written(tmp_path / "file", [row])
    assert read(path)[0]["data"] == noise
    with pytest.raises(ValueError, match=r"row 1: its .*blobs must fit into a page of 32768 bytes"):
        written(tmp_path / "other", [row, {**row, "data": os.urandom((1 << 15) - 40)}])
    with pytest.raises(ValueError, match=r"row 0: its blobs must fit into a page"):
        written(tmp_path / "other", [{**row, "data": bytes(1 << 15)}])


@pytest.mark.parametrize("name", ["gzip", "", 3, True])
def test_other_compressions_are_refused(tmp_path, name):
    writer = FileWriter(str(tmp_path / "file"))
    with pytest.raises(mindrecord.ParamValueError, match="name must be 'zstd' or None"):
        writer.set_compression(name)


def with_head(path, change):
    """The file with another head, and without our row table, as MindSpore leaves it out."""
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        head = json.loads(file.read(size))
        head.pop("mindspore_rows")
        change(head)
        text = json.dumps(head).encode()
        file.seek(0)
        file.write(len(text).to_bytes(8, "little") + text)
    return path


@pytest.mark.parametrize("packed", ["zstd", None])
def test_a_head_without_our_table_is_refused(tmp_path, packed):
    """Nobody but us writes such files, and without their sums wrong bytes would pass."""
    path = with_head(
        written(tmp_path / "file", made(5), packed=packed),
        lambda head: head.update(version="3.0-zstd"),
    )
    with pytest.raises(ValueError, match=r"has the version '3.0-zstd', but no 'mindspore_rows'"):
        read(path)


def test_damage_is_found_by_the_sums(tmp_path):
    path = written(tmp_path / "file", made(8))
    content = open(path, "rb").read()
    rng = np.random.default_rng(0)
    for place in rng.integers(1 << 14, len(content), 60):
        wrong = bytearray(content)
        wrong[place] ^= 1 << rng.integers(8)
        with open(path, "wb") as file:
            file.write(wrong)
        try:
            found = [plain(r) for r in read(path)]
        except ValueError:
            continue
        assert found == [plain(r) for r in made(8)]  # a byte that nothing lies in
