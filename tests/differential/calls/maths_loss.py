"""Calls of losses, of CTC and transducers, and of layers of newer networks."""

from typing import Any

import numpy as np
from differential.calllib import call, f32, i32, made, of

X, Y = f32(3, 4), f32(3, 4, seed=1)
CLASSES = of([0, 3, 1], "int64")


def label_margins(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loss of each row against the classes before the first -1."""
    losses = []
    for row, listed in zip(x, y.tolist()):
        classes = listed[: listed.index(-1)] if -1 in listed else listed
        others = [i for i in range(len(row)) if i not in classes]
        losses.append(sum(max(0, 1 - row[a] + row[b]) for a in classes for b in others) / len(row))
    return np.array(losses, np.float32)


LOGS = f32(6, 2, 5, low=-3.0, high=-0.5)
TARGETS, STEPS, LENGTHS = (
    of([[1, 2, 2], [3, 1, 0]], "int32"),
    of([6, 5], "int32"),
    of([3, 2], "int32"),
)

call("ops.gaussian_nll_loss", X, Y, f32(3, 4, low=0.1), grad=True)
call("ops.gaussian_nll_loss", X, Y, f32(3, 1, low=0.1), True, 1e-3, "sum")
call("ops.gaussian_nll_loss", X, Y, f32(2, low=0.1))
call("ops.multi_margin_loss", X, CLASSES, grad=True)
call("ops.multi_margin_loss", X, CLASSES, 2, 1, f32(4, low=0.1), "none")
call("ops.multi_margin_loss", X, CLASSES, 3)
made("ops.MultiMarginLoss", 2, 0.5)(X, CLASSES, f32(4, low=0.1))
MANY = of([[1, 3, 0, -1], [0, -1, -1, -1], [2, 1, 0, 3]], "int32")
call("ops.multilabel_margin_loss", X, MANY, ref=lambda x, y: label_margins(x, y).mean())
call("ops.multilabel_margin_loss", X, MANY, reduction="none", ref=label_margins)
made("ops.MultilabelMarginLoss", "none")(
    X,
    MANY,
    ref=lambda x, y: (
        label_margins(x, y),
        np.array([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], "int32"),
    ),
)
call("ops.multilabel_soft_margin_loss", X, f32(3, 4, low=0.0, high=1.0), grad=True)
call("ops.multilabel_soft_margin_loss", X, Y, f32(4, low=0.1), "sum")
call("ops.multilabel_soft_margin_loss", X, f32(3, 5))
call("ops.triplet_margin_loss", X, Y, f32(3, 4, seed=2), torch="nn.functional.triplet_margin_loss")
call(
    "ops.triplet_margin_loss",
    X,
    Y,
    f32(3, 4, seed=2),
    0.5,
    swap=True,
    reduction="none",
    torch="nn.functional.triplet_margin_loss",
)
made("ops.SoftMarginLoss", "sum")(
    X, of([[1.0, -1.0, 1.0, 1.0]] * 3), ref=lambda x, y: np.float32(np.log1p(np.exp(-x * y)).sum())
)
call("ops.cosine_similarity", X, Y, grad=True)
call("ops.cosine_similarity", X, f32(4), -1)
call("ops.cosine_similarity", X, Y, 2)
call("ops.clip_by_norm", X, 1.0)
call("ops.clip_by_norm", [X, f32(2)], 1.0)
call("ops.clip_by_norm", [X, f32(2)], 100.0, 1.0)

call("ops.ctc_loss", LOGS, TARGETS, STEPS, LENGTHS, grad=True)
call("ops.ctc_loss", LOGS, TARGETS, STEPS, LENGTHS, reduction="none")
call("ops.ctc_loss", LOGS, TARGETS, STEPS, LENGTHS, 4, "sum")
call(
    "ops.ctc_loss",
    LOGS,
    of([[1, 1, 1], [3, 1, 0]], "int32"),
    of([4, 5], "int32"),
    LENGTHS,
    zero_infinity=True,
)
call("ops.ctc_loss", LOGS, TARGETS, of([7, 5], "int32"), LENGTHS)
made("ops.CTCLossV2")(LOGS, TARGETS, STEPS, LENGTHS)
AT, LABELS = of([[0, 0], [0, 1], [0, 2], [1, 0]], "int64"), of([1, 2, 2, 0], "int32")
made("ops.CTCLoss")(f32(6, 2, 5), AT, LABELS, of([6, 6], "int32"))
made("ops.CTCLoss", ctc_merge_repeated=False)(f32(6, 2, 5), AT, LABELS, of([6, 6], "int32"))
made("ops.CTCLoss", preprocess_collapse_repeated=True)(
    f32(6, 2, 5), AT, LABELS, of([6, 6], "int32")
)
call("ops.ctc_greedy_decoder", f32(6, 2, 5), STEPS)
call("ops.ctc_greedy_decoder", f32(6, 2, 3), STEPS, False)
call("ops.ctc_greedy_decoder", f32(6, 2, 3), of([7, 1], "int32"))
made("ops.CTCGreedyDecoder")(f32(6, 2, 3), STEPS)


def rms(x: np.ndarray, gamma: np.ndarray) -> Any:
    root = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return (x * root * gamma).astype(np.float32), root.astype(np.float32)


call("ops.rms_norm", X, f32(4), ref=rms)
made("ops.RmsNorm")(X, f32(4), ref=rms)
call("ops.add_rms_norm", X, Y, f32(4), ref=lambda x, y, g: (*rms(x + y, g), x + y))
call("ops.add_layer_norm", X, Y, f32(4), f32(4, seed=1), additional_output=True)
call("ops.swiglu", X, ref=lambda x: x[:, :2] / (1 + np.exp(-x[:, :2])) * x[:, 2:])
call("ops.swiglu", f32(3, 5))
made("ops.GLU")(X, ref=lambda x: x[:, :2] / (1 + np.exp(-x[:, 2:])))
call(
    "ops.rotary_position_embedding", f32(1, 2, 3, 4), f32(1, 1, 3, 4, seed=1), f32(1, 1, 3, 4, seed=2),
    ref=lambda x, c, s: x * c + np.concatenate([-x[..., 2:], x[..., :2]], -1) * s,
)  # fmt: skip
made("ops.Dense")(X, f32(2, 4), f32(2))
call("ops.bidense", X, f32(3, 5), f32(2, 4, 5), f32(2))
call("ops.bidense", X, f32(3, 4), f32(2, 4, 5), f32(2))
call("ops.embedding", i32(2, 3, low=0, high=4), f32(5, 2), ref=lambda i, w: w[i])
call("ops.soft_shrink", X, 0.3)
