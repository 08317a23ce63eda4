"""Event files, read back by a reader that knows nothing of the writer."""

from __future__ import annotations

import contextlib
import resource
import struct
import zlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import SummaryCollector, SummaryRecord, Tensor, nn, ops
from mindspore.dataset import GeneratorDataset


def fields(data: bytes) -> dict[int, list]:
    """The fields of a message of protocol buffers."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value: object = varint()
        elif kind == 2:
            size = varint()
            value = data[at : at + size]
            at += size
        else:
            size, code = (8, "<d") if kind == 1 else (4, "<f")
            value = struct.unpack(code, data[at : at + size])[0]
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder) -> list[dict[int, list]]:
    (path,) = folder.glob("*summary*")
    data, found = path.read_bytes(), []
    while data:
        (size,) = struct.unpack("<Q", data[:8])
        found.append(fields(data[12 : 12 + size]))
        assert len(data) >= 16 + size
        data = data[16 + size :]
    assert found[0][3] == [b"MindSpore.Event:1"]
    return found[1:]


def values(event) -> dict[str, dict]:
    parts = [fields(v) for v in fields(event[5][0])[1]]
    return {p[1][0].decode(): p for p in parts}


def test_values(tmp_path):
    weights = np.arange(4, dtype=np.float32).reshape(2, 2)
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", Tensor(0.5))
        assert record.record(1)
        record.add_value("tensor", "w", Tensor(weights))
        record.add_value("histogram", "h", Tensor([0.0, 1.0, 2.0, np.nan, np.inf]))
        record.add_value("image", "i", Tensor(np.full((1, 3, 2, 4), 255.0, np.float32)))
        assert record.record(7)
        assert record.record(8)  # nothing is left to write
    first, second = events(tmp_path)
    assert (first.get(2), second[2]) == ([1], [7])
    assert values(first)["loss"][3] == [0.5]
    got = values(second)
    tensor = fields(got["w"][8][0])
    assert tensor[1] == [2, 2]
    assert np.frombuffer(tensor[3][0], "<f4").tolist() == [0, 1, 2, 3]
    histogram = fields(got["h"][9][0])
    assert [histogram[i][0] for i in (2, 3, 4, 5, 6, 7, 8)] == [1, 1, 0, 2, 0, 3, 5]
    assert sum(fields(b)[3][0] for b in histogram[1]) == 3
    image = fields(got["i"][4][0])
    assert [image[i][0] for i in (1, 2, 3)] == [2, 4, 3]
    png = image[4][0]
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    start = png.index(b"IDAT") + 4
    (size,) = struct.unpack(">I", png[start - 8 : start - 4])
    assert zlib.decompress(png[start : start + size]) == (b"\0" + b"\xff" * 12) * 2


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_ops_in_networks(tmp_path, mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scalar = ops.ScalarSummary()

        def construct(self, x):
            self.scalar("mean", x.mean())
            return x * 2

    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
            for step in (1, 2):
                Net()(ops.ones((2, 2)) * step)
                record.record(step)
    finally:
        ms.set_context(mode=before)
    assert [values(e)["mean/scalar"][3] for e in events(tmp_path)] == [[1], [2]]


def test_a_training(tmp_path):
    net = nn.Dense(3, 1)
    x, y = np.ones((8, 3), np.float32), np.zeros((8, 1), np.float32)
    data = GeneratorDataset(list(zip(x, y)), ["x", "y"], shuffle=False).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
    collector = SummaryCollector(tmp_path, collect_freq=2)
    model.train(1, data, [collector], dataset_sink_mode=False)
    found = events(tmp_path)
    assert [e[2] for e in found] == [[1], [2], [4]]
    assert {"loss/auto", "weight/auto", "bias/auto"} <= set(values(found[0]))


def test_limits_and_refusals(tmp_path):
    with SummaryRecord(tmp_path, max_file_size=100) as record:
        record.add_value("tensor", "w", ops.zeros((100,)))
        assert not record.record(1)
    with pytest.raises(RuntimeError, match="must be open, but it was closed"):
        record.record(2)
    for arguments, error, says in (
        (("scalar", "a", 3), TypeError, "'value' must be a Tensor"),
        (("scalar", "a", ops.zeros((2,))), ValueError, "a shape for the kind 'scalar'"),
        (("image", "a", ops.zeros((2,))), ValueError, "a shape for the kind 'image'"),
        (("sound", "a", ops.zeros((2,))), ValueError, "'plugin' must be one of"),
        (("scalar", "", ops.zeros(())), ValueError, "'name' must be a non-empty str"),
    ):
        with pytest.raises(error, match=says):
            record.add_value(*arguments)
    with pytest.raises(ValueError, match="'file_prefix' must be without '/'"):
        SummaryRecord(tmp_path, "a/b")
    with pytest.raises(ValueError, match="'collect_specified_data' must have keys of"):
        SummaryCollector(tmp_path, collect_specified_data={"x": 1})


@contextlib.contextmanager
def full_disk(size: int):
    """Files of this process cannot grow beyond a size: what a full disk answers, with another errno."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def logged(monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(ms.log, "error", lines.append)
    monkeypatch.setattr(ms.log, "warning", lines.append)
    return lines


def step_of(record, step, size=1000):
    record.add_value("tensor", "w", ops.zeros((size,)))
    return record.record(step)


def test_a_full_disk_is_told_once_and_leaves_whole_records(tmp_path, logged):
    with SummaryRecord(tmp_path) as record:
        with full_disk(10_000):  # two records and a half
            written = [step_of(record, step) for step in range(1, 7)]
        assert written == [True, True, False, False, False, False]
        assert step_of(record, 7)  # when there is room again
        record.flush()
    assert [e[2] for e in events(tmp_path)] == [[1], [2], [7]]
    assert len(logged) == 2
    path = record.full_file_name
    assert f"Cannot write '{path}': File too large (errno 27)" in logged[0]
    assert f"4 records of '{path}' are missing" in logged[1]


def test_each_error_is_raised_where_it_is_asked_for(tmp_path, logged):
    with SummaryRecord(tmp_path, raise_exception=True) as record:
        assert step_of(record, 1)
        for step in (2, 3):
            with (
                full_disk(5_000),
                pytest.raises(OSError, match=r"Cannot write '.*summary") as caught,
            ):
                step_of(record, step)
            assert caught.value.errno == 27
        assert step_of(record, 4, 10)
    assert [e[2] for e in events(tmp_path)] == [[1], [4]]
    assert logged == []


def test_a_tensor_file_that_fails_is_named_and_leaves_no_part(tmp_path, logged, monkeypatch):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        assert step_of(record, 1)
        monkeypatch.setenv("MS_IO_FAULT", "2:enospc")
        assert not step_of(record, 2)
        monkeypatch.delenv("MS_IO_FAULT")
    names = [path.name for path in (tmp_path / "export_npy" / "tensor").iterdir()]
    assert names == ["w_1.npy"]
    assert "w_2.npy': No space left on device (errno 28)" in logged[0]


def test_a_file_that_reaches_its_size_is_told_once(tmp_path, logged):
    with SummaryRecord(tmp_path, max_file_size=5_000) as record:
        assert [step_of(record, step) for step in range(3)] == [True, False, False]
    assert len(logged) == 2 and "would exceed 'max_file_size' (5000 bytes)" in logged[0]
