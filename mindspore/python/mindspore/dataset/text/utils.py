"""Names for the choices that text operations offer, vocabularies, and text as bytes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.text.vocabulary import CharNGram, FastText, GloVe, Vectors, Vocab


class JiebaMode(IntEnum):
    """How JiebaTokenizer finds words: by the dictionary, by a hidden Markov model, or both."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """The normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """Kinds of models of SentencePiece."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerOutType(IntEnum):
    """What SentencePieceTokenizer gives: pieces, or their numbers."""

    STRING = 0
    INT = 1


class SPieceTokenizerLoadType(IntEnum):
    """Where SentencePieceTokenizer has its model from."""

    FILE = 0
    MODEL = 1


class SentencePieceVocab:
    """A model of SentencePiece; it is made by `from_file`."""

    def __init__(self) -> None:
        self.model: bytes = b""

    @classmethod
    def from_file(cls, file_path: Any, *args: Any, **kwargs: Any) -> SentencePieceVocab:
        """A model trained on files of text: not done here, since the library trains by itself."""
        raise RuntimeError(
            "For 'SentencePieceVocab', a model must be trained by the sentencepiece library itself; "
            "SentencePieceTokenizer takes the path of its file."
        )

    from_dataset = from_file
    save_model = from_file


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of bytes as text."""
    return _recoded("to_str", array, "S", encoding, np.char.decode)


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of text as bytes."""
    return _recoded("to_bytes", array, "U", encoding, np.char.encode)


def _recoded(op: str, array: Any, kind: str, encoding: Any, recode: Any) -> np.ndarray:
    check_type(op, "array", array, np.ndarray)
    check_type(op, "encoding", encoding, str)
    if array.dtype.kind == {"S": "U", "U": "S"}[kind]:
        return array
    if array.dtype.kind != kind:
        wanted = "bytes" if kind == "S" else "text"
        raise TypeError(f"For '{op}', array must hold {wanted}, but got {array.dtype}.")
    try:
        return np.asarray(recode(array, encoding))
    except (UnicodeError, LookupError) as error:
        raise ValueError(f"For '{op}', array must be text in {encoding}, but {error}.") from None


__all__ = [
    "CharNGram",
    "FastText",
    "GloVe",
    "JiebaMode",
    "NormalizeForm",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
    "SentencePieceVocab",
    "Vectors",
    "Vocab",
    "to_bytes",
    "to_str",
]
