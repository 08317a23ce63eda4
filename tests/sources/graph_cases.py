"""Graphs, written as converters write them, and what is asked of them. Imports neither package: they are given by who asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

NODE_FEATURES = [("int32", [-1]), ("float32", [-1]), ("int64", [-1])]
EDGE_FEATURES = [("int32", [-1]), ("float64", [-1])]
# id, type, features by their numbers
NODES: list[tuple[int, int, dict[int, Any]]] = [
    (101, 1, {1: [0, 1, 0], 2: [0.5], 3: [7]}),
    (104, 1, {}),
    (102, 1, {1: [1, 1, 0], 2: [1.5], 3: [8]}),
    (103, 1, {1: [2, 1, 0], 3: [9]}),
    (201, 2, {1: [4, 5, 6], 2: [2.5]}),
    (203, 2, {1: [7, 8, 9], 2: [3.5]}),
    (202, 2, {1: [1, 0, 1], 2: [4.5]}),
    (-5, 3, {}),
]
# id, type, from, to, weight, features
EDGES: list[tuple[int, int, int, int, float, dict[int, Any]]] = [
    (1, 0, 101, 202, 1.0, {1: [1], 2: [0.1, 0.2]}),
    (10, 0, 101, 201, 2.0, {1: [2], 2: [0.3, 0.4]}),
    (3, 0, 102, 201, 3.0, {1: [3], 2: [0.5, 0.6]}),
    (4, 0, 201, 101, 4.0, {1: [4]}),
    (5, 0, 201, 103, 0.0, {}),
    (6, 1, 202, 104, 1.0, {1: [5], 2: [0.7, 0.8]}),
    (7, 1, 101, 102, 1.0, {1: [6], 2: [0.9, 1.0]}),
    (8, 0, 203, 101, 1.0, {1: [7], 2: [1.0, 2.0]}),
    (9, 0, 103, 203, 5.0, {1: [8], 2: [3.0, 4.0]}),
    (2, 0, 101, 202, 9.0, {1: [1], 2: [0.1, 0.2]}),
]


def schema(weights: bool) -> dict[str, Any]:
    """The fields of a graph."""
    fields: dict[str, Any] = {
        name: {"type": "int64"} for name in ("first_id", "second_id", "third_id")
    }
    fields |= {"type": {"type": "int32"}, "attribute": {"type": "string"}}
    if weights:
        fields["weight"] = {"type": "float32"}
    for what, features in (("node", NODE_FEATURES), ("edge", EDGE_FEATURES)):
        fields[f"{what}_feature_index"] = {"type": "int32", "shape": [-1]}
        for number, (kind, shape) in enumerate(features, 1):
            fields[f"{what}_feature_{number}"] = {"type": kind, "shape": shape}
    return fields


def _values(
    what: str, features: list[tuple[str, list[int]]], given: dict[int, Any]
) -> dict[str, Any]:
    row: dict[str, Any] = {f"{what}_feature_index": np.array(list(given) or [-1], np.int32)}
    for number, (kind, _) in enumerate(features, 1):
        row[f"{what}_feature_{number}"] = np.array(given.get(number, [0]), kind)
    return row


def node_row(node: tuple[int, int, dict[int, Any]]) -> dict[str, Any]:
    """A node as a row of the file."""
    number, kind, features = node
    row = {
        "first_id": number,
        "second_id": 0,
        "third_id": 0,
        "type": kind,
        "attribute": "n",
        "weight": 0.0,
    }
    return row | _values("node", NODE_FEATURES, features) | _values("edge", EDGE_FEATURES, {})


def edge_row(edge: tuple[int, int, int, int, float, dict[int, Any]]) -> dict[str, Any]:
    """An edge as a row of the file."""
    number, kind, source, target, weight, features = edge
    row = {
        "first_id": number,
        "second_id": source,
        "third_id": target,
        "type": kind,
        "attribute": "e",
        "weight": weight,
    }
    return row | _values("node", NODE_FEATURES, {}) | _values("edge", EDGE_FEATURES, features)


def write(
    writer: Any, rows: list[dict[str, Any]], weights: bool = True, fields: Any = None
) -> None:
    """Rows of a graph through a FileWriter."""
    fields = fields or schema(weights)
    writer.add_schema(fields, "graph")
    writer.write_raw_data([{name: row[name] for name in fields} for row in rows])
    writer.commit()


def graph_rows() -> list[dict[str, Any]]:
    """The graph of this file."""
    return [node_row(node) for node in NODES] + [edge_row(edge) for edge in EDGES]


ENDS = [[0, 0, 1, 2, 3], [1, 2, 0, 3, 0]]


def arrays_graph(ds: Any) -> Any:
    """A graph of arrays with features and types."""
    return ds.Graph(
        np.array(ENDS, np.int32),
        {"x": np.arange(8, dtype=np.float32).reshape(4, 2), "y": np.arange(4).reshape(4, 1)},
        {"w": np.arange(5, dtype=np.int32).reshape(5, 1)},
        {"all": np.array([[1.0, 2.0]])},
        node_type=["a", "b", "a", "b"],
    )


# What is asked of a graph `g` whose answer no draw changes; `i` makes an array of int32.
OF_FILE = [
    "g.graph_info()",
    *(f"g.get_all_nodes({kind})" for kind in (0, 1, 2, 3)),
    *(f"g.get_all_edges({kind})" for kind in (0, 1, 2)),
    "g.get_nodes_from_edges([1, 10, 2])", "g.get_nodes_from_edges(i([5]))", "g.get_nodes_from_edges([1, 99])",
    "g.get_nodes_from_edges([])", "g.get_nodes_from_edges(['a'])", "g.get_nodes_from_edges(1)",
    "g.get_edges_from_nodes([(101, 202), (201, 103), (101, 203)])", "g.get_edges_from_nodes([(102, 201)])",
    "g.get_edges_from_nodes(i([[101, 201], [9, 101]]))", "g.get_edges_from_nodes([(101,)])",
    *(f"g.get_all_neighbors([101, 102, 201, 203, -5], {kind}, F.{form})" for kind in (1, 2) for form in ("NORMAL", "COO", "CSR")),
    "g.get_all_neighbors([-5, 101], 3)", "g.get_all_neighbors([-5, 101], 3, F.CSR)", "g.get_all_neighbors([101, 101], 2)",
    "g.get_all_neighbors(i([102]), 2, F.COO)", "g.get_all_neighbors([999], 1)", "g.get_all_neighbors([], 1)",
    "g.get_all_neighbors([101], 9)", "g.get_all_neighbors((101,), 1)", "g.get_all_neighbors([101], 1, 'CSR')",
    "g.get_node_feature([101, 102], [1, 2, 3])", "g.get_node_feature([103, 104, 201, -1], i([3, 2, 1]))",
    "g.get_node_feature(i([[101, 102], [-5, -1]]), [1, 3])", "g.get_node_feature([104], [1])", "g.get_node_feature([101], [9])",
    "g.get_node_feature([101], [])", "g.get_node_feature([], [1])", "g.get_node_feature([[101, 102], [101]], [1])",
    "g.get_edge_feature([1, 4, 5, -1], [1, 2])", "g.get_edge_feature(i([[1, 10], [3, -1]]), [2])", "g.get_edge_feature([1], [7])",
    "g.get_sampled_neighbors([102, -5], [2], [2])", "g.get_sampled_neighbors([-5], [2, 2], [1, 2])",
    "g.get_sampled_neighbors([102], [1, 2, 1], [2, 1, 3], S.EDGE_WEIGHT)", "g.get_sampled_neighbors([101], [1, 2], [2])",
    "g.get_sampled_neighbors([101], [1] * 7, [2] * 7)", "g.get_sampled_neighbors([101], [0], [2])",
    "g.get_sampled_neighbors([101], [], [])", "g.get_sampled_neighbors([101, -1], [1], [2])", "g.get_sampled_neighbors([101], [1], [2], 'a')",
    "g.get_neg_sampled_neighbors([101], 0, 2)", "g.get_neg_sampled_neighbors([999], 1, 2)", "g.get_neg_sampled_neighbors([101], 1, 9)",
    "g.random_walk([-5, 103], [2, 1])", "g.random_walk([-5, 103], [2, 3], default_node=0)", "g.random_walk([103], [2] * 81)",
    "g.random_walk([103], [2], 0.0)", "g.random_walk([103], [2], 1.0, -2.0)", "g.random_walk([1], [2])", "g.random_walk([103], [9])",
    "g.random_walk([103], [])", "g.random_walk([103], [2], default_node='a')",
]  # fmt: skip
OF_ARRAYS = [
    "g.graph_info()", "g.get_all_nodes('a')", "g.get_all_nodes('c')", "g.get_all_nodes(0)", "g.get_all_edges('0')",
    "g.get_all_neighbors([0, 1, 3], 'b')", "g.get_all_neighbors([0, 3], 'a', F.CSR)", "g.get_nodes_from_edges([0, 4])",
    "g.get_edges_from_nodes([(0, 2), (3, 1)])", "g.get_node_feature([0, 3, -1], ['x', 'y'])", "g.get_node_feature([0], ['z'])",
    "g.get_edge_feature([4, 0], ['w'])", "g.get_graph_feature(['all'])", "g.get_graph_feature(['z'])",
    "g.get_sampled_neighbors([1], [2], ['a'])", "g.random_walk([2], [1, 0])", "g.get_node_feature([0], [1])",
]  # fmt: skip


def asked(ds: Any, graph: Any, question: str) -> Any:
    """The answer, as it is kept, or the kind of error."""
    names = {
        "g": graph,
        "F": ds.OutputFormat,
        "S": ds.SamplingStrategy,
        "i": lambda v: np.array(v, np.int32),
    }
    try:
        return plain(eval(question, names))
    except Exception as error:
        return {"raises": type(error).__name__}


def plain(value: Any) -> Any:
    """Arrays and dicts as JSON has them."""
    if isinstance(value, np.ndarray):
        return [value.dtype.name, list(value.shape), value.reshape(-1).tolist()]
    if isinstance(value, dict):
        return sorted([key, plain(item)] for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def file_graph(ds: Any, writer: Any, folder: Path) -> Any:
    """The graph of this file, from a file."""
    write(writer(str(folder / "graph.mindrecord")), graph_rows())
    return ds.GraphData(str(folder / "graph.mindrecord"))
