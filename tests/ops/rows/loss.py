"""Rows of softmax and losses."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, i32, i64, row, wrt
from scipy import special

LOOSE = {f16: 1e-2, bf16: 8e-2}


def keep(f):
    """A reference whose results have the type of its first input."""

    def ref(x, *rest, **attrs):
        results = f(x, *rest, **attrs)
        if isinstance(results, tuple):
            return tuple(np.asarray(r).astype(x.dtype) for r in results)
        return np.asarray(results).astype(x.dtype)

    return ref


def one(axis):
    return axis[0] if isinstance(axis, tuple) else axis


AXES = [((3, 4), -1), ((3, 4), 0), ((2, 3, 4), 1), ((5,), 0), ((2, 40, 33), 1), ((3, 70), 1)]


def softmax_row(name, f, second=None, logs=False):
    def make(shape, **more):
        x = f32(*shape)
        if second is not None and x.size:
            x = special.log_softmax(x, -1) if logs else special.softmax(x, -1)
        return args(x.astype(np.float32), *([f32(*shape)] if second else []), **more)

    row(
        name,
        ref=keep(f),
        good=[make(s, axis=a) for s, a in AXES] + [make((0, 3)), make((2, 0))],
        bad=[
            make((3, 4), axis=2, says="the axis must be in [-2, 2)"),
            args(*[f32(1.5)] * (2 if second else 1), says="must have at least one dimension"),
            *([args(f32(2), f32(3), says="must have the same shape")] if second else []),
            *([args(f32(2), f64(2), says="must have the same dtype")] if second else []),
            *([] if second or logs else [args(f32(2, 3), axis=(0, 1), says="must be one integer")]),
        ],
        tol=LOOSE,
    )


def softmax_grad(y, dy, axis=-1):
    return y * (dy - (y * dy).sum(axis, keepdims=True))


def log_softmax_grad(y, dy, axis=-1):
    return dy - np.exp(y) * dy.sum(axis, keepdims=True)


def empty_safe(f):
    return lambda x, axis=-1: f(x, one(axis)) if x.size else x


softmax_row("Softmax", empty_safe(special.softmax))
softmax_row("LogSoftmax", empty_safe(special.log_softmax), logs=True)
softmax_row("SoftmaxGrad", softmax_grad, second=True)
softmax_row("LogSoftmaxGrad", log_softmax_grad, second=True, logs=True)


# ---- classes -------------------------------------------------------------------------------------
def dense_cross_entropy(x, labels):
    logs = special.log_softmax(x, -1)
    return -(labels * logs).sum(-1), np.exp(logs) * labels.sum(-1, keepdims=True) - labels


row(
    "SoftmaxCrossEntropyWithLogits",
    ref=keep(dense_cross_entropy),
    good=[
        args(f32(3, 4), special.softmax(f32(3, 4), -1).astype(np.float32)),
        args(f32(40, 10), np.eye(10, dtype=np.float32)[np.arange(40) % 10]),
        args(f32(0, 3), f32(0, 3)),
    ],
    bad=[
        args(f32(3), f32(3), says="'logits' must have 2 dimensions"),
        args(f32(3, 4), f32(3, 5), says="must have the same shape"),
        args(f32(3, 4), f64(3, 4), says="must have the same dtype"),
        args(f32(3, 0), f32(3, 0), says="'logits' must have at least one class"),
    ],
    tol=LOOSE,
)


def sparse_cross_entropy(x, labels, is_grad=False):
    rows = np.arange(len(labels))
    labels = labels.astype(np.int64)
    if not is_grad:
        return -special.log_softmax(x, -1)[rows, labels].mean()
    p = special.softmax(x, -1)
    p[rows, labels] -= 1
    return p / len(labels)


row(
    "SparseSoftmaxCrossEntropyWithLogits",
    ref=keep(sparse_cross_entropy),
    good=[
        args(f32(3, 4), i32([0, 3, 1])),
        args(f32(3, 4), i64([0, 3, 1])),
        args(f32(3, 4), i32([2, 2, 0]), is_grad=True),
        args(f32(70, 33), i32(np.arange(70) % 33)),
    ],
    bad=[
        args(f32(3, 4), i32([0, 4, 1]), says="labels must be in [0, 4), but got 4 at position 1"),
        args(
            f32(2, 4), i32([0, -1]), is_grad=True, says="the labels must be in [0, 4), but got -1"
        ),
        args(f32(3, 4), i32(2), says="must have the same batch size, but got 3 and 2"),
        args(f32(3), i32(3), says="'logits' must have 2 dimensions"),
        args(f32(3, 4), i32(3, 1), says="'labels' must have 1 dimensions"),
        args(f32(3, 4), f32(3), says="the dtype of 'labels' must be one of"),
        args(f32(3, 0), i32([0, 0, 0]), says="'logits' must have at least one class"),
    ],
    tol=LOOSE,
)


def nll(x, labels, weight, reduction="mean", ignore_index=-100):
    labels = labels.astype(np.int64)
    counted = labels != ignore_index
    at = np.where(counted, labels, 0)
    weights = weight[at] * counted
    loss = -weights * x[np.arange(len(labels)), at]
    if reduction != "none":
        loss = loss.sum() / (weights.sum() if reduction == "mean" else 1)
    return loss, weights.sum()


def nll_grad(dloss, labels, weight, total, classes, reduction="mean", ignore_index=-100):
    labels = labels.astype(np.int64)
    counted = labels != ignore_index
    at = np.where(counted, labels, 0)
    dx = np.zeros((len(labels), classes), dloss.dtype)
    scale = dloss / total if reduction == "mean" else dloss
    dx[np.arange(len(labels)), at] = -weight[at] * counted * scale
    return dx


NLL_BAD = [
    args(f32(3, 4), i32([0, 4, 1]), f32(4), says="the labels must be in [0, 4), but got 4"),
    args(f32(3, 4), i32([0, 1, 1]), f32(3), says="'weight' must have one element per class"),
    args(f32(3, 4), i32([0, 1, 1]), f32(4, 1), says="'weight' must have 1 dimensions"),
    args(f32(3, 4), i32([0, 1, 1]), f64(4), says="must have the same dtype"),
    args(f32(3, 4), i32(2), f32(4), says="must have the same batch size"),
    args(f32(3), i32(3), f32(3), says="'logits' must have 2 dimensions"),
    args(f32(3, 0), i32([0, 0, 0]), f32(0), says="'logits' must have at least one class"),
    args(f32(1, 4), i32([0]), f32(4), reduction="max", says="'reduction' must be one of"),
]
# The weights have no gradient, as in the public API.
row(
    "NLLLoss",
    ref=keep(nll),
    grad=wrt(0),
    good=[
        args(f32(3, 4), i32([0, 3, 1]), f32(4, low=0.5), reduction=r)
        for r in ("mean", "sum", "none")
    ]
    + [args(f32(3, 4), i64([0, 2, -1]), f32(4, low=0.5), ignore_index=-1)],
    bad=NLL_BAD,
    tol=LOOSE,
)
ONE = f32(1.5)
THREE, CLASSES = i32([0, 3, 1]), f32(4, low=0.5)
TOTAL = f32(float(CLASSES[[0, 3, 1]].sum()))  # what NLLLoss gives beside the mean
row(
    "NLLLossGrad",
    ref=keep(nll_grad),
    grad=wrt(0),
    good=[
        args(ONE, THREE, CLASSES, TOTAL, classes=4),
        args(ONE, i32([0, 3, 1]), f32(4), ONE, classes=4, reduction="sum"),
        args(f32(3), i32([0, 3, 9]), f32(4), ONE, classes=4, reduction="none", ignore_index=9),
    ],
    bad=[
        args(ONE, i32([0, 4]), f32(4), ONE, classes=4, says="the labels must be in [0, 4)"),
        args(f32(2), i32([0, 1]), f32(4), ONE, classes=4, says="'dloss' must have shape []"),
        args(ONE, i32([[0]]), f32(4), ONE, classes=4, says="'labels' must have 1 dimensions"),
        args(ONE, i32([0]), f32(4, 1), ONE, classes=4, says="'weight' must have 1 dimensions"),
        args(ONE, i32([0]), f32(4), f32(1), classes=4, says="'total_weight' must have 0 dim"),
        args(ONE, i32([0]), f32(4), ONE, classes=3, says="'weight' must have one element per"),
        args(ONE, i32([0]), f64(4), ONE, classes=4, says="must have the same dtype"),
        args(ONE, i32([0]), f32(4), f64(0.5), classes=4, says="must have the same dtype"),
        args(ONE, i32([0]), f32(4), ONE, classes=4, reduction="x", says="'reduction' must be one"),
    ],
    tol=LOOSE,
)


def cross_entropy(x, labels, weight, **attrs):
    return nll(special.log_softmax(x, -1), labels, weight, **attrs)


def cross_entropy_grad(dloss, x, labels, weight, total, reduction="mean", ignore_index=-100):
    attrs = {"reduction": reduction, "ignore_index": ignore_index}
    at_class = nll_grad(dloss, labels, weight, total, classes=x.shape[1], **attrs)
    return at_class - special.softmax(x, -1) * at_class.sum(-1, keepdims=True)


row(
    "CrossEntropy",
    ref=keep(cross_entropy),
    grad=wrt(0),
    good=[
        args(f32(3, 40), i32([0, 39, 1]), f32(40, low=0.5), reduction=r)
        for r in ("mean", "sum", "none")
    ]
    + [args(f32(3, 4), i64([0, 2, -1]), f32(4, low=0.5), ignore_index=-1)],
    bad=NLL_BAD,
    tol=LOOSE,
)
row(
    "CrossEntropyGrad",
    ref=keep(lambda d, x, *rest, **attrs: cross_entropy_grad(d, x, *rest, **attrs).astype(x.dtype)),
    grad=wrt(0, 1),
    good=[
        args(ONE, f32(3, 4), THREE, CLASSES, TOTAL),
        args(ONE, f32(3, 4), THREE, f32(4), ONE, reduction="sum"),
        args(f32(3), f32(3, 4), i32([0, 3, 9]), f32(4), ONE, reduction="none", ignore_index=9),
    ],
    bad=[
        args(ONE, f32(2, 4), i32([0, 4]), f32(4), ONE, says="the labels must be in [0, 4)"),
        args(f32(2), f32(3, 4), THREE, f32(4), ONE, says="'dloss' must have shape []"),
        args(ONE, f32(3), THREE, f32(4), ONE, says="'logits' must have 2 dimensions"),
        args(ONE, f32(1, 4), i32([[0]]), f32(4), ONE, says="'labels' must have 1 dimensions"),
        args(ONE, f32(3, 4), THREE, f32(4, 1), ONE, says="'weight' must have 1 dimensions"),
        args(ONE, f32(3, 4), THREE, f32(4), f32(1), says="'total_weight' must have 0 dim"),
        args(ONE, f32(2, 4), THREE, f32(4), ONE, says="must have the same batch size"),
        args(ONE, f32(3, 4), THREE, f32(3), ONE, says="'weight' must have one element per"),
        args(ONE, f32(3, 4), THREE, f64(4), ONE, says="must have the same dtype"),
        args(f64(0.5), f32(3, 4), THREE, f32(4), ONE, says="must have the same dtype"),
        args(ONE, f32(3, 4), THREE, f32(4), f64(0.5), says="must have the same dtype"),
        args(ONE, f32(3, 4), THREE, f32(4), ONE, reduction="x", says="'reduction' must be one"),
    ],
    tol=LOOSE,
)


# ---- element by element --------------------------------------------------------------------------
def reduced(loss, reduction):
    if reduction == "batchmean":
        return loss.sum() / len(loss)
    return {"none": lambda z: z, "mean": np.mean, "sum": np.sum}[reduction](loss)


def softplus(x):
    return np.logaddexp(0, x)


def smooth_l1(x, t, beta=1.0, reduction="none"):
    d = np.abs(x - t)
    return reduced(np.where(d < beta, d * d / (2 * beta), d - beta / 2), reduction)


def bce(x, y, w, reduction="mean"):
    return reduced(-w * (y * np.log(x) + (1 - y) * np.log(1 - x)), reduction)


def bce_logits(x, y, w, p, reduction="mean"):
    return reduced(w * ((1 - y) * x + (1 + (p - 1) * y) * softplus(-x)), reduction)


REDUCTIONS = ("none", "mean", "sum")
BAD_REDUCTION = {"reduction": "max", "says": "'reduction' must be one of"}


def probabilities(*shape):
    return f32(*shape, low=0.1, high=0.9)


row(
    "SmoothL1Loss",
    ref=keep(smooth_l1),
    good=[args(f32(3, 4), f32(3, 4), reduction=r) for r in REDUCTIONS]
    + [args(f32(5), f32(5), beta=0.5), args(f32(5), f32(5), beta=2.0)],
    bad=[
        args(f32(3), f32(4), says="must have the same shape"),
        args(f32(3), f64(3), says="must have the same dtype"),
        args(f32(3), f32(3), beta=0.0, says="'beta' must be positive"),
        args(f32(3), f32(3), **BAD_REDUCTION),
    ],
    tol=LOOSE,
)
row(
    "BinaryCrossEntropy",
    ref=keep(bce),
    good=[
        args(probabilities(3, 4), probabilities(3, 4), f32(3, 4), reduction=r) for r in REDUCTIONS
    ]
    + [args(probabilities(3, 4), probabilities(3, 4), f32(4))],
    bad=[
        args(f32(3), f32(4), f32(3), says="must have the same shape"),
        args(f32(3), f32(3), f32(2, 3), says="'weight' must broadcast to 'logits'"),
        args(f32(3), f32(3), f64(3), says="must have the same dtype"),
        args(f32(3), f32(3), f32(3), **BAD_REDUCTION),
    ],
    tol=LOOSE,
)
row(
    "BCEWithLogitsLoss",
    ref=keep(bce_logits),
    good=[args(f32(3, 4), probabilities(3, 4), f32(3, 4), f32(4), reduction=r) for r in REDUCTIONS],
    bad=[
        args(f32(3), f32(4), f32(3), f32(3), says="must have the same shape"),
        args(f32(3), f32(3), f32(2, 3), f32(3), says="'weight' must broadcast to 'logits'"),
        args(f32(3), f32(3), f32(3), f32(4), says="'pos_weight' must broadcast to 'logits'"),
        args(f32(3), f32(3), f32(3), f64(3), says="must have the same dtype"),
        args(f32(3), f32(3), f32(3), f32(3), **BAD_REDUCTION),
    ],
    tol=LOOSE,
)
row(
    "SigmoidCrossEntropyWithLogits",
    ref=keep(lambda x, z: softplus(x) - x * z),
    good=[args(f32(3, 4), f32(3, 4)), args(f32([-100.0, 100.0]), f32([1.0, 0.0]))],
    bad=[
        args(f32(3), f32(4), says="must have the same shape"),
        args(f32(3), f64(3), says="must have the same dtype"),
    ],
    tol=LOOSE,
)
row(
    "KLDivLoss",
    ref=keep(lambda x, y, reduction="mean": reduced(y * (np.log(y) - x), reduction)),
    good=[args(f32(3, 4), probabilities(3, 4), reduction=r) for r in (*REDUCTIONS, "batchmean")],
    bad=[
        args(f32(3), f32(4), says="must have the same shape"),
        args(f32(3), f64(3), says="must have the same dtype"),
        args(f32(3), f32(3), **BAD_REDUCTION),
    ],
    tol=LOOSE,
)
row(
    "L2Loss",
    ref=keep(lambda x: (x * x).sum() / 2),
    good=[args(f32(3, 4)), args(f32(0)), args(f32(2, 3, 4))],
    bad=[args(i32(3), says="the dtype of 'input_x' must be one of")],
    tol=LOOSE,
)
