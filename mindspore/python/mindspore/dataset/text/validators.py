"""Decorators that earlier releases put on methods of vocabularies. These methods check their arguments by themselves: a
method stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _as_it_is(method: Callable[..., Any]) -> Callable[..., Any]:
    return method


check_from_dataset = check_from_dataset_sentencepiece = check_from_dict = check_from_file = (
    _as_it_is
)
check_from_file_sentencepiece = check_from_file_vectors = check_from_list = _as_it_is
check_ids_to_tokens = check_save_model = check_tokens_to_ids = check_vocab = _as_it_is
