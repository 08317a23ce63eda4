"""Wrong programs: control flow that a tensor decides, misused; names, calls and classes of Python; exceptions of the user."""

from __future__ import annotations

from programlib import Wrap, f32, wrong

import mindspore as ms
from mindspore import Parameter, nn, ops

GRAPH = ("graph",)


class Refused(Exception):
    """An exception of the user with a signature of its own."""

    def __init__(self, code, where):
        super().__init__(f"refused with code {code} in {where}")
        self.code = code


# ---- conditions of tensors ----------------------------------------------------------------------------------------------
@wrong(ValueError, "exactly one element", "x: Float32[2]", marks="x > 0")
def if_of_two_elements():
    def body(self, x):
        if x > 0:
            x = x + 1
        return x

    Wrap(body)(f32(2))


@wrong(ValueError, "exactly one element")
def while_of_two_elements():
    def body(self, x):
        while x < 3:
            x = x + 1
        return x

    Wrap(body)(f32(2))


@wrong(ValueError, "exactly one element")
def choice_of_two_elements():
    Wrap(lambda self, x: x if x > 0 else -x)(f32(2))


@wrong(ValueError, "exactly one element")
def conjunction_of_two_elements():
    Wrap(lambda self, x: x * 2 if (x > 0 and x < 1) else x)(f32(2))


@wrong(ValueError, "exactly one element")
def assertion_of_two_elements():
    def body(self, x):
        assert x > 0
        return x

    Wrap(body)(f32(2))


@wrong(ValueError, "exactly one element")
def negation_of_two_elements():
    Wrap(lambda self, x: not x)(f32(2))


@wrong(UnboundLocalError, "'y'", "one branch", modes=GRAPH, marks="y")
def name_of_one_branch():
    def body(self, x):
        if x.sum() > 5:
            y = x
        return y + 1

    Wrap(body)(f32(2))


@wrong(TypeError, "Float32[2]", "Float32[2, 1]", modes=GRAPH)
def choice_of_two_shapes():
    Wrap(lambda self, x: ms.grad(lambda v: v if v.sum() > 0 else v.reshape(2, 1))(x))(f32(2))


@wrong(TypeError, "keep its type", "'s'", modes=GRAPH)
def loop_that_changes_a_dtype():
    def body(self, x):
        s = x
        while s.sum() < 10:
            s = ops.cast(s + 1, ms.int32)
        return s

    Wrap(body)(f32(2))


@wrong(UnboundLocalError, "'t'", "inside a loop", modes=GRAPH, marks="t")
def name_of_a_loop():
    def body(self, x):
        while x.sum() < 10:
            t = x * 2
            x = x + t
        return t

    Wrap(body)(f32(2) * 10)


@wrong(AssertionError, "all of them must be positive")
def assertion_at_run_time():
    def body(self, x):
        assert x.min() > 1, "all of them must be positive"
        return x

    Wrap(body)(f32(2))


@wrong(ValueError, "too small", modes=("eager", "graph"))
def raise_at_run_time():
    def body(self, x):
        if x.sum() < 5:
            raise ValueError("too small")
        return x

    Wrap(body)(f32(2))


@wrong(TypeError, "0-d")
def loop_over_a_scalar():
    def body(self, x):
        total = x
        for item in x.sum():
            total = total + item
        return total

    Wrap(body)(f32(2))


# ---- names and calls ----------------------------------------------------------------------------------------------------
@wrong(NameError, "'reslut'", "not defined", marks="reslut")
def misspelt_variable():
    def body(self, x):
        result = x + 1
        return reslut * result  # noqa: F821

    Wrap(body)(f32(2))


@wrong(NameError, "Did you mean 'result'?", modes=GRAPH)
def misspelt_variable_with_a_remedy():
    def body(self, x):
        result = x + 1
        return reslut * result  # noqa: F821

    Wrap(body)(f32(2))


@wrong(AttributeError, "Did you mean 'relu'?", modes=GRAPH, marks="ops.reluu")
def misspelt_op():
    Wrap(lambda self, x: ops.reluu(x))(f32(2))


@wrong(AttributeError, "Did you mean 'dense'?", modes=GRAPH, marks="self.dence")
def misspelt_layer():
    Wrap(lambda self, x: self.dence(x), dense=nn.Dense(2, 2))(f32(2))


@wrong(AttributeError, "Did you mean 'reshape'?", modes=GRAPH, marks="x.reshpe")
def misspelt_method():
    Wrap(lambda self, x: x.reshpe(2))(f32(2))


@wrong((NameError, UnboundLocalError), "'y'")
def use_after_del():
    def body(self, x):
        y = x + 1
        del y
        return y  # noqa: F821

    Wrap(body)(f32(2))


@wrong(TypeError, "missing 1 required", "'b'")
def helper_without_its_second_argument():
    def helper(a, b):
        return a + b

    Wrap(lambda self, x: helper(x))(f32(2))


@wrong(TypeError, "takes 1 positional argument", marks="helper(x, x)")
def helper_with_too_many_arguments():
    def helper(a):
        return a

    Wrap(lambda self, x: helper(x, x))(f32(2))


@wrong(TypeError, "unexpected keyword argument 'scale'", marks="helper(x, scale=2)")
def helper_with_an_unknown_keyword():
    def helper(a):
        return a

    Wrap(lambda self, x: helper(x, scale=2))(f32(2))


@wrong(TypeError, "multiple values", "'a'", marks="helper(x, a=x)")
def helper_with_an_argument_twice():
    def helper(a):
        return a

    Wrap(lambda self, x: helper(x, a=x))(f32(2))


@wrong(TypeError, "not callable", marks="self.scale(x)")
def call_of_a_number():
    Wrap(lambda self, x: self.scale(x), scale=3)(f32(2))


@wrong(TypeError, "NoneType", marks="helper(x) + x")
def helper_that_returns_nothing():
    def helper(a):
        a + 1

    Wrap(lambda self, x: helper(x) + x)(f32(2))


@wrong(TypeError, "unpack")
def unpacking_a_number():
    def body(self, x):
        a, b = 3
        return x + a + b

    Wrap(body)(f32(2))


@wrong(ValueError, "unpack")
def unpacking_too_few():
    def body(self, x):
        a, *_, c, d = (x, x)
        return a + c + d

    Wrap(body)(f32(2))


@wrong(KeyError, "'wieght'", marks='{"weight": x}["wieght"]')
def misspelt_key():
    Wrap(lambda self, x: {"weight": x}["wieght"])(f32(2))


@wrong(IndexError, "range", marks="[x, x][5]")
def list_index_out_of_range():
    Wrap(lambda self, x: [x, x][5])(f32(2))


@wrong(TypeError, marks="(x, x)[self.key]")
def tuple_index_of_a_string():
    Wrap(lambda self, x: (x, x)[self.key], key="a")(f32(2))


@wrong(AttributeError, "tuple", marks="(x, x).append")
def append_to_a_tuple():
    Wrap(lambda self, x: (x, x).append(x))(f32(2))


@wrong(TypeError, "tuple")
def assignment_into_a_tuple():
    def body(self, x):
        pair = (x, x)
        pair[0] = x
        return pair

    Wrap(body)(f32(2))


@wrong(ZeroDivisionError, marks="self.n // 0")
def division_of_numbers_by_zero():
    Wrap(lambda self, x: x * (self.n // 0), n=4)(f32(2))


@wrong(TypeError, "str", marks='"a" + 1')
def sum_of_a_string_and_a_number():
    Wrap(lambda self, x: x * len("a" + 1))(f32(2))


@wrong(ValueError, "x: Float32[2]", "y: Float32[3]", marks="x + y")
def mistake_in_a_comprehension():
    Wrap(lambda self, x: [x + y for y in (f32(2), f32(3))])(f32(2))


@wrong(ValueError, "a: Float32[2]", "b: Float32[3]", marks="a * b")
def mistake_in_a_nested_function():
    def body(self, x, y):
        def inner(a, b):
            return a * b

        return inner(x, y)

    Wrap(body)(f32(2), f32(3))


@wrong(ValueError, "a: Float32[2, 3]", marks="ops.matmul(a, a)")
def mistake_three_calls_deep():
    def first(a):
        return ops.matmul(a, a)

    def second(a):
        return first(a) + 1

    Wrap(lambda self, x: second(x))(f32(2, 3))


# ---- exceptions of the user ---------------------------------------------------------------------------------------------
@wrong(Refused, "refused with code 7 in construct")
def exception_with_a_signature():
    def body(self, x):
        if x.ndim == 1:
            raise Refused(7, "construct")
        return x

    Wrap(body)(f32(2))


@wrong(NotImplementedError, "later")
def exception_in_a_helper():
    def helper(a):
        raise NotImplementedError("later")

    Wrap(lambda self, x: helper(x))(f32(2))


@wrong(ValueError, "shape (2,) is wrong")
def exception_with_formatted_text():
    def body(self, x):
        raise ValueError(f"shape {tuple(x.shape)} is wrong")

    Wrap(body)(f32(2))


@wrong(TypeError, "exceptions must derive")
def raise_of_a_string():
    def body(self, x):
        raise "text"  # noqa: B016

    Wrap(body)(f32(2))


@wrong(KeyError, "again")
def exception_that_is_raised_again():
    def body(self, x):
        try:
            raise KeyError("again")
        except KeyError:
            raise

    Wrap(body)(f32(2))


# ---- Parameters ---------------------------------------------------------------------------------------------------------
@wrong(ValueError, "'w'")
def parameter_of_another_shape():
    def body(self, x):
        self.w = x
        return x

    Wrap(body, w=Parameter(f32(3), name="w"))(f32(2))


@wrong((TypeError, ValueError))
def parameter_set_to_a_string():
    def body(self, x):
        self.w = "new"
        return x

    Wrap(body, w=Parameter(f32(3), name="w"))(f32(2))
