"""Wrong programs: shapes, dtypes and indices."""

from __future__ import annotations

import numpy as np
from programlib import Wrap, f32, i32, wrong

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P


# ---- shapes ---------------------------------------------------------------------------------------------------------
@wrong(ValueError, "MatMul", "must be equal", "3", "2")
def matmul_inner_sizes():
    Wrap(lambda self, x, y: P.MatMul()(x, y))(f32(2, 3), f32(2, 4))


@wrong(ValueError, "Add", "broadcast", "[2, 3]", "[4]")
def add_that_does_not_broadcast():
    Wrap(lambda self, x, y: x + y)(f32(2, 3), f32(4))


@wrong(ValueError, "Reshape", "6", modes=("eager", "graph"))
def reshape_to_another_size():
    Wrap(lambda self, x: ops.reshape(x, (4, 2)))(f32(2, 3))


@wrong(ValueError, "Reshape", "-1")
def reshape_with_two_unknowns():
    Wrap(lambda self, x: ops.reshape(x, (-1, -1)))(f32(2, 3))


@wrong(ValueError, "Concat")
def concat_of_unequal_shapes():
    Wrap(lambda self, x, y: P.Concat(0)((x, y)))(f32(2, 3), f32(2, 4))


@wrong((ValueError, TypeError), "Transpose")
def transpose_with_a_bad_permutation():
    Wrap(lambda self, x: ops.transpose(x, (0, 0)))(f32(2, 3))


@wrong(ValueError, "ReduceSum", "axis", "[-2, 2)", "5")
def axis_out_of_range():
    Wrap(lambda self, x: P.ReduceSum()(x, 5))(f32(2, 3))


@wrong(ValueError, "Conv2D")
def conv_on_a_matrix():
    nn.Conv2d(3, 4, 3)(f32(3, 3))


@wrong(ValueError, "Conv2D", "3", "4")
def conv_with_wrong_channels():
    nn.Conv2d(3, 4, 3)(f32(1, 4, 8, 8))


@wrong(ValueError, "Conv2D")
def conv_with_a_kernel_larger_than_its_input():
    nn.Conv2d(3, 4, 7, pad_mode="valid")(f32(1, 3, 5, 5))


@wrong(ValueError, "MatMul")
def dense_with_wrong_features():
    nn.Dense(8, 2)(f32(4, 7))


@wrong(ValueError, "MaxPool")
def pool_larger_than_its_input():
    nn.MaxPool2d(9, 9)(f32(1, 1, 4, 4))


@wrong(ValueError, "BatchNorm")
def batch_norm_with_wrong_channels():
    nn.BatchNorm2d(8)(f32(2, 4, 3, 3))


@wrong(ValueError, "LayerNorm")
def layer_norm_with_wrong_shape():
    nn.LayerNorm((5,))(f32(2, 4))


@wrong(ValueError, "OneHot", "depth")
def one_hot_of_negative_depth():
    Wrap(lambda self, x: P.OneHot()(x, -3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32)))(
        i32(0, 1)
    )


@wrong(ValueError, "Tile")
def tile_by_a_negative():
    Wrap(lambda self, x: ops.tile(x, (2, -1)))(f32(2, 3))


@wrong(ValueError, "BroadcastTo")
def broadcast_to_a_smaller_shape():
    Wrap(lambda self, x: ops.broadcast_to(x, (2, 2)))(f32(2, 3))


@wrong(ValueError, "Split")
def split_that_does_not_divide():
    Wrap(lambda self, x: P.Split(1, 2)(x))(f32(2, 3))


@wrong(ValueError, "too many elements")
def huge_fill():
    Wrap(lambda self, x: x + ops.ones((1 << 31, 1 << 31), ms.float32))(f32(1))


@wrong(ValueError, "at most 8 dimensions")
def rank_nine():
    Wrap(lambda self, x: ops.reshape(x, (1,) * 9))(f32(1))


@wrong(ValueError, "TopK", "k")
def top_k_beyond_the_axis():
    Wrap(lambda self, x: ops.topk(x, 7))(f32(2, 3))


@wrong((ValueError, IndexError), "index")
def index_out_of_range():
    Wrap(lambda self, x: x[5])(f32(2, 3))


@wrong((ValueError, IndexError))
def too_many_indices():
    Wrap(lambda self, x: x[0, 0, 0])(f32(2, 3))


# ---- dtypes ---------------------------------------------------------------------------------------------------------
@wrong(TypeError, "Softmax", "Int32")
def softmax_of_integers():
    Wrap(lambda self, x: P.Softmax()(x))(i32(1, 2))


@wrong(TypeError, "MatMul")
def matmul_of_mixed_dtypes():
    Wrap(lambda self, x, y: P.MatMul()(x, y))(f32(2, 2), Tensor(np.ones((2, 2)), ms.float64))


@wrong(TypeError, "Gather", "Float32")
def gather_with_float_indices():
    Wrap(lambda self, x, i: ops.gather(x, i, 0))(f32(4, 2), f32(2))


@wrong(TypeError, "Add", "str")
def add_a_string():
    Wrap(lambda self, x: ops.add(x, "1"))(f32(2))


@wrong(TypeError, "unsupported operand")
def plus_a_string():
    Wrap(lambda self, x: x + "1")(f32(2))


@wrong(TypeError, "Cast", "dtype")
def cast_to_a_number():
    Wrap(lambda self, x: ops.cast(x, 3))(f32(2))


@wrong(TypeError, "ReduceSum", "axis", "str")
def axis_that_is_a_string():
    Wrap(lambda self, x: P.ReduceSum()(x, "a"))(f32(2))


@wrong(TypeError, "BitwiseAnd")
def bits_of_floats():
    Wrap(lambda self, x: x & x)(f32(2))


@wrong((TypeError, ValueError), modes=("eager",))
def labels_of_float_dtype():
    nn.SoftmaxCrossEntropyWithLogits(sparse=True)(f32(2, 3), f32(2))


# ---- data at run time -----------------------------------------------------------------------------------------------
@wrong((ValueError, IndexError), "Gather")
def gather_out_of_range():
    Wrap(lambda self, x, i: ops.gather(x, i, 0))(f32(4, 2), i32(9))


@wrong((ValueError, IndexError), "3")
def label_out_of_range():
    nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(f32(2, 3), i32(0, 3))


@wrong(
    TypeError,
    "For 'Tensor', the data must be numbers, but got numpy.ndarray of dtype <U1",
    line=False,
)
def array_of_texts():
    Tensor(np.array(["a"]))


@wrong(TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'")
def tensor_and_text():
    Wrap(lambda self, x: x + "a")(f32(2))


@wrong(TypeError, "For 'einsum', 'equation' must be a str", "but got int")
def einsum_of_a_number():
    Wrap(lambda self, x: ops.einsum(5, x))(f32(2))


@wrong(TypeError, "For 'einsum', the operands must be Tensors, but got NoneType")
def einsum_of_none():
    Wrap(lambda self, x: ops.einsum("i,j->ij", x, None))(f32(2))


@wrong(ValueError, "For 'scalar_cast', 'input_x' must fit Float32, but got an integer of 1329 bits")
def scalar_cast_of_a_huge_integer():
    Wrap(lambda self, x: x * ops.scalar_cast(10**400, ms.float32))(f32(2))
