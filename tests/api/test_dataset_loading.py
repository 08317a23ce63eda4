"""Rows of objects with __getitem__, which the engine asks for by itself: every kind of value, alone and in batches."""

from __future__ import annotations

import decimal
import threading
import time

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset.engine.calls import LoadCall

VALUES = {
    "integers": lambda i: i,
    "large integers": lambda i: 2**63 + i,
    "reals": lambda i: i / 2,
    "truth": lambda i: i % 2 == 0,
    "float32": lambda i: np.float32(i),
    "int8": lambda i: np.int8(i),
    "mixed": lambda i: np.int64(i) if i % 2 else i,
    "array": lambda i: np.full((2, 3), i, np.float16),
    "slices": lambda i: np.arange(20, dtype=np.int32)[i : i + 3],
    "strided": lambda i: np.arange(20.0)[i : i + 8 : 2],
    "big-endian": lambda i: np.full(3, i, ">i4"),
    "large": lambda i: np.full((40, 40), i, np.float64),
    "empty": lambda i: np.zeros((0, 4), np.float32),
    "text": lambda i: "abc"[: i % 3 + 1],
    "bytes": lambda i: b"xyz"[: i % 3 + 1],
    "texts": lambda i: np.array(["a", "b" * (i + 1)]),
    "list": lambda i: [i, i + 1],
    "scalar arrays": lambda i: np.array(i),
    "dict": lambda i: {"a": np.array([i])},
}


class Source:
    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 7

    def __getitem__(self, index):
        return self.make(index), index


def rows(source, batch, **options):
    data = ds.GeneratorDataset(source, ["x", "i"], shuffle=False, **options)
    data = data.batch(batch) if batch else data
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def as_python(source, monkeypatch, batch):
    """The same by Python alone."""
    with monkeypatch.context() as patch:
        patch.setattr("mindspore.dataset.engine.calls.asks_row", lambda _: True)
        return rows(source, batch)


@pytest.mark.parametrize("batch", [0, 3])
@pytest.mark.parametrize("kind", VALUES)
def test_values_are_those_that_python_makes(kind, batch, monkeypatch):
    source = Source(VALUES[kind])
    assert LoadCall(source, ["x", "i"], None).plain
    wanted = as_python(source, monkeypatch, batch)
    for one, other in zip(rows(source, batch), wanted, strict=True):
        for a, b in zip(one, other, strict=True):
            assert type(a) is type(b)
            if isinstance(a, dict):
                a, b = a["a"], b["a"]
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


def test_a_batch_does_not_see_what_is_written_later():
    kept = np.zeros(4, np.float32)

    class Same:
        def __len__(self):
            return 6

        def __getitem__(self, index):
            kept[:] = index
            return kept, index

    for batch in rows(Same(), 3):
        assert batch[0][:, 0].tolist() == batch[1].tolist()


@pytest.mark.parametrize("batch", [0, 4])
def test_failures_name_the_row(batch):
    class Fails(Source):
        def __getitem__(self, index):
            if index == 5:
                raise KeyError("no such row")
            return index, index

    with pytest.raises(RuntimeError, match=r"Fails.__getitem__\(5\) raised KeyError") as caught:
        rows(Fails(None), batch)
    assert 'raise KeyError("no such row")' in str(caught.value)
    for value, text in (
        ((1,), r"\[0\].*2 columns"),
        (decimal.Decimal(1), r"\[0\]"),
        ((decimal.Decimal(1), 1), "a column must be a number, a string, a NumPy array or a Tensor"),
    ):

        class Odd(Source):
            def __getitem__(self, index, value=value):
                return value

        with pytest.raises((RuntimeError, TypeError, ValueError), match=text):
            rows(Odd(None), batch)
    uneven = Source(lambda i: np.zeros(i + 1))
    with pytest.raises(RuntimeError, match=r"rows of column 'x' must have the same shape"):
        rows(uneven, 3)


def test_who_asks_which_row_it_is_gets_an_answer():
    from mindspore.dataset import vision

    flip = vision.RandomHorizontalFlip(0.5)
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    source = Source(lambda i: flip(image))
    assert not LoadCall(source, ["x", "i"], None).plain
    first, again = (np.stack([r[0] for r in rows(source, 0)]) for _ in range(2))
    assert first.shape == again.shape == (7, 2, 2, 3)
    drawn = Source(lambda i: np.random.rand())
    assert not LoadCall(drawn, ["x", "i"], None).plain


class Watched:
    """A quick source that notes which thread asks, and fails where it is told."""

    def __init__(self, count, failing=(), error=ValueError):
        self.count, self.failing, self.error = count, set(failing), error
        self.threads = []

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.threads.append(threading.get_ident())
        if index in self.failing:
            self.failing.discard(index)
            raise self.error(f"row {index}")
        return (index,)


@pytest.fixture
def all_plain(monkeypatch):
    """Sources are plain, whatever they do."""
    for name in ("may_draw", "asks_row"):
        monkeypatch.setattr(f"mindspore.dataset.engine.calls.{name}", lambda _: False)


def batches(source):
    data = ds.GeneratorDataset(source, ["x"], shuffle=False).batch(4)
    return data, data.create_tuple_iterator(output_numpy=True)


def test_quick_rows_are_made_by_who_takes_them_and_others_beside(all_plain):
    source, here = Watched(40000), threading.get_ident()
    _, iterator = batches(source)
    seen = [next(iterator)[0] for _ in range(8000)]
    assert here in source.threads[-100:]
    for _ in range(60):
        time.sleep(0.002)  # a training step
        seen.append(next(iterator)[0])
    asked = len(source.threads)
    time.sleep(0.002)
    seen.append(next(iterator)[0])
    assert here not in source.threads[asked - 80 :]
    seen += [row[0] for row in iterator]
    np.testing.assert_array_equal(np.concatenate(seen), np.arange(40000))


@pytest.mark.parametrize(
    ("error", "seen"), [(ValueError, RuntimeError), (KeyboardInterrupt, KeyboardInterrupt)]
)
def test_a_row_fails_where_it_is_made(error, seen, all_plain):
    source = Watched(20000, [15001], error)
    data, iterator = batches(source)
    with pytest.raises(seen, match="row 15001"):
        for given, (row,) in enumerate(iterator):
            assert row[0] == 4 * given
    assert given == 15000 // 4 - 1
    state = data.state()
    assert len(list(iterator)) == 5000  # the next epoch
    again, _ = batches(source)
    again.restore(state)
    rest = again.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert next(rest)[0].tolist() == [15000, 15001, 15002, 15003]


def test_another_thread_stops_who_makes_rows(all_plain):
    source, entered = Watched(10**9), threading.Event()
    _, iterator = batches(source)
    said = []

    def take():
        try:
            for step, _ in enumerate(iterator):
                if step == 2000:
                    entered.set()
        except RuntimeError as error:
            said.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    assert entered.wait(30)
    iterator.stop()
    thread.join(10)
    assert not thread.is_alive() and "was stopped" in said[0]


def test_collate_fn_draws_anew_for_each_batch():
    from mindspore.dataset.core.random import row_rng

    ds.config.set_seed(3)
    drawn = []

    def collate(x):
        drawn.append(row_rng().random())
        return (np.stack(x),)

    class Numbers:
        def __getitem__(self, i):
            return (np.int64(i),)

        def __len__(self):
            return 6

    batches = [[0, 1], [2, 3], [4, 5]]
    data = ds.GeneratorDataset(Numbers(), ["x"], batch_sampler=batches, collate_fn=collate)
    for _ in range(2):
        assert len(list(data.create_tuple_iterator(num_epochs=1))) == 3
    assert len(drawn) == 6 and len(set(drawn[:3])) == 3
