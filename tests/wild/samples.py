"""Arguments that each public function, Tensor method and cell takes, of which the cases change one at a time.

Most come from signatures: `f(2, 3)` for a tensor, 1 for an int, the default where there is one. TEXTS holds the others. Those of a
method are the function's of the same name, unless they stand there; those of a cell are its constructor's, then `|`, then those
of `construct`.
"""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common._checked import kinds_of
from mindspore.common._kinds import Kind, Refused


def f(*shape: int) -> Tensor:
    """Floats between 0.1 and 0.9."""
    return Tensor(np.linspace(0.1, 0.9, int(np.prod(shape)), dtype=np.float32).reshape(shape))


def i(*shape: int) -> Tensor:
    """Ones and zeros, as indices or classes are."""
    return Tensor((np.arange(int(np.prod(shape))) % 2).astype(np.int32).reshape(shape))


def b(*shape: int) -> Tensor:
    """Truth values."""
    return Tensor((np.arange(int(np.prod(shape))) % 2 == 0).reshape(shape))


COO = types.SimpleNamespace(indices=i(1, 2), values=f(1), shape=(2, 3))


def p(*shape: int) -> Parameter:
    """A Parameter."""
    return Parameter(f(*shape), name="p")


def net() -> nn.Cell:
    """A network of one layer."""
    return nn.Dense(3, 1)


class _Three(nn.Cell):
    """A network of three inputs."""

    def construct(self, x, y, z):
        """Their sum."""
        return ops.add(ops.add(x, y), z)


def arguments(text: str) -> tuple[list, dict]:
    """The arguments that a text of this table means."""
    names = {**globals(), "_call": lambda *args, **kwargs: (list(args), kwargs)}
    return eval(f"_call({text})", names)


def from_signature(function: Callable, skip: int = 0) -> list:
    """One for each parameter that must be given."""
    kinds = kinds_of(function)
    return [
        _first_fitting(kinds[parameter.name])
        for parameter in list(inspect.signature(function).parameters.values())[skip:]
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def _first_fitting(kind: Kind | None) -> Any:
    fit = (v for v in _PLAIN if kind is None or not isinstance(kind.take(v), Refused))
    return copy.deepcopy(next(fit, _PLAIN[0]))  # some calls write to it


_PLAIN = (f(2, 3), 1, 0.5, True, "mean", (f(2, 3), f(2, 3)))
_TWO_INTS = "i(2, 3), i(2, 3)"
_IMAGE = "f(1, 2, 5, 5)"
_LINES = "f(1, 2, 6)"
_VOLUME = "f(1, 2, 3, 3, 3)"
_WEIGHTS = "net().trainable_params()"
_UPDATED = f"{_WEIGHTS} | (f(1, 3), f(1))"
_CLASSES = "| f(2, 3), i(2)"
_BOTH = "| f(2, 3), f(2, 3)"
_SCATTER = "f(3, 4), i(2, 1), f(2, 4)"
_UPDATE = "p(3, 4), i(2), f(2, 4)"
_FN = "lambda x: x * x"

TEXTS: dict[str, str] = {
    "ops.adaptive_avg_pool1d": f"{_LINES}, 2",
    "ops.adaptive_avg_pool2d": f"{_IMAGE}, 2",
    "ops.adaptive_avg_pool3d": f"{_VOLUME}, 2",
    "ops.adaptive_max_pool1d": f"{_LINES}, 2",
    "ops.adaptive_max_pool2d": f"{_IMAGE}, 2",
    "ops.adaptive_max_pool3d": f"{_VOLUME}, 2",
    "ops.addbmm": "f(2, 4), f(3, 2, 5), f(3, 5, 4)",
    "ops.addmm": "f(2, 4), f(2, 3), f(3, 4)",
    "ops.addmv": "f(2), f(2, 3), f(3)",
    "ops.addr": "f(2, 3), f(2), f(3)",
    "ops.affine_grid": "f(1, 2, 3), (1, 1, 2, 2)",
    "ops.avg_pool1d": f"{_LINES}, 2",
    "ops.avg_pool2d": f"{_IMAGE}, 2",
    "ops.avg_pool3d": f"{_VOLUME}, 2",
    "ops.baddbmm": "f(3, 2, 4), f(3, 2, 5), f(3, 5, 4)",
    "ops.batch_norm": f"{_IMAGE}, f(2), f(2), f(2), f(2)",
    "ops.batch_to_space_nd": "f(4, 1, 2, 2), 2, ((0, 1), (1, 0))",
    "ops.bmm": "f(3, 2, 4), f(3, 4, 5)",
    "ops.bounding_box_decode": "f(2, 4), f(2, 4), (3, 3)",
    "ops.bounding_box_encode": "f(2, 4), f(2, 4)",
    "ops.channel_shuffle": f"{_IMAGE}, 2",
    "ops.check_valid": "f(2, 4), f(3)",
    "ops.clamp": "f(2, 3), 0.2, 0.7",
    "ops.clip": "f(2, 3), 0.2, 0.7",
    "ops.clip_by_value": "f(2, 3), 0.2, 0.7",
    "ops.col2im": "f(1, 2, 4, 4), (3, 3), 2, 1, 0, 1",
    "ops.column_stack": "(f(2, 3), f(2, 3))",
    "ops.conv1d": f"{_LINES}, f(3, 2, 3)",
    "ops.conv2d": f"{_IMAGE}, f(3, 2, 3, 3)",
    "ops.conv3d": f"{_VOLUME}, f(3, 2, 2, 2, 2)",
    "ops.conv3d_transpose": f"{_VOLUME}, f(2, 3, 2, 2, 2)",
    "ops.conv_transpose2d": f"{_IMAGE}, f(2, 3, 3, 3)",
    "ops.cosine_embedding_loss": "f(2, 3), f(2, 3), i(2)",
    "ops.crop_and_resize": "f(1, 3, 3, 2), f(2, 4), i(2) * 0, (2, 2)",
    "ops.deformable_conv2d": "f(1, 2, 4, 4), f(3, 2, 2, 2), f(1, 12, 3, 3), 2, (1, 1, 1, 1), 0",
    "ops.derivative": f"{_FN}, f(2), 1",
    "ops.diag": "f(3)",
    "ops.dot": "f(3), f(3)",
    "ops.dropout2d": _IMAGE,
    "ops.dropout3d": _VOLUME,
    "ops.dsplit": "f(2, 2, 4), 2",
    "ops.dstack": "(f(2, 3), f(2, 3))",
    "ops.expand": "f(2, 3), (4, 2, 3)",
    "ops.flash_attention_score": "f(1, 2, 4), f(1, 2, 4), f(1, 2, 4), 2",
    "ops.fold": "f(1, 8, 4), (3, 3), 2",
    "ops.fractional_max_pool2d": f"{_IMAGE}, 2, 2",
    "ops.fractional_max_pool3d": f"{_VOLUME}, 2, 2",
    "ops.full": "(2, 3), 1.5",
    "ops.full_like": "f(2, 3), 1.5",
    "ops.gather_d": "f(2, 3), 1, i(2, 3)",
    "ops.gather_elements": "f(2, 3), 1, i(2, 3)",
    "ops.ger": "f(2), f(3)",
    "ops.get_grad": "((0, f(2)),), 0",
    "ops.glu": "f(2, 4)",
    "ops.grad": _FN,
    "ops.grid_sample": f"{_IMAGE}, f(1, 2, 2, 2)",
    "ops.hsplit": "f(2, 4), 2",
    "ops.hstack": "(f(2, 3), f(2, 3))",
    "ops.index_add": "f(2, 3), i(2), f(2, 3), 0",
    "ops.index_fill": "f(2, 3), 0, i(1), 0.5",
    "ops.index_select": "f(2, 3), 0, i(2)",
    "ops.interpolate": f"{_IMAGE}, (3, 3)",
    "ops.iou": "f(2, 4), f(3, 4)",
    "ops.is_instance": "1, int",
    "ops.jacfwd": _FN,
    "ops.jacrev": _FN,
    "ops.jet": f"{_FN}, f(2), f(1, 2)",
    "ops.jvp": f"{_FN}, f(2), f(2)",
    "ops.layer_norm": "f(2, 3), (3,)",
    "ops.logspace": "0, 2, 3",
    "ops.logsumexp": "f(2, 3), 1",
    "ops.lp_pool1d": f"{_LINES}, 2, 2",
    "ops.lp_pool2d": f"{_IMAGE}, 2, 2",
    "ops.lrn": _IMAGE,
    "ops.masked_fill": "f(2, 3), b(2, 3), 0.5",
    "ops.masked_select": "f(2, 3), b(2, 3)",
    "ops.make_range": "0, 5, 2",
    "ops.matmul": "f(2, 3), f(3, 2)",
    "ops.max_pool2d": f"{_IMAGE}, 2",
    "ops.max_pool3d": f"{_VOLUME}, 2",
    "ops.max_unpool1d": "f(1, 2, 2), i(1, 2, 2), 2",
    "ops.max_unpool2d": "f(1, 2, 2, 2), i(1, 2, 2, 2), 2",
    "ops.max_unpool3d": "f(1, 2, 2, 2, 2), i(1, 2, 2, 2, 2), 2",
    "ops.mirror_pad": "f(2, 3), ((1, 1), (1, 0)), 'REFLECT'",
    "ops.mm": "f(2, 3), f(3, 2)",
    "ops.moveaxis": "f(2, 3), 0, 1",
    "ops.movedim": "f(2, 3), 0, 1",
    "ops.mv": "f(2, 3), f(3)",
    "ops.nll_loss": "f(2, 3), i(2)",
    "ops.normal": "(2, 3), 0.0, 1.0",
    "ops.one_hot": "i(3), 2",
    "ops.outer": "f(2), f(3)",
    "ops.padding": "f(2, 1), 3",
    "ops.pixel_shuffle": "f(1, 4, 2, 2), 2",
    "ops.pixel_unshuffle": "f(1, 2, 4, 4), 2",
    "ops.polygamma": "1, f(2)",
    "ops.pad": "f(2, 3), (1, 1)",
    "ops.partial": f"{_FN}, 1",
    "ops.prim_attr_register": "lambda self: None",
    "ops.rand": "2, 3",
    "ops.randint": "0, 5, (2, 3)",
    "ops.randint_like": "f(2, 3), 0, 5",
    "ops.randn": "2, 3",
    "ops.recompute": "net(), f(2, 3)",
    "ops.repeat_interleave": "f(2, 3), 2",
    "ops.roll": "f(2, 3), 1, 0",
    "ops.rot90": "f(2, 3), 1, (0, 1)",
    "ops.rotated_iou": "f(1, 2, 5), f(1, 3, 5)",
    "ops.scalar_to_array": "1",
    "ops.scalar_to_tensor": "1",
    "ops.scatter": "f(2, 3), 1, i(2, 3), f(2, 3)",
    "ops.select": "b(2, 3), f(2, 3), f(2, 3)",
    "ops.select_scatter": "f(2, 3), f(2), 1, 0",
    "ops.sequence_mask": "i(3), 4",
    "ops.slice_scatter": "f(2, 3), f(2, 2), 1, 0, 2",
    "ops.space_to_batch_nd": "f(1, 1, 2, 4), 2, ((0, 0), (1, 1))",
    "ops.split": "f(2, 4), 2",
    "ops.take": "f(2, 3), i(2)",
    "ops.tensor_dot": "f(2, 3), f(3, 2), 1",
    "ops.tensor_split": "f(2, 4), 2",
    "ops.tuple_to_array": "(1, 2)",
    "ops.unfold": f"{_IMAGE}, 2",
    "ops.uniform": "(2, 3), f(1), f(1)",
    "ops.upsample": f"{_IMAGE}, (3, 3)",
    "ops.value_and_grad": _FN,
    "ops.vjp": f"{_FN}, f(2)",
    "ops.vmap": _FN,
    "ops.vsplit": "f(2, 4), 2",
    "ops.vstack": "(f(2, 3), f(2, 3))",
    "ops.where": "b(2, 3), f(2, 3), f(2, 3)",
    # ---- ops of the registry: what their faces take -----------------------------------------------------------
    "ops.adam_weight_decay": "p(2), p(2), p(2), 0.1, 0.9, 0.9, 1e-8, 0.0, f(2)",
    "ops.approximate_equal": "f(2, 3), f(2, 3)",
    "ops.block_diag": "f(2, 3), f(2, 2)",
    "ops.celu": "f(2, 3)",
    "ops.elu": "f(2, 3)",
    "ops.expand_dims": "f(2, 3), 0",
    "ops.eye": "3",
    "ops.flip": "f(2, 3), (0,)",
    "ops.hardshrink": "f(2, 3)",
    "ops.isclose": "f(2, 3), f(2, 3)",
    "ops.leaky_relu": "f(2, 3)",
    "ops.ones": "(2, 3)",
    "ops.range": "0, 5, 1",
    "ops.reverse": "f(2, 3), (0,)",
    "ops.softshrink": "f(2, 3)",
    "ops.strided_slice": "f(2, 3), (0, 0), (1, 2), (1, 1)",
    "ops.tile": "f(2, 3), (2, 1)",
    "ops.top_k": "f(2, 3), 2",
    "ops.unsqueeze": "f(2, 3), 0",
    "ops.zeros": "(2, 3)",
    "ops.assign": "p(2, 3), f(2, 3)",
    "ops.assign_add": "p(2, 3), f(2, 3)",
    "ops.assign_sub": "p(2, 3), f(2, 3)",
    "ops.bias_add": "f(2, 3), f(3)",
    "ops.bitwise_and": _TWO_INTS,
    "ops.bitwise_left_shift": _TWO_INTS,
    "ops.bitwise_or": _TWO_INTS,
    "ops.bitwise_right_shift": _TWO_INTS,
    "ops.bitwise_xor": _TWO_INTS,
    "ops.broadcast_to": "f(2, 3), (4, 2, 3)",
    "ops.cast": "f(2, 3), ms.int32",
    "ops.fill": "ms.float32, (2, 3), 1.5",
    "ops.gather": "f(2, 3), i(2), 0",
    "ops.gather_nd": "f(2, 3), i(2, 1)",
    "ops.invert": "i(2, 3)",
    "ops.linspace": "0.0, 1.0, 5",
    "ops.permute": "f(2, 3), (1, 0)",
    "ops.prelu": "f(2, 3), f(3)",
    "ops.reshape": "f(2, 3), (3, 2)",
    "ops.reverse_sequence": "f(2, 3), i(2), 1",
    "ops.scatter_add": _UPDATE,
    "ops.scatter_nd": "i(2, 1), f(2), (3,)",
    "ops.scatter_nd_add": "p(3, 4), i(2, 1), f(2, 4)",
    "ops.scatter_nd_sub": "p(3, 4), i(2, 1), f(2, 4)",
    "ops.scatter_nd_update": "p(3, 4), i(2, 1), f(2, 4)",
    "ops.scatter_sub": _UPDATE,
    "ops.scatter_update": _UPDATE,
    "ops.slice": "f(2, 3), (0, 1), (1, 2)",
    "ops.standard_normal": "(2, 3)",
    "ops.tensor_scatter_add": _SCATTER,
    "ops.tensor_scatter_elements": "f(2, 3), i(2, 3), f(2, 3)",
    "ops.tensor_scatter_max": _SCATTER,
    "ops.tensor_scatter_min": _SCATTER,
    "ops.tensor_scatter_sub": _SCATTER,
    "ops.tensor_scatter_update": _SCATTER,
    "ops.transpose": "f(2, 3), (1, 0)",
    "ops.unsorted_segment_sum": "f(2, 3), i(2), 2",
    # ---- methods whose arguments are not those of the function -----------------------------------------------
    "Tensor.astype": "f(2, 3), ms.float16",
    "Tensor.asnumpy": "f(2, 3)",
    "Tensor.fill": "f(2, 3), 0.5",
    "Tensor.fills": "f(2, 3), 0.5",
    "Tensor.index_add": "f(2, 3), 0, i(2), f(2, 3)",
    "Tensor.from_numpy": "np.ones((2, 3), np.float32)",
    "Tensor.item": "f(1)",
    "Tensor.itemset": "f(2, 2), 0, 0.5",
    "Tensor.move_to": "f(2, 3), 'CPU'",
    "Tensor.new_ones": "f(2, 3), (2,)",
    "Tensor.new_zeros": "f(2, 3), (2,)",
    "Tensor.numpy": "f(2, 3)",
    "Tensor.register_hook": f"p(2), {_FN}",
    "Tensor.repeat": "f(2, 3), 2",
    "Tensor.scatter_add": "f(2, 3), 1, i(2, 3), f(2, 3)",
    "Tensor.select": "f(2, 3), b(2, 3), f(2, 3)",
    "Tensor.take": "f(2, 3), i(2)",
    "Tensor.to": "f(2, 3), ms.float16",
    "Tensor.view": "f(2, 3), 3, 2",
    "Tensor.where": "f(2, 3), b(2, 3), 0.5",
    # ---- methods that write in place ---------------------------------------------------------------------------
    "Tensor.addmm_": "f(2, 4), f(2, 3), f(3, 4)",
    "Tensor.clamp_": "f(2, 3), 0.5",
    **{f"Tensor.{n}_": "f(2, 3), f(2, 3)" for n in ("add", "sub", "mul", "div", "copy")},
    **{
        f"Tensor.{n}_": "f(2, 3), 0.5"
        for n in ("floor_divide", "remainder", "fill", "fill_diagonal")
    },
    "Tensor.index_add_": "f(2, 3), 0, i(2), f(2, 3)",
    "Tensor.index_copy_": "f(2, 3), 0, i(2), f(2, 3)",
    "Tensor.index_fill_": "f(2, 3), 0, i(1), 0.5",
    "Tensor.index_put_": "f(2, 3), (i(2), i(2)), f(2)",
    "Tensor.masked_fill_": "f(2, 3), b(2, 3), 0.5",
    "Tensor.masked_scatter_": "f(2, 3), b(2, 3), f(2, 3)",
    "Tensor.put_": "f(2, 3), i(2), f(2)",
    "Tensor.scatter_": "f(2, 3), 1, i(2, 3), f(2, 3)",
    "Tensor.scatter_add_": "f(2, 3), 1, i(2, 3), f(2, 3)",
    # ---- cells: constructor | construct -----------------------------------------------------------------------
    "nn.AdaMax": _UPDATED,
    "nn.Adadelta": _UPDATED,
    "nn.Adagrad": _UPDATED,
    "nn.Adam": _UPDATED,
    "nn.AdamWeightDecay": _UPDATED,
    "nn.AdaptiveAvgPool1d": f"2 | {_LINES}",
    "nn.AdaptiveAvgPool2d": f"2 | {_IMAGE}",
    "nn.AdaptiveAvgPool3d": f"2 | {_VOLUME}",
    "nn.AdaptiveMaxPool1d": f"2 | {_LINES}",
    "nn.AdaptiveMaxPool2d": f"2 | {_IMAGE}",
    "nn.AdaptiveMaxPool3d": f"2 | {_VOLUME}",
    "nn.AvgPool1d": f"2 | {_LINES}",
    "nn.AvgPool2d": f"2 | {_IMAGE}",
    "nn.AvgPool3d": f"2 | {_VOLUME}",
    "nn.BCELoss": " | f(2, 3), f(2, 3)",
    "nn.BatchNorm1d": "3 | f(2, 3)",
    "nn.BatchNorm2d": f"2 | {_IMAGE}",
    "nn.BatchNorm3d": f"2 | {_VOLUME}",
    "nn.CellDict": "{'a': nn.ReLU()}",
    "nn.CellList": "[nn.ReLU()]",
    "nn.CentralCrop": "0.5 | f(2, 4, 4)",
    "nn.ChannelShuffle": f"2 | {_IMAGE}",
    "nn.ConstantPad1d": f"1, 0.5 | {_LINES}",
    "nn.ConstantPad2d": f"1, 0.5 | {_IMAGE}",
    "nn.ConstantPad3d": f"1, 0.5 | {_VOLUME}",
    "nn.Conv1d": f"2, 3, 3 | {_LINES}",
    "nn.Conv1dTranspose": f"2, 3, 3 | {_LINES}",
    "nn.Conv2d": f"2, 3, 3 | {_IMAGE}",
    "nn.Conv2dBnAct": f"2, 3, 3 | {_IMAGE}",
    "nn.Conv2dTranspose": f"2, 3, 3 | {_IMAGE}",
    "nn.Conv3d": f"2, 3, 2 | {_VOLUME}",
    "nn.Conv3dTranspose": f"2, 3, 2 | {_VOLUME}",
    "nn.CosineDecayLR": "0.1, 0.5, 4 | i(1)[0]",
    "nn.CosineEmbeddingLoss": "| f(2, 3), f(2, 3), i(2)",
    "nn.Dense": "3, 4 | f(2, 3)",
    "nn.DenseBnAct": "3, 4 | f(2, 3)",
    "nn.DistributedGradReducer": f"{_WEIGHTS}",
    "nn.Dropout2d": f"| {_IMAGE}",
    "nn.Dropout3d": f"| {_VOLUME}",
    "nn.DynamicLossScaleUpdateCell": "1024, 2, 100 | p(1), b(1)",
    "nn.Embedding": "4, 3 | i(2, 3)",
    "nn.EmbeddingLookup": "4, 3 | i(2, 3)",
    "nn.ExponentialDecayLR": "0.1, 0.9, 4 | i(1)[0]",
    "nn.FTRL": _UPDATED,
    "nn.FixedLossScaleUpdateCell": "1024 | f(1), b(1)",
    "nn.ForwardValueAndGrad": "net() | f(2, 3)",
    "nn.FractionalMaxPool2d": f"2, 2 | {_IMAGE}",
    "nn.FractionalMaxPool3d": f"2, 2 | {_VOLUME}",
    "nn.GLU": "| f(2, 4)",
    "nn.GRU": "3, 4 | f(2, 1, 3)",
    "nn.GRUCell": "3, 4 | f(2, 3), f(2, 4)",
    "nn.GraphCell": "None",
    "nn.GroupNorm": f"1, 2 | {_IMAGE}",
    "nn.InstanceNorm1d": f"2 | {_LINES}",
    "nn.InstanceNorm2d": f"2 | {_IMAGE}",
    "nn.InstanceNorm3d": f"2 | {_VOLUME}",
    "nn.InverseDecayLR": "0.1, 0.9, 4 | i(1)[0]",
    "nn.Jvp": f"{_FN} | f(2), f(2)",
    "nn.LARS": f"nn.Momentum({_WEIGHTS}, 0.1, 0.9) | (f(1, 3), f(1))",
    "nn.LPPool1d": f"2, 2 | {_LINES}",
    "nn.LPPool2d": f"2, 2 | {_IMAGE}",
    "nn.LRN": f"| {_IMAGE}",
    "nn.LSTM": "3, 4 | f(2, 1, 3)",
    "nn.LSTMCell": "3, 4 | f(2, 3), (f(2, 4), f(2, 4))",
    "nn.ImageGradients": f"| {_IMAGE}",
    "nn.Lamb": f"{_WEIGHTS}, 0.1 | (f(1, 3), f(1))",
    "nn.LayerNorm": "(3,) | f(2, 3)",
    "nn.LazyAdam": _UPDATED,
    "nn.MSSSIM": "power_factors=(0.5, 0.5), filter_size=3 | f(1, 1, 12, 12), f(1, 1, 12, 12)",
    "nn.MatMul": "| f(2, 3), f(3, 2)",
    "nn.MaxPool1d": f"2 | {_LINES}",
    "nn.MaxPool2d": f"2 | {_IMAGE}",
    "nn.MaxPool3d": f"2 | {_VOLUME}",
    "nn.MaxUnpool1d": "2 | f(1, 2, 2), i(1, 2, 2)",
    "nn.MaxUnpool2d": "2 | f(1, 2, 2, 2), i(1, 2, 2, 2)",
    "nn.MaxUnpool3d": "2 | f(1, 2, 2, 2, 2), i(1, 2, 2, 2, 2)",
    "nn.Momentum": f"{_WEIGHTS}, 0.1, 0.9 | (f(1, 3), f(1))",
    "nn.MultiheadAttention": "4, 2 | f(2, 1, 4), f(2, 1, 4), f(2, 1, 4)",
    "nn.NLLLoss": "| f(2, 3), i(2)",
    "nn.NaturalExpDecayLR": "0.1, 0.9, 4 | i(1)[0]",
    "nn.OneHot": "depth=2 | i(3)",
    "nn.Optimizer": f"0.1, {_WEIGHTS}",
    "nn.PSNR": f"| {_IMAGE}, {_IMAGE}",
    "nn.Pad": "((1, 1), (0, 1)) | f(2, 3)",
    "nn.ParameterUpdate": "p(2) | f(2)",
    "nn.PixelShuffle": "2 | f(1, 4, 2, 2)",
    "nn.PixelUnshuffle": "2 | f(1, 1, 4, 4)",
    "nn.PolynomialDecayLR": "0.5, 0.1, 4, 2.0 | i(1)[0]",
    "nn.RMSProp": _UPDATED,
    "nn.RNN": "3, 4 | f(2, 1, 3)",
    "nn.RNNCell": "3, 4 | f(2, 3), f(2, 4)",
    "nn.ReduceLogSumExp": "1 | f(2, 3)",
    "nn.ReflectionPad1d": f"1 | {_LINES}",
    "nn.ReflectionPad2d": f"1 | {_IMAGE}",
    "nn.ReflectionPad3d": f"1 | {_VOLUME}",
    "nn.ReplicationPad1d": f"1 | {_LINES}",
    "nn.ReplicationPad2d": f"1 | {_IMAGE}",
    "nn.ReplicationPad3d": f"1 | {_VOLUME}",
    "nn.ResizeBilinear": f"| {_IMAGE}, (3, 3)",
    "nn.SGD": _UPDATED,
    "nn.SSIM": "| f(1, 1, 12, 12), f(1, 1, 12, 12)",
    "nn.SequentialCell": "nn.ReLU() | f(2, 3)",
    "nn.Softmax2d": f"| {_IMAGE}",
    "nn.SyncBatchNorm": "3 | f(2, 3)",
    "nn.TrainOneStepCell": f"net(), nn.SGD({_WEIGHTS}) | f(2, 3)",
    "nn.TrainOneStepWithLossScaleCell": f"net(), nn.SGD({_WEIGHTS}), f(1) | f(2, 3)",
    "nn.Transformer": "4, 2, 1, 1, 4 | f(2, 1, 4), f(2, 1, 4)",
    "nn.TransformerDecoder": "nn.TransformerDecoderLayer(4, 2, 4), 1 | f(2, 1, 4), f(2, 1, 4)",
    "nn.TransformerDecoderLayer": "4, 2, 4 | f(2, 1, 4), f(2, 1, 4)",
    "nn.TransformerEncoder": "nn.TransformerEncoderLayer(4, 2, 4), 1 | f(2, 1, 4)",
    "nn.TransformerEncoderLayer": "4, 2, 4 | f(2, 1, 4)",
    "nn.Unfold": f"[1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1] | {_IMAGE}",
    "nn.Upsample": f"(3, 3) | {_IMAGE}",
    "nn.VirtualDatasetCellTriple": "_Three() | f(2, 3), f(2, 3), f(2, 3)",
    "nn.Vjp": f"{_FN} | f(2), f(2)",
    "nn.WarmUpLR": "0.1, 4 | i(1)[0]",
    "nn.WithEvalCell": "net(), nn.MSELoss() | f(2, 3), f(2, 1)",
    "nn.WithGradCell": "net(), nn.MSELoss() | f(2, 3), f(2, 1)",
    "nn.WithLossCell": "net(), nn.MSELoss() | f(2, 3), f(2, 1)",
    "nn.ZeroPad2d": f"1 | {_IMAGE}",
    **dict.fromkeys(
        ("nn.ASGD", "nn.AdamOffload", "nn.AdaFactor", "nn.ProximalAdagrad", "nn.Rprop"), _UPDATED
    ),
    **dict.fromkeys(("nn.PipelineCell", "nn.GradAccumulationCell"), "net(), 1 | f(2, 3)"),
    **dict.fromkeys(
        ("nn.Conv2dQuant", "nn.Conv2dBnFoldQuant", "nn.Conv2dBnFoldQuantOneConv"),
        f"2, 3, 3 | {_IMAGE}",
    ),
    "nn.ActQuant": "'relu' | f(2, 3)",
    "nn.BiDense": "3, 4, 2 | f(2, 3), f(2, 4)",
    "nn.CTCLoss": "| f(4, 2, 3), i(2, 2), Tensor([4, 4]), Tensor([2, 2])",
    "nn.DenseQuant": "3, 4 | f(2, 3)",
    "nn.Dropout2dExt": f"| {_IMAGE}",
    "nn.EmbeddingExt": "4, 3 | i(2, 3)",
    "nn.GaussianNLLLoss": "| f(2, 3), f(2, 3), f(2, 3)",
    "nn.LayerNormExt": "(3,) | f(2, 3)",
    "nn.Linear": "3, 4 | f(2, 3)",
    "nn.MicroBatchInterleaved": "net(), 1 | f(2, 3)",
    "nn.MultiClassDiceLoss": "| f(2, 3), f(2, 3)",
    "nn.MultiFieldEmbeddingLookup": "4, 3, 2 | i(2, 3), f(2, 3), i(2, 3)",
    "nn.MultiMarginLoss": "| f(2, 3), i(2)",
    "nn.MultilabelMarginLoss": "| f(2, 3), i(2, 3)",
    "nn.PipelineGradReducer": f"{_WEIGHTS} | (f(1, 3), f(1))",
    "nn.Roll": "1, 0 | f(2, 3)",
    "nn.SampledSoftmaxLoss": "2, 3 | f(3, 4), f(3), i(2, 1), f(2, 4)",
    "nn.SparseTensorDenseMatmul": "| i(2, 2), f(2), (2, 3), f(3, 2)",
    "nn.SparseToDense": "| COO",
    "nn.TimeDistributed": "nn.ReLU(), 1 | f(2, 3, 4)",
    "nn.TripletMarginLoss": "| f(2, 3), f(2, 3), f(2, 3)",
    "nn.TripletMarginWithDistanceLoss": "| f(2, 3), f(2, 3), f(2, 3)",
    "nn.Unflatten": "1, (1, 3) | f(2, 3)",
    # ---- metrics: constructor | update ------------------------------------------------------------------------
    "nn.Accuracy": _CLASSES,
    "nn.BleuScore": "| [['a', 'b', 'c', 'd']], [[['a', 'b', 'c', 'd']]]",
    "nn.ConfusionMatrix": "2 | i(4), i(4)",
    "nn.ConfusionMatrixMetric": "| i(2, 3), i(2, 3)",
    "nn.CosineSimilarity": "| f(2, 3)",
    "nn.Dice": "| f(2, 3), i(2, 3)",
    "nn.F1": _CLASSES,
    "nn.Fbeta": f"1.0 {_CLASSES}",
    "nn.HausdorffDistance": "| i(3, 3), i(3, 3), 1",
    "nn.Loss": "| f(1)",
    "nn.MAE": _BOTH,
    "nn.MSE": _BOTH,
    "nn.MeanSurfaceDistance": "| i(3, 3), i(3, 3), 1",
    "nn.OcclusionSensitivity": "| net(), f(1, 3), i(1) - i(1)",
    "nn.Perplexity": _CLASSES,
    "nn.Precision": _CLASSES,
    "nn.ROC": "| f(4), i(4)",
    "nn.Recall": _CLASSES,
    "nn.RootMeanSquareDistance": "| i(3, 3), i(3, 3), 1",
    "nn.Top1CategoricalAccuracy": _CLASSES,
    "nn.Top5CategoricalAccuracy": "| f(2, 6), i(2)",
    "nn.TopKCategoricalAccuracy": f"1 {_CLASSES}",
    "ms.Parameter": "f(2, 3)",
    "ms.ParameterTuple": "(p(2),)",
    "ms.Tensor": "[1.0, 2.0]",
    "ms.initializer": "'normal', (2, 3)",
    # ---- functions of nn -----------------------------------------------------------------------------------------
    "nn.auc": "np.array([0.0, 1.0]), np.array([0.0, 1.0])",
    "nn.cosine_decay_lr": "0.1, 0.5, 4, 2, 2",
    "nn.get_activation": "'relu'",
    "nn.get_metric_fn": "'acc'",
    "nn.get_metrics": "{'acc'}",
    "nn.piecewise_constant_lr": "[2, 4], [0.1, 0.05]",
    "nn.polynomial_decay_lr": "0.5, 0.1, 4, 2, 2, 2.0",
}
__all__ = ["TEXTS", "arguments", "from_signature", "ms", "ops"]

# Functions of mindspore.numpy, which is mostly given arrays of any shape.
_VECTORS = "f(4), f(3)"
_INT_PAIR = "i(2, 3), i(2, 3)"
TEXTS.update({f"numpy.{name}": "(2, 3)" for name in ("empty", "indices", "ones", "zeros")})
TEXTS.update({f"numpy.{n}": _VECTORS for n in ("convolve", "correlate", "digitize")})
TEXTS["numpy.polyval"] = "f(4), x=f(3)"
TEXTS.update({f"numpy.poly{n}": _VECTORS for n in ("add", "mul", "sub")})
TEXTS.update({f"numpy.{n}": "f(4)" for n in ("vander", "polyder", "polyint")})
TEXTS.update({f"numpy.bitwise_{n}": _INT_PAIR for n in ("and", "or", "xor")})
TEXTS.update({f"numpy.{n}": "i(2, 3)" for n in ("bitwise_not", "invert")})
TEXTS.update({f"numpy.{n}": _INT_PAIR for n in ("gcd", "lcm")})
TEXTS.update({f"numpy.{n}": "f(2, 3), f(3, 4)" for n in ("dot", "matmul")})
TEXTS.update(
    {
        "numpy.apply_along_axis": "lambda x: x * 2, 1, f(2, 3)",
        "numpy.apply_over_axes": "lambda x, axis: x.sum(axis), f(2, 3), 1",
        "numpy.arange": "5",
        "numpy.bincount": "i(4)",
        "numpy.broadcast_to": "f(3), (2, 3)",
        "numpy.choose": "i(3), choices=[f(3), f(3)]",
        "numpy.clamp": "f(2, 3), 0.2, 0.5",
        "numpy.dsplit": "f(2, 3, 4), 2",
        "numpy.full": "(2, 3), 1.5",
        "numpy.interp": "f(3), f(4), f(4)",
        "numpy.matrix_power": "f(3, 3), 2",
        "numpy.promote_types": "ms.int32, ms.float16",
        "numpy.ravel_multi_index": "i(2, 3), (2, 3)",
        "numpy.reshape": "f(2, 3), (3, 2)",
        "numpy.result_type": "f(3), 1",
        "numpy.searchsorted": "f(4), f(2, 3)",
        "numpy.take": "f(2, 3), i(4)",
        "numpy.take_along_axis": "f(2, 3), i(2, 3), 1",
        "numpy.unravel_index": "i(4), (2, 3)",
    }
)
