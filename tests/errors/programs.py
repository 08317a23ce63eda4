"""Wrong programs: each a function that a user might write, with the exception it must raise and the words the message must hold.
`where`: "graph" and "eager" run it in that mode, "both" in either; "file": the message shows this file and the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Model, Parameter, Tensor, nn, ops
from mindspore.ops import operations as P


@dataclass
class Program:
    """One wrong program."""

    run: Callable
    error: type | tuple
    says: list[str] = field(default_factory=list)
    modes: tuple = ("eager", "graph")
    line: bool = True  # in graph mode the message must show file and line


PROGRAMS: list[Program] = []


def wrong(error, *says, modes=("eager", "graph"), line=True):
    """Registers the decorated function."""

    def add(run):
        PROGRAMS.append(Program(run, error, list(says), modes, line))
        return run

    return add


def f32(*shape):
    return Tensor(np.ones(shape, np.float32))


def i32(*values):
    return Tensor(np.array(values, np.int32))


class Wrap(nn.Cell):
    """A cell whose construct is the given function, so that the program runs in either mode."""

    def __init__(self, body, **members):
        super().__init__()
        self.body = body
        for name, value in members.items():
            setattr(self, name, value)

    def construct(self, *args):
        return self.body(self, *args)


# ---- shapes -------------------------------------------------------------------------------------------------------------
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


# ---- dtypes -------------------------------------------------------------------------------------------------------------
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


# ---- arguments ----------------------------------------------------------------------------------------------------------
@wrong(TypeError, "construct", line=False)
def too_few_arguments():
    nn.Dense(2, 2)()


@wrong(TypeError, "construct", line=False)
def too_many_arguments():
    nn.ReLU()(f32(1), f32(1))


@wrong(TypeError, "MatMul", "missing")
def primitive_without_an_input():
    Wrap(lambda self, x: P.MatMul()(x))(f32(2, 2))


@wrong(TypeError, "MatMul", "transpose_c", line=False)
def unknown_constructor_argument():
    P.MatMul(transpose_c=True)


@wrong(TypeError, "unexpected", "axes")
def unknown_keyword():
    Wrap(lambda self, x: ops.relu(x, axes=1))(f32(2))


@wrong(TypeError, "missing 1 required argument", modes=("graph",))
def helper_without_an_argument():
    def helper(a, b):
        return a + b

    Wrap(lambda self, x: helper(x))(f32(2))


@wrong((ValueError, TypeError), "stride", line=False)
def conv_with_zero_stride():
    nn.Conv2d(3, 4, 3, stride=0)


@wrong((ValueError, TypeError), line=False)
def conv_with_zero_channels():
    nn.Conv2d(0, 4, 3)


@wrong(ValueError, "pad_mode", line=False)
def conv_with_unknown_pad_mode():
    nn.Conv2d(3, 4, 3, pad_mode="mirror")


@wrong(ValueError, line=False)
def conv_with_groups_that_do_not_divide():
    nn.Conv2d(3, 4, 3, group=2)


@wrong(ValueError, "p", line=False)
def dropout_probability_out_of_range():
    nn.Dropout(p=1.5)


@wrong((TypeError, ValueError), line=False)
def optimizer_without_parameters():
    nn.SGD([], 0.1)


@wrong((TypeError, ValueError), "learning", line=False)
def negative_learning_rate():
    nn.SGD(nn.Dense(2, 2).trainable_params(), -0.1)


@wrong(ValueError, "moed", "mode", line=False)
def misspelt_context():
    ms.set_context(moed=0)


@wrong(ValueError, "mode", line=False)
def context_mode_out_of_range():
    ms.set_context(mode=7)


@wrong(ValueError, "device_target", line=False)
def unknown_device():
    ms.set_context(device_target="TPU")


@wrong(ValueError, "not available", line=False)
def absent_device():
    ms.set_context(device_target="Ascend")


# ---- Python -------------------------------------------------------------------------------------------------------------
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


# ---- compiled only ------------------------------------------------------------------------------------------------------
@wrong(TypeError, "branch", "Float32[2]", "Float32[1]", modes=("graph",))
def branches_that_return_other_types():
    def body(self, x):
        if x.sum() > 0:
            return x
        return x[:1]

    Wrap(body)(f32(2))


@wrong(UnboundLocalError, "y", "one branch", modes=("graph",))
def variable_of_one_branch():
    def body(self, x):
        if x.sum() > 0:
            y = x
        return y

    Wrap(body)(f32(2))


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
def generator_in_construct():
    def numbers():
        yield 1

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


# ---- Parameters and gradients ---------------------------------------------------------------------------------------------
@wrong(TypeError, "Parameter", "Assign")
def assigning_to_a_tensor():
    Wrap(lambda self, x: P.Assign()(x, x))(f32(2))


@wrong((ValueError, TypeError))
def assigning_another_shape():
    cell = Wrap(lambda self, x: ops.assign(self.p, x), p=Parameter(f32(3), name="p"))
    cell(f32(2))


@wrong((ValueError, TypeError), line=False)
def set_data_of_another_shape():
    Parameter(f32(2), name="p").set_data(f32(3))


@wrong(ValueError, "grad_position", modes=("eager",), line=False)
def gradient_of_a_missing_position():
    ms.grad(lambda x: x * 2, grad_position=3)(f32(2))


@wrong(TypeError, "grad", modes=("eager",), line=False)
def gradient_of_a_number():
    ms.grad(3)


@wrong(ValueError, "sensitivity", line=False)
def sensitivity_of_another_shape():
    ops.GradOperation(sens_param=True)(nn.ReLU())(f32(2), f32(3))


@wrong((TypeError, RuntimeError), line=False)
def gradient_of_an_integer_result():
    ms.grad(lambda x: ops.argmax(x))(f32(3))


# ---- data at run time -------------------------------------------------------------------------------------------------------
@wrong((ValueError, IndexError), "Gather")
def gather_out_of_range():
    Wrap(lambda self, x, i: ops.gather(x, i, 0))(f32(4, 2), i32(9))


@wrong((ValueError, IndexError), "3")
def label_out_of_range():
    nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(f32(2, 3), i32(0, 3))


# ---- training -------------------------------------------------------------------------------------------------------------
@wrong((TypeError, ValueError), line=False)
def model_without_an_optimizer():
    Model(nn.Dense(2, 2), nn.MSELoss()).train(1, None)


@wrong(TypeError, line=False)
def model_of_a_function():
    Model(lambda x: x)


@wrong((ValueError, OSError), "missing.ckpt", line=False)
def missing_checkpoint():
    ms.load_checkpoint("/nonexistent/missing.ckpt")


@wrong((TypeError, ValueError), "net", line=False)
def loading_into_nothing():
    ms.load_param_into_net(None, {})


_STATE = None
FILE = str(Path(__file__).resolve())
