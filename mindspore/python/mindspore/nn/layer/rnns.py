"""Recurrent networks over whole sequences: RNN, LSTM, GRU, in layers and directions."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn import _checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dropout
from mindspore.nn.layer.rnn_cells import gru_step, lstm_step, rnn_relu_step, rnn_tanh_step

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_STEPS = {
    "LSTM": lstm_step,
    "GRU": gru_step,
    "RNN_TANH": rnn_tanh_step,
    "RNN_RELU": rnn_relu_step,
}


class _Recurrent(Cell):
    """Layers and directions of one kind of step."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        _checks.check_positive_int(input_size, "input_size", owner)
        self.hidden_size = _checks.check_positive_int(hidden_size, "hidden_size", owner)
        self.num_layers = _checks.check_positive_int(num_layers, "num_layers", owner)
        self.has_bias = _checks.check_bool(has_bias, "has_bias", owner)
        self.batch_first = _checks.check_bool(batch_first, "batch_first", owner)
        self.bidirectional = _checks.check_bool(bidirectional, "bidirectional", owner)
        self.dropout = _checks.check_range(dropout, 0, 1, "dropout", owner, closed="left")
        self.dropout_op = Dropout(p=float(dropout))
        self.is_lstm = mode == "LSTM"
        self.directions = 2 if bidirectional else 1
        self._step = _STEPS[mode]
        rows = _GATES[mode] * hidden_size
        self._create(input_size, rows, dtype)

    def _create(self, input_size: int, rows: int, dtype: Any) -> None:
        """All weights, named as in the API: weight_ih_l0, weight_ih_l0_reverse, ..."""
        bound = Uniform(1 / math.sqrt(self.hidden_size))
        lists: dict[str, list[Parameter]] = {
            "weight_ih": [],
            "weight_hh": [],
            "bias_ih": [],
            "bias_hh": [],
        }
        for layer in range(self.num_layers):
            width = input_size if layer == 0 else self.hidden_size * self.directions
            shapes = {
                "weight_ih": (rows, width),
                "weight_hh": (rows, self.hidden_size),
                "bias_ih": (rows,),
                "bias_hh": (rows,),
            }
            for suffix in ("", "_reverse")[: self.directions]:
                for kind, shape in shapes.items():
                    if self.has_bias or kind.startswith("weight"):
                        name = f"{kind}_l{layer}{suffix}"
                        lists[kind].append(Parameter(initializer(bound, shape, dtype), name=name))
        self.w_ih_list = ParameterTuple(lists["weight_ih"])
        self.w_hh_list = ParameterTuple(lists["weight_hh"])
        self.b_ih_list = ParameterTuple(lists["bias_ih"])
        self.b_hh_list = ParameterTuple(lists["bias_hh"])

    def _scan(self, x: Tensor, state: Any, index: int, lengths: Tensor | None) -> Any:
        """Outputs of all steps of one layer in one direction, and the last state."""
        w_ih, w_hh = self.w_ih_list[index], self.w_hh_list[index]
        b_ih = self.b_ih_list[index] if self.has_bias else None
        b_hh = self.b_hh_list[index] if self.has_bias else None
        backward = index % self.directions == 1
        outputs: list[Any] = []
        for count in range(x.shape[0]):
            t = x.shape[0] - 1 - count if backward else count
            new = self._step(x[t], state, w_ih, w_hh, b_ih, b_hh)
            output = new[0] if self.is_lstm else new
            if lengths is not None:
                inside = ops.expand_dims(lengths > t, 1)
                new = self._keep(inside, new, state)
                output = ops.select(inside, output, ops.zeros_like(output))
            state = new
            outputs.append(output)
        return ops.stack(tuple(outputs[::-1] if backward else outputs), 0), state

    def _keep(self, inside: Tensor, new: Any, old: Any) -> Any:
        """The new state where the sequence has not ended, else the old one."""
        if self.is_lstm:
            return (
                ops.select(inside, new[0], old[0]),
                ops.select(inside, new[1], old[1]),
            )
        return ops.select(inside, new, old)

    def _first_state(self, hx: Any, index: int) -> Any:
        return (hx[0][index], hx[1][index]) if self.is_lstm else hx[index]

    def _zeros(self, x: Tensor) -> Any:
        shape = (self.num_layers * self.directions, x.shape[1], self.hidden_size)
        zeros = ops.zeros(shape, x.dtype)
        return (zeros, zeros) if self.is_lstm else zeros

    def construct(self, x: Tensor, hx: Any = None, seq_length: Tensor | None = None) -> Any:
        """The outputs of the last layer, and the last states of all layers."""
        if len(x.shape) != 3:
            raise ValueError(
                f"For '{self.cls_name}', 'x' must have 3 dimensions, but got the shape {x.shape}."
            )
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        if hx is None:
            hx = self._zeros(x)
        states: list[Any] = []
        for layer in range(self.num_layers):
            outputs: list[Any] = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                output, state = self._scan(x, self._first_state(hx, index), index, seq_length)
                outputs.append(output)
                states.append(state)
            x = outputs[0] if self.directions == 1 else ops.concat(tuple(outputs), 2)
            if layer + 1 < self.num_layers:
                x = self.dropout_op(x)
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        if not self.is_lstm:
            return x, ops.stack(tuple(states), 0)
        h_n = ops.stack(tuple([state[0] for state in states]), 0)
        c_n = ops.stack(tuple([state[1] for state in states]), 0)
        return x, (h_n, c_n)


class LSTM(_Recurrent):
    """A long short-term memory over sequences (Hochreiter and Schmidhuber, 1997).

    Args:
        input_size: The size of an input.
        hidden_size: The size of the states.
        num_layers: Layers, each taking the outputs of the one before.
        has_bias: Whether biases are added.
        batch_first: Whether x is [batch, steps, input_size] instead of [steps, batch, input_size].
        dropout: The share that is dropped between layers.
        bidirectional: Whether every layer also runs from the end.
        dtype: The dtype of the parameters.

    Inputs:
        x: The sequences.
        hx: First states (h, c), each [num_layers * directions, batch, hidden_size]; zeros if left
            out.
        seq_length: The lengths of the sequences, [batch]; outputs beyond are zero.

    Outputs:
        The outputs of all steps and the last states (h, c).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(_Recurrent):
    """A gated recurrent unit over sequences (Cho et al., 2014).

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        num_layers: Layers, each taking the outputs of the one before.
        has_bias: Whether biases are added.
        batch_first: Whether x is [batch, steps, input_size] instead of [steps, batch, input_size].
        dropout: The share that is dropped between layers.
        bidirectional: Whether every layer also runs from the end.
        dtype: The dtype of the parameters.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class RNN(_Recurrent):
    """A plain recurrent network over sequences.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        num_layers: Layers, each taking the outputs of the one before.
        nonlinearity: 'tanh' or 'relu'.
        has_bias: Whether biases are added.
        batch_first: Whether x is [batch, steps, input_size] instead of [steps, batch, input_size].
        dropout: The share that is dropped between layers.
        bidirectional: Whether every layer also runs from the end.
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        **kwargs: Any,
    ) -> None:
        _checks.check_string(nonlinearity, ("tanh", "relu"), "nonlinearity", "RNN")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, **kwargs)


__all__ = ["GRU", "LSTM", "RNN"]
