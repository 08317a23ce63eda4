"""Words by their numbers, and by vectors that were trained elsewhere."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type


def column_texts(op: str, argument: str, dataset: Any, names: list[str]) -> Iterator[str]:
    """All texts in the columns of a dataset that `argument` names, row by row."""
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        for name in names:
            if name not in row:
                raise ValueError(
                    f"For '{op}', {argument} must be among {list(row)}, but got '{name}'."
                )
            if row[name].dtype.kind not in "US":
                raise TypeError(
                    f"For '{op}', column '{name}' must be text, but got {row[name].dtype}."
                )
            yield from row[name].astype(str).ravel().tolist()


def _lines(op: str, file_path: Any) -> Iterator[str]:
    """The lines of a UTF-8 file, without their ends."""
    check_type(op, "file_path", file_path, str)
    try:
        with open(file_path, encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.rstrip("\r\n")
    except OSError as error:
        raise RuntimeError(
            f"For '{op}', file_path must be a file, but got '{file_path}': {error.strerror}."
        ) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"For '{op}', '{file_path}' must be UTF-8, but {error}.") from None


def _words(op: str, name: str, words: Any) -> list[str]:
    check_type(op, name, words, (list, tuple))
    for word in words:
        check_type(op, name, word, str)
    if len(set(words)) != len(words):
        twice = next(word for word, n in collections.Counter(words).items() if n > 1)
        raise ValueError(f"For '{op}', {name} must not repeat a word, but got '{twice}' again.")
    return list(words)


class Vocab:
    """Words and their numbers."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._tokens: dict[int, str] = {}
        self._found: Any = None

    def _engine(self) -> Any:
        """The words as the engine looks them up, made once."""
        if self._found is None:
            self._found = _core.dataset.Vocabulary(list(self._ids), list(self._ids.values()))
        return self._found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": None}

    @classmethod
    def _of(cls, ids: dict[str, int]) -> Vocab:
        made = cls()
        made._ids = ids
        made._tokens = {number: word for word, number in ids.items()}
        return made

    @classmethod
    def from_list(
        cls, word_list: Any, special_tokens: Any = None, special_first: bool = True
    ) -> Vocab:
        """Words numbered in their order, special ones before or after them."""
        op = "Vocab.from_list"
        words = _words(op, "word_list", word_list)
        special = [] if special_tokens is None else _words(op, "special_tokens", special_tokens)
        check_type(op, "special_first", special_first, bool)
        both = set(words) & set(special)
        if both:
            raise ValueError(
                f"For '{op}', special_tokens must not be in word_list, but got {sorted(both)}."
            )
        ordered = [*special, *words] if special_first else [*words, *special]
        return cls._of({word: number for number, word in enumerate(ordered)})

    @classmethod
    def from_dict(cls, word_dict: Any) -> Vocab:
        """Words with the numbers that a dict gives."""
        op = "Vocab.from_dict"
        check_type(op, "word_dict", word_dict, dict)
        for word, number in word_dict.items():
            check_type(op, "a word", word, str)
            check_int(op, "a number", number, 0)
        return cls._of(dict(word_dict))

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: Any = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of a file, one a line, up to a delimiter; at most `vocab_size` of them."""
        op = "Vocab.from_file"
        check_type(op, "delimiter", delimiter, str)
        if vocab_size is not None:
            check_int(op, "vocab_size", vocab_size, 1)
        lines = itertools.islice(_lines(op, file_path), vocab_size)
        words = [line.split(delimiter)[0] if delimiter else line for line in lines]
        return cls.from_list(_words(op, "the file", words), special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: Any = None,
        freq_range: Any = None,
        top_k: int | None = None,
        special_tokens: Any = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of columns, the most frequent first; those in `freq_range`, at most `top_k`."""
        op = "Vocab.from_dataset"
        names = [columns] if isinstance(columns, str) else list(columns or dataset.get_col_names())
        low, high = _frequencies(op, freq_range)
        if top_k is not None:
            check_int(op, "top_k", top_k, 1)
        counts = collections.Counter(column_texts(op, "columns", dataset, names))
        kept = [(word, n) for word, n in counts.items() if low <= n <= high]
        kept.sort(key=lambda pair: (-pair[1], pair[0]))
        return cls.from_list([word for word, _ in kept[:top_k]], special_tokens, special_first)

    def vocab(self) -> dict[str, int]:
        """Words and their numbers, as a dict."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens: Any) -> Any:
        """The number of a word, or those of a list of them; -1 for one that is not there."""
        if isinstance(tokens, np.ndarray):
            tokens = tokens.tolist()
        if isinstance(tokens, str):
            return self._ids.get(tokens, -1)
        check_type("tokens_to_ids", "tokens", tokens, (str, list))
        for token in tokens:
            check_type("tokens_to_ids", "a token", token, str)
        return [self._ids.get(token, -1) for token in tokens]

    def ids_to_tokens(self, ids: Any) -> Any:
        """The word of a number, or those of a list of them; "" for one that is not there."""
        if isinstance(ids, np.ndarray):
            ids = ids.tolist()
        if isinstance(ids, int) and not isinstance(ids, bool):
            return self._tokens.get(check_int("ids_to_tokens", "ids", ids, 0), "")
        check_type("ids_to_tokens", "ids", ids, (int, list))
        return [self._tokens.get(check_int("ids_to_tokens", "ids", n, 0), "") for n in ids]


def _frequencies(op: str, freq_range: Any) -> tuple[float, float]:
    if freq_range is None:
        return 0, float("inf")
    check_type(op, "freq_range", freq_range, tuple)
    if len(freq_range) != 2:
        raise ValueError(f"For '{op}', freq_range must be (least, most), but got {freq_range!r}.")
    low = 0 if freq_range[0] is None else check_int(op, "freq_range", freq_range[0], 0)
    high = float("inf") if freq_range[1] is None else check_int(op, "freq_range", freq_range[1], 0)
    if low > high:
        raise ValueError(f"For '{op}', freq_range must be (least, most), but got {freq_range!r}.")
    return low, high


class Vectors:
    """Words with their vectors, from a file of lines: a word and its numbers."""

    def __init__(self) -> None:
        self._vectors: dict[str, np.ndarray] = {}
        self.dim = 0

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Vectors:
        """The vectors of a file, at most `max_vectors`; a line of two counts before them is skipped."""
        op = f"{cls.__name__}.from_file"
        if max_vectors is not None:
            check_int(op, "max_vectors", max_vectors, 0)
        made = cls()
        cls._check_name(op, file_path)
        for number, line in enumerate(_lines(op, file_path)):
            if max_vectors is not None and len(made._vectors) >= max_vectors > 0:
                break
            words = line.rstrip().split(" ")
            if number == 0 and len(words) == 2 and all(word.isdigit() for word in words):
                continue
            made._add(op, number, words)
        if not made._vectors:
            raise ValueError(f"For '{op}', the file must hold vectors, but '{file_path}' has none.")
        return made

    @classmethod
    def _check_name(cls, op: str, file_path: Any) -> None:
        """Files of any name."""

    def _add(self, op: str, number: int, words: list[str]) -> None:
        try:
            vector = np.array([float(word) for word in words[1:]], np.float32)
        except ValueError as error:
            raise ValueError(f"For '{op}', line {number + 1}: {error}.") from None
        if len(vector) < 2 or (self.dim and len(vector) != self.dim):
            raise ValueError(
                f"For '{op}', line {number + 1} must have {self.dim or 'at least 2'} numbers, but "
                f"got {len(vector)}."
            )
        self.dim = len(vector)
        self._vectors.setdefault(words[0], vector)

    def lookup(self, token: str, start: np.ndarray, lower_case_backup: bool) -> np.ndarray:
        """The vector of a word, of its lower case if asked for, or `start`."""
        found = self._vectors.get(token)
        if found is None and lower_case_backup:
            found = self._vectors.get(token.lower())
        return start if found is None else found


class GloVe(Vectors):
    """Vectors of GloVe, in files named glove.*.txt."""

    @classmethod
    def _check_name(cls, op: str, file_path: Any) -> None:
        _need_name(op, file_path, "glove.", ".txt")


class FastText(Vectors):
    """Vectors of fastText, in files named *.vec."""

    @classmethod
    def _check_name(cls, op: str, file_path: Any) -> None:
        _need_name(op, file_path, "", ".vec")


class CharNGram(Vectors):
    """Vectors of parts of words: a word's is the mean of those of its parts of 2 to 4 letters."""

    def lookup(self, token: str, start: np.ndarray, lower_case_backup: bool) -> np.ndarray:
        """The mean of the vectors of the word's parts that there are, or `start`."""
        if lower_case_backup:
            token = token.lower()
        letters = ["#BEGIN#", *token, "#END#"]
        parts = (
            f"{size}gram-" + "".join(letters[at : at + size])
            for size in (2, 3, 4)
            for at in range(len(letters) - size + 1)
        )
        found = [self._vectors[part] for part in dict.fromkeys(parts) if part in self._vectors]
        return np.asarray(np.mean(found, axis=0, dtype=np.float32)) if found else start


def _need_name(op: str, file_path: Any, begins: str, ends: str) -> None:
    check_type(op, "file_path", file_path, str)
    name = Path(file_path).name
    if Path(file_path).is_file() and not (name.startswith(begins) and name.endswith(ends)):
        raise ValueError(f"For '{op}', the file must be named {begins}*{ends}, but got '{name}'.")
