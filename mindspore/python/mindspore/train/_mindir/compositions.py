"""Ops that go into a file as several primitives, or as one whose settings are made of ours."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train._mindir import images_written
from mindspore.train._mindir.building import Builder, NotThere, Value
from mindspore.train._mindir.messages import type_id


def _leaky_relu(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x, alpha = values[0], attributes["alpha"]
    less = b.one("Mul", [b.scalar(alpha, x.dtype), x], x)
    return [b.one("Maximum" if alpha <= 1 else "Minimum", [less, x], x)]


def _gelu(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x = values[0]
    if attributes["approximate"] != "none":
        return b.apply("GeLU", [x], types)
    inner = b.one("Erf", [b.one("Div", [x, b.scalar(math.sqrt(2), x.dtype)], x)], x)
    twice = b.one("Mul", [x, b.one("Add", [inner, b.scalar(1, x.dtype)], x)], x)
    return [b.one("Mul", [twice, b.scalar(0.5, x.dtype)], x)]


def _attention(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    query, key, value, mask, _ = values
    if attributes["keep_prob"] != 1:
        raise NotThere("must drop nothing to go into a MINDIR file: call net.set_train(False)")
    product = "MatMul" if len(query.shape) == 2 else "BatchMatMul"
    shape = (*query.shape[:-1], key.shape[-2])
    scores = b.one(product, [query, key, False, True], query, shape)
    scores = b.one("Mul", [scores, b.scalar(attributes["scale"], query.dtype)], scores)
    if attributes["causal"]:
        hidden = Tensor(np.triu(np.ones(shape[-2:], np.bool_), 1))
        scores = _hide(b, b.tensor(hidden), scores, attributes["fill"])
    if str(mask.dtype) == "Bool":
        scores = _hide(b, mask, scores, attributes["fill"])
    elif mask.tensor is None or mask.tensor.asnumpy().any():
        scores = b.one("Add", [scores, mask], scores)
    weights = b.one("Softmax", [scores, (-1,)], scores)
    return [b.apply(product, [weights, value, False, False], types[:1])[0], None, None]


def _hide(b: Builder, mask: Value, scores: Value, fill: float) -> Value:
    if mask.shape != scores.shape:
        mask = b.one("BroadcastTo", [mask, scores.shape], mask, scores.shape)
    filled = b.one("BroadcastTo", [b.scalar(fill, scores.dtype), scores.shape], scores)
    return b.one("Select", [mask, filled, scores], scores)


def _full(value: float | None) -> Callable:
    def write(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
        ((dtype, shape),) = types
        number = b.scalar(attributes["value"] if value is None else value, dtype)
        return [
            number if not shape else b.one("BroadcastTo", [number, tuple(shape)], number, shape)
        ]

    return write


_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")


def _strided_slice(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """Without an ellipsis, and without axes that the tensor does not have: MindSpore refuses those that stand for nothing."""
    x, shape = values[0], types[0][1]
    rows = list(zip(attributes["begin"], attributes["end"], attributes["strides"], strict=True))
    bits = [[attributes[name] >> at & 1 for name in _MASKS] for at in range(len(rows))]
    for at in range(len(rows)):
        if attributes["ellipsis_mask"] >> at & 1:
            others = sum(not bit[2] for bit in bits) - 1
            missing = len(x.shape) - others
            rows[at : at + 1] = [(0, 0, 1)] * missing
            bits[at : at + 1] = [[1, 1, 0, 0]] * missing
            break
    new = [at for at, bit in enumerate(bits) if bit[2]]
    rows = [row for at, row in enumerate(rows) if at not in new]
    bits = [bit for at, bit in enumerate(bits) if at not in new]
    if not rows:
        return b.apply("Reshape", [x, tuple(shape)], types)
    masks = [sum(bit[kind] << at for at, bit in enumerate(bits)) for kind in range(len(_MASKS))]
    sizes = [tuple(row[kind] for row in rows) for kind in range(3)]
    arguments = [x, *sizes, masks[0], masks[1], 0, 0, masks[3]]
    if not new:
        return b.apply("StridedSlice", arguments, types)
    taken = b.one("StridedSlice", arguments, x, _without(shape, bits, new))
    return b.apply("Reshape", [taken, tuple(shape)], types)


def _without(shape: tuple, bits: list, new: list[int]) -> tuple:
    """A shape without the axes of 1 that an index adds, which are counted among those that it takes away."""
    kept, axis, at = list(shape), 0, 0
    for place in range(len(bits) + len(new)):
        if place in new:
            del kept[axis]
        else:
            axis += not bits[at][3]
            at += 1
    return tuple(kept)


def _split(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """Slice by slice: MindSpore has no primitive of unlike parts on the CPU."""
    x, axis = values[0], attributes["split_dim"] % len(values[0].shape)
    parts, start = [], 0
    for dtype, shape in types:
        begin = tuple(start if at == axis else 0 for at in range(len(shape)))
        parts += b.apply("Slice", [x, begin, tuple(shape)], [(dtype, shape)])
        start += shape[axis]
    return parts


def _stopped(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """The value: what matters to gradients, or to the order of a program, has no meaning in a file."""
    return values[:1]


def _clip(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x, low, high = values
    raised = b.one("Maximum", [x, low], x, np.broadcast_shapes(x.shape, low.shape))
    return b.apply("Minimum", [raised, high], types)


def _log_sigmoid(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    x = values[0]
    turned = b.one("Neg", [x], x)
    return [b.one("Neg", [b.apply("Softplus", [turned], types, {})[0]], x)]


def _squared_distances(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    distances = b.apply("Cdist", [*values, 2.0], types)[0]
    return [b.one("Square", [distances], distances)]


def _root_of_squares(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    return b.apply("Sqrt", values, types, {})


def _search(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    arguments = [*values, None, type_id(types[0][0]), bool(attributes["right"])]
    return b.apply("SearchSorted", arguments, types)


def _sparse_cross_entropy(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    settings = {"is_grad": bool(attributes["is_grad"]), "sens": 1.0}
    return b.apply("SparseSoftmaxCrossEntropyWithLogits", values, types, settings)


def _scatter_update(b: Builder, values: list[Value], attributes: dict, types: list) -> list:
    """With indices of two dimensions at least, which MindSpore wants."""
    x, indices, updates = values
    if len(indices.shape) == 1:
        shapes = [(1, *value.shape) for value in (indices, updates)]
        indices, updates = (
            b.one("Reshape", [value, shape], value, shape)
            for value, shape in zip((indices, updates), shapes)
        )
    return b.apply("TensorScatterUpdate", [x, indices, updates], types, {})


WRITERS: dict[str, Callable[[Builder, list[Value], dict, list], list]] = {
    **images_written.WRITERS,
    "Attention": _attention,
    "Clip": _clip,
    "Depend": _stopped,
    "Fill": _full(None),
    "GeLU": _gelu,
    "LeakyReLU": _leaky_relu,
    "LogSigmoid": _log_sigmoid,
    "Ones": _full(1),
    "OnesLike": _full(1),
    "RootOfSquares": _root_of_squares,
    "SearchRows": _search,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    "SplitV": _split,
    "SquaredDistances": _squared_distances,
    "StopGradient": _stopped,
    "StridedSlice": _strided_slice,
    "TensorScatterUpdate": _scatter_update,
    "Zeros": _full(0),
    "ZerosLike": _full(0),
}
