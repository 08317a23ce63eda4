"""Graphs to train networks of graphs on: GraphData, of MindRecord files, and Graph, of arrays.

Both are asked for many nodes or edges at once, and answer with arrays of int32, from which axes of one are dropped. What is drawn
depends on the seed alone: within a pipeline on the row as well, so that it is the same for any number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset import config
from mindspore.dataset.core.random import draw_bits, make_rng
from mindspore.dataset.core.validator_helpers import (
    INT32_MIN,
    check_file_exists,
    check_int,
    check_type,
)
from mindspore.dataset.engine.graph_arguments import (
    check_drawn,
    enum_member,
    named_arrays,
    named_types,
    whole_numbers,
)
from mindspore.dataset.engine.graph_files import graph_of_arrays, graph_of_file
from mindspore.dataset.engine.graph_sampling import Sampler
from mindspore.dataset.engine.graph_serving import GraphClient, GraphServer
from mindspore.dataset.engine.graph_store import GraphStore

_MOST_HOPS = 6
_MOST_STEPS = 80
_LEAST_PARAM = 1e-4


class SamplingStrategy(IntEnum):
    """How `get_sampled_neighbors` draws: each neighbor as likely as any other, or as its edge weighs."""

    RANDOM = 0
    EDGE_WEIGHT = 1


class OutputFormat(IntEnum):
    """How `get_all_neighbors` writes neighbors down: as a table, as pairs, or as compressed rows."""

    NORMAL = 0
    COO = 1
    CSR = 2


class _Asked:
    """What can be asked of a graph in this process; plain values and arrays come and go, so a server is asked the same."""

    def __init__(self, store: GraphStore) -> None:
        self.store, self.sampler = store, Sampler(store)

    def __call__(
        self, what: str, plain: list[Any], arrays: list[np.ndarray]
    ) -> list[np.ndarray] | dict[str, Any]:
        """The answer to one question."""
        if what not in _QUESTIONS:
            raise ValueError(f"a graph must be asked what it knows, but got {what!r}")
        return _QUESTIONS[what](self, *plain, *arrays)

    def info(self) -> dict[str, Any]:
        """Lists of all that there is, as graph_info tells it."""
        nodes, edges = self.store.nodes, self.store.edges
        return {
            "node_type": list(nodes.kinds),
            "edge_type": list(edges.kinds),
            "node_num": nodes.counts(),
            "edge_num": edges.counts(),
            "node_feature_type": list(nodes.features),
            "edge_feature_type": list(edges.features),
            "graph_feature_type": list(self.store.features),
        }

    def all_nodes(self, op: str, kind: Any) -> list[np.ndarray]:
        """Ids of nodes."""
        nodes = self.store.nodes
        return [nodes.ids[nodes.of_kind(nodes.kind(op, "node_type", kind))]]

    def all_edges(self, op: str, kind: Any) -> list[np.ndarray]:
        """Ids of edges."""
        edges = self.store.edges
        return [edges.ids[edges.of_kind(edges.kind(op, "edge_type", kind))]]


_QUESTIONS: dict[str, Callable[..., list[np.ndarray] | dict[str, Any]]] = {
    "info": _Asked.info,
    "nodes": _Asked.all_nodes,
    "edges": _Asked.all_edges,
    "ends": lambda graph, op, edges: [graph.store.ends_of(op, edges)],
    "between": lambda graph, op, pairs: [graph.store.edges_of(op, pairs)],
    "neighbors": lambda graph, op, kind, form, nodes: graph.store.neighbors(op, nodes, kind, form),
    "sampled": lambda graph, op, seed, numbers, kinds, weighted, nodes: [
        graph.sampler.neighbors(op, seed, nodes, numbers, kinds, weighted)
    ],
    "strangers": lambda graph, op, seed, number, kind, nodes: [
        graph.sampler.strangers(op, seed, nodes, number, kind)
    ],
    "walks": lambda graph, op, seed, path, home, away, default, nodes: [
        graph.sampler.walks(op, seed, nodes, path, home, away, default)
    ],
    "node_values": lambda graph, op, names, nodes: graph.store.nodes.values(op, nodes, names),
    "edge_values": lambda graph, op, names, edges: graph.store.edges.values(op, edges, names),
    "graph_values": lambda graph, op, names: graph.store.graph_values(op, names),
}


class GraphData:
    """A graph of a MindRecord file: nodes and edges of several types, with features, that are numbered from 1.

    With working_mode 'server' the graph is lent to other processes: the call returns when all clients have gone. With
    'client' such a server is asked, and the file is not opened.
    """

    _kind_type: type = int

    def __init__(
        self,
        dataset_file: str,
        num_parallel_workers: int | None = None,
        working_mode: str = "local",
        hostname: str = "127.0.0.1",
        port: int = 50051,
        num_client: int = 1,
        auto_shutdown: bool = True,
    ) -> None:
        check_type("GraphData", "dataset_file", dataset_file, str)
        path = os.path.abspath(dataset_file)

        def store() -> GraphStore:
            check_file_exists("GraphData", path)
            return graph_of_file("GraphData", path)

        self._begin(
            store, num_parallel_workers, working_mode, hostname, port, num_client, auto_shutdown
        )

    def _begin(
        self,
        store: Callable[[], GraphStore],
        workers: Any,
        mode: Any,
        host: Any,
        port: Any,
        clients: Any,
        stops: Any,
    ) -> None:
        op = type(self).__name__
        if workers is not None:
            check_int(op, "num_parallel_workers", workers, 1)
        check_type(op, "working_mode", mode, str)
        if mode not in ("local", "client", "server"):
            raise ValueError(
                f"For '{op}', working_mode must be 'local', 'client' or 'server', but got '{mode}'."
            )
        check_type(op, "hostname", host, str)
        check_int(op, "port", port, 1024, 65535)
        check_int(op, "num_client", clients, 1, 255)
        check_type(op, "auto_shutdown", stops, bool)
        self._mode = mode
        seed = config._explicit_seed()
        self._rng = make_rng(
            *np.random.SeedSequence(seed).generate_state(2)  # None: other draws in every process
        )
        self._ask: Any = GraphClient(op, host, port) if mode == "client" else _Asked(store())
        if mode == "server":
            GraphServer(op, host, port, clients, stops, self._ask).serve()

    # ---- what is asked

    def _answers(
        self, what: str, plain: Sequence[Any] = (), arrays: Sequence[np.ndarray] = ()
    ) -> Any:
        if self._mode == "server":
            raise RuntimeError(
                f"For '{type(self).__name__}', what asks must have the working_mode 'local' or 'client', but got 'server'."
            )
        return self._ask(what, list(plain), list(arrays))

    def _array(self, what: str, plain: Sequence[Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.squeeze(self._answers(what, plain, arrays)[0])

    def _seed(self) -> int:
        return draw_bits(self._rng)

    def _op(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def get_all_nodes(self, node_type: Any) -> np.ndarray:
        """The ids of all nodes of a type."""
        op = self._op("get_all_nodes")
        return self._array("nodes", [op, self._kind(op, "node_type", node_type)], [])

    def get_all_edges(self, edge_type: Any) -> np.ndarray:
        """The ids of all edges of a type."""
        op = self._op("get_all_edges")
        return self._array("edges", [op, self._kind(op, "edge_type", edge_type)], [])

    def get_nodes_from_edges(self, edge_list: list[int] | np.ndarray) -> np.ndarray:
        """For each edge the ids of the nodes from which and to which it goes."""
        op = self._op("get_nodes_from_edges")
        return self._array("ends", [op], [whole_numbers(op, "edge_list", edge_list)])

    def get_edges_from_nodes(self, node_list: list[tuple[int, int]] | np.ndarray) -> np.ndarray:
        """For each pair of nodes the id of the first edge from one to the other, -1 where there is none."""
        op = self._op("get_edges_from_nodes")
        check_type(op, "node_list", node_list, (list, np.ndarray))
        if isinstance(node_list, list):
            for pair in node_list:
                if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                    raise TypeError(
                        f"For '{op}', node_list must hold pairs of ids, but got {pair!r}."
                    )
        pairs = whole_numbers(op, "node_list", node_list, flat=False)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(
                f"For '{op}', node_list must have the shape (pairs, 2), but got {pairs.shape}."
            )
        return self._array("between", [op], [pairs])

    def get_all_neighbors(
        self,
        node_list: list[int] | np.ndarray,
        neighbor_type: Any,
        output_format: OutputFormat = OutputFormat.NORMAL,
    ) -> Any:
        """All neighbors of a type. NORMAL: a row for each node, itself first, filled up with -1.

        COO: pairs of a node and a neighbor. CSR: where the neighbors of each node begin, and the neighbors of all.
        """
        op = self._op("get_all_neighbors")
        nodes = whole_numbers(op, "node_list", node_list)
        kind = self._kind(op, "neighbor_type", neighbor_type)
        form = enum_member(op, "output_format", output_format, OutputFormat)
        answer = self._answers("neighbors", [op, kind, form.name], [nodes])
        return tuple(answer) if form is OutputFormat.CSR else np.squeeze(answer[0])

    def get_sampled_neighbors(
        self,
        node_list: list[int] | np.ndarray,
        neighbor_nums: list[int] | np.ndarray,
        neighbor_types: list[Any] | np.ndarray,
        strategy: SamplingStrategy = SamplingStrategy.RANDOM,
    ) -> np.ndarray:
        """A row for each node: itself, some neighbors of the first type, some neighbors of each of those, and so on.

        Where a node has fewer than are drawn, RANDOM gives all before it gives one again. -1 stands for none.
        """
        op = self._op("get_sampled_neighbors")
        nodes = whole_numbers(op, "node_list", node_list)
        numbers = whole_numbers(op, "neighbor_nums", neighbor_nums).tolist()
        kinds = self._kinds(op, "neighbor_types", neighbor_types)
        if len(numbers) != len(kinds) or not 1 <= len(kinds) <= _MOST_HOPS:
            raise ValueError(
                f"For '{op}', neighbor_nums and neighbor_types must have the same number of entries, 1 to "
                f"{_MOST_HOPS}, but got {len(numbers)} and {len(kinds)}."
            )
        check_drawn(op, "neighbor_nums", numbers, len(nodes))
        chosen = enum_member(op, "strategy", strategy, SamplingStrategy)
        weighted = chosen is SamplingStrategy.EDGE_WEIGHT
        return self._array("sampled", [op, self._seed(), numbers, kinds, weighted], [nodes])

    def get_neg_sampled_neighbors(
        self, node_list: list[int] | np.ndarray, neg_neighbor_num: int, neg_neighbor_type: Any
    ) -> np.ndarray:
        """A row for each node: itself, and nodes of a type that are no neighbors of it; -1 where there are none."""
        op = self._op("get_neg_sampled_neighbors")
        nodes = whole_numbers(op, "node_list", node_list)
        check_type(op, "neg_neighbor_num", neg_neighbor_num, int)
        check_drawn(op, "neg_neighbor_num", [neg_neighbor_num], len(nodes))
        kind = self._kind(op, "neg_neighbor_type", neg_neighbor_type)
        return self._array("strangers", [op, self._seed(), neg_neighbor_num, kind], [nodes])

    def random_walk(
        self,
        target_nodes: list[int] | np.ndarray,
        meta_path: list[Any] | np.ndarray,
        step_home_param: float = 1.0,
        step_away_param: float = 1.0,
        default_node: int = -1,
    ) -> np.ndarray:
        """A walk from each node, to neighbors of the types of the path; `default_node` from where it cannot go on.

        As in node2vec a step back weighs 1 / step_home_param, one to a neighbor of the node before 1, any other
        1 / step_away_param.
        """
        op = self._op("random_walk")
        nodes = whole_numbers(op, "target_nodes", target_nodes)
        path = self._path(op, meta_path)
        if not 1 <= len(path) <= _MOST_STEPS:
            raise ValueError(
                f"For '{op}', meta_path must have 1 to {_MOST_STEPS} entries, but got {len(path)}."
            )
        weights = []
        for name, value in (
            ("step_home_param", step_home_param),
            ("step_away_param", step_away_param),
        ):
            check_type(op, name, value, (int, float))
            if not _LEAST_PARAM < value < float("inf"):
                raise ValueError(
                    f"For '{op}', {name} must be finite and greater than {_LEAST_PARAM}, but got {value}."
                )
            weights.append(float(value))
        check_int(op, "default_node", default_node, INT32_MIN)
        return self._array("walks", [op, self._seed(), path, *weights, default_node], [nodes])

    def get_node_feature(
        self, node_list: list[Any] | np.ndarray, feature_types: list[Any] | np.ndarray
    ) -> list[np.ndarray]:
        """The values of each of the features: those of each node, zeros where it has none and for -1."""
        return self._features("node", node_list, feature_types)

    def get_edge_feature(
        self, edge_list: list[Any] | np.ndarray, feature_types: list[Any] | np.ndarray
    ) -> list[np.ndarray]:
        """The values of each of the features: those of each edge, zeros where it has none and for -1."""
        return self._features("edge", edge_list, feature_types)

    def graph_info(self) -> dict[str, Any]:
        """The types of nodes and edges, how many there are of each, and the features."""
        told: dict[str, Any] = self._answers("info")
        for what in ("node", "edge"):
            told[f"{what}_num"] = dict(zip(told[f"{what}_type"], told[f"{what}_num"], strict=True))
        return told

    def _features(self, what: str, items: Any, feature_types: Any) -> list[np.ndarray]:
        op = self._op(f"get_{what}_feature")
        numbers = whole_numbers(op, f"{what}_list", items, flat=False)
        names = self._kinds(op, "feature_types", feature_types)
        return [
            np.squeeze(value) for value in self._answers(f"{what}_values", [op, names], [numbers])
        ]

    # ---- arguments

    def _kind(self, op: str, argument: str, kind: Any) -> Any:
        if isinstance(kind, np.integer) and self._kind_type is int:
            kind = int(kind)
        check_type(op, argument, kind, self._kind_type)
        return kind

    def _kinds(self, op: str, argument: str, kinds: Any) -> list[Any]:
        """A list of types of nodes or of features, with one at least."""
        check_type(op, argument, kinds, (list, np.ndarray))
        if len(np.shape(kinds)) != 1 or len(kinds) == 0:
            raise ValueError(f"For '{op}', {argument} must have an entry, but got {kinds!r}.")
        listed = kinds.tolist() if isinstance(kinds, np.ndarray) else kinds
        return [self._kind(op, argument, kind) for kind in listed]

    def _path(self, op: str, path: Any) -> list[Any]:
        check_type(op, "meta_path", path, (list, np.ndarray))
        return [] if len(path) == 0 else self._kinds(op, "meta_path", path)


class Graph(GraphData):
    """A graph of arrays: `edges` are two rows of nodes, which are numbered from 0; types and features have names.

    Nodes and edges without types are all of type '0'. A feature 'weight' of the edges, of one number each, is what
    SamplingStrategy.EDGE_WEIGHT draws by. Otherwise it is like GraphData.
    """

    _kind_type = str

    def __init__(
        self,
        edges: list[Any] | np.ndarray,
        node_feat: dict[str, np.ndarray] | None = None,
        edge_feat: dict[str, np.ndarray] | None = None,
        graph_feat: dict[str, np.ndarray] | None = None,
        node_type: list[str] | np.ndarray | None = None,
        edge_type: list[str] | np.ndarray | None = None,
        num_parallel_workers: int | None = None,
        working_mode: str = "local",
        hostname: str = "127.0.0.1",
        port: int = 50051,
        num_client: int = 1,
        auto_shutdown: bool = True,
    ) -> None:
        ends = whole_numbers("Graph", "edges", edges, flat=False)
        if ends.ndim != 2 or len(ends) != 2 or ends.shape[1] == 0 or ends.min() < 0:
            raise ValueError(
                "For 'Graph', edges must have the shape (2, edges), with an edge at least, and hold no negative numbers, "
                f"but got the shape {ends.shape}" + (f" and {ends.min()}." if ends.size else ".")
            )
        features = [
            named_arrays(name, value)
            for name, value in (
                ("node_feat", node_feat),
                ("edge_feat", edge_feat),
                ("graph_feat", graph_feat),
            )
        ]
        node_types = named_types("node_type", node_type)
        edge_types = named_types("edge_type", edge_type)
        self._begin(
            lambda: graph_of_arrays("Graph", ends, node_types, edge_types, *features),
            num_parallel_workers,
            working_mode,
            hostname,
            port,
            num_client,
            auto_shutdown,
        )

    def get_graph_feature(self, feature_types: list[str] | np.ndarray) -> list[np.ndarray]:
        """The values of features of the whole graph."""
        op = self._op("get_graph_feature")
        answer: list[np.ndarray] = self._answers(
            "graph_values", [op, self._kinds(op, "feature_types", feature_types)]
        )
        return answer

    def _path(self, op: str, path: Any) -> list[Any]:
        """Types by their names, or by their numbers in graph_info, as some programs give them here."""
        check_type(op, "meta_path", path, (list, np.ndarray))
        known = None
        steps = path.tolist() if isinstance(path, np.ndarray) else list(path)
        for i, step in enumerate(steps):
            if type(step) is not int:
                continue
            known = known or self._answers("info")["node_type"]
            if not 0 <= step < len(known):
                raise ValueError(
                    f"For '{op}', a number in meta_path must be that of one of the types {known}, but got {step}."
                )
            steps[i] = known[step]
        return super()._path(op, steps)
