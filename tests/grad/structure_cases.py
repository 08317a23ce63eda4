"""Calls of gradient functions whose results are compared with a table: what is nested in what, and with which values.
Each function returns the result of one call. `x`, `y`, `i`: two float tensors and one of integers."""

from __future__ import annotations

from functools import partial

import numpy as np

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

x = Tensor(np.array([1, 2, 3], np.float32))
y = Tensor(np.array([2, 2, 2], np.float32))
i = Tensor(np.array([1, 2, 3], np.int32))
GradOperation = ops.GradOperation


class One(nn.Cell):
    """One input, one Parameter."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")

    def construct(self, a):
        return a * self.w


class Two(nn.Cell):
    """Two inputs, two Parameters."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")
        self.b = Parameter(Tensor(np.array([1, 1, 1], np.float32)), name="b")

    def construct(self, a, b):
        return a * b * self.w + self.b


class Nothing(nn.Cell):
    """No inputs."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")

    def construct(self):
        return self.w * self.w


class Plain(nn.Cell):
    """No Parameters."""

    def construct(self, a):
        return a * a


class Pair(nn.Cell):
    """Two results."""

    def construct(self, a):
        return a * 2, a * a


class Frozen(nn.Cell):
    """A Parameter without a gradient."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w", requires_grad=False)
        self.v = Parameter(Tensor(np.array([2, 2, 2], np.float32)), name="v")

    def construct(self, a):
        return a * self.w * self.v


class Counter(nn.Cell):
    """Changes a Parameter that it reads."""

    def __init__(self):
        super().__init__()
        self.n = Parameter(Tensor(np.array([1, 1, 1], np.float32)), name="n")

    def construct(self, a):
        before = self.n * a
        self.n = self.n + a
        return before + self.n * a


def product(a, b):
    """Of two tensors."""
    return a * b


def square(a):
    """Of one tensor."""
    return a * a


def scaled(a, k):
    """Times a number."""
    return a * k


def summed(items):
    """Of a pair."""
    return items[0] * items[1]


def of_dict(items):
    """Of two entries."""
    return items["a"] * items["b"]


def two_results(a, b):
    """A sum and a product."""
    return a + b, a * b


def with_aux(a, b):
    """A value and what is not differentiated."""
    return a * b, a + b, a


def with_one_aux(a, b):
    """A value and one more."""
    return a * b, a + b


def list_result(a):
    """A list."""
    return [a * 2, a * 3]


def dict_result(a):
    """A dict."""
    return {"p": a * 2, "q": a * 3}


def times_int(a, k):
    """Float times integers."""
    return a * k


class Methods:
    """Has a method to differentiate."""

    def __init__(self):
        self.k = 3

    def cube(self, a):
        """k times the cube."""
        return self.k * a * a * a


def get_all_one():
    return GradOperation(get_all=True)(One())(x)


def get_all_two():
    return GradOperation(get_all=True)(Two())(x, y)


def get_all_none():
    return GradOperation(get_all=True)(Nothing())()


def first_none():
    return GradOperation()(Nothing())()


def first_two():
    return GradOperation()(Two())(x, y)


def by_list_one():
    net = One()
    return GradOperation(get_by_list=True)(net, ParameterTuple(net.trainable_params()))(x)


def by_list_two():
    net = Two()
    return GradOperation(get_by_list=True)(net, ParameterTuple(net.trainable_params()))(x, y)


def by_list_default():
    return GradOperation(get_by_list=True)(Two())(x, y)


def by_list_empty():
    return GradOperation(get_by_list=True)(Plain(), ParameterTuple([]))(x)


def by_list_single_parameter():
    net = Two()
    return GradOperation(get_by_list=True)(net, net.w)(x, y)


def by_list_plain_list():
    net = Two()
    return GradOperation(get_by_list=True)(net, [net.b])(x, y)


def by_list_frozen():
    net = Frozen()
    return GradOperation(get_by_list=True)(net, ParameterTuple(net.get_parameters()))(x)


def both_one():
    net = One()
    return GradOperation(get_all=True, get_by_list=True)(
        net, ParameterTuple(net.trainable_params())
    )(x)


def both_two():
    net = Two()
    return GradOperation(get_all=True, get_by_list=True)(
        net, ParameterTuple(net.trainable_params())
    )(x, y)


def both_none():
    net = Nothing()
    return GradOperation(get_all=True, get_by_list=True)(
        net, ParameterTuple(net.trainable_params())
    )()


def both_empty():
    return GradOperation(get_all=True, get_by_list=True)(Plain(), ParameterTuple([]))(x)


def both_single_parameter():
    net = Two()
    return GradOperation(get_all=True, get_by_list=True)(net, net.w)(x, y)


def sens_one():
    return GradOperation(sens_param=True)(Plain())(x, y)


def sens_all():
    return GradOperation(get_all=True, sens_param=True)(Two())(x, y, y)


def sens_pair():
    return GradOperation(get_all=True, sens_param=True)(Pair())(x, (x, y))


def sens_by_list():
    net = One()
    return GradOperation(get_all=True, get_by_list=True, sens_param=True)(
        net, ParameterTuple(net.trainable_params())
    )(x, y)


def number_argument():
    return GradOperation(get_all=True)(scaled)(x, 3)


def number_argument_first():
    return GradOperation()(scaled)(x, 3.0)


def integer_tensor_all():
    return GradOperation(get_all=True)(times_int)(x, i)


def integer_tensor_only():
    return ops.grad(times_int, 1)(x, i)


def integer_tensor_both():
    return ops.grad(times_int, (0, 1))(x, i)


def tuple_argument():
    return GradOperation(get_all=True)(summed)((x, y))


def tuple_argument_grad():
    return ops.grad(summed)((x, y))


def list_argument_grad():
    return ops.grad(summed)([x, y])


def dict_argument_grad():
    return ops.grad(of_dict)({"a": x, "b": y})


def tuple_and_tensor():
    def f(items, c):
        return items[0] * items[1] * c

    return GradOperation(get_all=True)(f)((x, y), x)


def two_results_grad():
    return ops.grad(two_results, (0, 1))(x, y)


def list_result_grad():
    return ops.grad(list_result)(x)


def dict_result_grad():
    return ops.grad(dict_result)(x)


def grad_default():
    return ops.grad(product)(x, y)


def grad_position_one():
    return ops.grad(product, 1)(x, y)


def grad_position_tuple():
    return ops.grad(product, (0, 1))(x, y)


def grad_position_tuple_one():
    return ops.grad(product, (0,))(x, y)


def grad_position_reversed():
    return ops.grad(product, (1, 0))(x, y)


def grad_weights():
    net = One()
    return ops.grad(net, None, ParameterTuple(net.trainable_params()))(x)


def grad_weights_two():
    net = Two()
    return ops.grad(net, None, net.trainable_params())(x, y)


def grad_weights_parameter():
    net = Two()
    return ops.grad(net, None, net.w)(x, y)


def grad_position_and_weights():
    net = Two()
    return ops.grad(net, 0, net.trainable_params())(x, y)


def grad_positions_and_weights():
    net = Two()
    return ops.grad(net, (0, 1), net.trainable_params())(x, y)


def grad_position_and_parameter():
    net = Two()
    return ops.grad(net, 0, net.w)(x, y)


def grad_aux():
    return ops.grad(with_aux, 0, None, True)(x, y)


def grad_one_aux():
    return ops.grad(with_one_aux, 0, None, True)(x, y)


def grad_aux_two():
    return ops.grad(with_aux, (0, 1), None, True)(x, y)


def value_default():
    return ops.value_and_grad(product)(x, y)


def value_two():
    return ops.value_and_grad(product, (0, 1))(x, y)


def value_weights():
    net = Two()
    return ops.value_and_grad(net, None, net.trainable_params())(x, y)


def value_position_and_weights():
    net = Two()
    return ops.value_and_grad(net, 0, net.trainable_params())(x, y)


def value_aux():
    return ops.value_and_grad(with_aux, 0, None, True)(x, y)


def value_pair():
    return ops.value_and_grad(two_results, (0, 1))(x, y)


def ids_one():
    return ops.grad(product, 0, None, False, True)(x, y)


def ids_two():
    return ops.grad(product, (0, 1), None, False, True)(x, y)


def ids_weights():
    net = Two()
    return ops.grad(net, None, net.trainable_params(), False, True)(x, y)


def ids_one_weight():
    net = One()
    return ops.grad(net, None, net.trainable_params(), False, True)(x)


def ids_parameter():
    net = One()
    return ops.grad(net, None, net.w, False, True)(x)


def ids_both():
    net = Two()
    return ops.grad(net, 0, net.trainable_params(), False, True)(x, y)


def ids_both_two():
    net = Two()
    return ops.grad(net, (0, 1), net.trainable_params(), False, True)(x, y)


def ids_value():
    net = Two()
    return ops.value_and_grad(net, (0, 1), net.trainable_params(), False, True)(x, y)


def picked_position():
    return ms.get_grad(ops.grad(product, (0, 1), None, False, True)(x, y), 1)


def picked_parameter():
    net = Two()
    return ms.get_grad(ops.grad(net, 0, net.trainable_params(), False, True)(x, y), net.b)


def picked_single():
    return ms.get_grad(ops.grad(product, 0, None, False, True)(x, y), 0)


def changed_parameter():
    net = Counter()
    return ops.grad(net, 0, net.trainable_params())(x)


def changed_parameter_value():
    net = Counter()
    return ops.value_and_grad(net, 0, net.trainable_params())(x), net.n


def second():
    return ops.grad(ops.grad(square))(x)


def second_cross():
    return ops.grad(ops.grad(product, 0), 1)(x, y)


def third():
    def cube(a):
        return a * a * a * a

    return ops.grad(ops.grad(ops.grad(cube)))(x)


def grad_of_value_and_grad():
    def f(a):
        value, gradient = ops.value_and_grad(square)(a)
        return value + gradient

    return ops.grad(f)(x)


def operation_of_operation():
    return GradOperation()(GradOperation()(square))(x)


def operation_all_of_operation():
    return GradOperation(get_all=True)(GradOperation(get_all=True)(product))(x, y)


def grad_of_method():
    return ops.grad(Methods().cube)(x)


def grad_of_partial():
    return ops.grad(partial(product, y))(x)


def grad_of_lambda():
    return ops.grad(lambda a: a * a)(x)


def grad_of_jit():
    return ops.grad(ms.jit(square))(x)


def grad_of_scalar_tensor():
    return ops.grad(square)(Tensor(2.0))


def no_path():
    def f(a, b):
        return a * 2

    return ops.grad(f, (0, 1))(x, y)


def stopped():
    def f(a, b):
        return ops.stop_gradient(a) * b

    return ops.grad(f, (0, 1))(x, y)


def stopped_structure():
    def f(a, b):
        p, q = ops.stop_gradient((a, b))
        return p * q * a

    return ops.grad(f, (0, 1))(x, y)


def float16():
    return ops.grad(square)(x.astype(ms.float16))


def integer_input_only():
    return ops.grad(square)(i)


def integer_output():
    def f(a):
        return a.astype(ms.int32)

    return ops.grad(f)(x)


def float_and_integer_outputs():
    def f(a):
        return a * 2, a.astype(ms.int32)

    return ops.grad(f)(x)


def number_only():
    return ops.grad(square)(2.0)


def position_out_of_range():
    return ops.grad(square, 1)(x)


def position_and_weights_none():
    return ops.grad(square, None)(x)


def not_a_function():
    return ops.grad(3)(x)


def bad_position():
    return ops.grad(product, (0, "a"))(x, y)


def repeated_position():
    return ops.grad(product, (0, 0))(x, y)


def aux_without_aux():
    return ops.grad(square, 0, None, True)(x)


def positions_with_number():
    return ops.grad(scaled, (0, 1))(x, 3)


def positions_with_tuple():
    def f(items, c):
        return items[0] * items[1] * c

    return ops.grad(f, (0, 1))((x, y), y)


def value_of_number():
    return ops.value_and_grad(square)(2.0)


def value_with_tuple():
    return ops.value_and_grad(summed)((x, y))


def aux_and_weights():
    net = Two()

    def f(a, b):
        r = net(a, b)
        return r, r + 1

    return ops.grad(f, 0, net.trainable_params(), True)(x, y)


def value_aux_and_weights():
    net = Two()

    def f(a, b):
        r = net(a, b)
        return r, r + 1

    return ops.value_and_grad(f, None, net.trainable_params(), True)(x, y)


def ids_aux():
    return ops.grad(with_one_aux, 0, None, True, True)(x, y)


def ids_position_tuple_one():
    return ops.grad(product, (0,), None, False, True)(x, y)


def ids_number():
    return ops.grad(scaled, (0, 1), None, False, True)(x, 3)


def keyword_argument():
    def f(a, b=2.0):
        return a * b

    return ops.grad(f)(x, b=y)


def default_argument():
    def f(a, b=2.0):
        return a * b

    return ops.grad(f)(x)


def star_arguments():
    def f(*items):
        return items[0] * items[1]

    return ops.grad(f, (0, 1))(x, y)


def negative_position():
    return ops.grad(product, -1)(x, y)


def empty_position():
    return ops.grad(product, ())(x, y)


def empty_weights():
    return ops.grad(product, 0, [])(x, y)


def empty_weights_only():
    return ops.grad(product, None, [])(x, y)


def none_argument():
    def f(a, b):
        return a * 2 if b is None else a

    return GradOperation(get_all=True)(f)(x, None)


def bool_tensor():
    def f(a, m):
        return ops.where(m, a, a * 2)

    return GradOperation(get_all=True)(f)(x, x > 1)


def nested_result():
    def f(a):
        return (a * 2, (a * 3, [a * 4]))

    return ops.grad(f)(x)


def scalar_result_number():
    def f(a):
        return 3.0

    return ops.grad(f)(x)


def same_tensor_twice():
    return GradOperation(get_all=True)(product)(x, x)


def unused_parameter():
    net = Two()
    return ops.grad(lambda a: a * net.w, 0, net.trainable_params())(x)


def weights_not_parameters():
    return ops.grad(product, None, [x])(x, y)


def weights_repeated():
    net = One()
    return ops.grad(net, None, [net.w, net.w])(x)


def sens_number():
    return GradOperation(sens_param=True)(square)(x, 2.0)


def sens_wrong_shape():
    return GradOperation(sens_param=True)(square)(x, Tensor(np.ones((2, 2), np.float32)))


def sens_missing():
    return GradOperation(sens_param=True)(square)()


def sens_integer_dtype():
    return GradOperation(sens_param=True)(square)(x, i)


def picked_missing():
    return ms.get_grad(ops.grad(product, (0, 1), None, False, True)(x, y), 5)


def picked_both_position():
    net = Two()
    return ms.get_grad(ops.grad(net, 0, net.trainable_params(), False, True)(x, y), 0)


def assign_number():
    p = Parameter(Tensor(np.array([1, 1], np.float32)), name="p")
    ops.assign_add(p, 1.0)
    return p


def assign_scalar_tensor():
    p = Parameter(Tensor(np.array([1, 1], np.float32)), name="p")
    ops.assign_add(p, Tensor(1.0))
    return p


def assign_sub_number():
    p = Parameter(Tensor(np.array([1, 1], np.float32)), name="p")
    ops.assign_sub(p, 3)
    return p


def assign_plain_number():
    p = Parameter(Tensor(np.array([1, 1], np.float32)), name="p")
    ops.assign(p, 3.0)
    return p


CASES = {
    name: value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", None) == __name__
    and getattr(value, "__code__", None) is not None
    and value.__code__.co_argcount == 0
}


def show(value):
    """A result as text: structure, numbers and dtypes."""
    if isinstance(value, Tensor):
        return f"{value.asnumpy().tolist()} {value.dtype}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(show, value))
        return f"({inside},)" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {show(v)}" for k, v in value.items()) + "}"
    return repr(value)
