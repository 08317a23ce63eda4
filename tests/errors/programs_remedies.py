"""Wrong programs that one change would make right: the message says which."""

from __future__ import annotations

import numpy as np
from programlib import Wrap, f32, i32, wrong

from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P


@wrong(ValueError, "Did you mean y.T, or transpose_b=True?", marks="ops.matmul(x, y)")
def product_with_rows():
    Wrap(lambda self, x, y: ops.matmul(x, y))(f32(2, 3), f32(4, 3))


@wrong(ValueError, "Did you mean y.T, or transpose_b=True?", marks="x @ y")
def product_of_equal_shapes():
    Wrap(lambda self, x, y: x @ y)(f32(2, 3), f32(2, 3))


@wrong(ValueError, "Did you mean x.T, or transpose_a=True?", marks="P.MatMul()(x, y)")
def product_of_columns():
    Wrap(lambda self, x, y: P.MatMul()(x, y))(f32(3, 2), f32(3, 5))


@wrong(ValueError, "Did you mean the operands in the other order?")
def product_in_the_other_order():
    Wrap(lambda self, x, y: x @ y)(f32(2, 3), f32(4, 2))


@wrong(ValueError, "Did you mean in_channels=7?")
def layer_of_other_features():
    Wrap(lambda self, x: self.fc(x), fc=nn.Dense(8, 2))(f32(4, 7))


@wrong(ValueError, "Did you mean y[:, None]?", marks="x + y")
def sum_with_a_value_for_each_row():
    Wrap(lambda self, x, y: x + y)(f32(2, 3), f32(2))


@wrong(ValueError, "Did you mean y.T?", marks="x * y")
def product_with_a_transposed():
    Wrap(lambda self, x, y: x * y)(f32(2, 3), f32(3, 2))


@wrong(ValueError, "Did you mean (-1, 2)?", marks="x.reshape(4, 2)")
def reshape_with_a_size_too_much():
    Wrap(lambda self, x: x.reshape(4, 2))(f32(2, 3))


@wrong(ValueError, "Did you mean axis=1?")
def concat_along_the_wrong_axis():
    Wrap(lambda self, x, y: ops.concat((x, y), 0))(f32(2, 3), f32(2, 4))


@wrong(ValueError, "Did you mean x.transpose(0, 3, 1, 2), with the channels first?")
def convolution_of_channels_last():
    weight = f32(4, 3, 3, 3)
    Wrap(lambda self, x, w: P.Conv2D(4, 3)(x, w))(f32(1, 8, 8, 3), weight)


@wrong(ValueError, "Did you mean x[None], a batch of one?")
def convolution_of_one_image():
    weight = f32(4, 3, 3, 3)
    Wrap(lambda self, x, w: P.Conv2D(4, 3)(x, w))(f32(3, 8, 8), weight)


@wrong(ValueError, "Did you mean in_channels=5?")
def convolution_layer_of_other_channels():
    Wrap(lambda self, x: self.conv(x), conv=nn.Conv2d(3, 4, 3))(f32(1, 5, 8, 8))


@wrong(TypeError, "Did you mean y.astype(mindspore.float32)?", marks="ops.matmul(x, y)")
def product_of_dtypes():
    y = Tensor(np.ones((3, 4)))
    Wrap(lambda self, x, y: ops.matmul(x, y))(f32(2, 3), y)


@wrong(TypeError, "Did you mean x.astype(mindspore.float32)?", marks="ops.softmax(x)")
def softmax_of_counts():
    Wrap(lambda self, x: ops.softmax(x))(i32(1, 2))


@wrong(IndexError, "Did you mean y.astype(mindspore.int32)?", marks="x[y]")
def index_that_is_not_whole():
    Wrap(lambda self, x, y: x[y])(f32(2, 3), f32(2))


@wrong(ValueError, "Did you mean sparse=True?")
def loss_of_class_numbers():
    loss = nn.SoftmaxCrossEntropyWithLogits()
    Wrap(lambda self, x, y: self.loss(x, y), loss=loss)(f32(2, 3), f32(2))


@wrong(TypeError, "One of them is None: does a function miss its 'return'?", modes=("graph",))
def sum_with_a_missing_result():
    Wrap(lambda self, x: x + None)(f32(2))


@wrong(AttributeError, "Did you mean to name 'forward' so?", line=False)
def cell_with_forward():
    class Net(nn.Cell):
        def forward(self, x):
            return x

    Net()(f32(2))


@wrong(AttributeError, "Did you mean to name 'contruct' so?", line=False)
def cell_with_a_misspelt_construct():
    class Net(nn.Cell):
        def contruct(self, x):
            return x

    Net()(f32(2))


@wrong(TypeError, "Did you mean 'in_channels'?", line=False)
def misspelt_argument_of_a_layer():
    nn.Dense(in_chanels=3, out_channels=4)


@wrong(TypeError, "Did you mean 'kernel_size'?", line=False)
def misspelt_argument_of_a_convolution():
    nn.Conv2d(3, 4, kernelsize=3)


@wrong(TypeError, "it takes (a, scale). Did you mean 'scale'?", modes=("graph",))
def misspelt_argument_of_a_helper():
    def helper(a, scale=1):
        return a * scale

    Wrap(lambda self, x: helper(x, scal=2))(f32(2))


@wrong(
    IndexError,
    "input_params: Float32[4, 2], input_indices: Int32[1]",
    modes=("graph",),
    marks="ops.gather(x, i, 0)",
)
def operands_at_run_time():
    Wrap(lambda self, x, i: ops.gather(x, i, 0) + 1)(f32(4, 2), i32(9))
