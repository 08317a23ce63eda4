"""`try`, `raise` and `with` that Python decides: compiled code does what Python does, in Python's order."""

import contextlib

import numpy as np
import pytest

from mindspore import Tensor, context, jit, nn, ops

MODES = pytest.mark.parametrize(
    "mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"]
)


@pytest.fixture(autouse=True)
def strict():
    context.set_context(jit_syntax_level=context.STRICT)
    yield
    context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)


class Body(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def construct(self, *args):
        return self.body(*args)


X = Tensor(np.array([1, 2], np.float32))


class Manager:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("enter")
        return 10

    def __exit__(self, kind, error, traceback):
        self.log.append("exit" if kind is None else kind.__name__)
        return self.swallow


def order_of_clauses(x):
    log = []
    for number in range(4):
        try:
            log.append("body")
            if number == 1:
                raise KeyError("one")
            if number == 2:
                continue
            if number == 3:
                break
        except (KeyError, IndexError) as error:
            log.append(str(error))
        else:
            log.append("else")
        finally:
            log.append(number)
    return x + len(log), tuple(log)


def unmatched_handler(x):
    log = []
    try:
        try:
            raise IndexError("deep")
        except KeyError:
            log.append("wrong")
        finally:
            log.append("finally")
    except LookupError as error:
        log.append(type(error).__name__)
    return x, tuple(log)


def bare_raise(x):
    try:
        try:
            raise ValueError("again")
        except ValueError:
            raise
    except ValueError as error:
        return x, str(error)


def raise_from(x):
    try:
        raise ValueError("outer") from KeyError("inner")
    except ValueError as error:
        return x, repr(error.__cause__)


def return_in_finally(x):
    def inner():
        try:
            return x + 1
        finally:
            log.append("closed")

    log = []
    return inner(), tuple(log)


def finally_overrides(x):
    for _ in range(3):
        try:
            return x
        finally:
            break  # noqa: B012
    return x * 5


def exception_from_a_call(x):
    def fail(value):
        raise TypeError(f"no {value}")

    try:
        fail(3)
    except TypeError as error:
        return x, error.args[0]


def error_of_an_op(x):
    try:
        return ops.matmul(x.reshape(1, 2), x.reshape(1, 2))
    except ValueError:
        return x * 3


def missing_key(x):
    try:
        return {"a": x}["b"]
    except KeyError as error:
        return x, str(error)


def managers(x):
    log = []
    with Manager(log) as a, Manager(log) as b:
        x = x * (a + b)
    return x, tuple(log)


def manager_that_takes_the_error(x):
    log = []
    with Manager(log, swallow=True):
        raise KeyError("taken")
    return x, tuple(log)


def manager_around_a_return(x):
    log = []

    def inner():
        with Manager(log) as value:
            return x + value

    return inner(), tuple(log)


def library_manager(x):
    with contextlib.nullcontext(4) as value:
        x = x + value
    with contextlib.suppress(KeyError):
        raise KeyError("gone")
    return x


def branch_inside_try(x):
    try:
        if x.sum() > 2:
            y = x + 1
        else:
            y = x - 1
    finally:
        z = 3
    return y * z


def return_from_a_branch_inside_try(x):
    for _ in range(2):
        try:
            if x.sum() > 2:
                return x + 1
            x = x + 1
        finally:
            x = x * 2
    return x


CASES = [
    order_of_clauses,
    unmatched_handler,
    bare_raise,
    raise_from,
    return_in_finally,
    finally_overrides,
    exception_from_a_call,
    error_of_an_op,
    missing_key,
    managers,
    manager_that_takes_the_error,
    manager_around_a_return,
    library_manager,
    branch_inside_try,
    return_from_a_branch_inside_try,
]


def as_lists(value):
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    return [as_lists(v) for v in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("x", [X, X * 0], ids=["x", "zero"])
def test_compiled_equals_eager(case, x):
    expected = as_lists(case(x))
    context.set_context(mode=context.GRAPH_MODE)
    assert as_lists(Body(case)(x)) == expected


@MODES
def test_an_error_that_nobody_handles(mode):
    context.set_context(mode=mode)

    def body(x):
        try:
            raise ValueError("out")
        except KeyError:
            return x
        finally:
            x = x + 1

    with pytest.raises(ValueError, match="out"):
        Body(body)(X)


def test_a_handler_for_what_a_tensor_decides_is_not_compiled():
    @jit(fullgraph=True)
    def decided(x):
        try:
            if x.sum() > 5:
                raise ValueError("large")
        except ValueError:
            x = x - 1
        return x

    with pytest.raises(TypeError, match="'try' or 'with' is decided by a tensor"):
        decided(X)
