"""Filters: what they are asked when rows mix, and when a position is taken up again."""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Model, log, nn
from mindspore.dataset import config
from mindspore.train import (
    Callback,
    CheckpointConfig,
    LossMonitor,
    ModelCheckpoint,
    TimeMonitor,
    _position,
)
from mindspore.train._feed import Feed

ROWS = 600


@pytest.fixture(autouse=True)
def _seeded():
    before = dict(config._settings)
    config.set_seed(5)
    yield
    config._settings.update(before)


BITS_OF_A_BYTE = base64.b64encode(zlib.compress(b"\xff")).decode()


class Thirds:
    """Keeps every third number, and remembers what it was asked about."""

    def __init__(self):
        self.asked = []

    def __call__(self, x):
        self.asked.append(int(x))
        return x % 3 == 0


class Squares:
    """A function of map that remembers its rows."""

    def __init__(self):
        self.made = []

    def __call__(self, x):
        self.made.append(int(x))
        return x, x * x


def numbers(shuffle=False, rows=ROWS):
    return ds.NumpySlicesDataset({"x": np.arange(rows)}, shuffle=shuffle)


def listed(data, **options):
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True, **options)
    return [[np.asarray(value).tolist() for value in row] for row in iterator]


PIPELINES = {
    "batches": lambda data, keep: data.filter(keep, "x").batch(4),
    "buffered": lambda data, keep: data.filter(keep, "x").shuffle(9).batch(4),
    "mixed": lambda data, keep: data.filter(keep, "x").shuffle(ROWS).batch(4),
    "window": lambda data, keep: data.filter(keep, "x").skip(7).take(120).batch(4),
    "repeated": lambda data, keep: data.filter(keep, "x").repeat(2).batch(7),
    "twice": lambda data, keep: data.filter(lambda x: x % 2 == 0, "x").filter(keep, "x").batch(3),
    "joined": lambda data, keep: (data.filter(keep, "x") + numbers(rows=30)).batch(5),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("step", [0, 1, 17])
def test_what_was_given_is_not_asked_again(name, step):
    keep = Thirds()
    data = PIPELINES[name](numbers(shuffle=True), keep)
    whole = listed(data)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    keep.asked.clear()
    given = [next(iterator)[0].tolist() for _ in range(step)]
    state = json.loads(json.dumps(data.state()))
    iterator.stop()

    keep.asked.clear()
    again = PIPELINES[name](numbers(shuffle=True), keep)
    again.restore(state)
    rest = listed(again)
    assert [[batch] for batch in given] + rest == whole
    told = state.get("filters", [])
    above = max((entry["node"] for entry in told), default=0)  # the filter that is above others
    known = sum(entry["rows"] for entry in told if entry["node"] == above)  # in all its passes
    assert len(keep.asked) <= (2 if name == "repeated" else 1) * ROWS - known
    assert known >= step * 3  # each batch has three rows or more


def test_what_was_dropped_is_not_made_again():
    square, keep = Squares(), Thirds()

    def build():
        data = numbers().map(square, "x", ["x", "y"])
        return data.filter(keep, "x").batch(5)

    data = build()
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    for _ in range(20):
        next(iterator)
    state = data.state()
    iterator.stop()
    known = state["filters"][0]["rows"]
    square.made.clear()
    keep.asked.clear()
    again = build()
    again.restore(state)
    rows = listed(again)
    assert [xs for xs, _ in rows] == [list(range(n, n + 15, 3)) for n in range(300, ROWS, 15)]
    assert min(keep.asked) == known
    assert min(square.made) >= min(300, known) and all(x % 3 == 0 for x in square.made if x < known)


def test_states_go_on_from_states():
    """A position that was taken up has what it was told, and what came since."""
    keep = Thirds()
    expected = listed(PIPELINES["buffered"](numbers(), keep))
    state, given = None, []
    for _ in range(5):
        data = PIPELINES["buffered"](numbers(), keep)
        if state is not None:
            data.restore(state)
        iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        given += [[next(iterator)[0].tolist()] for _ in range(6)]
        state = json.loads(json.dumps(data.state()))
        iterator.stop()
    assert given == expected[:30]
    assert [entry["node"] for entry in state["filters"]] == [2]


def test_a_training_goes_on_without_asking():
    """As Model.resume does: an iterator that begins with the epoch, of which some batches were given."""
    keep, square = Thirds(), Squares()

    def build():
        data = numbers(shuffle=True).map(square, "x", ["x", "y"]).filter(keep, "x")
        return Feed("Model.train", data.batch(4))

    def batches(rows):
        return [batch[0].asnumpy().tolist() for batch in rows]

    feed = build()
    iterator = feed.create_tuple_iterator(num_epochs=1)
    given = batches(next(iterator) for _ in range(30))
    position = json.loads(json.dumps(_position.position_of(iterator)))
    rest = batches(iterator)
    again = build()  # which counts the batches
    keep.asked.clear()
    square.made.clear()
    _position.prepare(again, position, 0)
    assert batches(again.rest(again.create_tuple_iterator(num_epochs=1), 30, 0)) == rest
    known = position["filters"][0]["rows"]
    assert known >= 120 and len(keep.asked) == ROWS - known
    assert not set(square.made) & set(np.ravel(given).tolist())


def test_the_next_epoch_begins_without_verdicts():
    def build():
        return PIPELINES["batches"](numbers(shuffle=True), Thirds())

    data = build()
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    first = [row[0].tolist() for row in iterator]
    assert "filters" not in data.state()
    second = [next(iterator)[0].tolist() for _ in range(3)]
    again = build()
    again.restore(data.state())
    second += [batch for (batch,) in listed(again)]
    assert second != first and sorted(np.concatenate(second)) == sorted(np.concatenate(first))


@pytest.mark.parametrize(
    "change, says",
    [
        ({"filters": 3}, "filters must be"),
        ({"filters": [3]}, "filters must be"),
        ({"rows": -1}, "rows must be"),
        ({"rows": 1 << 40}, "rows must be"),
        ({"rows": 5000}, "a bit for each of 5000 rows"),
        ({"rows": 1}, "a bit for each of 1 rows"),
        ({"rows": 3, "kept": BITS_OF_A_BYTE}, "a bit for each of 3 rows"),
        ({"kept": "?"}, "of the filter of node 2 is damaged"),
        ({"kept": "AAAA"}, "of the filter of node 2 is damaged"),
        ({"kept": None}, "kept must be"),
        ({"node": "x"}, "node must be"),
    ],
)
def test_damaged_states(change, says):
    data = PIPELINES["batches"](numbers(), Thirds())
    next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    state = data.state()
    if "filters" in change:
        state = {**state, **change}
    else:
        state["filters"] = [{**state["filters"][0], **change}]
    again = PIPELINES["batches"](numbers(), Thirds())
    with pytest.raises((TypeError, ValueError), match=rf"For 'restore'.*{says}"):
        again.restore(state)
        again.create_tuple_iterator()


def test_a_state_that_tells_of_a_pass_twice():
    data = PIPELINES["batches"](numbers(), Thirds())
    next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    state = data.state()
    with pytest.raises(
        ValueError, match="For 'restore', the state must tell of each pass of a filter once"
    ):
        again = PIPELINES["batches"](numbers(), Thirds())
        again.restore({**state, "filters": state["filters"] * 2})
        again.create_tuple_iterator()


def test_fewer_rows_than_were_judged():
    data = PIPELINES["batches"](numbers(), Thirds())
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    for _ in range(40):
        next(iterator)
    again = PIPELINES["batches"](numbers(rows=30), Thirds())
    again.restore(data.state())
    with pytest.raises(RuntimeError, match=r"'restore'.*must have the 40 rows.*but only 0 of them"):
        listed(again)


# Rows that mix


def test_rows_mix_before_they_are_asked_about():
    keep = Thirds()
    data = PIPELINES["mixed"](numbers(), keep)
    data.num_parallel_workers = 1
    config.set_prefetch_size(1)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    first = next(iterator)[0]
    iterator.stop()
    assert len(keep.asked) < 250 and len(first) == 4
    rows = [x for (batch,) in listed(data) for x in batch]
    assert sorted(rows) == list(range(0, ROWS, 3))
    assert abs(np.corrcoef(rows, np.arange(len(rows)))[0, 1]) < 0.2


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_they_mix_alike_whoever_makes_them(workers):
    def build():
        data = numbers().filter(lambda x: x % 3 == 0, "x")
        data = data.map(lambda x: x + np.random.randint(1000), "x")
        return data.filter(lambda x: x % 2 == 0, "x").shuffle(ROWS)

    expected = listed(build())
    data = build()
    data.num_parallel_workers = workers
    assert listed(data) == expected
    assert expected != sorted(expected)


def test_a_small_buffer_keeps_its_place():
    """A buffer that cannot hold all rows mixes those that are near each other."""
    data = numbers().filter(lambda x: x % 3 == 0, "x").shuffle(5)
    for place, (x,) in enumerate(listed(data)):
        assert x <= 3 * (place + 5)


@pytest.mark.parametrize("size", [5, ROWS])
def test_a_predicate_that_fails_does_so_at_its_row(size):
    def keep(x):
        if x == 200:
            raise ValueError("nothing is known of it")
        return x % 3 == 0

    data = numbers().filter(keep, "x")
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    given = []
    with pytest.raises(RuntimeError, match=r"'filter'.*nothing is known of it") as caught:
        for row in iterator:
            given.append(int(row[0]))
    assert given == list(range(0, 200, 3)) and "row 200" in str(caught.value)
    with pytest.raises(RuntimeError, match="nothing is known of it"):
        listed(data.shuffle(size))


def test_a_position_that_is_not_found_stays_an_error():
    """No iterator begins at another place than restore() said, until it is told so."""
    data = PIPELINES["batches"](numbers(), Thirds())
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    for _ in range(7):
        next(iterator)
    state = data.state()
    fewer = PIPELINES["batches"](numbers(rows=30), Thirds())
    fewer.restore(state)
    for _ in range(2):
        iterator = fewer.create_tuple_iterator(num_epochs=1)
        for _ in range(2):
            with pytest.raises(RuntimeError, match=r"must have the 7 rows .* but only . of them"):
                next(iterator)
    wrong = json.loads(json.dumps(state))
    wrong["filters"][0]["rows"] = 9
    again = PIPELINES["batches"](numbers(), Thirds())
    again.restore(wrong)
    for _ in range(2):
        with pytest.raises(ValueError, match="must be a bit for each of 9 rows"):
            again.create_tuple_iterator(num_epochs=1)
    again.restore(state)
    assert listed(again) == listed(PIPELINES["batches"](numbers(), Thirds()))[7:]


def test_an_iterator_that_finds_its_position_later_leaves_none_behind():
    data = PIPELINES["batches"](numbers(), Thirds())
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    for _ in range(7):
        next(iterator)
    data.restore(data.state())
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    pipeline = iterator._pipeline

    class Stopped:
        verdicts = pipeline.verdicts

        def begin(self, epoch, step):
            raise KeyboardInterrupt

    iterator._pipeline = Stopped()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    iterator._pipeline = pipeline
    rest = [row[0].tolist() for row in iterator]
    whole = [row[0] for row in listed(data)]
    assert rest == whole[7:]


def test_after_an_error_the_iterator_says_so():
    def fail(x):
        if x == 6:
            raise ValueError("no")
        return True

    iterator = numbers(rows=9).filter(fail, "x").create_tuple_iterator(num_epochs=1)
    with pytest.raises(RuntimeError, match="no"):
        list(iterator)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="1 epochs, and the last one ended with an error"):
            next(iterator)
    iterator = numbers(rows=2).create_tuple_iterator(num_epochs=1)
    assert len(list(iterator)) == 2
    with pytest.raises(RuntimeError, match="gave them all"):
        next(iterator)


@dataclasses.dataclass(frozen=True)
class Refusal(Exception):
    """An exception whose attributes nobody may set."""

    why: str


@pytest.mark.parametrize("method", ["filter", "map"])
def test_errors_that_refuse_attributes_arrive(method):
    def fail(x):
        raise Refusal("odd")

    data = getattr(numbers(rows=3), method)(fail, "x")
    with pytest.raises(RuntimeError, match=rf"For '{method}', .*fail \(row 0\) raised Refusal"):
        listed(data)


class Once:
    """A filter that remembers, as none may."""

    def __init__(self, forgets=0):
        self.seen, self.forgets = set(), forgets

    def __call__(self, x):
        number = int(np.ravel(x)[0])
        new = number not in self.seen or number < self.forgets
        self.seen.add(number)
        return new


def one_layer():
    net = nn.Dense(1, 1)
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"loss"})


def numbers_and_answers(keep):
    columns = {"x": np.arange(12, dtype=np.float32)[:, None], "y": np.ones((12, 1), np.float32)}
    return ds.NumpySlicesDataset(columns, shuffle=False).filter(keep, "x").batch(2)


@pytest.mark.parametrize("call", ["train", "eval"])
def test_no_batch_where_some_were_counted_is_an_error(call):
    model, asks = one_layer(), Callback()  # one of the user's
    data = numbers_and_answers(Once())
    with pytest.raises(RuntimeError, match=rf"Model.{call}'.* had 6 batches .* gave none: .*alone"):
        model.train(2, data, asks) if call == "train" else model.eval(data, asks)


def test_no_batch_where_there_was_an_epoch_is_an_error():
    data = numbers_and_answers(Once())
    with pytest.raises(RuntimeError, match=r"Model.train'.* had 6 batches .* gave none: .*alone"):
        one_layer().train(2, data)


@pytest.mark.parametrize("callbacks", [[], [Callback()]])
def test_no_batch_at_all_is_an_error(callbacks):
    data = numbers_and_answers(lambda x: False)
    with pytest.raises(ValueError, match="'train_dataset' must have at least one batch"):
        one_layer().train(2, data, callbacks)


@pytest.mark.parametrize("counted", [False, True])
def test_they_are_asked_beforehand_only_if_somebody_may_want_the_number(counted, capsys, tmp_path):
    asked, seen = [], []

    def keep(x):
        asked.append(float(x[0]))
        return x[0] != 3

    class Sizes(Callback):
        def on_train_epoch_end(self, run_context):
            seen.append(run_context.original_args().batch_num)

    data, model = numbers_and_answers(keep), one_layer()
    saving = ModelCheckpoint("c", str(tmp_path), CheckpointConfig(4))
    callbacks = [LossMonitor(), TimeMonitor(), saving] + [Sizes()] * counted
    model.train(2, data, callbacks)
    assert (len(asked) > 24) == counted and seen == [6, 6] * counted
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines if "loss" in line][5:7] == [
        "epoch: 1 step: 6", "epoch: 2 step: 1",
    ]  # fmt: skip
    assert {file.name for file in tmp_path.glob("*.ckpt")} == {
        "c-1_4.ckpt",
        "c-2_2.ckpt",
        "c-2_6.ckpt",
    }
    asked.clear()
    model.eval(data, callbacks[3:])
    assert len(asked) == 12 * (1 + counted)


def test_a_training_goes_on_from_an_epoch_that_was_not_counted(tmp_path):
    def training():
        ms.set_seed(1)
        return one_layer(), numbers_and_answers(lambda x: x[0] != 3)

    model, data = training()
    saving = ModelCheckpoint("c", str(tmp_path), CheckpointConfig(1, keep_checkpoint_max=20))
    model.train(2, data, saving)
    expected = model.train_network.weights[0].asnumpy()
    for step in (2, 6):
        model, data = training()
        model.resume(str(tmp_path / f"c-1_{step}.ckpt"))
        model.train(2, data)
        np.testing.assert_array_equal(model.train_network.weights[0].asnumpy(), expected)


def test_fewer_batches_than_were_counted_are_said(monkeypatch):
    said = []
    monkeypatch.setattr(log, "warn_once", lambda key, text: said.append(text))
    model = one_layer()
    model.train(1, numbers_and_answers(lambda x: x[0] < 6))
    assert not said
    model.train(2, numbers_and_answers(Once(forgets=4)))
    assert len(said) == 1 and "had 6 batches when they were counted, but then gave 2" in said[0]
