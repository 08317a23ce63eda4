"""A script that knows nothing of processes but for one line: its losses, metrics and stops are those of one process."""

from __future__ import annotations

import itertools
import os
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, nn, train
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import GeneratorDataset, NumpySlicesDataset
from mindspore.train._together import gather_objects

init()
RANK, SIZE = get_rank(), get_group_size()
ROWS, BATCH = 26, 4  # seven batches: no number of processes has as many for each
x = np.random.RandomState(0).randn(ROWS, 4).astype(np.float32)
labels = (x.sum(1) > 0).astype(np.int32) + (x[:, 0] > 1)
numbers = np.arange(ROWS, dtype=np.int32)


class Seen(train.Callback):
    """Losses, and the samples of this process: once for each batch that was its own."""

    def __init__(self, stop_at=0):
        self.losses, self.samples, self.stop_at, self.epochs = [], [], stop_at, []

    def on_train_step_end(self, context):
        params = context.original_args()
        self.losses.append(float(params.net_outputs.asnumpy()))
        if context._run.together.has_rows:
            self.samples += params.train_dataset_element[-1].asnumpy().tolist()
        if params.cur_step_num == self.stop_at and RANK == SIZE - 1:
            context.request_stop()

    def on_train_epoch_end(self, context):
        self.epochs.append(context.original_args().cur_epoch_num)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net, self.loss = net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x, labels, number):
        return self.loss(self.net(x), labels)


def build():
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 3))
    return net, Model(Loss(net), optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9))


def parallel(on):
    ms.reset_auto_parallel_context()
    if on:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


def source(shuffle):
    return NumpySlicesDataset((x, labels, numbers), ["x", "labels", "numbers"], shuffle=shuffle)


def trained(on, shuffle, epochs=2, **options):
    parallel(on)
    _, model = build()
    seen = Seen(**options)
    size = BATCH if on else BATCH * SIZE
    model.train(epochs, source(shuffle).batch(size), callbacks=[seen])
    return seen


def losses_and_samples():
    for shuffle in (False, True):
        alone, together = trained(False, shuffle), trained(True, shuffle)
        np.testing.assert_allclose(together.losses, alone.losses, rtol=1e-5)
        everywhere = gather_objects(together.samples)
        assert sorted(itertools.chain(*everywhere)) == sorted(2 * numbers.tolist()), everywhere
    assert len({tuple(sorted(part)) for part in everywhere}) == SIZE


def sinks():
    """Processes make their steps together; callbacks that only some of them have change nothing in that."""
    alone = trained(False, True)
    steps, mode = len(alone.losses) // 2, ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    for size in (-1, 2):
        parallel(True)
        _, model = build()
        seen = Seen()
        callbacks = [seen] if RANK == 0 or size > 0 else []
        data = source(True).batch(BATCH)
        model.train(2, data, callbacks, dataset_sink_mode=True, sink_size=size)
        every = abs(size)
        ends = [n for n in range(1, steps + 1) if n % every == 0 or n == steps]
        if callbacks:
            expected = [alone.losses[at + n - 1] for at in (0, steps) for n in ends]
            np.testing.assert_allclose(seen.losses, expected, rtol=1e-5)
    ms.set_context(mode=mode)


def dropped_by_global_sample():
    """Dropout chooses for each sample what it would choose in one process, also in the uneven last step."""
    losses = []
    for on in (False, True):
        parallel(on)
        ms.set_seed(3)
        layers = nn.Dense(4, 33), nn.Dropout(p=0.4), nn.Tanh(), nn.Dense(33, 3)
        net = nn.SequentialCell(*layers)
        model = Model(Loss(net), optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9))
        seen = Seen()
        model.train(2, source(True).batch(BATCH if on else BATCH * SIZE), callbacks=[seen])
        losses.append(seen.losses)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)


def rates_for_the_batches_of_all():
    parallel(True)
    net, _ = build()
    data = source(False).batch(BATCH)
    rates = [0.1] * data.get_dataset_size()
    model = Model(Loss(net), optimizer=nn.Momentum(net.trainable_params(), rates, 0.9))
    model.train(1, data)


def one_stops_all():
    seen = trained(True, False, epochs=5, stop_at=2)
    assert len(seen.losses) == 2 and seen.epochs == [1]


class Ranked(nn.Metric):
    """What does not add up: the median of the scores, and how often there was a batch."""

    def clear(self):
        self.scores = []

    def update(self, *inputs):
        self.scores.append(inputs[0].asnumpy())

    def eval(self):
        return float(np.median(np.concatenate(self.scores))), [len(part) for part in self.scores]


def metrics():
    results = []
    for on in (False, True):
        parallel(on)
        net, _ = build()
        measured = {n: n for n in ("loss", "accuracy", "precision", "top_1_accuracy")}
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        model = Model(net, loss, metrics={**measured, "ranked": Ranked()})
        data = source(False).project(["x", "labels"]).batch(BATCH)
        results.append(model.eval(data))
    alone, together = results
    assert alone["ranked"] == together["ranked"] and alone["accuracy"] == together["accuracy"]
    np.testing.assert_array_equal(alone["precision"], together["precision"])
    np.testing.assert_allclose(alone["loss"], together["loss"], rtol=1e-6)
    own = NumpySlicesDataset((x, labels), ["x", "labels"], num_shards=1, shard_id=0).batch(BATCH)
    if RANK == 0:  # one alone, and nobody waits for the others
        assert model.eval(own)["accuracy"] == alone["accuracy"]


def fit(folder):
    """All stop in the same epoch; one set of files in a common folder, and one in each of the folders of ranks."""
    parallel(True)
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 3))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"loss"})
    data = source(True).project(["x", "labels"]).batch(BATCH)
    history = train.History()
    callbacks = [
        train.EarlyStopping("eval_loss", min_delta=100, patience=2),
        train.ReduceLROnPlateau("loss", patience=1),
        train.ModelCheckpoint("net", f"{folder}/all"),
        train.ModelCheckpoint("net", f"{folder}/rank_{RANK}"),
        train.SummaryCollector(f"{folder}/summary"),
        train.LossMonitor(),
        history,
    ]
    model.fit(6, data, data, callbacks=callbacks)
    assert history.epoch["epoch"] == [1, 2, 3]
    assert all(values == history.history for values in gather_objects(history.history))
    for name in ("all", f"rank_{RANK}"):
        files = os.listdir(f"{folder}/{name}")
        assert files and all(file.startswith("net-") for file in files), files  # no second set
    assert len(os.listdir(f"{folder}/summary")) == 2


class Mine:
    """A source that divides itself, unseen."""

    def __len__(self):
        return ROWS // SIZE

    def __getitem__(self, i):
        return x[i * SIZE + RANK], labels[i * SIZE + RANK], numbers[i * SIZE + RANK]


def an_evaluation_of_one():
    """A script that divides its data for the training evaluates in one process, and nobody waits for the others."""
    parallel(True)
    net, _ = build()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = Model(net, loss, optimizer, metrics={"accuracy"})
    columns = ((x, labels), ["x", "labels"])
    model.train(1, NumpySlicesDataset(*columns, num_shards=SIZE, shard_id=RANK).batch(BATCH))
    if RANK == SIZE - 1:
        assert model.eval(NumpySlicesDataset(*columns).batch(BATCH))["accuracy"] > 0
    parts = model.eval(NumpySlicesDataset(*columns, num_shards=SIZE, shard_id=RANK).batch(BATCH))
    assert len(set(gather_objects(parts["accuracy"]))) == 1


def statistics_over_all():
    """Batch norm over all processes, also where the last of them have no samples."""
    losses = []
    for norm, size, on in ((nn.BatchNorm1d, BATCH * SIZE, False), (nn.SyncBatchNorm, BATCH, True)):
        parallel(on)
        ms.set_seed(1)
        net = nn.SequentialCell(nn.Dense(4, 8), norm(8), nn.Dense(8, 3))
        model = Model(Loss(net), optimizer=nn.Momentum(net.trainable_params(), 0.05, 0.9))
        seen = Seen()
        model.train(2, source(False).batch(size), callbacks=[seen])
        losses.append(seen.losses)
        moving = [p.asnumpy() for p in net[1].get_parameters() if "moving" in p.name]
        losses.append(np.concatenate(moving))
    np.testing.assert_allclose(losses[2], losses[0], rtol=2e-3)
    np.testing.assert_allclose(losses[3], losses[1], rtol=2e-3, atol=1e-5)


def uneven_parts():
    """Parts of different sizes: who ends first waits for the others, and each sample weighs the same."""
    owned = np.cumsum([0, *(3 + 2 * rank for rank in range(SIZE))])
    columns = [(x[a:b], labels[a:b], numbers[a:b]) for a, b in itertools.pairwise(owned)]
    size = 2
    parallel(True)
    _, model = build()
    seen = Seen()
    data = GeneratorDataset(list(zip(*columns[RANK])), ["x", "labels", "numbers"], shuffle=False)
    model.train(1, data.batch(size), callbacks=[seen])
    parallel(False)
    _, alone = build()
    losses = []
    for step in range(-(-int(np.diff(owned).max()) // size)):
        rows = slice(step * size, (step + 1) * size)
        batch = [np.concatenate([part[rows] for part in columns_]) for columns_ in zip(*columns)]
        losses.append(float(alone.train_network(*map(ms.Tensor, batch)).asnumpy()))
    np.testing.assert_allclose(seen.losses, losses, rtol=1e-5)
    parallel(True)
    if SIZE > 1:
        _, model = build()
        try:
            model.train(1, data.batch(5, drop_remainder=True))
        except ValueError as error:
            assert "each process must have a batch, but rank 0 has none" in str(error)
        else:
            raise AssertionError("a process without a batch")


def divided_by_the_user():
    parallel(True)
    for data in (
        GeneratorDataset(Mine(), ["x", "labels", "numbers"], shuffle=False),
        NumpySlicesDataset(
            (x, labels, numbers),
            ["x", "labels", "numbers"],
            sampler=ms.dataset.DistributedSampler(SIZE, RANK, shuffle=False),
        ),
    ):
        _, model = build()
        seen = Seen()
        model.train(1, data.batch(BATCH), callbacks=[seen])
        rows = set(itertools.chain(*gather_objects(seen.samples)))
        assert len(rows) >= ROWS // SIZE * SIZE, rows


losses_and_samples()
sinks()
one_stops_all()
metrics()
dropped_by_global_sample()
rates_for_the_batches_of_all()
fit(sys.argv[1])
an_evaluation_of_one()
divided_by_the_user()
statistics_over_all()
uneven_parts()
print("all is well", flush=True)
