"""Schema: names, types and shapes of columns, as a file of JSON has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _paths
from mindspore.common import dtype as mstype
from mindspore.dataset.core.validator_helpers import check_int, check_type

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "string",
)  # fmt: skip


def _type_name(given: Any) -> str:
    if isinstance(given, str):
        name = given.lower()
    elif given == mstype.string:
        name = "string"
    else:
        try:
            name = str(np.dtype(mstype.dtype_to_nptype(given)))
        except (KeyError, TypeError, ValueError):
            name = ""
    if name not in _NAMES:
        raise TypeError(f"For 'Schema', de_type must be one of {list(_NAMES)}, but got {given!r}.")
    return name


class Schema:
    """Columns with their types and shapes: those of a JSON file, and those that are added."""

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: list[dict[str, Any]] = []
        self.dataset_type = ""
        self.num_rows = 0
        if schema_file is not None:
            path = _paths.checked("Schema", "schema_file", schema_file)
            with open(path, encoding="utf-8") as stream:
                try:
                    content = json.load(stream)
                except ValueError as error:
                    raise ValueError(
                        f"For 'Schema', the file '{path}' must be JSON, but got {error}."
                    ) from None
            self.from_json(content)

    def add_column(self, name: str, de_type: Any, shape: Sequence[int] | None = None) -> None:
        """Add a column. -1 stands for an extent that may differ; without a shape it is one axis."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"For 'Schema', name must be a non-empty str, but got {name!r}.")
        column: dict[str, Any] = {"name": name, "type": _type_name(de_type)}
        if any(known["name"] == name for known in self.columns):
            raise ValueError(f"For 'Schema', name must be new, but '{name}' is there already.")
        if shape is None:
            column["rank"] = 1
        else:
            check_type("Schema", "shape", shape, (list, tuple))
            for extent in shape:
                check_int("Schema", "shape", extent, -1)
            column["rank"] = len(shape)
            column["shape"] = list(shape)
        self.columns.append(column)

    def parse_columns(self, columns: Any) -> None:
        """Add columns: a list of dicts with "name", "type" and "shape", or a dict of such by their names."""
        if isinstance(columns, dict):
            if not columns:
                raise RuntimeError("For 'Schema', columns must not be empty.")
            columns = [{"name": name, **given} for name, given in columns.items()]
        check_type("Schema", "columns", columns, (list, dict))
        for given in columns:
            check_type("Schema", "columns", given, dict)
            for needed in ("name", "type"):
                if needed not in given:
                    raise RuntimeError(
                        f"For 'Schema', a column must have '{needed}', but got {given}."
                    )
            unknown = set(given) - {"name", "type", "shape", "rank", "t_impl"}
            if unknown:
                raise RuntimeError(f"For 'Schema', a column must not have {sorted(unknown)}.")
            self.add_column(given["name"], given["type"], given.get("shape"))

    def from_json(self, json_obj: Any) -> None:
        """Read what to_json() writes, as Python objects."""
        check_type("Schema", "json_obj", json_obj, dict)
        if "columns" not in json_obj:
            raise RuntimeError("For 'Schema', the JSON must have 'columns', but has none.")
        self.dataset_type = json_obj.get("datasetType", "")
        self.num_rows = check_int("Schema", "numRows", json_obj.get("numRows", 0), 0, 2**63 - 1)
        self.columns = []
        self.parse_columns(json_obj["columns"])

    def to_json(self) -> str:
        """The schema as a text of JSON."""
        content: dict[str, Any] = {"columns": self.columns}
        if self.dataset_type:
            content["datasetType"] = self.dataset_type
        if self.num_rows:
            content["numRows"] = self.num_rows
        return json.dumps(content, indent=2, sort_keys=True)

    def get_num_rows(self) -> int:
        """Rows that the schema promises; 0: it says none."""
        return self.num_rows

    def __str__(self) -> str:
        return self.to_json()


def schema_of(op: str, given: Any) -> Schema | None:
    """What a dataset's argument says: a Schema, the path of its file, or nothing."""
    if given is None or isinstance(given, Schema):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"For '{op}', schema must be a Schema or a path, but got {type(given).__name__}."
        )
    return Schema(given)
