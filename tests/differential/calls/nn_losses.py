"""Calls of losses and layers over functions of their own."""

import numpy as np
from differential.calllib import case, f32, made, of

made("nn.GaussianNLLLoss")(f32(3, 4), f32(3, 4, seed=1), f32(3, 4, low=0.1))
made("nn.GaussianNLLLoss", full=True, reduction="none")(
    f32(3, 4), f32(3, 4, seed=1), f32(3, 1, low=0.1)
)
made("nn.GaussianNLLLoss", reduction="sum")(f32(3, 4), f32(3, 4, seed=1), f32(3, low=0.1))
made("nn.GaussianNLLLoss", eps=0.5)(f32(3, 4), f32(3, 4, seed=1), f32(3, 4, low=0.1))
made("nn.GaussianNLLLoss", eps=0.0)(f32(3, 4), f32(3, 4), f32(3, 4))
made("nn.GaussianNLLLoss", reduction="all")(f32(3, 4), f32(3, 4), f32(3, 4))
made("nn.GaussianNLLLoss")(f32(3, 4), f32(3, 4), f32(2, 4))
made("nn.MultiLabelSoftMarginLoss")(f32(3, 4), f32(3, 4, low=0.0, high=1.0), grad=True)
made("nn.MultiLabelSoftMarginLoss", f32(4, low=0.1), "none")(f32(3, 4), f32(3, 4, low=0.0))
made("nn.MultiLabelSoftMarginLoss", 2.0, "sum")(f32(3, 4), f32(3, 4, low=0.0))
made("nn.MultiLabelSoftMarginLoss")(f32(3, 4), f32(3, 3))
_CLASSES = of([0, 3, 1], "int64")
made("nn.MultiMarginLoss")(f32(3, 4), _CLASSES, grad=True)
made("nn.MultiMarginLoss", 2, 0.5, "sum")(f32(3, 4), _CLASSES)
made("nn.MultiMarginLoss", weight=f32(4, low=0.1), reduction="none")(f32(3, 4), _CLASSES)
made("nn.MultiMarginLoss", 3)(f32(3, 4), _CLASSES)
made("nn.MultiMarginLoss", margin="a")(f32(3, 4), _CLASSES)
made("nn.MultiMarginLoss")(f32(3, 4), of([0, 3], "int64"))
made("nn.RReLU", 0.2, 0.2)(f32(3, 4))
made("nn.RReLU", 0.5, 0.2)(f32(3))
made("nn.RReLU", "a")(f32(3))
made("nn.RReLU")(f32(3, 4), shape_only=True)
made("nn.IGamma")(f32(3, 4, low=0.1, high=5.0), f32(3, 4, low=0.1, high=5.0, seed=1), tol=1e-4)


def as_torch(name, *args, **kwargs):
    """The same loss there."""

    def answer(*inputs):
        from peers import torch

        made = getattr(torch.nn, name)(*args, **kwargs)
        return made(*(torch.tensor(x) for x in inputs)).numpy()

    return answer


_LISTED = of([[3, 0, -1, 1], [1, -1, 0, 2], [-1, 0, 0, 0]], "int64")
for reduction in ("none", "mean", "sum"):
    made("nn.MultilabelMarginLoss", reduction)(
        f32(3, 4), _LISTED, ref=as_torch("MultiLabelMarginLoss", reduction=reduction)
    )
    made("nn.TripletMarginLoss", reduction=reduction)(
        f32(3, 4),
        f32(3, 4, seed=1),
        f32(3, 4, seed=2),
        ref=as_torch("TripletMarginLoss", reduction=reduction),
    )
made("nn.MultilabelMarginLoss")(
    f32(4), of([3, 0, -1, 1], "int64"), ref=as_torch("MultiLabelMarginLoss")
)
made("nn.MultilabelMarginLoss")(f32(4), of([3, 0, -1], "int64"))
made("nn.TripletMarginLoss", 1, True, margin=0.5)(
    f32(3, 4),
    f32(3, 4, seed=1),
    f32(3, 4, seed=2),
    ref=as_torch("TripletMarginLoss", 0.5, 1, swap=True),
)
made("nn.TripletMarginLoss")(
    f32(3, 4),
    f32(3, 4, seed=1),
    f32(3, 4, seed=2),
    2.0,
    ref=lambda x, y, z, m: as_torch("TripletMarginLoss", m)(x, y, z),
)
made("nn.TripletMarginLoss")(f32(4), f32(4), f32(4))
made("nn.TripletMarginLoss", swap=1)(f32(3, 4), f32(3, 4), f32(3, 4))

_STEPS, _LENGTHS = of([5, 4], "int32"), of([2, 3], "int32")


@case("nn.CTCLoss", tol=1e-4)
def _(ms):
    """of dense labels"""
    logs = ms.ops.log_softmax(ms.Tensor(f32(5, 2, 4).value), -1)
    labels, steps, lengths = (
        ms.Tensor(x.value) for x in (of([[1, 2, 0], [3, 3, 1]], "int32"), _STEPS, _LENGTHS)
    )
    return [
        ms.nn.CTCLoss(0, r, z)(logs, labels, steps, lengths)
        for r in ("none", "mean", "sum")
        for z in (False, True)
    ]


@case("nn.CTCLoss", tol=1e-4)
def _(ms):
    """of labels one behind the other"""
    logs = ms.ops.log_softmax(ms.Tensor(f32(6, 2, 4).value), -1)
    labels = ms.Tensor(np.array([1, 2, 3, 3, 1], np.int32))
    return ms.nn.CTCLoss(0, "none")(
        logs, labels, ms.Tensor(np.array([6, 6], np.int32)), ms.Tensor(_LENGTHS.value)
    )


@case("nn.CTCLoss", tol=1e-4)
def _(ms):
    """of one sequence, and its gradient"""
    logs = ms.ops.log_softmax(ms.Tensor(f32(6, 4).value), -1)
    labels = ms.Tensor(np.array([1, 2, 2], np.int32))
    loss = lambda x: ms.nn.CTCLoss()(x, labels, ms.Tensor(6, ms.int32), ms.Tensor(3, ms.int32))
    return loss(logs), ms.grad(loss)(logs)


made("nn.EmbeddingExt", 4, 3, 1)(of([[0, 1], [3, 3]], "int32"), ref=lambda x: _table()[x])
made("nn.EmbeddingExt", 4, 3, 4)(of([0], "int32"))
made("nn.EmbeddingExt", 4, 3, _weight=f32(3, 3))(of([0], "int32"))


def _table():
    import zlib

    return np.random.default_rng(zlib.crc32(b"weight")).uniform(-1, 1, (4, 3)).astype(np.float32)
