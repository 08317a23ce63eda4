"""What checkpoint files hold: tensors and texts by name, and the names of their types."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor

# A text is its characters in UTF-32.
Entry = tuple[str, "Tensor | bytes"]

_TYPES = {
    "Bool": mstype.bool_, "Int8": mstype.int8, "Int16": mstype.int16, "Int32": mstype.int32,
    "Int64": mstype.int64, "UInt8": mstype.uint8, "UInt16": mstype.uint16,
    "UInt32": mstype.uint32, "UInt64": mstype.uint64, "Float16": mstype.float16,
    "BFloat16": mstype.bfloat16, "Float32": mstype.float32, "Float64": mstype.float64,
    "Complex64": mstype.complex64, "Complex128": mstype.complex128,
}  # fmt: skip

# Names that programs written for 1.x import.
tensor_to_ms_type = dict(_TYPES)


class _NumpyTypes(dict):
    """The types of NumPy by their names in a file: a table in 1.x, a function in 2.x."""

    def __call__(self, tensor_type_str: str) -> type | None:
        return self.get(tensor_type_str)


tensor_to_np_type = _NumpyTypes(
    {name: np.dtype(name.lower()).type for name in _TYPES if name not in ("BFloat16",)}
)


def text_entry(name: str, text: str) -> Entry:
    """What the writers take for a text."""
    check_text(text, f"the value of {name!r}")
    return name, text.encode("utf-32-le")


def check_text(text: str, what: str) -> None:
    """Raise ValueError for a str that is no text, as files hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"For 'save_checkpoint', {what} must be text that UTF-8 can hold, but got {text!r}."
        ) from None


def loaded(entry: Entry, path: str) -> Parameter | str:
    """What a reader gave, as load_checkpoint returns it: a Parameter in the memory that was read."""
    name, value = entry
    if isinstance(value, Tensor):
        return Parameter._holding(value, name)
    try:
        return value.decode("utf-32-le")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"The checkpoint '{path}' is damaged: the text '{name}' is not valid ({error})."
        ) from None


def number(value: Any) -> Tensor | None:
    """The tensor that is saved for a number; None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return Tensor(np.array(value))
    if isinstance(value, (int, np.integer)):
        return Tensor(np.array(value, np.int64))
    if isinstance(value, (float, np.floating)):
        return Tensor(np.array(value, np.float32))
    return None
