"""Recurrent networks over whole sequences: RNN, LSTM, GRU, in layers and directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mindspore import _core, ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Layers, PositiveInt, within
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dropout
from mindspore.ops import operations as P

# The op's name of a layer, its gates, and the parts of the bias.
_MODES = {
    "LSTM": ("lstm", 4, 4),
    "GRU": ("gru", 3, 4),
    "RNN_TANH": ("tanh", 1, 1),
    "RNN_RELU": ("relu", 1, 1),
}
_NO_END = 2**31 - 1  # the length of a sequence that has all steps
_recurrence = _core.op("Recurrence")


def _of_dtype(x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype == dtype else ops.cast(x, dtype)


class _Recurrent(Cell):
    """Layers and directions of one kind of step."""

    def __init__(
        self,
        mode: str,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        num_layers: Layers = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: Annotated[float, within(0, 1, "left")] = 0.0,
        bidirectional: bool = False,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.has_bias = has_bias
        self.batch_first = batch_first
        self.bidirectional = bidirectional
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        self.is_lstm = mode == "LSTM"
        self.directions = 2 if bidirectional else 1
        self.mode, gates, biases = _MODES[mode]
        self.bias_size = biases * hidden_size
        self.matmul = P.MatMul(transpose_b=True)
        self._create(input_size, gates * hidden_size, dtype)

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

    def _bias(self, index: int, dtype: Any) -> Tensor:
        """What is added to all gates; of a GRU also, as a fourth part, what the reset gate scales."""
        if not self.has_bias:
            return ops.zeros((self.bias_size,), dtype)
        from_x = _of_dtype(self.b_ih_list[index], dtype)
        from_h = _of_dtype(self.b_hh_list[index], dtype)
        if self.mode != "gru":
            return from_x + from_h
        size = 2 * self.hidden_size
        return ops.concat((from_x[:size] + from_h[:size], from_x[size:], from_h[size:]))

    def _scan(self, x: Tensor, state: Tensor, cells: Any, index: int, lengths: Tensor) -> Any:
        """Outputs of all steps of one layer in one direction, the last state and the last cells."""
        w_ih = _of_dtype(self.w_ih_list[index], x.dtype)
        w_hh = _of_dtype(self.w_hh_list[index], x.dtype)
        from_x = self.matmul(x.reshape((-1, x.shape[2])), w_ih)
        from_x = from_x.reshape((x.shape[0], x.shape[1], w_ih.shape[0]))
        return _recurrence(
            from_x,
            state,
            cells,
            w_hh,
            self._bias(index, x.dtype),
            lengths,
            mode=self.mode,
            reverse=index % self.directions == 1,
            batch_first=self.batch_first,
            keep=self.training,
        )[:3]

    def _check(self, x: Tensor, state: Any) -> None:
        """Raise an error where the inputs do not fit."""
        if x.shape[2] != self.input_size:
            raise ValueError(
                f"For '{self.cls_name}', the last size of 'x' must be 'input_size' "
                f"{self.input_size}, but got the shape {x.shape}."
            )
        batch = x.shape[0 if self.batch_first else 1]
        wanted = (self.num_layers * self.directions, batch, self.hidden_size)
        for part in state:
            if part.shape != wanted:
                raise ValueError(
                    f"For '{self.cls_name}', 'hx' must have the shape {wanted}, "
                    f"but got {part.shape}."
                )

    def _first_state(self, x: Tensor, hx: Any) -> Any:
        """The state (and cells) of all layers before the first step."""
        if hx is not None:
            if isinstance(hx, Tensor) == self.is_lstm:
                wanted = "a pair of Tensors" if self.is_lstm else "a Tensor"
                raise TypeError(
                    f"For '{self.cls_name}', 'hx' must be {wanted}, but got {type(hx).__name__}."
                )
            if self.is_lstm and len(hx) != 2:
                raise ValueError(
                    f"For '{self.cls_name}', 'hx' must be a pair of Tensors, but got {len(hx)}."
                )
            return hx if self.is_lstm else (hx,)
        batch = x.shape[0 if self.batch_first else 1]
        zeros = ops.zeros((self.num_layers * self.directions, batch, self.hidden_size), x.dtype)
        return (zeros, zeros) if self.is_lstm else (zeros,)

    def construct(
        self,
        x: Tensor,
        hx: Tensor | Sequence[Tensor] | None = None,
        seq_length: Tensor | None = None,
    ) -> Any:
        """The outputs of the last layer, and the last states of all layers."""
        if len(x.shape) != 3:
            raise ValueError(
                f"For '{self.cls_name}', 'x' must have 3 dimensions, but got the shape {x.shape}."
            )
        if not x.is_floating_point():
            raise TypeError(
                f"For '{self.cls_name}', the dtype of 'x' must be a float, but got {x.dtype}."
            )
        first = self._first_state(x, hx)
        self._check(x, first)
        dtype = x.dtype
        for part in first:
            dtype = _core.promote(dtype, False, part.dtype, False)
        x = _of_dtype(x, dtype)
        first = [_of_dtype(part, dtype) for part in first]
        if seq_length is None:
            seq_length = ops.full((first[0].shape[1],), _NO_END, dtype=mstype.int32)
        no_cells = ops.zeros((0,), x.dtype)
        states: list[Any] = []
        cells: list[Any] = []
        for layer in range(self.num_layers):
            outputs: list[Any] = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                before = first[1][index] if self.is_lstm else no_cells
                output, state, cell = self._scan(x, first[0][index], before, index, seq_length)
                outputs.append(output)
                states.append(state)
                cells.append(cell)
            x = outputs[0] if self.directions == 1 else ops.concat(tuple(outputs), 2)
            if layer + 1 < self.num_layers:
                x = self.dropout_op(x)
        if not self.is_lstm:
            return x, ops.stack(tuple(states), 0)
        return x, (ops.stack(tuple(states), 0), ops.stack(tuple(cells), 0))


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
        has_bias: Whether biases are added.
        batch_first: Whether x is [batch, steps, input_size] instead of [steps, batch, input_size].
        dropout: The share that is dropped between layers.
        bidirectional: Whether every layer also runs from the end.
        dtype: The dtype of the parameters.
        nonlinearity: 'tanh' or 'relu', by name alone.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *args: Any,
        nonlinearity: Literal["tanh", "relu"] = "tanh",
        **kwargs: Any,
    ) -> None:
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, *args, **kwargs)


__all__ = ["GRU", "LSTM", "RNN"]
