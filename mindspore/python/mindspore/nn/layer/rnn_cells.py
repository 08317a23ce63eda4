"""One step of recurrent networks: RNNCell, LSTMCell, GRUCell.

The steps are plain functions of inputs and weights, so that the layers over whole sequences in
`rnns.py` share them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt, Where
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x @ weight.T + bias."""
    product = ops.matmul(x, ops.transpose(weight, (1, 0)))
    return product if bias is None else product + bias


def rnn_tanh_step(x: Tensor, h: Tensor, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Tensor:
    """One step of a plain recurrent network with tanh."""
    return ops.tanh(_linear(x, w_ih, b_ih) + _linear(h, w_hh, b_hh))


def rnn_relu_step(x: Tensor, h: Tensor, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Tensor:
    """One step of a plain recurrent network with relu."""
    return ops.relu(_linear(x, w_ih, b_ih) + _linear(h, w_hh, b_hh))


def lstm_step(x: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """One step of a long short-term memory; gates in the order in, forget, cell, out."""
    h, c = hx
    gates = _linear(x, w_ih, b_ih) + _linear(h, w_hh, b_hh)
    size = h.shape[-1]
    in_gate = ops.sigmoid(gates[..., :size])
    forget_gate = ops.sigmoid(gates[..., size : 2 * size])
    cell_gate = ops.tanh(gates[..., 2 * size : 3 * size])
    out_gate = ops.sigmoid(gates[..., 3 * size :])
    c = forget_gate * c + in_gate * cell_gate
    return out_gate * ops.tanh(c), c


def gru_step(x: Tensor, h: Tensor, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Tensor:
    """One step of a gated recurrent unit; gates in the order reset, update, new."""
    from_x = _linear(x, w_ih, b_ih)
    from_h = _linear(h, w_hh, b_hh)
    size = h.shape[-1]
    reset = ops.sigmoid(from_x[..., :size] + from_h[..., :size])
    update = ops.sigmoid(from_x[..., size : 2 * size] + from_h[..., size : 2 * size])
    new = ops.tanh(from_x[..., 2 * size :] + reset * from_h[..., 2 * size :])
    return new + update * (h - new)


_PAIR = Where(lambda states: len(states) == 2, "be a pair of Tensors")


class _RNNCellBase(Cell):
    """Weights and checks that all steps share; `gates` blocks of hidden_size rows."""

    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        has_bias: bool,
        gates: int,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.has_bias = has_bias
        bound = Uniform(1 / math.sqrt(hidden_size))
        rows = gates * hidden_size
        self.weight_ih = Parameter(initializer(bound, (rows, input_size), dtype))
        self.weight_hh = Parameter(initializer(bound, (rows, hidden_size), dtype))
        self.bias_ih = None
        self.bias_hh = None
        if has_bias:
            self.bias_ih = Parameter(initializer(bound, (rows,), dtype))
            self.bias_hh = Parameter(initializer(bound, (rows,), dtype))

    def _check_input(self, x: Tensor, h: Tensor) -> None:
        """Raise a ValueError when x and h do not fit the weights."""
        if x.shape[-1:] != (self.input_size,):
            raise ValueError(
                f"For '{self.cls_name}', the last size of 'x' must be 'input_size' "
                f"{self.input_size}, but got the shape {x.shape}."
            )
        if h.shape[-1:] != (self.hidden_size,) or h.shape[:-1] != x.shape[:-1]:
            raise ValueError(
                f"For '{self.cls_name}', the shape of 'hx' must be that of 'x' with 'hidden_size' "
                f"{self.hidden_size} last, but got {h.shape} and {x.shape}."
            )


class RNNCell(_RNNCellBase):
    """One step: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size: The size of x.
        hidden_size: The size of h.
        has_bias: Whether biases are added.
        nonlinearity: 'tanh' or 'relu'.
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: Literal["tanh", "relu"] = "tanh",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 1, dtype)
        self.nonlinearity = nonlinearity

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        """The next hidden state."""
        self._check_input(x, hx)
        step = rnn_tanh_step if self.nonlinearity == "tanh" else rnn_relu_step
        return step(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class LSTMCell(_RNNCellBase):
    """One step of a long short-term memory (Hochreiter and Schmidhuber, 1997).

    Args:
        input_size: The size of x.
        hidden_size: The size of the states.
        has_bias: Whether biases are added.
        dtype: The dtype of the parameters.

    Inputs:
        x: [batch, input_size].
        hx: The states (h, c), each [batch, hidden_size].

    Outputs:
        The next states (h, c).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 4, dtype)

    def construct(self, x: Tensor, hx: Annotated[Sequence[Tensor], _PAIR]) -> tuple[Tensor, Tensor]:
        """The next states."""
        self._check_input(x, hx[0])
        self._check_input(x, hx[1])
        return lstm_step(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class GRUCell(_RNNCellBase):
    """One step of a gated recurrent unit (Cho et al., 2014).

    Args:
        input_size: The size of x.
        hidden_size: The size of h.
        has_bias: Whether biases are added.
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 3, dtype)

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        """The next hidden state."""
        self._check_input(x, hx)
        return gru_step(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


__all__ = ["GRUCell", "LSTMCell", "RNNCell"]
