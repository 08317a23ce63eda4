"""Operations on text and on lists of words: replacement, normal forms, numbers, windows."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.text import unicode
from mindspore.dataset.text.utils import NormalizeForm
from mindspore.dataset.text.vocabulary import Vectors, Vocab
from mindspore.dataset.transforms.transforms import TensorOperation, numpy_type


def as_text(op: str, value: Any) -> np.ndarray:
    """An array of str; bytes are UTF-8."""
    array = np.asarray(value)
    if array.dtype.kind == "S":
        try:
            return np.asarray(np.char.decode(array, "utf8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"For '{op}', the input must be UTF-8, but {error}.") from None
    if array.dtype.kind != "U":
        raise TypeError(f"For '{op}', the input must be text, but got {array.dtype}.")
    return array


def words_of(op: str, value: Any) -> list[str]:
    """The words of a one-dimensional array."""
    array = as_text(op, value)
    if array.ndim != 1:
        raise ValueError(
            f"For '{op}', the input must be a list of words, but has rank {array.ndim}."
        )
    return [str(word) for word in array.tolist()]


class TextTensorOperation(TensorOperation):
    """Base of the operations on text: each text of an array by itself."""

    def _apply(self, value: Any) -> Any:
        array = as_text(type(self).__name__, value)
        changed = [self._change(text) for text in array.ravel().tolist()]
        return np.array(changed, dtype=str if changed else array.dtype).reshape(array.shape)

    def _change(self, text: str) -> str:
        raise NotImplementedError


def run_engine(engine: Any, value: Any) -> Any:
    """What an operation of the engine makes of a text, or of several."""
    results = engine.run(np.asarray(value))
    return results[0] if len(results) == 1 else results


class EngineTextOperation(TextTensorOperation):
    """Base of what the engine does by itself."""

    def engine(self) -> Any:
        """The engine's operation, made once."""
        made = self.__dict__.get("_chain")
        if made is None:
            made = self.__dict__["_chain"] = self._made()
        return made

    def _made(self) -> Any:
        raise NotImplementedError

    def _apply(self, value: Any) -> Any:
        return run_engine(self.engine(), value)


class CaseFold(EngineTextOperation):
    """Text without case and compatibility forms."""

    def _made(self) -> Any:
        change = unicode.case_folded
        return _core.dataset.change_text("CaseFold", True, change, unicode.changed_alone(change))


class NormalizeUTF8(EngineTextOperation):
    """Text in a normal form of Unicode."""

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        check_type("NormalizeUTF8", "normalize_form", normalize_form, NormalizeForm)
        self.normalize_form = normalize_form

    def _made(self) -> Any:
        form = self.normalize_form
        change = functools.partial(normalized, form=form)
        pages = unicode.changed_alone(change)
        return _core.dataset.change_text("NormalizeUTF8", False, change, pages)


def normalized(text: str, form: NormalizeForm) -> str:
    """The text in a normal form."""
    return text if form == NormalizeForm.NONE else unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


# Of what takes the place of a match: a character by its number, one that stands for itself, a group by number or name.
_REPLACED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.?)|\$(\d+)|\$\{(\w+)\}|\$", re.DOTALL)


def _template(op: str, text: str, pattern: re.Pattern[str]) -> list[str | int]:
    """The texts and the numbers of groups that take the place of a match."""
    parts: list[str | int] = []
    place = 0
    for found in _REPLACED.finditer(text):
        code, sign, number, name = found.groups()
        parts.append(text[place : found.start()])
        place = found.end()
        if code is not None:
            parts.append(chr(int(code, 16)))
        elif sign is not None:
            parts.append(sign)
        elif number is not None and int(number[0]) <= pattern.groups:
            # As many digits as still name a group; those behind stand for themselves.
            last = max(i for i in range(1, len(number) + 1) if int(number[:i]) <= pattern.groups)
            parts += [int(number[:last]), number[last:]]
        elif name in pattern.groupindex:
            parts.append(pattern.groupindex[name])
        else:
            raise ValueError(
                f"For '{op}', replace must name groups of the pattern, such as $1, but got "
                f"'{found[0]}' ('\\$' stands for the sign)."
            )
    return [*parts, text[place:]]


class RegexReplace(TextTensorOperation):
    """What matches a pattern replaced, all or the first; `$1` and `${name}` are groups, a sign behind a backslash is itself."""

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        op = "RegexReplace"
        for name, value in (("pattern", pattern), ("replace", replace)):
            check_type(op, name, value, str)
        check_type(op, "replace_all", replace_all, bool)
        self._pattern = unicode.pattern(op, "pattern", pattern)
        self._replace, self.replace_all = _template(op, replace, self._pattern), replace_all

    def _change(self, text: str) -> str:
        count = 0 if self.replace_all else 1
        if any(isinstance(part, int) for part in self._replace):
            return str(self._pattern.sub(self._replaced, text, count=count))
        # Without groups a match needs no call of ours.
        literal = "".join(map(str, self._replace)).replace("\\", r"\\")
        return str(self._pattern.sub(literal, text, count=count))

    def _replaced(self, match: re.Match[str]) -> str:
        return "".join(p if isinstance(p, str) else match[p] or "" for p in self._replace)


_DIGITS = "zero one two three four five six seven eight nine".split()


class FilterWikipediaXML(TextTensorOperation):
    """Words of the letters a to z from a page of Wikipedia, with its digits spelled."""

    def _change(self, text: str) -> str:
        text = re.sub(r"<.*>", "", text)
        for name, sign in (("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " ")):
            text = text.replace(name, sign)
        text = re.sub(r"[0-9]", lambda digit: f" {_DIGITS[int(digit[0])]} ", text)
        text = re.sub(r"[A-Z]", lambda letter: letter[0].lower(), text)
        return " ".join(re.sub(r"[^a-z]+", " ", text).split())


class PythonTokenizer(TensorOperation):
    """A function of str that gives words."""

    def __init__(self, tokenizer: Callable[[str], Any]) -> None:
        if not callable(tokenizer):
            raise TypeError(
                f"For 'PythonTokenizer', tokenizer must be callable, but got {tokenizer!r}."
            )
        self.tokenizer = tokenizer
        self.transforms = [tokenizer]

    def _apply(self, value: Any) -> Any:
        array = as_text("PythonTokenizer", value)
        if array.ndim != 0:
            raise ValueError(
                f"For 'PythonTokenizer', the input must be one text, but has rank {array.ndim}."
            )
        return np.array(self.tokenizer(str(array)), dtype=str)


class Lookup(EngineTextOperation):
    """Words as their numbers; those that are not in the vocabulary as that of `unknown_token`."""

    def __init__(
        self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = np.int32
    ) -> None:
        op = "Lookup"
        check_type(op, "vocab", vocab, Vocab)
        check_type(op, "unknown_token", unknown_token, (str, type(None)))
        self.vocab, self.unknown_token = vocab, unknown_token
        try:
            self.data_type = numpy_type(data_type)
        except (TypeError, KeyError):
            raise TypeError(
                f"For '{op}', data_type must be a type of numbers, but got {data_type!r}."
            ) from None
        if self.data_type.kind not in "buif":
            raise TypeError(f"For '{op}', data_type must be one of numbers, but got {data_type!r}.")
        self._unknown = -1 if unknown_token is None else vocab.tokens_to_ids(unknown_token)
        if unknown_token is not None and self._unknown < 0:
            raise ValueError(
                f"For '{op}', unknown_token must be in the vocabulary, but got '{unknown_token}'."
            )

    def _made(self) -> Any:
        vocabulary = self.vocab._engine()
        return _core.dataset.look_up("Lookup", vocabulary, self._unknown, self.data_type)


class ToVectors(TensorOperation):
    """Words as their vectors; those that have none as `unk_init`, or zeros."""

    def __init__(
        self, vectors: Vectors, unk_init: Any = None, lower_case_backup: bool = False
    ) -> None:
        op = "ToVectors"
        check_type(op, "vectors", vectors, Vectors)
        check_type(op, "lower_case_backup", lower_case_backup, bool)
        check_type(op, "unk_init", unk_init, (list, tuple, type(None)))
        start = np.zeros(vectors.dim) if unk_init is None else np.array(unk_init)
        if start.shape != (vectors.dim,):
            raise ValueError(
                f"For '{op}', unk_init must have {vectors.dim} numbers, but got {unk_init!r}."
            )
        self.vectors, self.lower_case_backup = vectors, lower_case_backup
        self._start = start.astype(np.float32)

    def _apply(self, value: Any) -> Any:
        array = as_text("ToVectors", value)
        found = [
            self.vectors.lookup(word, self._start, self.lower_case_backup)
            for word in array.ravel().tolist()
        ]
        return np.array(found, np.float32).reshape(*array.shape, self.vectors.dim)


class ToNumber(TensorOperation):
    """Texts as the numbers that they spell."""

    def __init__(self, data_type: Any) -> None:
        try:
            self.data_type = numpy_type(data_type)
        except TypeError:
            raise TypeError(
                f"For 'ToNumber', data_type must be a type of numbers, but got {data_type!r}."
            ) from None
        if self.data_type.kind not in "uif":
            raise TypeError(
                f"For 'ToNumber', data_type must be one of numbers, but got {data_type!r}."
            )

    def _apply(self, value: Any) -> Any:
        array = as_text("ToNumber", value)
        numbers = [self._number(text) for text in array.ravel().tolist()]
        return np.array(numbers, self.data_type).reshape(array.shape)

    def _number(self, text: str) -> float:
        whole = self.data_type.kind in "ui"
        try:
            number = int(text) if whole else float(text)
        except ValueError:
            number = None
        if number is None or "_" in text:
            kind = "an integer" if whole else "a number"
            raise ValueError(f"For 'ToNumber', the text must spell {kind}, but got '{text[:99]}'.")
        limits: Any = np.iinfo(self.data_type) if whole else np.finfo(self.data_type)
        finite = whole or np.isfinite(number) or "inf" in text.lower() or "nan" in text.lower()
        if (not whole and not finite) or (finite and abs(number) != np.inf and number == number
                                          and not float(limits.min) <= number <= float(limits.max)):  # fmt: skip
            raise ValueError(
                f"For 'ToNumber', the number must be one of {self.data_type}, but got '{text[:99]}'."
            )
        return number


class Ngram(TensorOperation):
    """Words joined n by n, for one n or several; on both sides words may be added."""

    def __init__(
        self,
        n: Any,
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        op = "Ngram"
        sizes = list(n) if isinstance(n, (list, tuple)) else [n]
        if not sizes or not all(type(size) is int and size > 0 for size in sizes):
            raise ValueError(f"For '{op}', n must be positive ints, but got {n!r}.")
        self.sizes = sizes
        self.left, self.right = _padding("left_pad", left_pad), _padding("right_pad", right_pad)
        check_type(op, "separator", separator, str)
        self.separator = separator

    def _apply(self, value: Any) -> Any:
        words = words_of("Ngram", value)
        grams = []
        for size in self.sizes:
            left, right = ([word] * min(n, size - 1) for word, n in (self.left, self.right))
            line = [*left, *words, *right]
            grams += [
                self.separator.join(line[at : at + size]) for at in range(len(line) - size + 1)
            ]
        return np.array(grams or [""])


def _padding(name: str, pad: Any) -> tuple[str, int]:
    good = isinstance(pad, (list, tuple)) and len(pad) == 2 and isinstance(pad[0], str)
    if not good or type(pad[1]) is not int or pad[1] < 0:
        raise ValueError(f"For 'Ngram', {name} must be (word, how many), but got {pad!r}.")
    return pad[0], pad[1]


class SlidingWindow(TensorOperation):
    """All windows of `width` neighbours of a one-dimensional array."""

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = check_int("SlidingWindow", "width", width, 1)
        check_type("SlidingWindow", "axis", axis, int)
        self.axis = axis

    def _apply(self, value: Any) -> Any:
        array = np.asarray(value)
        if array.ndim != 1 or self.axis not in (0, -1):
            raise ValueError(
                "For 'SlidingWindow', the input must have rank 1 and axis be 0, but got rank "
                f"{array.ndim} and axis {self.axis}."
            )
        if len(array) < self.width:
            return np.empty((0,), array.dtype)
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class Truncate(EngineTextOperation):
    """The first entries of the last axis."""

    def __init__(self, max_seq_len: int) -> None:
        self.max_seq_len = check_int("Truncate", "max_seq_len", max_seq_len, 1)

    def _made(self) -> Any:
        return _core.dataset.truncate("Truncate", self.max_seq_len)


class TruncateSequencePair(TensorOperation):
    """Two sequences cut, from the longer one's end, until both together are `max_length` long."""

    def __init__(self, max_length: int) -> None:
        self.max_length = check_int("TruncateSequencePair", "max_length", max_length, 0)

    def __call__(self, *values: Any) -> Any:
        op = "TruncateSequencePair"
        if len(values) != 2 or any(np.ndim(value) != 1 for value in values):
            shapes = [list(np.shape(value)) for value in values]
            raise ValueError(f"For '{op}', there must be two sequences, but got shapes {shapes}.")
        first, second = (np.asarray(value) for value in values)
        over = max(len(first) + len(second) - self.max_length, 0)
        # The longer one down to the other, then both in turn, the second one first.
        a, b = len(first), len(second)
        level = min(over, abs(a - b))
        a, b = (a - level, b) if a > b else (a, b - level)
        rest = over - level
        a, b = a - rest // 2, b - (rest - rest // 2)
        return first[:a].copy(), second[:b].copy()


class AddToken(TensorOperation):
    """A word before or behind the words."""

    def __init__(self, token: str, begin: bool = True) -> None:
        check_type("AddToken", "token", token, str)
        check_type("AddToken", "begin", begin, bool)
        self.token, self.begin = token, begin

    def _apply(self, value: Any) -> Any:
        array = as_text("AddToken", value)
        if array.ndim not in (1, 2):
            raise ValueError(
                f"For 'AddToken', the input must have rank 1 or 2, but got {array.ndim}."
            )
        extra = np.full((*array.shape[:-1], 1), self.token)
        return np.concatenate([extra, array] if self.begin else [array, extra], axis=-1)
