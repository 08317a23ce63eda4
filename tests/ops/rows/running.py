"""Rows of running extremes and sums of exponentials, of binary search, of CTC and of draws that are rejected."""

import numpy as np
from rowlib import args, bf16, f16, f32, i32, row, wrt

OUT_OF_RANGE = args(f32(2, 3), axis=2, says="the axis must be in [-2, 2)")
ROWS = [
    args(f32(3, 4), axis=1),
    args(f32(3, 4), axis=0),
    args(f32(2, 3, 2), axis=-2),
    args(f32(), axis=0),
]


def running(f):
    def ref(x, axis):
        if x.ndim == 0:
            return x, np.int64(0)
        values = f.accumulate(x, axis=axis)
        places = np.where(
            x == values,
            np.arange(x.shape[axis]).reshape(
                [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
            ),
            0,
        )
        return values, np.maximum.accumulate(places, axis=axis).astype(np.int64)

    return ref


for name, f in {"CumMax": np.maximum, "CumMin": np.minimum}.items():
    row(
        name,
        ref=running(f),
        good=[*ROWS, args(i32([[3, 1, 3], [2, 2, 5]]), axis=1)],
        bad=[OUT_OF_RANGE],
        grad=wrt(0, outputs=[0]),
    )


def log_sums(x, axis, exclusive=False, reverse=False):
    if x.ndim == 0:
        return np.float32(-np.inf).astype(x.dtype) if exclusive else x
    x = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0).astype(np.float64)
    y = np.logaddexp.accumulate(x, axis=0)
    if exclusive:
        y = np.concatenate([np.full_like(y[:1], -np.inf), y[:-1]])
    y = np.moveaxis(y, 0, axis)
    return np.flip(y, axis) if reverse else y


row(
    "CumulativeLogsumexp",
    ref=lambda x, **attrs: log_sums(x, **attrs).astype(x.dtype),
    good=[*ROWS, args(f32(2, 4), axis=1, reverse=True)],
    bad=[OUT_OF_RANGE],
    tol={f16: 5e-3, bf16: 4e-2},
)

row(
    "SearchRows",
    ref=lambda rows, values, dtype=None, right=False: np.stack(
        [
            np.searchsorted(r, v, "right" if right else "left")
            for r, v in zip(np.broadcast_to(rows, (len(values), rows.shape[-1])), values)
        ]
    ),
    good=[
        args(f32([-1, 0, 0, 1]), f32(2, 3)),
        args(f32([[-1, 0, 1], [0, 0, 2]]), f32([[0, 1], [0, 3]]), right=True),
        args(i32([[1, 3, 5]]), i32([[3, 4, 9]])),
    ],
    bad=[
        args(f32(), f32(2), says="'sorted' must have at least 1 dimension"),
        args(f32(3), i32(2), says="must have the same dtype"),
        args(f32(2, 3), f32(3, 3), says="must be equal but for the last ones"),
        args(f32(3), f32(2), dtype=np.float32, says="'dtype' must be Int32 or Int64"),
    ],
    grad=False,
)


def ctc(logs, targets, steps, labels, blank=0, merge_repeated=True, zero_infinity=False):
    """The likelihoods as sums over all sequences of classes, and those of prefixes state by state."""
    count, batch, classes = logs.shape
    losses, prefixes = [], np.full((batch, count, 2 * targets.shape[1] + 1), -np.inf)
    for n in range(batch):
        wanted, total = targets[n, : labels[n]].tolist(), -np.inf
        states = [blank] + [c for label in wanted for c in (label, blank)]
        for path in np.ndindex(*[classes] * int(steps[n])):
            kept = [
                c for i, c in enumerate(path) if not (merge_repeated and i and path[i - 1] == c)
            ]
            if [c for c in kept if c != blank] == wanted:
                total = np.logaddexp(total, sum(logs[t, n, c] for t, c in enumerate(path)))
        losses.append(0.0 if zero_infinity and np.isinf(total) else -total)
        for t in range(steps[n]):
            for s, c in enumerate(states):
                before = prefixes[n, t - 1] if t else np.zeros(len(states))
                free = s > 1 and c != blank and (not merge_repeated or c != states[s - 2])
                stays = c == blank or merge_repeated
                ways = [before[s]] * stays + [before[s - 1]] * (s > 0) + [before[s - 2]] * free
                if t or s < 2:
                    prefixes[n, t, s] = np.logaddexp.reduce(ways if t else [0.0]) + logs[t, n, c]
    return np.array(losses, logs.dtype), prefixes.astype(logs.dtype)


def problem(steps=(4, 3), labels=(2, 1), shape=(4, 2, 3)):
    return f32(*shape, low=-3, high=-0.2), i32([[1, 1], [2, 0]]), i32(steps), i32(labels)


X, TARGETS, STEPS, LABELS = problem()
row(
    "CTCForward",
    ref=ctc,
    good=[
        args(*problem()),
        args(*problem(), merge_repeated=False),
        args(*problem((2, 3)), zero_infinity=True),
    ],
    bad=[
        args(f32(4, 6), TARGETS, STEPS, LABELS, says="'log_probs' must have"),
        args(X, i32([1, 2]), STEPS, LABELS, says="'targets' must have"),
        args(X, TARGETS, i32([[4, 3]]), LABELS, says="'input_lengths' must have"),
        args(X, TARGETS, i32([4]), LABELS, says="must have 2 elements"),
        args(X, i32([[1, 2]]), STEPS, LABELS, says="'targets' must have 2 rows"),
        args(X, TARGETS, STEPS, LABELS, blank=3, says="'blank' must be in [0, 3), but got 3"),
        args(X, TARGETS, i32([5, 3]), LABELS, says="'input_lengths' must be in [0, 4], but got 5"),
        args(X, TARGETS, STEPS, i32([3, 1]), says="'target_lengths' must be in [0, 2], but got 3"),
        args(
            X, i32([[1, 3], [2, 0]]), STEPS, LABELS, says="the labels must be in [0, 3), but got 3"
        ),
    ],
    grad=False,
)
LOSS, ALPHA = f32(2), f32(2, 4, 5)
row(
    "CTCBackward",
    ref=None,
    good=[args(f32(2), X, TARGETS, STEPS, LABELS, LOSS, ALPHA)],
    bad=[
        args(f32(3), X, TARGETS, STEPS, LABELS, f32(3), ALPHA, says="'dy' must have 2 elements"),
        args(f32(3), X, TARGETS, STEPS, LABELS, LOSS, ALPHA, says="must have the same shape"),
        args(
            f32(2),
            X,
            TARGETS,
            STEPS,
            LABELS,
            LOSS,
            f32(2, 4, 4),
            says="'log_alpha' must have shape",
        ),
        args(f32(2), X, i32([1, 2]), STEPS, LABELS, LOSS, ALPHA, says="'targets' must have"),
    ],
    grad=False,
)

for name in ("StandardGamma", "StandardPoisson"):
    row(
        name,
        ref=None,
        good=[args(f32(3, 70, low=0.5, high=40.0)), args(f32(0)), args(f32(low=1.0), seed=3)],
        grad=False,
    )
