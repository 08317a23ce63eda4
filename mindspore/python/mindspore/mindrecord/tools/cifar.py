"""The Python version of CIFAR: pickled dicts of arrays, read without running what else a pickle could say."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindspore.mindrecord.common.checks import check_files
from mindspore.mindrecord.tools.converter import jpeg

# What a pickled array is made with.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
_PIXELS = 3 * 32 * 32


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module, name)


def rows(op: str, path: str, labels: dict[str, bytes], first: int) -> Iterator[dict[str, Any]]:
    """The rows of a batch file, numbered from `first`; `labels` maps fields to the file's keys."""
    [checked] = check_files(op, "source", path)
    try:
        with open(checked, "rb") as stream:
            batch = _ArrayUnpickler(stream, encoding="bytes").load()
        data = batch[b"data"]
        columns = {field: batch[key] for field, key in labels.items()}
    except Exception as error:
        raise ValueError(
            f"For '{op}', '{path}' must be a batch of CIFAR's Python version, but it is damaged or no such file: {error}."
        ) from None
    _check(op, path, data, columns.values())
    for number, image in enumerate(data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)):
        row = {field: int(values[number]) for field, values in columns.items()}
        yield {"id": first + number, **row, "data": jpeg(np.ascontiguousarray(image))}


def _check(op: str, path: str, data: Any, columns: Any) -> None:
    fits = isinstance(data, np.ndarray) and data.dtype == np.uint8 and data.shape[1:] == (_PIXELS,)
    whole = fits and all(isinstance(v, Sequence) and len(v) == len(data) for v in columns)
    if not whole:
        raise ValueError(
            f"For '{op}', '{path}' must have uint8 pictures of {_PIXELS} bytes and as many labels."
        )
