"""Damaged MindRecord files, and what does not belong together: errors, or the rows that were written."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import mindrecord_cases as cases
import pytest
from filelib import mutants, overwrite
from mindrecordlib import read, written

from mindspore import _core
from mindspore.mindrecord import FileReader


def outcome(path: str, where: str | None = None):
    """What a reader makes of a file: its rows, or the exception that it may raise."""
    try:
        return read(path) if where is None else read(path, where=where)
    except (ValueError, OSError) as error:
        assert str(error)
        return None


def damaged_where_it_matters(content: bytes, rng: random.Random) -> bytes:
    """Most of a small file are the holes between its pages: this is damage elsewhere."""
    spots = [n for n in range(0, len(content) - 64, 16) if content[n : n + 16].strip(b"\0")]
    at = rng.choice(spots)
    piece = next(mutants(content[at : at + 64], 9, rng.randrange(1 << 30)))
    return content[:at] + piece + content[at + 64 :]


def damaged(contents: dict[str, bytes], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """One of some files, and what it holds with something wrong."""
    rng = random.Random(seed)
    anywhere = {name: mutants(content, count, seed) for name, content in contents.items()}
    for number in range(count):
        name = rng.choice(list(contents))
        if number % 2:
            yield name, damaged_where_it_matters(contents[name], rng)
        else:
            yield name, next(anywhere[name])


def damage(tmp_path: Path, count: int, seed: int) -> None:
    path = written(tmp_path / "file", 30)
    contents = {name: Path(name).read_bytes() for name in (path, path + ".db")}
    whole, threes = outcome(path), outcome(path, "label = 3")
    errors = 0
    for number, (name, content) in enumerate(damaged(contents, count, seed)):
        overwrite(Path(name), content)
        for found, right in ((outcome(path), whole), (outcome(path, "label = 3"), threes)):
            assert found is None or found == right, (seed, number)
            errors += found is None
        overwrite(Path(name), contents[name])
    assert errors > count / 4
    assert outcome(path) == whole


@pytest.mark.filterwarnings("ignore:The index of the MindRecord")
def test_damaged_files_are_errors_or_whole(tmp_path):
    damage(tmp_path, 600, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The index of the MindRecord")
def test_ten_thousand_damaged_files(tmp_path):
    damage(tmp_path, 10_000, 2)


def test_each_bit_of_rows_and_table_is_summed(tmp_path):
    path = written(tmp_path / "file", 3)
    content = Path(path).read_bytes()
    whole = outcome(path)
    spots = [n for n in range(1 << 14, len(content)) if content[n]]
    for at in spots:
        for bit in range(8):
            with open(path, "r+b") as stream:
                stream.seek(at)
                stream.write(bytes([content[at] ^ 1 << bit]))
            assert outcome(path) is None, at
        with open(path, "r+b") as stream:
            stream.seek(at)
            stream.write(content[at : at + 1])
    assert outcome(path) == whole


@pytest.mark.filterwarnings("error")
def test_damaged_files_of_2_10_do_no_harm(tmp_path):
    """They have no sums, so a changed byte of a row may pass; nothing else does."""
    for _, first, _ in cases.unpack(tmp_path):
        contents = {name: Path(name).read_bytes() for name in (str(first), f"{first}.db")}
        for name, content in damaged(contents, 60, 3):
            overwrite(Path(name), content)
            outcome(str(first))
            outcome(str(first), "1")
            overwrite(Path(name), contents[name])


def test_deep_heads_and_other_files(tmp_path):
    path = tmp_path / "file"
    for text in (b"[" * 100_000, b'{"a":' * 50_000, b"null", b"{}", b"\xff\xfe", b""):
        path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(1 << 16))
        assert outcome(str(path)) is None
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError):
        _core.mindrecord.Reader([str(path)], True)


def test_a_file_that_gets_shorter_under_a_reader_is_an_error(tmp_path):
    path = written(tmp_path / "file", 2000)
    reader = FileReader(path)
    got = reader.get_next()
    next(got)
    os.truncate(path, 1 << 14)
    with pytest.raises(ValueError, match="is damaged: it ends at"):
        list(got)


@pytest.mark.filterwarnings("error")
def test_an_index_that_is_missing_or_another_ones(tmp_path):
    path = written(tmp_path / "file", 20)
    expected = read(path, where="label = 2")
    os.rename(path + ".db", tmp_path / "away")
    assert len(read(path)) == 20
    with pytest.warns(UserWarning, match=r"The index of the MindRecord file .* is missing"):
        assert read(path, where="label = 2") == expected
    with sqlite3.connect(tmp_path / "away") as database:
        database.execute("UPDATE INDEXES SET label_0 = 2")
    os.rename(tmp_path / "away", path + ".db")
    with pytest.warns(UserWarning, match="belongs to another one"):
        assert read(path, where="label = 2") == expected


def test_shards_of_two_writes_are_an_error(tmp_path):
    written(tmp_path / "file", 20, shards=2)
    (tmp_path / "old").mkdir()
    os.rename(tmp_path / "file1", tmp_path / "old" / "file1")
    written(tmp_path / "file", 20, shards=2)
    os.replace(tmp_path / "old" / "file1", tmp_path / "file1")
    with pytest.raises(ValueError, match="were not written together"):
        FileReader(str(tmp_path / "file0"))
