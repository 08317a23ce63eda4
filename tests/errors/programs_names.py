"""Names that are written wrong: the nearest of the program's is proposed, wherever it is bound, and one of Python's where it is much
nearer."""

# ruff: noqa: F821, F841
from programlib import Wrap, f32, wrong

from mindspore import nn, ops

GRAPH = ("graph",)
scale_of_all = 2.0


def helper_of_all(x):
    return x


@wrong(NameError, "Did you mean 'total'?", modes=GRAPH, marks="totl")
def a_local_that_is_assigned_later():
    def body(self, x):
        y = x * totl
        total = 3
        return y * total

    Wrap(body)(f32(2))


@wrong(NameError, "Did you mean 'inputs'?", modes=GRAPH, marks="input_")
def an_argument_that_is_nearly_a_builtin():
    def body(self, inputs):
        return input_ * 2

    Wrap(body)(f32(2))


@wrong(NameError, "Did you mean 'range'?", modes=GRAPH, marks="rnage")
def a_builtin():
    def body(self, x):
        count = 3
        return sum(x * i for i in rnage(count))

    Wrap(body)(f32(2))


@wrong(NameError, "Did you mean 'scale_of_all'?", modes=GRAPH, marks="scale_of_al")
def a_global():
    Wrap(lambda self, x: x * scale_of_al)(f32(2))


@wrong(NameError, "Did you mean 'helper_of_all'?", modes=GRAPH, marks="helper_for_all")
def a_function():
    Wrap(lambda self, x: helper_for_all(x))(f32(2))


@wrong(NameError, "Did you mean 'weight'?", modes=GRAPH, marks="wieght")
def a_variable_of_the_function_around():
    weight = 3
    Wrap(lambda self, x: x * wieght)(f32(2))


@wrong(NameError, "Did you mean 'weight'?", modes=GRAPH, marks="wieght")
def an_argument_of_the_function_around():
    def make(weight):
        def body(self, x):
            return x * wieght

        return body

    Wrap(make(3))(f32(2))


@wrong(NameError, "Did you mean 'factor'?", modes=GRAPH, marks="facter")
def a_variable_in_a_nested_function():
    def body(self, x):
        factor = 2

        def inner(v):
            return v * facter

        return inner(x)

    Wrap(body)(f32(2))


@wrong(NameError, "Did you mean 'value'?", modes=GRAPH, marks="valu")
def a_variable_of_a_comprehension():
    Wrap(lambda self, x: [valu * 2 for value in (x, x)])(f32(2))


@wrong(NameError, "Did you mean 'ops'?", modes=GRAPH, marks="opps")
def a_module():
    Wrap(lambda self, x: opps.relu(ops.abs(x)))(f32(2))


class Helped(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.dense, self.body = nn.Dense(2, 2), body

    def helper(self, x):
        return x

    def construct(self, x):
        return self.body(self, x)


@wrong(AttributeError, "Did you mean 'helper'?", modes=GRAPH, marks="self.helpr")
def a_method():
    Helped(lambda self, x: self.helpr(x))(f32(2))


@wrong(AttributeError, "Did you mean 'weight'?", modes=GRAPH, marks="self.dense.wieght")
def a_parameter():
    Helped(lambda self, x: self.dense.wieght)(f32(2))


@wrong(AttributeError, "Did you mean 'append'?", modes=GRAPH, marks="values.apend")
def a_method_of_a_list():
    def body(self, x):
        values = [x]
        values.apend(x)
        return values[1]

    Wrap(body)(f32(2))
