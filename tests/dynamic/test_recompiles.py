"""When a function is compiled again: numbers that change, shapes that change, many threads; and what is said about it."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, jit, nn, ops
from mindspore.compile.versions.notices import Recompiles


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


X = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)


# ---- numbers ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_a_number_that_changes_becomes_an_input(dtype):
    def f(x, a, b):
        return x * a + b, a - x, x / a, x > b, ops.maximum(x, b), (x + 3) ** b

    compiled, x = jit(f), Tensor(X.astype(dtype))
    for a, b in ((0.1, 2), (1 / 3, 3), (1e-30, 5), (7.0, -(2**40) if dtype == np.int64 else -4)):
        for got, expected in zip(compiled(x, a, b), f(x, a, b), strict=True):
            assert got.dtype == expected.dtype
            assert np.array_equal(got.asnumpy(), expected.asnumpy(), equal_nan=True), (a, b)
    assert compiled.cache.compiled == 2  # with constants, then with inputs


def test_only_what_changes_becomes_an_input():
    def f(x, axis, scale):
        return ops.softmax(x, axis) * scale

    compiled = jit(f)
    for i in range(5):
        expected = f(Tensor(X), 1, scale=i * 0.5)
        assert np.array_equal(compiled(Tensor(X), 1, scale=i * 0.5).asnumpy(), expected.asnumpy())
    assert compiled.cache.compiled == 2
    assert np.array_equal(
        compiled(Tensor(X), 0, scale=1.0).asnumpy(), f(Tensor(X), 0, 1.0).asnumpy()
    )


DECIDE = {
    "branch": lambda x, n: x * 2 if n > 1 else x,
    "shape": lambda x, n: ops.ones((2, n), ms.float32) * x[:, :1],
    "attribute": lambda x, n: ops.sum(x, dim=n - 1),
    "loop": lambda x, n: sum((x for _ in range(n)), x),
    "arithmetic": lambda x, n: x * (n / 3),
    "result": lambda x, n: (x, n),
    "text": lambda x, n: x * len(f"{n}"),
    "kind": lambda x, n: x * 2 if isinstance(n, int) else x,
    "type": lambda x, n: x * 2 if type(n) is int else x,
    "item": lambda x, n: x * {1: 5, 2: 6}.get(n, 7),
    "power": lambda x, n: x * 2**n,
}


@pytest.mark.parametrize("name", DECIDE)
def test_a_number_that_decides_stays_a_constant(name):
    compiled = jit(DECIDE[name])
    for n in (1, 2, 1, 2):
        expected = DECIDE[name](Tensor(X), n)
        got = compiled(Tensor(X), n)
        if isinstance(expected, tuple):
            assert got[1] == expected[1]
            got, expected = got[0], expected[0]
        assert np.array_equal(got.asnumpy(), expected.asnumpy()), n
    assert compiled.cache.compiled == 2


def test_numbers_in_gradients_and_cells():
    class Net(nn.Cell):
        def construct(self, x, rate):
            return (x * x * rate).sum()

    net = Net()
    gradient = ms.grad(net)
    for rate in (0.5, 0.25, 3.0, 7.5):
        np.testing.assert_allclose(gradient(Tensor(X), rate).asnumpy(), 2 * X * rate, rtol=1e-6)
        np.testing.assert_allclose(net(Tensor(X), rate).asnumpy(), (X * X * rate).sum(), rtol=1e-6)
    assert net._compiled_versions.compiled == 2


# ---- many versions ------------------------------------------------------------------------------------------------------------
def test_one_warning_names_the_argument_whose_shape_changes():
    compiled = jit(lambda data, scale: data * scale)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for n in range(1, 201):
            compiled(Tensor(np.ones((n, 3), np.float32)), 2.0)
    said = [str(w.message) for w in said if issubclass(w.category, Recompiles)]
    assert len(said) == 1
    assert "the shape of 'data', lately [16, 3], keeps changing" in said[0]
    assert "Tensor(shape=[None, 3], dtype=mindspore.float32)" in said[0]
    assert len(compiled.cache.entries) <= 64
    assert _core.compiled_count() <= 256


def test_one_warning_names_the_argument_whose_value_changes():
    compiled = jit(lambda x, mode: x * 2 if mode == "a" else x)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for n in range(40):
            compiled(Tensor(X), f"mode {n}")
    said = [str(w.message) for w in said if issubclass(w.category, Recompiles)]
    assert len(said) == 1 and "the value of 'mode', lately 'mode 15', keeps changing" in said[0]


MEMORY = """
import resource, warnings
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, nn, ops

warnings.simplefilter("ignore")
ms.set_context(mode=ms.GRAPH_MODE)
w, b = Tensor(np.ones((8, 8), np.float32)), Tensor(np.ones(8, np.float32))

@jit
def f(x):
    for _ in range(5):
        x = ops.relu(ops.matmul(x, w) + b)
    return ops.softmax(x).sum()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20

for n in range(1, 221):  # the larger ones load the code generator, once
    f(Tensor(np.ones((n, 8), np.float32)))
before = resident()
for n in range(221, 421):
    f(Tensor(np.ones((n, 8), np.float32)))
print((resident() - before) / 200)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_of_a_new_shape(tmp_path):
    path = tmp_path / "memory.py"
    path.write_text(MEMORY)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 0.25, "MB for each new shape"


# ---- threads ------------------------------------------------------------------------------------------------------------------
def in_threads(*functions):
    errors = []

    def guarded(function):
        try:
            function()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,), daemon=True) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads), "the threads wait for each other"
    assert not errors, errors


def deep(x, n=60):
    for _ in range(n):
        x = ops.relu(x * 2 - 1)
    return x


def test_one_of_many_threads_compiles_a_version():
    compiled, x = jit(lambda x: deep(x)), Tensor(X)
    expected = deep(x).asnumpy()

    def call():
        context.set_context(mode=context.GRAPH_MODE)
        assert np.array_equal(compiled(x).asnumpy(), expected)

    in_threads(*[call] * 4)
    assert compiled.cache.compiled == 1


def test_threads_compile_different_functions():
    f, g = jit(lambda x: deep(x) + 1), jit(lambda x: deep(x) - 1)
    x = Tensor(X)

    def run(function, shift, sizes):
        for n in sizes:
            x = Tensor(np.full((n,), 0.5, np.float32))
            np.testing.assert_allclose(function(x).asnumpy(), deep(x).asnumpy() + shift)

    in_threads(
        lambda: run(f, 1, range(1, 6)),
        lambda: run(g, -1, range(1, 6)),
        lambda: run(g, -1, range(5, 0, -1)),
        lambda: run(f, 1, range(5, 0, -1)),
    )
    assert x.shape == (2, 3)


def test_a_failed_compile_does_not_keep_others_waiting():
    def f(x):
        return ops.matmul(x, x)

    compiled = jit(f)
    for _ in range(2):
        with pytest.raises(ValueError, match="inner sizes must be equal"):
            compiled(Tensor(X))
    assert compiled(Tensor(X[:, :2])).shape == (2, 2)
