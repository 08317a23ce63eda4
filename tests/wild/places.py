"""What reads and writes files, and what a process alone may do of groups: calls that use up what they make.

A source of rows is read, a file of rows is written and read again, a group that is made goes away. The files are those of
`tests/sources`, written when they are first needed."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mindspore.dataset
from mindspore import communication, mindrecord

_SOURCES = Path(__file__).parents[1] / "sources"
sys.path.append(str(_SOURCES))  # its modules are no package's

import sample_texts  # noqa: E402, F401 - it adds to SAMPLES
from sample_files import SAMPLES  # noqa: E402
from source_cases import CASES, given_all  # noqa: E402

_FOLDER = tempfile.TemporaryDirectory()
_HOME = Path(_FOLDER.name)
_SCHEMA = {"number": {"type": "int32"}, "name": {"type": "string"}}
_ROWS = [{"number": i, "name": str(i)} for i in range(3)]
_READ = 3  # rows of a source


class Call(NamedTuple):
    """Something that is called by name, with what it takes, and the names of all its parameters."""

    name: str
    function: Callable
    kwargs: dict[str, Any]
    names: list[str]


@functools.cache
def _sample(name: str) -> Path:
    folder = _HOME / name
    folder.mkdir()
    SAMPLES[name](folder)
    return folder


def path_of(kind: str) -> str:
    """Where there is something else than a file that can be read, or nothing."""
    path = _HOME / f"{kind}.of_paths"
    if kind == "folder":
        path.mkdir(exist_ok=True)
    elif kind != "missing":
        path.write_bytes(b"" if kind == "empty" else bytes(range(256)) * 20)
    return str(path)


def calls() -> Iterator[Call]:
    """All of them."""
    answers = json.loads((_SOURCES / "answers.json").read_text())
    seen: set[str] = set()
    for case, (sample, kind, arguments) in CASES.items():
        if kind not in seen and "rows" in answers.get(case, {}):
            seen.add(kind)
            source = getattr(mindspore.dataset, kind)
            function = functools.partial(_read, source, sample)
            given = given_all(arguments, _HOME / sample)
            yield Call(
                f"dataset.{kind}", function, given, list(inspect.signature(source).parameters)
            )
    for name, (function, kwargs) in _OTHERS.items():
        yield Call(name, function, kwargs, list(inspect.signature(function).parameters))


def _read(source: Callable, sample: str, **kwargs: Any) -> None:
    _sample(sample)
    rows = source(**kwargs).create_tuple_iterator(num_epochs=1, output_numpy=True)
    list(itertools.islice(rows, _READ))


def _write_rows(file_name: Any, shard_num: Any = 1, overwrite: Any = True, schema: Any = _SCHEMA,
                rows: Any = _ROWS, index: Any = ("number",)) -> None:  # fmt: skip
    writer = mindrecord.FileWriter(file_name, shard_num, overwrite)
    writer.add_schema(schema, "of a wild call")
    writer.add_index(list(index) if isinstance(index, tuple) else index)
    writer.write_raw_data(rows)
    writer.commit()


@functools.cache
def _rows_file() -> str:
    path = str(_HOME / "rows.mindrecord")
    _write_rows(path)
    return path


def _read_rows(
    file_name: Any = None, num_consumer: Any = 2, columns: Any = None, operator: Any = None
) -> None:
    given = _rows_file() if file_name is None else file_name
    reader = mindrecord.FileReader(given, num_consumer, columns, operator)
    list(itertools.islice(reader.get_next(), _READ))
    reader.close()


def _page(
    file_name: Any = None,
    num_consumer: Any = 2,
    field: Any = "number",
    value: Any = 1,
    page: Any = 0,
    size: Any = 1,
) -> None:
    pages = mindrecord.MindPage(_rows_file() if file_name is None else file_name, num_consumer)
    pages.category_field = field
    pages.read_category_info()
    pages.read_at_page_by_id(0, page, size)
    pages.read_at_page_by_name(str(value), page, size)


def _mind_dataset(dataset_files: Any = None, columns_list: Any = None, num_parallel_workers: Any = 1, shuffle: Any = None,
                  num_shards: Any = None, shard_id: Any = None, sampler: Any = None, num_samples: Any = None) -> None:  # fmt: skip
    given = _rows_file() if dataset_files is None else dataset_files
    source = mindspore.dataset.MindDataset(
        given, columns_list, num_parallel_workers, shuffle, num_shards, shard_id, sampler,
        num_samples=num_samples,
    )  # fmt: skip
    list(itertools.islice(source.create_tuple_iterator(num_epochs=1, output_numpy=True), _READ))


def _from_csv(
    source: Any = None,
    destination: Any = str(_HOME / "of_csv.mindrecord"),
    columns_list: Any = None,
    partition_number: Any = 1,
) -> None:
    given = str(_sample("csv") / "headed.csv") if source is None else source
    for made in _HOME.glob("of_csv.mindrecord*"):
        made.unlink()
    mindrecord.CsvToMR(given, destination, columns_list, partition_number).transform()


def _group(group: Any, rank_ids: Any, options: Any = None) -> None:
    communication.create_group(group, rank_ids, options)
    communication.destroy_group(group)


_WORLD = communication.HCCL_WORLD_COMM_GROUP
_OTHERS: dict[str, tuple[Callable, dict[str, Any]]] = {
    "mindrecord.FileWriter": (_write_rows, {"file_name": str(_HOME / "written.mindrecord")}),
    "mindrecord.FileReader": (_read_rows, {}),
    "mindrecord.MindPage": (_page, {}),
    "mindrecord.CsvToMR": (_from_csv, {}),
    "mindrecord.set_enc_mode": (mindrecord.set_enc_mode, {}),
    "dataset.MindDataset": (_mind_dataset, {}),
    "communication.create_group": (_group, {"group": "wild", "rank_ids": [0]}),
    **{
        f"communication.{name}": (getattr(communication, name), {"group": _WORLD, **others})
        for name, others in {
            "get_comm_name": {},
            "get_group_size": {},
            "get_local_rank": {},
            "get_local_rank_size": {},
            "get_process_group_ranks": {},
            "get_rank": {},
            "get_group_rank_from_world_rank": {"world_rank_id": 0},
            "get_world_rank_from_group_rank": {"group_rank_id": 0},
        }.items()
    },
    "communication.init": (communication.init, {}),
}
