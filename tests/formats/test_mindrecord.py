"""MindRecord files: what is written is read, mistakes are named, and damage is an error."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from functools import partial

import mindrecord_cases as cases
import numpy as np
import pytest
from mindrecordlib import SCHEMA, read, rows, small_writer, written

import mindspore.dataset as ds
from mindspore import _core, mindrecord
from mindspore.mindrecord import FileReader, FileWriter, MindPage


# ---- round trips
@pytest.mark.parametrize("name", cases.CASES)
def test_reads_what_it_wrote(tmp_path, name):
    case = cases.CASES[name]
    paths = cases.write(case, tmp_path / "file")
    found = [{k: cases.plain(v) for k, v in row.items()} for row in read(paths[0])]
    # Appended rows come behind those of each shard.
    expected = [{k: cases.plain(v) for k, v in row.items()} for row in case.rows]
    assert found == expected


def test_default_sizes_leave_holes(tmp_path):
    path = tmp_path / "file"
    writer = FileWriter(str(path))
    writer.add_schema(SCHEMA)
    writer.write_raw_data(rows(3))
    writer.commit()
    assert path.stat().st_size > 48 << 20
    assert path.stat().st_blocks * 512 < 1 << 20
    assert read(path) == [{k: row[k] for k in ("label", "name", "data")} for row in rows(3)]


def test_rows_of_many_pages_and_batches(tmp_path):
    writer = small_writer(tmp_path / "file", 3)
    for first in range(0, 3000, 300):
        writer.write_raw_data(rows(300, first), parallel_writer=first % 600 == 0)
    writer.commit()
    found = read(tmp_path / "file0")
    assert sorted(row["name"] for row in found) == sorted(row["name"] for row in rows(3000))
    assert all(row in rows(3000) for row in found[::97])
    lengths = [FileReader([str(tmp_path / f"file{n}")]).len() for n in range(3)]
    assert lengths == [1000] * 3


def test_append_again_and_again(tmp_path):
    path = written(tmp_path / "file", 5)
    for first in (5, 10, 15):
        writer = FileWriter.open_for_append(path)
        writer.write_raw_data(rows(5, first))
        writer.commit()
    assert [row["name"] for row in read(path)] == [f"row {n}" for n in range(20)]
    assert FileReader(path, where="label = 3").len() == 5


def test_no_rows(tmp_path):
    path = written(tmp_path / "file", 0)
    assert read(path) == []
    assert ds.MindDataset(path).get_dataset_size() == 0
    assert list(ds.MindDataset(path)) == []


def test_columns_and_conditions(tmp_path):
    path = written(tmp_path / "file", 20, shards=2)
    reader = FileReader(path, columns=["data", "label"], where="label IN (1, 3) AND name < 'row 4'")
    assert reader.len() == 7
    assert [list(row) for row in reader.get_next()] == [["label", "data"]] * 7
    assert reader.schema()["label"] == {"type": "int32"}
    reader.close()
    with pytest.raises(mindrecord.MRMFetchDataError):
        reader.len()


@pytest.mark.parametrize(
    "where", ["label = 3; DROP TABLE INDEXES", "other = 1", "", "label = ", "1) OR 1 = 1", "1\0"]
)
def test_conditions_that_are_none(tmp_path, where):
    path = written(tmp_path / "file")
    with pytest.raises(ValueError, match=r"SQL condition over the indexed fields \[label, name\]"):
        FileReader(path, where=where)


def test_conditions_do_nothing_but_read(tmp_path):
    path = written(tmp_path / "file")
    for where in ("load_extension('x')", "(SELECT 1 FROM pragma_database_list)"):
        with pytest.raises(ValueError):
            FileReader(path, where=where)


# ---- pages of a category
def test_mind_page(tmp_path):
    page = MindPage(written(tmp_path / "file", 10))
    assert page.candidate_fields == ["label", "name"]
    with pytest.raises(mindrecord.MRMReadCategoryInfoError, match="category_field must be set"):
        page.read_category_info()
    with pytest.raises(mindrecord.MRMDefineCategoryError, match="but got 'data'"):
        page.category_field = "data"
    page.category_field = "label"
    assert '{"count":3,"id":1,"name":"1"}' in page.read_category_info()
    assert [r["name"] for r in page.read_at_page_by_name("1", 1, 2)] == ["row 9"]
    for arguments in ((4, 0, 1), (0, 2, 2), (0, -1, 2), (0, 0, 0)):
        with pytest.raises(ValueError, match="read_at_page_by_id"):
            page.read_at_page_by_id(*arguments)
    with pytest.raises(ValueError, match="one of the 4 categories"):
        page.read_at_page_by_name("9", 0, 1)


# ---- schemas and rows that are wrong
@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({}, "must have a field"),
        ("x", "must be a dict, but got str"),
        ({"a": {"type": "int8"}}, "must be int32, int64, float32, float64, string or bytes"),
        ({"a": {"type": "int32", "shape": 3}}, "must be a list"),
        ({"a": {"type": "int32", "shape": [-1, -1]}}, "at most one -1"),
        ({"a": {"type": "int32", "shape": [0]}}, "must be -1 or positive, but got 0"),
        ({"a": {"type": "string", "shape": [1]}}, "is for numbers"),
        ({"a": {"typ": "int32"}}, "has no 'type'"),
        ({"a": {"type": "int32", "more": 1}}, "but got 'more'"),
        ({"a-b": {"type": "int32"}}, "letters, digits and '_'"),
        ({"a": "int32"}, "must be a dict"),
    ],
)
def test_wrong_schema(tmp_path, schema, says):
    with pytest.raises(mindrecord.MRMInvalidSchemaError, match=says.replace("[", r"\[")):
        FileWriter(str(tmp_path / "file")).add_schema(schema)


WRONG_ROWS = [
    ({"label": "x"}, TypeError, "row 1: the field 'label' must be int32, but got 'x' of type str"),
    ({"label": 1.5}, TypeError, "must be int32, but got 1.5 of type float"),
    ({"label": True}, TypeError, "must be int32, but got True of type bool"),
    ({"label": 2**31}, ValueError, "but got 2147483648, which it cannot hold"),
    ({"label": None}, TypeError, "None of type NoneType"),
    ({"label": np.array([1])}, TypeError, "must be int32"),
    ({"name": b"x"}, TypeError, "the field 'name' must be string, but got b'x' of type bytes"),
    ({"name": "\ud800"}, ValueError, "no valid Unicode"),
    ({"data": "x"}, TypeError, "the field 'data' must be bytes"),
    ({"data": b"x" * 40000}, ValueError, "must fit into a page of 32768 bytes, but got 40"),
    ({"real": "x"}, TypeError, "the field 'real' must be float32"),
    ({"real": 1e39}, ValueError, "cannot hold"),
    ({"list": [1, 2]}, TypeError, r"the field 'list' must be int32\[2, -1\]"),
    ({"list": np.zeros(2)}, TypeError, r"an array of float64 with shape \(2,\)"),
    ({"list": np.zeros(3, np.int32)}, ValueError, r"an array of int32 with shape \(3,\)"),
]


@pytest.mark.parametrize(("change", "kind", "says"), WRONG_ROWS)
def test_wrong_rows_are_named(tmp_path, change, kind, says):
    schema = {
        **SCHEMA,
        "real": {"type": "float32"},
        "list": {"type": "int32", "shape": [2, -1]},
    }
    good = {**rows(1)[0], "real": 0.5, "list": np.zeros((2, 3), np.int32)}
    writer = small_writer(tmp_path / "file", schema=schema)
    with pytest.raises(kind, match=says):
        writer.write_raw_data([good, {**good, **change}])


def test_a_wrong_row_leaves_the_batch_out_and_a_missing_field_is_named(tmp_path):
    writer = small_writer(tmp_path / "file")
    with pytest.raises(ValueError, match="row 0: the field 'data' must be bytes, but got none"):
        writer.write_raw_data([{"label": 1, "name": "x"}])
    with pytest.raises(TypeError, match="row 1 must be a dict, but got int"):
        writer.write_raw_data([rows(1)[0], 5])
    writer.write_raw_data(rows(2))
    writer.commit()
    assert len(read(tmp_path / "file")) == 2


@pytest.mark.parametrize("shards", [1, 2])
def test_a_row_larger_than_a_page_leaves_the_list_out(tmp_path, shards):
    writer = small_writer(tmp_path / "file", shards)
    writer.write_raw_data(rows(4))
    for field in ("data", "name"):
        large = b"x" * 40000 if field == "data" else "x" * 40000
        with pytest.raises(ValueError, match=r"row 3: its .* must fit into a page"):
            writer.write_raw_data([*rows(3), {**rows(1)[0], field: large}], True)
    writer.write_raw_data(rows(2, 4))
    writer.commit()
    found = read(tmp_path / ("file" if shards == 1 else "file0"))
    assert sorted(row["name"] for row in found) == [f"row {n}" for n in range(6)]


def test_only_shards_of_one_set_are_appended_to(tmp_path):
    first = written(tmp_path / "a")
    schema = {"label": {"type": "int64"}}
    writer = small_writer(tmp_path / "b", schema=schema)
    writer.write_raw_data([{"label": 1}])
    writer.commit()
    with pytest.raises(ValueError, match="must have the same schema and index fields"):
        _core.mindrecord.Writer([first, str(tmp_path / "b")])


WITHOUT_THREADS = """
import os, resource, sys
from mindspore.mindrecord import FileReader, FileWriter
writer = FileWriter(sys.argv[1], 4)
writer.set_header_size(1 << 14)
writer.set_page_size(1 << 15)
writer.add_schema({"label": {"type": "int32"}})
writer.write_raw_data([{"label": n} for n in range(8)])
# No room for the stack of another thread.
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * os.sysconf("SC_PAGE_SIZE") + (4 << 20)
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
writer.write_raw_data([{"label": n} for n in range(8, 16)], True)
resource.setrlimit(resource.RLIMIT_AS, before)
writer.commit()
assert sorted(row["label"] for row in FileReader(sys.argv[1] + "0").get_next()) == list(range(16))
"""


def test_threads_that_the_system_does_not_give(tmp_path):
    program = [sys.executable, "-c", WITHOUT_THREADS, str(tmp_path / "file")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_values_that_fields_can_hold(tmp_path):
    schema = {"i": {"type": "int32"}, "f": {"type": "float32"}, "d": {"type": "float64"}}
    writer = small_writer(tmp_path / "file", schema=schema)
    values = [
        {"i": np.int64(-5), "f": np.float32(0.1), "d": 3},
        {"i": 2**31 - 1, "f": np.float16(2), "d": float("inf")},
        {"i": -(2**31), "f": 1, "d": float("nan")},
    ]
    writer.write_raw_data(values)
    writer.commit()
    found = read(tmp_path / "file")
    assert [row["i"] for row in found] == [-5, 2**31 - 1, -(2**31)]
    assert [row["f"] for row in found] == [float(np.float32(0.1)), 2.0, 1.0]
    assert repr([row["d"] for row in found]) == "[3.0, inf, nan]"


def test_calls_at_the_wrong_time(tmp_path):
    path = tmp_path / "file"
    writer = FileWriter(str(path))
    with pytest.raises(mindrecord.MRMGetMetaError, match="call add_schema first"):
        writer.write_raw_data(rows(1))
    writer.add_schema(SCHEMA)
    with pytest.raises(mindrecord.MRMAddSchemaError):
        writer.add_schema(SCHEMA)
    for field, says in (("data", "must be a number or a string"), ("x", "but got 'x'")):
        with pytest.raises(mindrecord.MRMDefineIndexError, match=says):
            writer.add_index([field])
    writer.write_raw_data(rows(1))
    with pytest.raises(mindrecord.MRMOpenError, match="before the first row"):
        writer.set_page_size(1 << 20)
    writer.commit()
    with pytest.raises(mindrecord.MRMOpenError, match="open_for_append"):
        writer.write_raw_data(rows(1))
    again = FileWriter(str(path))
    again.add_schema(SCHEMA)
    with pytest.raises(mindrecord.MRMOpenError, match="unless overwrite=True"):
        again.write_raw_data(rows(1))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: FileWriter(5), "'file_name' must be a str"),
        (lambda: FileWriter("a?b"), "must end in a name without any of"),
        (lambda: FileWriter("x", 0), r"shard_num must be in \[1, 1000\]"),
        (lambda: FileWriter("x", 1, "y"), "overwrite must be a bool"),
        (lambda: FileWriter("x").set_page_size(1000), r"must be in \[32768, 268435456\]"),
        (lambda: FileWriter("x").set_header_size(16385), "must be a multiple of 4"),
        (lambda: FileReader("no such file"), "there is no 'no such file'"),
        (lambda: FileReader([]), "must name a file, but got none"),
        (lambda: mindrecord.set_enc_key("0123456789abcdef"), "enc_key must be None"),
        (lambda: mindrecord.set_enc_mode("x"), "enc_mode must be one of"),
    ],
)
def test_wrong_arguments(call, says):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=says):
        call()


# ---- writes that fail
def append(path: str) -> None:
    writer = FileWriter.open_for_append(path)
    writer.write_raw_data(rows(500, 20))
    writer.commit()


def append_in_child(path: str) -> int:
    """The status of a process that appends."""
    child = os.fork()
    if child == 0:
        try:
            append(path)
            os._exit(0)
        except OSError:
            os._exit(2)
        finally:
            os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:The index of the MindRecord")
@pytest.mark.parametrize("kind", ["kill", "eio", "enospc", "short"])
def test_each_failing_call_leaves_the_old_rows_or_all(tmp_path, monkeypatch, kind):
    """The n-th call of the system fails, for every n: what was committed is there, with its index."""
    states, status = set(), None
    for number in range(1, 100):
        path = written(tmp_path / "file", 20)
        monkeypatch.setenv("MS_IO_FAULT", f"{number}:{kind}")
        status = append_in_child(path)
        monkeypatch.delenv("MS_IO_FAULT")
        states.add(len(read(path)))
        assert len(read(path, where="label = 1")) == len(read(path)) // 4
        if status == 0 and (kind != "short" or number > 40):
            break
        assert status == {"kill": -signal.SIGKILL, "short": 0}.get(kind, 2)
    assert status == 0 and number > 10
    assert states == ({520} if kind == "short" else {20, 520})
    written(tmp_path / "file", 1)  # sweeps what the dead left
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "file.db"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = written(tmp_path / "file", 20)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"Cannot write '.*file': File too large"):
            append(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(read(path)) == 20
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read(tmp_path):
    path = written(tmp_path / "file")
    os.chmod(tmp_path, 0o555)
    try:
        assert len(read(path, where="label = 1")) == 5
    finally:
        os.chmod(tmp_path, 0o755)


def test_reading_leaves_nothing_behind(tmp_path):
    path = written(tmp_path / "größe #%20", 20)
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    assert len(read(path, where="label = 1")) == 5
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == before


def test_after_a_failed_write_each_call_says_so(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    writer = FileWriter(str(folder / "file"))
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": 1}])
    shutil.rmtree(folder)
    with pytest.raises(OSError):
        writer.commit()
    for op, call in (
        ("commit", writer.commit),
        ("write_raw_data", partial(writer.write_raw_data, [])),
    ):
        with pytest.raises(
            RuntimeError, match=f"For '{op}', a write to the MindRecord files failed"
        ):
            call()


@pytest.mark.parametrize(
    "shape, count", [([2, 3], 6), ([-1, 2], 6), ([-1], 6), ([2, 3], 5), ([-1, 2], 5)]
)
def test_arrays_take_the_shape_of_the_field(tmp_path, shape, count):
    """As 2.10 does: where there are as many numbers, and in no other case."""
    values = np.arange(count, dtype=np.int32)
    values = values.reshape(3, 2) if count == 6 else values
    writer = FileWriter(str(tmp_path / "file"))
    writer.add_schema({"x": {"type": "int32", "shape": shape}})
    if count == 5:
        with pytest.raises(ValueError, match=r"row 0: the field 'x' must be int32\[.*shape \(5,\)"):
            writer.write_raw_data([{"x": values}])
        return
    writer.write_raw_data([{"x": values}])
    writer.commit()
    (row,) = read(str(tmp_path / "file"))
    np.testing.assert_array_equal(row["x"], values.reshape(shape))


@pytest.mark.serial
def test_a_reader_keeps_the_bytes_around_one_row_however_many_shards_there_are(tmp_path):
    large = 100
    writer = FileWriter(str(tmp_path / "file"), large)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 20)
    writer.add_schema({"data": {"type": "bytes"}})
    writer.write_raw_data([{"data": bytes(250_000)} for _ in range(2 * large)])
    writer.commit()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() >> 20

    reader = _core.mindrecord.Reader([str(tmp_path / "file00")], True)
    before = resident()
    for row in range(2 * large):
        assert len(reader.read(np.array([row]), [0])[0][0]) == 250_000
    assert resident() - before < 8
