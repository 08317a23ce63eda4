"""Equal cells share one graph; cells that only look alike do not."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import PrimitiveWithInfer

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


def _value(x):
    return Tensor(np.array(x, np.float32))


class Two(nn.Cell):
    """Two cells, each with a Parameter."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def construct(self, x):
        return self.first(x) * 10 + self.second(x)


class Scale(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.inner = nn.Identity()
        self.weight = weight

    def construct(self, x):
        return self.inner(x) * self.weight


def _run_all(cells, x):
    net = nn.CellList(cells)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cells_ = net

        def construct(self, x):
            out = []
            for cell in self.cells_:
                out.append(cell(x))
            return tuple(out)

    return [y.asnumpy().tolist() for y in Net()(x)]


@pytest.mark.parametrize("mode", MODES)
def test_a_parameter_that_two_children_share_is_not_two_parameters(mode):
    ms.set_context(mode=mode)

    def shared(value):
        p = Parameter(_value(value), name=f"p{value}")
        return Two(Scale(p), Scale(p))

    def own(a, b):
        return Two(
            Scale(Parameter(_value(a), name=f"a{a}")), Scale(Parameter(_value(b), name=f"b{b}"))
        )

    cells = [shared(1), shared(2), own(3, 4), own(5, 6), shared(7)]
    assert _run_all(cells, _value(1)) == [11, 22, 34, 56, 77]


@pytest.mark.parametrize("mode", MODES)
def test_a_child_that_is_called_under_two_names_is_not_two_children(mode):
    ms.set_context(mode=mode)

    def same(value):
        child = Scale(Parameter(_value(value), name=f"p{value}"))
        return Two(child, child)

    def own(a, b):
        return Two(
            Scale(Parameter(_value(a), name=f"a{a}")), Scale(Parameter(_value(b), name=f"b{b}"))
        )

    assert _run_all([same(1), same(2), own(3, 4), own(5, 6)], _value(1)) == [11, 22, 34, 56]


class Divide(nn.Cell):
    """One over a number that it holds."""

    def __init__(self, number):
        super().__init__()
        self.inner = nn.Identity()
        self.number = number

    def construct(self, x):
        return self.inner(x) / (x * self.number)


@pytest.mark.parametrize("mode", MODES)
def test_minus_zero_is_another_number_than_zero(mode):
    ms.set_context(mode=mode)
    zeros = [0.0, 0.0, -0.0, -0.0, 0.0]
    expected = [np.inf, np.inf, -np.inf, -np.inf, np.inf]
    assert _run_all([Divide(z) for z in zeros], _value(1)) == expected
    assert _run_all([Divide(n) for n in (1, 1, True, 1.0, 2)], _value(1)) == [1, 1, 1, 1, 0.5]


class Listed(nn.Cell):
    """Its Parameter is in a list, where a Cell does not look for any."""

    def __init__(self, number):
        super().__init__()
        self.inner = nn.Identity()
        self.held = [Parameter(_value(number), name=f"p{number}")]

    def construct(self, x):
        return self.inner(x) * self.held[0]


@pytest.mark.parametrize("mode", MODES)
def test_parameters_in_lists_are_those_of_each_cell(mode):
    ms.set_context(mode=mode)
    assert _run_all([Listed(n) for n in (1, 2, 3, 4)], _value(2)) == [2, 4, 6, 8]


class Power(PrimitiveWithInfer):
    """A Python primitive with a number that is no attribute."""

    def __init__(self, number):
        super().__init__("Power_of_equal_cells")
        self.number = number

    def infer_shape(self, x):
        return x

    def infer_dtype(self, x):
        return x

    def vm_impl(self, x):
        return Tensor(x.asnumpy() ** self.number)


class Raise(nn.Cell):
    def __init__(self, number):
        super().__init__()
        self.inner = nn.Identity()
        self.power = Power(number)

    def construct(self, x):
        return self.power(self.inner(x))


@pytest.mark.parametrize("mode", MODES)
def test_primitives_are_compared_by_all_that_they_hold(mode):
    ms.set_context(mode=mode)
    assert _run_all([Raise(n) for n in (1, 2, 3, 2)], _value(2)) == [2, 4, 8, 4]


@pytest.mark.parametrize("mode", MODES)
def test_a_changed_copy_recompiles(mode):
    """What is read of the first of equal cells is a fact of the others too."""
    ms.set_context(mode=mode)
    cells = [Divide(1.0) for _ in range(4)]
    net = nn.SequentialCell(cells)
    assert float(net(_value(3))) == 1
    cells[3].number = 4.0
    assert float(net(_value(3))) == 0.25


def test_a_cell_that_holds_itself_in_a_list_is_compared_to_an_end():
    ms.set_context(mode=ms.GRAPH_MODE)
    cell = Divide(1.0)
    cell.__dict__["loop"] = [cell]
    endless: list = []
    endless.append(endless)
    assert float(nn.SequentialCell([cell, Divide(1.0)])(_value(2))) == 1
    cell.__dict__["endless"] = endless
    with pytest.raises(RecursionError):
        nn.SequentialCell([cell, Divide(1.0)])(ops.ones((2,)))


class Twice:
    attrs = {"by": 2}


class Thrice:
    attrs = {"by": 3}


class Slotted:
    __slots__ = ("attrs",)

    def __init__(self, by):
        self.attrs = {"by": by}


class Multiply(nn.Cell):
    def __init__(self, held):
        super().__init__()
        self.inner = nn.Identity()
        self.held = held

    def construct(self, x):
        return self.inner(x) * self.held.attrs["by"]


@pytest.mark.parametrize("mode", MODES)
def test_classes_and_objects_without_a_dict_are_themselves_alone(mode):
    ms.set_context(mode=mode)
    five = Slotted(5)
    held = [Twice, Thrice, Twice, five, Slotted(7), five, Twice, Thrice]
    expected = [4, 6, 4, 10, 14, 10, 4, 6]
    assert _run_all([Multiply(h) for h in held], _value(2)) == expected
