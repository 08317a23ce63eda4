"""Sources whose rows are parts of larger files: sentences of recorded talks, patches of sheets of pictures."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.source_files import (
    LoadedDataset,
    choice,
    folder,
    present,
    read_lines,
)
from mindspore.dataset.engine.values import Row

_HEADER = 1 << 16  # bytes in which the head of a sound must end
_SHEET, _PATCH, _ACROSS = 1024, 64, 16  # pixels of a sheet and a patch, and patches in a row


class _Read:
    """The rows at some numbers, by a function that threads may call at the same time."""

    def __init__(self, read: Callable[[int], Row]) -> None:
        self.read = read

    def __call__(self, rows: list[Row], keys: list[int], numbers: list[int]) -> list[Row]:
        """The row at each number."""
        return [self.read(number) for number in numbers]


def _call(read: Callable[[int], Row]) -> Any:
    return _core.dataset.Call(_Read(read), True)


# Talks


class _Sphere:
    """Where the samples of a SPHERE file lie: PCM of two bytes, with a head of lines."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as stream:
            head = stream.read(_HEADER)
        lines = head.split(b"\n")
        if lines[0] != b"NIST_1A" or b"end_head" not in head:
            raise RuntimeError(f"The sound '{path}' must be a SPHERE file, but has no such head.")
        facts = dict(self._facts(lines))
        try:
            self.start = int(lines[1])
            self.rate, self.channels = int(facts["sample_rate"]), int(facts["channel_count"])
            width, order = int(facts["sample_n_bytes"]), facts["sample_byte_format"]
        except (KeyError, ValueError) as error:
            raise RuntimeError(f"The head of the sound '{path}' must tell {error}.") from None
        coding = facts.get("sample_coding", "pcm")
        if (
            (width, coding) != (2, "pcm")
            or order not in ("01", "10")
            or min(self.rate, self.channels) < 1
        ):
            raise RuntimeError(
                f"The sound '{path}' must be PCM of two bytes, but is {coding} of {width} in order '{order}'."
            )
        self.dtype = "<i2" if order == "01" else ">i2"

    @staticmethod
    def _facts(lines: Sequence[bytes]) -> Any:
        for line in lines[2:]:
            words = line.decode("latin-1").split(None, 2)
            if words[:1] == ["end_head"]:
                return
            if len(words) == 3:
                yield words[0], words[2].strip()

    def samples(self, begin: float, end: float) -> np.ndarray:
        """The samples between two times in seconds: channels × samples, from -1 to 1."""
        first, last = int(begin * self.rate), int(end * self.rate)
        size = 2 * self.channels
        with open(self.path, "rb") as stream:
            stream.seek(self.start + first * size)
            content = stream.read((last - first) * size)
        if len(content) < (last - first) * size:
            raise RuntimeError(
                f"The sound '{self.path}' must have {last} samples, but ends before."
            )
        values = np.frombuffer(content, self.dtype).reshape(-1, self.channels).T
        return np.ascontiguousarray(values, np.float32) / np.float32(32768)


class TedliumDataset(LoadedDataset):
    """TED-LIUM, a sentence in each row: columns waveform (float32, channels × samples), sample_rate (int32), transcript,
    talk_id, speaker_id and identifier.
    """

    def __init__(
        self,
        dataset_dir: str,
        release: str,
        usage: str | None = None,
        extensions: str | None = None,
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
        check_type(op, "release", release, str)
        self.release = choice(op, "release", release, ["release1", "release2", "release3"], "")
        whole = self.release == "release3"
        usages = ["all"] if whole else ["train", "test", "dev", "all"]
        self.usage = choice(op, "usage", usage, usages, "all")
        self.extensions = choice(op, "extensions", extensions, [".sph"], ".sph")
        parts = ["data"] if whole else sorted(usages[:3]) if self.usage == "all" else [self.usage]
        said = [line for part in parts for line in self._listed(part)]
        if not said:
            raise ValueError(f"For '{op}', '{self.dataset_dir}' must hold talks, but has none.")
        columns = ["waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier"]

        def read(number: int) -> Row:
            path, begin, end, texts = said[number]
            sound = _Sphere(path)
            rate = np.array(sound.rate, np.int32)
            return (sound.samples(begin, end), rate, *(np.array(text) for text in texts))

        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._load(columns, len(said), _call(read), options)

    def _listed(self, part: str) -> list[tuple[str, float, float, tuple[str, ...]]]:
        """The sentences of a part: the sound, begin and end, and what is said."""
        op = type(self).__name__
        where = folder(op, os.path.join(self.dataset_dir, part, "stm"))
        found: list[tuple[str, float, float, tuple[str, ...]]] = []
        for name in sorted(os.listdir(where)):
            if not name.endswith(".stm") or name.startswith("."):
                continue
            path = os.path.join(where, name)
            sound = f"{part}/sph/{name[:-4]}{self.extensions}"
            present(op, self.dataset_dir, [sound])
            for number, line in enumerate(read_lines(path), 1):
                words = line.strip().split(None, 6)
                if words[0].startswith(";;"):
                    continue
                try:
                    begin, end = float(words[3]), float(words[4])
                    if not 0 <= begin <= end < 1e9:
                        raise ValueError
                    texts = (words[6] if len(words) > 6 else "", words[0], words[2], words[5])
                except (ValueError, IndexError):
                    raise ValueError(
                        f"The file '{path}', line {number}, must be TALK CHANNEL SPEAKER BEGIN END IDENTIFIER TEXT, but got "
                        f"{line.strip()[:60]!r}."
                    ) from None
                found.append((os.path.join(self.dataset_dir, sound), begin, end, texts))
        return found


# Patches


class _Sheets:
    """Patches of 64 × 64 in files of 16 × 16 of them, by number."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)

    def patch(self, number: int) -> np.ndarray:
        """The patch, height × width × 1."""
        path = self.paths[number // _ACROSS**2]
        row, column = divmod(number % _ACROSS**2, _ACROSS)
        with open(path, "rb") as stream:
            head = stream.read(54)
            _check_sheet(path, head)
            (start,) = struct.unpack_from("<I", head, 10)
            (height,) = struct.unpack_from("<i", head, 22)
            # The lowest line comes first, unless the height is negative.
            top = row * _PATCH if height < 0 else _SHEET - (row + 1) * _PATCH
            stream.seek(start + top * _SHEET)
            content = stream.read(_PATCH * _SHEET)
        if len(content) < _PATCH * _SHEET:
            raise RuntimeError(f"The picture '{path}' must have {_SHEET} lines, but is cut short.")
        lines = np.frombuffer(content, np.uint8).reshape(_PATCH, _SHEET)
        lines = lines[:: 1 if height < 0 else -1, column * _PATCH : (column + 1) * _PATCH]
        return np.ascontiguousarray(lines)[..., None]


def _check_sheet(path: str, head: bytes) -> None:
    if len(head) < 54 or head[:2] != b"BM":
        raise RuntimeError(f"The picture '{path}' must be a BMP file, but is none.")
    width, height, _, bits, coding = struct.unpack_from("<iiHHI", head, 18)
    if (width, abs(height), bits, coding) != (_SHEET, _SHEET, 8, 0):
        raise RuntimeError(
            f"The picture '{path}' must have {_SHEET} × {_SHEET} pixels of 8 bits, but has {width} × {abs(height)} of {bits}."
        )


class PhotoTourDataset(LoadedDataset):
    """PhotoTour: column image, a patch; of the usage test columns image1, image2 and matches (uint32)."""

    def __init__(
        self,
        dataset_dir: str,
        name: str,
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
        check_type(op, "name", name, str)
        places = [place + end for end in ("", "_harris") for place in ("notredame", "yosemite", "liberty")]  # fmt: skip
        self.name = choice(op, "name", name, places, "")
        self.usage = choice(op, "usage", usage, ["train", "test"], "train")
        where = folder(op, os.path.join(self.dataset_dir, self.name))
        (info,) = present(op, where, ["info.txt"])
        count = len(read_lines(info))
        sheets = [f"patches{number:04}.bmp" for number in range(-(-count // _ACROSS**2))]
        patches = _Sheets(present(op, where, sheets))
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        if self.usage == "train":
            if not count:
                raise ValueError(f"For '{op}', '{info}' must name patches, but names none.")
            one = _call(lambda number: (patches.patch(number),))
            self._load(["image"], count, one, options)
            return
        pairs = self._pairs(where, count)

        def read(number: int) -> Row:
            one, other, matches = pairs[number]
            return patches.patch(one), patches.patch(other), np.array(matches, np.uint32)

        self._load(["image1", "image2", "matches"], len(pairs), _call(read), options)

    def _pairs(self, where: str, count: int) -> list[tuple[int, int, bool]]:
        """Pairs of patches, and whether they show one point."""
        op = type(self).__name__
        (path,) = present(op, where, ["m50_100000_100000_0.txt"])
        pairs = []
        for number, line in enumerate(read_lines(path), 1):
            try:
                one, point, _, other, its_point = [int(word) for word in line.split()[:5]]
                if not (0 <= one < count and 0 <= other < count):
                    raise ValueError
            except ValueError:
                raise ValueError(
                    f"The file '{path}', line {number}, must name two of {count} patches with their points, but got {line.strip()[:60]!r}."
                ) from None
            pairs.append((one, other, point == its_point))
        if not pairs:
            raise ValueError(f"For '{op}', '{path}' must name pairs, but names none.")
        return pairs
