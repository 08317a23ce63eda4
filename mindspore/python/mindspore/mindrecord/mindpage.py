"""Reading MindRecord files by pages of the rows of one category."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.mindrecord.common.checks import check_files, check_int
from mindspore.mindrecord.common.exceptions import (
    MRMDefineCategoryError,
    MRMReadCategoryInfoError,
    ParamTypeError,
    ParamValueError,
)

_INT32_MAX = 2147483647


class MindPage:
    """Groups the rows by an index field (`category_field`) and reads each group in pages."""

    def __init__(self, file_name: str | list[str], num_consumer: int = 4) -> None:
        paths = check_files("MindPage", "file_name", file_name)
        check_int("MindPage", "num_consumer", num_consumer, 1, _INT32_MAX)
        self._reader = _core.mindrecord.Reader(paths, not isinstance(file_name, (list, tuple)))
        self._fields = sorted(enumerate(self._reader.fields), key=lambda item: item[1][3])
        self._category: str | None = None
        self._names: list[str] = []  # of the categories, in order
        self._members: list[np.ndarray] = []  # their rows

    @property
    def candidate_fields(self) -> list[str]:
        """The fields that can be the category field."""
        return list(self._reader.index_fields)

    @property
    def category_field(self) -> str | None:
        """The field that the rows are grouped by."""
        return self._category

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if not isinstance(category_field, str):
            raise ParamTypeError(
                f"For 'category_field', the name must be a str, but got {type(category_field).__name__}."
            )
        if category_field not in self.candidate_fields:
            raise MRMDefineCategoryError(
                f"For 'category_field', the name must be among {self.candidate_fields}, but got "
                f"{category_field!r}."
            )
        [place] = [place for place, field in self._fields if field[0] == category_field]
        values = [row[0] for row in self._reader.read(np.arange(self._reader.rows), [place])]
        self._members = []
        self._names = []
        groups: dict[Any, list[int]] = {}
        for number, value in enumerate(values):
            groups.setdefault(value, []).append(number)
        for value in sorted(groups):
            self._names.append(str(value))
            self._members.append(np.asarray(groups[value], np.int64))
        self._category = category_field

    def read_category_info(self) -> str:
        """The categories with their numbers and how many rows each has, as JSON."""
        self._chosen()
        categories = [
            {"count": len(rows), "id": number, "name": name}
            for number, (name, rows) in enumerate(zip(self._names, self._members))
        ]
        info = {"categories": categories, "key": f"{self._category}_0"}
        return json.dumps(info, separators=(",", ":"), ensure_ascii=False)

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """Page number `page`, of `num_row` rows each, of the category with a number."""
        self._chosen()
        check_int("read_at_page_by_id", "category_id", category_id, 0, len(self._names) - 1)
        return self._page("read_at_page_by_id", category_id, page, num_row)

    def read_at_page_by_name(
        self, category_name: str, page: int, num_row: int
    ) -> list[dict[str, Any]]:
        """Page number `page`, of `num_row` rows each, of the category with a name."""
        self._chosen()
        if not isinstance(category_name, str):
            raise ParamTypeError(
                "For 'read_at_page_by_name', category_name must be a str, but got "
                f"{type(category_name).__name__}."
            )
        if category_name not in self._names:
            raise ParamValueError(
                f"For 'read_at_page_by_name', category_name must be one of the {len(self._names)} "
                f"categories of '{self._category}', but got {category_name!r}."
            )
        number = self._names.index(category_name)
        return self._page("read_at_page_by_name", number, page, num_row)

    def _chosen(self) -> None:
        if self._category is None:
            raise MRMReadCategoryInfoError(
                f"For 'MindPage', category_field must be set, to one of {self.candidate_fields}."
            )

    def _page(self, op: str, category: int, page: int, num_row: int) -> list[dict[str, Any]]:
        check_int(op, "page", page, 0, _INT32_MAX)
        check_int(op, "num_row", num_row, 1, _INT32_MAX)
        rows = self._members[category][page * num_row : (page + 1) * num_row]
        if not len(rows):
            raise ParamValueError(
                f"For '{op}', page must be below {-(-len(self._members[category]) // num_row)}, but got {page}."
            )
        read = self._reader.read(rows, [place for place, _ in self._fields])
        return [dict(zip([field[0] for _, field in self._fields], row)) for row in read]
