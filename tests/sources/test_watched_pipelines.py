"""Pipelines that user code steers: sync_wait and sync_update, callbacks of map."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mindspore.dataset as ds


def numbers(count):
    return ds.NumpySlicesDataset({"x": np.arange(count)}, shuffle=False)


def test_a_row_waits_for_what_the_update_changes():
    scale = [1]

    def change(data):
        scale[0] = data

    data = numbers(6).map(lambda x: x * scale[0], "x").batch(2).sync_wait("scale", 1, change)
    assert len(data) == 3
    for _ in range(2):
        seen = []
        scale[0] = 1
        for step, (x,) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True), 2):
            seen.append(x.tolist())
            data.sync_update("scale", data=step)
        assert seen == [[0, 1], [4, 6], [12, 15]]


def test_several_rows_for_an_update_and_operations_behind():
    data = numbers(6).sync_wait("go", 2).map(lambda x: x + 1, "x")
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen = [int(next(iterator)[0]) for _ in range(2)]
    data.sync_update("go", num_batch=4)
    assert seen + [int(row[0]) for row in iterator] == [1, 2, 3, 4, 5, 6]


def test_without_an_update_it_is_an_error_that_says_so():
    ds.config.set_callback_timeout(1)
    data = numbers(3).sync_wait("go")
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    with pytest.raises(RuntimeError, match=r"sync_update\('go'\) must be called within 1 s"):
        next(iterator)


def test_an_iterator_that_is_stopped_waits_for_nobody():
    data = numbers(3).sync_wait("go")
    iterator = data.create_tuple_iterator(output_numpy=True)
    next(iterator)
    begun = time.monotonic()
    iterator.stop()
    assert time.monotonic() - begun < 30  # the time-out is 60 s


def test_a_position_behind_a_condition():
    def build():
        return numbers(5).sync_wait("go")

    data = build()
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    data.sync_update("go")
    next(iterator)
    again = build()
    again.restore(data.state())
    rest = []
    for row in again.create_tuple_iterator(num_epochs=1, output_numpy=True):
        rest.append(int(row[0]))
        again.sync_update("go")
    assert rest == [2, 3, 4]


def test_wrong_conditions():
    data = numbers(3).sync_wait("go")
    for call, error in (
        (lambda: numbers(3).sync_wait(3), TypeError),
        (lambda: numbers(3).sync_wait("a", 0), ValueError),
        (lambda: numbers(3).sync_wait("a", 1, 3), TypeError),
        (lambda: data.sync_wait("go"), RuntimeError),
        (lambda: data.sync_update("stay"), RuntimeError),
        (lambda: data.sync_update("go", 0), ValueError),
    ):
        with pytest.raises(error, match="For 'sync_"):
            call()

    def refuse(data):
        raise KeyError("no")

    with pytest.raises(Exception, match="refuse"):
        numbers(3).sync_wait("go", 1, refuse).sync_update("go")


class Told(ds.DSCallback):
    """Keeps what it is told."""

    def __init__(self, step_size=1):
        super().__init__(step_size)
        self.events = []

    def ds_begin(self, context):
        self._keep("begin", context)

    def ds_epoch_begin(self, context):
        self._keep("epoch begin", context)

    def ds_epoch_end(self, context):
        self._keep("epoch end", context)

    def ds_step_begin(self, context):
        self._keep("step begin", context)

    def ds_step_end(self, context):
        self._keep("step end", context)

    def _keep(self, event, context):
        self.events.append(
            (event, context.cur_epoch_num, context.cur_step_num, context.cur_step_num_in_epoch)
        )


def test_callbacks_are_told_as_in_mindspore():
    told = Told(2)
    data = numbers(3).map(lambda x: x * 10, "x", callbacks=[told])
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        assert [int(row[0]) for row in iterator] == [0, 10, 20]
    # Of 2.10 the same; only that it may be further ahead between begins and ends.
    assert told.events == [
        ("begin", 0, 0, 0), ("epoch begin", 1, 0, 0),
        ("step begin", 1, 1, 1), ("step end", 1, 1, 1), ("step begin", 1, 3, 3), ("step end", 1, 3, 3),
        ("epoch end", 1, 3, 3), ("epoch begin", 2, 3, 0),
        ("step begin", 2, 4, 1), ("step end", 2, 4, 1), ("step begin", 2, 6, 3), ("step end", 2, 6, 3),
        ("epoch end", 2, 6, 3),
    ]  # fmt: skip


def test_a_callback_changes_the_next_row_and_one_that_fails_is_named():
    class Grows(ds.DSCallback):
        factor = 0

        def ds_step_begin(self, context):
            self.factor = context.cur_step_num

    grows = Grows()
    data = numbers(4).map(lambda x: x * grows.factor, "x", callbacks=grows)
    assert len(data) == 4
    for workers in (1, 3):
        ds.config.set_num_parallel_workers(workers)
        assert [int(row[0]) for row in data.create_tuple_iterator(None, 1, True)] == [0, 2, 6, 12]

    class Fails(ds.DSCallback):
        def ds_step_end(self, context):
            raise ValueError("not this one")

    data = numbers(4).map(lambda x: x, "x", callbacks=[Fails()])
    with pytest.raises(Exception, match=r"Fails\.ds_step_end"):
        list(data.create_tuple_iterator(num_epochs=1))
    with pytest.raises(TypeError, match="callbacks must be DSCallback"):
        numbers(4).map(lambda x: x, "x", callbacks=[3])
    with pytest.raises(ValueError, match="step_size must be in"):
        ds.DSCallback(0)
