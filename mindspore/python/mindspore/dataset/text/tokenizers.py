"""Operations that cut a text into words. With offsets, they also give where in the text's UTF-8 bytes
the words begin and end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.text import unicode
from mindspore.dataset.text.pieces import SentencePieceVocab, SPieceTokenizerOutType, library
from mindspore.dataset.text.utils import JiebaMode, NormalizeForm
from mindspore.dataset.text.vocabulary import Vocab
from mindspore.dataset.text.words import (
    EngineTextOperation,
    TextTensorOperation,
    as_text,
    normalized,
    run_engine,
)

# A word and where it begins, in characters of the text.
Word = tuple[str, int]


class _Tokenizer(TextTensorOperation):
    """Base: one text in, its words out."""

    with_offsets = False

    def _set(self, **flags: Any) -> None:
        for name, value in flags.items():
            check_type(type(self).__name__, name, value, bool)
            setattr(self, name, value)

    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        array = as_text(op, value)
        if array.ndim != 0:
            raise ValueError(f"For '{op}', the input must be one text, but has rank {array.ndim}.")
        text = self._prepared(str(array))
        words = self._words(text) or [("", 0)]
        return _given(words, _byte_places(text) if self.with_offsets else None)

    def _prepared(self, text: str) -> str:
        return text

    def _words(self, text: str) -> list[Word]:
        raise NotImplementedError


def _byte_places(text: str) -> Sequence[int]:
    """Where in UTF-8 each character begins, and the end."""
    if text.isascii():
        return range(len(text) + 1)
    codes = np.array([ord(char) for char in text], np.int64)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    return [0, *np.cumsum(sizes).tolist()]


def _given(words: list[Word], places: Sequence[int] | None) -> Any:
    tokens = np.array([word for word, _ in words])
    if places is None:
        return tokens
    starts = [int(places[at]) for _, at in words]
    ends = [int(places[at + len(word)]) for word, at in words]
    return tokens, np.array(starts, np.uint32), np.array(ends, np.uint32)


def _runs(text: str, key: Any) -> list[tuple[Any, str, int]]:
    """Neighbours with an equal key; those with None are alone."""
    runs: list[tuple[Any, str, int]] = []
    begin = 0
    keys = [key(char) for char in text]
    for at in range(1, len(text) + 1):
        if at == len(text) or keys[at] is None or keys[at] != keys[at - 1]:
            runs.append((keys[begin], text[begin:at], begin))
            begin = at
    return runs if text else []


class _EngineTokenizer(EngineTextOperation):
    """Base of those that the engine does by itself."""

    with_offsets = False

    def _set(self, **flags: Any) -> None:
        for name, value in flags.items():
            check_type(type(self).__name__, name, value, bool)
            setattr(self, name, value)


# As the engine counts them.
_SPACES, _CHARACTERS, _SCRIPTS = range(3)


class WhitespaceTokenizer(_EngineTokenizer):
    """What stands between white space."""

    def __init__(self, with_offsets: bool = False) -> None:
        self._set(with_offsets=with_offsets)

    def _made(self) -> Any:
        name = type(self).__name__
        return _core.dataset.cut_text(name, _SPACES, False, self.with_offsets)


class UnicodeCharTokenizer(_EngineTokenizer):
    """Each character."""

    def __init__(self, with_offsets: bool = False) -> None:
        self._set(with_offsets=with_offsets)

    def _made(self) -> Any:
        name = type(self).__name__
        return _core.dataset.cut_text(name, _CHARACTERS, True, self.with_offsets)


class UnicodeScriptTokenizer(_EngineTokenizer):
    """Neighbours of one script, which the names of characters tell."""

    keep_whitespace = False

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        self._set(keep_whitespace=keep_whitespace, with_offsets=with_offsets)

    def _made(self) -> Any:
        name = type(self).__name__
        return _core.dataset.cut_text(name, _SCRIPTS, self.keep_whitespace, self.with_offsets)


class RegexTokenizer(_Tokenizer):
    """What stands between matches of a pattern, and those matches that match another one."""

    def __init__(
        self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False
    ) -> None:
        op = "RegexTokenizer"
        check_type(op, "delim_pattern", delim_pattern, str)
        check_type(op, "keep_delim_pattern", keep_delim_pattern, str)
        self._delimiter = unicode.pattern(op, "delim_pattern", delim_pattern)
        self._keep = (
            unicode.pattern(op, "keep_delim_pattern", keep_delim_pattern)
            if keep_delim_pattern
            else None
        )
        self._set(with_offsets=with_offsets)

    def engine(self) -> Any | None:
        """The engine's operation, where the patterns match single characters or runs of them."""
        if "_chain" not in self.__dict__:
            self.__dict__["_chain"] = self._made()
        return self.__dict__["_chain"]

    def _made(self) -> Any | None:
        delimiter = unicode.class_of(self._delimiter)
        keep = None if self._keep is None else unicode.class_of(self._keep)
        if delimiter is None or (keep is None and self._keep is not None):
            return None
        return _core.dataset.split_text(type(self).__name__, delimiter, keep, self.with_offsets)

    def _apply(self, value: Any) -> Any:
        engine = self.engine()
        return super()._apply(value) if engine is None else run_engine(engine, value)

    def _words(self, text: str) -> list[Word]:
        words, begin = [], 0
        for match in self._delimiter.finditer(text):
            if match.start() > begin:
                words.append((text[begin : match.start()], begin))
            if match[0] and self._keep is not None and self._keep.fullmatch(match[0]):
                words.append((match[0], match.start()))
            begin = match.end()
        return [*words, (text[begin:], begin)] if begin < len(text) else words


_UNUSED = re.compile(r"\[(?:CLS|SEP|UNK|PAD|MASK|unused[0-9]+)\]")


class BasicTokenizer(_EngineTokenizer):
    """Words, punctuation and Chinese characters, as BERT takes them."""

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        op = type(self).__name__
        check_type(op, "normalization_form", normalization_form, NormalizeForm)
        self.normalization_form = normalization_form
        self.lower_case = self.keep_whitespace = self.preserve_unused_token = False
        self._set(
            lower_case=lower_case,
            keep_whitespace=keep_whitespace,
            preserve_unused_token=preserve_unused_token,
            with_offsets=with_offsets,
        )

    def _made(self) -> Any:
        return _core.dataset.cut_basic(type(self).__name__, self._options(), self.with_offsets)

    def _options(self) -> tuple[Any, ...]:
        form = self.normalization_form
        plain = form == NormalizeForm.NONE
        return (
            self.lower_case,
            self.keep_whitespace,
            self.preserve_unused_token,
            plain,
            _Prepared(self.lower_case, self.preserve_unused_token, form),
        )


class _Prepared:
    """A text as BasicTokenizer cuts it, where the engine does not prepare it by itself."""

    def __init__(self, lower_case: bool, preserve: bool, form: NormalizeForm) -> None:
        self.lower_case, self.preserve, self.form = lower_case, preserve, form

    def __call__(self, text: str) -> str:
        if not (self.preserve and self.lower_case):
            return self._plain(text)
        parts, begin = [], 0
        for match in _UNUSED.finditer(text):
            parts += [self._plain(text[begin : match.start()]), match[0]]
            begin = match.end()
        return "".join([*parts, self._plain(text[begin:])])

    def _plain(self, text: str) -> str:
        text = unicode.plain(text) if self.lower_case else normalized(text, self.form)
        return "".join(" " if unicode.is_control(char) else char for char in text)


class WordpieceTokenizer(_EngineTokenizer):
    """Words cut into the longest pieces of a vocabulary; those that go on are marked."""

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        op = type(self).__name__
        check_type(op, "vocab", vocab, Vocab)
        check_type(op, "suffix_indicator", suffix_indicator, str)
        check_type(op, "unknown_token", unknown_token, str)
        self.vocab, self.suffix_indicator = vocab, suffix_indicator
        self.max_bytes_per_token = check_int(op, "max_bytes_per_token", max_bytes_per_token, 0)
        self.unknown_token = unknown_token
        self._set(with_offsets=with_offsets)

    def _made(self) -> Any:
        return _core.dataset.cut_pieces(type(self).__name__, self._options(), self.with_offsets)

    def _options(self) -> tuple[Any, ...]:
        limit = self.max_bytes_per_token
        return self.vocab._engine(), self.suffix_indicator, self.unknown_token, limit


class BertTokenizer(_EngineTokenizer):
    """BasicTokenizer, then WordpieceTokenizer."""

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        self._basic = BasicTokenizer(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token
        )
        self._wordpiece = WordpieceTokenizer(
            vocab, suffix_indicator, max_bytes_per_token, unknown_token
        )
        self._set(with_offsets=with_offsets)

    def _made(self) -> Any:
        basic, pieces = self._basic._options(), self._wordpiece._options()
        return _core.dataset.cut_bert(type(self).__name__, basic, pieces, self.with_offsets)


class JiebaTokenizer(_Tokenizer):
    """Chinese words, the most probable ones by a dictionary of lines: a word and how often it occurs."""

    def __init__(
        self,
        hmm_path: str,
        mp_path: str,
        mode: JiebaMode = JiebaMode.MIX,
        with_offsets: bool = False,
    ) -> None:
        op = "JiebaTokenizer"
        check_type(op, "mode", mode, JiebaMode)
        if mode == JiebaMode.HMM:
            raise ValueError(
                f"For '{op}', mode must be MIX or MP: words are found by a dictionary."
            )
        for name, path in (("hmm_path", hmm_path), ("mp_path", mp_path)):
            check_type(op, name, path, str)
            if not Path(path).is_file():
                raise ValueError(f"For '{op}', {name} must be a file, but got '{path}'.")
        self.mode = mode
        self._counts: dict[str, float] = {}
        self._longest = 1
        self._set(with_offsets=with_offsets)
        self._read(mp_path)

    def _read(self, path: str) -> None:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            parts = line.split()
            if parts:
                number = parts[1] if len(parts) > 1 else "1"
                if not number.isdigit():
                    raise ValueError(
                        f"For 'JiebaTokenizer', '{path}' must have counts, but got '{line}'."
                    )
                self.add_word(parts[0], int(number))

    def add_word(self, word: str, freq: int | None = None) -> None:
        """One more word, with how often it occurs."""
        check_type("JiebaTokenizer", "word", word, str)
        if not word:
            raise ValueError("For 'JiebaTokenizer', word must not be empty.")
        if freq is not None:
            check_int("JiebaTokenizer", "freq", freq, 0)
        # A word without a number shall win over its parts.
        self._counts[word] = float(
            freq if freq is not None else max(self._counts.values(), default=1)
        )
        self._longest = max(self._longest, len(word))

    def add_dict(self, user_dict: Any) -> None:
        """More words: a dict of counts, or a file like `mp_path`."""
        check_type("JiebaTokenizer", "user_dict", user_dict, (str, dict))
        if isinstance(user_dict, str):
            if not Path(user_dict).is_file():
                raise ValueError(
                    f"For 'JiebaTokenizer', user_dict must be a file, but got '{user_dict}'."
                )
            self._read(user_dict)
            return
        for word, count in user_dict.items():
            self.add_word(word, count)

    def _words(self, text: str) -> list[Word]:
        words = []
        for key, run, at in _runs(text, lambda c: "zh" if unicode.is_cjk(c) else _other(c)):
            if key == "zh":
                words += [(word, at + place) for word, place in self._best(run)]
            else:
                words.append((run, at))
        return words

    def _best(self, run: str) -> list[Word]:
        """The most probable way to cut a run of Chinese characters."""
        total = math.log(max(sum(self._counts.values()), 1.0))
        best: list[tuple[float, int]] = [(0.0, 0)] * (len(run) + 1)
        for begin in range(len(run) - 1, -1, -1):
            choices = []
            for end in range(begin + 1, min(begin + self._longest, len(run)) + 1):
                count = self._counts.get(run[begin:end])
                if count is not None or end == begin + 1:
                    choices.append((math.log(count or 1.0) - total + best[end][0], end))
            best[begin] = max(choices)
        words, begin = [], 0
        while begin < len(run):
            words.append((run[begin : best[begin][1]], begin))
            begin = best[begin][1]
        return words


def _other(char: str) -> str | None:
    """Letters and digits stay together, all else is alone."""
    return "word" if char.isascii() and char.isalnum() else None


class SentencePieceTokenizer(TextTensorOperation):
    """Pieces of a model of SentencePiece, that of a file or a vocabulary."""

    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType) -> None:
        op = "SentencePieceTokenizer"
        check_type(op, "mode", mode, (str, SentencePieceVocab))
        check_type(op, "out_type", out_type, SPieceTokenizerOutType)
        if isinstance(mode, str) and not Path(mode).is_file():
            raise ValueError(f"For '{op}', mode must be the file of a model, but got '{mode}'.")
        processor = library(op).SentencePieceProcessor
        self.mode, self.out_type = mode, out_type
        content = Path(mode).read_bytes() if isinstance(mode, str) else mode.model
        try:
            self._model = processor(model_proto=content)
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"For '{op}', mode must be a model, but {error}.") from None

    def _apply(self, value: Any) -> Any:
        op = "SentencePieceTokenizer"
        array = as_text(op, value)
        if array.ndim != 0:
            raise ValueError(f"For '{op}', the input must be one text, but has rank {array.ndim}.")
        kind, dtype = (int, np.int32) if self.out_type == SPieceTokenizerOutType.INT else (str, str)
        pieces = self._model.encode(str(array), out_type=kind)
        return np.array(pieces or ([] if kind is int else [""]), dtype)
