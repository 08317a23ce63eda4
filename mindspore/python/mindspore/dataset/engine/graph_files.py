"""Graphs from MindRecord files, as converters of graphs write them, and from arrays.

In a file every row is a node or an edge: `attribute` says which ('n', 'e'), `first_id` is its id, `second_id` and `third_id` are the nodes
from which and to which an edge goes, `type` is its type, `weight`, if there is one, what it weighs. `node_feature_index` and `edge_feature_index` list
the features that a row has, whose values are in `node_feature_1`, `edge_feature_1` and so on; other rows have a single 0 there.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.engine.graph_store import (
    Feature,
    GraphStore,
    Items,
    checked_weights,
    joined,
)

_ROWS_AT_ONCE = 8192
_NUMBERS = ("first_id", "second_id", "third_id", "type")
_LISTS = ("node_feature_index", "edge_feature_index")
_FEATURE = re.compile(r"(node|edge)_feature_([0-9]+)")


class _Features:
    """The values of one feature as they come."""

    def __init__(self, name: str, said: str) -> None:
        self.name, self.said = name, said
        self.owners: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.size: int | None = None

    def add(self, owners: np.ndarray, values: list[np.ndarray]) -> None:
        """Values of nodes or edges, all of one size."""
        for owner, value in zip(owners, values, strict=True):
            if self.size is None:
                self.size = value.size
            if value.size != self.size:
                raise ValueError(
                    f"{self.said}, the values of '{self.name}' must be {self.size} as in the first row that has them, "
                    f"but got {value.size} (id {owner})."
                )
        self.owners.append(owners)
        self.values.append(np.stack([value.reshape(-1) for value in values]))

    def done(self, items: Items) -> Feature | None:
        """The feature, if anything has it."""
        if not self.owners:
            return None
        numbers = items.numbers("", np.concatenate(self.owners))
        return Feature(len(items), numbers, np.concatenate(self.values))


class _Reading:
    """What of a file is read so far."""

    def __init__(self, path: str, said: str) -> None:
        self.said = f"{said}, the file '{path}' must hold a graph"
        self.reader = _core.mindrecord.Reader([path], True)
        fields = {field[0]: (place, *field[1:]) for place, field in enumerate(self.reader.fields)}
        for name in (*_NUMBERS, "attribute", *_LISTS):
            if name not in fields:
                raise ValueError(f"{self.said}, with a field '{name}', but got {sorted(fields)}.")
            self._check(
                name,
                fields[name],
                ("string",) if name == "attribute" else ("int32", "int64"),
                name in _LISTS,
            )
        self.names = [*_NUMBERS, "attribute", *_LISTS]
        if "weight" in fields:
            self._check("weight", fields["weight"], ("float32", "float64", "int32", "int64"), False)
            self.names.append("weight")
        self.features: dict[str, _Features] = {}
        for name in fields:
            if _FEATURE.fullmatch(name):
                self._check(
                    name, fields[name], ("int32", "int64", "float32", "float64"), list_=True
                )
                self.features[name] = _Features(name, self.said)
        self.names += self.features
        self.places = [fields[name][0] for name in self.names]
        self.parts: list[dict[str, np.ndarray]] = []

    def _check(self, name: str, field: Any, types: tuple[str, ...], list_: bool) -> None:
        _, kind, shape, _ = field
        if kind not in types or (shape is not None) != list_:
            wanted = f"{'an array of ' if list_ else ''}{' or '.join(types)}"
            got = f"{'an array of ' if shape is not None else ''}{kind}"
            raise ValueError(f"{self.said}, whose field '{name}' is {wanted}, but got {got}.")

    def read(self) -> None:
        """All rows."""
        for start in range(0, self.reader.rows, _ROWS_AT_ONCE):
            rows = np.arange(start, min(start + _ROWS_AT_ONCE, self.reader.rows))
            columns = dict(zip(self.names, zip(*self.reader.read(rows, self.places))))
            edge = self._are_edges(columns["attribute"], start)
            part = {name: np.array(columns[name], np.int64) for name in _NUMBERS}
            if "weight" in columns:
                part["weight"] = np.array(columns["weight"], np.float64)
            part["edge"] = edge
            self.parts.append(part)
            for kind, chosen in (("node", ~edge), ("edge", edge)):
                self._take(kind, np.flatnonzero(chosen), columns, part["first_id"])

    def _are_edges(self, attributes: tuple[str, ...], start: int) -> np.ndarray:
        for row, attribute in enumerate(attributes):
            if attribute not in ("n", "e"):
                raise ValueError(
                    f"{self.said}, whose attribute is 'n' or 'e', but got {attribute!r} (row {start + row})."
                )
        return np.array([attribute == "e" for attribute in attributes])

    def _take(self, kind: str, rows: np.ndarray, columns: dict[str, Any], ids: np.ndarray) -> None:
        """The features that these rows have."""
        indices = columns[f"{kind}_feature_index"]
        having: dict[int, list[int]] = {}
        for row in rows:
            for number in np.asarray(indices[row]).tolist():
                having.setdefault(number, []).append(row)
        having.pop(-1, None)  # has none
        for number, with_it in having.items():
            name = f"{kind}_feature_{number}"
            if name not in self.features:
                raise ValueError(
                    f"{self.said}, with a field for each feature that it lists, but got none named '{name}'."
                )
            column = columns[name]
            values = [np.asarray(column[row]) for row in with_it]
            self.features[name].add(ids[np.array(with_it)], values)

    def done(self) -> GraphStore:
        """The graph."""
        every = {
            name: np.concatenate([part[name] for part in self.parts])
            if self.parts
            else np.zeros(0, np.int64)
            for name in (self.parts[0] if self.parts else (*_NUMBERS, "edge"))
        }
        edge = every["edge"].astype(bool)
        nodes = Items("node", every["first_id"][~edge], every["type"][~edge], self.said)
        edges = Items("edge", every["first_id"][edge], every["type"][edge], self.said)
        ends = joined(nodes, edges, every["second_id"][edge], every["third_id"][edge], self.said)
        weights = None
        if "weight" in every:
            weights = checked_weights(every["weight"][edge], self.said)
        for name, feature in self.features.items():
            kind, number = _FEATURE.fullmatch(name).groups()  # type: ignore[union-attr]
            items = nodes if kind == "node" else edges
            done = feature.done(items)
            if done is not None:
                items.features[int(number)] = done
        for items in (nodes, edges):
            items.features = dict(sorted(items.features.items()))
        return GraphStore(nodes, edges, ends, weights)


def graph_of_file(op: str, path: str) -> GraphStore:
    """The graph of a file and of its other shards."""
    reading = _Reading(path, f"For '{op}'")
    reading.read()
    return reading.done()


def graph_of_arrays(
    op: str,
    ends: np.ndarray,
    node_types: list[str] | None,
    edge_types: list[str] | None,
    node_features: dict[str, np.ndarray],
    edge_features: dict[str, np.ndarray],
    graph_features: dict[str, np.ndarray],
) -> GraphStore:
    """The graph whose nodes are numbered from 0, as many as the edges, (2, edges), name or as have types or features."""
    said = f"For '{op}'"
    count, edge_count = int(ends.max()) + 1, ends.shape[1]
    if node_types is not None:
        count = max(count, len(node_types))
    kinds = {"node": node_types, "edge": edge_types}
    made = {}
    for what, features, size in (
        ("node", node_features, count),
        ("edge", edge_features, edge_count),
    ):
        types = kinds[what] if kinds[what] is not None else ["0"] * size
        if len(types) != size:  # type: ignore[arg-type]
            raise ValueError(
                f"{said}, {what}_type must name the type of each of {size} {what}s, but got {len(types)}."  # type: ignore[arg-type]
            )
        made[what] = Items(what, np.arange(size), types, said)  # type: ignore[arg-type]
        for name, values in features.items():
            if values.ndim != 2 or len(values) != size:
                raise ValueError(
                    f"{said}, {what}_feat['{name}'] must have the shape ({size}, values of each {what}), "
                    f"but got {values.shape}."
                )
            made[what].features[name] = Feature(size, np.arange(size), values)
    weights = edge_features.get("weight")
    if weights is not None:
        if weights.shape[1] != 1 or weights.dtype.kind not in "iuf":
            weights = None  # not what an edge weighs
        else:
            weights = checked_weights(weights[:, 0], said)
    joints = joined(made["node"], made["edge"], ends[0], ends[1], said)
    return GraphStore(made["node"], made["edge"], joints, weights, graph_features)
