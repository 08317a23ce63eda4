"""Talks and their translations, of the IWSLT: a row is a sentence in two languages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.datasets_text import _Held
from mindspore.dataset.engine.samplers import Shuffle
from mindspore.dataset.engine.source_files import (
    PieceDataset,
    choice,
    folder,
    present,
    read_text,
)

_USAGES = ["train", "valid", "test", "all"]
_SETS = ["dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014"]


class _TalksDataset(PieceDataset):
    """Base of both years: train.tags.SOURCE-TARGET.LANGUAGE, and XML for the other usages."""

    _pairs: frozenset[tuple[str, str]] = frozenset()
    _stem = ""

    def _fill(
        self,
        where: str,
        pair: tuple[str, str],
        usage: str | None,
        sets: tuple[str, str],
        options: tuple[Any, ...],
    ) -> None:
        """`sets`: those of the usages valid and test."""
        op = type(self).__name__
        self.usage = choice(op, "usage", usage, _USAGES, "all")
        self.language_pair = pair
        both = "-".join(pair)
        parts = []
        if self.usage in ("train", "all"):
            names = [f"train.tags.{both}.{language}" for language in pair]
            parts.append(_aligned(op, *(_tagged(path) for path in present(op, where, names))))
        for part, chosen in zip(("valid", "test"), sets):
            if self.usage in (part, "all"):
                names = [f"{self._stem}.{chosen}.{both}.{language}.xml" for language in pair]
                parts.append(_aligned(op, *(_segments(path) for path in present(op, where, names))))
        held = _Held(parts)
        if not held.rows:
            raise ValueError(f"For '{op}', '{where}' must hold sentences, but has none.")
        super().__init__(["text", "translation"], held, held.node, options)  # type: ignore[arg-type]

    def _pair(self, given: Any) -> tuple[str, str]:
        op = type(self).__name__
        if given is None:
            return "de", "en"
        check_type(op, "language_pair", given, (list, tuple))
        pair = tuple(given)
        if not all(isinstance(name, str) for name in pair) or pair not in self._pairs:
            raise ValueError(
                f"For '{op}', language_pair must be one of {sorted(self._pairs)}, but got {given!r}."
            )
        return pair


def _tagged(path: str) -> list[str]:
    """The lines of a text between lines of tags; an empty line is an empty sentence."""
    lines = [line.strip() for line in read_text(path).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return [line for line in lines if not line.startswith("<")]


def _segments(path: str) -> list[str]:
    """The sentences of an XML file."""
    try:
        root = ElementTree.fromstring(_without_entities(path))
    except ElementTree.ParseError as error:
        raise ValueError(f"The file '{path}' must be XML, but got {error}.") from None
    found = [" ".join("".join(part.itertext()).split()) for part in root.iter("seg")]
    return found


def _without_entities(path: str) -> str:
    text = read_text(path)
    if "<!ENTITY" in text:  # one that grows without end would be done as it says
        raise ValueError(f"The file '{path}' must declare no entities, but does.")
    return text


def _aligned(op: str, texts: list[str], translations: list[str]) -> list[tuple[str, str]]:
    if len(texts) != len(translations):
        raise ValueError(
            f"For '{op}', the files of both languages must have equally many sentences, but got {len(texts)} and "
            f"{len(translations)}."
        )
    return list(zip(texts, translations))


class IWSLT2016Dataset(_TalksDataset):
    """IWSLT 2016: columns text and translation, in the two languages of `language_pair`."""

    _pairs = frozenset(
        pair for other in ("ar", "cs", "de", "fr") for pair in ((other, "en"), ("en", other))
    )
    _stem = "IWSLT16.TED"

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        valid_set: str | None = None,
        test_set: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        pair = self._pair(language_pair)
        self.valid_set = choice(op, "valid_set", valid_set, _SETS, "tst2013")
        self.test_set = choice(op, "test_set", test_set, _SETS, "tst2014")
        where = folder(op, os.path.join(self.dataset_dir, "texts", *pair, "-".join(pair)))
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        self._fill(where, pair, usage, (self.valid_set, self.test_set), options)


class IWSLT2017Dataset(_TalksDataset):
    """IWSLT 2017: columns text and translation, in the two languages of `language_pair`."""

    _pairs = frozenset(
        (a, b)
        for a in ("de", "en", "it", "nl", "ro")
        for b in ("de", "en", "it", "nl", "ro")
        if a != b
    )
    _stem = "IWSLT17.TED"

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        pair = self._pair(language_pair)
        names = ("DeEnItNlRo", "DeEnItNlRo", "DeEnItNlRo-DeEnItNlRo")
        where = os.path.join(self.dataset_dir, "texts", *names)
        if not os.path.isdir(where):  # as its description has it
            where = os.path.join(self.dataset_dir, *names)
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        self._fill(folder(op, where), pair, usage, ("dev2010", "tst2010"), options)
