"""Wrong programs: gradients, optimizers, losses, layers and settings, misused."""

from __future__ import annotations

import numpy as np
from programlib import Wrap, f32, i32, wrong

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

GRAPH = ("graph",)


def dense():
    return nn.Dense(2, 2)


# ---- gradients ----------------------------------------------------------------------------------------------------------
@wrong((ValueError, IndexError), "grad_position", line=False)
def gradient_of_a_missing_argument():
    ms.grad(lambda x: x * 2, grad_position=2)(f32(2))


@wrong((TypeError, ValueError), "grad_position", line=False)
def gradient_of_a_named_position():
    ms.grad(lambda x: x * 2, grad_position="x")(f32(2))


@wrong((TypeError, ValueError), line=False)
def gradient_of_nothing():
    ms.grad(lambda x: x * 2, grad_position=None)(f32(2))


@wrong((TypeError, ValueError), "weights", line=False)
def gradient_with_weights_that_are_tensors():
    ms.grad(dense(), None, weights=[f32(2)])(f32(1, 2))


@wrong((TypeError, RuntimeError, ValueError), line=False)
def gradient_of_a_string_result():
    ms.grad(lambda x: "text")(f32(2))


@wrong((TypeError, ValueError), "argument", line=False)
def gradient_without_arguments():
    ms.grad(lambda x: x * x)()


@wrong(ValueError, "MatMul", marks="ops.matmul(x, x)")
def mistake_inside_of_a_gradient():
    ms.grad(lambda x: ops.matmul(x, x).sum())(f32(2, 3))


@wrong(ValueError, "has_aux", line=False)
def auxiliary_results_of_a_single_one():
    ms.grad(lambda x: x * x, has_aux=True)(f32(2))


@wrong((TypeError, ValueError), line=False)
def gradient_operation_without_sensitivity():
    ops.GradOperation(sens_param=True)(nn.ReLU())(f32(2))


@wrong(TypeError, line=False)
def gradient_operation_of_a_number():
    ops.GradOperation(get_all="yes")


# ---- optimizers and losses ----------------------------------------------------------------------------------------------
@wrong((TypeError, ValueError), line=False)
def optimizer_of_a_network():
    nn.Adam(dense(), 0.1)


@wrong((TypeError, ValueError), line=False)
def optimizer_of_tensors():
    nn.Adam([f32(2)], 0.1)


@wrong((TypeError, ValueError), "learning", line=False)
def learning_rate_of_a_string():
    nn.Adam(dense().trainable_params(), "fast")


@wrong((TypeError, ValueError), "beta1", line=False)
def beta_of_two():
    nn.Adam(dense().trainable_params(), 0.1, beta1=2.0)


@wrong((TypeError, ValueError), "momentum", line=False)
def momentum_below_zero():
    nn.Momentum(dense().trainable_params(), 0.1, -0.9)


@wrong((TypeError, ValueError), "weight_decay", line=False)
def weight_decay_of_a_string():
    nn.Momentum(dense().trainable_params(), 0.1, 0.9, weight_decay="little")


@wrong((TypeError, ValueError, KeyError), line=False)
def group_without_parameters():
    nn.SGD([{"lr": 0.1}], 0.1)


@wrong((ValueError, RuntimeError), line=False)
def parameters_in_two_groups():
    params = dense().trainable_params()
    nn.SGD([{"params": params}, {"params": params}], 0.1)


@wrong(ValueError, "x: Float32[4, 3]")
def loss_of_unequal_shapes():
    Wrap(lambda self, x, y: self.loss(x, y), loss=nn.MSELoss())(f32(4, 3), f32(4, 2))


@wrong((TypeError, ValueError), "reduction", line=False)
def unknown_reduction():
    nn.MSELoss(reduction="average")


@wrong((TypeError, ValueError))
def labels_of_another_length():
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    Wrap(lambda self, x, y: loss(x, y))(f32(2, 3), i32(0, 1, 2))


@wrong((TypeError, ValueError), line=False)
def loss_cell_without_a_loss():
    nn.WithLossCell(dense(), 3)(f32(1, 2), f32(1, 2))


@wrong((TypeError, ValueError), line=False)
def train_step_without_an_optimizer():
    nn.TrainOneStepCell(nn.WithLossCell(dense(), nn.MSELoss()), None)


@wrong(ValueError, "MatMul", line=False)
def mistake_inside_of_a_train_step():
    net = dense()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    )
    step(f32(1, 3), f32(1, 2))


# ---- layers -------------------------------------------------------------------------------------------------------------
@wrong((TypeError, ValueError), line=False)
def dense_of_a_fraction():
    nn.Dense(2.5, 2)


@wrong(KeyError, "relux", "'relu'", line=False)
def unknown_activation():
    nn.Dense(2, 2, activation="relux")


@wrong((TypeError, ValueError), line=False)
def embedding_of_no_words():
    nn.Embedding(0, 4)


@wrong((TypeError, ValueError), line=False)
def dropout_of_a_string():
    nn.Dropout(p="half")


@wrong((TypeError, ValueError), line=False)
def sequence_of_functions():
    nn.SequentialCell([lambda x: x])


@wrong((TypeError, ValueError), line=False)
def cell_list_of_numbers():
    nn.CellList([1, 2])


@wrong(IndexError, line=False)
def cell_out_of_range():
    nn.SequentialCell(dense())[3]


@wrong(AttributeError, "construct", line=False)
def cell_without_construct():
    class Empty(nn.Cell):
        pass

    Empty()(f32(2))


@wrong(AttributeError, "super().__init__()", line=False)
def cell_without_super():
    class Hasty(nn.Cell):
        def __init__(self):
            self.fc = dense()

    Hasty()


@wrong(TypeError, "fc", line=False)
def number_in_place_of_a_cell():
    net = Wrap(lambda self, x: x, fc=dense())
    net.fc = 3


@wrong(TypeError, "construct", line=False)
def unknown_keyword_of_a_network():
    dense()(f32(1, 2), training=True)


# ---- tensors and settings -----------------------------------------------------------------------------------------------
@wrong((TypeError, ValueError), line=False)
def tensor_of_ragged_lists():
    Tensor([[1.0, 2.0], [3.0]])


@wrong(TypeError, line=False)
def tensor_of_an_object():
    Tensor(object())


@wrong((TypeError, ValueError), line=False)
def tensor_of_an_unknown_dtype():
    Tensor([1.0], "float33")


@wrong((TypeError, ValueError), line=False)
def parameter_without_a_value():
    Parameter(None)


@wrong(TypeError, "function", line=False)
def jit_of_a_number():
    ms.jit(3)


@wrong(TypeError, line=False)
def length_of_a_scalar():
    len(Tensor(1.0))


@wrong((TypeError, ValueError), line=False)
def item_of_many():
    f32(3).item()


@wrong((TypeError, ValueError), line=False)
def number_of_many():
    float(f32(3))


@wrong((TypeError, ValueError), "known only at run time", modes=GRAPH, marks="x.sum().asnumpy()")
def number_of_a_traced_tensor():
    Wrap(lambda self, x: round(x.sum().asnumpy()) * x)(f32(3))


@wrong(TypeError, "item", modes=GRAPH, marks="x.sum().item()")
def item_of_a_traced_tensor():
    Wrap(lambda self, x: x * np.sqrt(x.sum().item()))(f32(3))
