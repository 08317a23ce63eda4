"""Wrong programs: arguments of functions, layers and settings; Parameters, gradients and training."""

from __future__ import annotations

from programlib import Wrap, f32, wrong

import mindspore as ms
from mindspore import Model, Parameter, nn, ops
from mindspore.ops import operations as P


# ---- arguments ------------------------------------------------------------------------------------------------------
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


# ---- Parameters and gradients ---------------------------------------------------------------------------------------
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


# ---- training -------------------------------------------------------------------------------------------------------
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
