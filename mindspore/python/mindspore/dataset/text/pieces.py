"""Models of SentencePiece: trained, kept and used by its own library, an optional package."""

from __future__ import annotations

import io
import os
from enum import IntEnum
from pathlib import Path
from typing import Any

from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.text.vocabulary import column_texts


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


def library(op: str) -> Any:
    """The package that knows the models."""
    try:
        import sentencepiece  # type: ignore[import-not-found,import-untyped]
    except ImportError as error:
        raise ImportError(
            f"For '{op}', SentencePiece must be installed (pip install sentencepiece), but importing it gave: {error}."
        ) from None
    return sentencepiece


class SentencePieceVocab:
    """A model of SentencePiece; `from_dataset` and `from_file` train it."""

    def __init__(self) -> None:
        self.model: bytes = b""

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: Any,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        """A model trained on the texts of columns; none named: of all."""
        op = "SentencePieceVocab.from_dataset"
        check_type(op, "col_names", col_names, (str, list, type(None)))
        names = [col_names] if isinstance(col_names, str) else list(col_names or ())
        texts = column_texts(op, "col_names", dataset, names or dataset.get_col_names())
        return cls._trained(
            op, {"sentence_iterator": texts}, vocab_size, character_coverage, model_type, params
        )

    @classmethod
    def from_file(
        cls,
        file_path: Any,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        """A model trained on the lines of files."""
        op = "SentencePieceVocab.from_file"
        check_type(op, "file_path", file_path, list)
        for path in file_path:
            check_type(op, "a path", path, str)
            if not Path(path).is_file():
                raise ValueError(f"For '{op}', file_path must name files, but got '{path}'.")
        return cls._trained(
            op, {"input": file_path}, vocab_size, character_coverage, model_type, params
        )

    @classmethod
    def _trained(
        cls, op: str, source: dict[str, Any], size: Any, coverage: Any, kind: Any, params: Any
    ) -> SentencePieceVocab:
        check_int(op, "vocab_size", size, 0)
        check_type(op, "character_coverage", coverage, (int, float))
        if not 0 <= coverage <= 1:
            raise ValueError(
                f"For '{op}', character_coverage must be in [0, 1], but got {coverage}."
            )
        check_type(op, "model_type", kind, SentencePieceModel)
        check_type(op, "params", params, dict)
        model = io.BytesIO()
        try:
            library(op).SentencePieceTrainer.train(
                **source,
                model_writer=model,
                vocab_size=size,
                character_coverage=coverage,
                model_type=kind.name.lower(),
                minloglevel=2,
                **params,
            )
        except (RuntimeError, OSError) as error:
            raise RuntimeError(f"For '{op}', the model cannot be trained: {error}") from None
        made = cls()
        made.model = model.getvalue()
        return made

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """The model as a file of that name in a folder."""
        op = "SentencePieceVocab.save_model"
        check_type(op, "vocab", vocab, SentencePieceVocab)
        check_type(op, "path", path, str)
        check_type(op, "filename", filename, str)
        if not Path(path).is_dir():
            raise RuntimeError(f"For '{op}', path must be a folder, but got '{path}'.")
        with open(os.path.join(path, filename), "wb") as file:
            file.write(vocab.model)
