"""A call that raises is not traced anew each time: the error is raised again, at the line that calls, after what the program does
before it, as long as what led to it holds."""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly
from mindspore.compile.versions import attempt

X = Tensor(np.array([1.0, -2.0], np.float32))


class Settings:
    def __init__(self):
        self.limit = 1


@pytest.fixture
def traces(monkeypatch):
    """The functions that were traced, by the names of their caches."""
    names: list[str] = []
    original = attempt.Attempt._trace

    def trace(self, *args):
        names.append(self.asked.cache.name)
        return original(self, *args)

    monkeypatch.setattr(attempt.Attempt, "_trace", trace)
    return names


def error_of(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


def text_of(error):
    """Without the line that called."""
    return str(error).rpartition("\n  ")[0]


def test_an_error_of_the_program(traces):
    settings = Settings()

    @jit
    def checked(x):
        if x.shape[0] > settings.limit:
            raise ValueError(f"at most {settings.limit}")
        return x * 2

    errors = [error_of(checked, X) for _ in range(3)]
    assert len(set(map(id, errors))) == 3 and len(set(map(text_of, errors))) == 1
    assert "raise ValueError" in str(errors[1]) and "at most 1" in str(errors[1])
    assert all(type(e) is ValueError for e in errors) and len(traces) == 1
    settings.limit = 2
    assert checked(X).asnumpy().tolist() == [2, -4]
    settings.limit = 0
    assert "at most 0" in str(error_of(checked, X))
    settings.limit = 1
    assert "at most 1" in str(error_of(checked, X))
    assert len(traces) == 3
    assert "at most 1" in str(error_of(checked, Tensor([1.0, 2.0, 3.0])))


def test_each_error_names_the_line_that_calls():
    @jit
    def wrong(x):
        return ops.matmul(x, x[:1])

    first = error_of(lambda: wrong(X))
    second = error_of(lambda: wrong(X + 0))
    assert "wrong(X))" in str(first) and "wrong(X + 0))" in str(second)
    assert text_of(first) == text_of(second)
    first.args[0]
    second.extra = 1
    assert not hasattr(error_of(wrong, X), "extra")


def test_what_cannot_be_compiled(traces):
    settings = Settings()

    @jit(fullgraph=True)
    def whole(x):
        if settings.limit == 1:
            return x * float(np.sum(x.asnumpy()))
        return x * 2

    errors = [error_of(whole, X) for _ in range(3)]
    assert all(type(e) is TypeError and "asnumpy" in str(e) for e in errors) and len(traces) == 1
    settings.limit = 2
    assert whole(X).asnumpy().tolist() == [2, -4]


def test_what_cannot_be_compiled_by_the_setting():
    @jit
    def whole(x):
        return x * float(np.sum(x.asnumpy()))

    ms.set_context(jit_syntax_level=ms.context.STRICT)
    try:
        for _ in range(2):
            assert "asnumpy" in str(error_of(whole, X))
    finally:
        ms.set_context(jit_syntax_level=ms.context.LAX)
    with pytest.warns(RunsEagerly):
        assert whole(X).asnumpy().tolist() == [-1, 2]


def test_an_attribute_that_is_assigned():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0

        def construct(self, x):
            self.count = self.count + 1
            return x

    net = Counting()
    net.set_jit_config(ms.JitConfig(jit_syntax_level="STRICT"))
    ms.set_context(mode=ms.GRAPH_MODE)
    for _ in range(2):
        assert "only Parameters" in str(error_of(net, X))
    del net.count
    net.count = Parameter(Tensor(0.0), name="count")
    for i in range(2):
        net(X)
        assert net.count.asnumpy() == i + 1


MISSING = {
    "global": lambda x: x * global_of_the_test,  # noqa: F821
    "builtin": lambda x: x * builtin_of_the_test,  # noqa: F821
    "attribute": lambda x: x * Settings.other,
    "of an object": lambda x: x * SETTINGS.another,
    "of a module": lambda x: x * np.constant_of_the_test,
    "of a cell": lambda x: x * CELL.factor,
    "of a tensor": lambda x: x * x.factor_of_the_test,
    "item": lambda x: x * ITEMS["k"],
    "index": lambda x: x * VALUES[1],
}
SETTINGS, CELL, ITEMS, VALUES = Settings(), nn.Cell(), {}, [1]


@pytest.mark.parametrize("name", MISSING)
def test_what_was_missing_may_come(name, monkeypatch, traces):
    function = jit(MISSING[name])
    errors = [error_of(function, X) for _ in range(3)]
    assert len(traces) == 1 and len(set(map(text_of, errors))) == 1
    if name == "global":
        monkeypatch.setitem(globals(), "global_of_the_test", 2)
    elif name == "builtin":
        monkeypatch.setattr("builtins.builtin_of_the_test", 2, raising=False)
    elif name == "attribute":
        monkeypatch.setattr(Settings, "other", 2, raising=False)
    elif name == "of an object":
        monkeypatch.setattr(SETTINGS, "another", 2, raising=False)
    elif name == "of a module":
        monkeypatch.setattr(np, "constant_of_the_test", 2, raising=False)
    elif name == "of a cell":
        monkeypatch.setattr(CELL, "factor", 2, raising=False)
    elif name == "of a tensor":
        monkeypatch.setattr(Tensor, "factor_of_the_test", 2, raising=False)
    elif name == "item":
        monkeypatch.setitem(ITEMS, "k", 2)
    else:
        monkeypatch.setattr("test_remembered_failures.VALUES", [1, 2])
    assert function(X).asnumpy().tolist() == [2, -4]


def test_a_variable_that_gets_its_value_later():
    def make():
        @jit
        def function(x):
            return x * later

        for _ in range(2):
            assert isinstance(error_of(function, X), NameError)
        later = 2
        return function

    assert make()(X).asnumpy().tolist() == [2, -4]


class Acting(nn.Cell):
    """Does something, then fails."""

    def __init__(self, fails):
        super().__init__()
        self.n, self.fails = Parameter(Tensor(0.0), name="n"), fails

    def construct(self, x, seen):
        print("the sum is", x.sum())
        self.n += 1
        seen.append(x * 2)
        x[0] = 5
        return self.fails(x)


def fails_by_shape(x):
    return ops.matmul(x, Tensor(np.ones((3, 3), np.float32)))


def fails_by_raise(x):
    raise ValueError("of the program")


def fails_between(x):
    y = x * float(np.sum(x.asnumpy()))
    print("between", y[0])
    return y + ops.ones(7)


@pytest.mark.parametrize("fails", [fails_by_shape, fails_by_raise, fails_between])
def test_what_is_done_before(fails, capsys):
    """Is done before each error, as eager code does it."""
    results = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        net, seen = Acting(fails), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunsEagerly)
            for _ in range(3):
                x = X + 0
                error = error_of(net, x, seen)
        values = [v.asnumpy().tolist() for v in seen]
        results.append((type(error), net.n.asnumpy(), values, x.asnumpy().tolist()))
        results[-1] += (capsys.readouterr().out,)
    assert results[0] == results[1]
    assert results[0][1] == 3 and results[0][4].count("the sum") == 3


@pytest.mark.host_device
def test_an_error_of_a_value_comes_first():
    """Of a line that stands before, although its result is not used."""

    @jit
    def function(x, i):
        y = x[i]
        return y + fails_by_raise(x)

    index = Tensor(1), Tensor(7)
    for _ in range(2):
        assert [type(error_of(function, X, i)) for i in index] == [ValueError, IndexError]


def test_what_is_done_in_a_gradient_before(capsys):
    n = Parameter(Tensor(0.0), name="n")

    def function(x):
        ops.assign_add(n, Tensor(1.0))
        print("in the gradient", x.sum())
        raise ValueError("of the program")

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        gradient = ms.grad(function)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RunsEagerly)
            for _ in range(2):
                assert "of the program" in str(error_of(gradient, X))
    assert n.asnumpy() == 4 and capsys.readouterr().out.count("in the gradient") == 4


class Numbered(Exception):
    """An exception of a program with code of its own."""

    made = 0

    def __init__(self, what):
        Numbered.made += 1
        super().__init__(f"{what} number {Numbered.made}")


class Plain(LookupError):
    pass


def test_exceptions_of_the_program(traces):
    @jit
    def numbered(x):
        raise Numbered("error")

    @jit
    def plain(x):
        raise Plain("error", 3) from KeyError("cause")

    before = Numbered.made
    texts = [str(error_of(numbered, X)).partition("\n")[0] for _ in range(3)]
    assert texts == [f"error number {before + i}" for i in (1, 2, 3)] and len(traces) == 3
    errors = [error_of(plain, X) for _ in range(3)]
    assert all(type(e) is Plain and e.args[1] == 3 for e in errors) and len(traces) == 4
    causes = [e.__cause__ for e in errors]
    assert all(c.args == ("cause",) for c in causes) and len(set(map(id, causes))) == 3


def test_errors_of_lines_that_run_eagerly():
    """They tell of values, which change."""

    def converts(x):
        number = int(f"{x.asnumpy()[0]:.0f}x")
        return x * number

    def raises(x):
        raise ValueError(f"the value {x.asnumpy()[0]}")

    def wraps(x):
        try:
            return converts(x)
        except ValueError as error:
            raise KeyError(str(error)) from error

    for function in (converts, raises, wraps):
        compiled = jit(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunsEagerly)
            for x in (X, X + 1, X, X + 2, X):
                eager, graph = error_of(function, x), error_of(compiled, x)
                assert type(graph) is type(eager) or isinstance(graph, type(eager))
                assert str(eager.args[0]) in str(graph)


def test_values_of_tensors_in_an_exception():
    @jit
    def function(x):
        raise ValueError(x.sum(), "of the program")

    with pytest.warns(RunsEagerly):
        error = error_of(function, X)
    assert error.args[0].asnumpy() == -1
    assert error_of(function, X + 1).args[0].asnumpy() == 1


def test_failures_push_no_version_out(traces):
    @jit
    def function(x):
        if x.shape[0] > 2:
            raise ValueError("at most 2")
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(X)
        for size in range(3, 100):
            error_of(function, ops.ones(size))
        count = len(traces)
        assert function(X).asnumpy().tolist() == [2, -4] and len(traces) == count


def test_open_sizes(traces):
    function = jit(
        lambda x: ops.matmul(x, ops.ones((3, 2))),
        input_signature=Tensor(shape=[None, None], dtype=ms.float32),
    )
    for _ in range(3):
        assert isinstance(error_of(function, ops.ones((2, 4))), ValueError)
    assert len(traces) == 2  # with open sizes, and for these
    assert function(ops.ones((2, 3))).shape == (2, 2)


@pytest.mark.fast_stage
def test_recorded_calls(traces):
    @jit
    def function(x):
        if x.shape[0] > 1:
            raise ValueError("at most 1")
        return x * 2

    for _ in range(3):
        error = error_of(ms.grad(lambda x: function(x).sum()), X)
        assert "at most 1" in str(error)
    assert len(traces) == 1


def test_a_caller_catches_it_in_a_loop(traces):
    @jit
    def function(x):
        return x.reshape(3)

    class Caller(nn.Cell):
        def construct(self, x):
            try:
                return function(x)
            except ValueError:
                return x

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for _ in range(3):
            assert Caller()(X).asnumpy().tolist() == [1, -2]
    assert traces.count("function") <= 1


def test_the_traceback_does_not_grow():
    @jit
    def function(x):
        raise ValueError("of the program")

    lengths = [len(traceback.extract_tb(error_of(function, X).__traceback__)) for _ in range(4)]
    assert len(set(lengths)) == 1


def test_a_ring_of_causes():
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first

    @jit
    def refuse(x):
        raise first

    for _ in range(2):
        error = error_of(refuse, X)
        assert type(error) is ValueError and type(error.__cause__) is KeyError
