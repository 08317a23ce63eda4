"""Wrong programs: Python that fails, and Python that cannot be compiled."""

from __future__ import annotations

import numpy as np
from programlib import Wrap, f32, wrong

import mindspore as ms
from mindspore import ops


# ---- Python ---------------------------------------------------------------------------------------------------------
@wrong(NameError, "undefined_name", "not defined")
def undefined_name():
    Wrap(lambda self, x: x + undefined_name_that_is_missing)(f32(2))  # noqa: F821


@wrong(AttributeError, "missing_layer")
def missing_attribute():
    Wrap(lambda self, x: self.missing_layer(x))(f32(2))


@wrong(AttributeError, "reluu")
def missing_op():
    Wrap(lambda self, x: ops.reluu(x))(f32(2))


@wrong(AttributeError, "summ")
def missing_tensor_method():
    Wrap(lambda self, x: x.summ())(f32(2))


@wrong(TypeError, "not callable")
def calling_a_tensor():
    Wrap(lambda self, x: x(1))(f32(2))


@wrong(ZeroDivisionError)
def division_by_zero_of_constants():
    Wrap(lambda self, x: x * (1 // 0))(f32(2))


@wrong(ValueError, "unpack")
def unpacking_the_wrong_number():
    def body(self, x):
        a, b = (x, x, x)
        return a + b

    Wrap(body)(f32(2))


@wrong(KeyError, "missing")
def missing_key():
    Wrap(lambda self, x: {"a": x}["missing"])(f32(2))


@wrong(ValueError, "exactly one element")
def condition_on_several_elements():
    def body(self, x):
        if x > 0:
            return x
        return -x

    Wrap(body)(f32(2))


@wrong(RuntimeError, "the network says no")
def raised_by_the_user():
    def body(self, x):
        if x.ndim == 1:
            raise RuntimeError("the network says no")
        return x

    Wrap(body)(f32(2))


@wrong(AssertionError, "rank two")
def failed_assertion():
    def body(self, x):
        assert x.ndim == 2, "rank two"
        return x

    Wrap(body)(f32(2))


# ---- compiled only --------------------------------------------------------------------------------------------------
@wrong(TypeError, "branch", "Float32[2]", "Float32[1]", modes=("graph",))
def branches_of_a_gradient_that_return_other_types():
    def part(x):
        if x.sum() > 0:
            return x
        return x[:1]

    Wrap(lambda self, x: ms.grad(part)(x))(f32(2))


@wrong(UnboundLocalError, "y", "one branch", modes=("graph",))
def variable_of_one_branch():
    def body(self, x):
        if x.sum() > 0:
            y = x
        return y

    Wrap(body)(-f32(2))


@wrong(TypeError, "keep its type", "'s'", modes=("graph",))
def loop_variable_that_changes_shape():
    def body(self, x):
        s = x
        while s.sum() < 10:
            s = ops.concat((s, s))
        return s

    Wrap(body)(f32(2))


@wrong(TypeError, "known only at run time", modes=("graph",))
def value_while_compiling():
    Wrap(lambda self, x: x.asnumpy())(f32(2))


@wrong(TypeError, "numpy", modes=("graph",))
def numpy_on_a_traced_tensor():
    Wrap(lambda self, x: np.exp(x))(f32(2))


@wrong(TypeError, "generator", modes=("graph",))
def generator_that_takes_values_in_construct():
    def numbers():
        got = yield 1
        yield got

    Wrap(lambda self, x: x + sum(numbers()))(f32(2))


@wrong(TypeError, "'open'", "outside of the program", modes=("graph",))
def opening_a_file_in_construct():
    def body(self, x):
        with open("file", encoding="utf8") as file:
            file.read()
        return x

    Wrap(body)(f32(2))


@wrong(TypeError, "Parameter", "counter", modes=("graph",))
def assignment_of_a_plain_attribute():
    def body(self, x):
        self.counter = x
        return x

    Wrap(body, counter=1)(f32(2))


@wrong(TypeError, "list", "outside", modes=("graph",))
def growing_an_outer_list():
    history = []

    def body(self, x):
        history.append(x)
        return x

    Wrap(body)(f32(2))


@wrong(TypeError, "global", modes=("graph",))
def assigning_a_global():
    def body(self, x):
        global _STATE
        _STATE = x
        return x

    Wrap(body)(f32(2))


@wrong(RecursionError, "deep", modes=("graph",))
def endless_recursion():
    def again(x):
        return again(x) + 1

    Wrap(lambda self, x: again(x))(f32(2))


_STATE = None
