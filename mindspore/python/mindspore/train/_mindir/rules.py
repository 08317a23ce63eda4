"""Which of our ops is which primitive of MindSpore, one line an op: the arguments of the primitive in its order, each an input or
attribute of the op. The lines are read in both directions.

`name:kind` is an attribute in another form (CONVERT), `*name` all inputs in one tuple. What follows a semicolon is no argument but
an attribute of the primitive, `its name=ours`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore import _core
from mindspore.train._mindir.messages import dtype_of_id, type_id

_SAME = (
    "Abs ACos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 FastGeLU Floor HSigmoid HSwish "
    "IsFinite IsInf Log Log1p LogicalNot Neg ReLU ReLU6 Reciprocal Rsqrt SiLU Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Trunc"
)
_SAME_OLD = "IsNan Lgamma Mish SeLU Softplus Softsign"  # primitives of the older kind
_OF_TWO = (
    "Add Atan2 Div Equal FloorDiv FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mul "
    "NotEqual Pow RealDiv Sub Xlogy"
)
_OF_TWO_OLD = (
    "BitwiseAnd BitwiseOr BitwiseXor DivNoNan SquaredDifference TruncateDiv TruncateMod Mod"
)

_LINES = """
ArgMaxWithValue(input, axis, keep_dims)
ArgMinWithValue(input, axis, keep_dims)
Argmax(input_x, axis, output_type:dtype)
Argmin(x, axis, output_type:dtype)
BatchMatMul(x, y, transpose_a, transpose_b)
BiasAdd(input_x, bias, data_format:format)
BroadcastTo(input, shape)
Cast(x, dtype:dtype)
CeLU(x, alpha)
Concat(*tensors, axis)
CumMax = Cummax(input, axis)
CumMin = Cummin(input, axis)
CumProd(x, axis, exclusive, reverse)
CumSum(input, axis, exclusive, reverse)
Diag(input)
Elu(x, alpha)
ExpandDims(input_x, axis)
Flatten(input_x)
Gather(input_params, input_indices, axis, batch_dims)
GatherD(x, dim, index)
GatherNd(input_x, indices)
HShrink(x, lambd)
Identity(input_x)
L2Normalize(x; axis=axis:list, epsilon=epsilon)
LayerNorm(input_x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon)
Lerp(start, end, weight)
LogSoftmax(logits, axis)
MatMul(x, y, transpose_a, transpose_b)
NLLLoss(logits, labels, weight, reduction:reduction, ignore_index)
OneHot(indices, depth, on_value, off_value, axis)
PReLU(x, weight)
ReduceAll(input, axis, keep_dims)
ReduceAny(x, axis, keep_dims)
ReduceMax(x, axis, keep_dims)
ReduceMean(x, axis, keep_dims)
ReduceMin(x, axis, keep_dims)
ReduceProd(x, axis, keep_dims)
ReduceSum(x, axis, keep_dims, skip_mode)
Reshape(input, shape)
ReverseV2(input, axis)
Round = Rint(x;)
ScatterNd(indices, updates, shape)
Select(condition, x, y)
SigmoidCrossEntropyWithLogits(logits, label;)
Slice(input, begin, size)
SmoothL1Loss(prediction, target, beta, reduction:reduction)
SoftShrink(x, lambd)
Softmax(input, axis)
SoftmaxCrossEntropyWithLogits(logits, labels;)
Sort(x; axis=axis, descending=descending)
Split(input_x, axis, output_num)
SplitV(input_x; size_splits=size_splits:list, split_dim=split_dim, num_split=num_split)
Squeeze(input, axis)
Stack(*input_x; axis=axis)
StridedSlice(input_x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
TensorScatterUpdate(input_x, indices, updates;)
Tile(input, dims)
TopK(input_x, k; sorted=sorted)
Transpose(input, perm)
Tril(input; diagonal=diagonal)
Triu(input, diagonal)
Unstack(input_x; axis=axis, num=num)
"""

_FORMATS = {"NCHW": 0, "NHWC": 1, "NCDHW": 14}
_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}
# The places of the modes and paddings of samplers of grids.
GRID_MODES, GRID_PADDINGS = ("bilinear", "nearest"), ("zeros", "border", "reflection")


def _place(numbers: dict[str, int], what: str) -> Callable[[Any], Any]:
    names = {number: name for name, number in numbers.items()}

    def name(number: Any) -> str:
        if type(number) is not int or number not in names:
            raise ValueError(f"there is no {what} of the number {number!r}")
        return names[number]

    return name


# Kinds: to what a primitive has, and back.
CONVERT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "dtype": (type_id, dtype_of_id),
    "format": (_FORMATS.__getitem__, _place(_FORMATS, "format")),
    "reduction": (_REDUCTIONS.__getitem__, _place(_REDUCTIONS, "reduction")),
    "list": (list, tuple),
}


class Argument(NamedTuple):
    """An argument or attribute of a primitive."""

    name: str  # of our input or attribute
    kind: str = ""
    many: bool = False  # all inputs in a tuple
    key: str = ""  # of an attribute of the primitive

    def shown(self, value: Any) -> Any:
        """What the primitive has for a value of ours."""
        return CONVERT[self.kind][0](value) if self.kind else value

    def ours(self, value: Any) -> Any:
        """Our value for one of the primitive."""
        return CONVERT[self.kind][1](value) if self.kind else value


class Rule(NamedTuple):
    """One of our ops, and its primitive."""

    op: str
    primitive: str
    arguments: tuple[Argument, ...]
    attributes: tuple[Argument, ...]
    old: bool  # of the older kind, whose settings are attributes


def _argument(text: str) -> Argument:
    key, _, text = text.rpartition("=")
    name, _, kind = text.partition(":")
    return Argument(name.removeprefix("*"), kind, many=name.startswith("*"), key=key)


def _rule(line: str) -> Rule:
    ours, _, theirs = line.rpartition(" = ")
    name, _, rest = theirs.partition("(")
    arguments, old, attributes = rest.removesuffix(")").partition(";")
    parts = [
        tuple(_argument(p.strip()) for p in text.split(",") if p.strip())
        for text in (arguments, attributes)
    ]
    return Rule(ours or name, name, parts[0], parts[1], bool(old))


def _lines() -> list[str]:
    lines = [f"{op}(x)" for op in _SAME.split()] + [f"{op}(x;)" for op in _SAME_OLD.split()]
    lines += [f"{op}(x, y)" for op in _OF_TWO.split()]
    lines += [f"{op}(x, y;)" for op in _OF_TWO_OLD.split()]
    return lines + [line for line in _LINES.splitlines() if line]


@functools.cache
def by_op() -> dict[str, Rule]:
    """The rules by our names."""
    return {rule.op: rule for rule in map(_rule, _lines())}


@functools.cache
def by_primitive() -> dict[str, Rule]:
    """The rules by the names of the primitives."""
    return {rule.primitive: rule for rule in map(_rule, _lines())}


@functools.cache
def attributes_of(op: str) -> frozenset[str]:
    """The names of an op's attributes."""
    return frozenset(a[0] for a in _registry()[op]["attributes"])


@functools.cache
def _registry() -> dict[str, dict]:
    return {op["name"]: op for op in _core.registry()}
