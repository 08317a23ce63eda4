"""What the converters share: rows from somewhere, written in batches."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from mindspore.mindrecord.filewriter import FileWriter

_ROWS_AT_ONCE = 1000
_JPEG_QUALITY = 95

Schema = dict[str, dict[str, Any]]


class Converter:
    """Base of the converters: `transform` does all of the work."""

    def transform(self) -> None:
        """Write the MindRecord files."""
        self.run()

    def run(self) -> None:
        """Write the MindRecord files; the older name of `transform`."""
        raise NotImplementedError(f"For '{type(self).__name__}', there must be a run.")


def write_rows(
    path: str,
    schema: Schema,
    description: str,
    index: list[str],
    rows: Iterable[dict[str, Any]],
    partitions: int = 1,
) -> None:
    """New files with these rows, each batch of which is shared among the partitions."""
    writer = FileWriter(path, partitions)
    writer.add_schema(schema, description)
    if index:
        writer.add_index(index)
    remaining = iter(rows)
    while batch := list(islice(remaining, _ROWS_AT_ONCE)):
        writer.write_raw_data(batch)
    writer.commit()


def jpeg(image: np.ndarray) -> bytes:
    """A picture of bytes, H×W or H×W×3, as a JPEG file."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "To make JPEG files, Pillow must be installed: pip install pillow."
        ) from None
    out = io.BytesIO()
    Image.fromarray(image).save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()
