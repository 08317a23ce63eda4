"""Calls of gradient functions whose results are compared with a table: what is nested in what, and with which values.
`x`, `y`, `i`: two float tensors and one of integers."""

from __future__ import annotations

from functools import partial
from types import FunctionType

import numpy as np
from structure_programs import (
    Counter,
    Frozen,
    Methods,
    Nothing,
    One,
    Pair,
    Plain,
    Two,
    dict_result,
    list_result,
    of_dict,
    product,
    scaled,
    square,
    summed,
    times_int,
    two_results,
    with_aux,
    with_one_aux,
)

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, ops

x = Tensor(np.array([1, 2, 3], np.float32))
y = Tensor(np.array([2, 2, 2], np.float32))
i = Tensor(np.array([1, 2, 3], np.int32))
GradOperation = ops.GradOperation


# Calls that are one expression; those that are more are functions.
CALLS = {
    "get_all_one": lambda: GradOperation(get_all=True)(One())(x),
    "get_all_two": lambda: GradOperation(get_all=True)(Two())(x, y),
    "get_all_none": lambda: GradOperation(get_all=True)(Nothing())(),
    "first_none": lambda: GradOperation()(Nothing())(),
    "first_two": lambda: GradOperation()(Two())(x, y),
    "by_list_default": lambda: GradOperation(get_by_list=True)(Two())(x, y),
    "by_list_empty": lambda: GradOperation(get_by_list=True)(Plain(), ParameterTuple([]))(x),
    "sens_one": lambda: GradOperation(sens_param=True)(Plain())(x, y),
    "sens_all": lambda: GradOperation(get_all=True, sens_param=True)(Two())(x, y, y),
    "sens_pair": lambda: GradOperation(get_all=True, sens_param=True)(Pair())(x, (x, y)),
    "number_argument": lambda: GradOperation(get_all=True)(scaled)(x, 3),
    "number_argument_first": lambda: GradOperation()(scaled)(x, 3.0),
    "integer_tensor_all": lambda: GradOperation(get_all=True)(times_int)(x, i),
    "integer_tensor_only": lambda: ops.grad(times_int, 1)(x, i),
    "integer_tensor_both": lambda: ops.grad(times_int, (0, 1))(x, i),
    "tuple_argument": lambda: GradOperation(get_all=True)(summed)((x, y)),
    "tuple_argument_grad": lambda: ops.grad(summed)((x, y)),
    "list_argument_grad": lambda: ops.grad(summed)([x, y]),
    "dict_argument_grad": lambda: ops.grad(of_dict)({"a": x, "b": y}),
    "two_results_grad": lambda: ops.grad(two_results, (0, 1))(x, y),
    "list_result_grad": lambda: ops.grad(list_result)(x),
    "dict_result_grad": lambda: ops.grad(dict_result)(x),
    "grad_default": lambda: ops.grad(product)(x, y),
    "grad_position_one": lambda: ops.grad(product, 1)(x, y),
    "grad_position_tuple": lambda: ops.grad(product, (0, 1))(x, y),
    "grad_position_tuple_one": lambda: ops.grad(product, (0,))(x, y),
    "grad_position_reversed": lambda: ops.grad(product, (1, 0))(x, y),
    "grad_aux": lambda: ops.grad(with_aux, 0, None, True)(x, y),
    "grad_one_aux": lambda: ops.grad(with_one_aux, 0, None, True)(x, y),
    "grad_aux_two": lambda: ops.grad(with_aux, (0, 1), None, True)(x, y),
    "value_default": lambda: ops.value_and_grad(product)(x, y),
    "value_two": lambda: ops.value_and_grad(product, (0, 1))(x, y),
    "value_aux": lambda: ops.value_and_grad(with_aux, 0, None, True)(x, y),
    "value_pair": lambda: ops.value_and_grad(two_results, (0, 1))(x, y),
    "ids_one": lambda: ops.grad(product, 0, None, False, True)(x, y),
    "ids_two": lambda: ops.grad(product, (0, 1), None, False, True)(x, y),
    "picked_position": lambda: ms.get_grad(ops.grad(product, (0, 1), None, False, True)(x, y), 1),
    "picked_single": lambda: ms.get_grad(ops.grad(product, 0, None, False, True)(x, y), 0),
    "second": lambda: ops.grad(ops.grad(square))(x),
    "second_cross": lambda: ops.grad(ops.grad(product, 0), 1)(x, y),
    "operation_of_operation": lambda: GradOperation()(GradOperation()(square))(x),
    "grad_of_method": lambda: ops.grad(Methods().cube)(x),
    "grad_of_partial": lambda: ops.grad(partial(product, y))(x),
    "grad_of_jit": lambda: ops.grad(ms.jit(square))(x),
    "grad_of_scalar_tensor": lambda: ops.grad(square)(Tensor(2.0)),
    "float16": lambda: ops.grad(square)(x.astype(ms.float16)),
    "integer_input_only": lambda: ops.grad(square)(i),
    "number_only": lambda: ops.grad(square)(2.0),
    "position_out_of_range": lambda: ops.grad(square, 1)(x),
    "position_and_weights_none": lambda: ops.grad(square, None)(x),
    "not_a_function": lambda: ops.grad(3)(x),
    "bad_position": lambda: ops.grad(product, (0, "a"))(x, y),
    "repeated_position": lambda: ops.grad(product, (0, 0))(x, y),
    "aux_without_aux": lambda: ops.grad(square, 0, None, True)(x),
    "positions_with_number": lambda: ops.grad(scaled, (0, 1))(x, 3),
    "value_of_number": lambda: ops.value_and_grad(square)(2.0),
    "value_with_tuple": lambda: ops.value_and_grad(summed)((x, y)),
    "ids_aux": lambda: ops.grad(with_one_aux, 0, None, True, True)(x, y),
    "ids_position_tuple_one": lambda: ops.grad(product, (0,), None, False, True)(x, y),
    "ids_number": lambda: ops.grad(scaled, (0, 1), None, False, True)(x, 3),
    "negative_position": lambda: ops.grad(product, -1)(x, y),
    "empty_position": lambda: ops.grad(product, ())(x, y),
    "empty_weights": lambda: ops.grad(product, 0, [])(x, y),
    "empty_weights_only": lambda: ops.grad(product, None, [])(x, y),
    "same_tensor_twice": lambda: GradOperation(get_all=True)(product)(x, x),
    "weights_not_parameters": lambda: ops.grad(product, None, [x])(x, y),
    "sens_number": lambda: GradOperation(sens_param=True)(square)(x, 2.0),
    "sens_missing": lambda: GradOperation(sens_param=True)(square)(),
    "sens_integer_dtype": lambda: GradOperation(sens_param=True)(square)(x, i),
    "picked_missing": lambda: ms.get_grad(ops.grad(product, (0, 1), None, False, True)(x, y), 5),
}


def by_list_one():
    net = One()
    return GradOperation(get_by_list=True)(net, ParameterTuple(net.trainable_params()))(x)


def by_list_two():
    net = Two()
    return GradOperation(get_by_list=True)(net, ParameterTuple(net.trainable_params()))(x, y)


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


def sens_by_list():
    net = One()
    return GradOperation(get_all=True, get_by_list=True, sens_param=True)(
        net, ParameterTuple(net.trainable_params())
    )(x, y)


def tuple_and_tensor():
    def f(items, c):
        return items[0] * items[1] * c

    return GradOperation(get_all=True)(f)((x, y), x)


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


def value_weights():
    net = Two()
    return ops.value_and_grad(net, None, net.trainable_params())(x, y)


def value_position_and_weights():
    net = Two()
    return ops.value_and_grad(net, 0, net.trainable_params())(x, y)


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


def picked_parameter():
    net = Two()
    return ms.get_grad(ops.grad(net, 0, net.trainable_params(), False, True)(x, y), net.b)


def changed_parameter():
    net = Counter()
    return ops.grad(net, 0, net.trainable_params())(x)


def changed_parameter_value():
    net = Counter()
    return ops.value_and_grad(net, 0, net.trainable_params())(x), net.n


def third():
    def cube(a):
        return a * a * a * a

    return ops.grad(ops.grad(ops.grad(cube)))(x)


def grad_of_value_and_grad():
    def f(a):
        value, gradient = ops.value_and_grad(square)(a)
        return value + gradient

    return ops.grad(f)(x)


def operation_all_of_operation():
    return GradOperation(get_all=True)(GradOperation(get_all=True)(product))(x, y)


def grad_of_lambda():
    return ops.grad(lambda a: a * a)(x)


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


def integer_output():
    def f(a):
        return a.astype(ms.int32)

    return ops.grad(f)(x)


def float_and_integer_outputs():
    def f(a):
        return a * 2, a.astype(ms.int32)

    return ops.grad(f)(x)


def positions_with_tuple():
    def f(items, c):
        return items[0] * items[1] * c

    return ops.grad(f, (0, 1))((x, y), y)


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


def unused_parameter():
    net = Two()
    return ops.grad(lambda a: a * net.w, 0, net.trainable_params())(x)


def weights_repeated():
    net = One()
    return ops.grad(net, None, [net.w, net.w])(x)


def sens_wrong_shape():
    return GradOperation(sens_param=True)(square)(x, Tensor(np.ones((2, 2), np.float32)))


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


CASES = CALLS | {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, FunctionType)
    and value.__module__ == __name__
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
