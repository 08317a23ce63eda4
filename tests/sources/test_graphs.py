"""GraphData and Graph: against kept answers of MindSpore 2.0, what is drawn, graphs of servers, and what is wrong."""

from __future__ import annotations

import gc
import json
import pickle
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import graph_cases
import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import OutputFormat, SamplingStrategy
from mindspore.mindrecord import FileWriter

KEPT = json.loads(Path(__file__).with_name("graph_answers.json").read_text())
DIFFERENT = {"g.get_all_edges('0')": "2.0 knows no edges without types where nodes have some"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """The graph of a file."""
    return graph_cases.file_graph(ds, FileWriter, tmp_path_factory.mktemp("graph"))


@pytest.fixture
def hub():
    """Node 0 goes to 1, 2 and 3, 1 back and to 2, 3, 4, and so on; weights of edges."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3), (1, 4), (4, 5), (2, 0), (3, 0)]
    weights = np.array([1, 3, 6, 1, 1, 5, 1, 1, 1, 1], np.float32)[:, None]
    return lambda: ds.Graph(np.array(pairs).T, edge_feat={"weight": weights})


@pytest.mark.parametrize("question", graph_cases.OF_FILE)
def test_answers_of_a_file_are_those_of_mindspore(question, graph):
    same(question, graph, KEPT["file"][question])


@pytest.mark.parametrize("question", graph_cases.OF_ARRAYS)
def test_answers_of_arrays_are_those_of_mindspore(question):
    if question in DIFFERENT:
        pytest.skip(DIFFERENT[question])
    same(question, graph_cases.arrays_graph(ds), KEPT["arrays"][question])


def same(question, graph, theirs):
    ours = graph_cases.asked(ds, graph, question)
    if "raises" in theirs:
        assert ours["raises"] in ("TypeError", "ValueError")
    else:
        assert json.loads(json.dumps(ours)) == theirs


# ---- what is drawn


def shares(values):
    """How often each value comes, as a part of all."""
    found, counts = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), counts / len(values)))


def test_neighbors_come_in_rounds_and_are_equally_likely(hub):
    ds.config.set_seed(3)
    drawn = hub().get_sampled_neighbors([0] * 4000, [5], ["0"])
    assert drawn.shape == (4000, 6) and (drawn[:, 0] == 0).all()
    assert (np.sort(drawn[:, 1:4]) == [1, 2, 3]).all()
    assert (drawn[:, 4] != drawn[:, 5]).all()
    for column in range(1, 6):
        assert shares(drawn[:, column]) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, abs=0.03)


def test_a_few_of_many_neighbors_are_distinct_and_equally_likely():
    ds.config.set_seed(3)
    graph = ds.Graph(np.array([[0] * 50, range(1, 51)]))
    drawn = graph.get_sampled_neighbors([0] * 4000, [3], ["0"])[:, 1:]
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    assert np.bincount(drawn.reshape(-1), minlength=51)[1:] == pytest.approx([240] * 50, abs=60)
    assert np.bincount(drawn[:, 0], minlength=51)[1:] == pytest.approx([80] * 50, abs=40)


def test_weights_of_edges_are_odds(hub):
    ds.config.set_seed(3)
    drawn = hub().get_sampled_neighbors([0] * 4000, [2], ["0"], SamplingStrategy.EDGE_WEIGHT)
    for column in (1, 2):
        assert shares(drawn[:, column]) == pytest.approx({1: 0.1, 2: 0.3, 3: 0.6}, abs=0.03)


def test_an_edge_of_no_weight_is_never_drawn(graph):
    drawn = graph.get_sampled_neighbors([201], [200], [1], SamplingStrategy.EDGE_WEIGHT)
    assert set(drawn[1:].tolist()) == {101}
    with pytest.raises(ValueError, match="weigh more than 0, but got none from node 0"):
        weights = {"weight": np.zeros((1, 1), np.float32)}
        ds.Graph([[0], [1]], edge_feat=weights).get_sampled_neighbors(
            [0], [1], ["0"], SamplingStrategy.EDGE_WEIGHT
        )


def test_nodes_that_are_no_neighbors(hub, graph):
    ds.config.set_seed(3)
    drawn = hub().get_neg_sampled_neighbors([0] * 3000, 3, "0")
    assert shares(drawn[:, 1]) == pytest.approx({4: 0.5, 5: 0.5}, abs=0.03)
    assert (drawn[:, 1] != drawn[:, 2]).all()
    ring = np.arange(60)
    few = ds.Graph(np.stack([ring, (ring + 1) % 60])).get_neg_sampled_neighbors(ring, 20, "0")
    for row in few.tolist():
        assert (
            len(set(row[1:])) == 20 and row[0] not in row[1:] and (row[0] + 1) % 60 not in row[1:]
        )
    assert graph.get_neg_sampled_neighbors([102, 101], 2, 2)[1].tolist() == [101, 203, 203]
    assert graph.get_neg_sampled_neighbors([-5, 101], 2, 3).tolist() == [
        [-5, -1, -1],
        [101, -5, -5],
    ]


@pytest.mark.parametrize(
    ("home", "away", "odds"),
    [
        (1, 1, [1, 1, 1, 1]),
        (4, 1, [0.25, 1, 1, 1]),
        (1, 4, [1, 1, 1, 0.25]),
        (0.25, 2.0, [4, 1, 1, 0.5]),
    ],
)
def test_walks_of_node2vec(home, away, odds, hub):
    ds.config.set_seed(3)
    walks = hub().random_walk([0] * 12000, ["0", "0"], home, away)
    assert shares(walks[:, 1]) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, abs=0.03)
    on = walks[walks[:, 1] == 1][:, 2]
    wanted = dict(zip((0, 2, 3, 4), np.array(odds) / sum(odds)))
    assert shares(on) == pytest.approx(wanted, abs=0.03)


def test_steps_of_walks_in_parts_are_those_in_one(hub, monkeypatch):
    ds.config.set_seed(3)
    whole = hub().random_walk([0, 1, 4] * 50, ["0"] * 4, 2.0, 3.0)
    monkeypatch.setattr("mindspore.dataset.engine.graph_sampling._AT_ONCE", 5)
    np.testing.assert_array_equal(hub().random_walk([0, 1, 4] * 50, ["0"] * 4, 2.0, 3.0), whole)
    assert (whole[2, 2:] == -1).all() and whole[2, 1] == 5  # node 5 leads nowhere


def draws(graph):
    return [
        graph.get_sampled_neighbors([101, 102], [3, 2], [2, 1]).tolist(),
        graph.get_sampled_neighbors([101], [9], [2], SamplingStrategy.EDGE_WEIGHT).tolist(),
        graph.get_neg_sampled_neighbors([102, 103], 5, 2).tolist(),
        graph.random_walk([101, 102], [2, 1, 2], 2.0, 0.5).tolist(),
    ]


def test_draws_depend_on_the_seed_alone(tmp_path):
    graph_cases.file_graph(ds, FileWriter, tmp_path)
    path = str(tmp_path / "graph.mindrecord")
    ds.config.set_seed(7)
    first, again = (draws(ds.GraphData(path)) for _ in range(2))
    ds.config.set_seed(8)
    assert first == again != draws(ds.GraphData(path))


class Sampled:
    """A source that draws from a graph."""

    def __init__(self, graph):
        self.graph = graph

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return self.graph.get_sampled_neighbors([101], [6], [2])


def test_rows_made_by_the_program_itself_change_no_draws_behind_them(tmp_path):
    graph_cases.file_graph(ds, FileWriter, tmp_path)
    ds.config.set_seed(7)
    first, second = (ds.GraphData(str(tmp_path / "graph.mindrecord")) for _ in range(2))
    expected = draws(first)
    ds.config.set_debug_mode(True)
    list(ds.GeneratorDataset(Sampled(first), ["x"]).create_tuple_iterator(num_epochs=1))
    ds.config.set_debug_mode(False)
    assert draws(second) == expected


def test_rows_of_a_pipeline_do_not_depend_on_workers(graph):
    ds.config.set_seed(7)

    def rows(**workers):
        data = ds.GeneratorDataset(Sampled(graph), ["x"], shuffle=False, **workers)
        return [
            row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        ]

    one = rows(num_parallel_workers=1)
    assert len({str(row) for row in one}) > 4
    assert one == rows(num_parallel_workers=4, python_multiprocessing=False)
    assert one == rows(num_parallel_workers=2, python_multiprocessing=True)


# ---- files


def test_shards_are_one_graph(tmp_path):
    graph_cases.write(FileWriter(str(tmp_path / "g"), 3), graph_cases.graph_rows())
    for name in ("g0", "g2"):
        found = ds.GraphData(str(tmp_path / name))
        assert sorted(found.get_all_nodes(1).tolist()) == [101, 102, 103, 104]
        assert sorted(found.get_all_edges(0).tolist()) == [1, 2, 3, 4, 5, 8, 9, 10]
        assert sorted(found.get_all_neighbors([101], 2)[1:].tolist()) == [201, 202, 202]


def test_a_graph_without_weights_draws_all_alike(tmp_path):
    graph_cases.write(FileWriter(str(tmp_path / "g")), graph_cases.graph_rows(), weights=False)
    found = ds.GraphData(str(tmp_path / "g"))
    drawn = found.get_sampled_neighbors([201], [200], [1], SamplingStrategy.EDGE_WEIGHT)
    assert set(drawn[1:].tolist()) == {101, 103}


def test_a_graph_without_edges(tmp_path):
    graph_cases.write(
        FileWriter(str(tmp_path / "g")), [graph_cases.node_row(n) for n in graph_cases.NODES]
    )
    found = ds.GraphData(str(tmp_path / "g"))
    assert (
        found.graph_info()["edge_num"] == {} and found.get_all_neighbors([101], 1).tolist() == 101
    )
    assert found.get_edges_from_nodes([(101, 102)]) == -1
    assert found.get_sampled_neighbors([101], [2], [1]).tolist() == [101, -1, -1]
    assert found.random_walk([101], [1, 2]).tolist() == [101, -1, -1]
    assert found.get_all_neighbors([101, 102], 1, OutputFormat.COO).shape == (0, 2)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (graph_cases.edge_row((70, 1, 101, 8888, 1.0, {})), "both ends of an edge must be nodes of the graph, but got 8888"),
        (graph_cases.node_row((101, 1, {})), "ids of nodes must be unique, but got 101 twice"),
        (graph_cases.edge_row((1, 0, 101, 201, 1.0, {})), "ids of edges must be unique, but got 1 twice"),
        (graph_cases.node_row((1 << 33, 1, {})), "ids of nodes must fit int32, but got 8589934592"),
        (graph_cases.node_row((-1, 1, {})), "no node may have the id -1"),
        (graph_cases.node_row((9, 1, {1: [1, 2]})), r"'node_feature_1' must be 3 as in the first row .* got 2 \(id 9\)"),
        (graph_cases.node_row((9, 1, {})) | {"attribute": "x"}, r"attribute is 'n' or 'e', but got 'x' \(row 18\)"),
        (graph_cases.edge_row((70, 1, 101, 102, -1.0, {})), "finite and not negative, but got -1.0"),
        (graph_cases.edge_row((70, 1, 101, 102, float("nan"), {})), "finite and not negative, but got nan"),
        (graph_cases.node_row((9, 1, {})) | {"node_feature_index": np.array([9], np.int32)}, "none named 'node_feature_9'"),
    ],
)  # fmt: skip
def test_what_no_graph_may_hold(row, says, tmp_path):
    graph_cases.write(FileWriter(str(tmp_path / "g")), [*graph_cases.graph_rows(), row])
    with pytest.raises(
        ValueError, match=f"For 'GraphData', the file '.*g' must hold a graph.*{says}"
    ):
        ds.GraphData(str(tmp_path / "g"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"type": None}, "with a field 'type', but got "),
        ({"third_id": {"type": "float32"}}, "'third_id' is int32 or int64, but got float32"),
        (
            {"edge_feature_index": {"type": "int32"}},
            "'edge_feature_index' is an array of int32 or int64, but got int32",
        ),
    ],
)
def test_fields_that_a_graph_must_have(change, says, tmp_path):
    fields = {name: change.get(name, field) for name, field in graph_cases.schema(True).items()}
    fields = {name: field for name, field in fields.items() if field is not None}
    rows = [row | {"third_id": 1.0, "edge_feature_index": 0} for row in graph_cases.graph_rows()]
    for row, real in zip(rows, graph_cases.graph_rows()):
        row.update(
            {name: real[name] for name in ("third_id", "edge_feature_index") if name not in change}
        )
    graph_cases.write(FileWriter(str(tmp_path / "g")), rows, fields=fields)
    with pytest.raises(ValueError, match=says):
        ds.GraphData(str(tmp_path / "g"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(
        ValueError, match=r"For 'GraphData', the file must exist, but got '.*nothing'"
    ):
        ds.GraphData(str(tmp_path / "nothing"))
    (tmp_path / "text").write_bytes(b"no record" * 100)
    with pytest.raises((ValueError, RuntimeError), match="text"):
        ds.GraphData(str(tmp_path / "text"))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((["a"],), TypeError, "dataset_file must be str"),
        (("g", 0), ValueError, "num_parallel_workers must be in"),
        (
            ("g", 1, "other"),
            ValueError,
            "working_mode must be 'local', 'client' or 'server', but got 'other'",
        ),
        (("g", 1, "local", 5), TypeError, "hostname must be str"),
        (("g", 1, "local", "h", 80), ValueError, r"port must be in \[1024, 65535\]"),
        (("g", 1, "local", "h", 5000, 256), ValueError, r"num_client must be in \[1, 255\]"),
        (("g", 1, "local", "h", 5000, 1, 3), TypeError, "auto_shutdown must be bool"),
    ],
)
def test_arguments_of_graph_data(arguments, error, says):
    with pytest.raises(error, match=f"For 'GraphData', {says}"):
        ds.GraphData(*arguments)


EDGES = np.array(graph_cases.ENDS)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"edges": EDGES.astype(float)}, TypeError, "edges must hold whole numbers"),
        ({"edges": EDGES[:1]}, ValueError, r"edges must have the shape \(2, edges\)"),
        ({"edges": EDGES[:, :0]}, ValueError, r"edges must have the shape .* \(2, 0\)"),
        ({"edges": -EDGES}, ValueError, r"edges must .* no negative numbers, but got .* and -3"),
        ({"edges": [[0, 1], [1]]}, TypeError, "edges must hold whole numbers in one shape"),
        ({"edges": "ab"}, TypeError, "edges must be list or ndarray"),
        ({"node_feat": [1]}, TypeError, "node_feat must be dict"),
        ({"node_feat": {1: EDGES}}, TypeError, "node_feat must have names as keys"),
        (
            {"edge_feat": {"x": [1]}},
            TypeError,
            "edge_feat must have names as keys and arrays as values",
        ),
        (
            {"node_feat": {"x": np.zeros((3, 2))}},
            ValueError,
            r"node_feat\['x'\] must have the shape \(4, ",
        ),
        (
            {"edge_feat": {"x": np.zeros(5)}},
            ValueError,
            r"edge_feat\['x'\] must have the shape \(5, ",
        ),
        (
            {"node_feat": {"x": np.array([["a"]] * 4)}},
            TypeError,
            r"node_feat\['x'\] must hold numbers",
        ),
        (
            {"edge_feat": {"weight": -np.ones((5, 1))}},
            ValueError,
            "weights of edges must be finite and not negative",
        ),
        (
            {"node_type": ["a"] * 3},
            ValueError,
            "node_type must name the type of each of 4 nodes, but got 3",
        ),
        (
            {"edge_type": ["a"]},
            ValueError,
            "edge_type must name the type of each of 5 edges, but got 1",
        ),
        ({"node_type": [1, 2, 3, 4]}, TypeError, "node_type must hold str, but got 1"),
    ],
)
def test_arguments_of_graph(arguments, error, says):
    with pytest.raises(error, match=f"For 'Graph', {says}"):
        ds.Graph(**{"edges": EDGES, **arguments})


def test_no_answer_is_larger_than_memory(hub):
    with pytest.raises(ValueError, match="at most 268435456 ids"):
        hub().get_sampled_neighbors([0], [2**31 - 1], ["0"])
    with pytest.raises(ValueError, match="at most 268435456 ids"):
        hub().get_neg_sampled_neighbors([0], 2**40, "0")


# ---- servers

SERVER = """
import sys
import mindspore.dataset as ds
ds.config.set_seed(7)
g = ds.GraphData(sys.argv[1], 1, "server", port=int(sys.argv[2]), num_client=int(sys.argv[3]))
try:
    g.graph_info()
except RuntimeError as error:
    print(error)
"""


def free_port():
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    """Starts servers of the graph, and ends what is left of them."""
    graph_cases.file_graph(ds, FileWriter, tmp_path)
    started = []

    def start(clients):
        port = free_port()
        command = [
            sys.executable,
            "-c",
            SERVER,
            str(tmp_path / "graph.mindrecord"),
            str(port),
            str(clients),
        ]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1], port

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_server_gives_what_a_local_graph_gives(server, tmp_path):
    process, port = server(2)
    ds.config.set_seed(7)
    local = ds.GraphData(str(tmp_path / "graph.mindrecord"))
    client = ds.GraphData("elsewhere", 1, "client", port=port)
    for question in graph_cases.OF_FILE:
        assert graph_cases.asked(ds, client, question) == graph_cases.asked(ds, local, question)
    assert draws(client) == draws(local)
    with pytest.raises(
        ValueError,
        match=r"For 'GraphData.get_all_nodes', node_type must be one of \[1, 2, 3\], but got 9",
    ):
        client.get_all_nodes(9)
    second = ds.GraphData("elsewhere", 1, "client", port=port)
    copy = pickle.loads(pickle.dumps(second))
    assert copy.get_all_nodes(3) == second.get_all_nodes(3) == -5
    with pytest.raises(RuntimeError, match="all 2 have come"):
        ds.GraphData("elsewhere", 1, "client", port=port)
    del client, second, copy
    gc.collect()  # what was raised above holds on to them
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "working_mode 'local' or 'client', but got 'server'" in said


def test_a_server_minds_no_noise_and_a_client_no_other_server(server):
    process, port = server(1)
    client = ds.GraphData("elsewhere", 1, "client", port=port)
    for noise in (
        b"",
        b"GET / HTTP/1.1\r\n\r\n" * 9,
        struct.pack("<IQ", 2, 1 << 60) + b"{}",
        struct.pack("<IQ", 2, 0) + b"{}",
    ):
        with socket.create_connection(("127.0.0.1", port)) as end:
            end.sendall(noise)
    with pytest.raises(RuntimeError, match="the server must serve a Graph, but serves a GraphData"):
        ds.Graph(EDGES, working_mode="client", port=port)
    data = ds.GeneratorDataset(Sampled(client), ["x"], num_parallel_workers=2)
    assert len(list(data.create_tuple_iterator(num_epochs=1))) == 12
    process.kill()
    process.wait()
    with pytest.raises(
        RuntimeError, match=f"must be those of a server of graphs, but got 127.0.0.1:{port}"
    ):
        client.get_all_nodes(3)


def test_no_server(monkeypatch):
    monkeypatch.setattr("mindspore.dataset.engine.graph_serving._PATIENCE", 0.2)
    with pytest.raises(RuntimeError, match=r"hostname and port of a client .*nobody answers there"):
        ds.GraphData("elsewhere", 1, "client", port=free_port())
    with pytest.raises(RuntimeError, match="For 'Graph', hostname and port of a client"):
        ds.Graph(EDGES, working_mode="client", hostname="no.such.host.invalid")
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(RuntimeError, match="that nobody uses"),
    ):
        ds.Graph(EDGES, working_mode="server", port=taken.getsockname()[1])


def test_a_server_in_a_thread_ends_with_its_client():
    port = free_port()
    thread = threading.Thread(target=lambda: ds.Graph(EDGES, working_mode="server", port=port))
    thread.start()
    client = ds.Graph(EDGES, working_mode="client", port=port)
    assert client.get_all_nodes("0").tolist() == [0, 1, 2, 3]
    began = time.monotonic()
    del client
    thread.join(5)
    assert not thread.is_alive() and time.monotonic() - began < 5
