"""MindRecord files of MindSpore 2.10, and ours as that would have written them."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
from pathlib import Path

import mindrecord_cases as cases
import numpy as np
import pytest

from mindspore.dataset import MindDataset
from mindspore.mindrecord import FileReader, FileWriter, MindPage


@pytest.fixture
def golden(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("golden")
    return {name: (path, answers) for name, path, answers in cases.unpack(folder)}


def head(path: Path) -> dict:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])


def index(path: Path) -> list:
    with sqlite3.connect(f"{path}.db") as database:
        return [
            list(database.execute("SELECT * FROM INDEXES ORDER BY ROW_ID")),
            list(database.execute("SELECT * FROM SHARD_NAME")),
            # Names and types of the columns, and which make up the key.
            [line[1:] for line in database.execute("PRAGMA table_info(INDEXES)")],
        ]


@pytest.mark.parametrize("name", cases.CASES)
def test_reads_what_2_10_wrote(golden, name):
    path, answers = golden[name]
    found = json.loads(json.dumps(cases.answers(path)))
    assert found == answers
    assert found["len"] == len(cases.CASES[name].rows)


# With several batches, or shards, 2.10 fills pages and files otherwise, and not always alike.
@pytest.mark.parametrize("name", [n for n in cases.CASES if n not in ("pages", "shards")])
def test_writes_what_2_10_writes(golden, tmp_path, name):
    """The same pages at the same places, the same index, and the same head but for the row table."""
    path, _ = golden[name]
    case = cases.CASES[name]
    for ours in cases.write(case, tmp_path / f"{name}.mindrecord"):
        theirs = path.parent / ours.name
        our_head, their_head = head(ours), head(theirs)
        table = our_head.pop("mindspore_rows")
        assert our_head == their_head
        assert list(our_head) == list(their_head)
        content = ours.read_bytes()
        assert len(content) == table["offset"] + table["size"]
        assert content[cases.HEADER : table["offset"]] == theirs.read_bytes()[cases.HEADER :]
        assert index(ours) == index(theirs)


def test_appends_to_what_2_10_wrote(golden):
    for name in ("types", "shards"):
        path, _ = golden[name]
        case = cases.CASES[name]
        writer = FileWriter.open_for_append(str(path))
        writer.write_raw_data(case.rows)
        writer.commit()
        rows = [
            {key: cases.plain(value) for key, value in row.items()}
            for row in FileReader(str(path)).get_next()
        ]
        expected = [{key: cases.plain(value) for key, value in row.items()} for row in case.rows]
        key = "i64" if name == "types" else "name"
        assert sorted(str(row[key]) for row in rows) == sorted(2 * [str(r[key]) for r in expected])
        assert all(any(row == other for other in expected) for row in rows)


def test_pages_of_categories_as_2_10_has_them(golden):
    path, _ = golden["pages"]
    page = MindPage(str(path))
    page.category_field = "label"
    assert page.read_category_info() == (
        '{"categories":[{"count":7,"id":0,"name":"0"},{"count":7,"id":1,"name":"1"},'
        '{"count":6,"id":2,"name":"2"}],"key":"label_0"}'
    )
    assert [row["data"][0] for row in page.read_at_page_by_id(1, 1, 3)] == [10, 13, 16]


def test_selects_in_what_2_10_wrote(golden):
    path, _ = golden["shards"]
    data = MindDataset(str(path), shuffle=False, where="label = 3 OR name = 'row 0'")
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [str(row["name"]) for row in rows] == ["row 0", "row 6", "row 7"]


def test_a_file_of_2_10_may_be_renamed_but_a_shard_may_not(golden, tmp_path):
    path, _ = golden["no_blob"]
    for suffix in ("", ".db"):
        os.link(f"{path}{suffix}", tmp_path / f"other{suffix}")
    assert FileReader(str(tmp_path / "other")).len() == 5
    path, _ = golden["shards"]
    for suffix in ("", ".db"):
        os.link(f"{path}{suffix}", tmp_path / f"shard{suffix}")
    with pytest.raises(ValueError, match=r"must keep their names; this one was '.*shards.mindrec"):
        FileReader(str(tmp_path / "shard"))


@pytest.mark.skipif("MS_PEER_PYTHON" not in os.environ, reason="MS_PEER_PYTHON names no Python")
def test_2_10_reads_what_we_write(tmp_path):
    """With the Python of an environment that has mindspore==2.10.0."""
    paths = []
    for name, case in cases.CASES.items():
        paths.append(cases.write(case, tmp_path / f"{name}.mindrecord")[0])
    command = [os.environ["MS_PEER_PYTHON"], str(Path(cases.__file__)), *map(str, paths)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = subprocess.run(command, env=environment, capture_output=True, cwd=tmp_path, check=True)
    theirs = json.loads(run.stdout.splitlines()[-1])
    ours = [json.loads(json.dumps(cases.answers(path))) for path in paths]
    assert theirs == ours
    assert [len(answer["rows"]) for answer in ours] == [len(c.rows) for c in cases.CASES.values()]
    assert np.all([answer["len"] > 0 for answer in ours])
