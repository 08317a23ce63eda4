"""Python facts that compiled code rests on: what changes between calls is seen, as in eager mode."""

import collections
import logging
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops
from mindspore.compile import JitFunction, jit
from mindspore.compile.program.errors import RunsEagerly
from mindspore.compile.values.guards import describe
from mindspore.compile.versions.notices import Recompiles

X = np.arange(6, dtype=np.float32).reshape(2, 3)
SCALE = 2.0


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Net(nn.Cell):
    bonus = 1.0

    def __init__(self):
        super().__init__()
        self.factor, self.bonus = 3.0, 2.0
        self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid()])
        self.constants = np.arange(90_000, dtype=np.float32)
        self.steps = [1.0, 2.0]
        self.options = {"shift": 1.0}
        self.table = Tensor(np.ones(3, np.float32))
        self.weight = Parameter(Tensor(np.full(3, 2.0, np.float32)), name="w")
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        for step in self.steps:
            x = x + step
        if self.training:
            x = x * 10
        for layer in self.layers:
            x = layer(x) + Tensor(self.constants[5:6]) + self.bonus
        return x * self.factor * self.weight + self.table + self.options["shift"]


def eager(net):
    context.set_context(mode=context.PYNATIVE_MODE)
    value = net(Tensor(X)).asnumpy()
    context.set_context(mode=context.GRAPH_MODE)
    return value


def change_attribute(net):
    net.factor = 5.0


def change_list_item(net):
    net.steps[1] = 7.0


def grow_list(net):
    net.steps.append(4.0)


def change_dict(net):
    net.options["shift"] = -2.0


def change_mode(net):
    net.set_train()


def replace_parameter_value(net):
    net.weight.set_data(Tensor(np.full(3, 9.0, np.float32)))


def replace_parameter(net):
    net.weight = Parameter(Tensor(np.full(3, 4.0, np.float32)), name="w")


def replace_table(net):
    net.table = Tensor(np.full(3, 8.0, np.float32))


def write_into_table(net):
    net.table[0] = 100.0


def write_into_an_array(net):
    net.constants[5] = 100.0


def replace_a_cell(net):
    net.drop = nn.Flatten()
    net.layers[1] = nn.Tanh()


def grow_a_cell_list(net):
    net.layers.append(nn.Tanh())


def delete_an_attribute(net):
    del net.bonus


CHANGES = [
    change_attribute,
    change_list_item,
    grow_list,
    change_dict,
    change_mode,
    replace_parameter_value,
    replace_parameter,
    replace_table,
    write_into_table,
    write_into_an_array,
    replace_a_cell,
    grow_a_cell_list,
    delete_an_attribute,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_change_between_calls_is_seen(change):
    net = Net()
    np.testing.assert_allclose(net(Tensor(X)).asnumpy(), eager(net))
    change(net)
    np.testing.assert_allclose(net(Tensor(X)).asnumpy(), eager(net))
    np.testing.assert_allclose(net(Tensor(X)).asnumpy(), eager(net))


def test_a_global_is_seen():
    global SCALE

    @jit
    def f(x):
        return x * SCALE

    SCALE = 2.0
    first = f(Tensor(X)).asnumpy()
    SCALE = 3.0
    np.testing.assert_allclose(f(Tensor(X)).asnumpy(), first * 1.5)


def test_a_closure_variable_is_seen():
    k = 2.0

    @jit
    def f(x):
        return x * k

    np.testing.assert_allclose(f(Tensor(X)).asnumpy(), X * 2)
    k = 4.0
    np.testing.assert_allclose(f(Tensor(X)).asnumpy(), X * 4)


def test_unchanged_facts_do_not_recompile():
    net = Net()
    for _ in range(3):
        net(Tensor(X))
    assert net._compiled_versions.compiled == 1
    net.factor = 5.0
    net(Tensor(X))
    net.factor = 3.0
    net(Tensor(X))  # the first version fits again
    assert net._compiled_versions.compiled == 2


def test_a_failed_guard_says_what_changed(caplog):
    net = Net()
    net(Tensor(X))
    net.factor = 6.0
    with caplog.at_level(logging.INFO, logger="mindspore.compile"):
        net(Tensor(X))
    assert "'factor' was 3.0, is 6.0" in caplog.text


def test_new_shapes_compile_anew():
    f = jit(lambda x: x + 1)
    assert isinstance(f, JitFunction)
    for n in (1, 2, 3):
        assert f(Tensor(np.zeros((n, 2), np.float32))).shape == (n, 2)
    assert f.cache.compiled == 3


def test_parameter_updates_in_program_order():
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(Tensor(1.0, ms.float32), name="count")

        def construct(self, x):
            before = x * self.count
            self.count = self.count + 1
            ops.assign_add(self.count, Tensor(2.0, ms.float32))
            return before + self.count

    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        net = Counter()
        assert float(net(Tensor(10.0, ms.float32))) == 14.0
        assert float(net.count) == 4.0
        assert float(net(Tensor(10.0, ms.float32))) == 47.0


def test_the_construct_of_a_class_may_be_replaced():
    class Double(nn.Cell):
        def construct(self, x):
            return x * 2

    net = Double()
    np.testing.assert_allclose(net(Tensor(X)).asnumpy(), X * 2)
    Double.construct = lambda self, x: x * 5
    np.testing.assert_allclose(net(Tensor(X)).asnumpy(), X * 5)


def test_cells_are_freed():
    import gc
    import weakref

    net = Net()
    net(Tensor(X))
    references = [weakref.ref(net), weakref.ref(net.drop), weakref.ref(net.weight)]
    del net
    gc.collect()
    assert [r() for r in references] == [None] * 3


def test_the_memory_report_names_kinds_and_lines():
    from mindspore.compile import memory_report

    net = nn.SequentialCell(nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 8))
    with pytest.raises(ValueError, match="no compiled version"):
        memory_report(net)
    net(Tensor(np.ones((16, 64), np.float32)))
    report = memory_report(net)
    weights = sum(p.nbytes for p in net.get_parameters())
    assert report["parameters"] >= weights
    assert report["feature_maps"] >= 16 * 256 * 4
    assert report["outputs"] == 16 * 8 * 4
    by_line = sum(size for _, size in report["peak_by_line"])  # workspace belongs to a line too
    assert report["feature_maps"] <= by_line <= report["feature_maps"] + report["workspace"]


def test_the_memory_report_names_a_line_once():
    from mindspore.compile import memory_report

    @ms.jit
    def function(x):
        return ops.cumsum(ops.cumsum(x, 0), 1) * ops.cumprod(ops.cumprod(x, 0), 1) @ x  # one line

    function(Tensor(np.ones((64, 64), np.float32)))
    lines = memory_report(function)["peak_by_line"]
    assert len({place for place, _ in lines}) == len(lines) > 0
    assert [size for _, size in lines] == sorted((size for _, size in lines), reverse=True)


def test_unchanged_facts_of_cells_and_classes_are_skipped():
    """2 000 facts, nothing changed: 2 us at most. A cell that changes makes them all be looked at, once."""
    import timeit

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.norm = nn.Dense(4, 4), nn.Dense(4, 4), nn.LayerNorm((4,))
            self.scale = 2.0

        def construct(self, x):
            return self.b(ops.relu(self.a(self.norm(x)))) * self.scale + x

    net = nn.SequentialCell([Block() for _ in range(55)])
    net(Tensor(np.ones((2, 4), np.float32)))
    ((entry,),) = net._compiled_versions.entries.values()
    assert sum(len(f[2]) if isinstance(f[2], list) else 1 for f in entry.facts) > 2000
    check = entry.guards.check
    assert min(timeit.repeat(check, number=500, repeat=20)) / 500 < 2e-6
    net[30].scale = 3.0
    assert describe(entry.facts[check()]) == "'scale' was 2.0, is 3.0"
    net[30].scale = 2.0
    assert check() == -1


def test_sets_and_queues_are_facts_and_are_not_changed_while_compiling():
    names, queue = {"a"}, collections.deque([1.0])

    @jit
    def scaled(x):
        if "b" in names:
            x = x * 10
        for step in queue:
            x = x + step
        return x

    x = Tensor(np.ones(2, np.float32))
    assert scaled(x).asnumpy().tolist() == [2, 2]
    names.add("b")
    assert scaled(x).asnumpy().tolist() == [11, 11]
    queue.append(2.0)
    assert scaled(x).asnumpy().tolist() == [13, 13]

    @jit(fullgraph=True)
    def growing(x):
        names.add(len(names))
        return x

    with pytest.raises(TypeError, match="cannot change a set that was made outside"):
        growing(x)
    assert names == {"a", "b"}


class Scaled(nn.Cell):
    """A leaf with a number, a list and a Parameter."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(3, 3, weight_init="ones")
        self.scale, self.parts = 2.0, [1.0, 2.0]

    def construct(self, x):
        return self.inner(x) * self.scale + self.parts[0]


class Twice(nn.Cell):
    """Two equal cells inside of each of several equal ones."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = Scaled(), Scaled(), Scaled()

    def construct(self, x):
        return self.third(self.second(self.first(x)))


def _set_scale(cell):
    cell.scale = 3.0


def _set_part(cell):
    cell.parts[0] = 5.0


def _set_child(cell):
    cell.inner = nn.Dense(3, 3, weight_init="zeros")


def _set_several(cell):
    cell.inner.activation_flag = True
    cell.inner.activation = nn.ReLU()
    cell.scale = -1.0


@pytest.mark.parametrize("change", [_set_scale, _set_part, _set_child, _set_several])
@pytest.mark.parametrize("layer", [0, 1, 3])
@pytest.mark.parametrize("name", ["first", "third"])
def test_a_change_of_one_of_many_equal_cells_is_seen(change, layer, name):
    """Facts of equal cells are kept together; each of them counts all the same."""
    net = nn.SequentialCell([Twice() for _ in range(4)])
    x = Tensor(X)
    net(x)
    change(getattr(net[layer], name))
    compiled = net(x).asnumpy()
    context.set_context(mode=context.PYNATIVE_MODE)
    np.testing.assert_array_equal(compiled, net(x).asnumpy())


def test_the_log_names_what_changed_in_one_of_many_equal_cells():
    net = nn.SequentialCell([Scaled() for _ in range(4)])
    net(Tensor(X))
    ((entry,),) = net._compiled_versions.entries.values()
    net[2].scale = 4.0
    failed = entry.guards.check()
    assert failed >= 0
    assert describe(entry.facts[failed]) == "'scale' was 2.0, is 4.0"


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n = 0

    def construct(self, x):
        return x * self.n


def test_an_attribute_that_keeps_changing_is_named():
    net = Counting()
    x = Tensor(np.ones(2, np.float32))
    with pytest.warns(Recompiles, match="'n' was 6, is 7.*Make it a Parameter") as caught:
        for n in range(12):
            net.n = n
            assert net(x).asnumpy().tolist() == [n, n]
    assert len(caught) == 1


def test_what_cannot_be_compiled_is_not_tried_on_every_call():
    seen, settings = [], {"log": True}

    @jit
    def function(x):
        if settings["log"]:
            seen.append(len(seen))
        return x * 2

    x = Tensor(np.ones(2, np.float32))
    with pytest.warns(RunsEagerly, match="made outside of it"):
        for _ in range(10):
            function(x)
    assert seen == list(range(10)) and function.cache.compiled == 4
    settings["log"] = False
    compiled = function.cache.compiled
    for _ in range(3):
        assert function(x).asnumpy().tolist() == [2, 2]
    assert len(seen) == 10 and function.cache.compiled == compiled


def test_what_was_compiled_last_stays_longest():
    @jit
    def f(x):
        return x * SCALE

    sizes = [Tensor(np.ones(n, np.float32)) for n in range(1, 66)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Recompiles)
        for x in sizes[:64]:
            f(x)
        global SCALE
        SCALE += 1
        try:
            f(sizes[0])  # compiled anew, for another fact
            f(sizes[64])
            count = f.cache.compiled
            f(sizes[0])
        finally:
            SCALE -= 1
    assert f.cache.compiled == count == 66
