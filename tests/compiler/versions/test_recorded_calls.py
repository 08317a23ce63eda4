"""Decorated functions, and cells of GRAPH_MODE, called by eager code whose gradient is recorded: compiled with their gradients, one
step of the tape each, and with the results of plain Python."""

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly
from mindspore.compile.versions.entries import Entry

pytestmark = pytest.mark.fast_stage

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]], np.float32)


def versions(function):
    """How many versions of a decorated function were compiled with their gradients."""
    recorded = getattr(function, "cache", function).recorded
    caches = [] if recorded is None else [cache for cache, _ in recorded.caches.values()]
    entries = [e for cache in caches for group in cache.entries.values() for e in group]
    return sum(isinstance(e, Entry) for e in entries)


def agree(got, expected):
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected)
        for a, b in zip(got, expected):
            agree(a, b)
    elif isinstance(expected, Tensor):
        assert got.dtype is expected.dtype and tuple(got.shape) == tuple(expected.shape)
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=2e-5, atol=1e-6)
    else:
        assert type(got) is type(expected) and got == expected


def check(function, outer, compiled=1, weights=None):
    """`outer(f)` is differentiated for X; with f decorated, and not."""
    results = []
    for f in (function, jit(function)):
        ms.set_seed(3)
        results.append(ms.value_and_grad(outer(f), 0, weights)(Tensor(X)))
    agree(results[1], results[0])
    assert versions(f) == compiled
    return f


def test_a_function_of_its_argument():
    check(lambda x: ops.sin(x) * x + 1, lambda f: lambda x: (f(x * 2) * x).sum())


def test_it_is_compiled_once():
    f = jit(lambda x: ops.sin(x) * x)
    g = ms.grad(lambda x: f(f(x)).sum())
    for _ in range(3):
        g(Tensor(X))
    assert versions(f) == 1


def test_arguments_that_are_not_differentiated():
    mask = Tensor(X > 0)
    index = Tensor(np.array([1, 0], np.int32))
    check(lambda x, m, i: ops.gather(x, i, 0) * m, lambda f: lambda x: f(x, mask, index).sum())


def test_structures():
    def function(pair, *, extra):
        return {"a": pair[0] * extra["s"], "b": (pair[1], [pair[0] + 1, 3, "text", None])}

    def outer(f):
        def run(x):
            made = f((x, x * x), extra={"s": x + 2})
            assert made["b"][1][1:] == [3, "text", None]
            return (made["a"] * made["b"][0]).sum() + made["b"][1][0].mean()

        return run

    check(function, outer)


def test_results_that_are_used_differently():
    def outer(f):
        def run(x):
            a, b, _ = f(x)
            return (a * a).sum(), ops.stop_gradient(b)

        return run

    check(lambda x: (ops.exp(x), x.sum(), ops.argmax(x, 1)), outer)


def test_arguments_and_numbers_that_are_returned():
    f = jit(lambda x, n: (x, n * 2, x * n, float(x.shape[0])))

    def run(x):
        same, number, product, rows = f(x, 3)
        assert same is x and number == 6 and rows == 2.0
        return (same * product).sum() * rows

    agree(ms.grad(run)(Tensor(X)), Tensor(X * 12))
    assert versions(f) == 1


class Dense(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        self.norm = nn.BatchNorm1d(2)
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        return self.dropout(self.norm(self.dense(x)))


class Compiled(Dense):
    @jit
    def construct(self, x):
        return self.dropout(self.norm(self.dense(x)))


def trained(kind, steps):
    net = kind().set_train()
    net.update_parameters_name("net.")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = ms.value_and_grad(
        lambda x: ((net(x) - 1) ** 2).mean() + net(x).sum(), None, net.trainable_params()
    )
    ms.set_seed(5)
    losses = []
    for i in range(steps):
        loss, gradients = step(Tensor(X + i))
        optimizer(gradients)
        losses.append(loss)
    return losses, [p.copy() for p in net.get_parameters()], net


def test_training_with_a_compiled_construct():
    plain, compiled = trained(Dense, 4), trained(Compiled, 4)
    agree(compiled[:2], plain[:2])
    caches = compiled[2]._compiled_methods
    assert sum(map(versions, caches.values())) >= 1


def test_parameters_that_are_frozen():
    net = Compiled().set_train(False)
    net.dense.weight.requires_grad = False
    weights = [p for p in net.get_parameters() if p.requires_grad]
    gradient = ms.grad(lambda x: net(x).sum(), None, weights)
    assert np.abs(gradient(Tensor(X))[0].asnumpy() - 2).max() < 1e-3
    net.dense.weight.requires_grad = True
    assert len(ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(Tensor(X))) == 4


def test_a_tensor_around_the_function():
    def outer(decorate):
        def run(x):
            scale = x * 3

            def inner(y):
                return ops.sin(y) * scale

            return decorate(inner)(x).sum()

        return run

    agree(ms.grad(outer(jit))(Tensor(X)), ms.grad(outer(lambda f: f))(Tensor(X)))


def test_a_parameter_that_is_assigned():
    def trained(kind):
        p = Parameter(Tensor(X), name="p")

        @kind
        def function(x):
            ops.assign(p, p * x)
            return p + x

        value = ms.value_and_grad(lambda x: (function(x) * p).sum(), 0, [p])(Tensor(X))
        return *value, p.copy()

    agree(trained(jit), trained(lambda f: f))


def test_an_argument_that_changes_in_place():
    def function(x, items):
        x[0] = x[1] * 2
        items.append(x.sum())
        return x * x

    def outer(f):
        def run(x):
            y, items = x * 1, []
            z = f(y, items)
            return (y * z).sum() + items[0]

        return run

    with pytest.warns(RunsEagerly, match="changes"):
        check(function, outer, compiled=0)


def test_what_cannot_be_compiled_warns_and_runs():
    def function(x):
        return Tensor(np.abs(ops.stop_gradient(x).asnumpy())) * x

    with pytest.warns(RunsEagerly, match="asnumpy"):
        check(function, lambda f: lambda x: f(x).sum(), compiled=0)


@pytest.mark.parametrize("compute", ["grad", "vjp"])
def test_fullgraph_is_kept(compute):
    @jit(fullgraph=True)
    def function(x):
        return Tensor(np.abs(x.asnumpy())) * x

    with pytest.raises(TypeError, match="asnumpy") as caught:
        ms.grad(lambda x: function(x * 2).sum())(Tensor(X))
    assert "np.abs(" in str(caught.value)


def test_errors_of_the_program():
    @jit
    def function(x):
        if x.shape[0] == 2:
            raise ValueError(f"two rows: {x.shape}")
        return x

    with pytest.raises(ValueError, match="two rows: \\(2, 3\\)"):
        ms.grad(lambda x: function(x * 2).sum())(Tensor(X))


def test_derivatives_of_derivatives():
    f = jit(lambda x: ops.sin(x) * x)

    def outer(g):
        return ms.grad(lambda x: ms.grad(lambda y: g(y).sum())(g(x)).sum())

    agree(outer(f)(Tensor(X)), outer(lambda x: ops.sin(x) * x)(Tensor(X)))


@pytest.mark.parametrize("name", ["jvp", "vjp", "jacrev", "jacfwd"])
def test_other_transforms(name):
    def run(f):
        g = lambda x: f(x * 2) + x
        if name == "jvp":
            return ms.jvp(g, Tensor(X), Tensor(X + 1))
        if name == "vjp":
            value, pull = ms.vjp(g, Tensor(X))
            return value, pull(Tensor(X))
        return getattr(ms, name)(g)(Tensor(X))

    plain = lambda x: ops.tanh(x) * x
    agree(run(jit(plain)), run(plain))


def test_a_gradient_around_them():
    plain = lambda x: ops.tanh(x) * x

    def outer(f):
        def run(x):
            y = f(x)
            value, pull = ms.vjp(lambda v: f(v), y)
            return (ms.jvp(f, y, x)[1] * pull(x * 2)[0] * value).sum()

        return ms.grad(run)(Tensor(X))

    agree(outer(jit(plain)), outer(plain))


def test_hooks():
    seen = []

    def function(x):
        y = x * 2
        y.register_hook(lambda g: g * 10)
        return y * x

    def outer(f):
        def run(x):
            y = f(x)
            y.register_hook(lambda g: seen.append(g.asnumpy()) or g * 3)
            return (y * x).sum()

        return run

    check(function, outer)
    np.testing.assert_array_equal(seen[0], seen[1])


def test_recomputed_cells():
    class Net(nn.Cell):
        def __init__(self, decorate):
            super().__init__()
            self.inner = decorate(lambda x: ops.sin(x) * x)
            self.dropout = nn.Dropout(p=0.5)

        def construct(self, x):
            return self.dropout(self.inner(x)) * x

    results = []
    for decorate in (jit, lambda f: f):
        net = Net(decorate).set_train()
        net.recompute()
        ms.set_seed(1)
        results.append(ms.value_and_grad(lambda x, net=net: net(x).sum())(Tensor(X)))
    agree(*results)


def test_numbers_that_change():
    f = jit(lambda x, scale: ops.sin(x) * scale)
    for i in range(6):
        got = ms.grad(lambda x, i=i: f(x, 0.5 + i).sum())(Tensor(X))
        agree(got, Tensor(np.cos(X) * np.float32(0.5 + i)))
    assert versions(f) <= 2


def test_open_sizes():
    @jit(input_signature=Tensor(shape=[None, 3], dtype=ms.float32))
    def function(x):
        return ops.sin(x) * x.sum()

    for rows in (2, 3, 5, 7):
        x = Tensor(np.ones((rows, 3), np.float32))
        got = ms.grad(lambda x: function(x * 1).sum())(x)
        expected = ms.grad(lambda x: (ops.sin(x) * x.sum()).sum())(x)
        agree(got, expected)
    assert versions(function) == 1


def test_tensors_that_are_read_and_replaced():
    state = {"scale": Tensor(2.0)}

    @jit
    def function(x):
        return x * state["scale"]

    for scale in (2.0, 3.0, 4.0):
        state["scale"] = Tensor(scale)
        agree(ms.grad(lambda x: function(x).sum())(Tensor(X)), Tensor(np.full_like(X, scale)))


def test_random_numbers_come_in_order():
    def function(x):
        return ops.dropout(x, 0.5, training=True)

    check(function, lambda f: lambda x: (f(x) * ops.dropout(f(x + 1), 0.5, training=True)).sum())


def test_what_it_prints(capfd):
    f = jit(lambda x: (print("seen", x.shape[0]), x * 2)[1])
    ms.grad(lambda x: f(x).sum())(Tensor(X))
    ms.grad(lambda x: f(x).sum())(Tensor(X))
    assert capfd.readouterr().out.count("seen 2") == 2


def test_a_cell_that_was_told_set_grad():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(X), name="w")
            self.f = jit(lambda x: ops.sin(x * self.w))

        def construct(self, x):
            return self.f(x).sum()

    net = Net()
    net.set_grad()
    x = Tensor(X)
    net(x)
    agree(ms.grad(net, None, [net.w])(x)[0], Tensor(X * np.cos(X * X)))


def test_second_order_by_weights_of_a_cell_that_was_told_set_grad():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(X), name="w")

        def construct(self, x):
            return (self.w**3 * x).sum()

    net = Net()
    net.set_grad()
    x = Tensor(np.ones_like(X))
    net(x)
    second = ms.grad(lambda: ms.grad(net)(x).sum(), None, [net.w])()[0]
    agree(second, Tensor(3 * X**2))


def test_cells_of_a_function_that_runs_eagerly_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Dense().set_train()

    def run(x):
        y = net(x)
        return (y * float(np.sum(ops.stop_gradient(y).asnumpy() > 100) + 1)).sum()

    ms.set_seed(2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = ms.value_and_grad(run, 0, net.trainable_params())(Tensor(X))
    assert any(issubclass(w.category, RunsEagerly) for w in caught)
    assert versions(net._compiled_versions) == 1
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net2 = Dense().set_train()
    ms.set_seed(2)
    expected = ms.value_and_grad(lambda x: net2(x).sum(), 0, net2.trainable_params())(Tensor(X))
    agree(got, expected)


class Sequence(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8, embedding_table="ones")
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.norm = nn.LayerNorm((8,))
        for i, p in enumerate(self.get_parameters()):
            p.set_data(Tensor(np.random.default_rng(i).normal(0, 0.3, p.shape).astype(np.float32)))

    def construct(self, ids):
        x, _ = self.lstm(self.embedding(ids))
        return self.norm(x)


def test_a_network_that_makes_tensors_of_its_own():
    for kind in ("plain", "compiled"):
        net = Sequence().set_train()
        call = jit(net.construct) if kind == "compiled" else net
        step = ms.value_and_grad(
            lambda ids, f=call: (f(ids) ** 3).sum(), None, net.trainable_params()
        )
        results = [step(Tensor(np.arange(2 * n).reshape(2, n), ms.int32)) for n in (3, 4, 3)]
        if kind == "plain":
            expected = results
    agree(results, expected)
    assert versions(call) == 2
