"""Internal names of `mindspore.train.serialization`."""

from __future__ import annotations

import os
from typing import Any

from mindspore._checkparam import Validator  # type: ignore[import-not-found]
from mindspore.common._refused import refusing

_save_graph = refusing(
    "_save_graph",
    "graphs are not saved to files by this build; set_context(save_graphs=True) dumps their text",
)


def _check_checkpoint_param(ckpt_file_name: Any, filter_prefix: Any = None) -> Any:
    """The path of a checkpoint that is there, and the prefixes as a tuple."""
    if not isinstance(ckpt_file_name, str):
        raise TypeError(
            f"For 'load_checkpoint', 'ckpt_file_name' must be a str, but got {type(ckpt_file_name).__name__}."
        )
    if not ckpt_file_name.endswith(".ckpt"):
        raise ValueError(
            f"For 'load_checkpoint', 'ckpt_file_name' must end with '.ckpt', but got {ckpt_file_name!r}."
        )
    if not os.path.isfile(ckpt_file_name):
        raise ValueError(
            f"For 'load_checkpoint', 'ckpt_file_name' must be a file, but there is no {ckpt_file_name!r}."
        )
    prefixes = (filter_prefix,) if isinstance(filter_prefix, str) else filter_prefix
    return ckpt_file_name, None if prefixes is None else tuple(prefixes)


__all__ = ["Validator"]
