"""Lines that cannot be compiled: they run eagerly between two compiled parts, or the whole function does; the results are those of
PYNATIVE_MODE, with one warning for each line; fullgraph makes it an error."""

import contextlib
import random
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import JitConfig, Parameter, Tensor, context, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly
from mindspore.compile.versions.attempt import Attempt


class Body(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.p = Parameter(Tensor(np.ones(2, np.float32)), name="p")
        self.counter = 0

    def construct(self, *args):
        return self.body(self, *args)


X = Tensor(np.array([1, 2], np.float32))


def numpy_on_values(self, x):
    y = x * 2
    z = Tensor(np.exp(y.asnumpy())) + y
    return z.sum(), z


def number_beside_a_tensor(self, x):
    self.p += x
    total = (x * 3).sum().item()
    if total > 10:
        return x * total
    return x + total, self.p + 0


def objects_and_text(self, x):
    array = x.asnumpy()
    array = array * 2 + 1
    array[0] = 7
    rank = len(array.shape)
    t = Tensor(array) @ x
    return t * rank, f"{t.asnumpy():.3f}", isinstance(array, np.ndarray)


def arms_of_different_shapes(self, x):
    if x.sum() > 5:
        return ops.concat((x, x))
    return x * 2


def python_random_numbers(self, x):
    return x * random.random() + ops.standard_normal((2,))


def list_of_numbers(self, x):
    found = []
    for value in (x * 2).asnumpy().tolist():
        if value > 2:
            found.append(value)
    return x + len(found), found, sorted(found), {"first": found[:1]}


def exception_of_a_library(self, x):
    try:
        return Tensor(np.linalg.inv(x.asnumpy()))
    except np.linalg.LinAlgError as error:
        return x, str(error)


def number_that_shapes(self, x):
    n = int(x.sum().asnumpy())
    for i in range(n):
        x = x + i
    return ops.zeros((n, 2)) + x


def numbers(n):
    i = 0
    while i < n:
        sent = yield i
        i += 1 if sent is None else sent


def generator(self, x):
    return sum(list(numbers(3))) + x


def attribute_of_the_cell(self, x):
    self.counter = self.counter + 1
    return x * self.counter


def numpy_inside_a_branch(self, x):
    if x.sum() > 5:
        x = Tensor(np.sqrt(x.asnumpy()))
    return x + 1


def values_in_a_nested_call(self, x):
    def inner(v, scale=2):
        w = v * scale
        return Tensor(np.cumsum(w.asnumpy())) + v

    return [inner(x), inner(x, scale=inner(x).sum())]


BODIES = [
    numpy_on_values,
    number_beside_a_tensor,
    objects_and_text,
    arms_of_different_shapes,
    python_random_numbers,
    list_of_numbers,
    exception_of_a_library,
    number_that_shapes,
    generator,
    attribute_of_the_cell,
    numpy_inside_a_branch,
    values_in_a_nested_call,
]


def plain(value):
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


@pytest.fixture(autouse=True)
def eager_afterwards():
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def run_all(mode, body):
    """Results of several calls, and the Parameter's state."""
    context.set_context(mode=mode)
    net = Body(body)
    random.seed(1)
    ms.set_seed(1)
    results = [plain(net(X * k)) for k in (1, 2, 1, 4, 2)]
    return (
        results,
        net.p.asnumpy().tolist(),
        random.random(),
        ops.standard_normal((2,)).asnumpy().tolist(),
    )


@pytest.mark.parametrize("body", BODIES, ids=lambda b: b.__name__)
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_same_results_as_eager(body):
    assert run_all(context.GRAPH_MODE, body) == run_all(context.PYNATIVE_MODE, body)


TABLE = {"sum": 2.0, "mean": 3.0, "max": 4.0}


def attribute_by_name(x, name):
    found = getattr(x * 2, name)(axis=0)
    return found + 1, hasattr(x, name), getattr(x, name + " of all", 5)


def item_by_name(x, name):
    made = {"sum": x * 2, "mean": x + 1}
    made["max"] = x - 1
    return x * TABLE[name] + made[name]


@pytest.mark.parametrize("body", [attribute_by_name, item_by_name])
def test_names_that_come_from_outside_choose_attributes_and_items(body):
    chance = random.Random(3)

    def function(x):
        return body(x, chance.choice(["sum", "mean", "max"]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunsEagerly)
        compiled = jit(function)
        for scale in (1.0, 0.5):
            TABLE["sum"] = scale
            chance.seed(3)
            want = [function(X) for _ in range(8)]
            chance.seed(3)
            assert str([compiled(X) for _ in range(8)]) == str(want)


def test_one_warning_for_a_line_says_where_and_why():
    context.set_context(mode=context.GRAPH_MODE)
    net = Body(numpy_on_values)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(3):
            net(X * k)
    texts = [str(w.message) for w in caught if w.category is RunsEagerly]
    assert len(texts) == 1
    assert "test_breaks.py" in texts[0] and "Tensor(np.exp(y.asnumpy())) + y" in texts[0]
    assert "known only at run time" in texts[0] and "fullgraph=True" in texts[0]
    assert caught[0].filename == __file__


def test_the_parts_around_a_line_are_compiled_once():
    context.set_context(mode=context.GRAPH_MODE)
    parsed = []

    @ops.constexpr
    def note():
        parsed.append(1)
        return 1

    def body(self, x):
        x = Tensor(x.asnumpy() + 1) * note()
        return ops.relu(x) + note()

    net = Body(body)
    with pytest.warns(RunsEagerly):
        net(X)
    count = len(parsed)
    for _ in range(3):
        np.testing.assert_array_equal(net(X).asnumpy(), [3, 4])
    assert len(parsed) == count


@pytest.mark.parametrize(
    "body", [numpy_on_values, generator, attribute_of_the_cell], ids=lambda b: b.__name__
)
def test_fullgraph_and_strict_make_it_an_error(body):
    net = Body(body)
    with pytest.raises(TypeError, match="test_breaks"):
        jit(lambda x: net(x), fullgraph=True)(X)
    context.set_context(mode=context.GRAPH_MODE, jit_syntax_level=context.STRICT)
    try:
        with pytest.raises(TypeError, match="test_breaks"):
            net(X)
    finally:
        context.set_context(jit_syntax_level=context.LAX)
    net.set_jit_config(JitConfig(jit_syntax_level="STRICT"))
    with pytest.raises(TypeError, match="test_breaks"):
        net(X)
    with pytest.raises(TypeError, match="test_breaks"):
        jit(lambda x: net(x), jit_config=JitConfig(jit_syntax_level="STRICT"))(X)
    with pytest.raises(TypeError, match="'fullgraph' must be a bool"):
        jit(body, fullgraph=1)


def test_a_whole_function_that_runs_eagerly_warns():
    context.set_context(mode=context.GRAPH_MODE)
    net = Body(attribute_of_the_cell)
    with pytest.warns(RunsEagerly, match="(?s)runs eagerly, as in PYNATIVE_MODE.*counter"):
        net(X)
    np.testing.assert_array_equal(net(X).asnumpy(), [2, 4])


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
@pytest.mark.parametrize(
    "body", [numpy_on_values, number_beside_a_tensor], ids=lambda b: b.__name__
)
def test_gradients(body):
    def loss(net):
        return lambda x: net(x)[0].sum() * 2

    gradients = []
    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        net = Body(body)
        gradients.append(plain(ms.grad(loss(net))(X)))
    assert gradients[0] == gradients[1]


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_a_call_that_raises_leaves_the_function_usable():
    context.set_context(mode=context.GRAPH_MODE)

    def body(self, x):
        array = x.asnumpy()
        if array[0] > 5:
            raise ValueError(f"too large: {array[0]}")
        return Tensor(array) * 2

    net = Body(body)
    np.testing.assert_array_equal(net(X).asnumpy(), [2, 4])
    with pytest.raises(ValueError, match="too large: 10"):
        net(X * 10)
    np.testing.assert_array_equal(net(X).asnumpy(), [2, 4])


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_a_fact_that_an_eager_line_changes():
    context.set_context(mode=context.GRAPH_MODE)
    state = {"scale": 1}

    class Changing:
        def __call__(self, value):
            state["scale"] = float(value.asnumpy()[0])

    change = Changing()
    change.__call__.__func__.__module__ = "unknown"

    def body(self, x):
        helper(x)
        return x * state["scale"]

    def helper(x):
        np.asarray(x.asnumpy())
        change.__call__(x)

    net = Body(body)
    for k in (1, 3, 1):
        state["scale"] = 0
        np.testing.assert_array_equal(net(X * k).asnumpy(), [k * k, 2 * k * k])


def test_bad_options():
    for options in ({"jit_level": "O7"}, {"jit_syntax_level": "loose"}, {"exc_mode": 3}):
        with pytest.raises(ValueError, match="must be one of"):
            JitConfig(**options)
    with pytest.raises(TypeError, match="must be a JitConfig"):
        nn.Cell().set_jit_config("STRICT")
    with pytest.raises(TypeError, match="must be a JitConfig"):
        jit(lambda x: x, jit_config=3)


def test_what_a_known_path_did_is_undone() -> None:
    """A later run follows the path of the first one, then leaves it for a way that runs eagerly as a whole."""

    def body(self, x):
        ops.assign_add(self.p, ops.ones_like(self.p))
        if x.sum() > 4 and float(np.sum(x.asnumpy())) > 4:
            return x
        y = x
        y[y > 0] += 1.5
        return y + self.p

    ends = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        net = Body(body)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunsEagerly)
            values = [net(Tensor(v)).asnumpy() for v in (X.asnumpy() * 2, X.asnumpy() * 0.5)]
        ends.append([*values, net.p.asnumpy()])
    context.set_context(mode=context.PYNATIVE_MODE)
    for eager, graph in zip(*ends):
        np.testing.assert_array_equal(eager, graph)


def test_a_gradient_of_a_nested_function_that_cannot_be_compiled() -> None:
    """It holds values of the graph: the whole function runs eagerly."""

    def changes(a):
        a[a > 0] += 1.0
        return a

    def function(x):
        y = x * 2
        return ms.grad(lambda v: changes(y) * v)(x)

    with pytest.warns(RunsEagerly):
        compiled = jit(function)(X)
    np.testing.assert_array_equal(compiled.asnumpy(), function(X).asnumpy())


def test_an_element_becomes_a_number_that_came_out_of_the_graph() -> None:
    """Of a tensor made in the function, and of a Parameter."""
    p = Parameter(Tensor(np.ones(2, np.float32)), name="p")

    def function(x):
        y = x * 1
        y[0] = x.sum().item()
        p[1] = float(x.max())
        return y * p

    start = p.asnumpy()
    wanted = [function(x).asnumpy() for x in (X, X * 2)]
    p.set_data(Tensor(start))
    with pytest.warns(RunsEagerly):
        compiled = [jit(function)(x).asnumpy() for x in (X, X * 2)]
    np.testing.assert_array_equal(compiled, wanted)


def test_ops_on_numbers_that_came_out_of_the_graph_can_be_made_again() -> None:
    """A later line that must run eagerly makes all of the function do so, from its beginning."""

    class Scaled(contextlib.AbstractContextManager):
        def __exit__(self, *_):
            return False

    layers = nn.CellList([nn.ReLU(), nn.Tanh()])

    def function(x):
        size = x.sum().item()
        y = ops.clip_by_value(x, -1.0, size) + ops.minimum(x, size)
        with Scaled():
            return layers[x.sum().astype(ms.int32) % 2](x) * y

    with pytest.warns(RunsEagerly):
        compiled = jit(function)(X)
    np.testing.assert_array_equal(compiled.asnumpy(), function(X).asnumpy())


class Setting:
    factor = 1.0


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_a_setting_that_alternates_after_a_break_is_traced_once_for_each_value(monkeypatch):
    traced = []
    trace = Attempt._trace
    monkeypatch.setattr(
        Attempt, "_trace", lambda self, *args: [traced.append(1), trace(self, *args)][1]
    )

    @jit
    def f(x):
        total = float((x + 1).sum().asnumpy())  # runs eagerly
        shifted = (x + 1) * Setting.factor + total
        again = float(shifted.sum().asnumpy())  # and so does this
        return shifted * Setting.factor + again

    for i in range(12):
        monkeypatch.setattr(Setting, "factor", float(i % 3 + 1))
        total = 5.0
        shifted = (X.asnumpy() + 1) * Setting.factor + total
        expected = shifted * Setting.factor + shifted.sum()
        np.testing.assert_allclose(f(X).asnumpy(), expected, rtol=1e-6)
    assert len(traced) == 3
