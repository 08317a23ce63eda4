"""Sets of sound in WAV files: column waveform (float32, channels × samples), sample_rate, and what is said about it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.source_files import (
    ColumnDataset,
    array_column,
    choice,
    files_below,
    folder,
    list_column,
    paths_column,
    present,
    read_lines,
)

_WAV = (".wav",)


class _Sounds(ColumnDataset):
    """Base of the sets below."""

    dataset_dir: str
    _unsigned_rate = True

    def _hear(self, files: Sequence[str], others: dict[str, Any], options: tuple[Any, ...]) -> None:
        """`options`: sampler, num_samples, shuffle, num_shards, shard_id, workers."""
        op = type(self).__name__
        if not files:
            raise ValueError(f"For '{op}', '{self.dataset_dir}' must hold sounds, but has none.")
        self.num_shards = options[3]
        chosen = choose_sampler(op, *options[:5])
        columns = [paths_column(files, "sound", self._unsigned_rate), *others.values()]
        names = ["waveform", "sample_rate", *others]
        self._fill(names, len(files), columns, chosen, options[5])


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


class YesNoDataset(_Sounds):
    """YesNo: a man says yes and no eight times; column label (int32, 1 for yes)."""

    _unsigned_rate = False

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "YesNoDataset"
        self.dataset_dir = folder(op, dataset_dir)
        files = files_below(self.dataset_dir, _WAV)
        for path in files:
            if not re.fullmatch(r"[01](_[01])*", _stem(path)):
                raise ValueError(
                    f"For '{op}', a file's name must be zeros and ones, but got '{path}'."
                )
        labels = [np.array(_stem(path).split("_"), np.int32) for path in files]
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, {"label": list_column(labels)}, options)


class GTZANDataset(_Sounds):
    """GTZAN: column label, the genre, which is the name of the folder."""

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
        op = "GTZANDataset"
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["all"], "all")
        files = files_below(self.dataset_dir, _WAV)
        labels = [os.path.basename(os.path.dirname(path)) for path in files]
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, {"label": list_column(labels)}, options)


class LJSpeechDataset(_Sounds):
    """LJ Speech: columns transcription and normalized_transcription."""

    _unsigned_rate = False

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "LJSpeechDataset"
        self.dataset_dir = folder(op, dataset_dir)
        (path,) = present(op, self.dataset_dir, ["metadata.csv"])
        rows = [line.rstrip("\r").split("|") for line in read_lines(path)]
        for number, row in enumerate(rows, 1):
            if len(row) != 3:
                raise RuntimeError(
                    f"The file '{path}', line {number}, must have 3 fields, but got {len(row)}."
                )
        files = present(op, self.dataset_dir, [f"wavs/{row[0]}.wav" for row in rows])
        others = {
            "transcription": list_column([row[1] for row in rows]),
            "normalized_transcription": list_column([row[2] for row in rows]),
        }
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, others, options)


class SpeechCommandsDataset(_Sounds):
    """Speech commands: columns label, speaker_id and utterance_number (int32)."""

    _unsigned_rate = False

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
        op = "SpeechCommandsDataset"
        self.dataset_dir = where = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test", "valid", "all"], "all")
        files = [path for path in files_below(where, _WAV) if "_nohash_" in path]
        listed = {"test": ["testing_list.txt"], "valid": ["validation_list.txt"]}
        names = listed.get(self.usage, [name for some in listed.values() for name in some])
        if self.usage != "all":
            chosen = {
                line.strip() for path in present(op, where, names) for line in read_lines(path)
            }
            inside = self.usage != "train"
            files = [p for p in files if (os.path.relpath(p, where) in chosen) == inside]
        parts = [_stem(path).split("_nohash_") for path in files]
        others = {
            "label": list_column([os.path.basename(os.path.dirname(path)) for path in files]),
            "speaker_id": list_column([part[0] for part in parts]),
            "utterance_number": array_column([int(part[1]) for part in parts], np.int32),
        }
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, others, options)


_LIBRI = [
    "dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360", "train-other-500",
]  # fmt: skip


class LibriTTSDataset(_Sounds):
    """LibriTTS: columns original_text, normalized_text, speaker_id, chapter_id (uint32) and utterance_id."""

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
        op = "LibriTTSDataset"
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, [*_LIBRI, "all"], "all")
        files: list[str] = []
        for part in _LIBRI if self.usage == "all" else [self.usage]:
            where = os.path.join(self.dataset_dir, part)
            if self.usage != "all" or os.path.isdir(where):
                files += files_below(folder(op, where), _WAV)
        stems = [path[:-4] for path in files]
        texts = {}
        for kind in ("original", "normalized"):
            paths = [f"{stem}.{kind}.txt" for stem in stems]
            present(
                op, self.dataset_dir, [os.path.relpath(path, self.dataset_dir) for path in paths]
            )
            texts[f"{kind}_text"] = paths_column(paths, "text")
        words = [_stem(path).split("_") for path in files]
        others = {
            **texts,
            "speaker_id": array_column([int(word[0]) for word in words], np.uint32),
            "chapter_id": array_column([int(word[1]) for word in words], np.uint32),
            "utterance_id": list_column([_stem(path) for path in files]),
        }
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, others, options)


class CMUArcticDataset(_Sounds):
    """CMU ARCTIC: columns transcript and utterance_id, of one speaker."""

    def __init__(
        self,
        dataset_dir: str,
        name: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "CMUArcticDataset"
        self.dataset_dir = folder(op, dataset_dir)
        speakers = ["aew", "ahw", "aup", "awb", "axb", "bdl", "clb", "eey", "fem", "gka", "jmk", "ksp", "ljm", "lnh",
                    "rms", "rxr", "slp", "slt"]  # fmt: skip
        self.name = choice(op, "name", name, speakers, "aew")
        base = folder(op, os.path.join(self.dataset_dir, f"cmu_us_{self.name}_arctic"))
        (path,) = present(op, base, ["etc/txt.done.data"])
        rows = []
        for number, line in enumerate(read_lines(path), 1):
            found = re.fullmatch(r'\(\s*(\S+)\s+"(.*)"\s*\)', line.strip())
            if found is None:
                raise RuntimeError(f"The file '{path}', line {number}, must be ( NAME \"TEXT\" ).")
            rows.append(found.groups())
        files = present(op, base, [f"wav/{row[0]}.wav" for row in rows])
        others = {
            "transcript": list_column([row[1] for row in rows]),
            "utterance_id": list_column([row[0].rpartition("_")[2] for row in rows]),
        }
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._hear(files, others, options)
