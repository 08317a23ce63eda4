"""Sets of text in the files they are published as.

A class says where its files are and what columns they have; the readers are those of CSV, of lines, and below.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.mapping import python_call
from mindspore.dataset.engine.samplers import Shuffle, choose_sampler
from mindspore.dataset.engine.source_files import (
    ColumnDataset,
    PieceDataset,
    array_column,
    choice,
    file_sampler,
    files_below,
    folder,
    list_column,
    listed_files,
    paths_column,
    present,
    read_json,
    read_lines,
    read_text,
)
from mindspore.dataset.engine.values import Row

engine = _core.dataset


class _PartsDataset(PieceDataset):
    """Base of the sets that have a file for each usage; `_open` finds the rows of the files."""

    _parts: dict[str, str] = {}
    _columns_of: Sequence[str] = ("text",)

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, [*self._parts, "all"], "all")
        names = [name for part, name in self._parts.items() if self.usage in (part, "all")]
        pieces, make = self._open(present(op, self.dataset_dir, names))
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        super().__init__(self._columns_of, pieces, make, options)

    def _open(self, files: list[str]) -> tuple[Any, Any]:
        pieces = engine.Pieces("lines", files)
        return pieces, lambda order: engine.line_rows(order, pieces)


class _ReviewDataset(_PartsDataset):
    """Base of the sets in train.csv and test.csv, whose columns are all text."""

    _parts = {"train": "train.csv", "test": "test.csv"}

    def _open(self, files: list[str]) -> tuple[Any, Any]:
        pieces = engine.Pieces("records", files)
        kinds = "s" * len(self._columns_of)
        return pieces, lambda order: engine.csv_rows(order, pieces, ",", kinds)


class AGNewsDataset(_ReviewDataset):
    """AG's news: columns index, title, description."""

    _columns_of = ("index", "title", "description")


class AmazonReviewDataset(_ReviewDataset):
    """Reviews of Amazon, polarity or full: columns label, title, content."""

    _columns_of = ("label", "title", "content")


class DBpediaDataset(_ReviewDataset):
    """DBpedia: columns class, title, content."""

    _columns_of = ("class", "title", "content")


class YahooAnswersDataset(_ReviewDataset):
    """Answers of Yahoo: columns class, title, content, answer."""

    _columns_of = ("class", "title", "content", "answer")


class WikiTextDataset(_PartsDataset):
    """WikiText: the lines of wiki.train.tokens and its kin, column text."""

    _parts = {part: f"wiki.{part}.tokens" for part in ("train", "valid", "test")}


class PennTreebankDataset(_PartsDataset):
    """Penn Treebank: the lines of ptb.train.txt and its kin, column text."""

    _parts = {part: f"ptb.{part}.txt" for part in ("train", "valid", "test")}


class _LaterWorkers(_PartsDataset):
    """The same with the argument of workers behind the others."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id
        )


class YelpReviewDataset(_LaterWorkers, _ReviewDataset):
    """Reviews of Yelp, polarity or full: columns label, text."""

    _columns_of = ("label", "text")


class SogouNewsDataset(_LaterWorkers, _ReviewDataset):
    """News of Sogou: columns index, title, content."""

    _columns_of = ("index", "title", "content")


class _Held:
    """Rows that were read when the dataset was made, with how many each file has."""

    def __init__(self, files: Sequence[list[Row]]) -> None:
        self.counts = [len(rows) for rows in files]
        self.rows = [row for rows in files for row in rows]

    def node(self, order: Any) -> Any:
        """The source that gives them."""
        columns = [list_column(values) for values in zip(*self.rows)]
        return engine.columns(order, columns, True)


class _HeldDataset(_PartsDataset):
    """Base of the sets that are small, and read whole by `_read`."""

    def _open(self, files: list[str]) -> tuple[Any, Any]:
        held = _Held([self._read(path) for path in files])
        if not held.rows:
            raise ValueError(f"For '{type(self).__name__}', the files {files} must have rows.")
        return held, held.node

    def _read(self, path: str) -> list[Row]:
        raise NotImplementedError


class _TaggedDataset(_LaterWorkers, _HeldDataset):
    """Base of the sets with a word and its tags on each line, and an empty line between sentences."""

    _separator: str | None = None

    def _read(self, path: str) -> list[Row]:
        rows: list[Row] = []
        words: list[list[str]] = []
        for number, line in enumerate([*read_text(path).split("\n"), ""], 1):
            if line.strip():
                fields = line.strip().split(self._separator)
                if len(fields) != len(self._columns_of):
                    raise ValueError(
                        f"The file '{path}', line {number}, must have {len(self._columns_of)} fields, but got "
                        f"{len(fields)}."
                    )
                words.append(fields)
            elif words:
                rows.append(tuple(zip(*words)))
                words = []
        return rows


class CoNLL2000Dataset(_TaggedDataset):
    """Chunks of CoNLL 2000, a sentence in each row: columns word, pos_tag, chunk_tag."""

    _parts = {"train": "train.txt", "test": "test.txt"}
    _columns_of = ("word", "pos_tag", "chunk_tag")


class UDPOSDataset(_TaggedDataset):
    """Parts of speech of universal dependencies, a sentence in each row: columns word, universal, stanford."""

    _parts = {p: f"en-ud-tag.v2.{f}.txt" for p, f in (("train", "train"), ("test", "test"), ("valid", "dev"))}  # fmt: skip
    _columns_of = ("word", "universal", "stanford")
    _separator = "\t"


class SQuADDataset(_HeldDataset):
    """SQuAD: columns context, question, and of the answers text and answer_start."""

    _parts = {"train": "train-v1.1.json", "dev": "dev-v1.1.json"}
    _columns_of = ("context", "question", "text", "answer_start")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        where = folder("SQuADDataset", dataset_dir)
        for part in ("train", "dev"):
            # Version 2 has the same form.
            name = f"{part}-v2.0.json"
            if os.path.isfile(os.path.join(where, name)):
                self._parts = {**self._parts, part: name}
        super().__init__(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id
        )

    def _read(self, path: str) -> list[Row]:
        rows: list[Row] = []
        try:
            for article in read_json(path)["data"]:
                for paragraph in article["paragraphs"]:
                    for asked in paragraph["qas"]:
                        texts = [answer["text"] for answer in asked["answers"]] or [""]
                        starts = [answer["answer_start"] for answer in asked["answers"]]
                        start = np.array(starts or [0], np.uint32)
                        rows.append((paragraph["context"], asked["question"], texts, start))
        except (KeyError, TypeError) as error:
            raise ValueError(f"The file '{path}' must be of SQuAD, but has no {error}.") from None
        return rows


class SST2Dataset(_HeldDataset):
    """The Stanford sentiment treebank: columns sentence and label, of the tests sentence alone."""

    _parts = {"train": "train.tsv", "test": "test.tsv", "dev": "dev.tsv"}
    _columns_of: Sequence[str] = ("sentence", "label")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        usage = choice("SST2Dataset", "usage", usage, ["train", "test", "dev"], "train")
        if usage == "test":
            self._columns_of = ("sentence",)
        super().__init__(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id
        )

    def _read(self, path: str) -> list[Row]:
        head, *lines = read_lines(path) or [""]
        names = head.rstrip("\r").split("\t")
        rows = []
        for number, line in enumerate(lines, 2):
            fields = dict(zip(names, line.rstrip("\r").split("\t")))
            try:
                rows.append(tuple(fields[name] for name in self._columns_of))
            except KeyError as error:
                raise ValueError(f"The file '{path}', line {number}, must have {error}.") from None
        return rows


class Multi30kDataset(PieceDataset):
    """Multi30k: columns text and translation, in the two languages of `language_pair`."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        places = {"train": "training/train", "test": "mmt16_task1_test/test", "valid": "validation/val"}  # fmt: skip
        self.usage = choice(op, "usage", usage, [*places, "all"], "all")
        pair = ["en", "de"] if language_pair is None else language_pair
        check_type(op, "language_pair", pair, (list, tuple))
        if list(pair) not in (["en", "de"], ["de", "en"]):
            raise ValueError(
                f"For '{op}', language_pair must be ['en', 'de'] or ['de', 'en'], but got {pair!r}."
            )
        rows = [
            self._read(op, [f"{stem}.{language}" for language in pair])
            for part, stem in places.items()
            if self.usage in (part, "all")
        ]
        held = _Held(rows)
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        super().__init__(["text", "translation"], held, held.node, options)

    def _read(self, op: str, names: list[str]) -> list[Row]:
        texts = [
            read_text(path).rstrip("\n").split("\n")
            for path in present(op, self.dataset_dir, names)
        ]
        if len(texts[0]) != len(texts[1]):
            raise ValueError(
                f"For '{op}', {names[0]} and {names[1]} must have equally many lines, but got {len(texts[0])} and "
                f"{len(texts[1])}."
            )
        return list(zip(*texts))


class EnWik9Dataset(PieceDataset):
    """The lines of the file enwik9, also the empty ones: column text."""

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        pieces = engine.Pieces("all lines", present(op, self.dataset_dir, ["enwik9"]))
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        super().__init__(["text"], pieces, lambda order: engine.line_rows(order, pieces), options)


class IMDBDataset(ColumnDataset):
    """Film reviews in folders pos and neg: columns text and label (int32, 1 for pos)."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test", "all"], "all")
        self.num_shards = num_shards
        files: list[str] = []
        labels: list[int] = []
        for part in ("train", "test") if self.usage == "all" else (self.usage,):
            for label, name in ((1, "pos"), (0, "neg")):
                where = folder(op, os.path.join(self.dataset_dir, part, name))
                found = files_below(where, [".txt"])
                files += found
                labels += [label] * len(found)
        if not files:
            raise ValueError(f"For '{op}', '{self.dataset_dir}' must hold reviews, but has none.")
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        parts = [paths_column(files, "text"), array_column(labels, np.int32)]
        self._fill(["text", "label"], len(files), parts, chosen, num_parallel_workers, labels)

    def num_classes(self) -> int:
        """Number of classes."""
        return 2


# What each task of CLUE has: (column, keys of the JSON that lead to it, whether it is a number). The tests differ.
_CLUE_PAIR = [("sentence1", ["sentence1"], False), ("sentence2", ["sentence2"], False)]
_CLUE_WSC = [
    ("idx", ["idx"], True),
    ("span1_index", ["target", "span1_index"], True),
    ("span1_text", ["target", "span1_text"], False),
    ("span2_index", ["target", "span2_index"], True),
    ("span2_text", ["target", "span2_text"], False),
    ("text", ["text"], False),
]
_CLUE_CSL = [("abst", ["abst"], False), ("id", ["id"], True), ("keyword", ["keyword"], False)]
_LABEL = ("label", ["label"], False)
_CLUE = {
    "AFQMC": ([_LABEL, *_CLUE_PAIR], [("id", ["id"], True), *_CLUE_PAIR]),
    "TNEWS": (
        [("keywords", ["keywords"], False), _LABEL, ("label_desc", ["label_desc"], False), ("sentence", ["sentence"], False)],
        [("id", ["id"], False), ("keywords", ["keywords"], False), ("sentence", ["sentence"], False)],
    ),
    "IFLYTEK": (
        [_LABEL, ("label_des", ["label_des"], False), ("sentence", ["sentence"], False)],
        [("id", ["id"], True), ("sentence", ["sentence"], False)],
    ),
    "CMNLI": ([_LABEL, *_CLUE_PAIR], [("id", ["id"], True), *_CLUE_PAIR]),
    "WSC": ([_CLUE_WSC[0], _LABEL, *_CLUE_WSC[1:]], _CLUE_WSC),
    "CSL": ([*_CLUE_CSL, _LABEL], _CLUE_CSL),
}  # fmt: skip


class _ClueCall:
    """A line of JSON to the columns of a task."""

    op = "CLUEDataset"

    def __init__(self, fields: Sequence[tuple[str, list[str], bool]], pieces: Any) -> None:
        self.fields = list(fields)
        self.pieces = pieces

    def __call__(self, rows: list[Row], keys: list[int], numbers: list[int]) -> list[Row]:
        """The row at each number."""
        return [self._row(number) for number in numbers]

    def _row(self, number: int) -> Row:
        where = self.pieces.where(number)
        try:
            content = json.loads(self.pieces.text(number))
        except ValueError as error:
            raise RuntimeError(f"{where} must be JSON, but got {error}.") from None
        row = []
        for _, path, is_number in self.fields:
            value = content
            for key in path:
                if not isinstance(value, dict) or key not in value:
                    raise RuntimeError(f"{where} must have '{key}', but has none.")
                value = value[key]
            try:
                row.append(
                    np.array(int(value), np.uint32) if is_number else np.array(_texts(value))
                )
            except (TypeError, ValueError, OverflowError):
                raise RuntimeError(
                    f"{where} must have a number for '{path[-1]}', but got {value!r:.60}."
                ) from None
        return tuple(row)


def _texts(value: Any) -> Any:
    return [str(v) for v in value] if isinstance(value, list) else str(value)


class CLUEDataset(MappableDataset):
    """A task of CLUE, in lines of JSON: AFQMC, TNEWS, IFLYTEK, CMNLI, WSC or CSL. Columns are in the order of their names."""

    def __init__(
        self,
        dataset_files: str | Sequence[str],
        task: str = "AFQMC",
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_files = listed_files(op, dataset_files)
        check_type(op, "task", task, str)
        check_type(op, "usage", usage, str)
        task = choice(op, "task", task, list(_CLUE), "AFQMC")
        usage = choice(op, "usage", usage, ["train", "test", "eval"], "train")
        self.num_shards = num_shards
        fields = _CLUE[task][usage == "test"]
        pieces = engine.Pieces("lines", self.dataset_files)
        counts = list(pieces.counts)
        chosen = file_sampler(op, counts, num_samples, shuffle, num_shards, shard_id)
        call, pools = python_call(_ClueCall(fields, pieces), 0)
        super().__init__(
            [name for name, _, _ in fields],
            sum(counts),
            chosen,
            lambda order: engine.loaded(order, call, len(fields)),
            num_parallel_workers,
            pools,
        )
