"""Event files, read back by a reader that knows nothing of the writer."""

from __future__ import annotations

import contextlib
import json
import resource
import struct
import zlib

import numpy as np
import pytest
from eventlib import events, fields, values

import mindspore as ms
from mindspore import SummaryCollector, SummaryRecord, Tensor, nn, ops
from mindspore.dataset import GeneratorDataset


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
    assert values(first)["loss"][3] == values(first)["loss"][2] == [0.5]
    got = values(second)
    tensor = fields(got["w"][8][0])
    assert tensor[1] == [2, 2]
    assert np.frombuffer(tensor[3][0], "<f4").tolist() == [0, 1, 2, 3]
    histogram = fields(got["h"][9][0])
    assert [histogram[i][0] for i in (2, 3, 4, 5, 6, 7, 8)] == [1, 1, 0, 2, 0, 3, 5]
    assert sum(fields(b)[3][0] for b in histogram[1]) == 3
    other = fields(got["h"][5][0])  # of TensorBoard
    assert [other[i][0] for i in (1, 2, 3, 4, 5)] == [0, 2, 3, 3, 5]
    limits, counts = (np.frombuffer(other[i][0], "<f8") for i in (6, 7))
    assert len(limits) == len(counts) and limits[-1] == 2 and counts.sum() == 3
    image = fields(got["i"][4][0])
    assert [image[i][0] for i in (1, 2, 3)] == [2, 4, 3]
    png = image[4][0]
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    start = png.index(b"IDAT") + 4
    (size,) = struct.unpack(">I", png[start - 8 : start - 4])
    assert zlib.decompress(png[start : start + size]) == (b"\0" + b"\xff" * 12) * 2


class Net(nn.Cell):
    """A network, a loss and an optimizer that record."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.scalar, self.image, self.tensor = (
            ops.ScalarSummary(),
            ops.ImageSummary(),
            ops.TensorSummary(),
        )

    def construct(self, x):
        self.image("x", x)
        y = self.dense(x.reshape(x.shape[0], 4))
        self.scalar("mean", y.mean())
        if y.mean() > -1e9:
            self.tensor("y", y)
        return y


class Loss(nn.LossBase):
    def __init__(self):
        super().__init__()
        self.scalar = ops.ScalarSummary()

    def construct(self, y, label):
        loss = ((y - label) ** 2).mean()
        self.scalar("loss", loss)
        return loss


class Descent(nn.Optimizer):
    def __init__(self, params):
        super().__init__(0.1, params)
        self.histogram = ops.HistogramSummary()

    def construct(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients):
            self.histogram("gradient", gradient.reshape(-1))
            ops.assign_sub(parameter, gradient * 0.1)
        return True


@pytest.mark.parametrize(
    "data",
    [
        np.random.default_rng(0).normal(size=1000).astype(np.float32),
        np.array([-3e38, 3e38, 0, 1], np.float32),
        np.array([1e-45, 2e-45, 0], np.float32),
        np.array([-1.7e308, 1.7e308]),
        np.array([5, 5, 5], np.int32),
        np.array([True, False]),
        np.array([np.nan, np.inf, -np.inf], np.float32),
        np.zeros(1, np.float16),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_histograms_count_every_value(tmp_path, data):
    with SummaryRecord(tmp_path) as record:
        record.add_value("histogram", "h", Tensor(data))
        record.record(1)
    ((event,)) = events(tmp_path)
    own = fields(values(event)["h"][9][0])
    buckets = [fields(bucket) for bucket in own[1]]
    finite = data.astype(np.float64)[np.isfinite(data)]
    assert sum(bucket[3][0] for bucket in buckets) == finite.size
    if 1 < len(buckets):
        expected, _ = np.histogram(finite, len(buckets))
        assert [bucket[3][0] for bucket in buckets] == expected.tolist()
    assert own[2] == [np.isnan(data).sum()] and own[8] == [data.size]


@pytest.mark.parametrize("by", ["Model", "loop"])
def test_ops_in_networks_losses_and_optimizers(tmp_path, mode, by):
    net = Net()
    x = np.random.default_rng(0).random((8, 1, 2, 2), np.float32)
    step_cell = nn.TrainOneStepCell(nn.WithLossCell(net, Loss()), Descent(net.trainable_params()))
    losses = []
    if by == "Model":
        data = GeneratorDataset(
            list(zip(x, np.zeros((8, 3), np.float32))), ["x", "y"], shuffle=False
        )
        model = ms.Model(step_cell)
        keep = ms.LambdaCallback(
            on_train_step_end=lambda rc: losses.append(float(rc.original_args().net_outputs))
        )
        collector = SummaryCollector(tmp_path, collect_freq=2)
        model.train(2, data.batch(2), [keep, collector])
        losses = [losses[step - 1] for step in (1, 2, 4, 6, 8)]
    else:
        with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
            for step in (1, 2):
                losses.append(float(step_cell(Tensor(x), ops.zeros((8, 3)))))
                record.record(step)
        assert len(list((tmp_path / "export_npy" / "tensor").iterdir())) == 2
    found = events(tmp_path)
    assert [e[2][0] for e in found] == ([1, 2, 4, 6, 8] if by == "Model" else [1, 2])
    assert [values(e)["loss/scalar"][3][0] for e in found] == pytest.approx(losses)
    tags = {"mean/scalar", "x/image", "y/tensor", "loss/scalar", "gradient/histogram"}
    assert tags <= set(values(found[0]))


class Kept(nn.Cell):
    """Records what it gets."""

    def __init__(self, sizes_are_open):
        super().__init__()
        self.tensor = ops.TensorSummary()
        if sizes_are_open:
            self.set_inputs(Tensor(shape=[None], dtype=ms.float32))

    def construct(self, x):
        self.tensor("x", x)
        return x + 1


def test_the_last_value_of_a_name_is_written_whatever_recorded_it(tmp_path, mode):
    known, is_open = Kept(False), Kept(True)
    with SummaryRecord(tmp_path) as record:
        for step, cells in enumerate(([known, is_open], [is_open, known], [is_open, is_open]), 1):
            for size, cell in enumerate(cells, 2 * step):
                cell(ops.zeros((size,)))
            record.record(step)
    found = [fields(values(event)["x/tensor"][8][0])[1] for event in events(tmp_path)]
    assert found == [[3], [5], [7]]


def test_tensors_are_rarer(tmp_path, mode):
    data = GeneratorDataset(
        list(zip(np.ones((80, 1, 2, 2), np.float32), np.zeros((80, 3), np.float32))), ["x", "y"]
    ).batch(2)
    for frequency, expected in ((None, 20), (8, 6)):
        net = Net()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, Loss()), Descent(net.trainable_params()))
        folder = tmp_path / str(frequency)
        collector = SummaryCollector(folder, 1, collect_tensor_freq=frequency)
        ms.Model(step).train(1, data, collector)
        tensors = [e[2][0] for e in events(folder) if "y/tensor" in values(e)]
        assert len(tensors) == expected + (frequency is None)  # the first step comes with them


def test_lineage(tmp_path):
    net = nn.Dense(4, 3)
    data = GeneratorDataset(
        list(zip(np.ones((8, 4), np.float32), np.zeros((8, 3), np.float32))), ["x", "y"]
    ).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.25), metrics={"loss"})
    collector = SummaryCollector(tmp_path, custom_lineage_data={"v": 3, "n": "x", "f": 0.5})
    model.fit(2, data, data, callbacks=collector)
    (path,) = tmp_path.glob("*_lineage")
    records, content = [], path.read_bytes()
    while content:
        (size,) = struct.unpack("<Q", content[:8])
        records.append(fields(content[12 : 12 + size]))
        content = content[16 + size :]
    assert [sorted(set(r) - {1})[0] for r in records] == [9, 10, 7, 7, 6]
    tree = fields(records[0][9][0])
    assert b"GeneratorDataset" in tree[1][0] and b"Batch" in tree[2][0]
    said = [fields(item) for item in fields(records[1][10][0])[1]]
    assert [sorted(item)[0] for item in said] == [3, 4, 5]
    metrics = fields(records[2][7][0])
    assert json.loads(metrics[2][0])["loss"] > 0 and fields(metrics[3][0])[2] == [8]
    parts = fields(records[4][6][0])
    settings = fields(parts[1][0])
    assert [settings[i][0] for i in (1, 2, 3, 4, 5, 6, 8)] == [b"Adam", 0.25, b"MSELoss", 2, b"stand_alone", 1, 2]  # fmt: skip
    assert fields(parts[3][0])[1] == [b"Dense"] and len(fields(parts[3][0])[2]) == 1


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
    with pytest.raises(TypeError, match="'custom_lineage_data' must map str to int, float or str"):
        SummaryCollector(tmp_path, custom_lineage_data={"x": [1]})


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
