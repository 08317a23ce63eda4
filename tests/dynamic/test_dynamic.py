"""Open sizes: one compile serves all of them, with the results of fixed sizes, bit for bit."""

import logging

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, jit, nn, ops

OPEN = Tensor(shape=[None, 3], dtype=ms.float32)


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def data(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def check(function, *specs, sizes=range(1, 10), make=None):
    """`function` on open sizes equals the same function compiled for every shape; one compile serves them."""
    dynamic = jit(function, input_signature=specs)
    static = jit(function)
    make = make or (lambda n: [data(*[n if s == -1 else s for s in spec.shape]) for spec in specs])
    dynamic(*make(4))
    before = _core.pass_runs()
    outputs = [dynamic(*make(n)) for n in sizes]
    assert _core.pass_runs() == before, "the passes ran again"
    assert dynamic.cache.compiled == 1, "the front end ran again"
    assert not dynamic.cache.static
    for n, got in zip(sizes, outputs):
        expected = static(*make(n))
        flat = lambda v: v if isinstance(v, (tuple, list)) else (v,)
        for g, e in zip(flat(got), flat(expected), strict=True):
            assert g.shape == e.shape and g.dtype == e.dtype
            assert np.array_equal(g.asnumpy(), e.asnumpy(), equal_nan=True), n


CASES = {
    "elementwise": lambda x: ops.relu(x * 2 + 1) - ops.exp(x) / 3,
    "broadcast": lambda x: x + ops.ones((3,), ms.float32) * x.sum(axis=1, keepdims=True),
    "shape in reshape": lambda x: x.reshape(x.shape[0] * 3),
    "minus one": lambda x: x.reshape(-1, 1).reshape((x.shape[0], -1)),
    "flatten and swap": lambda x: ops.transpose(x, (1, 0)).reshape(-1),
    "expand": lambda x: ops.expand_dims(x, 1).broadcast_to((-1, 4, -1)),
    "squeeze": lambda x: ops.squeeze(ops.expand_dims(x, 1), 1),
    "tile": lambda x: ops.tile(x, (2, 3)),
    "sum": lambda x: (x.sum(), x.sum(axis=0), x.sum(axis=1, keepdims=True)),
    "mean": lambda x: (x.mean(), x.mean(axis=0)),
    "max": lambda x: (x.max(axis=0), ops.argmax(x, 0), x.min()),
    "matmul": lambda x: ops.matmul(x, x.T),
    "softmax": lambda x: (ops.softmax(x), ops.log_softmax(x, axis=0)),
    "slices": lambda x: (x[:, 1:], x[1:], x[-1], x[0], x[::-1], x[:-1]),
    "concat": lambda x: ops.concat((x, x * 2, x[1:])),
    "stack": lambda x: ops.stack((x, x + 1), axis=1),
    "split": lambda x: ops.split(ops.concat((x, x), axis=1), 3, axis=1),
    "gather": lambda x: ops.gather(x, Tensor([0, -1]), 0),
    "one hot": lambda x: ops.one_hot(ops.argmax(x, 1), 5),
    "like": lambda x: ops.zeros_like(x) + ops.ones_like(x),
    "zeros": lambda x: (
        ops.zeros((x.shape[0], 2), ms.float32) + ops.ones((x.shape[0], 1), ms.float32)
    ),
    "arange": lambda x: ops.arange(x.shape[0]) * 2,
    "cast": lambda x: x.astype(ms.int32).astype(ms.float16),
    "cumsum": lambda x: ops.cumsum(x, 0),
    "size": lambda x: x.sum() / x.size + x.shape[0] * 2 - 1 / x.shape[0],
    "divide": lambda x: x / x.shape[0] + x.shape[0] / 3,
    "where": lambda x: ops.select(x > 0, x, -x),
    "pad": lambda x: ops.pad(x, (1, 2)),
    "layer norm": lambda x: (
        ops.layer_norm(x, (3,), ops.ones(3, ms.float32), ops.zeros(3, ms.float32))
        if hasattr(ops, "layer_norm")
        else x
    ),
    "sort": lambda x: ops.sort(x, axis=0),
    "tril": lambda x: ops.tril(ops.matmul(x, x.T)),
}


@pytest.mark.parametrize("name", CASES)
def test_one_compile_for_all_batches(name):
    check(CASES[name], OPEN)


def gradient_of(function):
    def loss(x):
        total = 0.0
        value = function(x)
        for part in value if isinstance(value, tuple) else (value,):
            total = total + (part.astype(ms.float32) * part.astype(ms.float32)).sum()
        return total

    return ms.grad(loss)


@pytest.mark.parametrize(
    "name", [n for n in CASES if n not in ("one hot", "zeros", "arange", "like", "cast")]
)
def test_gradients(name):
    check(gradient_of(CASES[name]), OPEN)


def test_two_open_inputs_that_meet():
    other = Tensor(shape=[None, 3], dtype=ms.float32)
    check(lambda x, y: (x + y, ops.concat((x, y)), ops.matmul(x, y.T)), OPEN, other)


def test_open_inputs_that_were_equal_by_chance():
    def add(x, y):
        return x + y

    dynamic = jit(add, input_signature=(OPEN, OPEN))
    for a, b in ((4, 4), (2, 2), (4, 1), (1, 5), (3, 3)):
        assert dynamic(data(a, 3), data(b, 3)).shape == (max(a, b), 3)
    with pytest.raises(ValueError, match="must broadcast"):
        dynamic(data(2, 3), data(5, 3))
    assert dynamic(data(7, 3), data(7, 3)).shape == (7, 3)


def test_open_inputs_that_stay_apart():
    def outer(x, y):
        return ops.expand_dims(x, 1) * ops.expand_dims(y, 0)

    dynamic = jit(outer, input_signature=(OPEN, OPEN))
    for a, b in ((2, 3), (5, 1), (4, 4), (1, 1)):
        assert dynamic(data(a, 3), data(b, 3)).shape == (a, b, 3)
    assert dynamic.cache.compiled == 1


def test_batch_and_sequence():
    spec = Tensor(shape=[None, None, 4], dtype=ms.float32)

    def attention(x):
        b, t, d = x.shape
        heads = x.reshape(b, t, 2, d // 2).transpose(0, 2, 1, 3)
        scores = ops.matmul(heads, heads.swapaxes(-1, -2)) / (d // 2) ** 0.5
        mixed = ops.matmul(ops.softmax(scores), heads)
        return mixed.transpose(0, 2, 1, 3).reshape(b * t, d)

    dynamic, static = jit(attention, input_signature=spec), jit(attention)
    for b, t in ((2, 3), (1, 1), (3, 2), (4, 4)):
        x = data(b, t, 4)
        assert np.array_equal(dynamic(x).asnumpy(), static(x).asnumpy())
    assert dynamic.cache.compiled == 1


# ---- questions about sizes --------------------------------------------------------------------------------------------------
def test_a_question_that_has_an_answer_for_all_sizes():
    def f(x):
        return x * 2 if x.shape[0] > 0 and x.shape[0] + 1 != 0 else x

    check(f, OPEN)


def test_a_question_becomes_a_guard():
    def f(x):
        return x * 2 if x.shape[0] > 4 else x

    dynamic = jit(f, input_signature=OPEN)
    for n in (2, 3, 4, 5, 9, 1, 7):
        expected = data(n, 3).asnumpy() * (2 if n > 4 else 1)
        assert np.array_equal(dynamic(data(n, 3)).asnumpy(), expected)
    assert dynamic.cache.compiled == 2


def test_a_loop_over_a_size_is_compiled_for_each():
    def f(x):
        total = x[0]
        for i in range(1, x.shape[0]):
            total = total + x[i]
        return total

    dynamic = jit(f, input_signature=OPEN)
    for n in (2, 3, 2, 3):
        np.testing.assert_allclose(
            dynamic(data(n, 3)).asnumpy(), data(n, 3).asnumpy().sum(0), rtol=1e-5
        )
    assert dynamic.cache.compiled == 2


def test_len_and_numbers_of_sizes():
    def f(x):
        return x.sum() * float(x.shape[0]) + int(x.shape[0]) + len(x)

    dynamic = jit(f, input_signature=OPEN)
    for n in (2, 3):
        expected = data(n, 3).asnumpy().sum() * n + 2 * n
        np.testing.assert_allclose(dynamic(data(n, 3)).asnumpy(), expected, rtol=1e-5)


def test_nothing_of_size_zero_goes_wrong():
    dynamic = jit(lambda x: x * 2, input_signature=OPEN)
    assert dynamic(data(2, 3)).shape == (2, 3)
    assert dynamic(data(0, 3)).shape == (0, 3)


# ---- declarations -----------------------------------------------------------------------------------------------------------
def test_descriptions():
    assert OPEN.shape == (-1, 3) and OPEN.dtype == ms.float32 and OPEN.ndim == 2
    assert Tensor(shape=[-1, 3], dtype=ms.float32).shape == (-1, 3)
    assert "-1" in repr(OPEN)
    with pytest.raises(TypeError, match="only describes an input"):
        OPEN.asnumpy()
    with pytest.raises(TypeError, match="only describes an input"):
        OPEN + 1
    with pytest.raises(ValueError, match="it needs 'dtype'"):
        Tensor(shape=[None, 3])


@pytest.mark.parametrize(
    ("argument", "error", "says"),
    [
        (
            np.ones((2, 4), np.float32),
            ValueError,
            "dimension 1 of 'x' must be 3, as declared, but got 4",
        ),
        (np.ones((2, 3, 1), np.float32), ValueError, "'x' must have 2 dimensions, as declared"),
        (
            np.ones((2, 3), np.int32),
            TypeError,
            "'x' must be of dtype Float32, as declared, but got Int32",
        ),
    ],
)
def test_arguments_that_do_not_fit(argument, error, says):
    dynamic = jit(lambda x: x + 1, input_signature=OPEN)
    with pytest.raises(error, match=says):
        dynamic(Tensor(argument))


def test_any_number_of_dimensions_is_one_compile_for_each():
    spec = Tensor(shape=None, dtype=ms.float32)
    assert spec.shape == (-2,)
    dynamic = jit(lambda x: x.sum() + x * 2, input_signature=spec)
    for sizes in ((2, 3), (4, 5), (3,), (7,), (2, 2, 2)):
        x = data(*sizes).asnumpy()
        np.testing.assert_allclose(
            dynamic(Tensor(x)).asnumpy(), x.sum(dtype=np.float32) + x * 2, rtol=1e-4, atol=1e-5
        )
    assert dynamic.cache.compiled == 3


def test_a_number_that_changes_beside_open_sizes():
    dynamic = jit(lambda x, rate: x * rate, input_signature=OPEN)
    for n, rate in ((2, 0.5), (3, 0.5), (2, 0.25), (5, 0.125), (7, 3.0)):
        x = data(n, 3)
        assert np.array_equal(dynamic(x, rate).asnumpy(), x.asnumpy() * np.float32(rate))
    assert dynamic.cache.compiled == 2 and not dynamic.cache.static


def test_wrong_declarations():
    with pytest.raises(ValueError, match="at most 1 inputs can be declared"):
        jit(lambda x: x, input_signature=(OPEN, OPEN))
    with pytest.raises(TypeError, match="'input_signature' must be a Tensor"):
        jit(lambda x: x, input_signature=3)
    with pytest.raises(ValueError, match="must be one of \\[x\\], but got 'y'"):
        nn.ReLU().set_inputs(y=OPEN)


def test_nested_arguments():
    def f(pair, scale):
        return pair[0] * scale + pair[1]

    dynamic = jit(f, input_signature=((OPEN, OPEN),))
    for n in range(1, 6):
        x = data(n, 3)
        assert np.array_equal(dynamic((x, x), 2.0).asnumpy(), x.asnumpy() * 3)
    assert dynamic.cache.compiled == 1
    with pytest.raises(ValueError, match="'pair' must be a sequence of 2"):
        dynamic((data(1, 3),), 2.0)


def test_cells_and_methods():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 5)

        def construct(self, x):
            return self.dense(x)

    net = Net()
    assert net.get_inputs() is None
    net.set_inputs(OPEN)
    assert net.get_inputs()[0] is OPEN
    for n in range(1, 6):
        assert net(data(n, 3)).shape == (n, 5)
    assert net._compiled_versions.compiled == 1
    with pytest.raises(ValueError, match="dimension 1 of 'x'"):
        net(data(2, 4))

    class Owner:
        @jit(input_signature=OPEN)
        def twice(self, x):
            return x * 2

    owner = Owner()
    for n in range(1, 4):
        assert owner.twice(data(n, 3)).shape == (n, 3)
    with pytest.raises(ValueError, match="dimension 1 of 'x'"):
        owner.twice(data(2, 4))


def test_what_needs_a_size_is_compiled_for_every_shape(caplog):
    def f(x):
        return ops.fill(ms.float32, (2,), x.shape[0])

    dynamic = jit(f, input_signature=OPEN)
    with caplog.at_level(logging.WARNING, "mindspore.compile"):
        for n in (2, 3, 4):
            assert dynamic(data(n, 3)).asnumpy().tolist() == [n, n]
    said = [r for r in caplog.records if "open sizes" in r.getMessage()]
    assert len(said) <= 1
