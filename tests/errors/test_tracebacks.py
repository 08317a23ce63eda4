"""Tracebacks of failed calls consist of the user's frames, in both modes, unless all frames are asked for or the package failed."""

from __future__ import annotations

import dataclasses
import gc
import sys
import traceback
import weakref

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, _core, jit, nn, ops
from mindspore.compile.walk import tracer

WIDE, NARROW = Tensor(np.ones((2, 4), np.float32)), Tensor(np.ones((2, 3), np.float32))


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4)

    def construct(self, x):
        return self.dense(x)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cells_in_a_row = nn.SequentialCell(Inner(), nn.ReLU())

    def construct(self, x):
        return self.cells_in_a_row(x)


class Raising(nn.Cell):
    def construct(self, x):
        try:
            return self.fails(x)
        except KeyError as error:
            raise ValueError("of the program") from error

    def fails(self, x):
        raise KeyError("the cause")


class Asserting(nn.Cell):
    def construct(self, x):
        assert x.sum() < 0, "of the program"
        return x


def squared(x):
    return ops.matmul(x, x)


def step_of(net):
    return nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    )


def model_of(net):
    return ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))


def rows():
    data = np.ones((4, 4), np.float32)
    return ds.NumpySlicesDataset((data, data), ["data", "label"]).batch(2)


def with_set_grad():
    net = Outer()
    net.set_grad()
    return net(WIDE)


def with_mixed_precision():
    net = Outer()
    net.to_float(ms.float16)
    return net(WIDE)


CELLS = ["construct", "construct"]
# What fails, and the user's functions that eager code was in.
FAILURES = {
    "cell": (lambda: Outer()(WIDE), CELLS),
    "grad": (lambda: ms.grad(Outer())(WIDE), CELLS),
    "value_and_grad": (lambda: ms.value_and_grad(Outer(), None, [])(WIDE), CELLS),
    "set_grad": (with_set_grad, CELLS),
    "to_float": (with_mixed_precision, CELLS),
    "step": (lambda: step_of(Outer())(WIDE, WIDE), CELLS),
    "train": (lambda: model_of(Outer()).train(1, rows()), CELLS),
    "predict": (lambda: model_of(Outer()).predict(WIDE), CELLS),
    "raised": (lambda: Raising()(WIDE), ["construct"]),
    "asserted": (lambda: Asserting()(WIDE), ["construct"]),
    "arguments": (lambda: Outer()(WIDE, WIDE), []),
    "a layer": (lambda: nn.Dense(3, 4)(WIDE), []),
    "jit": (lambda: jit(squared)(WIDE), None),
    "jvp": (lambda: ms.jvp(squared, WIDE, WIDE), None),
    "vjp": (lambda: ms.vjp(squared, WIDE), ["squared"]),
    "jacrev": (lambda: ms.jacrev(squared)(WIDE), None),
}


def frames(error):
    """The names of the functions in a traceback that this file or the package has."""
    found = traceback.extract_tb(error.__traceback__)
    return [f.name for f in found if f.filename == __file__ or "mindspore" in f.filename][1:]


def failure_of(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    return request.param


@pytest.mark.parametrize("name", FAILURES)
def test_the_user_sees_the_user_s_frames(name, mode):
    call, eager = FAILURES[name]
    found = frames(failure_of(call))[1:]
    expected = [] if mode == ms.GRAPH_MODE or eager is None else eager
    if sys.version_info < (3, 11):  # there is one frame of the package
        found.remove("call" if "call" in found else "__call__")
    assert found == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="one frame of the package stays")
def test_no_frame_of_the_package_is_shown(mode):
    for call, _ in FAILURES.values():
        error = failure_of(call)
        text = "".join(traceback.format_exception(error))
        assert "nn/cell.py" not in text and "compile/" not in text, text
        assert len(text.splitlines()) <= 40, text


def test_a_debugger_stands_at_the_user_s_line(mode):
    trace = failure_of(lambda: Raising()(WIDE)).__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    assert trace.tb_frame.f_code.co_filename == __file__ or sys.version_info < (3, 11)
    if mode == ms.PYNATIVE_MODE:
        assert trace.tb_frame.f_code.co_name == "construct"


def test_causes_are_kept(mode):
    error = failure_of(lambda: Raising()(WIDE))
    cause = error.__cause__
    assert isinstance(cause, KeyError) and cause.args == ("the cause",)
    if mode == ms.PYNATIVE_MODE:
        assert [f.name for f in traceback.extract_tb(cause.__traceback__)] == ["construct", "fails"]


def test_the_cause_of_what_a_tensor_decides(mode):
    class Net(nn.Cell):
        def construct(self, x):
            if x.sum() > 0:
                raise ValueError("of the program") from KeyError("the cause")
            return x

    for _ in range(2):
        error = failure_of(lambda: Net()(WIDE))
        assert isinstance(error.__cause__, KeyError) and "of the program" in str(error)


def test_all_frames_are_shown_when_asked_for(mode, monkeypatch):
    monkeypatch.setenv("MS_FULL_TRACEBACK", "1")
    assert "__call__" in frames(failure_of(lambda: Outer()(WIDE)))
    monkeypatch.setenv("MS_FULL_TRACEBACK", "0")
    if sys.version_info >= (3, 11):
        assert "__call__" not in frames(failure_of(lambda: Outer()(WIDE)))


def test_a_failure_of_the_package_shows_all(mode, monkeypatch):
    """Those who mend it need that."""
    net = Inner()
    if mode == ms.GRAPH_MODE:

        def broken(self, frame, node):
            return self.no_such_thing

        broken.__code__ = broken.__code__.replace(co_filename=tracer.__file__)
        monkeypatch.setattr(tracer.Tracer, "mark", broken)
    else:
        monkeypatch.setattr(type(net.dense), "construct", nn.Dense.construct)
        monkeypatch.setattr(net.dense, "matmul", None)
    found = frames(failure_of(lambda: net(NARROW)))
    assert "__call__" in found and len(found) > 3, found
    if mode == ms.GRAPH_MODE:  # down to the line that failed
        assert {"run_cell", "_along", "_run_statements"} <= set(found), found


def test_a_callback_of_the_user(mode):
    class Callback(ms.train.Callback):
        def on_train_step_begin(self, context):
            raise LookupError("of a callback")

    error = failure_of(lambda: model_of(nn.Dense(4, 4)).train(1, rows(), Callback()))
    found = [name for name in frames(error)[1:] if name != "call"]
    assert found == ["on_train_step_begin"]


def test_a_handler_in_construct_sees_what_it_saw(mode):
    class Careful(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            try:
                return self.inner(x)
            except ValueError:
                return x + 1

    assert Careful()(WIDE).asnumpy().tolist() == (WIDE.asnumpy() + 1).tolist()


def test_an_error_that_is_kept_keeps_no_compilation():
    """Notebooks keep the last one."""
    seen = []
    ms.set_context(mode=ms.GRAPH_MODE)

    class Seen(nn.Cell):
        def construct(self, x):
            return squared(x)

    original = tracer.Tracer.__enter__

    def enter(self):
        seen.append(weakref.ref(self))
        return original(self)

    tracer.Tracer.__enter__ = enter
    try:
        error = failure_of(lambda: Seen()(WIDE))
    finally:
        tracer.Tracer.__enter__ = original
    gc.collect()
    assert seen and all(reference() is None for reference in seen)
    assert isinstance(error, ValueError)


class Kept(nn.Cell):
    """Has two tensors when memory ends."""

    def __init__(self, held):
        super().__init__()
        self.note = held.append

    def construct(self, x):
        doubled = x * 2
        if not _core.graph_mode():
            self.note(weakref.ref(doubled))
        return ops.tile(doubled, (1 << 16, 1 << 14))


@pytest.mark.parametrize(
    "call",
    [
        lambda net, new: net(new()),
        lambda net, new: nn.SequentialCell(net)(new()),
        lambda net, new: ms.value_and_grad(net)(new()),
        lambda net, new: jit(net.construct)(new()),
        lambda net, new: ms.Model(net).predict(new()),
        lambda net, new: ops.tile(new(), (1 << 16, 1 << 14)),
    ],
    ids=["cell", "inner cell", "grad", "jit", "predict", "op"],
)
def test_no_tensor_is_kept_where_memory_ends(call, mode):
    held = []

    def fresh():
        x = Tensor(np.ones((70, 30), np.float32))
        held.append(weakref.ref(x))
        return x

    error = failure_of(lambda: call(Kept(held), fresh))
    gc.collect()
    assert isinstance(error, MemoryError) and held
    assert [kept() for kept in held if kept() is not None] == []


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    code: int


class Refusing(Exception):
    def __setattr__(self, name, value):
        raise AttributeError(f"no {name}")


@pytest.mark.parametrize("error", [Frozen(3), Refusing()], ids=["frozen", "refusing"])
def test_an_exception_that_refuses_attributes_arrives(error, mode):
    class Net(nn.Cell):
        def construct(self, x):
            raise error

    for _ in range(2):
        assert type(failure_of(lambda: Net()(WIDE))) is type(error)
