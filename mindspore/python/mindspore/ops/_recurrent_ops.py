"""Primitives of recurrent layers over whole sequences: LSTM, DynamicRNN, DynamicGRUV2.

They arrange weights and results around the op Recurrence, which does the steps.
"""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._size import require_rank
from mindspore.ops.primitive import PythonPrimitive

_recurrence = _core.op("Recurrence")
_matmul = _core.op("MatMul")
_reshape = _core.op("Reshape")
_slice = _core.op("Slice")
_concat = _core.op("Concat")
_stack = _core.op("Stack")
_split = _core.op("Split")
_transpose = _core.op("Transpose")
_full = _core.op("Fill")
_tanh = _core.op("Tanh")
_NO_END = 2**31 - 1  # the length of a sequence that has all steps


def _refuse(owner: str, name: str, value: Any, wanted: Any) -> None:
    """Raise a ValueError unless a setting has the only value that there is."""
    if value != wanted:
        raise ValueError(f"For '{owner}', '{name}' must be {wanted!r}, but got {value!r}.")


def _zeros(x: Tensor, *shape: int) -> Tensor:
    return _full(dtype=x.dtype, shape=shape, value=0.0)


def _lengths(given: Tensor | None, batch: int) -> Tensor:
    if given is not None:
        return given
    return _full(dtype=_core.int32, shape=(batch,), value=float(_NO_END))


def _project(x: Tensor, weight: Tensor, transposed: bool) -> Tensor:
    """The products of all steps' inputs, [steps, batch, inputs], with the weights."""
    steps, batch, inputs = x.shape
    flat = _matmul(_reshape(x, shape=(steps * batch, inputs)), weight, transpose_b=transposed)
    return _reshape(flat, shape=(steps, batch, flat.shape[1]))


class LSTM(PythonPrimitive):
    """A long short-term memory over sequences, its weights in one tensor.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the states.
        num_layers: Layers, each taking the outputs of the one before.
        has_bias: Whether biases are added.
        bidirectional: Whether every layer also runs from the end.
        dropout: The share that is dropped between layers; must be 0.

    Inputs:
        x: [steps, batch, input_size].
        h: The first states, [num_layers * directions, batch, hidden_size].
        c: The first cells.
        w: All weights, one after the other: those of the inputs of every layer and direction, then
            those of the states, then the biases, the gates in the order in, forget, cell, out.

    Outputs:
        The outputs of all steps, the last states, the last cells, and two tensors for internal use.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        has_bias: bool,
        bidirectional: bool,
        dropout: float,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            has_bias,
            bidirectional,
            dropout,
        )
        for name, value in (
            ("input_size", input_size),
            ("hidden_size", hidden_size),
            ("num_layers", num_layers),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise ValueError(f"For 'LSTM', '{name}' must be a positive int, but got {value!r}.")
        _refuse("LSTM", "dropout", float(dropout), 0.0)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.has_bias, self.directions = has_bias, 2 if bidirectional else 1

    def _weights(self, w: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Of every layer and direction: for inputs, for states, the bias."""
        flat = _reshape(w, shape=(-1,))
        rows, place = 4 * self.hidden_size, 0
        inner = self.hidden_size * self.directions
        widths = [self.input_size] * self.directions
        widths += [inner] * (self.directions * (self.num_layers - 1))
        kinds = [widths, [self.hidden_size] * len(widths)]
        if self.has_bias:
            kinds.append([1] * len(widths))
        parts: list[list[Tensor]] = []
        for kind in kinds:
            parts.append([])
            for width in kind:
                part = _slice(flat, begin=(place,), size=(rows * width,))
                parts[-1].append(
                    _reshape(
                        part,
                        shape=(rows,) if kind is kinds[-1] and self.has_bias else (rows, width),
                    )
                )
                place += rows * width
        if not self.has_bias:
            parts.append([_zeros(w, rows)] * len(widths))
        return list(zip(*parts))

    def __call__(self, x: Tensor, h: Tensor, c: Tensor, w: Tensor) -> tuple:
        for name, value in (("x", x), ("h", h), ("c", c)):
            require_rank("LSTM", name, value, 3)
        lengths = _lengths(None, x.shape[1])
        states, cells = [], []
        weights = self._weights(w)
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                from_x, from_h, bias = weights[index]
                output, state, cell = _recurrence(
                    _project(x, from_x, True),
                    h[index],
                    c[index],
                    from_h,
                    bias,
                    lengths,
                    mode="lstm",
                    reverse=direction == 1,
                    keep=True,
                )[:3]
                outputs.append(output)
                states.append(state)
                cells.append(cell)
            x = _concat(*outputs, axis=2) if self.directions == 2 else outputs[0]
        internal = _zeros(x, 1, 1)
        return x, _stack(*states), _stack(*cells), internal, internal


class DynamicRNN(PythonPrimitive):
    """A long short-term memory that also gives its gates.

    Args:
        cell_type: 'LSTM'.
        direction: 'UNIDIRECTIONAL'.
        cell_depth: 1.
        use_peephole: False.
        keep_prob: 1.
        cell_clip: -1, no clipping.
        num_proj: 0, no projection.
        time_major: True.
        activation: 'tanh'.
        forget_bias: Added to the forget gate before its sigmoid.
        is_training: Whether it is trained.

    Inputs:
        x: [steps, batch, input].
        w: [input + hidden, 4 * hidden], the gates in the order in, cell, forget, out.
        b: [4 * hidden].
        seq_length: None, or the lengths of the sequences.
        init_h, init_c: The first states, [1, batch, hidden]; zeros if left out.

    Outputs:
        Of all steps: outputs, states, cells, the gates in, cell, forget, out, and the hyperbolic
        tangents of the cells.
    """

    def __init__(
        self,
        cell_type: str = "LSTM",
        direction: str = "UNIDIRECTIONAL",
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            cell_type,
            direction,
            cell_depth,
            use_peephole,
            keep_prob,
            cell_clip,
            num_proj,
            time_major,
            activation,
            forget_bias,
            is_training,
        )
        for name, value, wanted in (
            ("cell_type", cell_type, "LSTM"),
            ("direction", direction, "UNIDIRECTIONAL"),
            ("cell_depth", cell_depth, 1),
            ("use_peephole", use_peephole, False),
            ("keep_prob", float(keep_prob), 1.0),
            ("cell_clip", float(cell_clip), -1.0),
            ("num_proj", num_proj, 0),
            ("time_major", time_major, True),
            ("activation", activation, "tanh"),
        ):
            _refuse("DynamicRNN", name, value, wanted)
        self.forget_bias, self.is_training = float(forget_bias), is_training

    def __call__(
        self,
        x: Tensor,
        w: Tensor,
        b: Tensor,
        seq_length: Tensor | None = None,
        init_h: Tensor | None = None,
        init_c: Tensor | None = None,
    ) -> tuple:
        require_rank("DynamicRNN", "x", x, 3)
        require_rank("DynamicRNN", "w", w, 2)
        inputs, hidden, batch = x.shape[2], w.shape[1] // 4, x.shape[1]
        gate_in, fresh, forget, out = _split(w, axis=1, output_num=4)
        w = _concat(gate_in, forget, fresh, out, axis=1)
        gate_in, fresh, forget, out = _split(b, axis=0, output_num=4)
        b = _concat(gate_in, forget + self.forget_bias, fresh, out, axis=0)
        from_h = _transpose(_slice(w, begin=(inputs, 0), size=(hidden, 4 * hidden)), perm=(1, 0))
        zeros = _zeros(x, batch, hidden)
        output, _, _, saved, _ = _recurrence(
            _project(x, _slice(w, begin=(0, 0), size=(inputs, 4 * hidden)), False),
            zeros if init_h is None else init_h[0],
            zeros if init_c is None else init_c[0],
            from_h,
            b,
            _lengths(seq_length, batch),
            mode="lstm",
            keep=True,
        )
        gate_in, forget, fresh, out, before = _split(saved, axis=2, output_num=5)
        cells = forget * before + gate_in * fresh
        return output, output, cells, gate_in, fresh, forget, out, _tanh(cells)


class DynamicGRUV2(PythonPrimitive):
    """A gated recurrent unit that also gives its gates.

    Args:
        direction: 'UNIDIRECTIONAL'.
        cell_depth: 1.
        keep_prob: 1.
        cell_clip: -1, no clipping.
        num_proj: 0, no projection.
        time_major: True.
        activation: 'tanh'.
        gate_order: The order of the gates in the weights, 'rzh' or 'zrh'.
        reset_after: True: the reset gate scales the product with the state.
        is_training: Whether it is trained.

    Inputs:
        x: [steps, batch, input].
        weight_input: [input, 3 * hidden].
        weight_hidden: [hidden, 3 * hidden].
        bias_input, bias_hidden: [3 * hidden], or None.
        seq_length: None, or the lengths of the sequences.
        init_h: The first states, [batch, hidden].

    Outputs:
        Of all steps: outputs, states, the gates update, reset, new, and the state's part of the last.
    """

    def __init__(
        self,
        direction: str = "UNIDIRECTIONAL",
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "rzh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            direction,
            cell_depth,
            keep_prob,
            cell_clip,
            num_proj,
            time_major,
            activation,
            gate_order,
            reset_after,
            is_training,
        )
        for name, value, wanted in (
            ("direction", direction, "UNIDIRECTIONAL"),
            ("cell_depth", cell_depth, 1),
            ("keep_prob", float(keep_prob), 1.0),
            ("cell_clip", float(cell_clip), -1.0),
            ("num_proj", num_proj, 0),
            ("time_major", time_major, True),
            ("activation", activation, "tanh"),
            ("reset_after", reset_after, True),
        ):
            _refuse("DynamicGRUV2", name, value, wanted)
        if gate_order not in ("rzh", "zrh"):
            raise ValueError(
                f"For 'DynamicGRUV2', 'gate_order' must be 'rzh' or 'zrh', but got {gate_order!r}."
            )
        self.gate_order, self.is_training = gate_order, is_training

    def _ordered(self, weights: Tensor) -> list[Tensor]:
        """The blocks of the gates, reset first."""
        first, second, new = _split(weights, axis=len(weights.shape) - 1, output_num=3)
        return [first, second, new] if self.gate_order == "rzh" else [second, first, new]

    def __call__(
        self,
        x: Tensor,
        weight_input: Tensor,
        weight_hidden: Tensor,
        bias_input: Tensor | None,
        bias_hidden: Tensor | None,
        seq_length: Tensor | None,
        init_h: Tensor,
    ) -> tuple:
        require_rank("DynamicGRUV2", "x", x, 3)
        require_rank("DynamicGRUV2", "init_h", init_h, 2)
        hidden, batch = init_h.shape[1], x.shape[1]
        none = _zeros(x, 3 * hidden)
        from_x = self._ordered(none if bias_input is None else bias_input)
        from_h = self._ordered(none if bias_hidden is None else bias_hidden)
        bias = (from_x[0] + from_h[0], from_x[1] + from_h[1], from_x[2], from_h[2])
        output, _, _, saved, _ = _recurrence(
            _project(x, _concat(*self._ordered(weight_input), axis=1), False),
            init_h,
            _zeros(x, 0),
            _transpose(_concat(*self._ordered(weight_hidden), axis=1), perm=(1, 0)),
            _concat(*bias, axis=0),
            _lengths(seq_length, batch),
            mode="gru",
            keep=True,
        )
        reset, update, new, part = _split(saved, axis=2, output_num=4)
        return output, output, update, reset, new, part


CLASSES: dict[str, type] = {c.__name__: c for c in (LSTM, DynamicRNN, DynamicGRUV2)}
