"""Names for the choices that text operations offer, vocabularies, and text as bytes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.text.pieces import (
    SentencePieceModel,
    SentencePieceVocab,
    SPieceTokenizerLoadType,
    SPieceTokenizerOutType,
)
from mindspore.dataset.text.validators import (  # noqa: F401
    check_from_dataset,
    check_from_dataset_sentencepiece,
    check_from_dict,
    check_from_file,
    check_from_file_sentencepiece,
    check_from_file_vectors,
    check_from_list,
    check_ids_to_tokens,
    check_save_model,
    check_tokens_to_ids,
    check_vocab,
)
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
