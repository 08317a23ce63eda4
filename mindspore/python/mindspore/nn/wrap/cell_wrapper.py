"""Cells around a network: with its loss, with its gradients, and a whole training step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import context, ops
from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Real
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Identity
from mindspore.nn.optim._divided import rows_of_gradients
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer, share_parameters


class WithLossCell(Cell):
    """A network followed by its loss.

    Args:
        backbone: The network.
        loss_fn: The loss, which takes the network's output and the label.

    Inputs:
        data: The network's input.
        label: The loss's second input.
    """

    def __init__(self, backbone: Cell, loss_fn: Callable) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Tensor:
        """The loss."""
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithGradCell(Cell):
    """The gradients of a network with respect to its trained parameters.

    Args:
        network: The network.
        loss_fn: Its loss; None where the network's output is the loss.
        sens: What gradients are multiplied by: a number or a Tensor of the loss's shape.
    """

    def __init__(
        self, network: Cell, loss_fn: Callable | None = None, sens: Tensor | Real | None = None
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()
        self.sens = sens
        self.grad = ops.GradOperation(get_by_list=True, sens_param=sens is not None)

    def construct(self, *inputs: Any) -> Any:
        """The gradients."""
        gradient = self.grad(self.network_with_loss, self.weights)
        if self.sens is None:
            return gradient(*inputs)
        return gradient(*inputs, self.sens)


class ForwardValueAndGrad(Cell):
    """A network's output together with gradients.

    Args:
        network: The network.
        weights: The parameters of gradients with `get_by_list`.
        get_all: Whether gradients of all inputs are returned, instead of the first's.
        get_by_list: Whether gradients of `weights` are returned.
        sens_param: Whether the last input is what the gradient of the output is.
    """

    def __init__(
        self,
        network: Callable,
        weights: Sequence[Parameter] | None = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if get_by_list and weights is None:
            raise TypeError(
                f"For '{self.cls_name}', 'weights' must be given with 'get_by_list', but got None."
            )
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights = ParameterTuple(weights) if weights else ()
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param
        self.grad = ops.GradOperation(get_all, get_by_list, sens_param)

    def construct(self, *inputs: Any) -> Any:
        """The output and the gradients."""
        forward = inputs[:-1] if self.sens_param else inputs
        loss = self.network(*forward)
        if self.get_by_list:
            return loss, self.grad(self.network, self.weights)(*inputs)
        return loss, self.grad(self.network)(*inputs)


class TrainOneStepCell(Cell):
    """One training step: the loss, its gradients, and the update of the parameters.

    Args:
        network: A network whose output is the loss.
        optimizer: Updates the parameters.
        sens: What gradients are multiplied by, as the optimizer's loss_scale.
        return_grad: Whether gradients are returned too, as a dictionary by parameter name.

    Inputs:
        inputs: The network's.

    Outputs:
        The loss, or with `return_grad` the loss and the gradients.

    Examples:
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
        >>> step.set_train()
        >>> loss = step(data, label)
    """

    def __init__(
        self,
        network: Cell,
        optimizer: Cell,
        sens: Tensor | Real | None = None,
        return_grad: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        if not hasattr(optimizer, "parameters"):
            raise TypeError(
                f"For '{self.cls_name}', 'optimizer' must be an Optimizer, "
                f"but got {type(optimizer).__name__}."
            )
        self.optimizer: Any = optimizer
        self.weights = self.optimizer.parameters
        self.return_grad = return_grad
        self.weights_name = tuple(weight.name for weight in self.weights)
        self.sens = 1.0 if sens is None else sens
        self.sense_flag = sens is not None
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = ops.GradOperation(get_by_list=True)
        self.reducer_flag = False
        self.grad_reducer: Cell = Identity()
        self.parallel_mode = str(context.get_auto_parallel_context("parallel_mode"))
        self.reducer_flag = self.parallel_mode in _groups.DATA_PARALLEL_MODES
        if self.reducer_flag:
            self.grad_reducer = reducer = DistributedGradReducer(self.weights)
            # What somebody else may look at stays whole.
            if type(self).construct is TrainOneStepCell.construct and not return_grad:
                reducer.rows = rows_of_gradients(optimizer)
            trained = {id(weight) for weight in self.weights}
            others = [p for p in self.network.get_parameters() if id(p) not in trained]
            share_parameters(others, _groups.member(None, "parameter_broadcast"))

    def construct(self, *inputs: Any) -> Any:
        """Run the step."""
        loss = self.network(*inputs)
        if self.sense_flag:
            sens = ops.ones_like(loss) * self.sens
            grads = self.grad(self.network, self.weights)(*inputs, sens)
        else:
            grads = self.grad_no_sens(self.network, self.weights)(*inputs)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        if self.return_grad:
            return loss, dict(zip(self.weights_name, grads))
        return loss


class WithEvalCell(Cell):
    """A network with its loss, for evaluation.

    Args:
        network: The network.
        loss_fn: The loss.
        add_cast_fp32: Whether outputs and labels are converted to float32 first.

    Outputs:
        The loss, the network's output and the label.
    """

    def __init__(self, network: Cell, loss_fn: Callable, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data: Any, label: Any) -> Any:
        """The loss, the output and the label."""
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = _to_float32(label)
            outputs = _to_float32(outputs)
        return self._loss_fn(outputs, label), outputs, label


def _to_float32(value: Any) -> Any:
    """Tensors of half precision as float32, also inside tuples."""
    if isinstance(value, (tuple, list)):
        return tuple([_to_float32(item) for item in value])
    if isinstance(value, Tensor) and value.dtype in (mstype.float16, mstype.bfloat16):
        return value.astype(mstype.float32)
    return value


class ParameterUpdate(Cell):
    """Gives a Parameter a new value.

    Args:
        param: The Parameter.
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self._param = param

    def construct(self, x: Tensor) -> Tensor:
        """Assign x, and return it."""
        ops.assign(self._param, x)
        return x


class _VirtualDatasetCell(Cell):
    """Marks the inputs of a network as data that parallel training splits.

    Args:
        backbone: The network.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        """The network's output."""
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(_VirtualDatasetCell):
    """As _VirtualDatasetCell, for three inputs.

    Args:
        backbone: The network.
    """

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        """The network's output."""
        return self._backbone(a, b, c)


__all__ = [
    "ForwardValueAndGrad",
    "ParameterUpdate",
    "TrainOneStepCell",
    "VirtualDatasetCellTriple",
    "WithEvalCell",
    "WithGradCell",
    "WithLossCell",
]
