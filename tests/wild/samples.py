"""Arguments that each public function, Tensor method and cell takes, of which the cases change one at a time.

Most come from signatures: `f(2, 3)` for a tensor, 1 for an int, the default where there is one. TEXTS holds the others. Those of a
method are the function's of the same name, unless they stand there; those of a cell are its constructor's, then `|`, then those
of `construct`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common._checked import kinds_of
from mindspore.common._kinds import Kind, Refused
from mindspore.dataset import transforms, vision  # noqa: F401 - names in texts
from wild.faces import FACES, IMAGE  # noqa: F401


def f(*shape: int) -> Tensor:
    """Floats between 0.1 and 0.9."""
    return Tensor(np.linspace(0.1, 0.9, int(np.prod(shape)), dtype=np.float32).reshape(shape))


def i(*shape: int) -> Tensor:
    """Ones and zeros, as indices or classes are."""
    return Tensor((np.arange(int(np.prod(shape))) % 2).astype(np.int32).reshape(shape))


def b(*shape: int) -> Tensor:
    """Truth values."""
    return Tensor((np.arange(int(np.prod(shape))) % 2 == 0).reshape(shape))


COO = ms.COOTensor(i(1, 2), f(1), (2, 3))
CSR = ms.CSRTensor(Tensor([0, 1, 2]), Tensor([0, 1]), f(2), (2, 2))
ROWS = ms.RowTensor(i(1), f(1, 3), (2, 3))


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


_PLAIN = (
    *(f(2, 3), 1, 0.5, True, "mean", (f(2, 3), f(2, 3)), (2, 3), [0.5]),
    *({"a": 1}, ms.float32, COO, CSR, ROWS),
)
_IMAGE = "f(1, 2, 5, 5)"
_LINES = "f(1, 2, 6)"
_VOLUME = "f(1, 2, 3, 3, 3)"
_WEIGHTS = "net().trainable_params()"
_UPDATED = f"{_WEIGHTS} | (f(1, 3), f(1))"
_CLASSES = "| f(2, 3), i(2)"
_BOTH = "| f(2, 3), f(2, 3)"
_UPDATE = "p(3, 4), i(2), f(2, 4)"
_FN = "lambda x: x * x"

_WINDOWS = ("bartlett", "blackman", "hamming", "hann", "kaiser")

TEXTS: dict[str, str] = {
    # ---- ops of sparse tensors -----------------------------------------------------------------------------------
    **{f"ops.{n}": "COO" for n in ops.__all__ if n.startswith("coo_")},
    **{f"ops.{n}": "CSR" for n in ops.__all__ if n.startswith("csr_")},
    **{f"ops.{n}": "ROWS" for n in ops.__all__ if n.startswith("row_tensor_get")},
    "ops.coo_add": "COO, COO, f(1)[0]",
    "ops.csr_add": "CSR, CSR, f(1), f(1)",
    **dict.fromkeys(("ops.csr_div", "ops.csr_mul"), "CSR, f(2, 2)"),
    "ops.csr_softmax": "CSR, ms.float32",
    "ops.csr_to_coo": "CSR",
    # ---- functions -----------------------------------------------------------------------------------------------
    "ops.adaptive_avg_pool2d_ext": "f(1, 2, 5, 5), 2",
    "ops.baddbmm_ext": "f(2, 2, 2), f(2, 2, 2), f(2, 2, 2)",
    "ops.hastype": "f(2), ms.float32",
    "ops.prim_arg_register": _FN,
    "ops.switch": "True, 1, 2",
    "ops.switch_layer": f"0, ({_FN}, {_FN})",
    "Tensor.to_": "f(2), 'CPU'",
    **dict.fromkeys(("nn.AvgPool2dExt", "nn.MaxPool2dExt"), "2 | f(1, 2, 5, 5)"),
    "nn.AvgPool3dExt": "2 | f(1, 2, 4, 4, 4)",
    "ops.derivative": f"{_FN}, f(2), 1",
    "ops.flash_attention_score": "f(1, 2, 4), f(1, 2, 4), f(1, 2, 4), 2",
    "ops.get_grad": "((0, f(2)),), 0",
    "ops.grad": _FN,
    "ops.is_instance": "1, int",
    "ops.jacfwd": _FN,
    "ops.jacrev": _FN,
    "ops.jet": f"{_FN}, f(2), f(1, 2)",
    "ops.jvp": f"{_FN}, f(2), f(2)",
    "ops.layer_norm": "f(2, 3), (3,)",
    "ops.make_range": "0, 5, 2",
    "ops.partial": f"{_FN}, 1",
    "ops.prim_attr_register": "lambda self: None",
    "ops.randint_like": "f(2, 3), 0, 5",
    "ops.recompute": "net(), f(2, 3)",
    "ops.roll": "f(2, 3), 1, 0",
    "ops.rotated_iou": "f(1, 2, 5), f(1, 3, 5)",
    "ops.scalar_to_array": "1",
    "ops.take": "f(2, 3), i(2)",
    "ops.value_and_grad": _FN,
    "ops.vjp": f"{_FN}, f(2)",
    "ops.vmap": _FN,
    "ops.all_gather": "[f(2)], f(2)",
    "ops.all_gather_object": "[None], 1",
    "ops.all_to_all": "[f(2)], [f(2)]",
    "ops.array_to_scalar": "f(1)",
    **dict.fromkeys(("ops.bool_and", "ops.bool_or"), "True, False"),
    "ops.bool_not": "True",
    "ops.broadcast": "f(2), 0",
    "ops.broadcast_object_list": "[1], 0",
    "ops.choice_with_mask": "b(2, 3)",
    "ops.clamp_": "f(2, 3), 0.5",
    "ops.coo2csr": "i(2), 2",
    "ops.coo_concat": "(COO, COO)",
    "ops.csr_gather": "Tensor([0, 1, 2]), Tensor([0, 1]), f(2, 2), (2, 2)",
    "ops.csr_mm": "CSR, CSR",
    "ops.csr_mv": "CSR, f(2, 1)",
    "ops.csr_reduce_sum": "CSR, 1",
    "ops.dict_setitem": "{'a': 1}, 'a', 2",
    "ops.eig": "f(2, 2)",
    "ops.eigvals": "f(2, 2)",
    "ops.gamma": "(2, 3), f(1), f(1)",
    "ops.get_global_rank": "'hccl_world_group', 0",
    "ops.get_group_rank": "'hccl_world_group', 0",
    "ops.laplace": "(2, 3), f(1), f(1)",
    "ops.log_uniform_candidate_sampler": "Tensor([[1], [2]]), 1, 2, True, 5",
    "ops.make_csr_tensor": "Tensor([0, 1, 2]), Tensor([0, 1]), f(2), (2, 2)",
    "ops.make_row_tensor": "i(1), f(1, 3), (2, 3)",
    **dict.fromkeys(("ops.make_coo_tensor", "ops.make_sparse_tensor"), "i(1, 2), f(1), (2, 3)"),
    **dict.fromkeys(("ops.nanquantile", "ops.quantile"), "f(2, 3), 0.5"),
    "ops.poisson": "(2, 3), f(1)",
    "ops.random_gamma": "(2, 3), f(1)",
    "ops.random_poisson": "(2, 3), f(1)",
    "ops.reduce": "f(2), 0",
    "ops.reduce_scatter": "f(2), [f(2)]",
    "ops.row_tensor_add": "ROWS, f(2, 3)",
    "ops.all_to_all_v_c": "f(2), f(2), [2]",
    "ops.scatter_object_list": "[None], [1], 0",
    "ops.standard_laplace": "(2, 3)",
    **dict.fromkeys(("ops.string_concat", "ops.string_eq"), "'a', 'b'"),
    "ops.tensor_range": "0, 5, 2",
    "ops.uniform_candidate_sampler": "Tensor([[1], [2]]), 1, 2, True, 5",
    **dict.fromkeys((f"ops.{n}_window" for n in _WINDOWS), "5"),
    # ---- ops of the registry: what their faces take -----------------------------------------------------------
    "ops.scatter_sub": _UPDATE,
    # ---- methods whose arguments are not those of the function -----------------------------------------------
    "Tensor.fills": "f(2, 3), 0.5",
    "Tensor.bitwise_not": "i(2, 3)",
    "Tensor.convert_bytes_to_tensor": "bytes(12), (3,), ms.float32",
    "Tensor.new_full": "f(2, 3), (2,), 0.5",
    "Tensor.triangular_solve": "f(2, 1), f(2, 2)",
    "Tensor.uniform": "f(2, 3)",
    "Tensor.from_numpy": "np.ones((2, 3), np.float32)",
    "Tensor.move_to": "f(2, 3), 'CPU'",
    "Tensor.register_hook": f"p(2), {_FN}",
    "Tensor.repeat": "f(2, 3), 2",
    # ---- methods that write in place ---------------------------------------------------------------------------
    "Tensor.addmm_": "f(2, 4), f(2, 3), f(3, 4)",
    "Tensor.clamp_": "f(2, 3), 0.5",
    "Tensor.fill_": "f(2, 3), 0.5",
    "Tensor.fill_diagonal_": "f(2, 3), 0.5",
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
    "nn.AvgPool1d": f"2 | {_LINES}",
    "nn.AvgPool2d": f"2 | {_IMAGE}",
    "nn.BCELoss": " | f(2, 3), f(2, 3)",
    "nn.BatchNorm1d": "3 | f(2, 3)",
    "nn.BatchNorm2d": f"2 | {_IMAGE}",
    "nn.BatchNorm3d": f"2 | {_VOLUME}",
    "nn.CellDict": "{'a': nn.ReLU()}",
    "nn.CellList": "[nn.ReLU()]",
    "nn.CentralCrop": "0.5 | f(2, 4, 4)",
    "nn.ConstantPad1d": f"1, 0.5 | {_LINES}",
    "nn.ConstantPad2d": f"1, 0.5 | {_IMAGE}",
    "nn.ConstantPad3d": f"1, 0.5 | {_VOLUME}",
    "nn.Conv1d": f"2, 3, 3 | {_LINES}",
    "nn.Conv1dTranspose": f"2, 3, 3 | {_LINES}",
    "nn.Conv2d": f"2, 3, 3 | {_IMAGE}",
    "nn.Conv2dBnAct": f"2, 3, 3 | {_IMAGE}",
    "nn.Conv2dTranspose": f"2, 3, 3 | {_IMAGE}",
    "nn.CosineDecayLR": "0.1, 0.5, 4 | i(1)[0]",
    "nn.CosineEmbeddingLoss": "| f(2, 3), f(2, 3), i(2)",
    "nn.Dense": "3, 4 | f(2, 3)",
    "nn.DenseBnAct": "3, 4 | f(2, 3)",
    "nn.DistributedGradReducer": f"{_WEIGHTS}",
    "nn.Dropout2d": f"| {_IMAGE}",
    "nn.Dropout3d": f"| {_VOLUME}",
    "nn.DynamicLossScaleUpdateCell": "1024, 2, 100 | p(1), b(1)",
    "nn.Embedding": "4, 3 | i(2, 3)",
    "nn.ExponentialDecayLR": "0.1, 0.9, 4 | i(1)[0]",
    "nn.FTRL": _UPDATED,
    "nn.FixedLossScaleUpdateCell": "1024 | f(1), b(1)",
    "nn.ForwardValueAndGrad": "net() | f(2, 3)",
    "nn.GLU": "| f(2, 4)",
    "nn.GRU": "3, 4 | f(2, 1, 3)",
    "nn.GRUCell": "3, 4 | f(2, 3), f(2, 4)",
    "nn.GroupNorm": f"1, 2 | {_IMAGE}",
    "nn.InstanceNorm1d": f"2 | {_LINES}",
    "nn.InstanceNorm2d": f"2 | {_IMAGE}",
    "nn.InstanceNorm3d": f"2 | {_VOLUME}",
    "nn.InverseDecayLR": "0.1, 0.9, 4 | i(1)[0]",
    "nn.Jvp": f"{_FN} | f(2), f(2)",
    "nn.LARS": f"nn.Momentum({_WEIGHTS}, 0.1, 0.9) | (f(1, 3), f(1))",
    "nn.LRN": f"| {_IMAGE}",
    "nn.LSTM": "3, 4 | f(2, 1, 3)",
    "nn.LSTMCell": "3, 4 | f(2, 3), (f(2, 4), f(2, 4))",
    "nn.Lamb": f"{_WEIGHTS}, 0.1 | (f(1, 3), f(1))",
    "nn.LayerNorm": "(3,) | f(2, 3)",
    "nn.LazyAdam": _UPDATED,
    "nn.MSSSIM": "power_factors=(0.5, 0.5), filter_size=3 | f(1, 1, 12, 12), f(1, 1, 12, 12)",
    "nn.MatMul": "| f(2, 3), f(3, 2)",
    "nn.MaxPool1d": f"2 | {_LINES}",
    "nn.MaxPool2d": f"2 | {_IMAGE}",
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
    "nn.ReplicationPad1d": f"1 | {_LINES}",
    "nn.ReplicationPad2d": f"1 | {_IMAGE}",
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
    "nn.CTCLoss": "| f(4, 2, 3), i(2, 2), Tensor([4, 4]), Tensor([2, 2])",
    "nn.DenseQuant": "3, 4 | f(2, 3)",
    "nn.MicroBatchInterleaved": "net(), 1 | f(2, 3)",
    "nn.PipelineGradReducer": f"{_WEIGHTS} | (f(1, 3), f(1))",
    "nn.SparseToDense": "| COO",
    "nn.TimeDistributed": "nn.ReLU(), 1 | f(2, 3, 4)",
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
    # ---- functions of mindspore.numpy ---------------------------------------------------------------------------
    "numpy.apply_along_axis": "lambda x: x * 2, 1, f(2, 3)",
    "numpy.apply_over_axes": "lambda x, axis: x.sum(axis), f(2, 3), 1",
    "numpy.clamp": "f(2, 3), 0.2, 0.5",
}
TEXTS.update(FACES)
__all__ = ["TEXTS", "arguments", "from_signature", "ms", "ops"]
