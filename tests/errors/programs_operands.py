"""Wrong programs whose message names the operands: the failing expression is marked, and shapes and dtypes stand below it."""

from __future__ import annotations

import numpy as np
from programlib import Wrap, f32, i32, wrong

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import operations as P


@wrong(ValueError, "x: Float32[2, 3], y: Float32[4]", marks="x + y")
def sum_of_shapes():
    Wrap(lambda self, x, y: (x + y) * 2)(f32(2, 3), f32(4))


@wrong(ValueError, "x: Float32[5]", "self.w: Float32[3] (Parameter 'w')", marks="x * self.w")
def product_with_a_parameter():
    Wrap(lambda self, x: 1 - x * self.w, w=Parameter(f32(3), name="w"))(f32(5))


@wrong(ValueError, "x: Float32[2, 3], y: Float32[2, 4]", marks="ops.matmul(x, y)")
def matmul_in_a_longer_expression():
    Wrap(lambda self, x, y: ops.relu(ops.matmul(x, y)) + 1)(f32(2, 3), f32(2, 4))


@wrong(ValueError, "x: Float32[2, 3], y: Float32[4, 3]", marks="x @ y")
def matrix_operator():
    Wrap(lambda self, x, y: x @ y)(f32(2, 3), f32(4, 3))


@wrong(ValueError, "Dense", "Float32[4, 7]", "Float32[2, 8]", "weight'", marks="self.fc(x)")
def layer_with_wrong_features():
    Wrap(lambda self, x: self.fc(x) + 1, fc=nn.Dense(8, 2))(f32(4, 7))


@wrong(ValueError, "x: Float32[2, 3]", marks="x.reshape(4, 2)")
def method_reshape():
    Wrap(lambda self, x: x.reshape(4, 2))(f32(2, 3))


@wrong((ValueError, TypeError), "x: Float32[2, 3]", marks="x.transpose(0, 1, 2)")
def method_transpose_of_too_many_axes():
    Wrap(lambda self, x: x.transpose(0, 1, 2))(f32(2, 3))


@wrong(ValueError, "axis", "x: Float32[2, 3]", marks="x.sum(axis=4)")
def method_sum_over_a_missing_axis():
    Wrap(lambda self, x: x.sum(axis=4))(f32(2, 3))


@wrong((ValueError, IndexError), "x: Float32[2, 3]", marks="x[2]")
def row_out_of_range():
    Wrap(lambda self, x: x[2] + 1)(f32(2, 3))


@wrong((ValueError, IndexError), "x: Float32[2, 3]", marks="x[:, :, 0]")
def three_indices_of_a_matrix():
    Wrap(lambda self, x: x[:, :, 0])(f32(2, 3))


@wrong((TypeError, IndexError), "x: Float32[2, 3]", marks='x["a"]')
def string_index():
    Wrap(lambda self, x: x["a"])(f32(2, 3))


@wrong((TypeError, IndexError), marks="x[1.5]")
def fractional_index():
    Wrap(lambda self, x: x[1.5])(f32(2, 3))


@wrong((TypeError, IndexError), marks="x[y]")
def float_tensor_index():
    Wrap(lambda self, x, y: x[y])(f32(2, 3), f32(2))


@wrong((ValueError, IndexError), "m: Bool[3]", marks="x[m]")
def mask_of_another_length():
    Wrap(lambda self, x, m: x[m])(f32(2, 3), Tensor(np.array([True, False, True])))


@wrong((ValueError, IndexError))
def two_ellipses():
    Wrap(lambda self, x: x[..., 0, ...])(f32(2, 3))


@wrong(ValueError)
def slice_with_step_zero():
    Wrap(lambda self, x: x[::0])(f32(4))


@wrong(ValueError, "(3,)", "(4,)", "x: Float32[2, 3]")
def assignment_that_does_not_broadcast():
    def body(self, x, y):
        x[0] = y
        return x

    Wrap(body)(f32(2, 3), f32(4))


@wrong((ValueError, IndexError))
def assignment_out_of_range():
    def body(self, x):
        x[7] = 0.0
        return x

    Wrap(body)(f32(2, 3))


@wrong((TypeError, ValueError))
def assignment_of_a_string():
    def body(self, x):
        x[0] = "zero"
        return x

    Wrap(body)(f32(2, 3))


@wrong(ValueError, marks="ops.concat((x, y), 1)")
def concat_of_unequal_rows():
    Wrap(lambda self, x, y: ops.concat((x, y), 1))(f32(2, 3), f32(3, 3))


@wrong(ValueError, marks="ops.stack([x, y])")
def stack_of_unequal_shapes():
    Wrap(lambda self, x, y: ops.stack([x, y]))(f32(2), f32(3))


@wrong((TypeError, ValueError), marks="ops.concat([])")
def concat_of_nothing():
    Wrap(lambda self, x: x + ops.concat([]))(f32(2))


@wrong(ValueError, marks="ops.expand_dims(x, 5)")
def expand_dims_out_of_range():
    Wrap(lambda self, x: ops.expand_dims(x, 5))(f32(2))


@wrong(ValueError, marks="ops.squeeze(x, 2)")
def squeeze_of_an_axis_beyond():
    Wrap(lambda self, x: ops.squeeze(x, 2))(f32(2, 1))


@wrong((ValueError, TypeError), marks="ops.broadcast_to(x, (2, 4))")
def broadcast_to_another_width():
    Wrap(lambda self, x: ops.broadcast_to(x, (2, 4)))(f32(1, 3))


@wrong(TypeError, marks="x << 1")
def shift_of_floats():
    Wrap(lambda self, x: x << 1)(f32(2))


@wrong(TypeError, marks="x + None")
def sum_with_nothing():
    Wrap(lambda self, x: x + None)(f32(2))


@wrong(TypeError, marks="x * {}")
def product_with_a_dict():
    Wrap(lambda self, x: x * {})(f32(2))


@wrong(TypeError, marks="ops.relu()")
def relu_of_nothing():
    Wrap(lambda self, x: x + ops.relu())(f32(2))


@wrong(TypeError, marks="ops.relu(x, x, x)")
def relu_of_three():
    Wrap(lambda self, x: ops.relu(x, x, x))(f32(2))


@wrong(TypeError, marks='ops.exp("x")')
def exponential_of_a_string():
    Wrap(lambda self, x: x + ops.exp("x"))(f32(2))


@wrong(TypeError, marks="ops.softmax(x)")
def softmax_function_of_integers():
    Wrap(lambda self, x: ops.softmax(x))(i32(1, 2))


@wrong((TypeError, ValueError), marks='x.astype("float33")')
def unknown_dtype():
    Wrap(lambda self, x: x.astype("float33"))(f32(2))


@wrong((TypeError, ValueError), marks="ops.one_hot(x, 3)")
def one_hot_of_floats():
    Wrap(lambda self, x: ops.one_hot(x, 3))(f32(2))


@wrong((TypeError, ValueError), marks="ops.arange(0, 4, 0)")
def range_with_step_zero():
    Wrap(lambda self, x: x + ops.arange(0, 4, 0))(f32(2))


@wrong(ValueError, marks="ops.zeros((-1, 2), ms.float32)")
def zeros_of_a_negative_size():
    Wrap(lambda self, x: x + ops.zeros((-1, 2), ms.float32))(f32(2))


@wrong((TypeError, ValueError), marks='ops.ones("ab", ms.float32)')
def ones_of_a_string():
    Wrap(lambda self, x: x + ops.ones("ab", ms.float32))(f32(2))


@wrong(ValueError, "MatMul", "[2, 3]", marks="self.mul(x, y)")
def transposed_primitive():
    Wrap(lambda self, x, y: self.mul(x, y), mul=P.MatMul(transpose_b=True))(f32(2, 3), f32(3, 4))


@wrong(ValueError, marks="self.conv(x)")
def convolution_of_wrong_channels():
    Wrap(lambda self, x: self.conv(x), conv=nn.Conv2d(3, 4, 3))(f32(1, 2, 8, 8))


@wrong((TypeError, ValueError, IndexError), "Gather", marks="ops.gather(x, i, 0)")
def gather_out_of_range_at_run_time():
    Wrap(lambda self, x, i: ops.gather(x, i, 0) + 1)(f32(4, 2), i32(9))


@wrong((TypeError, ValueError), marks="x.view(7)")
def view_of_another_size():
    Wrap(lambda self, x: x.view(7))(f32(2, 3))
